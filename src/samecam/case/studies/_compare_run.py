"""One method in a process of its own, with a time-out; its answer, its time, its memory."""

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from samecam import compute
from samecam.arrays import Labels
from samecam.case.folder import ClusteringSettings, by_frame, open_case, used_photos
from samecam.case.grouping import group_photos

_LABELS = "labels.npy"


@dataclass(frozen=True, slots=True)
class Job:
    """What all methods share: case, folder for what passes between processes, limits."""

    case: str
    folder: str
    memory: int
    timeout: float | None


@dataclass(frozen=True, slots=True)
class MethodRun:
    """Labels of the used photos, or why there are none; seconds, and peak memory in bytes."""

    labels: Labels | None = None
    failure: str = ""
    seconds: float = 0.0
    peak_memory: int = 0


def run(job: Job, settings: ClusteringSettings | None, *, shared: bool) -> MethodRun:
    """Run a method to its end, or to its time-out; None makes the file of correlations.

    Parameters
    ----------
    job : where and within which limits
    settings : the method
    shared : whether it takes the correlations from their file
    """
    folder = Path(job.folder)
    (folder / _LABELS).unlink(missing_ok=True)
    task = {
        "job": asdict(job),
        "settings": None if settings is None else settings.as_dict(),
        "shared": shared,
    }
    told = compute.run_alone(f"{__name__}:work", task, folder, timeout=job.timeout)
    if told.failure:
        return MethodRun(failure=told.failure, peak_memory=told.peak_memory)
    labels = None if settings is None else np.load(folder / _LABELS)
    return MethodRun(labels, seconds=told.facts["seconds"], peak_memory=told.peak_memory)


def work(task: Mapping[str, Any]) -> dict[str, float]:
    """What the process does: labels, or the correlations, to their files; its seconds."""
    job, settings = Job(**task["job"]), task["settings"]
    with open_case(job.case).open_store() as store:
        used = used_photos(store)
        files = {frame: Path(job.folder) / f"{frame.name}.npy" for frame in by_frame(used)}
        if settings is None:
            from samecam import correlate

            began = time.monotonic()
            for frame, file in files.items():
                rows = store.rows(frame)
                np.save(file, correlate.gram(rows, memory=job.memory))
                rows.close()
            return {"seconds": time.monotonic() - began}
        shared = task["shared"]
        known = {frame: np.load(file) for frame, file in files.items()} if shared else None
        method = ClusteringSettings(**settings)
        method.estimator()
        alone = compute.Resources(workers=1, device="cpu", memory=job.memory)
        began = time.monotonic()
        labels, _ = group_photos(
            store, used, method, alone, compute.no_progress, correlations=known
        )
        seconds = time.monotonic() - began
        np.save(Path(job.folder) / _LABELS, labels)
        return {"seconds": seconds}
