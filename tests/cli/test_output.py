"""How progress is shown: in a log, lines now and then; on a terminal, one bar a phase."""

import os
import pty
import subprocess
import sys

import pytest

from samecam.cli import _progress
from samecam.cli._progress import Phases


@pytest.fixture
def clock(monkeypatch):
    """A clock that tests move."""
    now = [100.0]
    monkeypatch.setattr(_progress.time, "monotonic", lambda: now[0])
    return now


def test_a_log_has_the_end_of_extracting_and_what_takes_long(clock, capsys):
    with Phases(quiet=False) as phases:
        phases("Measuring", 5, 5)
        phases.note("a plan")
        phases("Extracting", 0, 4)
        clock[0] += 2
        phases("Extracting", 2, 4)
        clock[0] += 2
        phases("Extracting", 4, 4)
        phases("Extracting", 4, 4)
        phases("partition", 1, 8)
        clock[0] += 11
        phases("partition", 2, 8)
        phases("partition", 3, 8)
        phases("partition", 8, 8)
    assert capsys.readouterr().err.splitlines() == [
        "a plan",
        "Extracting: 4/4 (100 %), 1 photo/s",
        "Partition: 25 %, 33 s left",
        "Partition: 100 %",
    ]


def test_quiet_is_quiet(capsys):
    with Phases(quiet=True) as phases:
        phases("Extracting", 4, 4)
    assert capsys.readouterr() == ("", "")


SCRIPT = """
from samecam.cli._progress import Phases
with Phases(quiet=False) as phases:
    phases("Measuring", 1, 2)
    phases.note("a plan")
    phases("Extracting", 1, 2)
    phases("merge", 1, 1)
"""


def test_a_terminal_has_a_bar_for_each_phase():
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT],
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm"},
    )
    os.close(theirs)
    shown = b""
    try:
        while part := os.read(ours, 4096):
            shown += part
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    assert process.wait(timeout=20) == 0
    text = shown.decode()
    for words in ("Measuring", "a plan", "Extracting", "Merge", "photos/s", "1/2"):
        assert words in text
