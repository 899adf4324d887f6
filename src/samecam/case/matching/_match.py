"""Which group's camera took a photo, or none; or whether a reference camera did."""

import os
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, Protocol

import numpy as np

from samecam import compute, correlate, evidence
from samecam.arrays import Doubles, Floats, Labels
from samecam.case.extraction import Photos, arguments, nothing_begun_yet
from samecam.case.folder import ExtractionSettings, open_case, used_photos
from samecam.case.matching._orientations import (
    Cropped,
    Orientation,
    TurnedPhoto,
    turned_photos,
)
from samecam.case.matching._shifts import shift_null
from samecam.errors import SamecamError
from samecam.photos import scan
from samecam.store import FingerprintStore

RATE = 0.01
_PRIOR = 20
Verdict = Literal["match", "none", "unusable", "skipped"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """One camera that may have taken a photo.

    Attributes
    ----------
    group : its number in the case; None for a reference
    turned : degrees clockwise by which the stored picture had to be turned
    correlation : with the camera's fingerprint
    z : that in units of what chance scatters
    p_value : upper bound of the probability that chance reaches z in one comparison
    """

    group: int | None
    turned: int
    correlation: float
    z: float
    p_value: float


@dataclass(frozen=True, slots=True)
class Match:
    """What can be said of one photo.

    Attributes
    ----------
    path, sha256, status, reason : the photo, as in `images.csv`
    verdict : "match", "none", or why it could not be compared
    best : the camera it is most like; the answer if the verdict is "match"
    other : the next best other camera; None if there is no other
    comparisons : cameras times orientations compared
    adjusted : min(1, p_value of the best · comparisons)
    side : pixels on a side of the common crop; the smallest, if orientations differ
    known : path of the same bytes in the case, or among the reference: left out there
    known_group : the group that stands in; −1 for none
    """

    path: str
    sha256: str
    status: str
    reason: str
    verdict: Verdict
    best: Candidate | None = None
    other: Candidate | None = None
    comparisons: int = 0
    adjusted: float = 1.0
    side: int | None = None
    known: str | None = None
    known_group: int | None = None

    @property
    def group(self) -> int | None:
        """The group of the verdict, if it is one."""
        return self.best.group if self.verdict == "match" and self.best is not None else None


@dataclass(frozen=True, slots=True)
class Matches:
    """What can be said of some photos.

    Attributes
    ----------
    photos : one entry a photo, by path
    cameras : groups compared with; 1 for a reference
    rate : nominal probability, for each photo, that chance makes a match
    measured : what the error rates rest on, a sentence
    interrupted : whether it was asked to stop before the end
    """

    photos: list[Match]
    cameras: int
    rate: float
    measured: str
    interrupted: bool = False

    @property
    def comparisons(self) -> int:
        """All comparisons that were made."""
        return sum(photo.comparisons for photo in self.photos)

    def as_dict(self) -> dict[str, Any]:
        """For `--json`."""
        photos = [{**asdict(photo), "group": photo.group} for photo in self.photos]
        values = {**asdict(self), "photos": photos}
        return {**values, "comparisons": self.comparisons}


@dataclass(frozen=True, slots=True)
class Rival:
    """Cameras to compare fingerprints of one size with.

    Attributes
    ----------
    sums : (k, d) summed fingerprints
    null : the law of chance, measured; None: from shifts, photo by photo
    names : group numbers; (None,) for a reference
    """

    sums: Floats
    null: evidence.Null | None
    names: Sequence[int | None]


@dataclass(frozen=True, slots=True)
class Known:
    """The same bytes among what is compared with: its path, camera (−1: none), and row."""

    path: str
    group: int
    row: int


class Cameras(Protocol):
    """Who may have taken a photo: the groups of a case, or a reference."""

    def rival(self, side: int) -> Rival:
        """The cameras on the common crop of `side` pixels."""

    def known(self, sha256: str) -> Known | None:
        """The photo that these bytes are of, if it is among what is compared with."""

    def row(self, known: Known, side: int) -> Floats:
        """Its fingerprint on the common crop."""


def match_photos(
    case: str | os.PathLike[str],
    photos: Photos,
    *,
    rate: float = RATE,
    resources: compute.Resources | None = None,
    progress: compute.Progress | None = None,
    stop: threading.Event | None = None,
) -> Matches:
    """Compare photos with the groups of a case; nothing is written.

    A photo's fingerprint is made with the case's own settings, in each of four orientations,
    and correlated with the averaged fingerprint of every group. z is the correlation over
    what it scatters by for photos of other groups, and over what this photo scatters by more
    than they do; the verdict is the group of highest
    z if the probability of chance reaching it, times all comparisons, is at most `rate`.
    The bound that is stated, `p_value`, cannot be below 3 in the number of comparisons within
    the case, so that of a small case is weak even for a clear match. With a single group
    chance is measured on shifts (see `shift_null`). A photo that is too small is compared on
    the common crop.

    Parameters
    ----------
    case : a case of photos that has been clustered
    photos : files, folders, patterns, or ``@list.txt``
    rate : nominal probability, for each photo, that chance makes a match
    resources, progress, stop
        As for `extract_photos`.
    """
    check_rate(rate)
    resources = (resources or compute.Resources()).resolve()
    progress, stop = progress or compute.no_progress, stop or threading.Event()
    saved = open_case(case)
    settings = saved.extraction_settings
    with nothing_begun_yet(stop):
        files, memory = scan(arguments(photos)), resources.memory_for("cpu")
    with saved.open_store() as store:
        labels = saved.labels(used_photos(store))
        count = int(labels.max(initial=-1)) + 1
        if not count:
            raise SamecamError(f"{str(saved.folder)!r} has no group to compare with.")
        groups = _Groups(store, labels, settings, memory)
        turned = turned_photos(files, settings, resources, progress, stop)
        results = by_path(compared(turned, groups, rate))
        null = groups.rival(settings.side).null
    measured = SHIFTS if null is None else evidence.null_sentence(null)
    return Matches(results, count, rate, measured, interrupted=len(results) < len(files))


def by_path(matches: Iterable["Match"]) -> list["Match"]:
    """Matches in the order of paths, however they became ready."""
    return sorted(matches, key=lambda match: match.path)


SHIFTS = (
    "Chance is measured for each photo on shifts of the camera's fingerprint, which no pattern of "
    "its own survives. It speaks of noise, not of what all devices of a model may share."
)


def check_rate(rate: float) -> None:
    """Refuse what is no probability."""
    if not 0 < rate < 1:
        raise SamecamError(f"rate is {rate}; give a probability between 0 and 1, .01 is usual.")


class _Groups:
    """The groups of a case, at any size up to that of its fingerprints."""

    def __init__(
        self, store: FingerprintStore, labels: Labels, settings: ExtractionSettings, memory: int
    ) -> None:
        self._store, self._labels, self._memory = store, labels, memory
        self._side = settings.side
        self._rivals: dict[int, tuple[FingerprintStore, Rival]] = {}
        self._rows = {sha256: row for row, sha256 in enumerate(store.hashes)}
        self._check_memory(store.n_pixels)

    def rival(self, side: int) -> Rival:
        """The groups' fingerprints on the common crop, and chance measured there."""
        return self._at(side)[1]

    def known(self, sha256: str) -> Known | None:
        """The photo of the case that has these bytes."""
        row = self._rows.get(sha256)
        if row is None:
            return None
        return Known(self._store.keys[row], int(self._labels[row]), row)

    def row(self, known: Known, side: int) -> Floats:
        """Fingerprint of a photo of the case on the common crop."""
        return np.asarray(self._at(side)[0].read([known.row])[0])

    def _at(self, side: int) -> tuple[FingerprintStore, Rival]:
        if side not in self._rivals:
            whole = side == self._side
            source = self._store if whole else Cropped(self._store, side)
            self._rivals[side] = source, self._measured(source)
        return self._rivals[side]

    def _check_memory(self, n_pixels: int) -> None:
        count = int(self._labels.max()) + 1
        need = 4 * count * n_pixels
        if need > self._memory:
            raise SamecamError(
                f"The fingerprints of {count} groups take {compute.format_bytes(need)} and the "
                f"memory budget is {compute.format_bytes(self._memory)}: raise it."
            )

    def _measured(self, source: FingerprintStore) -> Rival:
        self._check_memory(source.n_pixels)
        count = int(self._labels.max()) + 1
        sums = correlate.group_sums(source, self._labels, memory=self._memory)
        names = range(count)
        if count < 2:
            return Rival(sums, None, names)
        given = evidence.comparisons_from_rows(source, self._labels, memory=self._memory)
        null = evidence.measured_null(given, null_scale=correlate.usual_scale(source.n_pixels))
        return Rival(sums, null if null.comparisons else None, names)


def compared(photos: Iterable[TurnedPhoto], cameras: Cameras, rate: float) -> Iterator[Match]:
    """What can be said of each photo."""
    for photo in photos:
        outcome = photo.outcome
        if not photo.orientations:
            verdict: Verdict = "unusable" if outcome.status == "unusable" else "skipped"
            yield Match(outcome.path, outcome.sha256, outcome.status, outcome.reason, verdict)
            continue
        known = cameras.known(outcome.sha256)
        candidates, estimates = _candidates(photo.orientations, cameras, known)
        yield _judged(photo, candidates, estimates, known, rate)


def _candidates(
    orientations: Sequence[Orientation], cameras: Cameras, known: Known | None
) -> tuple[list[Candidate], list[float]]:
    """Every orientation against every camera, and the estimated rates of chance."""
    candidates: list[Candidate] = []
    estimates: list[float] = []
    for side in sorted({one.side for one in orientations}):
        rival, some = cameras.rival(side), [one for one in orientations if one.side == side]
        sums = rival.sums
        if known is not None and known.group >= 0:
            sums = sums.copy()
            sums[known.group] -= cameras.row(known, side)
        vectors = np.stack([one.vector for one in some])
        r = _correlations(vectors, sums)
        z, bound, estimate = _chance(r, vectors, sums, rival.null)
        for k, one in enumerate(some):
            for c, name in enumerate(rival.names):
                facts = (float(r[k, c]), float(z[k, c]), float(bound[k, c]))
                candidates.append(Candidate(name, one.turned, *facts))
                estimates.append(float(estimate[k, c]))
    return candidates, estimates


def _chance(
    r: Doubles, vectors: Floats, sums: Floats, null: evidence.Null | None
) -> tuple[Doubles, Doubles, Doubles]:
    """Values of z, bound and estimate of the rate of chance; (m, k) each."""
    if null is not None:
        z: Doubles = r / null.group_scale
        z /= _scatter(z)
        return z, evidence.false_alarm(z, null), evidence.false_alarm(z, null, bound=False)
    columns = []
    for c, camera in enumerate(sums):
        null = shift_null(vectors, camera)
        z = r[:, c] / null.scale
        columns.append(
            [z, evidence.false_alarm(z, null), evidence.false_alarm(z, null, bound=False)]
        )
    z, bound, estimate = np.stack(columns, axis=-1)
    return z, bound, estimate


def _scatter(z: Doubles) -> float:
    """How much more than others this photo scatters with cameras that are not its own; at least 1.

    From its negative z, among which those with its own camera hardly are, as `photo_scales`
    does, with 20 of scale 1 added.
    """
    negative = z[z < 0]
    squares = _PRIOR + float(np.square(negative).sum())
    return max(1.0, float(np.sqrt(squares / (_PRIOR + len(negative)))))


def _correlations(vectors: Floats, sums: Floats) -> Doubles:
    """(m, k) of fingerprints with cameras' sums; 0 where nothing is left of a camera."""
    norms = np.linalg.norm(sums.astype(np.float64), axis=1)
    products = (vectors @ sums.T).astype(np.float64)
    some = np.broadcast_to(norms > 1e-3, products.shape)
    result: Doubles = np.divide(products, norms, out=np.zeros_like(products), where=some)
    return result


def _judged(
    photo: TurnedPhoto,
    candidates: Sequence[Candidate],
    estimates: Sequence[float],
    known: Known | None,
    rate: float,
) -> Match:
    """The camera of highest z is the verdict, if chance hardly reaches it in all comparisons."""
    outcome, count = photo.outcome, len(candidates)
    first = max(range(count), key=lambda k: candidates[k].z)
    best = candidates[first]
    others = [c for c in candidates if c.group != best.group]
    return Match(
        path=outcome.path,
        sha256=outcome.sha256,
        status=outcome.status,
        reason=outcome.reason,
        verdict="match" if estimates[first] * count <= rate else "none",
        best=best,
        other=max(others, key=lambda c: c.z, default=None),
        comparisons=count,
        adjusted=min(1.0, best.p_value * count),
        side=min(one.side for one in photo.orientations),
        known=None if known is None else known.path,
        known_group=None if known is None else known.group,
    )
