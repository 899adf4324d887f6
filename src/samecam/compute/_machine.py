"""Cores and memory of this machine, and how they are shared out."""

import os
import re
import sys
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from samecam.errors import ParameterError, SamecamError

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

_UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}


@dataclass(frozen=True, slots=True)
class Machine:
    """Cores this process may use and memory in bytes (total, and available now)."""

    cores: int
    memory: int
    available: int


def machine() -> Machine:
    """What the operating system says, within the limits set for this process."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    page = os.sysconf("SC_PAGE_SIZE")
    total = page * os.sysconf("SC_PHYS_PAGES")
    available = page * os.sysconf("SC_AVPHYS_PAGES")
    try:
        with open("/proc/meminfo", encoding="ascii") as stream:
            match = re.search(r"MemAvailable:\s+(\d+) kB", stream.read())
        available = int(match[1]) * 1024 if match else available
    except OSError:
        pass
    limit = _group_limit()
    return Machine(cores or 1, min(total, limit), min(available, limit))


def _group_limit() -> int:
    """Memory limit of the control group this process runs in, if any."""
    for name in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            with open(name, encoding="ascii") as stream:
                return int(stream.read())
        except (OSError, ValueError):
            continue
    return 2**62


def parse_bytes(text: str) -> int:
    """Bytes meant by '512M', '8G', '1.5 GiB' or a plain number."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?\s*", text.lower())
    if not match or float(match[1]) <= 0:
        raise SamecamError(f"{text!r} is not an amount of memory: write it like 800M or 8G.")
    return int(float(match[1]) * _UNITS[match[2]])


def format_bytes(count: float) -> str:
    """Bytes in the unit a person would use."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1024:
            return f"{count:.0f} {unit}" if unit in ("B", "kB") else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} TB"


def worker_count(requested: int | None) -> int:
    """Processes for extraction: as asked, else one a core that leaves each its memory."""
    if requested is not None:
        if requested < 1:
            raise ParameterError("workers", f"{{name}} is {requested}: give 1 or more.")
        return requested
    here = machine()
    return max(1, min(here.cores, here.available // (2 * 2**30)))


def thread_count() -> int:
    """Threads for kernels of our own: as many as BLAS takes here, so one in worker processes."""
    pools = _libraries(len(sys.modules)).info()
    blas = [int(pool["num_threads"]) for pool in pools if pool["user_api"] == "blas"]
    return max(1, min([machine().cores, *blas]))


def one_thread_of_blas() -> AbstractContextManager[object]:
    """While it is open, BLAS has one thread, and so have kernels of our own."""
    limit: AbstractContextManager[object] = _libraries(len(sys.modules)).limit(
        limits=1, user_api="blas"
    )
    return limit


@lru_cache(maxsize=1)
def _libraries(_modules: int) -> "ThreadpoolController":
    """Libraries that have threads; they take long to find, and only an import brings new ones."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def worker_memory(n_pixels: int) -> int:
    """Address space in bytes a worker may take on top of what it starts with.

    Room for the largest picture that is decoded whole (200 megapixels, four bytes
    each), its file, and the work arrays of a fingerprint of so many pixels.
    """
    return 2 * 2**30 + 64 * min(n_pixels, 2**24)


def rows_per_block(memory: int, row_bytes: int) -> int:
    """Rows of `row_bytes` that fit into `memory` bytes, at least one."""
    rows = memory // row_bytes
    if rows < 1:
        raise SamecamError(
            f"A memory budget of {memory} bytes is too small for one row of {row_bytes} bytes: "
            "raise the budget."
        )
    return rows
