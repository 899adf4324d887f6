"""Whether the camera at hand took a photo: its own photos as the reference."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from samecam import compute, evidence
from samecam.arrays import Labels
from samecam.case.extraction import Photos, arguments, measure_photos, nothing_begun_yet
from samecam.case.folder import ExtractionSettings
from samecam.case.matching._agreement import agreeing
from samecam.case.matching._compare import Known, compared
from samecam.case.matching._copied import copies
from samecam.case.matching._cropped import Cropped
from samecam.case.matching._match import by_path, either_way, named, named_files
from samecam.case.matching._orientations import (
    Orientation,
    TurnedPhoto,
    in_memory,
    turned_photos,
)
from samecam.case.matching._result import RATE, Candidate, Match, Matches, check_rate
from samecam.case.matching._rivals import Rivals
from samecam.case.matching._shared import SharedPatterns, cut_patterns
from samecam.errors import SamecamError
from samecam.frames import Frame
from samecam.notebook import counted
from samecam.photos import PhotoFile, scan
from samecam.store import (
    FingerprintStore,
    MemoryStore,
    Subset,
    frame_dtype,
    record_bytes,
)

if TYPE_CHECKING:
    import pandas

# How often fingerprints are held at a time: as they come, as rows, and in correlations.
_COPIES = 3
# Why a photo of the reference is not used.
_OTHERS = "agrees with other photos of the reference, not with the most"
_NONE = "does not agree with the other photos of the reference"


@dataclass(frozen=True, slots=True)
class Outlier:
    """A photo of the reference that was not used: `reason` says why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True, repr=False)
class ReferenceFrame:
    """The camera's fingerprint of one width and height.

    Attributes
    ----------
    frame : width and height of what is compared, "4000x3000"
    used : photos it is the sum of
    agreement : mean correlation of two of these; None if there is only one
    agrees : whether that is more than chance; if not, no match means nothing at all
    hashes : SHA-256 of the photos used
    scores : how far each of them is above chance with the sum of the others; empty if there is
        only one
    """

    frame: str
    used: list[str]
    agreement: float | None
    agrees: bool
    hashes: list[str] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)

    def __repr__(self) -> str:
        what = "agree" if self.agrees else "do not agree"
        return f"<ReferenceFrame {self.frame}: {counted(len(self.used), 'photo')} that {what}>"


@dataclass(frozen=True, slots=True, repr=False)
class ReferenceMatches:
    """What can be said of photos, given photos by a camera at hand.

    Attributes
    ----------
    matches : one entry a photo; `group` of its candidates is None
    frames : the camera's fingerprints, that of most photos first
    outliers : photos of the reference that do not agree with these, or could not be used
    size : side of the square that was compared; None: the whole frame
    files : where the photos of the reference are on disk, by path
    """

    matches: Matches
    frames: list[ReferenceFrame]
    outliers: list[Outlier] = field(default_factory=list)
    size: int | None = None
    files: dict[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<ReferenceMatches: {self.summary}>"

    @property
    def summary(self) -> str:
        """How many photos match: "7 of 20 match the reference"."""
        return self.matches.summary

    @property
    def photos(self) -> list[Match]:
        """One entry a photo, by path."""
        return self.matches.photos

    @property
    def measured(self) -> str:
        """What the error rates rest on, a sentence."""
        return self.matches.measured

    @property
    def interrupted(self) -> bool:
        """Whether it was asked to stop before the end."""
        return self.matches.interrupted

    def _repr_html_(self) -> str:
        """What a notebook shows: one row a photo in question."""
        return self.matches._repr_html_()

    def to_frame(self) -> pandas.DataFrame:
        """One row a photo in question, for pandas; see `Matches.to_frame`."""
        return self.matches.to_frame()

    @property
    def used(self) -> list[str]:
        """All photos that were used, frame by frame."""
        return [path for frame in self.frames for path in frame.used]

    def as_dict(self) -> dict[str, Any]:
        """For `--json`."""
        reference = {
            "frames": [asdict(frame) for frame in self.frames],
            "outliers": [asdict(outlier) for outlier in self.outliers],
            "size": self.size,
        }
        return {**self.matches.as_dict(), "reference": reference}


def match_reference(
    reference: Photos,
    photos: Photos,
    *,
    size: int | None = None,
    rate: float = RATE,
    resources: compute.Resources | None = None,
    progress: compute.Progress | None = None,
    stop: threading.Event | None = None,
) -> ReferenceMatches:
    """Compare photos with those of a camera at hand; nothing is written.

    The reference's photos of one width and height are grouped first (by the consolidated method).
    The largest group (all photos, if there is none) makes the camera's fingerprint, their sum; the
    others are named. A photo is compared with the fingerprint of its own width and height, in four
    orientations; chance is measured for each photo on shifted versions of that fingerprint. A photo
    that is itself in the reference is left out of it.

    Parameters
    ----------
    reference : photos by one camera: files, folders, patterns, or ``@list.txt``
    photos : likewise, in question
    size : side of a square at the top-left corner that is compared instead of the whole frame
    rate, resources, progress, stop
        As for `match_photos`.

    Examples
    --------
    >>> found = samecam.match_reference(["by this camera/"], ["in question.jpg"])
    >>> print(found.summary)
    """
    check_rate(rate)
    resources = (resources or compute.Resources()).resolve()
    progress, stop = compute.shown_progress(progress), stop or threading.Event()
    with nothing_begun_yet(stop):
        own, files = scan(arguments(reference)), scan(arguments(photos))
    settings, memory = ExtractionSettings(size=size), resources.memory_for("cpu")
    _check_memory(own, settings, resources, progress, stop)
    given = (own, settings, resources, progress, stop)
    upright = turned_photos(*given, turns=(0,), smaller=False, scenes=True)
    order = {item.path: k for k, item in enumerate(own)}
    camera = _Camera(sorted(upright, key=lambda photo: order[photo.outcome.path]), memory)
    frames = [Frame.named(each.frame) for each in camera.frames]
    turned = turned_photos(files, settings, resources, progress, stop, frames=frames)
    results = by_path(compared(turned, camera, rate, memory))
    measured = evidence.law_sentence(evidence.STRANGERS)
    cut, where = len(results) < len(files), named_files(files)
    matches = Matches(results, 1, rate, measured, interrupted=cut, files=where)
    there = named_files(own)
    return ReferenceMatches(matches, camera.frames, camera.outliers, size, there)


def _check_memory(
    own: Sequence[PhotoFile],
    settings: ExtractionSettings,
    resources: compute.Resources,
    progress: compute.Progress,
    stop: threading.Event,
) -> None:
    """Refuse a reference that does not fit, before it is read."""
    if settings.frame is not None:
        need = _COPIES * 4 * len(own) * settings.frame.n_pixels
    else:
        frames = measure_photos(own, resources, progress, stop)
        rows = settings.rows
        need = _COPIES * sum(
            count * record_bytes(frame.n_pixels, frame_dtype(frame, rows))
            for frame, count in frames.items()
        )
    memory = resources.memory_for("cpu")
    if need > memory:
        raise SamecamError(
            f"The fingerprints of {len(own)} reference photos take {compute.format_bytes(need)} "
            f"and the memory budget is {compute.format_bytes(memory)}: give fewer photos, a "
            "smaller size, or more memory."
        )


class _Camera:
    """The reference: which of its photos agree, frame by frame.

    Attributes
    ----------
    frames, outliers : see `ReferenceMatches`
    """

    def __init__(self, photos: Sequence[TurnedPhoto], memory: int) -> None:
        self.outliers: list[Outlier] = []
        self.frames: list[ReferenceFrame] = []
        self._memory = memory
        self._known: dict[str, Known] = {}
        self._rivals: dict[Frame, Rivals] = {}
        self._patterns: dict[Frame, dict[int, evidence.SharedPattern]] = {}
        taken = [photo for photo in photos if self._take(photo)]
        if not taken:
            raise SamecamError(
                f"None of the {len(photos)} photos of the reference can be used: "
                f"{_reasons(photos)}."
            )
        counts = Counter(photo.orientations[0].frame for photo in taken)
        for frame in sorted(counts, key=lambda frame: (-counts[frame], frame)):
            self._add(frame, [p for p in taken if p.orientations[0].frame == frame])

    def _take(self, photo: TurnedPhoto) -> bool:
        """Whether a photo can be used; if not, it is named."""
        outcome = photo.outcome
        if outcome.sha256 in self._known:
            same = self._known[outcome.sha256].path
            self.outliers.append(Outlier(outcome.path, f"same bytes as {same}"))
        elif outcome.status != "good":
            reason = outcome.reason or "a large part is over-exposed"
            self.outliers.append(Outlier(outcome.path, reason))
        else:
            self._known[outcome.sha256] = Known(outcome.path, 0, 0)
            return True
        return False

    def _add(self, frame: Frame, taken: Sequence[TurnedPhoto]) -> None:
        """Take in the photos of one frame, each picture once."""
        copied = copies(taken)
        photos = [photo for k, photo in enumerate(taken) if k not in copied]
        rows = _rows([photo.orientations[0] for photo in photos])
        found = agreeing(rows, _colours([p.orientations[0] for p in photos]), self._memory)
        self._leave_out(photos, found.labels)
        used, boxes = found.used, found.boxes
        some = [photos[k].outcome for k in used]
        hashes = {outcome.sha256: row for row, outcome in enumerate(some)}
        of_photos = list(hashes)
        for copy, original in copied.items():  # whoever asks for one has the other left out
            outcome, picture = taken[copy].outcome, taken[original].outcome
            self.outliers.append(Outlier(outcome.path, f"a copy of {picture.path}"))
            self._known[outcome.sha256] = self._known[picture.sha256]
            if picture.sha256 in hashes:
                hashes[outcome.sha256] = hashes[picture.sha256]
        patterns = {0: evidence.SharedPattern((), float("nan"), (), tuple(boxes))} if boxes else {}
        self._patterns[frame] = patterns
        self._rivals[frame], scores = self._camera(frame, Subset(rows, used), hashes, patterns)
        self.frames.append(
            ReferenceFrame(
                frame.name,
                [outcome.path for outcome in some],
                found.correlation,
                found.agrees,
                of_photos,
                [round(score, 3) for score in scores],
            )
        )

    def _leave_out(self, photos: Sequence[TurnedPhoto], labels: Labels) -> None:
        """Name photos that are not in the largest group, if there is any."""
        for photo, label in zip(photos, labels.tolist(), strict=True):
            if label != 0:
                outcome = photo.outcome
                self.outliers.append(Outlier(outcome.path, _OTHERS if label > 0 else _NONE))
                self._known[outcome.sha256] = Known(outcome.path, -1, -1)

    def at(self, frame: Frame) -> Rivals:
        """See `Cameras`; of squares also on a smaller one."""
        if frame not in self._rivals:
            largest = Frame.named(self.frames[0].frame)
            whole = self._rivals[largest]
            rows = Cropped(whole.rows, frame.width)
            patterns = cut_patterns(self._patterns[largest], rows.first, rows.side)
            self._rivals[frame], _ = self._camera(frame, rows, whole.hashes, patterns)
        return self._rivals[frame]

    def _camera(
        self,
        frame: Frame,
        rows: FingerprintStore,
        hashes: Mapping[str, int],
        patterns: Mapping[int, evidence.SharedPattern],
    ) -> tuple[Rivals, list[float]]:
        """The camera of some rows, and the scores that they have, each left out.

        Places that stand out in what there is of the camera, as `patterns` of group 0 has them,
        count for nothing.
        """
        labels = np.zeros(len(rows), dtype=np.intp)
        given = evidence.comparisons_from_rows(rows, labels, memory=self._memory)
        members, shown = evidence.usual_members(rows.n_pixels), np.zeros(0)
        if len(rows) > 1:
            chance = evidence.group_chance(rows, given, labels, frame=frame, memory=self._memory)
            own = given.own
            if patterns:
                own = evidence.correlations_without(
                    rows, given, 0, patterns[0], memory=self._memory
                )
            scores = chance.scores(own)
            usual = own * np.sqrt(rows.n_pixels)
            shown = np.where(np.isnan(scores), usual, scores)
            members = evidence.known_members(shown)
        shared = SharedPatterns(rows, labels, patterns, self._memory, few=len(rows))
        rivals = Rivals(rows, labels, (None,), given.totals, hashes, (members,), shared)
        return rivals, shown.tolist()

    def known(self, sha256: str) -> Known | None:
        """The photo of the reference that has these bytes."""
        return self._known.get(sha256)

    def named(self, candidate: Candidate) -> Candidate:
        """See `Cameras`: there is one, without a number."""
        return candidate

    def lacking(self, frame: Frame) -> str:
        """See `Cameras`."""
        there = named(Frame.named(each.frame) for each in self.frames)
        return f"the reference has no photos of {either_way(frame)}: its own have {there}"


def _colours(orientations: Sequence[Orientation]) -> list[float] | None:
    """How smooth fingerprints of whole frames are; None of squares."""
    whole = orientations[0].values.dtype != np.float32
    return [one.colour for one in orientations] if whole else None


def _rows(orientations: Sequence[Orientation]) -> FingerprintStore:
    """Fingerprints of one frame, in their order."""
    values, scales = zip(*((one.values, one.scale) for one in orientations), strict=True)
    rows = in_memory(values, scales, orientations[0].frame)
    if isinstance(rows, FingerprintStore):
        return rows
    store = MemoryStore(rows.shape[1])
    for k, row in enumerate(rows):
        store.add(f"{k:09d}", row)
    store.commit()
    return store


def _reasons(photos: Sequence[TurnedPhoto]) -> str:
    first = next((p.outcome.reason for p in photos if p.outcome.reason), "there is none")
    return first if len(photos) == 1 else f"the first because {first}"
