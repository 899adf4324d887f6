"""Steps that runs on the same photos have in common, taken once."""

import hashlib
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

Given = ParamSpec("Given")
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds of the clock and of the processor."""

    seconds: float = 0.0
    processor: float = 0.0

    def __add__(self, other: "Times") -> "Times":
        return Times(self.seconds + other.seconds, self.processor + other.processor)

    def __sub__(self, other: "Times") -> "Times":
        return Times(self.seconds - other.seconds, self.processor - other.processor)


class SharedSteps:
    """What steps gave, for runs that differ in nothing but their seed: see `once`.

    Attributes
    ----------
    spared : time that runs would have taken more, had each taken all of its steps itself
    """

    def __init__(self) -> None:
        self.spared = Times()
        self._taken: dict[bytes, tuple[Any, Times]] = {}

    @contextmanager
    def used(self) -> Iterator[None]:
        """Within it, and in the same thread, `once` takes no step again."""
        before = _used.set(self)
        try:
            yield
        finally:
            _used.reset(before)

    def take(self, step: Callable[..., Any], given: Any, named: Any) -> Any:
        """The answer of a step, known or computed now; to look for it is no part of a run."""
        began = _now()
        key = _digest((step.__module__, step.__qualname__, given, named))
        looked = _now()
        self.spared -= looked - began
        if key in self._taken:
            answer, took = self._taken[key]
            self.spared += took
        else:
            answer = step(*given, **named)
            self._taken[key] = answer, _now() - looked
        return answer


_used: ContextVar[SharedSteps | None] = ContextVar("steps", default=None)


def once(step: Callable[Given, Answer], *given: Given.args, **named: Given.kwargs) -> Answer:
    """A step of a method, which is only taken anew if no run that shares steps has taken it.

    Parameters
    ----------
    step : function of a module; its answer depends on its arguments alone and is not written to
    given, named : its arguments: arrays, sparse matrices, numbers, words
    """
    steps = _used.get()
    if steps is None:
        return step(*given, **named)
    answer: Answer = steps.take(step, given, named)
    return answer


def _now() -> Times:
    return Times(time.perf_counter(), time.process_time())


def _digest(given: Any) -> bytes:
    """Of all that is given: arrays, sparse matrices, numbers, words, and lists of such."""
    digest = hashlib.sha256()
    _add(digest, given)
    return digest.digest()


def _add(digest: Any, given: Any) -> None:
    import numpy as np  # late: `--help` needs none

    if isinstance(given, np.ndarray):
        digest.update(f"{given.dtype.str}{given.shape}".encode())
        digest.update(np.ascontiguousarray(given).view(np.uint8).data)
    elif isinstance(given, dict):
        _add(digest, [part for item in sorted(given.items()) for part in item])
    elif isinstance(given, list | tuple):
        digest.update(f"{len(given)} of".encode())
        for part in given:
            _add(digest, part)
    elif hasattr(given, "tocsr"):
        matrix = given.tocsr()
        _add(digest, [str(matrix.shape), matrix.data, matrix.indices, matrix.indptr])
    elif given is None or isinstance(given, str | int | float | np.generic):
        digest.update(f"{type(given).__name__} {given!r},".encode())
    else:
        raise TypeError(f"a step that is taken once was given {type(given).__name__}")
