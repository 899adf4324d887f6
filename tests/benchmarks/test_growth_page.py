"""docs/cost.md: laws, tables and sentences from what benchmarks/results/growth.json holds."""

import math

import pytest

from benchmarks import growth_limits, growth_page, growth_plot, record, scale_page
from benchmarks.growth_limits import Measured
from samecam.pages import digest, digest_in

WHOLE = growth_page.runs_of(record.load("growth"))


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


def test_plot_is_of_the_figures_and_shows_every_phase_with_its_exponent():
    svg = growth_page.PLOT.read_text(encoding="utf-8")
    assert digest_in(svg) == digest(WHOLE), "draw it again: python -m benchmarks.growth_page"
    for name in growth_page.devices(WHOLE):
        for phase, power in growth_page.exponents(WHOLE[name]).items():
            assert f"{growth_page.NAMES[phase]}, n^{power:.2f}" in svg
        assert growth_page.where(WHOLE[name]) in svg


def test_figures_name_what_is_needed_to_make_them_again():
    for name in growth_page.devices(WHOLE):
        assert {"commit", "versions", "device", "processor", "threads", "seed"} <= set(WHOLE[name])
        assert all(row["lasso"]["converged"] for row in WHOLE[name]["rows"])


def test_figures_may_stand_in_the_result():
    """As they do now; at first they stood beside the settings."""
    flat = document(**LAWS)
    kept = {key: flat[key] for key in ("rows", "rates", "extraction", "left_out")}
    nested = {key: value for key, value in flat.items() if key not in kept} | {"result": kept}
    ways = [growth_page.runs_of({"cpu": run})["cpu"] for run in (flat, nested)]
    assert growth_page.tables({"cpu": ways[0]}) == growth_page.tables({"cpu": ways[1]})


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
    lines = growth_page.device_table(made).splitlines()
    assert lines[4].endswith("| – |")
    assert lines[4].startswith("| 8,000 | 80 | 6.4 |")
    assert lines[5] == "| **exponent** | **1.00** | **2.00** | **2.60** | **2.00** | **2.00** |"
    assert lines[6] == "| times the floor | 10 | 2.0 | 2.0 | 2.0 | 2.0 |"


def test_table_has_every_other_size_and_the_largest():
    lines = growth_page.device_table(document(sizes=(500, 1000, 2000, 4000), **LAWS)).splitlines()
    assert [line.split(" | ")[0] for line in lines[2:4]] == ["| 1,000", "| 4,000"]


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


FRAMES = {
    "cpu": growth_limits.Frames(rate=1e10, peak=0.01, comparing=2.0, photos=1000, cores=2),
    "gpu": growth_limits.Frames(rate=1e12, peak=0.002, comparing=0.5, photos=1000, cores=16),
}


# G groups: .03 G + .002 G² seconds of searching, .3 of a fit.
VIEWS = [
    {"groups": n, "coarse": {"wall": 0.03 * n + 0.002 * n**2, "processor": 0.0},
     "fit": {"wall": 0.9, "processor": 0.0},
     "searches": [{"pairs": n * (n - 1) // 2, "fits": 3, "links": 0}]}
    for n in (4, 8)
]  # fmt: skip


def machines(cpu=None, gpu=None, frames=FRAMES, views=VIEWS):
    cpu, gpu = cpu or document(device="cpu", **LAWS), gpu or document(**LAWS)
    return Measured(cpu, gpu, frames, dict.fromkeys(frames, views), core_rate=4).machines()


@pytest.mark.parametrize("hours", growth_limits.HOURS)
@pytest.mark.parametrize("frames", growth_limits.FRAMES)
def test_largest_collection_just_fits_into_the_time(hours, frames):
    for machine in machines():
        n = machine.largest(hours, frames)
        assert machine.seconds(n, frames) <= 3600 * hours
        more = machine.seconds(1.12 * n, frames)
        assert more > 3600 * hours
        # Infinite only because correlations no longer fit.
        assert math.isinf(more) == (1.12 * n / frames > machine.together())


def test_seconds_of_a_machine_by_hand():
    laptop = machines()[0]
    m = 10_000
    frame = m * (m + 1) / 2 * 187_500 / 1e10 + 1e-9 * m**2.6 + 1e-8 * m**2
    assert laptop.grouping(3 * m, 3) == pytest.approx(3 * frame)
    assert laptop.joining(3 * m) == pytest.approx(30 + 2000 + 300 * 0.3)  # 300 fits at most
    assert laptop.after(3 * m, 3) == pytest.approx(3 * m * 0.01 + 3 * 2.0 * 100)
    beside = laptop.grouping(3 * m, 3) + laptop.joining(3 * m) + laptop.after(3 * m, 3)
    assert laptop.seconds(3 * m, 3) == pytest.approx(3 * m / 8 + beside)
    assert laptop.together() == pytest.approx(math.sqrt(4e9 / 6), rel=0.01)
    assert math.isinf(laptop.seconds(3 * 26_000, 3))


def test_each_machine_has_views_of_its_own():
    """Laptop: more than a run allows, so as much as that; workstation: as measured."""
    slow = [row | {"coarse": {"wall": 100.0 * row["groups"], "processor": 0.0}} for row in VIEWS]
    both = {"cpu": slow, "gpu": VIEWS}
    measured = Measured(document(device="cpu", **LAWS), document(**LAWS), FRAMES, both, 4)
    laptop, workstation = (machine.joining(300) for machine in measured.machines())
    fits = 4.5 * 0.3  # one in ten of 45 pairs
    allowed = 4 / 3 * (12 + 300 * (0.03 + 0.011 * 12)) / 2
    assert (laptop, workstation) == (pytest.approx(allowed + fits), pytest.approx(0.5 + fits))


def test_rates_of_frames_are_those_that_were_measured():
    row = {"photos": 100, "phases": {"Correlating": 2.0, "Grouping": 9.0}}
    rows = [row | {"evidence": {"comparing": 3.0, "peaks": 4.0}}] * 2
    measured = {"result": {"frames": rows}, "settings": {"pixels": 6400}, "cores": 5}
    assert growth_limits.Frames.of(measured) == growth_limits.Frames(
        rate=2 * 5050 * 100 / 4, peak=8 / 200, comparing=3.0, photos=100, cores=5
    )


def test_nothing_is_said_of_a_gpu_that_was_not_measured():
    cpu, only = document(device="cpu", **LAWS), {"cpu": FRAMES["cpu"]}
    gpu, torch = document(**LAWS), document(device="torch-cpu", **LAWS)
    both = dict.fromkeys(FRAMES, VIEWS)
    for count, card, frames, views in (
        (2, gpu, FRAMES, both),
        (1, gpu, only, both),
        (1, gpu, FRAMES, {"cpu": VIEWS}),
        (1, torch, FRAMES, both),
        (1, None, FRAMES, both),
    ):
        measured = Measured(cpu, card, frames, views, 4)
        assert len(measured.machines()) == count
        assert len(growth_limits.practical_table(measured)) == 2 + count


def test_views_that_are_not_looked_for_cost_nothing():
    both = dict.fromkeys(FRAMES, VIEWS)
    measured = Measured(document(device="cpu", **LAWS), document(**LAWS), FRAMES, both, 4)
    plain = measured.without_views().machines()
    for machine, without in zip(measured.machines(), plain, strict=True):
        spared = machine.seconds(9000, 12) - without.seconds(9000, 12)
        assert spared == pytest.approx(machine.joining(9000))
        assert spared > 0


def test_frames_of_the_default_are_named():
    row = {"photos": 9, "phases": {"Correlating": 2.0}}
    result = {"frames": [row], "seconds": 5.0, "evidence_seconds": 7.0, "host_bytes": 3e9,
              "device_bytes": None, "device": "cpu", "f": 0.5}  # fmt: skip
    told = {"cores": 2, "processor": "P", "result": result}
    runs = [told | {"settings": {"bits": bits}} for bits in (2, 1)]
    lines = growth_page.frames_table(runs).splitlines()
    assert lines[2] == "| 2 cores (P) | 2 (default) | 2.0 s | 3.0 s | 7.0 s | 3.0 GB | 0.500 |"
    assert lines[3].startswith("| 2 cores (P) | 1 | ")


def test_both_devices_are_in_the_page_when_both_were_measured():
    both = {"cpu": document(device="cpu", **LAWS), "gpu": document(**LAWS)}
    parts, svg = growth_page.generated(both), growth_plot.plot(both)
    for words in (parts["table"], parts["dominates"], svg):
        assert "Card" in words
        assert "2 cores (P)" in words
    gram = parts["operations"].splitlines()[2]
    assert gram == "| Gram | n² | n²d | n²d | 6.4·10⁷ | 4.2·10¹² | 6.4·10⁷ |"
    assert "one Card" in parts["practical"]
    assert svg == growth_plot.plot(both)


def test_evidence_and_report_that_were_not_measured_are_said_not_to_be():
    cpu = document(device="cpu", **LAWS)
    lines = growth_page.device_table(cpu).splitlines()
    assert lines[0].endswith("| LS-SSC | evidence | report |")
    assert lines[5].endswith("| not measured | not measured | not measured |")


AFTER = {"evidence": (1e-8, 2.0), "report": (1e-4, 1.0)}


def test_evidence_and_report_have_a_law_of_their_own():
    cpu = document(device="cpu", **LAWS, **AFTER)
    for row in cpu["rows"]:
        del row["report"]["floor"], row["report"]["operations"]
    lines = growth_page.device_table(cpu).splitlines()
    assert lines[4].endswith("| 0.64 | 0.80 |")
    assert lines[5].endswith("| **2.00** | **1.00** |")
    assert lines[6].endswith("| 2.0 | – |")
    assert growth_plot.plot({"cpu": cpu}).count("report, n^1.00") == 1


def test_the_report_is_in_the_time_of_a_collection():
    """By the law of the processor, whatever groups."""
    more = document(device="cpu", **LAWS, **AFTER)
    for before, after in zip(machines(), machines(cpu=more), strict=True):
        assert after.seconds(9000, 12) - before.seconds(9000, 12) == pytest.approx(0.9)


def test_a_phase_of_the_processor_is_no_column_of_a_gpu():
    gpu = document(**LAWS)
    assert "evidence" not in growth_page.device_table(gpu)


def test_whole_runs_are_told_with_what_they_ran_on():
    phases = {"extract": 30.0, "cluster": 600.0, "evidence": 7.0}
    right = {"F": 0.9, "P": 0.99, "R": 0.8, "memory": 2e9}
    run = {"seconds": 700.0, "phases": phases, "photos": 2000, "on": "cpu", **right}
    other = {**run, "photos": 100000, "on": "cuda:0 (NVIDIA H200)"}
    other |= {"cores": 16, "gpu_memory": 31e9}
    runs = {"100000 rows, cuda": other, "2000 files, cpu, bits": run}
    lines = scale_page.scale_table({"cores": 5, "result": runs}).splitlines()[2:]
    assert lines == [
        "| 2,000 files, `--dtype bits` | 5 cores | 12 minutes | 30 s | 10 minutes | 7 s | 2.0 GB "
        "| 0.900 (0.990, 0.800) |",
        "| 100,000 rows | 16 cores, NVIDIA H200 | 12 minutes | 30 s | 10 minutes | 7 s "
        "| 2.0 GB, GPU 31.0 GB | 0.900 (0.990, 0.800) |",
    ]
