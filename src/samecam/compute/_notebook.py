"""How far the work is, in a notebook: one line that changes, without being asked for."""

import sys
import time
from html import escape
from typing import Any

from samecam.compute._progress import Progress, no_progress
from samecam.notebook import shown
from samecam.pages import duration

_EVERY = 0.2  # seconds between two changes of the line


def shown_progress(progress: Progress | None) -> Progress:
    """The progress that was given; if none was, a line in a notebook, and nothing elsewhere."""
    if progress is not None:
        return progress
    return _Line() if in_notebook() else no_progress


def in_notebook() -> bool:
    """Whether this process is the kernel of a notebook: IPython that speaks to a page."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else getattr(ipython, "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None


class _Line:
    """The phase, how much of it is done, and how long the rest will take."""

    def __init__(self) -> None:
        self._phase, self._began, self._told, self._first = "", 0.0, 0.0, 0
        self._handle: Any = None

    def __call__(self, phase: str, done: int, total: int) -> None:
        """As `Progress`."""
        now = time.monotonic()
        if phase != self._phase:
            self._phase, self._began, self._first = phase, now, done
        elif done < total and now - self._told < _EVERY:
            return
        self._told = now
        words = f"{shown(phase[:1].upper() + phase[1:])}: {done} of {total}"
        if self._first < done < total:
            rest = (now - self._began) * (total - done) / (done - self._first)
            words += f", about {duration(rest)} left"
        self._show(words, done, total)

    def _show(self, words: str, done: int, total: int) -> None:
        from IPython.display import display

        bar = f'<progress value="{done}" max="{max(total, 1)}"></progress>'
        content = {"text/plain": words, "text/html": f"{bar} {escape(words)}"}
        if self._handle is None:
            self._handle = display(content, raw=True, display_id=True)
        else:
            self._handle.update(content, raw=True)
