"""Whether a memory budget can do, asked before any work: what each phase takes at least."""

from collections.abc import Iterable

from samecam import compute, correlate, evidence
from samecam.case.folder import ClusteringSettings
from samecam.case.grouping._method import grouping_memory
from samecam.errors import SamecamError
from samecam.photos import PhotoFile

# Endings of most photos there are.
_PHOTOS = (".jpg", ".jpeg", ".png", ".tif", ".tiff", ".webp", ".heic", ".dng", ".nef", ".cr2")
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


def surely_used(files: Iterable[PhotoFile]) -> int:
    """How many photos will be grouped at least, by the names of the files: half of them."""
    return sum(item.path.lower().endswith(_PHOTOS) for item in files) // 2


def _grouping(n: int, method: str) -> int:
    if method not in _IN_BATCHES:
        return correlate.gram_memory(n)
    return 16 * n  # of one group, at least: how many there will be is not known


def _check(memory: int, need: int, what: str) -> None:
    if need > memory:
        raise SamecamError(
            f"{what} takes {compute.format_bytes(need)} of memory at least, and the memory budget "
            f"is {compute.format_bytes(memory)}: raise it."
        )
