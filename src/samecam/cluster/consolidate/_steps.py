"""The steps of consolidation, each a function: start, refine, merge, dissolve."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from samecam.arrays import Doubles, Labels, Mask, Rows
from samecam.cluster import _thresholds
from samecam.cluster.consolidate._constraints import Bonds, Counts
from samecam.cluster.consolidate._sums import Sums

_EDGES = 5
_LARGEST_START = 8
# Photos, or groups, scattering as chance does that are added to those a spread is measured on.
_PRIOR = 50.0
# Photos of a group whose shares are worth measuring, and the least share of the mean.
_FEWEST_SHARES, _LEAST_SHARE = 5, 0.1
# A group is smooth if its photos have so many times the squared scale of chance of most.
_SMOOTH = 1.25


@dataclass
class Groups:
    """Who is in which group, every photo's sum over every group (`Sums.products`), and `Bonds`.

    `weights` : of photos in these sums; None: all are 1
    """

    sums: Sums
    labels: Labels
    products: Any
    bonds: Bonds | None = None
    weights: Doubles | None = None

    @classmethod
    def make(cls, sums: Sums, labels: Labels, bonds: Bonds | None = None) -> "Groups":
        """Groups with these labels; groups of one dissolve."""
        labels = compact(labels)
        return cls(sums, labels, sums.products(labels, int(labels.max(initial=-1)) + 1), bonds)

    @property
    def sizes(self) -> Doubles:
        """Photos in each group."""
        inside = self.labels[self.labels >= 0]
        return np.bincount(inside, minlength=len(self.products)).astype(np.float64)

    def inner(self) -> Doubles:
        """Sum over the ordered pairs of each group."""
        inside = self.labels >= 0
        sums = self.own_sums()
        if self.weights is not None:
            sums = sums * self.weights[inside]
        return _totals(self.labels[inside], sums, len(self.products))

    def own_sums(self) -> Doubles:
        """Of every photo in a group, in their order, its sum over the others of the group."""
        inside = np.flatnonzero(self.labels >= 0)
        return self.sums.kernels.at(self.products, self.labels[inside], inside)

    def strengths(self, photos: Rows, groups: Labels) -> Doubles:
        """Sums of some photos, each over one group."""
        return self.sums.kernels.at(self.products, groups, photos)

    def move(self, labels: Labels) -> None:
        """Send photos to other groups; groups left with one photo dissolve."""
        single = np.bincount(labels[labels >= 0], minlength=len(self.products)) < 2
        labels = np.where((labels >= 0) & ~single[labels], labels, -1)
        self.products = self.sums.moved(self.products, self.labels, labels)
        self.labels = labels
        self.keep(~single)

    def narrow(self, labels: Labels) -> None:
        """Count other photos as members, of groups that all stay."""
        held = [self.products]
        self.products = None
        self.products = self.sums.moved(held.pop(), self.labels, labels)
        self.labels = labels

    def join(self, root: Labels) -> None:
        """Put group c into group root[c]."""
        self.products = self.sums.kernels.joined(self.products, root)
        inside = self.labels >= 0
        self.labels = np.where(inside, root[self.labels], -1)
        self.keep(root == np.arange(len(root)))

    def keep(self, which: Mask) -> None:
        """Dissolve the other groups, and number those that stay from 0."""
        if which.all():
            return
        number = np.where(which, np.cumsum(which) - 1, -1)
        self.labels = np.where(self.labels >= 0, number[self.labels], -1)
        self.products = self.sums.kernels.kept(self.products, which)


def _totals(labels: Labels, values: Doubles, count: int) -> Doubles:
    """Sum of the values of each label."""
    return np.bincount(labels, weights=values, minlength=count).astype(np.float64)


def start_groups(coefficients: Any) -> Labels:
    """Many small groups: the five largest coefficients of each photo as edges, strongest first.

    Far too many groups on purpose; none holds more than 8 photos.
    """
    from samecam.cluster.consolidate._kernels import greedy_groups, strongest

    matrix = coefficients.tocsr()
    pointers, weights = matrix.indptr.astype(np.intp), np.abs(matrix.data)
    chosen = strongest(pointers, weights, _EDGES)
    first = np.searchsorted(pointers, chosen, side="right") - 1
    second = matrix.indices[chosen].astype(np.intp)
    order = np.argsort(-weights[chosen], kind="stable")
    return greedy_groups(first[order], second[order], matrix.shape[0], _LARGEST_START)


def compact(labels: Labels) -> Labels:
    """Number the groups that are left from 0; groups of one dissolve."""
    inside = labels >= 0
    sizes = np.bincount(labels[inside], minlength=1)
    kept = np.flatnonzero(sizes >= 2)
    number = np.full(len(sizes), -1, dtype=np.intp)
    number[kept] = np.arange(len(kept))
    result = np.full(labels.shape, -1, dtype=np.intp)
    result[inside] = number[labels[inside]]
    return result


def refine(groups: Groups, rate: float, among: Mask | None = None) -> Labels:
    """Every photo (`among`: only these) to the group that it correlates with best, or to none.

    It may join where its sum over the group, itself left out, is above `joining` standard
    deviations of what sums of photos outside scatter by, and goes where the correlation
    with the group's fingerprint (its own part left out) is highest. All photos move at
    once, so their order does not matter. Pinned photos stay, and none is where it may not be.
    Returns the new labels.
    """
    found = best_places(groups, rate)
    refined = found if among is None else np.where(among, found, groups.labels)
    if groups.bonds is None:
        return refined
    refined = np.where(groups.bonds.pinned, groups.labels, refined)
    return groups.bonds.apart(refined, groups.strengths)


def best_places(groups: Groups, rate: float, held: Labels | None = None) -> Labels:
    """The group that each photo correlates with best, itself left out, where that is enough.

    `held` : who is in which group, for what persons decided; None: those who count in them
    """
    count = len(groups.products)
    if count == 0:
        return groups.labels
    labels, size, own = groups.labels, groups.sizes, groups.sums.own
    inside = np.flatnonzero(labels >= 0)
    squares = own if groups.weights is None else own * np.square(groups.weights)
    owns = _totals(labels[inside], squares[inside], count)
    kernels, products = groups.sums.kernels, groups.products
    spreads, inner = kernels.spreads(products, labels, size, _PRIOR), groups.inner()
    if groups.sums.bounded:
        spreads = np.maximum(spreads, _own_spreads(inner, owns, size, own))
    needed = _thresholds.joining(count, rate) * spreads
    given = labels, squares, inner, owns, size, needed
    if groups.bonds is None:
        return kernels.best(products, *given)
    photos, places = _forbidden(groups, groups.bonds, labels if held is None else held)
    aside = kernels.at(products, places, photos)
    kernels.put_at(products, places, photos, np.full(len(aside), -np.inf))
    best = kernels.best(products, *given)
    kernels.put_at(products, places, photos, aside)
    return np.where(groups.bonds.pinned, labels, best)


def _forbidden(groups: Groups, bonds: Bonds, held: Labels) -> tuple[Rows, Labels]:
    """Photos, and groups where each may not be; once those have gone who are there wrongly."""
    kept = bonds.apart(held, groups.strengths)
    gone = np.flatnonzero(kept != held)
    photos, places = bonds.forbidden(kept)
    both = np.concatenate([photos, gone]), np.concatenate([places, held[gone]])
    photos, places = np.unique(both, axis=1)
    return photos, places


def let_in(groups: Groups, rate: float, weak: Mask) -> Labels:
    """Labels with `weak` photos, who join at the end and do not count.

    Where that leads others to leave, by what persons decided, these go to their next best group.
    """
    labels = refine(groups, rate, weak)
    left = ~weak & (labels != groups.labels)
    if left.any():
        labels = np.where(left, best_places(groups, rate, labels), labels)
    return labels


def late(groups: Groups, rate: float, among: Mask) -> Labels:
    """Labels with those of `among` in no group whom groups' weighted fingerprints let in.

    In the sum over a group each photo counts as much as it shows of the camera (`shares`), which
    tells weak photos from chance better. Nobody else moves: shares were measured without those who
    come, and would flatter them once they were in.
    """
    labels, count = groups.labels, len(groups.products)
    large = np.append(groups.sizes >= _FEWEST_SHARES, False)  # the last: of photos in none
    counted = np.where(large[labels], labels, -1)
    alone = among & (labels < 0)
    if not (counted >= 0).any() or not alone.any():
        return labels
    weights = shares(groups)
    products = groups.sums.products(counted, count, weights)
    met = Groups(groups.sums, counted, products, groups.bonds, weights)
    found = np.where(alone, best_places(met, rate, labels), labels)
    while groups.bonds is not None:
        kept = groups.bonds.apart(found, met.strengths)
        left = np.unique(found[(kept != found) & ~alone])
        if len(left) == 0:
            return kept
        found = np.where(alone & np.isin(found, left), -1, found)  # who would drive others out
    return found


def shares(groups: Groups) -> Doubles:
    """Weight of each photo in the sum over its group: what it shows of the camera.

    That is its sum over the others, drawn towards the mean of its group by the part of their
    scatter that is chance. The squares in a group of m photos add up to m, so that sums of
    strangers scatter as they do without weights.
    """
    inside = np.flatnonzero(groups.labels >= 0)
    labels, count = groups.labels[inside], len(groups.products)
    sums, size = groups.own_sums(), np.maximum(groups.sizes, 2)
    mean = _totals(labels, sums, count) / size
    apart = sums - mean[labels]
    scatter = _totals(labels, np.square(apart), count) / (size - 1)
    true = np.clip(1 - (size - 1) / np.maximum(scatter, 1e-30), 0, 1)
    shown = np.maximum(mean[labels] + true[labels] * apart, _LEAST_SHARE * mean[labels])
    shown = np.where(mean[labels] > 0, shown, 1.0)
    squares = _totals(labels, np.square(shown), count)
    weights = np.ones(len(groups.labels))
    weights[inside] = shown * np.sqrt(size / np.maximum(squares, 1e-30))[labels]
    return weights


def core(groups: Groups) -> Labels:
    """Labels of those photos alone that carry their group, and of pinned ones; of others −1.

    Those whose sum over the group is at least half of what is usual, weighted by itself: photos
    of a camera differ, but hardly by more, and few that have much in common outweigh many that
    have little.
    """
    inside = np.flatnonzero(groups.labels >= 0)
    labels, count = groups.labels[inside], len(groups.products)
    sums = np.maximum(groups.own_sums(), 0)
    usual = _totals(labels, sums**2, count) / np.maximum(_totals(labels, sums, count), 1e-30)
    carries = np.zeros(len(groups.labels), dtype=bool)
    carries[inside] = sums >= usual[labels] / 2
    if groups.bonds is not None:
        carries |= groups.bonds.pinned
    return np.where(carries, groups.labels, -1)


def _own_spreads(inner: Doubles, owns: Doubles, size: Doubles, own: Doubles) -> Doubles:
    """How much the sum of a stranger over each smooth group scatters; of other groups 0.

    By as much more than over photos with nothing in common as the norm of their sum is larger:
    √((Σ h_ii + Σ_{i≠j} h_ij) / Σ h_ii). Photos outside show that, but not where most are less
    smooth than the group is, and than a stranger may be.
    """
    smooth = size > _SMOOTH * np.median(1 / own) * owns
    return np.where(smooth, np.sqrt(1 + np.maximum(inner, 0) / np.maximum(owns, 1e-30)), 0.0)


def merge(groups: Groups, rate: float) -> None:
    """Join groups whose fingerprints are those of one camera, best pair first."""
    if len(groups.products) > 1:
        between = groups.sums.kernels.between(groups.products, groups.labels)
        counts = None
        if groups.bonds is not None:
            counts = groups.bonds.counts(groups.labels, len(groups.products))
        groups.join(merged(between, groups.sizes, rate, counts)[0])


def merged(
    between: Doubles, size: Doubles, rate: float, counts: Counts | None = None
) -> tuple[Labels, Doubles]:
    """Which group each goes into, and the sums over ordered pairs of those that are left.

    `between[a, b]` is the sum over the pairs of two groups, on the diagonal over the
    ordered pairs of one; `counts` : of photos that are to be apart.
    """
    from samecam.cluster.consolidate._kernels import merge_groups, pair_spreads

    inner = np.diag(between).copy()
    between = (between + between.T) / 2
    np.fill_diagonal(between, 0)
    spread = pair_spreads(between, size, _PRIOR)
    spread /= np.sqrt(np.sqrt(np.mean(spread**2)))  # σ_ab = s_a s_b / s̄
    root = np.arange(len(size))
    z, counts = _thresholds.merging(len(size), rate), counts or Counts.none(len(size))
    merge_groups(between, inner, size.copy(), spread, z, root, *counts)
    while (root != root[root]).any():
        root = root[root]
    return root, inner


def dissolve(groups: Groups, rate: float, n_images: int) -> None:
    """Dissolve the groups that chance could have made, but for those with pinned photos."""
    keep = stands(groups.inner(), groups.sizes, rate, n_images)
    if groups.bonds is not None:
        keep |= groups.bonds.stays(groups.labels, len(keep))
    groups.keep(keep)


def stands(inner: Doubles, size: Doubles, rate: float, n_images: int) -> Mask:
    """Whether chance could not have made a group, family-wise over all groups there are.

    The sum over all pairs of a group of k photos must exceed `founding` standard
    deviations √(k(k−1)/2) of chance.
    """
    pairs = np.maximum(size * (size - 1) / 2, 1)
    limit = _thresholds.founding(n_images, rate)[size.astype(np.intp)]
    enough: Mask = inner / 2 / np.sqrt(pairs) > limit
    return enough
