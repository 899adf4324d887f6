"""Every benchmark runs from beginning to end at a tiny size, and its result can be read."""

import json
from importlib import import_module

import pytest

from benchmarks import (
    artefacts_page,
    calibration_page,
    consolidated_page,
    copies_page,
    dask_page,
    growth,
    growth_page,
    growth_plot,
    method_page,
    recompressed_page,
    record,
    review_page,
    rivals_page,
    soak_page,
)

# Arguments beside --quick and --out; SHARED stands for a folder of photographs.
SHARED = ("--shared", "SHARED")
QUICK = {
    "artefacts": SHARED,
    "bits": (),
    "calibration": SHARED,
    "cameras": (),
    "consolidated": SHARED,
    "consolidated_study": SHARED,
    "copies": SHARED,
    "damage": SHARED,
    "dask_tasks": (),
    "estimates": (),
    "extraction": (),
    "filters": SHARED,
    "frames": (),
    "gamma": (*SHARED, "--seeds", "1"),
    "gram": (),
    "large_scale": SHARED,
    "lasso": (),
    "many_frames": (),
    "matching": SHARED,
    "phases": (),
    "quantised": SHARED,
    "recompressed": SHARED,
    "residual": (),
    "review": (),
    "rivals": SHARED,
    "scale": (),
    "spectrum": SHARED,
    "stamps": SHARED,
    "start": (),
    "strangers": (),
    "twins": (),
    "views": (),
}
ON_GPU = {
    "gpu.bits": (),
    "gpu.extraction": (),
    "gpu.frames": (),
    "gpu.large": (),
    "gpu.lasso": (),
    "gpu.network": SHARED,
    "gpu.views": (),
}
SLOW = ("soak",)
# The page that shows a benchmark's figures.
PAGES = {
    "artefacts": artefacts_page,
    "calibration": calibration_page,
    "consolidated": method_page,
    "consolidated_study": consolidated_page,
    "copies": copies_page,
    "dask_tasks": dask_page,
    "recompressed": recompressed_page,
    "review": review_page,
    "rivals": rivals_page,
}


def ran(name, folder, *arguments):
    """What a benchmark writes into a folder."""
    module = import_module(f"benchmarks.{name}")
    module.main(["--quick", "--out", str(folder), *arguments])
    document = json.loads((folder / f"{name}.json").read_text())
    assert record.missing(document) == []
    assert document["benchmark"] == name
    assert document["command"] == f"python -m benchmarks.{name}"
    assert document["commit"]
    assert {"samecam", "python", "numpy", "numba", "scipy", "scikit-learn"} <= set(
        document["versions"]
    )
    assert document["result"]
    return document


def with_photographs(words, request):
    """Arguments with the folder of photographs; without it the test is skipped."""
    return [str(request.getfixturevalue("shared")) if w == "SHARED" else w for w in words]


@pytest.mark.parametrize("name", QUICK)
def test_a_benchmark_writes_what_can_be_read(name, tmp_path, request):
    document = ran(name, tmp_path, *with_photographs(QUICK[name], request))
    if name in PAGES:
        parts = PAGES[name].generated(document)
        assert all(body.strip() for body in parts.values())


@pytest.mark.slow
def test_the_soak_writes_what_can_be_read(tmp_path):
    document = ran("soak", tmp_path, "--work", str(tmp_path / "work"))
    total = document["result"]["total"]
    assert total["faults"] == 0
    tried = ("rounds", "mutated files", "kills", "decisions", "tampered cases")
    assert all(total[name] > 0 for name in tried)
    assert all(body.strip() for body in soak_page.generated(document).values())


@pytest.mark.torch
@pytest.mark.usefixtures("one_torch_thread")
@pytest.mark.parametrize("name", ON_GPU)
def test_a_benchmark_of_a_gpu_runs_without_one(name, tmp_path, request):
    given = ["--device", "torch-cpu", *with_photographs(ON_GPU[name], request)]
    document = ran(name, tmp_path, *given)
    assert "torch" in document["versions"]


def test_growth_is_measured_drawn_and_told(device, tmp_path):
    out = tmp_path / "cpu.json"
    growth.main(["--quick", "--device", device, "--out", str(out)])
    run = json.loads(out.read_text())
    assert record.missing(run) == []
    rows = run["result"]["rows"]
    assert [row["n"] for row in rows] == growth.QUICK_SIZES
    grouping = {"gram", "lasso", "consolidation", "ls_ssc"}
    after = {"evidence", "report"} if device == "cpu" else set()
    assert all(grouping | after == set(row) - {"n", "cameras"} for row in rows)
    document = growth_page.join([str(out)])
    parts = growth_page.generated(document)
    assert ("evidence" in parts["table"]) == (device == "cpu")
    assert "not measured" not in parts["table"]
    assert growth_plot.plot(growth_page.runs_of(document)).startswith("<?xml")


def test_every_benchmark_is_tried():
    """One that is added must be run here too."""
    folder = record.RESULTS.parent
    others = {"growth", "record", "photographs", "pictures", "pages"}
    modules = {
        ".".join(path.relative_to(folder).with_suffix("").parts)
        for path in folder.rglob("*.py")
        if "def main(" in path.read_text(encoding="utf-8")
    }
    pages = {name for name in modules if name.endswith("_page")}
    assert modules - pages - others == {*QUICK, *ON_GPU, *SLOW}


def test_a_quick_run_does_not_overwrite_what_was_measured(capsys):
    from benchmarks import residual

    path = record.RESULTS / "residual.json"
    before = path.read_bytes()
    residual.main(["--quick"])
    assert path.read_bytes() == before
    assert "not written" in capsys.readouterr().out


def test_parts_of_rivals_that_were_not_measured_are_kept(tmp_path):
    from benchmarks import rivals

    rivals.main(["--quick", "--out", str(tmp_path), "--only", "table"])
    rivals.main(["--quick", "--out", str(tmp_path), "--only", "twins"])
    rows = json.loads((tmp_path / "rivals.json").read_text())["result"]
    assert {row["part"] for row in rows} == {"table", "twins"}
