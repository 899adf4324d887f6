"""Stopping in order: Ctrl-C and SIGTERM ask for it, a second one is obeyed at once."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Stop(threading.Event):
    """Set when somebody asks to stop; `at_once`: the next signal interrupts what runs."""

    at_once = False


@contextmanager
def stop_on_signals() -> Iterator[Stop]:
    """An event that Ctrl-C and SIGTERM set; a second one of them is obeyed at once.

    Give it to `extract_photos` or `cluster_photos` as `stop`. A signal that this process was
    started to ignore, as Ctrl-C in the background of a script, is ignored further.
    """
    stop = Stop()

    def ask(*_: Any) -> None:
        if stop.is_set() or stop.at_once:
            raise KeyboardInterrupt
        stop.set()

    heeded = [
        number
        for number in (signal.SIGINT, signal.SIGTERM)
        if signal.getsignal(number) is not signal.SIG_IGN
    ]
    before = {number: signal.signal(number, ask) for number in heeded}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def nothing_begun_yet(stop: threading.Event) -> Iterator[None]:
    """Meanwhile a signal ends it at once: files are looked for, on a mount that may hang."""
    if not isinstance(stop, Stop):
        yield
        return
    before, stop.at_once = stop.at_once, True
    try:
        yield
    finally:
        stop.at_once = before


def nothing_left_to_finish(stop: threading.Event) -> None:
    """From here on the next signal may end it at once: all that was done is on disk."""
    if isinstance(stop, Stop):
        stop.at_once = True
