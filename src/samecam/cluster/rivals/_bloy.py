"""Greedy growing of groups (Bloy 2008)."""

import numpy as np
from sklearn.utils import check_random_state

from samecam import correlate
from samecam.arrays import Gram, Labels
from samecam.cluster.rivals._base import (
    Metric,
    Null,
    NullRival,
    Seed,
    check_at_least,
    check_rate,
    false_alarm_quantile,
    without_diagonal,
)

_AVERAGED = 50
_SHARE = 0.2


class Bloy(NullRival):
    """Find a pair by chance, let it grow by a threshold that depends on its size, repeat.

    Bloy, "Blind camera fingerprinting and image clustering", 2008. Random pairs are drawn
    until one correlates enough; the rest is scanned and added to the average where it
    correlates enough with it, 50 photos at most are averaged; a second scan without
    averaging; the group is taken out; it ends when `n_pairs` pairs in a row fail.

    Not published: the coefficients of the threshold, quadratic in the number m of averaged photos.
    Chosen: max(Q⁻¹(P_FA)·σ₀, H₁/5), with H₁ = √m·ρ/√(1 + (m−1)ρ) the correlation to expect
    of one camera with the mean correlation ρ of the group, and the first part alone for a
    pair. A half, as between groups, refuses the weaker photos of a camera (F .7 instead of
    .93 where cameras are plain).

    Parameters
    ----------
    false_alarm : P_FA, probability that one comparison with a stranger passes
    n_pairs : random pairs in a row that must fail for it to end
    null : σ₀ is 1/√n_pixels ("published") or "measured", see `NullRival`
    random_state : of the pairs that are drawn
    metric, memory, null_scale, n_pixels : as for `NullRival`
    """

    def __init__(
        self,
        *,
        false_alarm: float = 0.001,
        n_pairs: int = 1000,
        null: Null = "published",
        metric: Metric = "correlation",
        memory: int = correlate.DEFAULT_MEMORY,
        random_state: Seed = 0,
        null_scale: float | None = None,
        n_pixels: int | None = None,
    ) -> None:
        super().__init__(
            null=null, metric=metric, memory=memory, null_scale=null_scale, n_pixels=n_pixels
        )
        self.random_state = random_state
        self.false_alarm = false_alarm
        self.n_pairs = n_pairs

    def check_parameters(self) -> None:
        """Refuse the first parameter out of range, before any work."""
        super().check_parameters()
        check_rate("false_alarm", self.false_alarm)
        check_at_least("n_pairs", self.n_pairs, 1)

    def _group(self, gram: Gram) -> Labels:
        state = check_random_state(self.random_state)
        correlations = without_diagonal(gram)
        floor = false_alarm_quantile(self.false_alarm) * self.null_scale_
        labels = np.full(len(gram), -1, dtype=np.intp)
        left = state.permutation(len(gram))
        count = 0
        while (pair := self._pair(correlations, left, floor, state)) is not None:
            group = grow(correlations, left, pair, floor)
            labels[group] = count
            count += 1
            left = left[labels[left] < 0]
        return labels

    def _pair(
        self, correlations: Gram, left: Labels, floor: float, state: np.random.RandomState
    ) -> tuple[int, int] | None:
        """The first of `n_pairs` random pairs that correlates above `floor`."""
        if len(left) < 2:
            return None
        first = state.randint(len(left), size=self.n_pairs)
        second = (first + state.randint(1, len(left), size=self.n_pairs)) % len(left)
        passed = np.flatnonzero(correlations[left[first], left[second]] > floor)
        if not len(passed):
            return None
        return int(left[first[passed[0]]]), int(left[second[passed[0]]])


def grow(correlations: Gram, left: Labels, pair: tuple[int, int], floor: float) -> Labels:
    """The group that `pair` grows to among the photos `left`, scanned in their order.

    `correlations` has a zero diagonal.
    """
    group = list(pair)
    sums = correlations[pair[0]] + correlations[pair[1]]
    inside = 2.0 * correlations[pair]
    waiting = left[(left != pair[0]) & (left != pair[1])]
    refused = []
    for at, i in enumerate(waiting):
        size = len(group)
        if size >= _AVERAGED:
            refused += waiting[at:].tolist()
            break
        if sums[i] / np.sqrt(max(size + inside, 1)) > threshold(size, inside, floor):
            group.append(int(i))
            inside += 2 * sums[i]
            sums = sums + correlations[i]
        else:
            refused.append(int(i))
    size = len(group)
    rest = np.array(refused, dtype=np.intp)
    passed = sums[rest] / np.sqrt(max(size + inside, 1)) > threshold(size, inside, floor)
    return np.concatenate([np.array(group, dtype=np.intp), rest[passed]])


def threshold(size: int, inside: float, floor: float) -> float:
    """What a photo's correlation with the average of `size` photos must exceed.

    `inside` is the sum of correlations over the ordered pairs of the group.
    """
    own = max(inside, 0.0) / (size * (size - 1))
    return float(max(floor, _SHARE * np.sqrt(size) * own / np.sqrt(1 + (size - 1) * own)))
