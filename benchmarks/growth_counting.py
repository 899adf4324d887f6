"""Where the phases of `benchmarks.growth` run, how they are timed, and how operations are counted.

Nothing here loads PyTorch unless a GPU, or PyTorch on the processor, is what is measured.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from samecam import compute
from samecam.arrays import Labels
from samecam.simulate import fingerprints
from samecam.store import MemoryStore

CAMERA, MEAN = 100, 0.02
AGAIN = 0.5  # what takes less is timed three times
Answer = TypeVar("Answer")
# Operations of a call, from what it gave and its arguments.
Hear = Callable[[Any, tuple[Any, ...]], float]


def camera_sizes(n: int) -> list[int]:
    """Photos of each camera: 100, and the last what is left."""
    return [CAMERA] * (n // CAMERA) + ([n % CAMERA] if n % CAMERA else [])


@dataclass
class Place:
    """Where the work is done, and what PyTorch calls it."""

    device: str

    def __post_init__(self) -> None:
        self.on_processor = self.device == "cpu"
        self.torch_name = "cpu" if self.on_processor else compute.torch_device(self.device)
        self.cuda = self.device.startswith("cuda")

    def wait(self) -> None:
        if self.cuda:
            import torch

            torch.cuda.synchronize()

    def rows(self, n: int, d: int) -> tuple[Any, Labels]:
        """Simulated fingerprints as a source of rows, and the camera of each."""
        if self.on_processor:
            return memory_store(n, d)
        from benchmarks.gpu import sets

        truth = sets.truth_of(camera_sizes(n))
        return sets.on_device(truth, MEAN, d, self.torch_name, "int8"), truth


def memory_store(n: int, d: int) -> tuple[MemoryStore, Labels]:
    """Fingerprints as float32 in memory, and the camera of each."""
    X, truth = fingerprints(camera_sizes(n), MEAN, d)
    store = MemoryStore(d)
    for at, row in enumerate(X):
        store.add(f"{at:09d}", row)
    store.commit()
    return store, truth


@dataclass
class Tally:
    """Operations so far, what else was noted, and the seconds that counting took."""

    operations: float = 0.0
    notes: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0

    def clear(self) -> None:
        self.operations, self.notes, self.seconds = 0.0, {}, 0.0


@contextmanager
def listening(target: Any, name: str, hear: Hear, tally: Tally) -> Iterator[Tally]:
    """`hear(answer, arguments)` after each call of `target.name` gives operations to add."""
    plain = getattr(target, name)

    def heard(*args: Any, **options: Any) -> Any:
        answer = plain(*args, **options)
        began = time.perf_counter()
        tally.operations += hear(answer, args)
        tally.seconds += time.perf_counter() - began
        return answer

    setattr(target, name, heard)
    try:
        yield tally
    finally:
        setattr(target, name, plain)


def timed(
    function: Callable[[], Answer], place: Place, tally: Tally | None = None
) -> tuple[Answer, float]:
    """Answer and seconds of a call, the median of three if it is short."""
    tally = tally or Tally()
    times: list[float] = []
    while len(times) < 1 or (times[0] < AGAIN and len(times) < 3):
        tally.clear()
        place.wait()
        began = time.perf_counter()
        answer = function()
        place.wait()
        times.append(time.perf_counter() - began - tally.seconds)
    return answer, sorted(times)[len(times) // 2]


def best(function: Callable[[], object], place: Place, repeats: int = 3) -> float:
    """Least seconds of some calls after one for warming up."""
    function()
    times = []
    for _ in range(repeats):
        place.wait()
        began = time.perf_counter()
        function()
        place.wait()
        times.append(time.perf_counter() - began)
    return min(times)
