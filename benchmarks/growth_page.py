"""The table, the plot and the sentences of docs/cost.md, from two runs of `benchmarks.growth`.

python -m benchmarks.growth_page cpu.json gpu.json      # writes results/growth.json as well
python -m benchmarks.growth_page cpu.json               # the processor alone
python -m benchmarks.growth_page                        # from results/growth.json
"""

import json
import math
import re
import sys
from pathlib import Path

from benchmarks.growth_limits import PHASES, law, laws, sentences

HERE = Path(__file__).parent
RESULT = HERE / "results" / "growth.json"
PAGE = HERE.parent / "docs" / "cost.md"
PLOT = HERE.parent / "docs" / "img" / "growth.svg"
NAMES = {
    "extraction": "extraction",
    "gram": "Gram",
    "lasso": "LASSO",
    "consolidation": "consolidation",
    "ls_ssc": "LS-SSC",
}
DEVICES = ("cpu", "gpu")
ITERATIONS = 12  # T₁ of ADMM, measured
# Colours that people who see few colours can tell apart, and a mark each.
LOOKS = {
    "extraction": ("#999999", "X"),
    "gram": ("#0072B2", "o"),
    "lasso": ("#D55E00", "s"),
    "consolidation": ("#009E73", "D"),
    "ls_ssc": ("#CC79A7", "^"),
}


def devices(whole):
    """Those that were measured."""
    return [name for name in DEVICES if name in whole]


def measured(document, phase):
    """(n, figures) of the sizes at which a phase was measured; extraction is drawn from two."""
    if phase == "extraction":
        one = document["extraction"]
        return [
            (row["n"], {"seconds": row["n"] * one["seconds_a_photo"],
                        "floor": row["n"] * one["floor_a_photo"],
                        "operations": row["n"] * one["operations_a_photo"]})
            for row in document["rows"]
        ]  # fmt: skip
    return [(row["n"], row[phase]) for row in document["rows"] if phase in row]


def exponents(document):
    """Fitted exponent of the seconds of each phase."""
    found = {phase: power for phase, (_, power) in laws(document).items()}
    return {"extraction": document["extraction"]["exponent"], **found}


def where(document):
    """The device, in words of the table."""
    if document["device"] == "cpu":
        return f"{document['threads']} cores ({document['processor']})"
    if not document["device"].startswith("cuda"):
        return "the processor by the GPU's code, no GPU"
    return document["device"].partition("(")[2].rstrip(")")


def short(seconds):
    """Seconds to two or three figures."""
    if seconds == 0:
        return "0"
    digits = max(0, 1 - math.floor(math.log10(abs(seconds))))
    return f"{seconds:,.{min(digits, 9)}f}"


def power_of_ten(value):
    """1.2·10¹³."""
    high = math.floor(math.log10(value))
    raised = str(high).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{value / 10**high:.1f}·10{raised}"


def table(document):
    """One device: seconds and floor by size, then exponents, operations and share of the floor."""
    lines = ["| n | " + " | ".join(NAMES.values()) + " |", "|---" * (len(NAMES) + 1) + "|"]
    columns = {phase: dict(measured(document, phase)) for phase in NAMES}
    for row in document["rows"]:
        cells = [cell(columns[phase].get(row["n"])) for phase in NAMES]
        lines.append(f"| {row['n']:,} | " + " | ".join(cells) + " |")
    powers = exponents(document)
    lines.append(
        "| **exponent** | "
        + " | ".join(f"**{powers[p]:.2f}**" if p in powers else "–" for p in NAMES)
        + " |"
    )
    ends = [max(columns[p].items(), default=None, key=lambda pair: pair[0]) for p in NAMES]
    lines.append(
        "| operations, largest n | "
        + " | ".join(power_of_ten(end[1]["operations"]) if end else "–" for end in ends)
        + " |"
    )
    lines.append("| their exponent | " + " | ".join(counted(columns[p]) for p in NAMES) + " |")
    lines.append(
        "| times the floor, largest n | "
        + " | ".join(short(end[1]["seconds"] / end[1]["floor"]) if end else "–" for end in ends)
        + " |"
    )
    return "\n".join(lines)


def cell(figures):
    """Seconds, and the floor in brackets."""
    return f"{short(figures['seconds'])} ({short(figures['floor'])})" if figures else "–"


def counted(column):
    """Fitted exponent of the operations."""
    if len(column) < 2:
        return "–"
    return f"{law(list(column), [f['operations'] for f in column.values()])[1]:.2f}"


def tables(whole):
    """Both devices, one after the other."""
    parts = []
    for name in devices(whole):
        document = whole[name]
        pixels = document["settings"]["pixels"]
        parts.append(
            f"**On {where(document)}**, seconds (floor in brackets), fingerprints of {pixels:,} "
            f"numbers:\n\n{table(document)}\n"
        )
        if document["left_out"]:
            parts.append("Left out for time: " + "; ".join(document["left_out"]) + ".\n")
    return "\n".join(parts)


def printed(phase, n, figures, d):
    """Operations by the paper's formula as printed, and as corrected; None: it has none."""
    t = ITERATIONS
    if phase == "gram":
        return n**2, d * n**2
    if phase == "lasso":
        return n**3 / 3 + 3 * t * n**2, n**3 / 3 + 2 * t * n**3
    if phase == "consolidation":
        return n**3, n**3
    if phase == "ls_ssc":
        p, groups = n / 2, figures["groups"]
        tail = groups**2 * math.log(max(groups, 2))
        batch = p**3 / 3 + (3 * t + math.log(p) + 1) * p**2
        right = p**3 / 3 + 2 * t * p**3 + (math.log(p) + 1 + d) * p**2
        return 1.5 * 2**2 * batch + tail, 1.5 * 2 * right + tail
    return None


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


def operations(whole):
    """The paper's formulas, as printed and corrected, beside what was counted."""
    lines = [
        "| phase | the paper | corrected | ours | at | printed | corrected | counted |",
        "|---" * 8 + "|",
    ]
    for phase, (paper, right, ours) in FORMULAS.items():
        for name in devices(whole):
            rows = measured(whole[name], phase)
            if not rows:
                continue
            n, figures = rows[-1]
            numbers = printed(phase, n, figures, whole[name]["settings"]["pixels"])
            words = f"{NAMES[phase]} | {paper} | {right} | {ours}" if name == "cpu" else " | | | "
            values = " | ".join(power_of_ten(v) for v in (*numbers, figures["operations"]))
            lines.append(f"| {words} | {name.upper()}, n = {n:,} | {values} |")
    return "\n".join(lines)


def dominates(whole):
    """Which phase takes most, at the smallest and at the largest size, and when LASSO overtakes."""
    lines = []
    for name in devices(whole):
        document = whole[name]
        words = []
        for row in (document["rows"][0], document["rows"][-1]):
            shares = {phase: row[phase]["seconds"] for phase in PHASES}
            top = max(shares, key=shares.get)
            share = shares[top] / sum(shares.values())
            words.append(f"{NAMES[top]} at n = {row['n']:,} ({share:.0%})")
        lines.append(
            f"- {where(document)}: of Gram, LASSO and consolidation most goes to "
            + " and to ".join(words)
            + f". {overtaking(document)}"
        )
    return "\n".join(lines)


def overtaking(document):
    """The size from which LASSO takes longer than the Gram of 512², by their laws."""
    found = laws(document)
    (a, e), (b, f) = found["gram"], found["lasso"]
    a *= 512**2 / document["settings"]["pixels"]
    if f <= e:
        return "By the fitted laws LASSO grows no faster than the Gram."
    n = (a / b) ** (1 / (f - e))
    if n > 1e7:
        return "By the fitted laws LASSO stays below the Gram of 512² at every size in reach."
    return f"By the fitted laws LASSO passes the Gram of 512² at n = {max(n, 2):,.0f}."


def plot(whole):
    """SVG: one panel a device, seconds against n, floors dashed; the same bytes each time."""
    import io

    import matplotlib
    from matplotlib.figure import Figure

    names = devices(whole)
    figure = Figure(figsize=(5.5 * len(names), 4.6), layout="constrained")
    axes = figure.subplots(1, len(names), squeeze=False)[0]
    for ax, name in zip(axes, names, strict=True):
        panel(ax, whole[name])
    stream = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": "samecam", "svg.fonttype": "none"}):
        figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines()) + "\n"


def panel(ax, document):
    """One device."""
    powers = exponents(document)
    for phase, (colour, mark) in LOOKS.items():
        rows = measured(document, phase)
        if not rows:
            continue
        n = [size for size, _ in rows]
        label = NAMES[phase] + (f", n^{powers[phase]:.2f}" if phase in powers else "")
        ax.plot(n, [f["seconds"] for _, f in rows], color=colour, marker=mark, label=label)
        ax.plot(n, [f["floor"] for _, f in rows], color=colour, linestyle="--", linewidth=1)
    ax.plot([], [], color="#444444", linestyle="--", linewidth=1, label="floor")
    ax.set_xscale("log")
    ax.set_yscale("log")
    sizes = [row["n"] for row in document["rows"]]
    ax.set_xticks(sizes, [f"{n:,}" for n in sizes], fontsize=8)
    ax.set_xticks([], minor=True)
    ax.set_title(where(document), fontsize=10, loc="left", weight="bold")
    ax.set_xlabel("photographs")
    ax.set_ylabel("seconds")
    ax.grid(color="#dddddd", linewidth=0.6)
    ax.spines[["top", "right"]].set_visible(False)
    beside = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.14), "ncols": 3}
    ax.legend(frameon=False, fontsize=8, **beside)


def core_rate():
    """Photos of 12 megapixels that one core reads, decodes and extracts in a second."""
    document = json.loads((HERE / "results" / "extraction.json").read_text())
    return document["result"]["workers_2"]["photos_per_second"] / 2


def generated(whole):
    """Every part of the page that is made here, by the name of its marker."""
    said = sentences(whole["cpu"], whole.get("gpu"), core_rate())
    return {
        "table": tables(whole),
        "operations": operations(whole),
        "dominates": dominates(whole),
        "sentences": "\n".join(f"- {line}" for line in said),
        "made": made(whole),
    }


def made(whole):
    """Where and when the figures are from."""
    return "\n".join(
        f"- `{document['command']}`, commit {document['commit']}, {document['processor']}, "
        f"{document['threads']} cores, {document['device']}: "
        + ", ".join(f"{k} {v}" for k, v in document["versions"].items())
        for document in (whole[name] for name in devices(whole))
    )


def filled(text, parts):
    """The page with what stands between the markers replaced."""
    for name, body in parts.items():
        pattern = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end of {name} -->)", re.S)
        if len(pattern.findall(text)) != 1:
            raise ValueError(f"the page has not one pair of markers {name!r}; put it in")
        text = pattern.sub(lambda found, body=body: f"{found[1]}{body.strip()}\n{found[2]}", text)
    return text


def main(arguments):
    if arguments:
        files = [f"{name}.json" for name in DEVICES[: len(arguments)]]
        command = " ".join(["python -m benchmarks.growth_page", *files])
        runs = (json.loads(Path(name).read_text()) for name in arguments)
        whole = {
            "benchmark": "growth",
            "command": command,
            **dict(zip(DEVICES, runs, strict=False)),
        }
        RESULT.write_text(json.dumps(whole, indent=2) + "\n")
    whole = json.loads(RESULT.read_text())
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), generated(whole)), encoding="utf-8")
    PLOT.write_text(plot(whole), encoding="utf-8")
    print(f"written: {RESULT}, {PAGE}, {PLOT}")


if __name__ == "__main__":
    main(sys.argv[1:])
