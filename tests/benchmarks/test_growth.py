"""`benchmarks.growth`: what is timed, what is counted, and what is written down."""

import json
import subprocess
import sys

import numpy as np
import pytest

from benchmarks import growth, growth_after, growth_counting
from benchmarks import growth_phases as phases


def test_clock_expects_growth_and_keeps_the_limit():
    time = [0.0]
    clock = growth.Clock(100, now=lambda: time[0])
    assert clock.fits(10**9)
    clock.note(1000, 1.0)
    assert clock.expected(2000) == pytest.approx(4)
    clock.note(2000, 5.0)
    assert clock.expected(4000) == pytest.approx(25)
    clock.note(4000, 400.0)  # 6.3: held at 3
    assert clock.expected(8000) == pytest.approx(3200)
    clock.past = [(1000, 1.0), (2000, 1.0)]  # 0: held at 1.5
    assert clock.expected(4000) == pytest.approx(2**1.5)
    time[0] = 100 - 2**1.5 - 0.01
    assert clock.fits(4000)
    time[0] += 0.02
    assert not clock.fits(4000)


def test_measuring_needs_no_plots_no_pool_no_case_no_torch():
    code = (
        "import sys\n"
        "for name in ('matplotlib', 'pebble', 'samecam.case'):\n"
        "    sys.modules[name] = None\n"
        "import benchmarks.growth, benchmarks.growth_phases, benchmarks.record\n"
        "assert 'torch' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_cores_are_chosen_before_libraries_are_loaded():
    """BLAS asks once, when it is loaded, how many there are."""
    code = "import sys, benchmarks.growth\nassert 'numpy' not in sys.modules\n"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_pages_are_made_without_torch():
    code = (
        "import sys, benchmarks.pages as pages\n"
        "for page in pages.PAGES.values():\n"
        "    page.differences()\n"
        "assert 'torch' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


class TestCounting:
    """On small sets, against slow counting."""

    @pytest.fixture
    def place(self, device):
        return growth_counting.Place(device)

    MACHINE = {"gram": 1e9, "float32": 1e9, "bytes": 1e9}  # noqa: RUF012

    def test_whole(self, place):
        rows, truth = place.rows(250, 4096)
        row = phases.whole(place, rows, truth, self.MACHINE)
        assert (row["n"], row["cameras"]) == (250, 3)
        assert row["gram"]["operations"] == 250**2 * 4096
        assert row["gram"]["floor"] == pytest.approx(250**2 * 4096 / 1e9)
        assert row["lasso"]["converged"]
        assert row["consolidation"]["operations"] >= 2 * 250**2
        assert row["consolidation"]["groups"] <= row["consolidation"]["start_groups"]

    def test_evidence(self):
        place = growth_counting.Place("cpu")
        store, truth = place.rows(250, 32**2)
        figures = growth_after.measure_evidence(place, store, truth, 1 / 32, self.MACHINE)
        work = 2 * 250 * 3 * 1024 + 250 * 5 * 1024 * 10
        assert figures["operations"] == work
        assert figures["floor"] == pytest.approx(work / 1e9)
        assert (figures["groups"], figures["comparisons"]) == (3, 3)
        photos, groups = growth_after.weigh_evidence(store, truth, 1 / 32, 2**30)
        assert [group.size for group in groups] == [100, 100, 50]
        assert len(photos.correlation) == 250

    def test_reading_is_the_floor_of_evidence_where_it_takes_longer(self):
        place = growth_counting.Place("cpu")
        store, truth = place.rows(120, 16**2)
        slow = {**self.MACHINE, "bytes": 1e3}
        figures = growth_after.measure_evidence(place, store, truth, 1 / 16, slow)
        assert figures["floor"] == pytest.approx(4 * 120 * 256 / 1e3)

    def test_report(self):
        figures = growth_after.measure_report(growth_counting.Place("cpu"), 220)
        assert figures["groups"] == 3
        assert figures["bytes"] > 10_000
        assert figures["seconds"] > 0

    def test_lasso(self, place):
        from samecam import correlate
        from samecam.represent import represent

        rows, _ = place.rows(120, 2048)
        gram = correlate.gram_on(rows, memory=2**30, device=place.device)
        coefficients, figures = phases.lasso(place, gram, 0.04, self.MACHINE)
        C = represent(np.asarray(gram), 0.04).coefficients
        G, slow = np.asarray(gram), []
        for i in range(120):
            slow.append(sum(G[i, j] > 0.04 for j in range(120) if j != i))
        assert figures["candidates"] == pytest.approx(np.mean(slow))
        assert figures["nonzeros"] == pytest.approx(C.nnz / 120, abs=0.1)
        assert coefficients.nnz == pytest.approx(C.nnz, abs=5)
        least = 2 * sum(w**2 for w in slow)  # one sweep each
        assert figures["operations"] > least
        floor = max(2 * coefficients.nnz * 120 / 1e9, 4 * 120**2 / 1e9)
        assert figures["floor"] == pytest.approx(floor)

    def test_solver_operations_by_hand(self):
        from samecam.represent._lasso import LassoProblem, SolvedRows

        gram = np.array([[1, 0.5, 0.2], [0.5, 1, 0.4], [0.2, 0.4, 1]])
        task = LassoProblem(gram, 0.3, True, 1e-6, 9)  # candidates 1, 2, 1
        rounds, sweeps, lengths = np.array([2, 3, 1]), np.array([5, 7, 11]), np.array([1, 2, 0])
        none = np.empty(0)
        answer = None, SolvedRows(lengths, none, none, none, none, rounds, sweeps)
        descent = 2 * (5 * 1 + 7 * 4 + 11 * 1)
        sparse = 2 * 3 * (2 * 1 + 3 * 2 + 1 * 0)
        assert phases.hear_solver({}, False)(answer, (task, 2)) == descent + sparse
        assert phases.hear_solver({}, True)(answer, (task, "cuda")) == descent + 2 * 9 * 6

    def test_large_scale(self, place):
        from samecam.cluster.large_scale._source import RowSource

        plain = RowSource.gram
        rows, truth = place.rows(300, 4096)
        figures = phases.large_scale(place, rows, self.MACHINE, truth)
        assert RowSource.gram is plain
        assert figures["operations"] > 2 * 150**2 * 4096
        assert figures["floor"] == pytest.approx(300**2 * 4096 / 2 / 1e9)
        assert figures["groups"] == 3
        assert figures["f"] > 0.8

    def test_source_operations_by_hand(self):
        hears, labels = phases.source_hears(10), np.array([0, 0, 1, -1])
        assert hears["gram"](None, (None, np.arange(3))) == 9 * 10
        assert hears["products"](None, (None, np.arange(4), labels)) == 2 * 4 * 2 * 10 + 3 * 10
        assert hears["group_products"](None, (None, labels)) == 2 * 4 * 10 + 3 * 10

    def test_counting_takes_no_time_of_what_is_counted(self):
        import time
        from types import SimpleNamespace

        target, tally = SimpleNamespace(work=lambda: None), growth_counting.Tally()

        def slow(*_):
            time.sleep(0.2)
            return 3.0

        with growth_counting.listening(target, "work", slow, tally):
            _, seconds = growth_counting.timed(
                lambda: target.work(), growth_counting.Place("cpu"), tally
            )
        assert seconds < 0.1
        assert tally.operations == 3.0

    @pytest.mark.torch
    def test_extraction_is_linear(self, monkeypatch):
        place = growth_counting.Place("torch-cpu")
        taken = {2: 1.0, 6: 3.0}
        monkeypatch.setattr(phases, "extract_some", lambda *args: taken[args[1]])
        figures = phases.extraction(place, self.MACHINE, 2)
        assert figures["seconds_a_photo"] == pytest.approx(2 / 4)
        assert figures["exponent"] == pytest.approx(1)


def test_file_is_written_after_every_size(tmp_path, monkeypatch):
    seen = []

    def whole(*args):
        if len(args[1]) == 40:
            raise KeyboardInterrupt
        return {"n": len(args[1]), "gram": {"seconds": 1.0}}

    monkeypatch.setattr(phases, "warm", lambda *_: seen.append("warm"))
    monkeypatch.setattr(phases, "rates", lambda *_: {})
    monkeypatch.setattr(phases, "extraction", lambda *_: {})
    monkeypatch.setattr(phases, "whole", whole)
    out = tmp_path / "cpu.json"
    options = growth.asked(["--sizes", "40,20", "--pixels", "256", "--out", str(out)])
    with pytest.raises(KeyboardInterrupt):
        growth.run(options, {"threads": 1})
    assert [row["n"] for row in json.loads(out.read_text())["result"]["rows"]] == [20]
    assert seen == ["warm"]
