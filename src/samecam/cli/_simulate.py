"""`samecam simulate`."""

from collections.abc import Callable
from typing import Any

import click

from samecam.cli._command import command, option, together
from samecam.cli._options import output_options, workers_option
from samecam.cli._output import print_json, say
from samecam.cli._progress import progress
from samecam.cli._text import counted
from samecam.cli._types import Count, Level, Pair, Share


def _share(name: str, what: str) -> Callable[[Any], Any]:
    """An option that takes the share of the photos that are so."""
    return option(f"--{name}", type=Share(), default=0, show_default=True, help=what)


_view_options = together(
    _share("zoom", "Photos that are zoomed digitally."),
    option("--max-zoom", type=Level(), default=4, show_default=True, help="Up to 6 times."),
    _share("wide", "Photos in 16:9, of the same centre and width."),
    _share("turned", "Photos whose pixels are turned by 90, 180 or 270 degrees."),
    _share("mirrored", "Photos with left and right exchanged."),
    option("--lens", is_flag=True, help="Correct the lens, in another way at each focal length."),
    _share("messenger", "Photos that are there only as a messenger's copy."),
    _share("cropped", "Photos of which only a crop is there."),
    option("--beside", is_flag=True, help="Keep the originals of copies and crops beside them."),
    option("--no-exif", is_flag=True, help="Write no EXIF."),
)


@command()
@option(
    "-o",
    "--output",
    "out",
    required=True,
    type=click.Path(),
    metavar="DIR",
    help="Folder for images/ and truth.csv; new or empty.",
)
@option("--cameras", type=Count(), default=10, show_default=True, help="Number of cameras.")
@option("--images", type=Count(), default=30, show_default=True, help="Photos per camera.")
@option("--models", type=Count(), show_default="half as many as cameras", help="Camera models.")
@option(
    "--size",
    multiple=True,
    type=Pair("x", "WIDTHxHEIGHT", single=False),
    default=["1536x1024"],
    show_default="1536x1024",
    help="Size of the photos; if given again, of other models.",
)
@option(
    "--quality",
    type=Pair("-", "LOW-HIGH", single=True),
    default="85-98",
    show_default=True,
    help="Range of JPEG quality.",
)
@option(
    "--outliers",
    type=Count(0),
    default=0,
    show_default=True,
    help="Further photos, each by a camera of its own.",
)
@option(
    "--recompress",
    type=Count(1, 100),
    metavar="Q",
    help="Save every photo a second time at this quality.",
)
@option(
    "--thumbnails",
    type=Count(0),
    default=0,
    show_default=True,
    help="Small copies of photos, not in truth.csv.",
)
@option(
    "--bright-corners",
    type=Count(0),
    default=0,
    show_default=True,
    help="Further photos, white in the top-left corner.",
)
@option(
    "--letterbox",
    type=Count(0),
    default=0,
    show_default=True,
    help="Further photos with black bars above and below.",
)
@option(
    "--screenshots",
    type=Count(0),
    default=0,
    show_default=True,
    help="Graphics by no camera, not in truth.csv.",
)
@option(
    "--odd-sizes",
    type=Count(0),
    default=0,
    show_default=True,
    help="Outliers, each of a size of its own.",
)
@_view_options
@option(
    "--crosstalk",
    type=Level(),
    default=0,
    show_default=True,
    help="Pixels over which sensors are smooth; real ones about .6.",
)
@option("--seed", type=Count(0), default=0, show_default=True, help="Seed of everything random.")
@workers_option()
@output_options
def simulate(out: str, as_json: bool, quiet: bool, **options: Any) -> int:
    """Make photographs by cameras that do not exist, with truth.csv.

    The sensor pattern enters before mosaic, demosaicing, tone curve and JPEG, as in a
    camera. The same seed gives the same files.

    With several sizes every camera model has one of them, in turn. Thumbnails, bright corners,
    bars, screenshots and odd sizes make a disk of real life of it; the photos that there are
    without them stay the same.

    Shares of the photos may show their sensor in another view; the sensor's pattern comes first,
    then zoom, lens, cut, mirror and turn, then JPEG, then the messenger. truth.csv tells in
    further columns what was done.

    Example:  samecam simulate -o photos --cameras 6 --images 20 --size 1024x768
    """
    from dataclasses import fields

    from samecam.compute import worker_count
    from samecam.metrics import read_truth
    from samecam.pages import listed
    from samecam.simulate import Views, simulate_photos

    options["exif"] = not options.pop("no_exif")
    views = Views(**{one.name: options.pop(one.name) for one in fields(Views)})
    options["workers"] = worker_count(options["workers"])
    with progress("Simulating", "photo", quiet=quiet) as show:
        truth = simulate_photos(out, views=views, progress=show, **options)
    photos = len(read_truth(truth))
    others = {name: options[name] for name in ("thumbnails", "screenshots")}
    if as_json:
        print_json({"folder": out, "photos": photos, **others})
    else:
        counts = [counted(photos, "photo")]
        counts += [counted(number, name[:-1]) for name, number in others.items() if number]
        there = f"{listed(counts)} in {out}/images"
        say(f"{there}; {out}/truth.csv says who took which.", quiet=quiet)
    return 0
