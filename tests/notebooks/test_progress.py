"""A line of progress in a notebook, where nobody asked for one; nothing anywhere else."""

import sys
import types

import pytest

from samecam import simulate_photos
from samecam.compute import _notebook, no_progress, shown_progress


class Shown:
    """What a notebook was told to show."""

    def __init__(self):
        self.first, self.later = [], []

    def display(self, content, *, raw, display_id):
        assert raw
        assert display_id is True
        self.first.append(content)
        return self

    def update(self, content, *, raw):
        assert raw
        self.later.append(content)

    @property
    def words(self):
        return [content["text/plain"] for content in (*self.first, *self.later)]


def pretend(monkeypatch, kernel):
    """IPython as if it were there; `kernel`: of its shell."""
    seen = Shown()
    ipython, display = types.ModuleType("IPython"), types.ModuleType("IPython.display")
    ipython.get_ipython = lambda: types.SimpleNamespace(kernel=kernel)
    ipython.display, display.display = display, seen.display
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    return seen


@pytest.fixture
def notebook(monkeypatch):
    return pretend(monkeypatch, kernel=object())


def test_nothing_changes_elsewhere(monkeypatch):
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    assert shown_progress(None) is no_progress
    pretend(monkeypatch, kernel=None)  # a terminal
    assert shown_progress(None) is no_progress
    monkeypatch.setitem(sys.modules, "IPython", None)
    assert shown_progress(None) is no_progress


def test_what_was_given_is_taken(notebook):
    def mine(*_):
        pass

    assert shown_progress(mine) is mine
    assert shown_progress(no_progress) is no_progress
    assert notebook.words == []


def test_one_line_says_how_long_the_rest_takes(notebook, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(_notebook.time, "monotonic", lambda: now[0])
    progress = shown_progress(None)
    for done, seconds in ((0, 0), (10, 5), (10.5, 0.1), (40, 15)):
        now[0] += seconds
        progress("Extracting", int(done), 40)
    progress("grouping", 0, 3)
    assert notebook.words == [
        "Extracting: 0 of 40",
        "Extracting: 10 of 40, about 15 s left",
        "Extracting: 40 of 40",
        "Grouping: 0 of 3",
    ]
    assert len(notebook.first) == 1
    assert '<progress value="10" max="40"></progress>' in notebook.later[0]["text/html"]


def test_what_was_done_before_does_not_count(notebook, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(_notebook.time, "monotonic", lambda: now[0])
    progress = shown_progress(None)
    progress("Extracting", 30, 40)
    now[0] += 10
    progress("Extracting", 35, 40)
    assert notebook.words == ["Extracting: 30 of 40", "Extracting: 35 of 40, about 10 s left"]


def test_a_phase_is_text(notebook):
    shown_progress(None)("<b>\udcff", 0, 0)
    (content,) = notebook.first
    assert "<b>" not in content["text/html"]
    content["text/html"].encode("utf-8")


def test_simulating_shows_it_too(notebook, tmp_path):
    simulate_photos(tmp_path / "made", cameras=1, images=2, size=(64, 64), workers=1)
    assert notebook.words[-1] == "Simulating: 2 of 2"
