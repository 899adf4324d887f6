"""Photos against cameras, some photos at a time: correlations, chance, verdicts."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from samecam import correlate, evidence
from samecam.arrays import Doubles
from samecam.case.folder import USED
from samecam.case.matching._orientations import Orientation, TurnedPhoto
from samecam.case.matching._result import Candidate, Match, Verdict
from samecam.case.matching._rivals import Rivals
from samecam.case.matching._shifts import shift_null
from samecam.frames import Frame

_PRIOR = 20
# Photos that are compared at a time, and the part of the memory that their fingerprints may take,
# which are copied on the way.
_MOST, _SHARE = 64, 8


@dataclass(frozen=True, slots=True)
class Known:
    """The same bytes among what is compared with: path, group and camera, −1 for none."""

    path: str
    group: int
    camera: int


class Cameras(Protocol):
    """Who may have taken a photo: the groups of a case, or a reference."""

    def at(self, frame: Frame) -> Rivals:
        """The cameras of a frame; of a smaller square than theirs, if they have squares."""

    def known(self, sha256: str) -> Known | None:
        """The photo that these bytes are of, if it is among what is compared with."""

    def named(self, candidate: Candidate) -> Candidate:
        """A candidate with its group's camera and view."""

    def lacking(self, frame: Frame) -> str:
        """Why a photo of this frame is compared with none."""


@dataclass(frozen=True, slots=True)
class _Compared:
    """Some orientations of a photo against the cameras of their frame.

    Attributes
    ----------
    names : (k,) of the cameras
    correlations : (m, k)
    scales : (m, k) or (k,), what these scatter by for chance
    nulls : (k,) the law of chance for each
    measured : whether that is of other photos; else it is of this photo alone, from shifts
    """

    orientations: Sequence[Orientation]
    names: Sequence[int | None]
    correlations: Doubles
    scales: Doubles
    nulls: Sequence[evidence.Null]
    measured: bool


class Views(Protocol):
    """What views say of photos."""

    def seen(self, photos: Sequence[tuple[TurnedPhoto, Match]]) -> list[Match]:
        """Of photos that match no camera pixel by pixel; not of all if it was asked to stop."""


def compared(
    photos: Iterable[TurnedPhoto],
    cameras: Cameras,
    rate: float,
    memory: int,
    views: Views | None = None,
) -> Iterator[Match]:
    """What can be said of each photo; rows are read once for several photos."""
    batch: list[TurnedPhoto] = []
    for photo in photos:
        if not photo.nbytes:
            yield _not_compared(photo, cameras)
            continue
        batch.append(photo)
        if len(batch) >= _MOST or sum(p.nbytes for p in batch) >= memory // _SHARE:
            yield from _batch(batch, cameras, rate, memory, views)
            batch = []
    yield from _batch(batch, cameras, rate, memory, views)


def _not_compared(photo: TurnedPhoto, cameras: Cameras) -> Match:
    """Of a photo that cannot be used, or that no camera has photos like."""
    outcome = photo.outcome
    verdict: Verdict = "unusable" if outcome.status == "unusable" else "skipped"
    reason, known = outcome.reason, None
    if outcome.status in USED:
        verdict, known = "none", cameras.known(outcome.sha256)
        reason = cameras.lacking(Frame(outcome.info.width or 0, outcome.info.height or 0))
    return Match(
        outcome.path,
        outcome.sha256,
        outcome.status,
        reason,
        verdict,
        **_known(known),
    )


def _known(known: Known | None) -> dict[str, Any]:
    """What is said of the same bytes."""
    if known is None:
        return {}
    return {"known": known.path, "known_group": known.group, "known_camera": known.camera}


def _batch(
    batch: Sequence[TurnedPhoto],
    cameras: Cameras,
    rate: float,
    memory: int,
    views: Views | None,
) -> Iterator[Match]:
    """Compare some photos pixel by pixel, and those that match none by views."""
    left = []
    for photo, match in zip(batch, _by_pixels(batch, cameras, rate, memory), strict=True):
        if match.verdict == "match" or views is None:
            yield match
        else:
            left.append((photo, match))
    if views is not None and left:
        yield from views.seen(left)


def _by_pixels(
    batch: Sequence[TurnedPhoto], cameras: Cameras, rate: float, memory: int
) -> Iterator[Match]:
    """Compare some photos, frame by frame."""
    results: list[list[_Compared]] = [[] for _ in batch]
    for frame in sorted({one.frame for photo in batch for one in photo.orientations}):
        rivals = cameras.at(frame)
        views = [[one for one in photo.orientations if one.frame == frame] for photo in batch]
        some = [k for k, view in enumerate(views) if view]
        rows = [rivals.hashes.get(batch[k].outcome.sha256) for k in some]
        sources = [rivals.source(views[k], row) for k, row in zip(some, rows, strict=True)]
        products = correlate.crosses(sources, rivals.rows, memory=memory // 2)
        for k, row, each in zip(some, rows, products, strict=True):
            results[k].append(_against(views[k], rivals, each, row))
        rivals.close()
    for photo, result in zip(batch, results, strict=True):
        if result:
            yield _judged(photo, result, cameras, rate)
        else:
            yield _not_compared(photo, cameras)


def _against(
    orientations: Sequence[Orientation], rivals: Rivals, products: Doubles, row: int | None
) -> _Compared:
    """One photo against the cameras of one frame."""
    r, squares = rivals.correlations(products, row)
    null = rivals.null
    if null is not None:
        nulls = [null] * len(squares)
        scales = rivals.scales(orientations, null.group_scale)
    else:
        shifted = [rivals.shifted(orientations, c, s, row) for c, s in enumerate(squares.tolist())]
        nulls = [shift_null(values, rivals.rows.n_pixels) for values in shifted]
        scales = np.array([each.scale for each in nulls])
    return _Compared(orientations, rivals.names, r, scales, nulls, measured=null is not None)


def _judged(
    photo: TurnedPhoto, results: Sequence[_Compared], cameras: Cameras, rate: float
) -> Match:
    """The camera of highest z is the verdict, if chance hardly reaches it in all comparisons."""
    outcome, every = photo.outcome, list(_candidates(results))
    count = len(every)
    top, estimate, frame = max(every, key=lambda each: each[0].z)
    best, all_named = cameras.named(top), [cameras.named(each) for each, _, _ in every]
    others = [each for each in all_named if each.camera != best.camera]
    return Match(
        path=outcome.path,
        sha256=outcome.sha256,
        status=outcome.status,
        reason=outcome.reason,
        verdict="match" if estimate * count <= rate else "none",
        best=best,
        other=max(others, key=lambda c: c.z, default=None),
        comparisons=count,
        adjusted=min(1.0, best.p_value * count),
        frame=frame.name,
        **_known(cameras.known(outcome.sha256)),
    )


def _candidates(results: Sequence[_Compared]) -> Iterator[tuple[Candidate, float, Frame]]:
    """Every orientation with every camera: what it shows, the estimated rate of chance, its frame.

    z is the correlation over what chance scatters by and, where that was measured on others, over
    what this photo scatters by more than they do.
    """
    scores = [result.correlations / result.scales for result in results]
    measured = [z.ravel() for z, each in zip(scores, results, strict=True) if each.measured]
    more = _scatter(np.concatenate(measured)) if measured else 1.0
    for result, values in zip(results, scores, strict=True):
        z = values / more if result.measured else values
        for c, (name, null) in enumerate(zip(result.names, result.nulls, strict=True)):
            bound = evidence.false_alarm(z[:, c], null)
            estimate = evidence.false_alarm(z[:, c], null, bound=False)
            for k, one in enumerate(result.orientations):
                facts = (float(result.correlations[k, c]), float(z[k, c]), float(bound[k]))
                yield Candidate(name, one.turned, *facts), float(estimate[k]), one.frame


def _scatter(z: Doubles) -> float:
    """How much more than others this photo scatters with cameras that are not its own; at least 1.

    From its negative z, among which those with its own camera hardly are, as `photo_scales`
    does, with 20 of scale 1 added.
    """
    negative = z[z < 0]
    squares = _PRIOR + float(np.square(negative).sum())
    return max(1.0, float(np.sqrt(squares / (_PRIOR + len(negative)))))
