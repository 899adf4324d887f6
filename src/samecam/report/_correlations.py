"""The numbers behind the pictures: correlations in the order of groups, and photo by photo."""

from dataclasses import dataclass

import numpy as np

from samecam import compute
from samecam.arrays import Doubles, Floats, Labels, Mask
from samecam.case import SavedCase, by_frame, used_photos
from samecam.correlate import gram, null_scale
from samecam.errors import SamecamError
from samecam.evidence import comparisons_from_rows, local_groups
from samecam.store import DiskStore, FingerprintStore, Record

MOST = 2000
PHASE = "Correlating"


@dataclass(frozen=True, slots=True)
class Correlations:
    """Correlations of the used photos, or of a sample of them.

    Attributes
    ----------
    gram : (m, m) of the looked-at photos, in the order of groups, those in none last;
        within a group from the strongest member to the weakest. Photos of two frames are not
        compared: 0 there
    chosen : (m,) which of the used photos they are, in that order
    labels : (m,) their groups; −1 for none
    frames : (m,) their frames, numbered
    total : how many used photos there are
    scales : standard deviation of chance of one pair, σ₀, by the name of the frame, that of most
        photos first
    pixels : lengths of the fingerprints of these frames
    own, other : for each used photo in a group: correlation with the fingerprint of the
        rest of its group, and with the other group that fits best; NaN where there is none
    strength : for each used photo, what members are sorted by
    """

    gram: Floats
    chosen: Labels
    labels: Labels
    frames: Labels
    total: int
    scales: dict[str, float]
    pixels: list[int]
    own: Doubles
    other: Doubles
    strength: Doubles

    @property
    def sampled(self) -> bool:
        """Whether only some of the photos are looked at."""
        return len(self.labels) < self.total

    @property
    def scale(self) -> float:
        """Scale of chance of the frame with most photos."""
        return next(iter(self.scales.values()))

    @property
    def compared(self) -> Mask:
        """(m, m) pairs of one frame."""
        same: Mask = self.frames[:, np.newaxis] == self.frames
        return same

    def in_units_of_chance(self) -> Floats:
        """(m, m) the correlations over the scale of chance of their frame."""
        scales = np.array(list(self.scales.values()))[self.frames]
        return np.asarray(self.gram / scales, dtype=np.float32)


def correlations(
    content: SavedCase, store: DiskStore, memory: int, progress: compute.Progress
) -> Correlations:
    """Correlate up to 2,000 used photos; more are sampled evenly, group by group.

    Evidence that stands in `clusters.csv` is taken; where there is none, each photo is
    compared with each group of its frame here, itself left out.

    Parameters
    ----------
    content : the case
    store : its fingerprints
    memory : bytes for everything held at a time
    """
    used = content.used
    labels = np.array([photo.group for photo in used], dtype=np.intp)
    n = len(used)
    chosen = sample(labels, MOST)
    frames, pairs = np.zeros(n, dtype=np.intp), np.zeros((len(chosen),) * 2, dtype=np.float32)
    own, other = _stated(content)
    known = all(photo.correlation is not None for photo in used if photo.group != -1)
    scales: dict[str, float] = {}
    pixels: list[int] = []
    done = 0
    for number, (frame, at) in enumerate(by_frame(_checked(content, store)).items()):
        frames[at] = number
        here = np.flatnonzero(np.isin(chosen, at))
        rows, source = np.searchsorted(at, chosen[here]), store.rows(frame)
        some = gram(source, rows=rows, memory=memory)
        pairs[np.ix_(here, here)] = some
        if not known:
            own[at], other[at] = _compared(source, labels[at], memory)
        scale = content.detail("frames", frame.name, "null_scale")
        if not isinstance(scale, float) or not scale > 0:
            scale = null_scale(some, frame.n_pixels)
        scales[frame.name] = scale
        pixels.append(frame.n_pixels)
        source.close()
        done += len(here)
        progress(PHASE, done, len(chosen))
    strength = np.where(np.isnan(own), -np.inf, own)
    order = _order(labels[chosen], strength[chosen])
    return Correlations(
        pairs[np.ix_(order, order)],
        chosen[order],
        labels[chosen][order],
        frames[chosen][order],
        n,
        scales or {"": 1.0},
        pixels or [1],
        own,
        other,
        strength,
    )


def _checked(content: SavedCase, store: DiskStore) -> list[Record]:
    """The used photos as the store has them, which must be those of the tables."""
    used = used_photos(store)
    if [record.key for record in used] != [photo.path for photo in content.used]:
        raise SamecamError(
            f"The fingerprints of the case {str(content.folder)!r} are not those of its "
            "clusters.csv: run 'samecam cluster' again."
        )
    return used


def sample(labels: Labels, most: int) -> Labels:
    """Up to `most` row numbers, rising, evenly spread over the groups' members."""
    n = len(labels)
    if n <= most:
        return np.arange(n)
    order = np.argsort(np.where(labels < 0, n, labels), kind="stable")
    chosen: Labels = np.sort(order[np.linspace(0, n - 1, most).round().astype(np.intp)])
    return chosen


def _order(labels: Labels, strength: Doubles) -> Labels:
    """By group, strongest first; photos in no group last."""
    groups = np.where(labels < 0, labels.max(initial=0) + 1, labels)
    return np.lexsort((-strength, groups))


def _stated(content: SavedCase) -> tuple[Doubles, Doubles]:
    """Evidence as the table has it."""
    nan = float("nan")
    used = content.used
    own = [nan if p.correlation is None or p.group == -1 else p.correlation for p in used]
    lead = [nan if p.margin is None or p.group == -1 else p.margin for p in used]
    return np.array(own), np.array(own) - np.array(lead)


def _compared(source: FingerprintStore, labels: Labels, memory: int) -> tuple[Doubles, Doubles]:
    """Correlation of each clustered photo with its own group, and with the best other one."""
    given = comparisons_from_rows(source, local_groups(labels)[1], memory=memory)
    inside = given.labels >= 0
    alone = np.zeros(len(inside), dtype=bool)
    alone[inside] = given.sizes[given.labels[inside]] == 1
    own = np.where(alone, np.nan, given.own)
    return own, np.where(inside, given.other_correlation, np.nan)
