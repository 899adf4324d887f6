"""What may stand in place of a step of the consolidated method, for `consolidated_study`."""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy import sparse

from benchmarks.consolidated_sets import LabelledSet
from samecam.arrays import AnyFloats, Doubles, Labels, Mask, Rows
from samecam.cluster import _thresholds
from samecam.cluster.consolidate import _kernels, _loop, _steps
from samecam.cluster.consolidate._cpu import GramSums
from samecam.cluster.consolidate._loop import Loop, Rates
from samecam.cluster.consolidate._steps import Groups
from samecam.cluster.rivals._likelihood import log_ratios
from samecam.represent import represent

DARK = 0.75
PRIOR = 50.0
After = Callable[[Groups, Loop, Mask, float], None]
Refine = Callable[..., Labels]


def between_of(groups: Groups) -> tuple[Doubles, Doubles, Doubles, Doubles]:
    """Sums between groups, sums within, sizes, spreads: as `_steps.merge` makes them."""
    count, size = len(groups.products), groups.sizes
    between = np.zeros((count, count))
    _kernels.between_groups(groups.products, groups.labels, between)
    inner, between = np.diag(between).copy(), (between + between.T) / 2
    np.fill_diagonal(between, 0)
    spread = _kernels.pair_spreads(between, size, PRIOR)
    return between, inner, size, spread / np.sqrt(np.sqrt(np.mean(spread**2)))


def merge_share(
    groups: Groups,
    rate: float,
    share: float = 0.5,
    median: bool = False,
    slack: float = 0.0,
) -> None:
    """Merging with `share` of H₁ less `slack` σ, intra-correlations by mean or median of pairs."""
    if len(groups.products) < 2:
        return
    between, inner, size, spread = between_of(groups)
    if median:
        inner = np.minimum(inner, medians(groups, size))
    z = _thresholds.merging(len(size), rate)
    root, alive = np.arange(len(size)), np.ones(len(size), dtype=bool)

    def line(a: int) -> Doubles:
        own = np.maximum(inner, 0) / np.maximum(size * (size - 1), 1)
        chance = spread[a] * spread * np.sqrt(size[a] * size)
        h1 = share * size[a] * size * np.sqrt(own[a] * own)
        needed = np.maximum(z * chance, h1 - slack * chance)
        ratio = between[a] / np.maximum(needed, 1e-9)
        return np.asarray(np.where(alive & (root != root[a]), ratio, 0))

    table = np.stack([line(a) for a in range(len(root))])
    while table.max() > 1:
        a, b = divmod(int(np.argmax(table)), len(table))
        inner[a] += inner[b] + 2 * between[a, b]
        size[a], spread[a] = size[a] + size[b], max(spread[a], spread[b])
        between[a] += between[b]
        between[:, a] = between[a]
        between[a, a] = 0
        root[root == b], alive[b] = a, False
        table[b] = table[:, b] = 0
        table[a] = table[:, a] = line(a)
    groups.join(root)


def medians(groups: Groups, size: Doubles) -> Doubles:
    """k(k−1) times the median pair of each group; of groups of two the pair."""
    out = np.full(len(size), np.inf)
    for c in np.flatnonzero(size > 2):
        h = units(groups.sums, np.flatnonzero(groups.labels == c))
        out[c] = max(np.median(h[np.triu_indices(len(h), 1)]), 0) * size[c] * (size[c] - 1)
    return out


def units(sums: Any, rows: Rows) -> AnyFloats:
    """Correlations of some photos in units of chance, zero on the diagonal."""
    h = sums._gram[np.ix_(rows, rows)] * np.outer(sums._inverse[rows], sums._inverse[rows])
    np.fill_diagonal(h, 0)
    return np.asarray(h)


def unit_correlations(groups: Groups) -> tuple[Doubles, Mask]:
    """(count, n) correlations of photos with groups, themselves left out, and squared norms."""
    own, labels, P = groups.sums.own, groups.labels, groups.products.astype(np.float64)
    mine = labels == np.arange(len(P))[:, None]
    norm = (groups.inner() + mine @ own)[:, None] - mine * (own + 2 * P)
    return np.where(norm > 0, P / np.sqrt(np.maximum(norm, 1e-9) * own), 0), mine


def merge_ratio(groups: Groups, rate: float, chance: bool = False) -> None:
    """Merging by likelihood ratio after Marra 2017: small groups into larger ones, Λ > 0.

    With `chance` the sum must also exceed chance as it does now.
    """
    if len(groups.products) < 2:
        return
    between, _, size, spread = between_of(groups)
    z = _thresholds.merging(len(size), rate) if chance else -1e9
    sums, labels, P = groups.sums, groups.labels.copy(), groups.products.copy()
    inside, root = labels >= 0, np.arange(len(size))
    table = np.zeros((len(size), len(size)))

    def judge(p: int) -> None:
        one = _steps.Groups(sums, np.where(labels == p, 0, -1), P[p : p + 1])
        ratios = log_ratios(unit_correlations(one)[0][0], labels == p)
        table[p] = np.bincount(labels[inside], weights=ratios[inside], minlength=len(size))

    for p in range(len(size)):
        judge(p)
    limit = 1
    while (size > limit).any():
        small = (size > 0) & (size <= limit)
        enough = between > z * np.outer(spread, spread) * np.sqrt(np.outer(size, size))
        view = np.where((size > limit)[:, None] & small & enough, table, -np.inf)
        p, q = divmod(int(np.argmax(view)), len(view))
        if not view[p, q] > 0:
            limit = size[size > limit].min()
            continue
        labels[labels == q], root[root == q] = p, p
        P[p] += P[q]
        between[p] += between[q]
        between[:, p] = between[p]
        size[p], size[q], spread[p] = size[p] + size[q], 0, max(spread[p], spread[q])
        table[:, p] += table[:, q]
        judge(p)
    groups.join(root)


def chosen(groups: Groups, allowed: Mask, value: Doubles, among: Mask | None) -> Labels:
    """For every photo the allowed group of highest value, or none."""
    value = np.where(allowed & (value > 0), value, 0)
    best = np.where(value.max(axis=0) > 0, value.argmax(axis=0), -1)
    return best if among is None else np.where(among, best, groups.labels)


def z_scores(groups: Groups) -> tuple[Doubles, Doubles, Mask]:
    """(count, n) sums of photos over groups in standard deviations of what strangers show."""
    spreads = _kernels.group_spreads(groups.products, groups.labels, groups.sizes, PRIOR)
    correlations, mine = unit_correlations(groups)
    members = np.maximum(groups.sizes[:, None] - mine, 1)
    return groups.products / np.sqrt(members) / spreads[:, None], correlations, mine


BEST = _steps.best_places


def best_by_weakness(groups: Groups, rate: float, held: Labels | None = None) -> Labels:
    """The rate of joining is shared among groups as 1/h̄², h̄ their mean correlation, up to 2 : ½."""
    if len(groups.products) == 0:
        return groups.labels
    mean = np.maximum(groups.inner(), 1e-9) / np.maximum(groups.sizes * (groups.sizes - 1), 1)
    share = np.clip((np.median(mean) / mean) ** 2, 0.5, 2)
    needed = _thresholds.quantile(np.log(rate * share / share.sum()))
    with patch.object(_thresholds, "joining", lambda *_: needed):
        return BEST(groups, rate, held)


def refine_soft(groups: Groups, rate: float, among: Mask | None = None, power: float = 1) -> Labels:
    """A photo far weaker than the group's median member needs more: rate · (2u)^power, u < ½."""
    if len(groups.products) == 0:
        return groups.labels
    z, value, mine = z_scores(groups)
    allowed = z > _thresholds.joining(len(z), rate)
    middle = np.array([np.median(z[c, mine[c]]) for c in range(len(z))])
    u = z / np.maximum(middle, 1e-9)[:, None]
    c, i = np.nonzero(allowed & (u < 0.5))
    stricter = np.log(rate / len(z)) + power * np.log(2 * u[c, i])
    allowed[c, i] = z[c, i] > _thresholds.quantile(stricter)
    return chosen(groups, allowed, value, among)


def refine_lasso(groups: Groups, rate: float, among: Mask | None = None) -> Labels:
    """Non-negative LASSO of every photo on the groups' fingerprints; the largest share wins."""
    if len(groups.products) == 0:
        return groups.labels
    z, b, mine = z_scores(groups)
    norm = np.sqrt(groups.inner() + mine @ groups.sums.own)
    between = between_of(groups)[0] / np.outer(norm, norm)
    gamma, share = 2 * np.mean(1 / groups.sums.own), np.zeros_like(b)
    for _ in range(10):
        for c in range(len(b)):
            share[c] = np.maximum(b[c] - between[c] @ share - gamma, 0)
    return chosen(groups, z > _thresholds.joining(len(z), rate), share, among)


def weights_of(mean: Doubles, known: float, floor: float = 0.1) -> Doubles:
    """Strengths relative to their mean, shrunk towards 1 by how well `known` pairs tell them.

    `mean` (…, k) are mean correlations with other members in units of chance; their noise
    has variance 1/known, strengths have the coefficient of variation .7.
    """
    level = np.maximum(mean.mean(axis=-1, keepdims=True), 0.1)
    trust = 0.5 / (0.5 + 1 / (np.maximum(known, 1) * level**2))
    return np.asarray(np.maximum(1 + trust * (mean / level - 1), floor))


def refine_weighted(groups: Groups, rate: float, among: Mask | None = None) -> Labels:
    """Members weigh by their strength; a photo has no say in the weights it is judged with."""
    count, n = groups.products.shape
    if count == 0:
        return groups.labels
    sums: Any = groups.sums
    labels = groups.labels
    W = sparse.lil_array((count, n))
    own = []
    for c in range(count):
        rows = np.flatnonzero(labels == c)
        k, h = len(rows), units(sums, rows).astype(np.float64)
        w = weights_of(h.sum(axis=0) / (k - 1), k - 1)
        W[c, rows] = w * sums._inverse[rows]
        norm = w @ h @ w + w**2 @ sums.own[rows]
        rest = ~np.eye(k, dtype=bool)
        mean = (h.sum(axis=0) - h)[rest].reshape(k, k - 1) / max(k - 2, 1)
        v = np.zeros((k, k))
        v[rest] = (weights_of(mean, k - 2) if k > 3 else np.ones((k, k - 1))).ravel()
        inner = ((v @ h) * v).sum(axis=1) + v**2 @ sums.own[rows]
        own.append((rows, (v * h).sum(axis=1), (v**2).sum(axis=1), inner, (w**2).sum(), norm))
    P = np.asarray(W.tocsr() @ sums._gram, dtype=np.float64) * sums._inverse
    allowed, value = np.zeros((count, n), dtype=bool), np.zeros((count, n))
    z = _thresholds.joining(count, rate)
    for c, (rows, total, squares, inner, square, norm) in enumerate(own):
        out = (labels != c) & (P[c] < 0)
        spread = np.sqrt((PRIOR + (P[c, out] ** 2).sum() / square) / (PRIOR + out.sum()))
        many, power = np.full(n, square), np.full(n, norm)
        P[c, rows], many[rows], power[rows] = total, squares, inner
        allowed[c] = P[c] > z * max(spread, 1) * np.sqrt(many)
        value[c] = P[c] / np.sqrt(np.maximum(power, 1e-9))
    return chosen(groups, allowed, value, among)


def again_by_lasso(groups: Groups, loop: Loop, good: Mask, scale: float) -> None:
    """Photos left over, with the groups' fingerprints beside them, represent each other anew."""
    for _ in range(3):
        count, before = len(groups.products), groups.labels
        left = np.flatnonzero((before < 0) & good)
        if count == 0 or len(left) < 2:
            return
        b, mine = unit_correlations(groups)
        norm = np.sqrt(groups.inner() + mine @ groups.sums.own)
        among = between_of(groups)[0] / np.outer(norm, norm) + np.eye(count)
        sums: Any = groups.sums
        G = np.block([[among, b[:, left]], [b[:, left].T, sums._gram[np.ix_(left, left)]]])
        Z = represent(G.astype(np.float32), 2 * scale).coefficients.tocsr()[count:, count:]
        labels = before.copy()
        new = _steps.start_groups(Z)
        labels[left] = np.where(new >= 0, new + count, -1)
        fresh = _steps.Groups.make(groups.sums, labels)
        loop.run(fresh, good)
        groups.labels, groups.products = fresh.labels, fresh.products
        if (fresh.labels >= 0).sum() == (before >= 0).sum():
            return


def again_with(refine: Refine) -> After:
    def after(groups: Groups, loop: Loop, good: Mask, scale: float) -> None:  # noqa: ARG001
        with patch.object(_steps, "refine", refine):
            loop.run(groups, good)

    return after


def exact(given: LabelledSet) -> Labels:
    """Start from the LASSO on all photos, not on few candidates."""
    return _steps.start_groups(represent(given.gram, 2 * given.scale).coefficients)


def known(given: LabelledSet) -> Labels:
    """Start from the truth."""
    return np.unique(given.truth, return_inverse=True)[1]


def strongest(given: LabelledSet) -> Labels:
    """Start from correlations above 2σ₀ themselves."""
    G = np.where(given.gram > 2 * given.scale, given.gram, 0)
    np.fill_diagonal(G, 0)
    return _steps.start_groups(sparse.csr_array(G))


def flat(products: Any, labels: Labels, size: Doubles, prior: float) -> Doubles:  # noqa: ARG001
    return np.ones(len(size))


def flat_pairs(between: Doubles, size: Doubles, prior: float) -> Doubles:  # noqa: ARG001
    return np.ones(len(size))


def never(groups: Groups, rate: float, n_images: int) -> None:
    """Nothing dissolves but what refining dissolves."""


@dataclass(frozen=True)
class Variant:
    """A letter, a name, and what differs from the method as it is."""

    letter: str
    name: str
    join: float = 0.01
    steps: Mapping[str, Any] = field(default_factory=dict)
    thresholds: Mapping[str, Any] = field(default_factory=dict)
    kernels: Mapping[str, Any] = field(default_factory=dict)
    loop: Mapping[str, Any] = field(default_factory=dict)
    one_scale: bool = False
    dark_weak: bool = False
    start: Callable[[LabelledSet], Labels] | None = None
    after: After | None = None


def fixed(z: float) -> dict[str, Any]:
    return {"joining": lambda *_: z, "merging": lambda *_: 5.0}


NO_SPREAD = {"group_spreads": flat, "pair_spreads": flat_pairs}
THIRD_SOFT = {"merge": partial(merge_share, share=1 / 3), "refine": partial(refine_soft, power=1)}
NEVER = {"dissolve": never}
VARIANTS = (
    Variant("a", "as it is, join rate .01"),
    *(Variant("a", f"join rate {rate}", join=rate) for rate in (0.05, 0.02, 0.005, 0.001)),
    Variant("b", "one scale of chance for all photos", one_scale=True),
    Variant("c", "no measured spread of groups", kernels=NO_SPREAD),
    Variant("b+c", "neither", one_scale=True, kernels=NO_SPREAD),
    Variant("d", "fixed 4 σ, nothing dissolves", thresholds=fixed(4.0), steps=NEVER),
    Variant("d", "fixed 3.5 σ, nothing dissolves", thresholds=fixed(3.5), steps=NEVER),
    Variant("d", "fixed 3.5 σ, groups of chance dissolve", thresholds=fixed(3.5)),
    Variant("e", "likelihood ratio", steps={"merge": merge_ratio}),
    Variant("e", "likelihood ratio and chance", steps={"merge": partial(merge_ratio, chance=True)}),
    Variant("e", "chance and H₁/3", steps={"merge": partial(merge_share, share=1 / 3)}),
    Variant("e", "chance and H₁/4", steps={"merge": partial(merge_share, share=1 / 4)}),
    Variant("e", "chance and H₁/5", steps={"merge": partial(merge_share, share=1 / 5)}),
    Variant("e", "H₁/2 less 2 σ of chance", steps={"merge": partial(merge_share, slack=2.0)}),
    Variant("e", "chance alone", steps={"merge": partial(merge_share, share=0.0)}),
    Variant("a", "join rate shared by weakness", steps={"best_places": best_by_weakness}),
    Variant("l", "strangers at most ½ in all", loop={"_PART": 0.0}),
    Variant("l", "strangers at most .002 of members", loop={"_PART": 0.002}),
    Variant("f", "then LASSO of photos on groups", after=again_with(refine_lasso)),
    Variant("f", "then LASSO of the rest beside groups", after=again_by_lasso),
    Variant("g", "start from strongest correlations", start=strongest),
    Variant("g", "start from the exact LASSO", start=exact),
    Variant("g", "start from the truth", start=known),
    Variant("h", "dark photos found no group", dark_weak=True),
    Variant(
        "i", "softer joining, k = 1, rate .02", 0.02, {"refine": partial(refine_soft, power=1)}
    ),
    Variant(
        "i", "softer joining, k = 2, rate .02", 0.02, {"refine": partial(refine_soft, power=2)}
    ),
    Variant(
        "i", "softer joining, k = 1, rate .01", 0.01, {"refine": partial(refine_soft, power=1)}
    ),
    Variant("e+a", "H₁/3, join rate .02", 0.02, {"merge": partial(merge_share, share=1 / 3)}),
    Variant("e+i", "H₁/3, softer joining, k = 1, rate .02", 0.02, THIRD_SOFT),
    Variant("j", "H₁ from the median pair", steps={"merge": partial(merge_share, median=True)}),
    Variant("k", "members weighted by strength", steps={"refine": refine_weighted}),
    Variant("k", "then weighted by strength", after=again_with(refine_weighted)),
)


def grouped(given: LabelledSet, variant: Variant) -> Labels:
    """`ConsolidatedSSC._whole` with the variant's steps."""
    n = len(given.truth)
    good = np.ones(n, dtype=bool)
    if variant.dark_weak and given.dark is not None:
        good = given.dark <= DARK
    scales = np.full(n, np.sqrt(given.scale)) if variant.one_scale else given.scales
    start = variant.start(given) if variant.start else given.start
    with ExitStack() as stack:
        for module, changes in (
            (_steps, variant.steps),
            (_thresholds, variant.thresholds),
            (_kernels, variant.kernels),
            (_loop, variant.loop),
        ):
            for name, function in changes.items():
                stack.enter_context(patch.object(module, name, function))
        loop = Loop(Rates(0.001, variant.join, 0.001), int(good.sum()))
        sums = GramSums(given.gram, scales, n_threads=1)
        groups = _steps.Groups.make(sums, np.where(good, start, -1))
        loop.run(groups, good)
        if variant.after:
            variant.after(groups, loop, good, given.scale)
        return _steps.refine(groups, variant.join, ~good)
