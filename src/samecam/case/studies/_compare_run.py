"""One method in a process of its own, with a time-out; its answer, its time, its memory."""

import json
import os
import re
import resource
import signal
import subprocess
import sys
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from samecam import compute
from samecam.arrays import Labels
from samecam.case.folder import ClusteringSettings, by_frame, open_case, used_photos
from samecam.case.grouping import group_photos
from samecam.errors import SamecamError

_ANSWER, _LABELS, _SAID = "answer.json", "labels.npy", "said.txt"
_LAST = 300


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
    for name in (_ANSWER, _LABELS):
        (folder / name).unlink(missing_ok=True)
    task = {
        "job": asdict(job),
        "settings": None if settings is None else settings.as_dict(),
        "shared": shared,
    }
    code = "from samecam.case.studies._compare_run import child; child()"
    with open(folder / _SAID, "wb") as said:
        process = subprocess.Popen(
            [sys.executable, "-P", "-c", code, json.dumps(task)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            stdin=subprocess.PIPE,  # its end tells the child that we are gone
            stdout=said,
            stderr=said,
            start_new_session=True,
        )
        failure = _wait(process, job.timeout)
    if failure:
        return MethodRun(failure=failure)
    try:
        told = json.loads((folder / _ANSWER).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return MethodRun(failure=_ended(process.returncode, folder / _SAID))
    if told["failure"] or settings is None:
        return MethodRun(**told)
    return MethodRun(np.load(folder / _LABELS), **told)


def _wait(process: "subprocess.Popen[bytes]", timeout: float | None) -> str:
    """Wait for the end; a sentence if it had to be brought about."""
    try:
        process.wait(timeout)
    except subprocess.TimeoutExpired:
        return f"It took longer than {timeout:g} seconds."
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        if process.stdin is not None:
            process.stdin.close()
    return ""


def _ended(code: int, said: Path) -> str:
    if code < 0:
        memory = ", perhaps for want of memory" if -code == signal.SIGKILL else ""
        return f"Its process was ended by {signal.Signals(-code).name}{memory}."
    lines = said.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return f"Its process failed: {lines[-1][:_LAST]}" if lines else "Its process failed."


def child() -> None:
    """What the process does: read the task, work, leave the answer."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    task = json.loads(sys.argv[1])
    job = Job(**task["job"])
    told = MethodRun()
    try:
        labels, seconds = _work(job, task["settings"], shared=task["shared"])
        if labels is not None:
            np.save(Path(job.folder) / _LABELS, labels)
        told = MethodRun(seconds=seconds, peak_memory=_peak())
    except MemoryError:
        told = MethodRun(failure="There is not enough memory.", peak_memory=_peak())
    except (SamecamError, ValueError) as error:
        told = MethodRun(failure=_message(error), peak_memory=_peak())
    plain = {name: value for name, value in asdict(told).items() if name != "labels"}
    beside = Path(job.folder) / f".{_ANSWER}"
    beside.write_text(json.dumps(plain), encoding="utf-8")
    beside.rename(Path(job.folder) / _ANSWER)


def _work(
    job: Job, settings: dict[str, Any] | None, *, shared: bool
) -> tuple[Labels | None, float]:
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
            return None, time.monotonic() - began
        known = {frame: np.load(file) for frame, file in files.items()} if shared else None
        method = ClusteringSettings(**settings)
        method.estimator()
        alone = compute.Resources(workers=1, device="cpu", memory=job.memory)
        began = time.monotonic()
        labels, _ = group_photos(
            store, used, method, alone, compute.no_progress, correlations=known
        )
        return labels, time.monotonic() - began


def _end_with_parent() -> None:
    sys.stdin.buffer.read()
    os._exit(1)


def _peak() -> int:
    """Most bytes this process has held.

    (The kernel's count by `getrusage` begins with what the parent held.)
    """
    try:
        with open("/proc/self/status", encoding="ascii") as stream:
            match = re.search(r"VmHWM:\s+(\d+) kB", stream.read())
        if match:
            return int(match[1]) * 1024
    except OSError:
        pass
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _message(error: Exception) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return text if text.endswith((".", "!", "?")) else text + "."
