"""The text on experiments that begin with photographs."""

from collections.abc import Mapping

from samecam.experiments._experiment import Result, Told
from samecam.experiments._grid import behind
from samecam.experiments._leads import tell_leads
from samecam.experiments._photo_level import (
    SUBSETS,
    Row,
    configuration_name,
    methods_of,
    panels_of,
    row_of,
    settings_of,
    value_of,
)
from samecam.experiments._photo_sets import JUDGED, Setting
from samecam.experiments._text import failures
from samecam.pages import count, listed, share, span, table, with_spread

# Differences of F that three digits show.
_SHOWN = 0.0005

ABOUT = (
    "F (precision, recall), without dark and saturated photos, all methods on the same "
    "fingerprints. The paper has 20 cameras of VISION with about 220 photos each: what it prints "
    "stands beside ours for its course, not for its height."
)


def tell(result: Result) -> Told:
    """What is said of a result: where ours is behind, and a table of what the paper shows."""
    sentences = [_others(result), _where_behind(result), *failures(result)]
    return Told([*sentences, *result["set"]["notes"]], _table(result))


def _others(result: Result) -> str:
    """Lowest and highest F of ours on the photos that the table does not show."""
    words = []
    for side, subset in panels_of(result)[1:]:
        every = [row_of(result, setting, subset, "ours") for setting in settings_of(result, side)]
        f = [row["f"] for row in every if row is not None]
        if f:
            size = "" if side in (None, JUDGED) else f"{side} × {side}, "
            spread = span(share(min(f), 3), share(max(f), 3))
            words.append(f"{size}{SUBSETS[subset]} {spread}")
    return f"Ours elsewhere: {'; '.join(words)}." if words else ""


def _table(result: Result) -> str:
    """The photos that the paper takes: ours, what is in print, LS-SSC and the best other."""
    axis = result["axis"]
    side = None if axis == "side" else JUDGED
    head = [axis, "ours", "left alone", "LS-SSC in print", "LS-SSC", "best other"]
    return table(head, [_cells(result, setting) for setting in settings_of(result, side)])


def _cells(result: Result, setting: Setting) -> list[str]:
    rows = {m.key: row_of(result, setting, "lit", m.key) for m in methods_of(result)}
    ours, published = rows.pop("ours"), rows.pop("ls-ssc")
    printed = result["printed"].get(value_of(result, setting))
    others = [row for row in rows.values() if row is not None]
    best = max(others, key=lambda row: row["f"], default=None)
    return [
        value_of(result, setting),
        "–" if ours is None else _whole(ours, f"**{share(ours['f'], 3)}**", 3),
        "–" if ours is None else count(ours["n_unclustered"]),
        "–" if printed is None else _whole(printed, share(printed["f"])),
        "–" if published is None else with_spread(published, digits=3),
        "–" if best is None else f"{share(best['f'], 3)} {best['label']}",
    ]


def _whole(numbers: Mapping[str, float], f: str, digits: int = 2) -> str:
    """F (P, R)."""
    precision, recall = (share(numbers[name], digits) for name in ("precision", "recall"))
    return f"{f} ({precision}, {recall})"


def _where_behind(result: Result) -> str:
    """Which methods have the higher F, how often, by how much at most, and what for."""
    places = {
        configuration_name(result["set"]["name"], setting, subset): (setting, subset)
        for side, subset in panels_of(result)
        for setting in settings_of(result, side)
    }
    leads: dict[str, list[Row]] = {}
    for row in behind(result, _SHOWN):
        leads.setdefault(row["label"], []).append(row)
    if not leads:
        return "In F, no method is ahead of ours by .0005 or more."
    words = []
    for label, rows in leads.items():
        setting, subset = places[rows[0]["configuration"]]
        ours = row_of(result, setting, subset, "ours")
        assert ours is not None
        words.append(f"{label} at {len(rows)} ({share(rows[0]['f'], 3)}:{share(ours['f'], 3)})")
    ahead = [row for rows in leads.values() for row in rows]
    real = result["set"]["kind"] == "real"
    free = tell_leads(result["leads"]) if real and "leads" in result else ""
    return (
        f"**Ahead of ours in F**, of {len(places)} settings (largest lead): {listed(words)}. "
        f"{_price(result, ahead)} {free}"
    ).rstrip()


def _price(result: Result, ahead: list[Row]) -> str:
    """How often a lead is of photos that ours leaves alone, or of pairs that are wrong."""
    ours = {row["configuration"]: row for row in result["rows"] if row["method"] == "ours"}
    fewer = sum(row["n_unclustered"] < ours[row["configuration"]]["n_unclustered"] for row in ahead)
    wrong = sum(row["precision"] < 0.5 for row in ahead)
    also = f", and at {wrong} most pairs of the other are wrong" if wrong else ""
    return f"At {fewer} of {len(ahead)} ours leaves more photos alone{also}."
