"""Performance of likelihood ratios: all comparisons together, and by what they have in common."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from samecam.arrays import Doubles, Mask
from samecam.case.folder import frame_name
from samecam.case.validating._comparisons import RELATIONS, SAME, Compared
from samecam.case.validating._labelled import Labelled
from samecam.metrics import (
    Counted,
    cllr,
    cllr_min,
    counted,
    elub,
    equal_error_rate,
    pav,
    tippett,
)

# Rates that are claimed and counted, and likelihood ratios (log10) that may mislead.
CLAIMED = (0.1, 0.01, 0.001, 0.0001)
STRONG = (1, 2, 3, 4)
# Fewer that were counted do not carry a rate.
FEW = 20
_POINTS = 201
_SIZES = ("2–3", "5–10", "more than 20", "other")


@dataclass(frozen=True, slots=True)
class Figures:
    """Performance on some comparisons; None where there are none of one kind.

    Attributes
    ----------
    by, value : what these comparisons have in common: "frame" and "4000x3000"; "" for all
    n_same, n_different : comparisons with the photo's own camera, and with another
    counted : claimed rates of scores against counted ones
    strong : share of other cameras with a likelihood ratio of 10, 100, … or more, which no more
        than 1 in 10, 100, … may have
    misleading_same : share of own cameras with a likelihood ratio below 1
    misleading_different : share of other cameras with one above 1
    cllr, cllr_min : accuracy, and what discrimination lacks of it
    eer : equal-error rate
    elub : log10 of the lower and upper bound of ratios that these comparisons support
    """

    by: str
    value: str
    n_same: int
    n_different: int
    counted: list[Counted]
    strong: list[Counted]
    misleading_same: float | None
    misleading_different: float | None
    cllr: float | None
    cllr_min: float | None
    eer: float | None
    elub: tuple[float, float] | None

    def as_dict(self) -> dict[str, Any]:
        """For JSON: no infinity, and rates with what was counted."""
        bounds = None if self.elub is None else [round(bound, 6) for bound in self.elub]
        plain = {**asdict(self), "cllr": finite(self.cllr), "elub": bounds}
        for name in ("counted", "strong"):
            rows: list[Counted] = getattr(self, name)
            plain[name] = [
                {**asdict(row), "rate": row.rate, "few": row.count < FEW} for row in rows
            ]
        return plain


def finite(value: float | None) -> float | None:
    """A number that JSON can hold, or None."""
    return None if value is None or not np.isfinite(value) else float(value)


def figures(given: Compared, by: str = "", value: str = "") -> Figures:
    """Performance on these comparisons."""
    own = given.same
    stated = given.stated
    same, different = stated[own], stated[~own]
    both = bool(len(same) and len(different))
    # The largest probability under which a ratio so large is allowed; no rounding may lift it.
    allowed = np.minimum(1.0, 10.0**-different * (1 - 1e-12))
    return Figures(
        by,
        value,
        len(same),
        len(different),
        counted(given.p_value[~own], CLAIMED) if len(different) else [],
        counted(allowed, [10.0**-power for power in STRONG]) if len(different) else [],
        float(np.mean(same < 0)) if len(same) else None,
        float(np.mean(different > 0)) if len(different) else None,
        cllr(same, different) if both else None,
        cllr_min(same, different) if both else None,
        equal_error_rate(same, different) if both else None,
        elub(given.log_ratio[own], given.log_ratio[~own]) if both else None,
    )


def all_figures(given: Compared, labelled: Labelled) -> list[Figures]:
    """Performance by relation, frame, size of the reference and compression."""
    result = [
        figures(given[given.same | (given.relation == kind)], "relation", RELATIONS[kind])
        for kind in range(len(RELATIONS))
        if kind != SAME and (given.relation == kind).any()
    ]
    for by, values in _kinds(given, labelled).items():
        result += [figures(given[chosen], by, value) for value, chosen in _split(values)]
    return result


def _kinds(given: Compared, labelled: Labelled) -> Mapping[str, npt.NDArray[Any]]:
    """What comparisons have in common: for each way to split them, the kind of each."""
    frames = np.array([frame_name(photo) or "" for photo in labelled.photos])
    files = np.array([_compression(photo.meta) for photo in labelled.photos])
    return {
        "frame": frames[given.photo],
        "photos of the camera": _sizes(given.reference),
        "file": files[given.photo],
    }


def _split(values: npt.NDArray[Any]) -> Iterator[tuple[str, Mask]]:
    """Each kind with its comparisons: sizes in their order, others the most frequent first."""
    kinds, counts = np.unique(values, return_counts=True)
    given = dict(zip(kinds.tolist(), counts.tolist(), strict=True))

    def order(kind: str) -> tuple[int, int, str]:
        return (_SIZES.index(kind) if kind in _SIZES else 0, -given[kind], kind)

    for kind in sorted(given, key=order):
        yield kind, values == kind


def _sizes(reference: npt.NDArray[np.intp]) -> npt.NDArray[Any]:
    kinds = [(2, 3), (5, 10), (21, np.inf)]
    result = np.full(len(reference), _SIZES[-1], dtype=object)
    for name, (low, high) in zip(_SIZES, kinds, strict=False):
        result[(reference >= low) & (reference <= high)] = name
    return result


def _compression(meta: Mapping[str, Any]) -> str:
    """How a file was stored: its format, and whether it looks like a messenger's."""
    kind = str(meta.get("format") or "not known")
    return f"{kind}, as a messenger sends it" if meta.get("service") else kind


def curves(given: Compared) -> dict[str, Any]:
    """What the plots show: Tippett's shares, pools of calibration, claimed and counted rates."""
    stated, own = given.stated, given.same
    ends = np.array([stated.min(), stated.max()])
    ends = np.where(np.isfinite(ends), ends, np.sign(ends) * 9)
    at = np.linspace(np.floor(ends[0]), np.ceil(ends[1]), _POINTS)
    groups = {RELATIONS[k]: given.relation == k for k in range(len(RELATIONS))}
    groups["another camera"] = ~own
    rates = np.geomspace(max(1e-6, 1 / np.count_nonzero(~own)), 1, 33)
    rows = counted(given.p_value[~own], rates.tolist())
    return {
        "tippett": {
            "log_ratio": at.round(9).tolist(),
            **{name: tippett(stated[k], at).tolist() for name, k in groups.items() if k.any()},
        },
        "pools": _pools(stated[own], stated[~own]),
        "counted": [{**asdict(row), "rate": row.rate} for row in rows],
    }


def _pools(same: Doubles, different: Doubles) -> list[dict[str, float | None]]:
    """Pools of adjacent ratios that calibration gives one value: from, to, and how many of each."""
    one, two = pav(same, different)
    ratios, after = np.concatenate([same, different]), np.concatenate([one, two])
    pools, place = np.unique(after, return_inverse=True)
    order = np.argsort(place, kind="stable")
    starts = np.searchsorted(place[order], np.arange(len(pools)))
    least = np.minimum.reduceat(ratios[order], starts)
    most = np.maximum.reduceat(ratios[order], starts)
    ones = np.bincount(place[: len(one)], minlength=len(pools))
    twos = np.bincount(place[len(one) :], minlength=len(pools))
    return [
        {"from": finite(low), "to": finite(high), "same": int(n), "different": int(m)}
        for low, high, n, m in zip(least, most, ones, twos, strict=True)
    ]
