"""One sensor in several views: zoomed, in 16:9, turned, in messengers' copies."""

from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from samecam.experiments._experiment import Context, Experiment, Result, Told
from samecam.experiments._kinds import kinds_table, plot_kinds, score_kinds, scored_words
from samecam.experiments._photo_sets import PhotoSet, photo_size, real, set_name, simulate_set
from samecam.experiments._piles import (
    CROSSTALK,
    Order,
    as_run,
    asked_search,
    group_pile,
    lay_out,
)
from samecam.experiments._study import Run, Study
from samecam.metrics import read_columns
from samecam.simulate import MESSENGERS, Look, Views, wide_size

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Simulated cameras, photos by each, strangers with one photo each, size; and with --quick.
FULL, QUICK = (10, 30, 500, (3264, 2448)), (5, 12, 10, (1280, 960))
ASKED = Views(zoom=1 / 3, wide=1 / 3, turned=0.15, messenger=0.5)
# Photos of each real camera, at most.
MOST = 30
KINDS = {
    "plain": "full frame",
    "preset": "2× zoom",
    "zoom": "other zoom, 1.3× to 4×",
    "wide": "16:9",
    "turned": "turned, any of these",
    **{name: f"copy, {how.words}, any of these" for name, how in MESSENGERS.items()},
    "stranger": "photo or copy by a stranger",
}
# Copies in one line: another experiment tells messengers apart.
_SHORT = {kind: "messenger's copy" if kind in MESSENGERS else KINDS[kind] for kind in KINDS}
_ORIGINALS = 5  # kinds that are no copies
_ZOOMS = (2.0, 1.4, 2.0, 2.7, 2.0, 1.7, 2.0, 3.6)
_TURNS = (90, 270, 180)
_EVERY = 7  # real photo that is turned


def _name(context: Context) -> str:
    cameras, images, strangers, size = QUICK if context.quick else FULL
    return set_name(context, f"simulated-{cameras}x{images}+{strangers}-{size[0]}")


def _run(context: Context) -> None:
    name = _name(context)
    if context.data is None:
        *_, size = QUICK if context.quick else FULL
        given = {"size": list(size), "crosstalk": CROSSTALK, **ASKED.as_json(), **asked_search()}
        context.study.run(f"{name}/views", partial(_simulated, context, name), parameters=given)
    else:
        photos = _few_of_each(real(context))
        given = {**photos.as_parameters(), **asked_search()}
        context.study.run(f"{name}/views", partial(_real, context, photos), parameters=given)


def _simulated(context: Context, name: str) -> Run:
    """Photographs in views, as a camera makes them."""
    cameras, images, strangers, size = QUICK if context.quick else FULL
    more = {"outliers": strangers, "views": ASKED, "crosstalk": CROSSTALK}
    simulate_set(context, name, cameras, images, size, **more)
    folder = context.study.folder / "photos" / name
    columns = ("path", "camera", "view", "zoom", "turn", "copy")
    rows = [row for _, row in read_columns(folder / "truth.csv", columns)]
    counts = Counter(row[1] for row in rows)
    kinds = [
        copy or _kind(view, float(zoom), int(turn)) if counts[camera] > 1 else "stranger"
        for _, camera, view, zoom, turn, copy in rows
    ]
    answer = group_pile(context, folder / "images", context.study.folder / "work" / name)
    names = [Path(row[0]).stem for row in rows]
    return as_run(answer, names, [row[1] for row in rows], kind=_numbers(kinds))


def _kind(view: str, zoom: float, turn: int) -> str:
    if turn:
        return "turned"
    return "preset" if zoom == 2 else view


def _numbers(kinds: Sequence[str]) -> Any:
    order = list(KINDS)
    return np.array([order.index(kind) for kind in kinds], dtype=np.int64)


def _few_of_each(photos: PhotoSet) -> PhotoSet:
    """At most so many photos of each camera, the first ones."""
    kept = [k for k, rank in enumerate(_ranks(photos.cameras)) if rank < MOST]
    files = tuple(photos.files[k] for k in kept)
    cameras = tuple(photos.cameras[k] for k in kept)
    return PhotoSet(photos.name, photos.kind, files, cameras, photos.notes)


def _real(context: Context, photos: PhotoSet) -> Run:
    """Views that are made of real originals: a third zoomed, a third in 16:9."""
    work = context.study.folder / "work" / photos.name
    orders, kinds = [], []
    for k, (file, n) in enumerate(zip(photos.files, _ranks(photos.cameras), strict=True)):
        kind, look, zoom = planned_view(photo_size(file), n)
        ending = file.suffix.lower() if look is None else ".jpg"
        target = work / "photos" / f"{k:06d}{ending}"
        orders.append(Order(str(file), str(target), look=look, zoom=zoom))
        kinds.append(kind)
    there = np.flatnonzero(lay_out(context, "Making views", work, orders))
    answer = group_pile(context, work / "photos", work)
    names = [Path(orders[k].target).stem for k in there]
    truth = [photos.cameras[k] for k in there]
    return as_run(answer, names, truth, kind=_numbers([kinds[k] for k in there]))


def _ranks(cameras: Sequence[str]) -> list[int]:
    """Number of each photo among those of its camera."""
    counts: dict[str, int] = {}
    ranks = []
    for camera in cameras:
        ranks.append(counts.get(camera, 0))
        counts[camera] = ranks[-1] + 1
    return ranks


def planned_view(size: tuple[int, int], number: int) -> tuple[str, Look | None, float]:
    """Kind, look and zoom of a real camera's photo of that number; no look: as it is.

    In turn as it is, zoomed and in 16:9, and every seventh turned. A frame that is no higher
    than 16:9, or a file that Pillow cannot read, stays as it is.
    """
    if min(size) < 64:
        return "plain", None, 1.0
    look, zoom, kind = Look(size), 1.0, "plain"
    if number % 3 == 1:
        zoom = _ZOOMS[number // 3 % len(_ZOOMS)]
        look, kind = look.zoomed(zoom), "zoom"
    elif number % 3 == 2 and (wide := wide_size(size)) != size:
        left, top = (size[0] - wide[0]) // 2, (size[1] - wide[1]) // 2
        look, kind = look.cut((left, top, left + wide[0], top + wide[1])), "wide"
    turn = 0
    if number % _EVERY == _EVERY - 1:
        turn = _TURNS[number // _EVERY % len(_TURNS)]
        look = look.turned(turn)
    made = None if look == Look(size) else look
    return _kind(kind, zoom, turn), made, zoom


def _score(study: Study, context: Context) -> dict[str, Any]:
    name = _name(context)
    run = study.load(f"{name}/views")
    what = {
        "set": name,
        "size": None if context.data else list((QUICK if context.quick else FULL)[-1]),
    }
    runs = [{"seed": 0, "seconds": run.facts["seconds"]}]
    return {**what, **score_kinds(run, list(KINDS), _ORIGINALS), "runs": runs}


def _plot(result: Result) -> "Figure":
    return plot_kinds(result, KINDS)


_ABOUT = (
    "Search off: photos are compared within one frame; on: groups are joined to cameras by their "
    "views. A photo is placed if it is in the largest group of its camera, wrong if it is in a "
    "group of another."
)


def _tell(result: Result) -> Told:
    first = result["rows"][0]
    made = "" if result["size"] else ", compressed once more"
    said = f"{first['n_images']} originals by {first['n_cameras']} cameras{made}"
    return Told([f"{said}: {scored_words(result)}."], kinds_table(result, _SHORT))


EXPERIMENT = Experiment(
    "views",
    "Beyond the paper: one sensor zoomed, in 16:9 and turned",
    _run,
    _score,
    _plot,
    _ABOUT,
    _tell,
    takes_data=True,
)
