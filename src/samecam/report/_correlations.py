"""The numbers behind the pictures: correlations in the order of groups, and photo by photo."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from samecam import compute
from samecam.arrays import Doubles, Floats, Labels
from samecam.case import SavedCase
from samecam.correlate import gram, null_scale
from samecam.evidence import Comparisons, comparisons_from_gram, comparisons_from_rows
from samecam.store import FingerprintStore

MOST = 2000
PHASE = "Correlating"


@dataclass(frozen=True, slots=True)
class Correlations:
    """Correlations of the used photos, or of a sample of them.

    Attributes
    ----------
    gram : (m, m) of the looked-at photos, in the order of groups, those in none last;
        within a group from the strongest member to the weakest
    labels : (m,) their groups, in that order; −1 for none
    total : how many used photos there are
    scale : standard deviation of chance of one pair, σ₀
    own, other : for each used photo in a group: correlation with the fingerprint of the
        rest of its group, and with the other group that fits best; NaN where there is none
    strength : for each used photo, what members are sorted by
    """

    gram: Floats
    labels: Labels
    total: int
    scale: float
    own: Doubles
    other: Doubles
    strength: Doubles

    @property
    def sampled(self) -> bool:
        """Whether only some of the photos are looked at."""
        return len(self.labels) < self.total


def correlations(
    content: SavedCase, store: FingerprintStore, memory: int, progress: compute.Progress
) -> Correlations:
    """Correlate up to 2,000 used photos; more are sampled evenly, group by group.

    Evidence that stands in `clusters.csv` is taken; where there is none, each photo is
    compared with each group here, itself left out.

    Parameters
    ----------
    content : the case
    store : its fingerprints, in the order of `content.used`
    memory : bytes for everything held at a time
    """
    used = content.used
    labels = np.array([photo.cluster for photo in used], dtype=np.intp)
    n = len(used)
    known = all(photo.correlation is not None for photo in used if photo.cluster != -1)
    rows = sample(labels, MOST)
    pairs = gram(store, rows=rows, memory=memory, progress=partial(progress, PHASE))
    if known:
        own, other = _stated(content)
    elif len(rows) == n:
        own, other = _compared(comparisons_from_gram(pairs, labels))
    else:
        own, other = _compared(comparisons_from_rows(store, labels, memory=memory))
    strength = np.where(np.isnan(own), -np.inf, own)
    order = _order(labels[rows], strength[rows])
    scale = content.detail("null_scale")
    if not isinstance(scale, float) or not scale > 0:
        scale = null_scale(pairs, store.n_pixels)
    ordered = pairs[np.ix_(order, order)]
    return Correlations(ordered, labels[rows][order], n, scale, own, other, strength)


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
    own = [nan if p.correlation is None or p.cluster == -1 else p.correlation for p in used]
    lead = [nan if p.margin is None or p.cluster == -1 else p.margin for p in used]
    return np.array(own), np.array(own) - np.array(lead)


def _compared(given: Comparisons) -> tuple[Doubles, Doubles]:
    """Correlation of each clustered photo with its own group, and with the best other one."""
    inside = given.labels >= 0
    alone = np.zeros(len(inside), dtype=bool)
    alone[inside] = given.sizes[given.labels[inside]] == 1
    own = np.where(alone, np.nan, given.own)
    return own, np.where(inside, given.other_correlation, np.nan)
