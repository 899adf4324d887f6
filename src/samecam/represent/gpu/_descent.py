"""Accelerated proximal gradients on many small problems at once.

For every row of a batch, on its working set with Gram A and correlations g::

    minimise  ½ c A c − g·c + γ‖c‖₁,   c ≥ 0 unless both signs are asked

    c⁺ = S(y − (A y − g)/L, γ/L),   y⁺ = c⁺ + β (c⁺ − c)

S is the soft threshold (one-sided for c ≥ 0), L an upper bound of the largest eigenvalue and β
Nesterov's momentum, which begins anew in a row whenever it points uphill. A y is combined from
A c⁺ and A c, so that one product an iteration gives the violation of c⁺ as well.
"""

from typing import Any, NamedTuple, Protocol

import numpy as np
import torch

from samecam.represent.gpu._certificate import violation
from samecam.represent.gpu._newton import finish

_EVERY = (5, 20)  # iterations between two looks at the violation, early and later
_EARLY = 40  # from here on what is left is finished by `_newton`, if that succeeds
_TURNS = 2  # products spent on the bound of the largest eigenvalue


class Rule(NamedTuple):
    """When to stop: `tol` is the largest violation inside the working set."""

    gamma: float
    nonnegative: bool
    tol: float
    max_iter: int


class Descended(NamedTuple):
    """Coefficients (B, k), and iterations of each row on the host."""

    values: Any
    iterations: Any


class Grams(Protocol):
    """The Gram of each row of a batch; `room` bytes may be taken for temporary ones."""

    room: int

    def product(self, values: Any) -> Any:
        """A c of every row."""
        ...

    def absolute(self, values: Any) -> Any:
        """|A| c of every row, |A| taken number by number."""
        ...

    def part(self, rows: slice, columns: Any) -> Any:
        """The Grams (b, s, s) of some `columns` (b, s) of some rows."""
        ...

    def keep(self, chosen: Any) -> "Grams":
        """Only the chosen rows."""
        ...


class Gathered:
    """Each row has a Gram of its own, (B, k, k); `room` bytes may be taken on top."""

    def __init__(self, grams: Any, room: int) -> None:
        self.grams = grams
        self.room = room

    def product(self, values: Any) -> Any:
        """See `Grams.product`."""
        return torch.bmm(self.grams, values[:, :, None])[:, :, 0]

    def absolute(self, values: Any) -> Any:
        """See `Grams.absolute`."""
        size = self.grams[0].numel() * self.grams.element_size()
        step = max(1, self.room // max(size, 1))
        return torch.cat([
            torch.bmm(part.abs(), these[:, :, None])[:, :, 0]
            for part, these in zip(self.grams.split(step), values.split(step), strict=True)
        ])  # fmt: skip

    def part(self, rows: slice, columns: Any) -> Any:
        """See `Grams.part`."""
        at = torch.arange(len(columns), device=columns.device)[:, None, None]
        return self.grams[rows][at, columns[:, :, None], columns[:, None, :]]

    def keep(self, chosen: Any) -> "Gathered":
        """See `Grams.keep`."""
        return Gathered(self.grams[chosen], self.room)


class Whole:
    """All rows share the whole Gram (n, n); columns outside a set have the value 0.

    Where the Gram must be widened to `dtype`, or its absolute values are needed, that is done
    by `room` bytes at a time.
    """

    def __init__(self, gram: Any, dtype: Any, room: int) -> None:
        self.gram = gram
        self.dtype = dtype
        self.room = room
        self.step = max(1, room // (len(gram) * dtype.itemsize))

    def product(self, values: Any) -> Any:
        """See `Grams.product`."""
        if self.dtype == self.gram.dtype:
            return values @ self.gram
        return torch.cat([values @ part.to(self.dtype).T for part in self.gram.split(self.step)], 1)

    def absolute(self, values: Any) -> Any:
        """See `Grams.absolute`."""
        parts = self.gram.split(self.step)
        return torch.cat([values @ part.to(self.dtype).abs().T for part in parts], 1)

    def part(self, rows: slice, columns: Any) -> Any:  # noqa: ARG002 - the same for all rows
        """See `Grams.part`."""
        return self.gram[columns[:, :, None], columns[:, None, :]]

    def keep(self, chosen: Any) -> "Whole":  # noqa: ARG002 - the same for all rows
        """See `Grams.keep`."""
        return self


class _State(NamedTuple):
    """Rows still descending: coefficients and A c, now and before; momentum; the problem."""

    values: Any
    before: Any
    product: Any
    product_before: Any
    momentum: Any
    target: Any
    valid: Any
    step: Any


def descend(grams: Grams, target: Any, start: Any, valid: Any, rule: Rule) -> Descended:
    """Descend from `start` (B, k) until the violation in every row is at most `rule.tol`.

    `target` (B, k) holds g; what is not `valid` is padding and stays 0. The answer of a row is
    that of the first check which finds it good, so that its neighbours do not show in it; rows
    that are done leave the batch once they are half of it.
    """
    step = 1 / largest_eigenvalue(grams, valid.to(target.dtype))[:, None]
    product = grams.product(start)
    now = _State(start, start, product, product, torch.ones_like(step), target, valid, step)
    result = torch.zeros_like(start)
    iterations = np.zeros(len(start), np.int64)
    place = torch.arange(len(start), device=start.device)
    waiting = np.ones(len(start), bool)
    done, attempt = 0, _EARLY
    while True:
        good = (_violations(now, rule) <= rule.tol).cpu().numpy() | (done >= rule.max_iter)
        if done >= attempt and not good[waiting].all():
            values, solved = finish(grams, now.target, now.values, now.valid, rule)
            now = now._replace(values=values)
            good |= solved.cpu().numpy()
            attempt *= 2
        ended = torch.from_numpy(np.flatnonzero(good & waiting)).to(place.device)
        result[place[ended]] = now.values[ended]
        iterations[place[ended].cpu().numpy()] = done
        waiting &= ~good
        if not waiting.any():
            return Descended(result, iterations)
        if 2 * np.count_nonzero(waiting) <= waiting.size:
            left = torch.from_numpy(np.flatnonzero(waiting)).to(place.device)
            place, grams, waiting = place[left], grams.keep(left), waiting[waiting]
            now = _State(*(part[left] for part in now))
        for _ in range(min(_EVERY[done >= _EARLY], rule.max_iter - done)):
            now = _iterate(grams, now, rule)
            done += 1


def _iterate(grams: Grams, now: _State, rule: Rule) -> _State:
    """One step of all rows."""
    after = 0.5 + torch.sqrt(0.25 + now.momentum * now.momentum)
    beta = (now.momentum - 1) / after
    point = now.values + beta * (now.values - now.before)
    slope = now.product + beta * (now.product - now.product_before) - now.target
    moved = point - now.step * slope
    values = shrink(moved, now.step * rule.gamma, rule.nonnegative) * now.valid
    uphill = ((point - values) * (values - now.values)).sum(1, keepdim=True) > 0
    after = torch.where(uphill, torch.ones_like(after), after)
    return now._replace(
        values=values, before=now.values, product=grams.product(values),
        product_before=now.product, momentum=after,
    )  # fmt: skip


def shrink(moved: Any, threshold: Any, nonnegative: bool) -> Any:
    """Soft threshold, one-sided if nonnegative."""
    if nonnegative:
        return (moved - threshold).clamp_min(0)
    return moved.sign() * (moved.abs() - threshold).clamp_min(0)


def _violations(now: _State, rule: Rule) -> Any:
    """Largest violation of each row inside its working set."""
    inside = violation(now.target - now.product, now.values, rule.gamma, rule.nonnegative)
    return (inside * now.valid).amax(1)


def largest_eigenvalue(grams: Grams, marks: Any) -> Any:
    """An upper bound for each row's Gram, (B,).

    For any v > 0 the largest (|A| v)_j / v_j is one (Collatz); v = 1 gives the largest row
    sum, and every product with |A| brings it closer.
    """
    v = marks
    for _ in range(_TURNS):
        w = grams.absolute(v) * marks
        bound = (w / torch.where(v > 0, v, torch.ones_like(v))).amax(1)
        v = w / w.amax(1, keepdim=True).clamp_min(torch.finfo(w.dtype).tiny)
    return bound.clamp_min(torch.finfo(bound.dtype).tiny) * (1 + 1e-5)
