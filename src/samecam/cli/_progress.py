"""How far the work is: a bar on a terminal, a plain line now and then in a log."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from samecam.cli._output import Lines, tell
from samecam.cli._text import duration, plural, printable

_LINE_SECONDS = 10.0


@contextmanager
def progress(label: str, unit: str, *, quiet: bool) -> Iterator[Callable[[int, int], None] | None]:
    """Show progress(done, total) with rate and time left; `unit` is one of what is counted."""
    if quiet:
        yield None
    elif sys.stderr.isatty():
        yield from _bar(label, unit)
    else:
        yield _Lines(label, unit)


class Phases:
    """Progress by phase: progress(phase, done, total), each phase with a bar or lines of its own.

    In a log, only extracting tells its end; other phases speak when they take long.
    """

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._phase = ""
        self._open = ExitStack()
        self._show: Callable[[int, int], None] | None = None

    def __enter__(self) -> "Phases":
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def __call__(self, phase: str, done: int, total: int) -> None:
        """Show how far a phase is."""
        if self._quiet:
            return
        if phase != self._phase:
            self._open.close()
            unit = "photo" if phase == "Extracting" else ""
            label = phase[:1].upper() + phase[1:]
            self._show = self._open.enter_context(progress(label, unit, quiet=False))
            self._phase = phase
        if self._show is not None:
            self._show(done, total)

    def note(self, lines: Lines) -> None:
        """Print something beside the progress."""
        self._open.close()
        self._phase, self._show = "", None
        tell(lines)


def _rate(done: int, seconds: float, unit: str) -> str:
    """'1 photo/s'."""
    rate = round(done / max(seconds, 1e-9))
    return f"{rate} {plural(rate, unit)}/s"


def _bar(label: str, unit: str) -> Iterator[Callable[[int, int], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.progress import TimeRemainingColumn as Remaining

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}", markup=False),
        Remaining(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(printable(label), rate="", total=None)
        began = time.monotonic()

        def show(done: int, total: int) -> None:
            rate = _rate(done, time.monotonic() - began, unit) if done and unit else ""
            bar.update(task, completed=done, total=total, rate=rate)

        yield show


class _Lines:
    """One line every ten seconds, and one at the end if there is a unit, or if it took long."""

    def __init__(self, label: str, unit: str) -> None:
        self._label, self._unit = label, unit
        self._began = self._last = time.monotonic()
        self._told = 0

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        ends = done >= total and (self._unit or self._told)
        if (now - self._last < _LINE_SECONDS and not ends) or done in (0, self._told):
            return
        self._last, self._told = now, done
        seconds = max(now - self._began, 1e-9)
        left = f", {duration((total - done) * seconds / done)} left" if done < total else ""
        share = f"{100 * done // max(total, 1)} %"
        rate = _rate(done, seconds, self._unit)
        count = f"{done}/{total} ({share}), {rate}" if self._unit else share
        tell(f"{self._label}: {count}{left}")
