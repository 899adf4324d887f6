"""How long work tells what it has done: progress(phase, done, total), from time to time."""

from collections.abc import Callable

Progress = Callable[[str, int, int], None]


def no_progress(phase: str, done: int, total: int) -> None:
    """Tell nobody."""
