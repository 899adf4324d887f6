"""The tables of docs/method.md on the default, from `benchmarks.consolidated` and others."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks import record
from samecam.pages import Page, fill, power_of_ten, table

Row = Mapping[str, Any]
# Photographs: what the page calls them, and the sets.
PHOTOGRAPHS = {
    "whole frame (default; these are 1024×1024, a byte a pixel)": "whole frame",
    "1024² in colour": "1024², default",
    "512² in colour": "512², default",
    "512², paper's steps": "512², paper",
}
PARTS = ("8 each", "half")
KINDS = {"2bits": "two bits", "bits": "one bit", "int8": "bytes"}
# F (P) of what the method began as, by the names of the page.
PROTOTYPE = {
    "photographs, 1024² in colour": ".971 (1.000)",
    "photographs, 1024² in colour, 8 each": ".952 (1.000)",
    "photographs, 512² in colour": ".954 (1.000)",
    "photographs, 512² in colour, 8 each": ".902 (1.000)",
    "photographs, 512², paper's steps": ".951 (.993)",
    "60 × 10–50, m = .01 / .03": ".957 / .994",
    "120 × 5–15, m = .01 / .03": ".90 / .97",
    "400 × 10–50 (12,409 photos), m = .01 / .02 / .03": ".930 / .977 / .984",
    "74 × 83–340 (15,888 photos), m = .02": ".978",
}


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
    for name, of in PHOTOGRAPHS.items():
        whole = chosen(rows, f"photographs, {of}")
        if whole:
            lines.append([f"photographs, {name}", score(whole), groups(whole)])
        for part in PARTS if "paper" not in of else ():
            some = chosen(rows, f"photographs, {of}, {part}, ", start=True)
            if some:
                short = name.partition(" (")[0]
                lines.append([f"photographs, {short}, {part}", score(some), groups(some)])
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
        means = [chosen(rows, f"{shape}, m = {m}, ", start=True) for m in (0.01, 0.03)]
        if all(means):
            cells = " / ".join(number(fmean(row["F"] for row in some)) for some in means)
            yield [f"{shape}, m = .01 / .03", cells, ""]
    many = [row for m in (0.01, 0.02, 0.03) for row in chosen(rows, f"400 × 10–50, m = {m}")]
    if many:
        scores = " / ".join(number(row["F"]) for row in many)
        counts = " / ".join(str(row["clusters"]) for row in many)
        name = f"400 × 10–50 ({many[0]['images']:,} photos), m = .01 / .02 / .03"
        yield [name, scores, counts]
    for row in chosen(rows, "74 × 83–340, m = 0.02"):
        name = f"74 × 83–340 ({row['images']:,} photos), m = .02"
        yield [name, number(row["F"]), groups([row])]
    for row in chosen(rows, "20 × 50 and 50 strangers"):
        cell = f"{score([row])}, {row['unclustered']} photos alone"
        yield ["20 × 50 and 50 strangers", cell, f"{row['clusters']}"]
    noise = chosen(rows, "noise, ", start=True)
    if noise:
        photos = f"noise, {noise[0]['images']:,} photos, {len(noise)} seeds"
        together = sum(row["images"] - row["unclustered"] for row in noise)
        counts = str(max(row["clusters"] for row in noise))
        yield [photos, f"{together} photos in groups" if together else "nothing", counts]


def speed(load: Callable[[str], Mapping[str, Any]]) -> str:
    """Whole frames of 12 megapixels: from the file to the row, and correlations."""
    lines = [
        extraction(load("extraction")),
        one_frame(load("frames")),
        correlations(load("bits")["result"]),
        on_gpu({2: load("gpu.bits.two_bits")["result"], 1: load("gpu.bits")["result"]}),
        rows_on_gpu(load("gpu.frames")["result"]),
    ]
    names = ("extraction", "frames", "bits", "gpu.bits.two_bits", "gpu.frames")
    made = [f"[`{name}`](../benchmarks/results/{name}.json)" for name in names]
    cells = [[*line, link] for line, link in zip(lines, made, strict=True)]
    return table(["what", "figure", "made by"], cells)


def bits(document: Mapping[str, Any]) -> str:
    """How many a pixel has; those that were measured first do not say that it is one."""
    return KINDS[document["settings"].get("dtype", "bits")]


def extraction(document: Mapping[str, Any]) -> tuple[str, str]:
    result = document["result"]
    whole = result["whole"]
    parts, square, small = (result[k]["workers_1"] for k in ("whole", "1024", "512"))
    work = parts["ms_per_photo"]
    steps = {"read": "read and hash", "decode": "decode and look over",
             "residual": "residual and bits", "write": "write"}  # fmt: skip
    said = ", ".join(f"{words} {work[name]:.1f}" for name, words in steps.items())
    ms = [one["whole_ms_per_photo"] for one in (parts, square, small)]
    rates = [whole[f"workers_{many}"]["photos_per_second"] for many in (1, 2)]
    return (
        f"12-megapixel JPEG to stored row, whole frame, {bits(document)}",
        f"{said} ms: {ms[0]:.0f} ms, {ms[0] / ms[1]:.2f} times the square of 1024² ({ms[1]:.0f} "
        f"ms; 512² {ms[2]:.0f} ms); {rates[0]:.0f} photos a second with 1 worker, "
        f"{rates[1]:.0f} with 2",
    )


def one_frame(document: Mapping[str, Any]) -> tuple[str, str]:
    result = document["result"]
    took = {name: row["processor_ms"] for name, row in result["times"].items()}
    rest = took["frame, sums alone"] + took["frame, quantising alone"]
    memory = [row["above_a_tiny_one"] / 1e6 for row in result["memory"]]
    largest = result["memory"][-1]["width"] * result["memory"][-1]["height"] / 1e6
    return (
        f"whole 12-megapixel frame in one process, {bits(document)}, processor time",
        f"{took['frame']:.0f} ms: decoding {took['frame, decoding alone']:.0f}, looking for damage "
        f"{took['frame, looking for damage alone']:.0f}, residual "
        f"{took['frame, residual alone']:.0f}, sums and bits {rest:.0f}; the square of 1024² in "
        f"colour {took['square']:.0f} ms; {memory[0]:.0f} MB above a tiny picture, "
        f"{memory[-1]:.0f} MB at {largest:.0f} megapixels",
    )


def correlations(result: Mapping[str, Any]) -> tuple[str, str]:
    two, one = (result[name][0] for name in ("gram of two bits", "gram"))
    said = [
        f"{name} {row['seconds']['bits']:.2g} s, **{row['ratio']:.0f}×** as fast"
        for name, row in (("two bits", two), ("one bit", one))
    ]
    floor = one["words_per_second_and_core"] / result["floors"]["cached_words_per_second"]
    return (
        f"correlations of {two['photos']} rows of 12 megapixels, one core",
        f"float32 `ssyrk` {two['seconds']['float32']:.2g} s; {', '.join(said)} "
        f"({floor:.0%} of the rate in the second cache)",
    )


def on_gpu(results: Mapping[int, Mapping[str, Any]]) -> tuple[str, str]:
    said = [
        f"{'two bits' if bits == 2 else 'one bit'} {one['from_the_device']['seconds']:.2g} s of "
        f"rows on the device ({power_of_ten(one['from_the_device']['words_per_second'])} words/s), "
        f"{one['from_the_host']['seconds']:.2g} s from the host's memory"
        for bits, one in results.items()
    ]
    return "the same on an H200, 2,048 rows", "; ".join(said)


def rows_on_gpu(result: Mapping[str, Any]) -> tuple[str, str]:
    best = {
        words: max((row["a_second"] for row in result["groups"] if row["dtype"] == kind), default=0)
        for kind, words in KINDS.items()
    }
    said = [f"{rate:.0f} of {words}" for words, rate in best.items() if rate]
    return (
        "whole frames of 12 megapixels on an H200, after decoding",
        f"rows a second: {', '.join(said)}",
    )


def generated(document: Mapping[str, Any]) -> dict[str, str]:
    """Every part of the page that is made here, by the name of its marker."""
    rows = document["result"]
    lines = [*photographs(rows), *simulated(rows)]
    cells = [[*line, PROTOTYPE.get(line[0], "")] for line in lines]
    head = ["set", "F (P, R)", "groups", "prototype F (P)"]
    return {"consolidated": table(head, cells), "speed": speed(record.load)}


PAGE = Page(
    Path(__file__).parent.parent / "docs" / "method.md",
    "python -m benchmarks.pages",
    lambda text: fill(text, generated(record.load("consolidated"))),
)
