"""Which photos of a case are copies of others: resized, compressed again, turned, gray."""

import hashlib
import json
import threading
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from samecam import compute, evidence
from samecam.arrays import Floats, Labels
from samecam.case.extraction._scene import kept_scene
from samecam.case.folder import OWN, Case
from samecam.frames import Frame
from samecam.store import DiskStore, Record, StoredRows

PHASE = "Looking for copies"
# What makes a copy: it looks the same and has so much noise in common as two photos of an
# unmoving scene never had; or plenty of noise, though it was made brighter; or it looks the same
# and is so small, at most half as wide and high, that hardly any noise is left
# (benchmarks/copies.py).
SAME_LOOK, SAME_NOISE, SURE_NOISE = 0.98, 0.1, 0.2
_SMALLER = 2
_TOLD = 100  # photos after which progress is told
# Pixels of which noise is compared: at least, or there is too little of it, and at most, in the
# middle of the picture.
_FEWEST_PIXELS, _MOST_PIXELS = 2**16, 2**22


def mark_copies(
    case: Case,
    progress: compute.Progress,
    stop: threading.Event,
    settled: Collection[str] | None = None,
) -> bool:
    """Let every photo that is a copy of another say so; only one of them is grouped.

    Of photos that are copies of one another the one with most pixels is the original, then one
    with EXIF, then the longest file, then the first path. What is marked does not depend on what
    was marked before, but for `settled`. Graphics are left out: all that they have is drawn.

    Parameters
    ----------
    case : of whole frames, open for writing
    stop : set it to end without a mark
    settled : paths of photos that stay originals, and whose copies stay theirs; None: of none

    Returns
    -------
    whether all is marked
    """
    photos = [r for r in case.store.records() if r.has_row and _own(r)["code"] != "graphic"]
    about = [settled is not None, [[photo.key, photo.sha256] for photo in photos]]
    digest = hashlib.sha256(json.dumps(about).encode()).hexdigest()
    if case.info.get("copies") == digest:
        return True
    case.save(copies="")
    order = sorted(photos, key=_preference)
    kept = {} if settled is None else _kept(order, settled)
    order = sorted(order, key=lambda photo: photo.key not in kept)
    originals = _Search(case.store, order, progress, stop).originals(kept)
    if originals is None:
        return False
    for photo in photos:
        meta = _marked(photo, originals[photo.key])
        if meta != photo.meta:
            case.store.revise(photo.key, meta)
    case.store.commit()
    copies = {photo.key: originals[photo.key] for photo in photos}
    pairs = [{"path": path, "of": of} for path, of in copies.items() if path != of]
    case.log.add("copies", copies=pairs)
    case.save(copies=digest)
    return True


def _preference(photo: Record) -> tuple[int, bool, int, str]:
    """Sorts originals before copies."""
    meta, frame = photo.meta, photo.frame
    exif = any(meta.get(name) for name in ("make", "model", "taken"))
    pixels = 0 if frame is None else frame.n_pixels
    return -pixels, not exif, -(meta["bytes"] or 0), photo.key


def _kept(photos: Sequence[Record], settled: Collection[str]) -> dict[str, str]:
    """Originals of settled photos and of their copies."""
    stays = {photo.key for photo in photos if photo.key in settled and not photo.is_aside}
    kept = {key: key for key in stays}
    for photo in photos:
        if photo.meta.get("copy_of") in stays:
            kept[photo.key] = photo.meta["copy_of"]
    return kept


def _marked(photo: Record, original: str) -> dict[str, Any]:
    """What is said of a photo with this original: itself, or another."""
    own = _own(photo)
    rest = {k: v for k, v in photo.meta.items() if k not in ("copy_of", "aside")}
    if original == photo.key:
        return {**rest, **own}
    said = {"status": "copy", "code": "", "reason": f"a copy of {original}"}
    return {**rest, **said, "copy_of": original, "aside": list(own.values())}


def _own(photo: Record) -> dict[str, Any]:
    """What a photo says of itself, copy or not."""
    own = photo.meta.get("aside") or [photo.meta[name] for name in OWN]
    return dict(zip(OWN, own, strict=True))


class _Search:
    """Photos in the order in which they may be originals, and the fingerprints of some."""

    def __init__(
        self,
        store: DiskStore,
        photos: Sequence[Record],
        progress: compute.Progress,
        stop: threading.Event,
    ) -> None:
        self._store, self._photos, self._progress, self._stop = store, photos, progress, stop
        self._rows: dict[Frame, StoredRows] = {}
        self._last: tuple[int, Floats] | None = None

    def originals(self, kept: dict[str, str]) -> dict[str, str] | None:
        """The original of every photo, which may be itself; the first photos are `kept`.

        None if it was asked to stop, which is looked at from time to time.
        """
        photos, result = self._photos, dict(kept)
        shown = [kept_scene(photo.meta) for photo in photos]
        at = [k for k, picture in enumerate(shown) if picture is not None]
        pictures = np.zeros((len(at), 32, 32), dtype=np.uint8)
        for k, place in enumerate(at):
            pictures[k] = np.asarray(shown[place])
        result.update((p.key, p.key) for p in photos if p.key not in result)
        first = sum(photos[k].key in kept for k in at)
        moments = numbered_moments([photos[k].meta.get("taken") for k in at])
        done = first
        for alike in evidence.alike_pictures(pictures, moments, first):
            pairs = [(at[each.picture], at[each.copy], each) for each in alike]
            original = self._of(pairs)
            if original is not None:
                copy = photos[pairs[0][1]].key
                result[copy] = result[photos[original].key]
            done += 1
            if done % _TOLD == 0 or done == len(at):
                self._progress(PHASE, done, len(at))
                if self._stop.is_set() and done < len(at):
                    return None
        return result

    def _of(self, pairs: Sequence[tuple[int, int, evidence.Alike]]) -> int | None:
        """Of which of the photos that it looks like a photo is a copy; None: of none."""
        best: tuple[float, int] | None = None
        for picture, copy, alike in pairs:
            noise = self._noise(picture, copy, alike.view)
            if not is_copy(alike.look, noise, small=self._is_small(picture, copy)):
                continue
            if best is None or noise > best[0]:
                best = noise, picture
            if noise >= SURE_NOISE:
                break
        return None if best is None else best[1]

    def _is_small(self, picture: int, copy: int) -> bool:
        """Whether one is so much smaller that looking the same is enough."""
        areas = self._areas(picture, copy)
        return max(areas) >= _SMALLER**2 * min(areas)

    def _areas(self, *places: int) -> list[int]:
        frames = [self._photos[place].frame for place in places]
        return [0 if frame is None else frame.n_pixels for frame in frames]

    def _noise(self, picture: int, copy: int, view: int) -> float:
        """Noise that two photos have in common; the copy's is seen by that view."""
        if self._last is None or self._last[0] != copy:
            self._last = copy, self._residual(copy)
        return noise_in_common(self._residual(picture), self._last[1], view)

    def _residual(self, place: int) -> Floats:
        photo = self._photos[place]
        assert photo.frame is not None  # photos without a row are not looked at
        if photo.frame not in self._rows:
            self._rows[photo.frame] = self._store.all_rows(photo.frame)
        rows = self._rows[photo.frame]
        row = rows.index(photo.key)
        residual = rows.read(slice(row, row + 1)).reshape(rows.frame.height, rows.frame.width)
        rows.close()  # there may be thousands of frames
        return residual


def is_copy(look: float, noise: float, *, small: bool = False) -> bool:
    """Whether two pictures that look so much alike, with so much noise in common, are copies.

    `small`: whether one is so much smaller that looking the same is enough.
    """
    return noise >= SURE_NOISE or (look >= SAME_LOOK and (noise >= SAME_NOISE or small))


def noise_in_common(picture: Floats, copy: Floats, view: int) -> float:
    """See `evidence.common_noise`, of the middle of two residuals, the second seen by a view.

    0 for pictures of few pixels: there the camera's own pattern is seen in the picture.
    """
    if min(picture.size, copy.size) < _FEWEST_PIXELS:
        return 0.0
    pair = picture, evidence.seen(copy, view)
    side = min(1.0, (_MOST_PIXELS / max(each.size for each in pair)) ** 0.5)
    return evidence.common_noise(*(_centre(each, side) for each in pair))


def _centre(picture: Floats, share: float) -> Floats:
    """The middle of a picture, this share of it high and wide."""
    (top, left), (high, wide) = (
        [round(part * length) for length in picture.shape] for part in ((1 - share) / 2, share)
    )
    return picture[top : top + high, left : left + wide]


def numbered_moments(taken: Sequence[str | None]) -> Labels:
    """Numbers of the moments at which photos were taken; −1 where EXIF does not say."""
    known = sorted({moment or "" for moment in taken} - {""})
    numbers = {moment: k for k, moment in enumerate(known)}
    return np.array([numbers.get(moment or "", -1) for moment in taken], dtype=np.intp)
