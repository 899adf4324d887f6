"""Whether the camera at hand took a photo: its own photos as the reference."""

import math
import threading
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from samecam import compute, correlate, evidence
from samecam.arrays import Floats
from samecam.case.extraction import (
    Photos,
    arguments,
    choose_size,
    measure_photos,
    nothing_begun_yet,
)
from samecam.case.folder import ExtractionSettings, Size
from samecam.case.matching._match import (
    RATE,
    SHIFTS,
    Known,
    Matches,
    Rival,
    by_path,
    check_rate,
    compared,
)
from samecam.case.matching._orientations import TurnedPhoto, turned_photos
from samecam.errors import SamecamError
from samecam.photos import PhotoFile, scan

# One in a thousand sums of chance is that many standard deviations high.
_AGREE = 3.09


@dataclass(frozen=True, slots=True)
class Outlier:
    """A photo of the reference that was not used: `reason` says why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class ReferenceMatches:
    """What can be said of photos, given photos by a camera at hand.

    Attributes
    ----------
    matches : one entry a photo; `group` of its candidates is None
    used : photos the camera's fingerprint was averaged from
    outliers : photos of the reference that do not agree with these, or could not be used
    agreement : mean correlation of two used photos; None if there is only one
    agrees : whether that is more than chance; if not, no match means nothing at all
    size : side of the crop
    """

    matches: Matches
    used: list[str]
    outliers: list[Outlier] = field(default_factory=list)
    agreement: float | None = None
    agrees: bool = False
    size: int = 0

    def as_dict(self) -> dict[str, Any]:
        """For `--json`."""
        reference = {
            "used": self.used,
            "outliers": [asdict(outlier) for outlier in self.outliers],
            "agreement": self.agreement,
            "agrees": self.agrees,
            "size": self.size,
        }
        return {**self.matches.as_dict(), "reference": reference}


def match_reference(
    reference: Photos,
    photos: Photos,
    *,
    size: Size = "auto",
    rate: float = RATE,
    resources: compute.Resources | None = None,
    progress: compute.Progress | None = None,
    stop: threading.Event | None = None,
) -> ReferenceMatches:
    """Compare photos with those of a camera at hand; nothing is written.

    The reference's photos are grouped first (by the consolidated method). The largest group
    (all photos, if there is none) makes the camera's fingerprint, their mean; the others are
    named. Chance is
    measured for each photo on shifted versions of that fingerprint (see `shift_null`), in four
    orientations. A photo that is itself in the reference is left out of it.

    Parameters
    ----------
    reference : photos by one camera: files, folders, patterns, or ``@list.txt``
    photos : likewise, in question
    size : side of the crop, or "auto": what 95 % of the reference's photos allow
    rate, resources, progress, stop
        As for `match_photos`.
    """
    check_rate(rate)
    resources = (resources or compute.Resources()).resolve()
    progress, stop = progress or compute.no_progress, stop or threading.Event()
    with nothing_begun_yet(stop):
        own, files = scan(arguments(reference)), scan(arguments(photos))
    settings = _settings(own, size, resources, progress, stop)
    _check_memory(len(own), settings, resources.memory_for("cpu"))
    upright = turned_photos(own, settings, resources, progress, stop, turns=(0,), smaller=False)
    order = {item.path: k for k, item in enumerate(own)}
    camera = _Camera(sorted(upright, key=lambda photo: order[photo.outcome.path]), settings)
    turned = turned_photos(files, settings, resources, progress, stop)
    results = by_path(compared(turned, camera, rate))
    return ReferenceMatches(
        Matches(results, 1, rate, SHIFTS, interrupted=len(results) < len(files)),
        [camera.paths[k] for k in camera.used],
        camera.outliers,
        camera.agreement,
        camera.agrees,
        settings.side,
    )


def _settings(
    files: Sequence[PhotoFile],
    size: Size,
    resources: compute.Resources,
    progress: compute.Progress,
    stop: threading.Event,
) -> ExtractionSettings:
    """Default settings; the size that the reference allows, if none is given."""
    if size != "auto":
        return ExtractionSettings(size=size)
    sizes = measure_photos(files, resources, progress, stop)
    if not sizes:
        raise SamecamError(
            f"None of the {len(files)} files of the reference is a photo: name photos by the "
            "camera."
        )
    return ExtractionSettings(size=choose_size(sizes, ExtractionSettings()).size)


def _check_memory(count: int, settings: ExtractionSettings, memory: int) -> None:
    need = 3 * 4 * count * settings.n_pixels
    if need > memory:
        raise SamecamError(
            f"The fingerprints of {count} reference photos take {compute.format_bytes(need)} and "
            f"the memory budget is {compute.format_bytes(memory)}: give fewer photos, a smaller "
            "size, or more memory."
        )


class _Camera:
    """The reference: which of its photos agree, and their sum at any size."""

    def __init__(self, photos: Sequence[TurnedPhoto], settings: ExtractionSettings) -> None:
        self.outliers: list[Outlier] = []
        self.paths: list[str] = []
        self._rows: dict[str, int] = {}
        vectors = [self._take(photo) for photo in photos]
        self._vectors = np.array([v for v in vectors if v is not None], dtype=np.float32)
        if not self.paths:
            raise SamecamError(
                f"None of the {len(photos)} photos of the reference can be used: "
                f"{_reasons(photos)}."
            )
        self.used, self.agreement, self.agrees = self._agreeing(settings.n_pixels)
        self._sums: dict[int, Floats] = {}

    def _take(self, photo: TurnedPhoto) -> Floats | None:
        outcome = photo.outcome
        if outcome.sha256 in self._rows:
            same = self.paths[self._rows[outcome.sha256]]
            self.outliers.append(Outlier(outcome.path, f"same bytes as {same}"))
            return None
        if outcome.status != "good":
            reason = outcome.reason or "a large part is over-exposed"
            self.outliers.append(Outlier(outcome.path, reason))
            return None
        self._rows[outcome.sha256] = len(self.paths)
        self.paths.append(outcome.path)
        return photo.orientations[0].vector

    def _agreeing(self, n_pixels: int) -> tuple[list[int], float | None, bool]:
        """Rows to use, their mean correlation, and whether that is more than chance.

        The largest group; all, if there is none: a few photos of a weak camera found none, but
        the sum over all their pairs may yet be beyond chance.
        """
        from samecam.cluster import ConsolidatedSSC

        if len(self.paths) == 1:
            return [0], None, False
        gram = correlate.gram(self._vectors)
        method = ConsolidatedSSC(metric="precomputed", n_pixels=n_pixels).fit(gram)
        labels = method.labels_
        used = np.flatnonzero(labels == 0)
        alone = not len(used)
        if alone:
            used = np.arange(len(labels))
        for k in np.flatnonzero(labels != 0) if not alone else ():
            what = (
                "agrees with other photos of the reference, not with the most"
                if labels[k] > 0
                else "does not agree with the other photos of the reference"
            )
            self.outliers.append(Outlier(self.paths[k], what))
        shown = evidence.pair_evidence(gram[np.ix_(used, used)], method.null_scale_)
        agree = not alone or shown.z > _AGREE
        return used.tolist(), round(shown.correlation, 6), agree

    def known(self, sha256: str) -> Known | None:
        """The photo of the reference that has these bytes."""
        row = self._rows.get(sha256)
        if row is None:
            return None
        return Known(self.paths[row], 0 if row in self.used else -1, row)

    def rival(self, side: int) -> Rival:
        """The camera's fingerprint on the common crop."""
        if side not in self._sums:
            total = cut(self._vectors[self.used], side).sum(axis=0, keepdims=True)
            self._sums[side] = total.astype(np.float32)
        return Rival(self._sums[side], None, (None,))

    def row(self, known: Known, side: int) -> Floats:
        """Fingerprint of a photo of the reference on the common crop."""
        return np.asarray(cut(self._vectors[[known.row]], side)[0])


def cut(vectors: Floats, side: int) -> Floats:
    """Top-left squares of square fingerprints, brought to zero mean and unit norm again."""
    whole = math.isqrt(vectors.shape[1])
    if side == whole:
        return vectors
    square = vectors.reshape(-1, whole, whole)[:, :side, :side]
    return correlate.normalised(square.reshape(len(vectors), side * side))


def _reasons(photos: Sequence[TurnedPhoto]) -> str:
    first = next((p.outcome.reason for p in photos if p.outcome.reason), "there is none")
    return first if len(photos) == 1 else f"the first because {first}"
