"""What the paper and its forerunner print, and where: nothing is read off a plot."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from samecam.experiments._methods import METHODS, NCUTS_PHAN


class Printed(NamedTuple):
    """Numbers in print for one method on one collection, and where they stand."""

    method: str
    configuration: str
    place: str
    values: Mapping[str, float]


_OUTLIERS = "text, presence of outliers"
_FEW = "text, few images per camera"
_DRESDEN = "text, large-scale datasets"

# Tables III and IV; "f_above" is a lower limit.
QUALITIES = (50, 55, 60, 65, 70, 75, 80, 85, 90, 95)
TABLE_III: Mapping[str, tuple[float, ...]] = MappingProxyType(
    {
        "precision": (0.79, 0.81, 0.84, 0.88, 0.90, 0.93, 0.94, 0.95, 0.93, 0.96),
        "recall": (0.58, 0.61, 0.66, 0.72, 0.77, 0.80, 0.83, 0.86, 0.85, 0.88),
        "f": (0.67, 0.70, 0.74, 0.79, 0.83, 0.86, 0.88, 0.90, 0.89, 0.92),
        "ari": (0.65, 0.68, 0.73, 0.78, 0.82, 0.85, 0.87, 0.89, 0.88, 0.88),
    }
)
SIDES = (256, 512, 768, 1024)
TABLE_IV: Mapping[str, tuple[float, ...]] = MappingProxyType(
    {
        "precision": (0.85, 0.92, 0.92, 0.89),
        "recall": (0.84, 0.84, 0.85, 0.90),
        "f": (0.84, 0.88, 0.88, 0.89),
        "ari": (0.83, 0.87, 0.87, 0.88),
    }
)
# Side of the square to the published γ.
GAMMAS: Mapping[int, float] = MappingProxyType(
    {256: 0.0045, 512: 0.0018, 768: 0.0012, 1024: 0.0008}
)

VA20 = Printed(
    "ls-ssc",
    "Va20",
    "Table IV, 512 × 512, taken to be this collection",
    {k: v[1] for k, v in TABLE_IV.items()},
)
LARGE = (
    Printed("ls-ssc", "LDa74", _DRESDEN, {"f_above": 0.80}),
    Printed("lin-ls", "LDa74", _DRESDEN, {"f": 0.64}),
)
OUTLIERS = Printed(
    "ls-ssc", "Va20-strangers", _OUTLIERS, {"f": 0.89, "n_unclustered": 69, "strangers_left": 33}
)
FEW_IMAGES = (
    Printed("ls-ssc", "few400", _FEW, {"f": 0.47, "n_clusters": 258, "n_unclustered": 469}),
    Printed("lin-ls", "few400", _FEW, {"f": 0.52, "n_clusters": 892, "n_unclustered": 4083}),
)
# Of LS-SSC on all of Dresden; hardware is not said beside it.
MINUTES = Printed("ls-ssc", "LDa74", "text, running time analysis", {"minutes": 80})

_PHAN = "Phan 2017, table of F and discovered/true clusters"
_PHAN_SETS = ("phan-D1", "phan-D2", "phan-D3", "phan-D4")
_PHAN_ROWS: Mapping[str, tuple[tuple[float, float], ...]] = {
    "hierarchical": ((0.75, 28), (0.62, 48), (0.82, 39), (0.64, 25)),
    "msc": ((0.98, 5), (0.80, 21.7), (0.92, 5.5), (0.74, 12.7)),
    NCUTS_PHAN.key: ((0.99, 3), (0.32, 2), (0.98, 3), (0.44, 4)),
    "mrf": ((0.82, 9.6), (0.81, 24), (0.88, 10), (0.50, 21)),
    "lin-ls": ((0.93, 5), (0.91, 12), (0.97, 3), (0.89, 13)),
    "ssc": ((0.97, 3), (0.91, 11), (0.97, 3), (0.90, 11)),
}
RIVALS_TABLE = tuple(
    Printed(method, name, _PHAN, {"f": f, "n_clusters": clusters})
    for method, row in _PHAN_ROWS.items()
    for name, (f, clusters) in zip(_PHAN_SETS, row, strict=True)
)


def as_json(printed: Printed) -> dict[str, object]:
    """One entry of a result's "printed"."""
    method = NCUTS_PHAN if printed.method == NCUTS_PHAN.key else METHODS[printed.method]
    return {
        "method": method.key,
        "label": method.label,
        "configuration": printed.configuration,
        "place": printed.place,
        **printed.values,
    }
