"""The figures of docs/reliability.md, from those of `benchmarks.soak`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks import record
from samecam.pages import Page, fill, table

Document = Mapping[str, Any]


def totals(document: Document) -> str:
    """What was tried, and what was seen."""
    result = document["result"]
    total, photos, tampered = result["total"], result["mutated files"], result["tampered cases"]
    decisions = result["decisions"]
    statuses = photos["by_status"]
    verified = tampered["codes_by_command"]["verify"]
    slowest, largest = tampered["slowest"]["seconds"], tampered["largest"]["memory"] / 1e6
    crashes = photos["decoder_crashes"] + photos["decoder_time_outs"]
    commands = len({name.split()[0] for name in result["kills"]["by_command"]})
    rows = [
        [
            "damaged photos",
            f"{total['mutated files']:,}",
            f"{statuses['skipped']:,} skipped with a reason, {statuses['good']:,} good (whole "
            f"ones among them); {crashes} decoder crashes or time-outs",
        ],
        [
            f"kills of {commands} commands",
            f"{total['kills']:,}",
            "each resumed to the same bytes",
        ],
        [
            "decisions",
            f"{total['decisions']:,}, {decisions['undone']:,} of them undo",
            f"{decisions['refused']:,} more refused; none lost, {decisions['kept']:,} outlived "
            "their command",
        ],
        [
            "tampered cases",
            f"{total['tampered cases']:,}, {total['commands on tampered cases']:,} commands",
            f"`verify`: {verified.get('4', 0):,} told, {verified.get('0', 0):,} without meaning; "
            f"slowest {slowest:.1f} s, {largest:.0f} MB more memory at most",
        ],
        ["faults of disks", f"{total['disk faults']:,}", "each resumed to the same bytes"],
        ["broken promises", "", f"{total['faults']:,}"],
    ]
    begun = len(result["rounds"])
    return (
        f"Commit `{document['commit']}`, {document['processor']}, {document['cores']} cores, "
        f"{total['hours']:.2f} hours, {begun:,} round{'s' * (begun != 1)} begun and "
        f"{total['rounds']:,} finished:\n\n"
        f"{table(['', 'tried', 'seen'], rows)}"
    )


def generated(document: Document) -> dict[str, str]:
    """Every part of the page that is made here, by the name of its marker."""
    return {"soak": totals(document)}


PAGE = Page(
    Path(__file__).parent.parent / "docs" / "reliability.md",
    "python -m benchmarks.pages",
    lambda text: fill(text, generated(record.load("soak"))),
)
