"""Whether two photos are by one camera, without a case and without a reference."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from samecam import compute, correlate, evidence
from samecam.case.extraction import Photos, arguments, measure_photos, nothing_begun_yet
from samecam.case.folder import SEARCHES, USED, ExtractionSettings, SearchChoice, rounded_view
from samecam.case.matching._compare import SUPPORT, against, candidates
from samecam.case.matching._match import named_files
from samecam.case.matching._orientations import (
    Orientation,
    TurnedPhoto,
    fingerprint_of,
    in_memory,
    turned_photos,
)
from samecam.case.matching._pair_result import ComparedPhoto, PairMatches, PairView, PhotoPair
from samecam.case.matching._result import RATE, check_rate
from samecam.case.matching._rivals import Rivals
from samecam.case.matching._shared import SharedPatterns
from samecam.case.matching._views import PHASE, upright_photo
from samecam.errors import ParameterError, SamecamError
from samecam.frames import Frame
from samecam.photos import PhotoFile, scan
from samecam.register import (
    SMALLEST,
    Cameras,
    GroupedRows,
    KnownCameras,
    Search,
    View,
    view_words,
)
from samecam.store import FingerprintStore, frame_dtype, record_bytes

# Photos of which every two are compared; more are for grouping.
MOST = 20
# Orientations of a photo that are held.
_HELD = 4


def match_pairs(
    photos: Photos,
    *,
    rate: float = RATE,
    search: SearchChoice | None = None,
    resources: compute.Resources | None = None,
    progress: compute.Progress | None = None,
    stop: threading.Event | None = None,
) -> PairMatches:
    """Compare every two of some photos; nothing is written.

    Two photos of one width and height, as they are stored or turned, are compared pixel by pixel:
    the score is how far their correlation is above what chance does with these two, measured by
    shifting them, and the likelihood ratio rests on what two photos of one camera usually show.
    Two that do not match so, or whose widths and heights differ, are registered. The verdict is
    "match" if the rate of the score among strangers, times all comparisons of all pairs, is at
    most `rate`, and the ratio supports one camera. Of two photos that look alike the verdict is
    "alike": what they have in common may be the picture.

    Parameters
    ----------
    photos : two to 20: files, folders, patterns, or ``@list.txt``
    rate : nominal probability that chance makes a match of any pair, pixel by pixel; the same
        again by views
    search : how far to look for views, see `match_photos`; None: "quick"
    resources, progress, stop
        As for `extract_photos`.

    Examples
    --------
    >>> print(samecam.match_pairs(["a.jpg", "b.jpg"]).pairs[0].sentence)
    """
    check_rate(rate)
    if search is not None and search not in SEARCHES:
        known = ", ".join(map(repr, SEARCHES))
        raise ParameterError("search", f"{{name}} is {search!r}; give one of {known}.")
    resources = (resources or compute.Resources()).resolve()
    progress, stop = compute.shown_progress(progress), stop or threading.Event()
    with nothing_begun_yet(stop):
        files = scan(arguments(photos))
    _check_number(files)
    settings, memory = ExtractionSettings(), resources.memory_for("cpu")
    frames = measure_photos(files, resources, progress, stop)
    _check_memory(frames, settings, memory)
    given = (files, settings, resources, progress, stop)
    read = turned_photos(*given, frames=set(frames), views=True, scenes=True)
    order = {item.path: k for k, item in enumerate(files)}
    turned = sorted(read, key=lambda photo: order[photo.outcome.path])
    pairs: list[PhotoPair] = []
    if len(turned) == len(files):
        pairs = _every_pair(turned, rate, memory)
    cut = not pairs
    search = search or "quick"
    if pairs and search != "off":
        pairs, cut = _Views(turned, search, rate, memory, progress).searched(pairs, stop)
    return PairMatches(
        [_photo(photo) for photo in turned],
        _without_alike(pairs, turned),
        rate,
        evidence.law_sentence(evidence.STRANGERS),
        interrupted=cut,
        search=search,
        files=named_files(files),
    )


def _check_number(files: Sequence[PhotoFile]) -> None:
    if len(files) < 2:
        raise SamecamError(
            f"{files[0].file!r} is the only photo: give two, or a case or a reference to compare "
            "it with."
        )
    if len(files) > MOST:
        raise SamecamError(
            f"{len(files)} photos were given, and every two of up to {MOST} are compared: group "
            "them with samecam cluster PHOTOS... -o CASE."
        )


def _check_memory(frames: dict[Frame, int], settings: ExtractionSettings, memory: int) -> None:
    """Refuse photos that do not fit, before they are read."""
    rows = settings.rows
    need = _HELD * sum(
        count * record_bytes(frame.n_pixels, frame_dtype(frame, rows))
        for frame, count in frames.items()
    )
    if need > memory:
        raise SamecamError(
            f"The fingerprints of these photos take {compute.format_bytes(need)} and the memory "
            f"budget is {compute.format_bytes(memory)}: give fewer photos, or more memory."
        )


def _photo(photo: TurnedPhoto) -> ComparedPhoto:
    outcome = photo.outcome
    width, height = outcome.info.width, outcome.info.height
    frame = Frame(width, height).name if width and height else None
    return ComparedPhoto(outcome.path, outcome.sha256, outcome.status, outcome.reason, frame)


def _every_pair(photos: Sequence[TurnedPhoto], rate: float, memory: int) -> list[PhotoPair]:
    """Every two photos, pixel by pixel, judged by all comparisons together."""
    pairs = [
        _by_pixels(first, second, memory)
        for k, first in enumerate(photos)
        for second in photos[k + 1 :]
    ]
    count = sum(pair.comparisons for pair in pairs)
    return [_judged(pair, count, rate) for pair in pairs]


def _by_pixels(first: TurnedPhoto, second: TurnedPhoto, memory: int) -> PhotoPair:
    """Two photos, the first in all orientations that have the frame of the second."""
    one, other = first.outcome, second.outcome
    unused = next((each for each in (one, other) if each.status not in USED), None)
    if unused is not None:
        reason = f"{unused.path}: {unused.reason}"
        return PhotoPair(one.path, other.path, "unusable", reason)
    if one.sha256 == other.sha256:
        return PhotoPair(one.path, other.path, "same", "the two files have the same bytes")
    upright = _upright(second)
    some = [each for each in first.orientations if each.frame == upright.frame]
    if not some:
        return PhotoPair(one.path, other.path, "none")
    rivals = _camera_of(upright, memory)
    (products,) = correlate.crosses([rivals.source(some, None)], rivals.rows, memory=memory // 2)
    weak = "weak" in (one.status, other.status)
    shown = candidates([against(some, rivals, products, None)], weak=weak)
    best, frame, _ = max(shown, key=lambda each: each[2])
    rivals.close()
    return PhotoPair(
        one.path, other.path, "none", best=best, comparisons=len(some), frame=frame.name
    )


def _upright(photo: TurnedPhoto) -> Orientation:
    """A photo as it is stored."""
    return next((one for one in photo.orientations if not one.turned), None) or _apart(photo)


def _apart(photo: TurnedPhoto) -> Orientation:
    if photo.apart is None:
        raise RuntimeError(f"{photo.outcome.path!r} has no fingerprint")
    return photo.apart


def _camera_of(one: Orientation, memory: int) -> Rivals:
    """A camera of which there is one photo."""
    rows, labels = _rows(one), np.zeros(1, np.intp)
    members = evidence.usual_members(one.frame.n_pixels)
    shared = SharedPatterns(rows, labels, {}, memory)
    return Rivals(rows, labels, (None,), np.ones(1), {}, (members,), shared)


def _rows(one: Orientation) -> FingerprintStore:
    rows = in_memory([one.values], [one.scale], one.frame)
    if not isinstance(rows, FingerprintStore):
        raise RuntimeError("a whole frame is stored as floats")
    return rows


def _judged(pair: PhotoPair, count: int, rate: float) -> PhotoPair:
    """The verdict of pixels, given all comparisons of all pairs."""
    if pair.best is None:
        return pair
    adjusted = min(1.0, pair.best.p_value * count)
    match = adjusted <= rate and pair.best.log10_lr > SUPPORT
    return replace(pair, adjusted=adjusted, verdict="match" if match else "none")


def _without_alike(pairs: Sequence[PhotoPair], photos: Sequence[TurnedPhoto]) -> list[PhotoPair]:
    """Pairs that match, but by what may be the picture itself, are said to be alike."""
    by_path = {photo.outcome.path: photo for photo in photos}
    return [
        replace(pair, verdict="alike")
        if pair.verdict == "match" and _look_alike(by_path[pair.first], by_path[pair.second])
        else pair
        for pair in pairs
    ]


def _look_alike(first: TurnedPhoto, second: TurnedPhoto) -> bool:
    """Whether two photos show one picture, however it is turned, or one unmoving scene."""
    if first.scene is None or second.scene is None:
        return False
    scenes = np.stack([first.scene, second.scene])
    return any(evidence.alike_pictures(scenes)) or bool(evidence.still_scenes(scenes).any())


class _Views:
    """Pairs that do not match pixel by pixel, registered.

    Parameters
    ----------
    photos : all of them
    search : how far to look
    rate : probability that chance makes a match of any pair
    memory : bytes for patterns and search
    """

    def __init__(
        self,
        photos: Sequence[TurnedPhoto],
        search: Search,
        rate: float,
        memory: int,
        progress: compute.Progress,
    ) -> None:
        self._photos = {photo.outcome.path: photo for photo in photos}
        self._search, self._rate, self._memory = search, rate, memory
        self._progress = progress

    def searched(
        self, pairs: Sequence[PhotoPair], stop: threading.Event
    ) -> tuple[list[PhotoPair], bool]:
        """What is said of pairs with their views, and whether it was asked to stop."""
        result = []
        for pair in pairs:
            if stop.is_set():
                return list(pairs), True
            result.append(self._seen(pair, len(pairs)) if _is_open(pair) else pair)
        return result, False

    def _seen(self, pair: PhotoPair, count: int) -> PhotoPair:
        """A pair that is registered: one photo at the other, taken for a camera.

        At all zooms the photo at hand is taken for the zoomed one, so both ways are tried.
        """
        first, second = self._photos[pair.first], self._photos[pair.second]
        frames = _upright(first).frame, _upright(second).frame
        if min(*frames[0], *frames[1]) < SMALLEST:
            return pair
        count *= 2 if self._search == "normal" else 1
        boxes = _standing_out(first, second)
        view = self._placed(first, second, self._rate / count, boxes)
        if view is None and self._search == "normal":
            back = self._placed(second, first, self._rate / count, boxes)
            if back is not None:
                view = replace(back.inverse(frames[1], frames[0]), score=back.score, rate=back.rate)
        pair = replace(pair, by_views=True)
        if view is None:
            return pair
        view = rounded_view(view)
        adjusted = 1.0 if view.rate is None else min(1.0, view.rate * count)
        seen = PairView(view, view_words(view, *frames))
        return replace(pair, verdict="match", adjusted=adjusted, seen=seen)

    def _placed(
        self, photo: TurnedPhoto, other: TurnedPhoto, rate: float, boxes: Sequence[evidence.Box]
    ) -> View | None:
        """How a photo sees the frame of another without some places, if it does."""
        there, zoom = _upright(other), other.outcome.info.exif.zoom
        none, zooms = np.zeros(1, np.intp), np.array([np.nan if zoom is None else zoom])
        camera = KnownCameras(
            [GroupedRows(there.frame, _rows(there), none, none, zooms, boxes)],
            Cameras(none, none, (View(),), (0,)),
            memory=self._memory,
            progress=partial(self._progress, PHASE),
        )
        (placed,) = camera.place([upright_photo(photo)], search=self._search, rate=rate)
        return None if placed is None else placed.view


def _standing_out(first: TurnedPhoto, second: TurnedPhoto) -> list[evidence.Box]:
    """Where two photos of one frame are far more alike than elsewhere, as by a logo."""
    one, other = _upright(first), _upright(second)
    if one.frame != other.frame:
        return []
    pictures = [fingerprint_of(each).reshape(each.frame.shape) for each in (one, other)]
    return evidence.standing_out(*pictures)


def _is_open(pair: PhotoPair) -> bool:
    """Whether views may say something of it."""
    return pair.verdict == "none"
