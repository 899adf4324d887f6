"""docs/cost.md says what benchmarks/results/growth.json holds, and what is counted is right."""

import json
import math
import subprocess
import sys

import numpy as np
import pytest

from benchmarks import growth, growth_limits, growth_page

WHOLE = json.loads(growth_page.RESULT.read_text())


def document(sizes=(500, 1000, 2000, 4000, 8000), device="cuda:0 (Card)", **seconds):
    """A run in which phases follow the laws given, c·n^e, and operations grow as n²."""
    rows = [
        {"n": n, "cameras": n // 100}
        | {
            phase: {"seconds": c * n**e, "floor": c * n**e / 2, "operations": n**2, "groups": 9}
            for phase, (c, e) in seconds.items()
        }
        for n in sizes
    ]
    return {
        "device": device, "processor": "P", "threads": 2, "memory": 2e11, "rows": rows,
        "command": "c", "commit": "0", "versions": {}, "left_out": [],
        "settings": {"pixels": 65536}, "rates": {"float32": 1e11, "gram": 1e11, "bytes": 1e10},
        "extraction": {"seconds_a_photo": 0.01, "floor_a_photo": 0.001, "exponent": 1.0,
                       "operations_a_photo": 1e8},
    }  # fmt: skip


LAWS = {"gram": (1e-7, 2.0), "lasso": (1e-9, 2.6), "consolidation": (1e-8, 2.0)}


def test_page_is_made_from_the_figures():
    text = growth_page.PAGE.read_text(encoding="utf-8")
    assert growth_page.filled(text, growth_page.generated(WHOLE)) == text


def test_page_with_another_number_is_not():
    text = growth_page.PAGE.read_text(encoding="utf-8")
    other = json.loads(json.dumps(WHOLE))
    other["cpu"]["rows"][-1]["lasso"]["seconds"] *= 2
    assert growth_page.filled(text, growth_page.generated(other)) != text


def test_plot_shows_every_phase_with_its_exponent():
    svg = growth_page.PLOT.read_text(encoding="utf-8")
    for name in growth_page.devices(WHOLE):
        for phase, power in growth_page.exponents(WHOLE[name]).items():
            assert f"{growth_page.NAMES[phase]}, n^{power:.2f}" in svg
        assert growth_page.where(WHOLE[name]) in svg


def test_figures_name_what_is_needed_to_make_them_again():
    for name in growth_page.devices(WHOLE):
        assert {"commit", "versions", "device", "processor", "threads", "seed"} <= set(WHOLE[name])
        assert all(row["lasso"]["converged"] for row in WHOLE[name]["rows"])


def test_missing_marker_is_a_sentence():
    with pytest.raises(ValueError, match="pair of markers 'table'"):
        growth_page.filled("nothing", {"table": ""})


def test_exponent_is_that_of_the_upper_half():
    n = [500, 1000, 2000, 4000, 8000]
    seconds = [7.0, 7.0] + [3e-9 * size**2.4 for size in n[2:]]
    c, power = growth_limits.law(n, seconds)
    assert power == pytest.approx(2.4)
    assert c == pytest.approx(3e-9)
    assert growth_limits.law(n[:2], [1, 4])[1] == pytest.approx(2)
    assert growth_limits.law(n[::-1], seconds[::-1])[1] == pytest.approx(2.4)


def test_exponent_of_one_size_is_refused():
    with pytest.raises(ValueError, match="measure two or more"):
        growth_limits.law([500], [1.0])


def test_table_has_a_dash_where_nothing_was_measured():
    made = document(ls_ssc=(1e-6, 2.0), **LAWS)
    del made["rows"][-1]["ls_ssc"]
    lines = growth_page.table(made).splitlines()
    assert lines[6].endswith("| – |")
    assert lines[6].startswith("| 8,000 | 80 (8.0) | 6.4 (3.2) |")
    assert lines[7] == "| **exponent** | **1.00** | **2.00** | **2.60** | **2.00** | **2.00** |"
    assert lines[9] == "| their exponent | 1.00 | 2.00 | 2.00 | 2.00 | 2.00 |"
    assert lines[10] == "| times the floor, largest n | 10 | 2.0 | 2.0 | 2.0 | 2.0 |"


def test_formulas_of_the_paper_as_printed_and_corrected():
    n, d, t = 1000, 4096, growth_page.ITERATIONS
    assert growth_page.printed("gram", n, {}, d)[1] == d * n**2
    before, after = growth_page.printed("lasso", n, {}, d)
    assert before == pytest.approx(n**3 / 3 + 3 * t * n**2)
    assert after == pytest.approx(n**3 / 3 + 2 * t * n**3)
    before, after = growth_page.printed("ls_ssc", n, {"groups": 10}, d)
    p, tail = 500, 100 * math.log(10)
    assert before == pytest.approx(6 * (p**3 / 3 + (3 * t + math.log(p) + 1) * p**2) + tail)
    assert after == pytest.approx(
        3 * (p**3 / 3 + 2 * t * p**3 + (math.log(p) + 1 + d) * p**2) + tail
    )


def test_lasso_overtakes_the_gram_where_their_laws_meet():
    said = growth_page.overtaking(document(**LAWS))
    n = (4 * 1e-7 / 1e-9) ** (1 / 0.6)
    assert said.endswith(f"at n = {n:,.0f}.")
    flat = document(**(LAWS | {"lasso": (1e-9, 1.9)}))
    assert "no faster" in growth_page.overtaking(flat)


def test_largest_collection_just_fits_into_the_night():
    cpu = document(device="cpu", **LAWS)
    for machine in growth_limits.machines(cpu, document(**LAWS), core_rate=18):
        n = machine.largest()
        assert machine.seconds(n) <= 3600 * growth_limits.HOURS
        more = machine.seconds(1.12 * n)
        assert more > 3600 * growth_limits.HOURS
        # Infinite only because sums no longer fit.
        sums = growth_limits.SUM_BYTES * (1.12 * n) ** 2 / growth_limits.CAMERA
        assert math.isinf(more) == (sums > machine.memory)


def test_seconds_of_a_machine_by_hand():
    cpu = document(device="cpu", **LAWS)
    laptop = growth_limits.machines(cpu, document(**LAWS), core_rate=18)[0]
    n = 10_000
    whole = 4 * 1e-7 * n**2 + 1e-9 * n**2.6 + 1e-8 * n**2
    assert laptop.seconds(n) == pytest.approx(n / 36 + whole)
    n, p = 100_000, laptop.together()
    assert p == pytest.approx(math.sqrt(4e9 / 6), rel=0.01)
    batches = n / p * laptop.grouping(p) * 1.2
    refining = 12 * 2 * n * 1000 * 512**2 / 1e11
    assert laptop.seconds(n) == pytest.approx(n / 36 + batches + refining)


def test_nothing_is_said_of_a_gpu_that_was_not_measured():
    cpu = document(device="cpu", **LAWS)
    assert len(growth_limits.sentences(cpu, document(**LAWS), 18)) == 3
    assert len(growth_limits.sentences(cpu, document(device="torch-cpu", **LAWS), 18)) == 1
    assert len(growth_limits.sentences(cpu, None, 18)) == 1


def test_both_devices_are_in_the_page_when_both_were_measured():
    both = {"cpu": document(device="cpu", **LAWS), "gpu": document(**LAWS)}
    parts, svg = growth_page.generated(both), growth_page.plot(both)
    for words in (parts["table"], parts["dominates"], svg):
        assert "Card" in words
        assert "2 cores (P)" in words
    assert parts["operations"].count("GPU, n = 8,000") == 3
    assert "one Card" in parts["sentences"]
    assert svg == growth_page.plot(both)


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


@pytest.mark.torch
def test_measuring_needs_no_plots_no_pool_no_case():
    code = (
        "import sys\n"
        "for name in ('matplotlib', 'pebble', 'samecam.case', 'benchmarks.record'):\n"
        "    sys.modules[name] = None\n"
        "import benchmarks.growth, benchmarks.growth_phases\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.torch
class TestCounting:
    """On small sets, against slow counting."""

    @pytest.fixture(params=["cpu", "torch-cpu"])
    def place(self, request):
        from benchmarks import growth_phases

        return growth_phases.Place(request.param)

    FOUND = {"gram": 1e9, "float32": 1e9, "bytes": 1e9}  # noqa: RUF012

    def test_whole(self, place):
        from benchmarks import growth_phases as phases

        rows, truth = place.rows(250, 4096)
        row = phases.whole(place, rows, truth, self.FOUND)
        assert (row["n"], row["cameras"]) == (250, 3)
        assert row["gram"]["operations"] == 250**2 * 4096
        assert row["gram"]["floor"] == pytest.approx(250**2 * 4096 / 1e9)
        assert row["lasso"]["converged"]
        assert row["consolidation"]["operations"] >= 2 * 250**2
        assert row["consolidation"]["groups"] <= row["consolidation"]["start_groups"]

    def test_lasso(self, place):
        from benchmarks import growth_phases as phases
        from samecam import correlate
        from samecam.represent import represent

        rows, _ = place.rows(120, 2048)
        gram = correlate.gram_on(rows, memory=2**30, device=place.device)
        coefficients, figures = phases.lasso(place, gram, 0.04, self.FOUND)
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
        from benchmarks import growth_phases as phases
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
        from benchmarks import growth_phases as phases
        from samecam.cluster.large_scale._source import RowSource

        plain = RowSource.gram
        rows, truth = place.rows(300, 4096)
        figures = phases.large_scale(place, rows, self.FOUND, truth)
        assert RowSource.gram is plain
        assert figures["operations"] > 2 * 150**2 * 4096
        assert figures["floor"] == pytest.approx(300**2 * 4096 / 2 / 1e9)
        assert figures["groups"] == 3
        assert figures["f"] > 0.8

    def test_source_operations_by_hand(self):
        from benchmarks import growth_phases as phases

        hears, labels = phases.source_hears(10), np.array([0, 0, 1, -1])
        assert hears["gram"](None, (None, np.arange(3))) == 9 * 10
        assert hears["products"](None, (None, np.arange(4), labels)) == 2 * 4 * 2 * 10 + 3 * 10
        assert hears["group_products"](None, (None, labels)) == 2 * 4 * 10 + 3 * 10

    def test_counting_takes_no_time_of_what_is_counted(self):
        import time
        from types import SimpleNamespace

        from benchmarks import growth_phases as phases

        target, tally = SimpleNamespace(work=lambda: None), phases.Tally()

        def slow(*_):
            time.sleep(0.2)
            return 3.0

        with phases.listening(target, "work", slow, tally):
            _, seconds = phases.timed(lambda: target.work(), phases.Place("cpu"), tally)
        assert seconds < 0.1
        assert tally.operations == 3.0

    def test_extraction_is_linear(self, monkeypatch):
        from benchmarks import growth_phases as phases

        place = phases.Place("torch-cpu")
        taken = {2: 1.0, 6: 3.0}
        monkeypatch.setattr(phases, "extract_some", lambda *args: taken[args[1]])
        found = phases.extraction(place, self.FOUND, 2)
        assert found["seconds_a_photo"] == pytest.approx(2 / 4)
        assert found["exponent"] == pytest.approx(1)


@pytest.mark.torch
def test_file_is_written_after_every_size(tmp_path, monkeypatch):
    from benchmarks import growth_phases as phases

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
        growth.run(options, {"rows": [], "left_out": [], "threads": 1})
    assert [row["n"] for row in json.loads(out.read_text())["rows"]] == [20]
    assert seen == ["warm"]
