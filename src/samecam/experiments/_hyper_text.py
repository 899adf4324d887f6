"""The text on the choice of hyperparameters."""

from collections.abc import Mapping, Sequence
from typing import Any

from samecam import pages
from samecam.experiments._experiment import Told

Entry = Mapping[str, Any]

# Differences of F that the text speaks of.
_NOTABLE = 0.005
_WAYS = {"auto": "2σ₀", "paper": "published, doubled", "by_cost": "the cost's"}
_PRESETS = {"paper": "published constants", "default": "our defaults"}

SETS = {
    "dev": "the twin of the paper's development set",
    "weak": "weak cameras",
    "Da5": "twin of Da5",
    "real": "the photographs",
}

ABOUT = (
    "F of SSC-NC, with the γ it belongs to: twice the measured scale of chance σ₀, which is the "
    "default; the published γ, doubled, since the released iteration solves the problem at about "
    "2γ; and what the cost of Phan 2017 chooses. Weak are 20 cameras of 10 "
    "to 50 photos, mean correlation .01."
)


def tell(result: Mapping[str, Any]) -> Told:
    """What is said of a result."""
    return Told([_eta(result), _gamma(result), _recycling(result)], _gamma_table(result))


def _eta(result: Mapping[str, Any]) -> str:
    rows = [row for row in result["etas"]["rows"] if row["eta"] is not None]
    exact = next(row for row in result["etas"]["rows"] if row["eta"] is None)
    fast = min(rows, key=lambda row: (row["iterations"], row["eta"]))
    one = next(row for row in rows if row["eta"] == result["printed"]["eta"])
    return (
        f"**η**: the paper takes 1, which needs {one['iterations']} iterations here; the fewest, "
        f"{fast['iterations']}, are needed at {fast['eta']:g}. F is "
        f"{_span([row['f'] for row in rows])} for every η, and {pages.share(exact['f'], 3)} with "
        "the exact solver, which has none and is our default."
    )


def _span(values: Sequence[float]) -> str:
    """Lowest and highest share, three digits."""
    return pages.span(pages.share(min(values), 3), pages.share(max(values), 3))


def _gamma(result: Mapping[str, Any]) -> str:
    entries = result["gammas"]
    above = [e for e in entries if e["by_cost"] and e["by_cost"]["gamma"] > 2 * e["paper"]["gamma"]]
    behind = [e for e in entries if e["paper"]["f"] > e["auto"]["f"] + _NOTABLE]
    words = [
        f"the cost chooses more than twice the published γ at {len(above)} of {len(entries)} sizes"
    ]
    if behind:
        places = [f"{e['side']} ({_both(e)})" for e in behind]
        sets = pages.listed(list(dict.fromkeys(SETS[e["set"]] for e in behind)))
        words.append(f"**2σ₀ is behind the published γ** on {sets} at {pages.listed(places)}")
    return f"**γ**: {'; '.join(words)}."


def _both(entry: Entry) -> str:
    ours, theirs = (pages.share(entry[way]["f"], 3) for way in ("auto", "paper"))
    return f"{ours} against {theirs}"


def _gamma_table(result: Mapping[str, Any]) -> str:
    rows = [
        [
            entry["set"],
            str(entry["side"]),
            *(
                "–"
                if entry[way] is None
                else f"{pages.share(entry[way]['f'], 3)} ({entry[way]['gamma']:.2g})"
                for way in _WAYS
            ),
        ]
        for entry in result["gammas"]
    ]
    return pages.table(["set", "side", *_WAYS.values()], rows)


def _recycling(result: Mapping[str, Any]) -> str:
    """Cameras that recycling finds, and what it costs; sets on which it finds none are left out."""
    words = []
    for entry in result["recycling"]:
        last = max(row["rounds"] for row in entry["rows"])
        before, after = _at(entry, 5, 0), _at(entry, 5, last)
        if after["ld_over_lg"] > before["ld_over_lg"]:
            words.append(
                f"{_PRESETS[entry['preset']]} on {SETS[entry['set']]} from "
                f"{before['ld_over_lg']:.0%} to {after['ld_over_lg']:.0%}, precision from "
                f"{pages.share(before['precision'], 3)} to {pages.share(after['precision'], 3)}"
            )
    found = "; ".join(words) or "no set with more"
    return f"**K = 5 and recycling**, cameras that are found: {found}."


def _at(entry: Entry, k: int, rounds: int) -> Entry:
    row: Entry = next(r for r in entry["rows"] if r["K"] == k and r["rounds"] == rounds)
    return row
