"""Methods compared in this process, for tests of something other than the processes."""

import sys
from subprocess import PIPE, TimeoutExpired
from types import SimpleNamespace
from unittest import mock

from samecam.compute import _alone


class _Here:
    """A process that has ended when it has been started: what it would do is done here."""

    stdin, returncode = None, 0

    def __init__(self, words, **_):
        with mock.patch.object(sys, "argv", ["-c", words[-1]]):
            _alone.child()

    def wait(self, _):
        return self.returncode

    def poll(self):
        return self.returncode


def compare_here(monkeypatch):
    """No method gets a process of its own: each takes more than a second to load."""
    here = SimpleNamespace(Popen=_Here, PIPE=PIPE, TimeoutExpired=TimeoutExpired)
    monkeypatch.setattr(_alone, "subprocess", here)
    monkeypatch.setattr(_alone, "_end_with_parent", lambda: None)
