"""Each photo against each group, as sums of correlations: all later evidence comes from these."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from samecam.arrays import Doubles, Labels
from samecam.compute import format_bytes
from samecam.correlate import DEFAULT_MEMORY, left_out
from samecam.errors import SamecamError
from samecam.store import FingerprintStore

Source = FingerprintStore | npt.NDArray[Any]

# No wider where memory allows, so that the last digits do not depend on the budget.
_WIDEST = 1024


@dataclass(frozen=True, slots=True)
class GroupSums:
    """Sums of correlations between photos and groups.

    Attributes
    ----------
    sums : (n, k) s_ic = Σ_{j∈c} g_ij, the photo itself included where it is a member
    own : (n,) g_ii, 1 but for rounding
    labels : (n,) group of each photo, −1 is none
    between : (k, k) Σ_{i∈a} s_ib, the inner products of the groups' summed fingerprints.
        New photos are looked at with `labels` −1, their sums, and the groups' `between`.
    """

    sums: Doubles
    own: Doubles
    labels: Labels
    between: Doubles

    @property
    def n_groups(self) -> int:
        """Number of groups k."""
        return int(self.sums.shape[1])

    @property
    def sizes(self) -> Labels:
        """Photos in each group, (k,)."""
        inside = self.labels[self.labels >= 0]
        return np.bincount(inside, minlength=self.n_groups).astype(np.intp)


def sums_from_gram(gram: npt.NDArray[np.floating], labels: npt.ArrayLike) -> GroupSums:
    """Sums from the (n, n) correlations of all photos."""
    if gram.ndim != 2 or gram.shape[0] != gram.shape[1]:
        raise ValueError(f"gram has shape {gram.shape}; give the (n, n) correlations of all photos")
    groups, count = _checked(labels, len(gram))
    members = _membership(groups, count)
    sums = np.asarray(gram @ members, dtype=np.float64)
    return GroupSums(sums, np.diag(gram).astype(np.float64), groups, _between(sums, groups))


def sums_from_rows(
    source: Source, labels: npt.ArrayLike, *, memory: int = DEFAULT_MEMORY
) -> GroupSums:
    """The same sums from fingerprints (a store or an (n, d) array), without the Gram matrix.

    Some pixels of all rows at a time: s = Σ_parts P (MᵀP)ᵀ with M the membership, so each
    byte of a store is read once.

    Parameters
    ----------
    source : a store, or an (n, d) array; rows of zero mean and unit norm
    labels : (n,) groups from 0, −1 for none
    memory : bytes for everything held at a time, the (n, k) result included
    """
    n = len(source)
    groups, count = _checked(labels, n)
    # The result, one product that is added to it, and two parts: one in use, one being read.
    fixed, per_pixel = 2 * 8 * n * count + 4 * n * count, 2 * 4 * (n + count)
    width = min(_WIDEST, (memory - fixed) // max(per_pixel, 1))
    if width < 1:
        raise SamecamError(
            f"Evidence for {n} photos and {count} groups takes {format_bytes(fixed + per_pixel)} "
            f"and the memory budget is {format_bytes(memory)}: raise it."
        )
    members = _membership(groups, count)
    sums: Doubles = np.zeros((n, count))
    own: Doubles = np.zeros(n)
    for part in _parts(source, width):
        sums += part @ (members.T @ part).T
        own += np.einsum("ij,ij->i", part, part)
    return GroupSums(sums, own, groups, _between(sums, groups))


def leave_one_out(given: GroupSums) -> Doubles:
    """Correlation of each photo with each group's fingerprint, its own part left out, (n, k).

    With t_c = Σ_{i∈c} s_ic, the squared norm of a group's sum,

        r_ic = s_ic / √t_c                              if i is not in c,
        r_ic = (s_ic − g_ii) / √(t_c − 2 s_ic + g_ii)   if it is;

    0 where nothing is left of a group. Equal to `correlate.centroid_correlations`.
    """
    return left_out(given.sums, given.labels, given.own, np.diag(given.between))


def intra_correlations(given: GroupSums) -> Doubles:
    """Mean correlation ρ_c over the pairs of each group, (k,); 0 for groups of one."""
    size = given.sizes.astype(np.float64)
    inside = np.flatnonzero(given.labels >= 0)
    own = np.bincount(
        given.labels[inside], weights=given.own[inside], minlength=given.n_groups
    ).astype(np.float64)
    pairs = size * (size - 1)
    total = np.diag(given.between) - own
    return np.divide(total, pairs, out=np.zeros_like(total), where=pairs > 0)


def fingerprint_quality(size: npt.ArrayLike, intra: npt.ArrayLike) -> Doubles:
    """Expected correlation of a mean of n fingerprints with the true pattern.

    √(nρ / (1 + (n−1)ρ)), 0 where ρ is not positive.
    """
    n = np.asarray(size, dtype=np.float64)
    rho = np.maximum(np.asarray(intra, dtype=np.float64), 0.0)
    return np.asarray(np.sqrt(n * rho / (1 + np.maximum(n - 1, 0) * rho)))


def fingerprint_correlations(given: GroupSums) -> Doubles:
    """Correlations of the groups' fingerprints with one another, (k, k), unit diagonal."""
    between = given.between
    norms = np.sqrt(np.maximum(np.diag(between), 1e-12))
    result = (between + between.T) / 2 / np.outer(norms, norms)
    np.fill_diagonal(result, 1.0)
    return np.asarray(result)


def _between(sums: Doubles, labels: Labels) -> Doubles:
    """Σ_{i∈a} s_ib, (k, k)."""
    result: Doubles = np.zeros((sums.shape[1], sums.shape[1]))
    inside = np.flatnonzero(labels >= 0)
    np.add.at(result, labels[inside], sums[inside])
    return result


def _membership(labels: Labels, count: int) -> npt.NDArray[np.float32]:
    members = np.zeros((len(labels), count), dtype=np.float32)
    inside = np.flatnonzero(labels >= 0)
    members[inside, labels[inside]] = 1
    return members


def _parts(source: Source, width: int) -> Iterator[npt.NDArray[np.float32]]:
    if isinstance(source, FingerprintStore):
        for _, part in source.columns(width):
            yield part
        return
    for start in range(0, source.shape[1], width):
        yield np.ascontiguousarray(source[:, start : start + width], dtype=np.float32)


def _checked(labels: npt.ArrayLike, n: int) -> tuple[Labels, int]:
    values = np.asarray(labels)
    if values.shape != (n,) or values.dtype.kind not in "iu":
        raise ValueError(
            f"labels have shape {values.shape} and dtype {values.dtype}; give {n} whole numbers"
        )
    count = int(values.max(initial=-1)) + 1
    missing = np.setdiff1d(np.arange(count), values)
    if len(missing) or values.min(initial=0) < -1:
        raise ValueError(
            f"labels run from {values.min()} to {count - 1} with {len(missing)} missing; number "
            "groups from 0 without gaps, −1 for none"
        )
    return values.astype(np.intp), count
