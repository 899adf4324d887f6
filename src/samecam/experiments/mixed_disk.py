"""A seized disk: photos by several cameras among all that lies beside them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from samecam import pages
from samecam.errors import SamecamError
from samecam.experiments._experiment import Context, Experiment, Result, Told
from samecam.experiments._photo_sets import (
    PhotoSet,
    photo_size,
    real_or_simulated,
    set_name,
    simulate_set,
)
from samecam.experiments._piles import (
    CROSSTALK,
    Answer,
    Order,
    Places,
    as_run,
    asked_search,
    group_pile,
    lay_out,
    main_groups,
    outcome,
    owners,
    photos_of,
    strangers_among,
)
from samecam.experiments._study import Run, Study
from samecam.simulate import MESSENGERS, Messenger

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Simulated cameras, photos by each, frames, strangers; and with --quick.
FULL = (6, 24, ((2592, 1944), (2048, 1536), (2304, 1728)), 30)
QUICK = (3, 12, ((1280, 960), (1024, 768)), 4)
GRAPHICS, QUICK_GRAPHICS = 20, 4
# Photos of a camera that is looked for, at least; how many real cameras are strangers, at least.
FEWEST, STRANGERS = 8, 5
KINDS = {
    "original": "original",
    "sent": "messenger's copy, its original gone",
    "copy": "messenger's copy beside its original",
    "thumbnail": "thumbnail",
    "duplicate": "duplicate",
    "damaged": "damaged file",
    "graphic": "screenshot",
    "stranger": "photo by a stranger",
}
# Of these a file belongs to a camera; others belong to none.
_OF_CAMERAS = tuple(KINDS)[:5]
# What becomes of the photos of a camera, in turn; and what lies beside some of the originals.
_ROUND = 12
_GONE = {5: "sent", 10: "damaged", 11: "sent"}
_BESIDE = {1: "thumbnail", 2: "duplicate", 3: "copy", 7: "thumbnail", 8: "duplicate", 9: "copy"}
_THUMBNAIL = Messenger(240, 80, "bicubic")
_KEPT = 0.6  # share of the bytes of a damaged file


class Item(NamedTuple):
    """A file of the disk: of which photo it is made, and its kind."""

    photo: int
    kind: str

    @property
    def name(self) -> str:
        """Of the file, without ending."""
        return f"{self.photo:06d}" + (f"-{self.kind}" if self.kind in _BESIDE.values() else "")


def _name(context: Context) -> str:
    cameras, images, sizes, strangers = QUICK if context.quick else FULL
    return set_name(context, f"simulated-{cameras}x{images}+{strangers}-{sizes[0][0]}")


def _photos(context: Context) -> PhotoSet:
    cameras, images, sizes, strangers = QUICK if context.quick else FULL
    more = {"outliers": strangers, "crosstalk": CROSSTALK}
    return real_or_simulated(context, _name(context), cameras, images, sizes, **more)


def _run(context: Context) -> None:
    photos = _photos(context)
    given = {**photos.as_parameters(), **asked_search(), "graphics": _graphics(context)}
    make = partial(_group, context, photos)
    context.study.run(f"{photos.name}/disk", make, parameters=given)


def _graphics(context: Context) -> int:
    return QUICK_GRAPHICS if context.quick else GRAPHICS


def cast(cameras: Sequence[str]) -> list[Item]:
    """Which files there are of the photos of these cameras.

    Cameras of few photos are strangers, of whom there is one photo; where there are none, every
    fifth camera is.
    """
    of = photos_of(cameras)
    strangers = strangers_among(of, FEWEST, STRANGERS)
    if strangers == set(of):
        raise SamecamError(f"No camera has {FEWEST} photos: give more of them.")
    items = []
    for camera, own in of.items():
        if camera in strangers:
            items.append(Item(own[0], "stranger"))
            continue
        for rank, photo in enumerate(own):
            items.append(Item(photo, _GONE.get(rank % _ROUND, "original")))
            if rank % _ROUND in _BESIDE:
                items.append(Item(photo, _BESIDE[rank % _ROUND]))
    return items


def _order(item: Item, source: Path, folder: Path) -> Order:
    """How a file of the disk is made of a photo."""
    messenger: str | Messenger | None = None
    if item.kind in ("sent", "copy"):
        messenger = list(MESSENGERS)[item.photo % len(MESSENGERS)]
    elif item.kind == "thumbnail":
        messenger = _THUMBNAIL
    part = {"duplicate": 1.0, "damaged": _KEPT}.get(item.kind)
    ending = source.suffix.lower() if messenger is None else ".jpg"
    target = folder / f"{item.name}{ending}"
    return Order(str(source), str(target), messenger=messenger, part=part)


def _group(context: Context, photos: PhotoSet) -> Run:
    work = context.study.folder / "work" / photos.name
    items = cast(photos.cameras)
    orders = [_order(item, photos.files[item.photo], work / "photos") for item in items]
    screens = _screens(context)
    orders += [Order(str(file), str(work / "photos" / file.name)) for file in screens]
    there = lay_out(context, "Filling the disk", work, orders)
    names = [*(item.name for item in items), *(file.stem for file in screens)]
    cameras = [*(photos.cameras[item.photo] for item in items), *(file.stem for file in screens)]
    kinds = [*(item.kind for item in items), *("graphic" for _ in screens)]
    sizes = {photo_size(photos.files[item.photo]) for item in items if item.kind == "original"}
    kept = np.flatnonzero(there)
    answer = with_copies(group_pile(context, work / "photos", work))
    order, status = list(KINDS), [answer.listed.get(names[k], ("", ""))[0] for k in kept]
    run = as_run(
        answer,
        [names[k] for k in kept],
        [cameras[k] for k in kept],
        kind=np.array([order.index(kinds[k]) for k in kept], dtype=np.int64),
        status=np.array(status),
    )
    return Run(run.arrays, {**run.facts, "frames": len(sizes)})


def _screens(context: Context) -> list[Path]:
    """Screenshots, which are drawn; one small photo is made with them and not used."""
    count = _graphics(context)
    made = simulate_set(context, f"screens-{count}", 1, 1, (64, 64), screenshots=count)
    return sorted(made.files[0].parent.glob("SCREEN_*"))


def with_copies(answer: Answer) -> Answer:
    """An answer in which copies and duplicates have the place of what they are copies of."""
    same = {name: of for name, (_, of) in answer.listed.items() if of}

    def placed(labels: Mapping[str, int]) -> dict[str, int]:
        return dict(labels) | {name: labels[of] for name, of in same.items() if of in labels}

    return answer._replace(groups=placed(answer.groups), cameras=placed(answer.cameras))


def _score(study: Study, context: Context) -> dict[str, Any]:
    name = _name(context)
    run = study.load(f"{name}/disk")
    truth, labels, kind = (run.arrays[part] for part in ("truth", "cameras", "kind"))
    own = kind == 0
    main, owner = main_groups(truth[own], labels[own]), owners(truth[own], labels[own])
    rows = []
    for k, word in enumerate(KINDS):
        of = kind == k
        if of.any():
            counts = outcome(truth[of], labels[of], main, owner)
            alone = int((labels[of] < 0).sum())
            right = counts["placed"] if word in _OF_CAMERAS else alone
            files = {"kind": word, "files": counts["photos"], "right": right}
            listed = dict(sorted(Counter(run.arrays["status"][of].tolist()).items()))
            rows.append({**files, "wrong": counts["wrong"], "alone": alone, "listed": listed})
    return {
        "set": name,
        "frames": run.facts["frames"],
        "cameras": len(set(truth[own].tolist())),
        "wrong_pairs": wrong_pairs(truth, labels),
        "rows": rows,
        "runs": [{"seed": 0, "seconds": run.facts["seconds"]}],
    }


def wrong_pairs(truth: Places, labels: Places) -> int:
    """Pairs of files of different cameras that are in one group."""
    together = (labels[:, np.newaxis] == labels) & (labels >= 0)
    return int(np.triu(together & (truth[:, np.newaxis] != truth), 1).sum())


def _plot(result: Result) -> "Figure":
    from samecam.experiments import _pictures

    figure = _pictures.blank(10, 3.8)
    rows = result["rows"]
    names = [f"{KINDS[row['kind']]} ({row['files']})" for row in rows]
    axes = figure.subplots(1, 2, sharey=True)
    panels = (("right", "where it should be"), ("wrong", "at a wrong camera"))
    for ax, (part, title) in zip(axes, panels, strict=True):
        shares = [row[part] / row["files"] for row in rows]
        _pictures.paired(ax, names, {"on": shares}, f"share of the files {title}")
    return figure


_ABOUT = (
    "Where a file should be: at its camera; damaged files, screenshots and strangers in no group. "
    "Copies and duplicates have the place of what they are said to be copies of."
)


def _tell(result: Result) -> Told:
    rows = result["rows"]
    mine = [row for row in rows if row["kind"] in _OF_CAMERAS]
    right, files = (sum(row[name] for row in mine) for name in ("right", "files"))
    every = sum(row["files"] for row in rows)
    frames = f"{result['frames']} frame" + "s" * (result["frames"] > 1)
    said = (
        f"{every} files, of {result['cameras']} cameras in {frames} and others: "
        f"{right} of {files} ({right / files:.0%}) are at their camera; pairs of different cameras "
        f"in one group: {result['wrong_pairs']}."
    )
    head = ["kind", "files", "where it should be", "wrong", "listed as"]
    lines = [
        [
            KINDS[row["kind"]],
            str(row["files"]),
            f"{row['right'] / row['files']:.0%}",
            str(row["wrong"]),
            ", ".join(f"{name} {count}" for name, count in row["listed"].items()),
        ]
        for row in rows
    ]
    return Told([said], pages.table(head, lines))


EXPERIMENT = Experiment(
    "mixed-disk",
    "Beyond the paper: a disk with all that lies beside photos",
    _run,
    _score,
    _plot,
    _ABOUT,
    _tell,
    takes_data=True,
)
