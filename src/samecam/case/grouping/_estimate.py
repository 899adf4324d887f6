"""What grouping and weighing will cost, by laws measured on the processor and on a GPU.

Correlating n photos of d pixels takes n²d multiplications and additions, or of bits half as many
comparisons of words of 64 (which take longer of two bits a pixel), at a rate that is measured when
it is asked; the sparse representation grows as n^2.3 (docs/cost.md), the evidence as the shifts or
transforms of photos and as photos times groups.
"""

from samecam import compute
from samecam.case.extraction import (
    Estimate,
    products_per_second,
    transform_seconds,
    words_per_second,
)
from samecam.case.folder import ClusteringSettings, ExtractionSettings
from samecam.register import SMALLEST, search_seconds
from samecam.store import frame_dtype, record_bytes

# Seconds of one core at 1,000 photos, and how they grow; of the default method.
_LASSO, _LASSO_GROWTH = 0.2, 2.3
_LOAD = 4.0  # until the libraries that group are loaded
_GPU_FACTOR = 30.0  # how much faster correlations and representations are there
_READ = 1.5e9  # bytes a second of stored fingerprints
# Photos of a camera: how many groups there will be is not known.
_PER_GROUP = 25
# Transforms of a fingerprint that weighing one photo takes.
_TRANSFORMS = 1.5
_TABLES = 2e-4  # seconds a photo for tables
# Comparisons of a photo with a shifted fingerprint, in those of two photos.
_SHIFTS = 32 * 12
# How much longer it takes to compare 64 pixels of two bits each than of one (benchmarks/bits.py).
_COMPARED = {"bits": 1.0, "2bits": 4.3}
# Seconds of one core for views (benchmarks/views.py): of a group that is fitted and searched near
# its own scale, the same at all zooms, and of a pair; and how many photos stand alone.
_VIEW, _ZOOMS, _PAIR, _ALONE = 2.5, 5.5, 0.05, 1 / 20
_SIDE = 1024  # pixels of the middle that is compared


def with_grouping(
    plan: Estimate,
    settings: ExtractionSettings,
    clustering: ClusteringSettings,
    resources: compute.Resources,
) -> Estimate:
    """A plan with the time of grouping and of the evidence, over all frames."""
    if not plan.photos:
        return plan
    faster = _GPU_FACTOR if resources.device != "cpu" else 1.0
    kinds = {frame_dtype(cost.frame, settings.rows) for cost in plan.frames}
    words = words_per_second() if kinds & _COMPARED.keys() else 1.0
    products = products_per_second() if kinds - _COMPARED.keys() else 1.0
    grouping, weighing = _LOAD, 0.0
    for cost in plan.frames:
        n, d, dtype = cost.photos, cost.frame.n_pixels, frame_dtype(cost.frame, settings.rows)
        pair = d / products
        if dtype in _COMPARED:
            pair = _COMPARED[dtype] * d / 64 / words / 2
        read = n * record_bytes(d, dtype) / _READ
        lasso = _LASSO * (n / 1000) ** _LASSO_GROWTH / faster
        if clustering.name != "consolidated":
            lasso *= 3
        grouping += read + n * n * pair / faster + lasso
        groups = max(1, n // _PER_GROUP)
        shifted = dtype == "int8" or dtype in _COMPARED
        peaks = _SHIFTS * pair if shifted else _TRANSFORMS * transform_seconds(d)
        weighing += n * (peaks + 2 * groups * pair + _TABLES) + 2 * read
    views = _views(plan, clustering) if settings.frame is None else 0.0
    views /= compute.machine().cores * min(faster, 10.0)
    parts = {"views": views} if views else {}
    return plan.with_parts(grouping=grouping, evidence=weighing, **parts)


def _views(plan: Estimate, clustering: ClusteringSettings) -> float:
    """Seconds of one core for looking for views, if a camera has as many photos as usual."""
    seconds, pieces = 0.0, 0.0
    for cost in plan.frames:
        if clustering.search == "off" or min(cost.frame) < SMALLEST:
            continue
        share = min(1.0, max(cost.frame) / _SIDE)
        groups, alone = max(1.0, cost.photos / _PER_GROUP), _ALONE * cost.photos
        seconds += share**2 * (groups + alone / 2) * _VIEW
        if clustering.search != "quick":
            searched = groups + alone if clustering.search == "deep" else groups
            seconds += share**3 * searched * _ZOOMS
        pieces += share**2 * (groups + alone)
    seconds += _PAIR * pieces**2
    if clustering.search in ("off", "deep"):
        return seconds
    return min(seconds, search_seconds({cost.frame: cost.photos for cost in plan.frames}))
