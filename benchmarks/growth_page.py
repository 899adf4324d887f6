"""The tables and sentences of docs/cost.md, from two runs of `benchmarks.growth`.

python -m benchmarks.growth_page cpu.json gpu.json      # writes results/growth.json as well
python -m benchmarks.growth_page cpu.json               # the processor alone
python -m benchmarks.growth_page                        # from results/growth.json
"""

import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import record
from benchmarks.growth_limits import (
    AFTER,
    PHASES,
    Frames,
    Measured,
    laws,
    practical_table,
)
from benchmarks.scale_page import scale_table
from samecam.pages import Page, bullets, fill, power_of_ten, read_json, significant, table

DOCS = Path(__file__).parent.parent / "docs"
PLOT = DOCS / "img" / "growth.svg"
NAMES = {
    "extraction": "extraction",
    "gram": "Gram",
    "lasso": "LASSO",
    "consolidation": "consolidation",
    "ls_ssc": "LS-SSC",
    "evidence": "evidence",
    "report": "report",
}
DEVICES = ("cpu", "gpu")
ITERATIONS = 12  # T₁ of ADMM, measured
# Runs of whole frames, and bits a pixel of the default at their size.
FRAME_RUNS, DEFAULT_BITS = ("many_frames", "many_frames.one_bit"), 2
NOT_MEASURED = "not measured"
Run = Mapping[str, Any]
Figures = Mapping[str, Any]


def runs_of(document: Mapping[str, Any]) -> dict[str, Run]:
    """Runs by device; figures that stand in "result", as they did not at first, beside the rest."""
    runs = {name: document[name] for name in DEVICES if name in document}
    return {name: {**run, **run.get("result", {})} for name, run in runs.items()}


def devices(runs: Mapping[str, Run]) -> list[str]:
    """Those that were measured."""
    return [name for name in DEVICES if name in runs]


def phases_of(run: Run) -> list[str]:
    """Phases that run on a device: what comes after grouping does on the processor alone."""
    return [phase for phase in NAMES if run["device"] == "cpu" or phase not in AFTER]


def measured(run: Run, phase: str) -> list[tuple[int, Figures]]:
    """(n, figures) of the sizes at which a phase was measured; extraction is drawn from two."""
    if phase == "extraction":
        one = run["extraction"]
        return [
            (row["n"], {"seconds": row["n"] * one["seconds_a_photo"],
                        "floor": row["n"] * one["floor_a_photo"],
                        "operations": row["n"] * one["operations_a_photo"]})
            for row in run["rows"]
        ]  # fmt: skip
    return [(row["n"], row[phase]) for row in run["rows"] if phase in row]


def exponents(run: Run) -> dict[str, float]:
    """Fitted exponent of the seconds of each phase."""
    fitted = {phase: power for phase, (_, power) in laws(run).items()}
    return {"extraction": run["extraction"]["exponent"], **fitted}


def where(run: Run) -> str:
    """The device, as the table names it."""
    if run["device"] == "cpu":
        return f"{run['threads']} cores ({run['processor']})"
    if not run["device"].startswith("cuda"):
        return "the processor by the GPU's code, no GPU"
    return str(run["device"].partition("(")[2].rstrip(")"))


def device_table(run: Run) -> str:
    """One device: seconds by every other size, then exponents and share of the floor."""
    phases, powers = phases_of(run), exponents(run)
    columns = {phase: dict(measured(run, phase)) for phase in phases}
    rows = [
        [f"{row['n']:,}", *(cell(columns[phase].get(row["n"])) for phase in phases)]
        for row in run["rows"][::-2][::-1]
    ]
    rows.append(["**exponent**", *(power_cell(powers, columns, phase) for phase in phases)])
    ends = [max(columns[p].items(), default=(0, {}), key=lambda pair: pair[0])[1] for p in phases]
    shares = [significant(e["seconds"] / e["floor"]) if "floor" in e else "–" for e in ends]
    rows.append(["times the floor", *shares])
    return table(["n", *(NAMES[phase] for phase in phases)], rows)


def power_cell(powers: Mapping[str, float], columns: Mapping[str, Any], phase: str) -> str:
    """The exponent; or that there is none, or that nothing was measured at all."""
    if phase in powers:
        return f"**{powers[phase]:.2f}**"
    return "–" if columns[phase] else NOT_MEASURED


def cell(figures: Figures | None) -> str:
    """Seconds."""
    return "–" if figures is None else significant(figures["seconds"])


def tables(runs: Mapping[str, Run]) -> str:
    """Both devices, one after the other."""
    return "\n".join(
        f"Seconds on **{where(runs[name])}**:\n\n{device_table(runs[name])}\n"
        for name in devices(runs)
    )


def printed(phase: str, n: float, figures: Figures, d: float) -> tuple[float, float]:
    """Operations by the paper's formula as printed, and as corrected."""
    t = ITERATIONS
    if phase == "gram":
        return n**2, d * n**2
    if phase == "lasso":
        return n**3 / 3 + 3 * t * n**2, n**3 / 3 + 2 * t * n**3
    if phase == "consolidation":
        return n**3, n**3
    p, groups = n / 2, figures["groups"]
    tail = groups**2 * math.log(max(groups, 2))
    batch = p**3 / 3 + (3 * t + math.log(p) + 1) * p**2
    right = p**3 / 3 + 2 * t * p**3 + (math.log(p) + 1 + d) * p**2
    return 1.5 * 2**2 * batch + tail, 1.5 * 2 * right + tail


FORMULAS = {
    "gram": ("n²", "n²d", "n²d"),
    "lasso": ("n³/3 + 3T₁n²", "n³/3 + 2T₁n³", "2Σ s_i w_i² + 2Σ r_i z_i n (GPU: 2Σ r_i n²)"),
    "consolidation": (
        "n³ + T₂κ²n (eigenvectors, k-means)",
        "the same",
        "2n² + 2n·moves + 9nL·sweeps + nL·merges",
    ),
    "ls_ssc": (
        "1.5B²[p³/3 + (3T₁ + log p + 1)p²] + L² log L + UL log U",
        "1.5B[p³/3 + 2T₁p³ + (log p + 1)p² + p²d] + L² log L + UL log U",
        "Σ m²d + LASSO of the batches + Σ 2mLd + Σ 2L²d",
    ),
}


def operations(runs: Mapping[str, Run]) -> str:
    """The paper's formulas, as printed and corrected, beside what was counted on the processor."""
    run, lines, largest = runs["cpu"], [], 0
    for phase, formulas in FORMULAS.items():
        rows = measured(run, phase)
        if not rows:
            continue
        largest, figures = rows[-1]
        numbers = printed(phase, largest, figures, run["settings"]["pixels"])
        values = [power_of_ten(value) for value in (*numbers, figures["operations"])]
        lines.append([NAMES[phase], *formulas, *values])
    names = ("the paper", "corrected", "ours")
    head = ["phase", *names, f"n = {largest:,}: the paper", *names[1:]]
    return table(head, lines)


def dominates(runs: Mapping[str, Run]) -> str:
    """Which phase takes most, at the smallest and at the largest size, and when LASSO overtakes."""
    lines = []
    for name in devices(runs):
        run = runs[name]
        most = []
        for row in (run["rows"][0], run["rows"][-1]):
            shares = {phase: row[phase]["seconds"] for phase in PHASES}
            top = max(shares, key=lambda phase: shares[phase])
            share = shares[top] / sum(shares.values())
            most.append(f"{NAMES[top]} at n = {row['n']:,} ({share:.0%})")
        lines.append(f"{where(run)}: {', '.join(most)}. {overtaking(run)}")
    return bullets(lines)


def overtaking(run: Run) -> str:
    """The size from which LASSO takes longer than the Gram of 512², by their laws."""
    fitted = laws(run)
    (a, e), (b, f) = fitted["gram"], fitted["lasso"]
    a *= 512**2 / run["settings"]["pixels"]
    if f <= e:
        return "By the fitted laws LASSO grows no faster than the Gram."
    n = (a / b) ** (1 / (f - e))
    if n > 1e7:
        return "By the fitted laws LASSO stays below the Gram of 512² at every size in reach."
    return f"By the fitted laws LASSO passes the Gram of 512² at n = {max(n, 2):,.0f}."


def reading() -> str:
    """What a photo takes until it is a stored row."""
    result = record.load("extraction")["result"]
    whole, large, small = (result[name]["workers_2"] for name in ("whole", "1024", "512"))
    work = {name: f"{ms:.0f}" for name, ms in whole["ms_per_photo"].items()}
    squares = " or ".join(f"{one['whole_ms_per_photo']:.0f}" for one in (large, small))
    return (
        f"Reading a photo of 12 megapixels takes {whole['whole_ms_per_photo']:.0f} ms on 2 cores "
        f"(of a core: file {work['read']} ms, decoding {work['decode']}, residual "
        f"{work['residual']}, writing {work['write']}), a square of 1024² or 512² {squares} ms "
        "([figures](../benchmarks/results/extraction.json))."
    )


def core_rate() -> float:
    """Photos of 12 megapixels that one core makes whole-frame fingerprints of in a second."""
    result = record.load("extraction")["result"]
    return float(result["whole"]["workers_2"]["photos_per_second"] / 2)


def measured_on(name: str) -> dict[str, Any]:
    """What a benchmark wrote, on the processor and on a GPU."""
    names = {"cpu": name, "gpu": f"gpu.{name}"}
    there = {key: name for key, name in names.items() if (record.RESULTS / f"{name}.json").exists()}
    return {key: record.load(name) for key, name in there.items()}


def frames_table(documents: Sequence[Mapping[str, Any]]) -> str:
    """16,000 photos of 12 megapixels in 12 frames, frame by frame."""
    lines = []
    for document in documents:
        result, rows = document["result"], document["result"]["frames"]
        correlating = sum(row["phases"]["Correlating"] for row in rows)
        memory = f"{result['host_bytes'] / 1e9:.1f} GB"
        if result["device_bytes"]:
            memory += f", {result['device_bytes'] / 1e9:.1f} GB on the device"
        name = result["device"].partition("(")[2].rstrip(")")
        bits = document["settings"]["bits"]
        seconds = (correlating, result["seconds"] - correlating, result["evidence_seconds"])
        lines.append(
            [
                name or f"{document['cores']} cores ({document['processor']})",
                f"{bits} (default)" if bits == DEFAULT_BITS else str(bits),
                *(f"{significant(value)} s" for value in seconds),
                memory,
                f"{result['f']:.3f}",
            ]
        )
    head = ["on", "bits a pixel", "correlating", "LASSO, grouping", "evidence", "peak memory", "F"]
    return table(head, lines)


def limits(runs: Mapping[str, Run]) -> Measured:
    """What the largest collections are computed from."""
    frames = {name: Frames.of(run) for name, run in measured_on("many_frames").items()}
    views = {name: run["result"]["runs"] for name, run in measured_on("views").items()}
    return Measured(runs["cpu"], runs.get("gpu"), frames, views, core_rate())


def generated(document: Mapping[str, Any]) -> dict[str, str]:
    """Every part of the page that is made here, by the name of its marker."""
    runs = runs_of(document)
    collections = limits(runs)
    whole = [run for name in FRAME_RUNS for run in measured_on(name).values()]
    return {
        "table": tables(runs),
        "operations": operations(runs),
        "dominates": dominates(runs),
        "reading": reading(),
        "frames": frames_table(whole),
        "scale": scale_table(record.load("scale")),
        "practical": "\n".join(practical_table(collections)),
        "without": "\n".join(practical_table(collections.without_views())),
    }


README = Page(
    DOCS.parent / "README.md",
    "python -m benchmarks.growth_page",
    lambda text: fill(text, {"practical": generated(record.load("growth"))["practical"]}),
)
PAGE = Page(
    DOCS / "cost.md",
    "python -m benchmarks.growth_page",
    lambda text: fill(text, generated(record.load("growth"))),
)


def join(files: Sequence[str]) -> dict[str, Any]:
    """Runs of the processor and of a GPU in one document."""
    names = [f"{name}.json" for name in DEVICES[: len(files)]]
    runs = [read_json(Path(file), "run python -m benchmarks.growth") for file in files]
    return {
        "benchmark": "growth",
        "command": " ".join(["python -m benchmarks.growth_page", *names]),
        **dict(zip(DEVICES, runs, strict=False)),
    }


def main(files: Sequence[str]) -> None:
    from benchmarks.growth_plot import plot

    path = record.RESULTS / "growth.json"
    if files:
        record.save(path, join(files))
    PAGE.write()
    PLOT.write_text(plot(runs_of(record.load("growth"))), encoding="utf-8")
    print(f"written: {path}, {PAGE.path}, {PLOT}")


if __name__ == "__main__":
    main(sys.argv[1:])
