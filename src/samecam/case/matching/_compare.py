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
from samecam.frames import Frame

# Photos that are compared at a time, and the part of the memory that their fingerprints may take,
# which are copied on the way.
_MOST, _SHARE = 64, 8
# log10 of the likelihood ratio from which a camera is supported: 2 times.
SUPPORT = 0.3


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
class Compared:
    """Some orientations of a photo against the cameras of their frame.

    Attributes
    ----------
    names : (k,) of the cameras
    correlations, scores : (m, k)
    without : (m, k) scores without what a camera shares with others, NaN where it shares nothing
    law : of strangers
    members : (k,) what is known of the scores of each camera's photos
    n_pixels : length of the fingerprints
    """

    orientations: Sequence[Orientation]
    names: Sequence[int | None]
    correlations: Doubles
    scores: Doubles
    without: Doubles
    law: evidence.Law
    members: Sequence[evidence.Members]
    n_pixels: int


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
    results: list[list[Compared]] = [[] for _ in batch]
    for frame in sorted({one.frame for photo in batch for one in photo.orientations}):
        rivals = cameras.at(frame)
        views = [[one for one in photo.orientations if one.frame == frame] for photo in batch]
        some = [k for k, view in enumerate(views) if view]
        rows = [rivals.hashes.get(batch[k].outcome.sha256) for k in some]
        sources = [rivals.source(views[k], row) for k, row in zip(some, rows, strict=True)]
        products = correlate.crosses(sources, rivals.rows, memory=memory // 2)
        for k, row, each in zip(some, rows, products, strict=True):
            results[k].append(against(views[k], rivals, each, row))
        rivals.close()
    for photo, result in zip(batch, results, strict=True):
        if result:
            yield _judged(photo, result, cameras, rate)
        else:
            yield _not_compared(photo, cameras)


def against(
    orientations: Sequence[Orientation], rivals: Rivals, products: Doubles, row: int | None
) -> Compared:
    """One photo against the cameras of one frame."""
    r, squares = rivals.correlations(products, row)
    scores, without, shifts = rivals.scores(orientations, r, squares, row)
    law = evidence.STRANGERS.measured_on(shifts) if shifts else evidence.STRANGERS
    names, pixels = rivals.names, rivals.rows.n_pixels
    return Compared(orientations, names, r, scores, without, law, rivals.members, pixels)


def _judged(
    photo: TurnedPhoto, results: Sequence[Compared], cameras: Cameras, rate: float
) -> Match:
    """The camera of the highest likelihood ratio, if chance hardly does that anywhere.

    A score that chance seldom has may still be too low for a camera whose photos have far higher
    ones: there is no match where the ratio supports none.
    """
    outcome, every = photo.outcome, list(candidates(results, weak=photo.outcome.status == "weak"))
    count = len(every)
    every.sort(key=lambda each: -each[2])
    best, frame = cameras.named(every[0][0]), every[0][1]
    named = (cameras.named(each) for each, _, _ in every)
    adjusted = min(1.0, best.p_value * count)
    supported = best.log10_lr > SUPPORT
    return Match(
        path=outcome.path,
        sha256=outcome.sha256,
        status=outcome.status,
        reason=outcome.reason,
        verdict="match" if adjusted <= rate and supported else "none",
        best=best,
        other=next((each for each in named if each.camera != best.camera), None),
        comparisons=count,
        adjusted=adjusted,
        frame=frame.name,
        **_known(cameras.known(outcome.sha256)),
    )


def candidates(
    results: Sequence[Compared], *, weak: bool
) -> Iterator[tuple[Candidate, Frame, float]]:
    """Every orientation with every camera: what it shows, its frame, the ratio without a cap."""
    for result in results:
        cap = evidence.largest_ratio(result.n_pixels)
        cap = min(cap, evidence.WEAK_CAP) if weak else cap
        for c, (name, members) in enumerate(zip(result.names, result.members, strict=True)):
            measured, without = result.scores[:, c], result.without[:, c]
            shares = ~np.isnan(without)
            score = np.where(shares, without, measured)
            rates = result.law.rate(score)
            ratios = evidence.log_ratios(score, members, result.law)
            for k, one in enumerate(result.orientations):
                facts = (float(result.correlations[k, c]), float(score[k]), float(rates[k]))
                ratio = float(ratios[k])
                shared = float(measured[k]) if shares[k] else None
                candidate = Candidate(
                    name, one.turned, *facts, min(ratio, cap), cap, shared_score=shared
                )
                yield candidate, one.frame, ratio
