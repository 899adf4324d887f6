"""Messengers' copies beside originals: how many come to the camera that took them."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from samecam import pages
from samecam.errors import SamecamError
from samecam.experiments._experiment import Context, Experiment, Result, Told
from samecam.experiments._photo_sets import PhotoSet, real_or_simulated, set_name
from samecam.experiments._piles import (
    CROSSTALK,
    STEPS,
    Order,
    as_run,
    asked_search,
    group_pile,
    lay_out,
    outcome,
    owners,
    photos_of,
    steps_of,
    strangers_among,
)
from samecam.experiments._study import Run, Study
from samecam.simulate import MESSENGERS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Simulated cameras, strangers and size of the photos; and with --quick.
FULL, QUICK = (8, 16, (3264, 2448)), (4, 6, (2048, 1536))
# Photos of each camera that are there as originals, and those that are there only as copies.
KEPT, SENT = 10, 6
# Copies of each stranger's photos, at most; and how many real cameras are strangers, at least.
OF_STRANGERS, STRANGERS = 2, 5
ORIGINAL, COPY, STRANGER = range(3)


def _name(context: Context) -> str:
    cameras, _, size = QUICK if context.quick else FULL
    return set_name(context, f"simulated-{cameras}x{KEPT + SENT}-{size[0]}")


def _photos(context: Context) -> PhotoSet:
    cameras, strangers, size = QUICK if context.quick else FULL
    more = {"outliers": strangers, "crosstalk": CROSSTALK}
    return real_or_simulated(context, _name(context), cameras, KEPT + SENT, size, **more)


def _run(context: Context) -> None:
    photos = _photos(context)
    roles = cast(photos.cameras)
    given = {**photos.as_parameters(), "kept": KEPT, "sent": SENT, **asked_search()}
    if context.data is None:
        given["crosstalk"] = CROSSTALK
    for service in MESSENGERS:
        make = partial(_send, context, photos, roles, service)
        key = f"{photos.name}/{service}"
        context.study.run(key, make, parameters={**given, "service": service})


def cast(cameras: Sequence[str]) -> dict[int, int]:
    """Which photos are originals, copies, and copies of strangers' photos; others are left out.

    Cameras with too few photos for originals and a copy are strangers; where there are none,
    every fifth camera is.
    """
    of = photos_of(cameras)
    strangers = strangers_among(of, KEPT + 1, STRANGERS)
    roles: dict[int, int] = {}
    for camera, own in of.items():
        if camera in strangers:
            roles.update(dict.fromkeys(own[:OF_STRANGERS], STRANGER))
        else:
            roles.update(dict.fromkeys(own[:KEPT], ORIGINAL))
            roles.update(dict.fromkeys(own[KEPT : KEPT + SENT], COPY))
    if COPY not in roles.values():
        raise SamecamError(
            f"No camera has more than {KEPT} photos, of which some could be sent: give more photos."
        )
    return roles


def _send(context: Context, photos: PhotoSet, roles: Mapping[int, int], service: str) -> Run:
    """A pile of originals and of copies sent by one service, grouped."""
    work = context.study.folder / "work" / photos.name / service
    orders = []
    for k, role in sorted(roles.items()):
        sent = service if role != ORIGINAL else None
        ending = ".jpg" if sent else photos.files[k].suffix.lower()
        target = work / "photos" / f"{k:06d}{ending}"
        orders.append(Order(str(photos.files[k]), str(target), messenger=sent))
    there = lay_out(context, f"Sending by {service}", work, orders)
    made = [order for order, is_there in zip(orders, there, strict=True) if is_there]
    names = [Path(order.target).stem for order in made]
    answer = group_pile(context, work / "photos", work)
    parts = np.array([roles[int(name)] for name in names], dtype=np.int64)
    return as_run(answer, names, [photos.cameras[int(name)] for name in names], role=parts)


def _score(study: Study, context: Context) -> dict[str, Any]:
    name = _name(context)
    rows, runs, cameras = [], [], 0
    for service, how in MESSENGERS.items():
        run = study.load(f"{name}/{service}")
        runs.append({"service": service, "seed": 0, "seconds": run.facts["seconds"]})
        cameras = len(set(run.arrays["truth"][run.arrays["role"] == ORIGINAL].tolist()))
        for step in steps_of(run):
            about = {"service": service, "edge": how.edge, "quality": how.quality}
            rows.append({**about, "search": STEPS[step], **placed(run, step)})
    size = None if context.data else list((QUICK if context.quick else FULL)[2])
    what = {"set": name, "size": size, "cameras": cameras, "kept": KEPT}
    return {**what, "rows": rows, "runs": runs}


def placed(run: Run, step: str) -> dict[str, int]:
    """Copies, those in a group of their camera's originals or of another's; strangers likewise.

    A group is that of the camera of most of the originals in it; one of copies alone is nobody's.
    """
    truth, labels, role = (run.arrays[part] for part in ("truth", step, "role"))
    own = role == ORIGINAL
    owner = owners(truth[own], labels[own])
    counts = {"copies": int((role == COPY).sum()), "right": 0, "wrong": 0}
    for camera, label in zip(
        truth[role == COPY].tolist(), labels[role == COPY].tolist(), strict=True
    ):
        if label in owner:
            counts["right" if owner[label] == camera else "wrong"] += 1
    strange = role == STRANGER
    met = outcome(truth[strange], labels[strange], {}, owner)
    return {**counts, "strangers": met["photos"], "strangers_placed": met["wrong"]}


def _steps(result: Result) -> list[str]:
    return list(dict.fromkeys(row["search"] for row in result["rows"]))


def _words(row: Mapping[str, Any]) -> str:
    service = row["service"].partition("-")[0].title().replace("app", "App")
    return f"{service}, {row['edge']} pixels, quality {row['quality']}"


def _plot(result: Result) -> "Figure":
    from samecam.experiments import _pictures

    figure = _pictures.blank(10, 3.6)
    axes = figure.subplots(1, 3, sharey=True)
    panels = (
        ("right", "copies", "copies at the right camera"),
        ("wrong", "copies", "copies at a wrong one"),
        ("strangers_placed", "strangers", "strangers at any"),
    )
    names = list(dict.fromkeys(_words(row) for row in result["rows"]))
    for ax, (part, of, title) in zip(axes, panels, strict=True):
        values = {
            step: [row[part] / max(row[of], 1) for row in result["rows"] if row["search"] == step]
            for step in _steps(result)
        }
        _pictures.paired(ax, names, values, title)
    _pictures.explain(figure, axes[0])
    _pictures.note(figure, "shares; off: groups of one frame; on: groups joined by views")
    return figure


_ABOUT = (
    "Copies, upright, reduced, compressed again, without EXIF, of photos by cameras of which there "
    "are other originals, and by strangers. A copy is right, or wrong, if it comes into a group "
    "with originals of its camera, or of another."
)


def _tell(result: Result) -> Told:
    steps = _steps(result)
    last = [row for row in result["rows"] if row["search"] == steps[-1]]
    wrong, placed = (sum(row[name] for row in last) for name in ("wrong", "strangers_placed"))
    said = (
        f"{result['cameras']} cameras with {result['kept']} originals each: of "
        f"{sum(row['copies'] for row in last)} copies {wrong} are wrong, of "
        f"{sum(row['strangers'] for row in last)} strangers' {placed} are placed."
    )
    head = ["messenger", "copies", *(f"right, search {step}" for step in steps)]
    rows = []
    for row in last:
        same = [r for r in result["rows"] if r["service"] == row["service"]]
        shares = [f"{r['right'] / max(r['copies'], 1):.0%}" for r in same]
        rows.append([_words(row), str(row["copies"]), *shares])
    return Told([said], pages.table(head, rows))


EXPERIMENT = Experiment(
    "messengers",
    "Beyond the paper: copies that messengers send",
    _run,
    _score,
    _plot,
    _ABOUT,
    _tell,
    takes_data=True,
)
