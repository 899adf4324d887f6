"""What every command shares: --json, --quiet, and how progress is shown."""

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])
_LINE_SECONDS = 10.0


def output_options(command: F) -> F:
    """Add --json and --quiet to a command."""
    command = click.option(
        "--quiet", "-q", is_flag=True, help="Print nothing but errors and --json."
    )(command)
    return click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")(
        command
    )


def say(text: str, *, quiet: bool) -> None:
    """Print for people."""
    if not quiet:
        click.echo(text)


def print_json(value: Any) -> None:
    """Print for machines: one JSON object on standard output."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=True))


@contextmanager
def progress(label: str, unit: str, *, quiet: bool) -> Iterator[Callable[[int, int], None] | None]:
    """Show a bar with rate and time left on a terminal, a plain line now and then in a log."""
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
            unit = "photos" if phase == "Extracting" else ""
            label = phase[:1].upper() + phase[1:]
            self._show = self._open.enter_context(progress(label, unit, quiet=False))
            self._phase = phase
        if self._show is not None:
            self._show(done, total)

    def note(self, text: str) -> None:
        """Print a line beside the progress."""
        self._open.close()
        self._phase, self._show = "", None
        click.echo(text, err=True)


def _bar(label: str, unit: str) -> Iterator[Callable[[int, int], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.progress import TimeRemainingColumn as Remaining

    columns = (
        TextColumn(label),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        Remaining(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, rate="", total=None)
        began = time.monotonic()

        def show(done: int, total: int) -> None:
            rate = f"{done / max(time.monotonic() - began, 1e-9):.0f} {unit}/s"
            rate = rate if done and unit else ""
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
        rate = done / max(now - self._began, 1e-9)
        left = f", {duration((total - done) / rate)} left" if done < total else ""
        share = f"{100 * done // max(total, 1)} %"
        count = f"{done}/{total} ({share}), {rate:.0f} {self._unit}/s" if self._unit else share
        click.echo(f"{self._label}: {count}{left}", err=True)


def duration(seconds: float) -> str:
    """Seconds in words a person takes in at a glance."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def printable(text: str) -> str:
    """Text that any terminal takes: odd bytes and line breaks are shown escaped."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
