"""Code compiled when it is first called."""

from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def jit(**options: Any) -> Callable[[F], F]:
    """Numba's njit, its code kept on disk for the next process where that is possible.

    Where neither the package nor a home folder can be written, code is compiled anew in
    every process.
    """
    from numba import njit

    def decorate(function: F) -> F:
        try:
            compiled: F = njit(cache=True, **options)(function)
        except RuntimeError:  # no place for a cache
            compiled = njit(**options)(function)
        return compiled

    return decorate
