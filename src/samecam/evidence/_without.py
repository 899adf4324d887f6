"""Correlations without what groups of several cameras share."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from samecam import correlate
from samecam.arrays import Doubles, Labels, Rows
from samecam.evidence._comparisons import Comparisons
from samecam.evidence._null import Null
from samecam.evidence._scores import Chance
from samecam.evidence._shared import Box, SharedPattern, inside_boxes
from samecam.store import FingerprintStore

_EMPTY = 1e-6
# Of a squared norm, what may be all rounding where pixels were taken off.
_ROUNDING = 1e-4
# Bytes of a number of a sum in boxes, the part of the memory that these may take, and pixels that
# are held at a time at least.
_DOUBLE, _SHARE, _LEAST = 8, 4, 2**12


def scores_without(
    source: FingerprintStore,
    given: Comparisons,
    patterns: Sequence[SharedPattern | None],
    null: Null,
    own: Chance,
    *,
    groups: Labels | None = None,
    memory: int = correlate.DEFAULT_MEMORY,
) -> Doubles:
    """(n,) scores of photos with groups, without what these share; NaN: nothing.

    Parameters
    ----------
    source : rows of one frame
    given : each photo against each group
    patterns : what groups share, from `shared_patterns`
    null : what strangers do
    own : what chance does with each photo and its group
    groups : (n,) which group each photo is compared with, −1 for none; default: its own
    memory : bytes for parts of fingerprints that are held at a time
    """
    groups = given.labels if groups is None else groups
    result = np.full(len(given.labels), np.nan)
    for group, pattern in enumerate(patterns):
        if pattern is None:
            continue
        photos = np.flatnonzero(groups == group)
        left = np.full(len(given.labels), np.nan)
        left[photos] = correlations_without(
            source, given, group, pattern, photos=photos, memory=memory
        )
        scores, usual = own.scores(left), left / null.group_scale[group]
        result[photos] = np.where(np.isnan(scores), usual, scores)[photos]
    return result


def correlations_without(
    source: FingerprintStore,
    given: Comparisons,
    group: int,
    pattern: SharedPattern,
    *,
    photos: Rows | None = None,
    memory: int = correlate.DEFAULT_MEMORY,
) -> Doubles:
    """Correlations of some photos with a group's fingerprint, a shared pattern taken out.

    Tiles in which it stands out are left out of both, and what is left is scaled so that chance
    scatters as it does over whole frames. All over the frame it is told by the other
    groups' fingerprints of unit norm, f_j: with one pattern in all of them the products are
    f_i·f_j = a_i a_j, so that f − β Σ f_j has none of it for β = Σ_j f·f_j · (m − 1) / (m Σ_{i≠j}
    f_i·f_j), m the number of others. A photo's own group is not among them.

    Parameters
    ----------
    source : rows of one frame
    given : each photo against each group
    group : number of the group
    pattern : what it shares
    photos : numbers of the photos, default all
    memory : bytes for parts of fingerprints that are held at a time; the result does not depend
        on it but for rounding

    Returns
    -------
    (photos,) NaN where fewer than two other groups are left to tell the pattern by
    """
    some = np.arange(len(given.labels)) if photos is None else photos
    groups = np.array([group, *pattern.everywhere], dtype=np.intp)
    products = _products(given, groups, some)
    for parts in box_parts(source, given.labels, groups, pattern.boxes, memory=memory):
        products = products.without(parts, (parts.of(source, photo) for photo in some.tolist()))
    return products.correlations()


@dataclass(frozen=True, slots=True)
class GroupProducts:
    """Inner products of photos with sums of groups, each photo left out of its own.

    The first group is the one in question; the others have a pattern all over the frame, too.

    Attributes
    ----------
    groups : (g,) their numbers
    labels : (photos,) groups of the photos, −1 is none
    with_groups : (g, photos)
    squares : (g, photos) squared norms of these sums
    photos : (photos,) squared norms of the photos
    between : (g, g) of the sums, in which no photo is left out
    kept : share of the pixels that these are products of
    whole : products of all pixels; None: these are
    """

    groups: Rows
    labels: Labels
    with_groups: Doubles
    squares: Doubles
    photos: Doubles
    between: Doubles
    kept: float = 1.0
    whole: "GroupProducts | None" = None

    def without(self, parts: "BoxParts", photos: Iterable[Doubles]) -> "GroupProducts":
        """The same without the pixels of some boxes; `photos`: what each has there."""
        own, with_sums = np.zeros(len(self.labels)), np.zeros(self.with_groups.shape)
        for k, values in enumerate(photos):
            own[k], with_sums[:, k] = values @ values, parts.sums @ values
        member = self.labels == self.groups[:, np.newaxis]
        there = parts.squares[:, np.newaxis] + member * (own - 2 * with_sums)
        return replace(
            self,
            with_groups=self.with_groups - with_sums + member * own,
            squares=self.squares - there,
            photos=self.photos - own,
            between=self.between - parts.sums @ parts.sums.T,
            kept=self.kept - parts.share,
            whole=self.whole or self,
        )

    def correlations(self) -> Doubles:
        """(photos,) with the first group, without what the others have in common.

        Of parts of the frame scaled so that chance scatters as in all of it; 0 where nothing is
        left of a photo or a group. NaN where fewer than two others are left to tell that by.
        """
        whole = self.whole or self
        norms = _left(whole.squares, self.squares) * _left(whole.photos, self.photos)
        correlations = np.sqrt(max(self.kept, 0.0)) * _ratios(self.with_groups, np.sqrt(norms))
        if len(self.groups) == 1:
            return np.asarray(correlations[0])
        lengths = np.sqrt(_left(np.diag(whole.between), np.diag(self.between)))
        like = _ratios(self.between, np.outer(lengths, lengths))
        return _projected(correlations, like, self.groups, self.labels)


def _left(whole: Doubles, left: Doubles) -> Doubles:
    """Squared norms that are left of some; 0 where that may be rounding."""
    return np.where(left > _ROUNDING * whole, left, 0.0)


def _ratios(products: Doubles, norms: Doubles) -> Doubles:
    """Products over norms; 0 where a norm is none."""
    some = norms > _EMPTY
    return np.divide(products, norms, out=np.zeros_like(products), where=some)


def box_parts(
    source: FingerprintStore,
    labels: Labels,
    groups: Rows,
    boxes: Sequence[Box],
    *,
    memory: int = correlate.DEFAULT_MEMORY,
) -> Iterator["BoxParts"]:
    """Sums of some groups in boxes, as many pixels at a time as fit in memory."""
    pixels = np.flatnonzero(inside_boxes(source, boxes))
    step = max(_LEAST, memory // _SHARE // (_DOUBLE * len(groups)))
    for first in range(0, len(pixels), step):
        yield BoxParts(source, labels, groups, pixels[first : first + step])


class BoxParts:
    """Some pixels, and sums of groups there.

    Attributes
    ----------
    pixels : their numbers in a row
    share : of all pixels
    sums : (g, pixels) of the groups
    squares : (g,) squared norms of these
    """

    def __init__(
        self, source: FingerprintStore, labels: Labels, groups: Rows, pixels: Rows
    ) -> None:
        self.pixels, self.share = pixels, len(pixels) / source.n_pixels
        self.sums = np.zeros((len(groups), len(pixels)))
        for k, group in enumerate(groups.tolist()):
            for member in np.flatnonzero(labels == group).tolist():
                self.sums[k] += self.of(source, member)
        self.squares = np.einsum("ij,ij->i", self.sums, self.sums)

    @property
    def nbytes(self) -> int:
        """Of what is held."""
        return self.pixels.nbytes + self.sums.nbytes

    def of(self, source: FingerprintStore, row: int) -> Doubles:
        """These pixels of a row."""
        values = np.empty((1, source.n_pixels), dtype=np.float32)
        source.read_into(np.array([row]), values)
        return np.asarray(values[0, self.pixels], dtype=np.float64)


def _products(given: Comparisons, groups: Rows, photos: Rows) -> GroupProducts:
    """Of whole frames, as the comparisons have them."""
    correlations = np.array([given.correlations.read(g, g + 1)[0, photos] for g in groups.tolist()])
    totals, own = given.totals[groups, np.newaxis], given.norms[photos]
    # Without a member: t = x² + 2rx + g, with x the norm that is left.
    left = -correlations + np.sqrt(np.maximum(np.square(correlations) + totals - own, 0))
    labels = given.labels[photos]
    squares = np.where(labels == groups[:, np.newaxis], np.square(left), totals)
    with_groups = correlations * np.sqrt(squares)
    between = given.products(groups)
    return GroupProducts(groups, labels, with_groups, squares, own.copy(), between)


def _projected(correlations: Doubles, like: Doubles, groups: Rows, labels: Labels) -> Doubles:
    """Without the part that the fingerprints of other groups have in common.

    Parameters
    ----------
    correlations : (g, photos) with the group and with the others
    like : (g, g) of the fingerprints
    groups : (g,) their numbers
    labels : (photos,) groups of the photos
    """
    result: Doubles = np.array(correlations[0])
    for label in np.unique(labels).tolist():
        mine = np.flatnonzero(labels == label)
        others = 1 + np.flatnonzero(groups[1:] != label)
        many, common = len(others), float(like[0, others].sum())
        block = like[np.ix_(others, others)]
        between = float(block.sum() - np.trace(block))
        if many < 2:
            result[mine] = np.nan
        elif between > 0 and common > 0:
            share = common * (many - 1) / (many * between)
            norm = 1 + share**2 * (many + between) - 2 * share * common
            result[mine] -= share * correlations[np.ix_(others, mine)].sum(axis=0)
            result[mine] /= np.sqrt(norm)
    return result
