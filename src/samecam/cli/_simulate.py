"""`samecam simulate`."""

import re
from typing import Any

import click

from samecam.cli._output import output_options, print_json, progress, say


class Pair(click.ParamType[tuple[int, int]]):
    """Two whole numbers with a sign between, or one for both."""

    def __init__(self, sign: str, name: str, *, single: bool) -> None:
        self.name, self._sign, self._single = name, sign, single

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[int, int]:
        """Read the two numbers."""
        if isinstance(value, tuple):
            return value
        match = re.fullmatch(rf"(\d+)(?:{self._sign}(\d+))?", str(value).lower())
        if not match or (match[2] is None and not self._single):
            self.fail(f"{value!r} is not {self.name}", param, ctx)
        return int(match[1]), int(match[2] or match[1])


@click.command()
@click.option(
    "-o",
    "--output",
    "out",
    required=True,
    type=click.Path(),
    metavar="DIR",
    help="Folder for images/ and truth.csv; new or empty.",
)
@click.option("--cameras", type=click.IntRange(min=1), default=10, show_default=True)
@click.option(
    "--images", type=click.IntRange(min=1), default=30, show_default=True, help="Photos per camera."
)
@click.option(
    "--models",
    type=click.IntRange(min=1),
    default=None,
    help="Camera models.  [default: half as many as cameras]",
)
@click.option(
    "--size", type=Pair("x", "WIDTHxHEIGHT", single=False), default="1536x1024", show_default=True
)
@click.option(
    "--quality",
    type=Pair("-", "LOW-HIGH", single=True),
    default="85-98",
    show_default=True,
    help="Range of JPEG quality.",
)
@click.option(
    "--outliers",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Further photos, each by a camera of its own.",
)
@click.option(
    "--recompress",
    type=click.IntRange(1, 100),
    default=None,
    metavar="Q",
    help="Save every photo a second time at this quality.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option(
    "--workers", type=click.IntRange(min=1), default=None, help="Processes.  [default: one a core]"
)
@output_options
def simulate(out: str, as_json: bool, quiet: bool, **options: Any) -> int:
    """Make photographs by cameras that do not exist, with truth.csv.

    The sensor pattern enters before mosaic, demosaicing, tone curve and JPEG, as in a
    camera. The same seed gives the same files.
    """
    from samecam.compute import worker_count
    from samecam.simulate import simulate_photos

    options["workers"] = worker_count(options["workers"])
    with progress("Simulating", "photos", quiet=quiet) as show:
        simulate_photos(out, progress=show, **options)
    photos = options["cameras"] * options["images"] + options["outliers"]
    if as_json:
        print_json({"folder": out, "photos": photos})
    else:
        say(f"{photos} photos in {out}/images; {out}/truth.csv says who took which.", quiet=quiet)
    return 0
