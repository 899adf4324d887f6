"""The picture of a comparison, as SVG made by hand: it needs no library and no network."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

_ROW, _TOP, _LEFT, _WIDTH, _GAP = 26, 46, 130, 150, 34
_COLOURS = {"f": "#1f4e79", "precision": "#5b9bd5", "recall": "#a9c8e8", "cost": "#7f7f7f"}


def svg(rows: Sequence[Mapping[str, Any]], note: str = "") -> str:
    """Bars of F, precision and recall, seconds, and peak memory, one row a method.

    Parameters
    ----------
    rows : as in `compare.json`; without scores the first panel shows unclustered photos
    note : a line below, or nothing
    """
    panels = _panels(rows)
    width = _LEFT + len(panels) * (_WIDTH + _GAP)
    height = _TOP + len(rows) * _ROW + 12 + (_ROW if note else 0)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="11">',
        '<rect width="100%" height="100%" fill="#fff"/>',
    ]
    for k, row in enumerate(rows):
        y = _TOP + k * _ROW + _ROW / 2 + 4
        parts.append(f'<text x="{_LEFT - 8}" y="{y}" text-anchor="end">{_word(row)}</text>')
    for number, (title, bars) in enumerate(panels):
        x = _LEFT + number * (_WIDTH + _GAP)
        parts.append(f'<text x="{x}" y="{_TOP - 14}" font-weight="bold">{escape(title)}</text>')
        parts += _panel(x, bars)
    if note:
        parts.append(f'<text x="8" y="{height - 12}" font-size="10">{escape(note)}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def _word(row: Mapping[str, Any]) -> str:
    failed = " (failed)" if row["failure"] else ""
    return escape(row["method"] + failed)


def _panels(rows: Sequence[Mapping[str, Any]]) -> list[tuple[str, list[dict[str, float]]]]:
    """Title and, for each method, its bars by colour."""
    scored = [row["scores"] or {} for row in rows]
    names = ("f", "precision", "recall")
    panels = []
    if any(scored):
        bars = [{name: s[name] for name in names if name in s} for s in scored]
        panels.append(("F, precision, recall", bars))
    else:
        panels.append(("photos in no group", _cost(rows, "unclustered", 1)))
    panels.append(("seconds", _cost(rows, "seconds", 1)))
    panels.append(("peak memory, MiB", _cost(rows, "peak_memory", 2**20)))
    return panels


def _cost(rows: Sequence[Mapping[str, Any]], name: str, unit: float) -> list[dict[str, float]]:
    return [{} if row[name] is None else {"cost": row[name] / unit} for row in rows]


def _panel(x: int, bars: Sequence[Mapping[str, float]]) -> list[str]:
    most = max((value for row in bars for value in row.values()), default=0) or 1
    most = 1 if any("f" in row for row in bars) else most
    parts = []
    for k, row in enumerate(bars):
        thick = (_ROW - 6) / max(len(row), 1)
        for place, (name, value) in enumerate(row.items()):
            y = _TOP + k * _ROW + 3 + place * thick
            long = max(_WIDTH * value / most, 0.5)
            parts.append(
                f'<rect x="{x}" y="{y:.1f}" width="{long:.1f}" height="{thick:.1f}" '
                f'fill="{_COLOURS[name]}"/>'
            )
        if row:
            first = next(iter(row.values()))
            y = _TOP + k * _ROW + _ROW / 2 + 4
            end = x + max(_WIDTH * first / most, 0.5) + 4
            inside = end > x + _WIDTH - 26
            at = f'{x + _WIDTH - 4}" text-anchor="end" fill="#fff' if inside else f"{end:.1f}"
            parts.append(f'<text x="{at}" y="{y}">{_number(first)}</text>')
    return parts


def _number(value: float) -> str:
    return f"{value:.3f}" if value <= 1 else f"{value:.1f}" if value < 100 else f"{value:.0f}"
