"""Which group's camera took a photo, or none."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from samecam import compute, evidence
from samecam.arrays import Labels
from samecam.case.extraction import Photos, arguments, nothing_begun_yet
from samecam.case.folder import (
    SEARCHES,
    SavedCase,
    SearchChoice,
    by_frame,
    open_case,
    used_photos,
)
from samecam.case.matching._compare import Known, compared
from samecam.case.matching._cropped import Cropped
from samecam.case.matching._orientations import turned_photos
from samecam.case.matching._result import RATE, Candidate, Match, Matches, check_rate
from samecam.case.matching._rivals import Rivals, rivals_of
from samecam.case.matching._shared import case_patterns, cut_patterns
from samecam.case.matching._views import CameraViews
from samecam.errors import ParameterError, SamecamError
from samecam.frames import Frame
from samecam.inputs import PathLike
from samecam.photos import PhotoFile, scan
from samecam.store import DiskStore, FingerprintStore, Record, Subset

PHASE = "Adding up groups"
_NAMED = 3


def match_photos(
    case: PathLike,
    photos: Photos,
    *,
    rate: float = RATE,
    search: SearchChoice | None = None,
    resources: compute.Resources | None = None,
    progress: compute.Progress | None = None,
    stop: threading.Event | None = None,
) -> Matches:
    """Compare photos with the groups of a case; nothing is written.

    A photo's fingerprint is made with the case's own settings, in each of four orientations,
    and correlated with the summed fingerprints of the groups that have photos of the same width
    and height. A photo that no group has the like of, or that matches none, is registered against
    the cameras: turned, zoomed, reduced, corrected, cut (see `samecam.register`). The score is how
    far the correlation is above what chance does with this very photo and fingerprint, measured by
    shifting them; the verdict is the group of the highest likelihood ratio if the rate of the score
    among strangers, times all comparisons, is at most `rate`. In a case of squares, a photo that is
    too small is compared on the common crop.

    Parameters
    ----------
    case : a case of photos that has been clustered
    photos : files, folders, patterns, or ``@list.txt``
    rate : nominal probability, for each photo, that chance makes a match pixel by pixel; the same
        again by views
    search : how far to look for views: "quick" (turns, scales near 1, and those that widths and
        EXIF suggest), "normal" (all zooms), "deep" (crops too), "off"; None: "quick", of squares
        "off"
    resources, progress, stop
        As for `extract_photos`.

    Examples
    --------
    >>> for photo in samecam.match_photos("CASE", ["new/"]).photos:
    ...     print(photo.path, photo.verdict, photo.camera)
    """
    check_rate(rate)
    resources = (resources or compute.Resources()).resolve()
    progress, stop = compute.shown_progress(progress), stop or threading.Event()
    saved = open_case(case)
    settings = saved.extraction_settings
    search = _checked(search, saved)
    with nothing_begun_yet(stop):
        files, memory = scan(arguments(photos)), resources.memory_for("cpu")
    with saved.open_store() as store:
        used = used_photos(store)
        if not saved.groups:
            raise SamecamError(f"{str(saved.folder)!r} has no group to compare with.")
        groups = _Groups(saved, store, used, memory, progress)
        views = None
        if search != "off":
            views = CameraViews(saved, store, search, rate, memory, progress, stop)
        given = (files, settings, resources, progress, stop)
        turned = turned_photos(*given, frames=groups.frames, views=views is not None)
        results = by_path(compared(turned, groups, rate, memory, views))
    return Matches(
        results,
        len(saved.cameras),
        rate,
        evidence.law_sentence(evidence.STRANGERS),
        interrupted=len(results) < len(files),
        search=search,
        case=saved.folder,
        files=named_files(files),
    )


def _checked(search: SearchChoice | None, saved: SavedCase) -> SearchChoice:
    """How far to look for views in this case."""
    if search is not None and search not in SEARCHES:
        known = ", ".join(map(repr, SEARCHES))
        raise ParameterError("search", f"{{name}} is {search!r}; give one of {known}.")
    if saved.extraction_settings.size is None:
        return search or "quick"
    if search not in (None, "off"):
        raise ParameterError(
            "search",
            f"{{name}} is {search!r}, and {str(saved.folder)!r} is of squares: leave it out, or "
            "make a case of whole frames.",
        )
    return "off"


def named_files(files: Iterable[PhotoFile]) -> dict[str, str]:
    """Where files are, by path."""
    return {item.path: item.file for item in files}


def by_path(matches: Iterable[Match]) -> list[Match]:
    """Matches in the order of paths, however they became ready."""
    return sorted(matches, key=lambda match: match.path)


class _Groups:
    """The groups of a case, frame by frame; squares at any size up to their own.

    Attributes
    ----------
    frames : that there are groups of
    """

    def __init__(
        self,
        saved: SavedCase,
        store: DiskStore,
        used: Sequence[Record],
        memory: int,
        progress: compute.Progress,
    ) -> None:
        cameras, labels = saved.labels(used)
        places = zip(used, labels.tolist(), cameras.tolist(), strict=True)
        self._known = {photo.sha256: Known(photo.key, *place) for photo, *place in places}
        self._settings, self._memory = saved.extraction_settings, memory
        self._groups = saved.groups
        parts: dict[Frame, tuple[FingerprintStore, Labels]] = {}
        for frame, at in by_frame(used).items():
            inside = np.flatnonzero(labels[at] >= 0)
            if len(inside):
                parts[frame] = Subset(store.rows(frame), inside), labels[at][inside]
        self._scores, self._patterns = _known_scores(saved), case_patterns(saved.groups)
        self._rivals: dict[Frame, Rivals] = {}
        for done, (frame, (rows, numbers)) in enumerate(parts.items()):
            progress(PHASE, done, len(parts))
            given = (self._scores, self._patterns, memory)
            self._rivals[frame] = rivals_of(rows, numbers, *given)
            rows.close()
        self.frames = frozenset(parts)

    def at(self, frame: Frame) -> Rivals:
        """See `Cameras`; a smaller square is measured anew."""
        if frame not in self._rivals:
            whole = self._rivals[next(iter(self.frames))]
            rows = Cropped(whole.rows, frame.width, self._settings.at)
            numbers = np.array(whole.names, dtype=np.intp)[whole.labels]
            patterns = cut_patterns(self._patterns, rows.first, rows.side)
            self._rivals[frame] = rivals_of(rows, numbers, {}, patterns, self._memory)
        return self._rivals[frame]

    def known(self, sha256: str) -> Known | None:
        """The photo of the case that has these bytes."""
        return self._known.get(sha256)

    def named(self, candidate: Candidate) -> Candidate:
        """See `Cameras`."""
        if candidate.group is None:
            return candidate
        group = self._groups[candidate.group]
        return replace(candidate, camera=group.camera, view=group.words)

    def lacking(self, frame: Frame) -> str:
        """See `Cameras`."""
        return f"no group has photos of {either_way(frame)}: they have {named(self.frames)}"


def either_way(frame: Frame) -> str:
    """A frame and the same turned."""
    turned = Frame(frame.height, frame.width)
    return f"{frame} pixels" if turned == frame else f"{frame} pixels, nor of {turned}"


def named(frames: Iterable[Frame]) -> str:
    """Some of these, the largest first."""
    ordered = sorted(frames, key=lambda frame: (-frame.n_pixels, frame))
    more = f" and {len(ordered) - _NAMED} more" if len(ordered) > _NAMED else ""
    return ", ".join(map(str, ordered[:_NAMED])) + more


def _known_scores(saved: SavedCase) -> dict[int, list[float]]:
    """Scores of the members of each group, as the case has them."""
    result: dict[int, list[float]] = {}
    for photo in saved.photos:
        score = photo.telling_score
        if photo.group is not None and photo.group >= 0 and score is not None:
            result.setdefault(photo.group, []).append(score)
    return result
