"""Registration of groups on a GPU: the coarse search there, fits on the processor.

    python -m benchmarks.gpu.views [--frame 4000x3000] [--groups 10,50] [--device cuda]

As `benchmarks.views`. Also the parts of the coarse search, of one picture: all its scales, their
products with the middles of cameras, and the highest peaks.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch

from benchmarks.gpu.large import Place, timed
from benchmarks.record import about, folder_of, numbers, parser, save
from benchmarks.views import FRAME, QUICK, measure, pieces, thinned
from samecam.frames import Frame
from samecam.register._gpu import DeviceMiddles, _Source
from samecam.register._peaks import Scales
from samecam.register._pieces import Piece
from samecam.register._searches import searches

NAME = "gpu.views"
GROUPS = "10,50"
REPEATS, SCALES = 3, 64


def parts(some: Sequence[tuple[int, Piece]], scales: Scales, place: Place) -> dict[str, Any]:
    """Seconds of each part of one search."""
    spots = scales.spots
    makers = [piece.pattern for _, piece in some]
    picture, few = makers[0](), scales.values[:SCALES]

    def middles(count: int) -> DeviceMiddles:
        return DeviceMiddles(makers[:count], spots, scales.side, place.device)

    def seconds(work: Callable[[], object]) -> float:
        return timed(work, place, REPEATS)

    one, many = middles(1), middles(len(some))
    source = _Source(picture, place.torch_name)
    return {
        "scales": len(scales.values),
        "side": scales.side,
        "places": len(spots),
        "cameras": len(some),
        "middles_of_a_camera": seconds(lambda: middles(1)),
        f"{len(few)}_scales": seconds(lambda: source.scaled(few, scales.side)),
        "picture_with_one_camera": seconds(lambda: one.highest(picture, scales.values, [0])),
        "picture_with_all": seconds(lambda: many.highest(picture, scales.values, range(len(some)))),
        "device_bytes": place.peak(),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    asked = parser(__doc__)
    asked.add_argument("--frame", default=FRAME)
    asked.add_argument("--groups", default=GROUPS)
    asked.add_argument("--search", choices=("quick", "normal", "deep"), default="normal")
    asked.add_argument("--commit", help="of the tree, where git is missing")
    asked.add_argument("--device", default="cuda")
    options = asked.parse_args(arguments)
    name, sizes = QUICK if options.quick else (options.frame, options.groups)
    frame, groups, place = Frame.named(name), numbers(sizes), Place(options.device)
    result = measure(frame, groups, options.search, place.device, quick=options.quick)
    result["torch"] = torch.__version__
    some = pieces(frame, min(groups))
    result["parts"] = [
        parts(part.pictures, thinned(part.scales) if options.quick else part.scales, place)
        for part in searches(some, some, options.search)
    ]
    print(*result["parts"], sep="\n", flush=True)
    settings = {"frame": name, "groups": groups, "search": options.search}
    document = about(NAME, settings, commit=options.commit, libraries=("torch",))
    folder = folder_of(options)
    if folder is not None:
        save(folder / f"{NAME}.json", document | {"result": result})


if __name__ == "__main__":
    main()
