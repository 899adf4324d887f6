"""The tables of docs/method.md on the default, from `benchmarks.consolidated` and others."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks import record
from samecam.pages import Page, fill, table

Row = Mapping[str, Any]
WHOLE = "photographs, whole frame"
PARTS = ("8 each", "half")
KINDS = {"2bits": "two bits", "bits": "one bit", "int8": "bytes"}


def number(value: float) -> str:
    """Three digits without the nought."""
    return f"{value:.3f}".removeprefix("0")


def score(rows: Sequence[Row]) -> str:
    """F (P, R), means over some rows."""
    f, p, r = (number(fmean(row[key] for row in rows)) for key in "FPR")
    return f"{f} ({p}, {r})"


def groups(rows: Sequence[Row]) -> str:
    """How many there are."""
    counts = [row["clusters"] for row in rows]
    if len(rows) == 1:
        return f"{counts[0]} of {rows[0]['cameras']}"
    return f"{min(counts)} – {max(counts)}"


def photographs(rows: Sequence[Row]) -> list[list[str]]:
    """Lines of the real photographs: all of them, eight of each camera, half of them."""
    lines = []
    whole = chosen(rows, WHOLE)
    if whole:
        lines.append([f"{WHOLE} (default; 1024×1024)", score(whole), groups(whole)])
    for part in PARTS:
        some = chosen(rows, f"{WHOLE}, {part}, ", start=True)
        if some:
            lines.append([f"{WHOLE}, {part}", score(some), groups(some)])
    return lines


def chosen(rows: Sequence[Row], name: str, *, start: bool = False) -> list[Row]:
    """Rows of a set, or of those whose names begin so, at the usual rate of joining."""
    return [
        row
        for row in rows
        if row["join_rate"] == 0.01
        and (row["set"].startswith(name) if start else row["set"] == name)
    ]


def simulated(rows: Sequence[Row]) -> Iterable[list[str]]:
    """Lines of the simulated sets."""
    for shape in ("60 × 10–50", "120 × 5–15"):
        for pair, where in (((0.01, 0.03), ""), ((0.002, 0.005), ", 12 megapixels")):
            means = [chosen(rows, f"{shape}, m = {m}, ", start=True) for m in pair]
            if all(means):
                cells = " / ".join(number(fmean(row["F"] for row in some)) for some in means)
                both = " / ".join(str(m).removeprefix("0") for m in pair)
                yield [f"{shape}, m = {both}{where}", cells, ""]
    many = [row for m in (0.01, 0.02, 0.03) for row in chosen(rows, f"400 × 10–50, m = {m}")]
    if many:
        scores = " / ".join(number(row["F"]) for row in many)
        counts = " / ".join(str(row["clusters"]) for row in many)
        name = "400 × 10–50, m = .01 / .02 / .03"
        yield [name, scores, counts]
    for row in chosen(rows, "74 × 83–340, m = 0.02"):
        yield ["74 × 83–340, m = .02", number(row["F"]), groups([row])]
    for row in chosen(rows, "20 × 50 and 50 strangers"):
        yield ["20 × 50 and 50 strangers", score([row]), f"{row['clusters']}"]
    noise = chosen(rows, "noise, ", start=True)
    if noise:
        photos = f"noise, {noise[0]['images']:,} photos"
        together = sum(row["images"] - row["unclustered"] for row in noise)
        counts = str(max(row["clusters"] for row in noise))
        yield [photos, f"{together} photos in groups" if together else "nothing", counts]


def speed(load: Callable[[str], Mapping[str, Any]]) -> str:
    """Whole frames of 12 megapixels: correlations, rows on a GPU, memory."""
    lines = [
        correlations(load("bits")["result"]),
        on_gpu({2: load("gpu.bits.two_bits")["result"], 1: load("gpu.bits")["result"]}),
        rows_on_gpu(load("gpu.frames")["result"]),
        one_frame(load("frames")),
    ]
    names = ("bits", "gpu.bits.two_bits", "gpu.frames", "frames")
    made = [f"[`{name}`](../benchmarks/results/{name}.json)" for name in names]
    cells = [[*line, link] for line, link in zip(lines, made, strict=True)]
    return table(["what", "figure", "made by"], cells)


def one_frame(document: Mapping[str, Any]) -> tuple[str, str]:
    memory = document["result"]["memory"]
    size = [row["width"] * row["height"] / 1e6 for row in (memory[0], memory[-1])]
    above = [row["above_a_tiny_one"] / 1e6 for row in (memory[0], memory[-1])]
    return (
        f"memory for a photo of {size[0]:.0f}, of {size[1]:.0f} megapixels",
        f"{above[0]:.0f} MB, {above[1]:.0f} MB",
    )


def correlations(result: Mapping[str, Any]) -> tuple[str, str]:
    two, one = (result[name][0] for name in ("gram of two bits", "gram"))
    said = [
        f"{name} {row['seconds']['bits']:.2g} s (**{row['ratio']:.0f}×**)"
        for name, row in (("two bits", two), ("one bit", one))
    ]
    return (
        f"correlations of {two['photos']} rows of 12 megapixels, one core",
        f"float32 {two['seconds']['float32']:.2g} s; {', '.join(said)}",
    )


def on_gpu(results: Mapping[int, Mapping[str, Any]]) -> tuple[str, str]:
    said = [
        f"{'two bits' if bits == 2 else 'one bit'} {one['from_the_host']['seconds']:.2g} s"
        for bits, one in results.items()
    ]
    return "2,048 such rows on an H200", ", ".join(said)


def rows_on_gpu(result: Mapping[str, Any]) -> tuple[str, str]:
    best = {
        words: max((row["a_second"] for row in result["groups"] if row["dtype"] == kind), default=0)
        for kind, words in KINDS.items()
    }
    said = [f"{rate:.0f} of {words}" for words, rate in best.items() if rate]
    return "rows a second on an H200, after decoding", ", ".join(said)


def generated(document: Mapping[str, Any]) -> dict[str, str]:
    """Every part of the page that is made here, by the name of its marker."""
    rows = document["result"]
    lines = [*photographs(rows), *simulated(rows)]
    head = ["set", "F (P, R)", "groups"]
    return {"consolidated": table(head, lines), "speed": speed(record.load)}


PAGE = Page(
    Path(__file__).parent.parent / "docs" / "method.md",
    "python -m benchmarks.pages",
    lambda text: fill(text, generated(record.load("consolidated"))),
)
