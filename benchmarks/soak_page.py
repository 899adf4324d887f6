"""The figures of docs/reliability.md, from those of `benchmarks.soak`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks import record
from samecam.pages import Page, fill, table

Document = Mapping[str, Any]


def totals(document: Document) -> str:
    """What was tried, and what was seen.

    A round that is not finished may lack something, and so does the figure of before there were
    rounds, which counted kills among damaged photos apart.
    """
    result = document["result"]
    total, kills = result["total"], result["kills"]["by_command"]
    commands = len({name.split()[0] for name, counts in kills.items() if counts})
    rows = [
        *([_damaged(result)] if total["mutated files"] else []),
        [
            f"kills of {commands} commands",
            f"{total['kills'] + total.get('kills among mutated files', 0):,}",
            "each resumed to the same bytes",
        ],
        *([_decided(result)] if total.get("decisions") else []),
        *([_tampered(result)] if total["tampered cases"] else []),
        ["faults of disks", f"{total['disk faults']:,}", "each resumed to the same bytes"],
        ["broken promises", "", f"{total['faults']:,}"],
    ]
    begun = len(result.get("rounds", ()))
    rounds = (
        f", {total['hours']:.2f} hours, {begun:,} round{'s' * (begun != 1)} begun and "
        f"{total['rounds']:,} finished"
        if begun
        else ""
    )
    return (
        f"Commit `{document['commit']}`, {document['processor']}, {document['cores']} cores"
        f"{rounds}:\n\n"
        f"{table(['', 'tried', 'seen'], rows)}"
    )


def _damaged(result: Document) -> list[str]:
    photos = result["mutated files"]
    statuses = photos["by_status"]
    crashes = photos["decoder_crashes"] + photos["decoder_time_outs"]
    return [
        "damaged photos",
        f"{result['total']['mutated files']:,}",
        f"{statuses['skipped']:,} skipped with a reason, {statuses['good']:,} good (whole "
        f"ones among them); {crashes} decoder crashes or time-outs",
    ]


def _decided(result: Document) -> list[str]:
    decisions = result["decisions"]
    return [
        "decisions",
        f"{decisions['decisions']:,}, {decisions['undone']:,} of them undo",
        f"{decisions['refused']:,} more refused; none lost, {decisions['kept']:,} outlived "
        "their command",
    ]


def _tampered(result: Document) -> list[str]:
    total, tampered = result["total"], result["tampered cases"]
    verified = tampered["codes_by_command"]["verify"]
    slowest, largest = tampered["slowest"]["seconds"], tampered["largest"]["memory"] / 1e6
    return [
        "tampered cases",
        f"{total['tampered cases']:,}, {total['commands on tampered cases']:,} commands",
        f"`verify`: {verified.get('4', 0):,} told, {verified.get('0', 0):,} without meaning; "
        f"slowest {slowest:.1f} s, {largest:.0f} MB more memory at most",
    ]


def generated(document: Document) -> dict[str, str]:
    """Every part of the page that is made here, by the name of its marker."""
    return {"soak": totals(document)}


PAGE = Page(
    Path(__file__).parent.parent / "docs" / "reliability.md",
    "python -m benchmarks.pages",
    lambda text: fill(text, generated(record.load("soak"))),
)
