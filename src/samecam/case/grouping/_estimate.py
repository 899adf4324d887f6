"""What grouping and weighing will cost, by laws measured on the processor and on a GPU.

Correlating n photos of d pixels takes n²d multiplications and additions, at a rate that is
measured when it is asked; the sparse representation grows as n^2.3 (docs/cost.md), the
evidence as the photos' transforms and as photos times groups.
"""

from samecam import compute
from samecam.case.extraction import Estimate, products_per_second, transform_seconds
from samecam.case.folder import ClusteringSettings
from samecam.store import record_bytes

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


def with_grouping(
    plan: Estimate,
    n_pixels: int,
    dtype: str,
    clustering: ClusteringSettings,
    resources: compute.Resources,
) -> Estimate:
    """A plan with the time of grouping and of the evidence."""
    n = plan.photos
    if not n:
        return plan
    rate, read = products_per_second(), n * record_bytes(n_pixels, dtype) / _READ
    on_gpu = resources.device != "cpu"
    faster = _GPU_FACTOR if on_gpu else 1.0
    pairs = n * n * n_pixels / rate / faster
    lasso = _LASSO * (n / 1000) ** _LASSO_GROWTH / faster
    if clustering.name != "consolidated":
        lasso *= 3
    sums = 2 * n * max(1, n // _PER_GROUP) * n_pixels / rate
    weighing = _TRANSFORMS * n * transform_seconds(n_pixels) + sums + 2 * read + _TABLES * n
    return plan.with_parts(grouping=_LOAD + read + pairs + lasso, evidence=weighing)
