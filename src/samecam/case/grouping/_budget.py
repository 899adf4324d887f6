"""Whether a memory budget can do, asked before any work: what each phase takes at least."""

from collections.abc import Mapping, Sequence

from samecam import compute, correlate, evidence
from samecam.case.extraction import Job
from samecam.case.folder import ClusteringSettings, by_frame
from samecam.case.grouping._method import grouping_memory
from samecam.errors import SamecamError
from samecam.frames import Frame
from samecam.store import DtypeChoice, Record, frame_dtype

# Endings of most photos there are.
_PHOTOS = (".jpg", ".jpeg", ".png", ".tif", ".tiff", ".webp", ".heic", ".dng", ".nef", ".cr2")
# Methods that take the photos in batches; the smallest fits where the evidence does.
_IN_BATCHES = ("consolidated", "ls-ssc", "lin-ls")


def check_budget(
    frames: Mapping[Frame, int],
    rows: DtypeChoice,
    clustering: ClusteringSettings,
    resources: compute.Resources,
    *,
    weighing: bool = True,
) -> None:
    """Refuse a budget that is too small for grouping so many photos, or for their evidence.

    Parameters
    ----------
    frames : how many photos of each will be grouped at least
    rows : numbers on disk
    clustering, resources : how, and with what; resolved
    weighing : whether the evidence will be weighed
    """
    memory = grouping_memory(clustering, resources)
    for frame, count in frames.items():
        if resources.device == "cpu":
            what = f"Grouping {count} photos by {clustering.name!r}"
            _check(memory, _grouping(count, clustering.name), what)
        if weighing:
            _check(
                memory,
                evidence.least_memory(frame.n_pixels, frame_dtype(frame, rows)),
                "Weighing the evidence",
            )


def frame_counts(photos: Sequence[Record]) -> dict[Frame, int]:
    """How many photos there are of each frame that has two or more: one alone takes nothing."""
    return {frame: len(at) for frame, at in by_frame(photos).items() if len(at) > 1}


def surely_used(job: Job) -> dict[Frame, int]:
    """How many photos will be grouped at least: half of those that look like some."""
    only = job.settings.frame
    if only is not None:
        return {only: sum(item.path.lower().endswith(_PHOTOS) for item in job.files) // 2}
    return {frame: count // 2 for frame, count in job.frames.items() if count > 1}


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
