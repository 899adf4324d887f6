"""The text on experiments that begin with photographs."""

from collections.abc import Mapping, Sequence

from samecam.experiments._experiment import Result
from samecam.experiments._grid import behind
from samecam.experiments._methods import Method
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
from samecam.pages import bullets, count, listed, share, table

# Differences of F that three digits show, and differences of P and R that explain them.
_SHOWN, _NOTABLE = 0.0005, 0.005
# Of these the tables also tell precision, recall and ARI: what is printed has them.
_WHOLE = ("ours", "ls-ssc")


def introduce(result: Result, more: Sequence[str] = ()) -> str:
    """What was run, on what, as a list; `more` is what one experiment adds."""
    about = result["set"]
    simulated = (
        ", rendered by the simulator at 1.3 megapixels" if about["kind"] == "simulated" else ""
    )
    runs = max(row["runs"] for row in result["rows"])
    return bullets(
        [
            f"These are {about['title']}{simulated}.",
            *about["notes"],
            "The paper has 20 cameras of VISION with about 220 photos each, so what it prints "
            "stands beside ours for its course, not for its height.",
            "All methods get the same fingerprints of the same photos: without dark ones, as in "
            "the paper, and without saturated ones; and again with the dark ones.",
            f"Methods with chance in them run {runs} times; ± is the standard deviation.",
            *more,
        ]
    )


def tables(result: Result) -> str:
    """A table for each panel: F of all methods, and more of ours and of what is in print."""
    parts = [_table(result, side, subset) for side, subset in panels_of(result)]
    return "\n\n".join([*parts, bullets(failures(result))]).strip()


def _table(result: Result, side: int | None, subset: str) -> str:
    about, place = result["set"], result["printed"]["place"]
    size = "" if side is None else f"{side} × {side} pixels, "
    heading = (
        f"{size}{SUBSETS[subset]} ({about['photos'][subset]} photos of "
        f"{about['cameras'][subset]} cameras), F (P, R) ARI or F alone:"
    )
    ours, *others = methods_of(result)
    first = "side" if side is None else "quality"
    labels = [method.label for method in others]
    in_print = f"LS-SSC in print ({place})"
    head = [first, f"**{ours.label}**", "ours leaves alone", in_print, *labels]
    rows = [_cells(result, setting, side, subset) for setting in settings_of(result, side)]
    return f"{heading}\n\n{table(head, rows)}"


def _cells(result: Result, setting: Setting, side: int | None, subset: str) -> list[str]:
    """One row of a table."""
    methods = methods_of(result)
    ours, *rest = [row_of(result, setting, subset, method.key) for method in methods]
    printed = result["printed"].get(value_of(result, setting))
    if side not in (None, JUDGED):
        printed = None  # the paper's squares have 512 pixels a side
    return [
        value_of(result, setting),
        _cell(ours, "ours"),
        "–" if ours is None else count(ours["n_unclustered"]),
        "–" if printed is None else _whole(printed, share(printed["f"])),
        *(_cell(row, method.key) for row, method in zip(rest, methods[1:], strict=True)),
    ]


def _cell(row: Row | None, method: str) -> str:
    if row is None:
        return "–"
    f = f"**{share(row['f'], 3)}**" if method == "ours" else _with_spread(row)
    return _whole(row, f, 3) if method in _WHOLE else f


def _whole(numbers: Mapping[str, float], f: str, digits: int = 2) -> str:
    """F (P, R) ARI."""
    names = ("precision", "recall", "ari")
    precision, recall, ari = (share(numbers[name], digits) for name in names)
    return f"{f} ({precision}, {recall}) {ari}"


def _with_spread(row: Row) -> str:
    if row["runs"] < 2 or row["f_spread"] < _SHOWN:
        return share(row["f"], 3)
    return f"{share(row['f'], 3)} ± {share(row['f_spread'], 3)}"


def where_behind(result: Result) -> str:
    """Where another method has the higher F, how much, and what ours gives up there."""
    lost = {(row["configuration"], row["method"]) for row in behind(result, _SHOWN)}
    name, lines = result["set"]["name"], []
    for side, subset in panels_of(result):
        where = SUBSETS[subset] if side is None else f"{side} × {side}, {SUBSETS[subset]}"
        for method in methods_of(result)[1:]:
            settings = [
                setting
                for setting in settings_of(result, side)
                if (configuration_name(name, setting, subset), method.key) in lost
            ]
            lines += [f"{where}: {words}" for words in _lost(result, settings, subset, method)]
    others = listed([method.label for method in methods_of(result)[1:]])
    if not lines:
        return f"In F, none of {others} is ahead of ours by .0005 or more at any of these."
    return f"Of {others}, ahead of ours in F by .0005 or more:\n\n{bullets(lines)}"


def _lost(result: Result, settings: Sequence[Setting], subset: str, method: Method) -> list[str]:
    """One method's leads over ours, one a reason: at which settings, the largest in full."""
    pairs: dict[Setting, tuple[Row, Row]] = {}
    reasons: dict[str, list[Setting]] = {}
    for setting in settings:
        ours, other = (row_of(result, setting, subset, key) for key in ("ours", method.key))
        assert ours is not None
        assert other is not None
        pairs[setting] = ours, other
        reasons.setdefault(_reason(ours, other), []).append(setting)
    return [_lead(result, method, reason, {s: pairs[s] for s in places})
            for reason, places in reasons.items()]  # fmt: skip


def _lead(
    result: Result, method: Method, reason: str, pairs: Mapping[Setting, tuple[Row, Row]]
) -> str:
    most = max(pairs, key=lambda setting: pairs[setting][1]["f"] - pairs[setting][0]["f"])
    ours, other = pairs[most]
    axis = "side" if result["axis"] == "side" else "quality"
    places = listed([value_of(result, setting) for setting in pairs])
    at = f"Most at {value_of(result, most)}, " if len(pairs) > 1 else ""
    alone = [f"{count(row['n_unclustered'])} of {count(row['n_images'])}" for row in (ours, other)]
    numbers = f"{_scores(other)} against {_scores(ours)}"
    return (
        f"{method.label} at {axis} {places}: {reason}. {at}{numbers}; photos left alone: ours "
        f"{alone[0]}, {method.label} {alone[1]}."
    )


def _scores(row: Row) -> str:
    f, precision, recall = (share(row[name], 3) for name in ("f", "precision", "recall"))
    return f"{f} (P {precision}, R {recall})"


def _reason(ours: Row, other: Row) -> str:
    """What makes the difference: pairs not found, pairs wrongly made, or both; no numbers."""
    left = ours["n_unclustered"] - other["n_unclustered"]
    if other["precision"] < 0.5:
        instead = ", where ours rather leaves photos without a group" if left >= 0.5 else ""
        return f"most pairs that it puts together are of different cameras{instead}"
    missed = other["recall"] - ours["recall"] > _NOTABLE
    wrong = other["precision"] - ours["precision"] > _NOTABLE
    if missed and not wrong and left >= 0.5:
        return "ours leaves more photos without a group"
    if missed and not wrong:
        return "ours splits cameras over more groups"
    if wrong and not missed:
        return "ours puts more photos of different cameras together"
    return "ours is behind in both" if wrong else "a small difference in both"
