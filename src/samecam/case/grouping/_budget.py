"""Whether a memory budget can do, asked before any work: what each phase takes at least."""

from samecam import compute, correlate, evidence
from samecam.case.folder import ClusteringSettings
from samecam.case.grouping._method import grouping_memory
from samecam.errors import SamecamError

# Photos of a camera, at most: how many groups there will be is not known.
_PER_GROUP = 100
# Methods that take the photos in batches; the smallest fits where the evidence does.
_IN_BATCHES = ("consolidated", "ls-ssc", "lin-ls")


def check_budget(
    n_photos: int,
    n_pixels: int,
    clustering: ClusteringSettings,
    resources: compute.Resources,
    *,
    weighing: bool = True,
) -> None:
    """Refuse a budget that is too small for grouping so many photos, or for their evidence.

    Parameters
    ----------
    n_photos : that will be grouped at least
    n_pixels : length of a fingerprint
    clustering, resources : how, and with what; resolved
    weighing : whether the evidence will be weighed
    """
    memory = grouping_memory(clustering, resources)
    if resources.device == "cpu":
        what = f"Grouping {n_photos} photos by {clustering.name!r}"
        _check(memory, _grouping(n_photos, clustering.name), what)
    if weighing:
        _check(memory, evidence.least_memory(n_pixels), "Weighing the evidence")


def _grouping(n: int, method: str) -> int:
    if method not in _IN_BATCHES:
        return correlate.gram_memory(n)
    products = 4 * n * max(1, n // _PER_GROUP)
    return 2 * products + 8 * n


def _check(memory: int, need: int, what: str) -> None:
    if need > memory:
        raise SamecamError(
            f"{what} takes {compute.format_bytes(need)} of memory at least, and the memory budget "
            f"is {compute.format_bytes(memory)}: raise it."
        )
