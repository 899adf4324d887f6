"""Views on disk: as cells of a table and as objects, read as if a stranger had written them."""

import math
from collections.abc import Mapping
from typing import Any

from samecam.documents import Span
from samecam.register import View

# Columns of a table that say of each photo how it sees its camera.
VIEW_COLUMNS = (
    *("turn", "mirrored", "scale", "radial", "shift_x", "shift_y"),
    *("view_score", "view_rate", "view_share", "view_area"),
)
_TURNS = ("0", "90", "180", "270")
_MOST_PIXELS = 2**53
_SCALE, _SHIFT, _FIGURES = 6, 2, 3
# Rates below are as good as this one, and can still be written and put into words.
_SMALLEST = 1e-300
_LENGTH = Span(float, -(2.0**31), 2.0**31)
VIEW_SHAPE = {
    "turn": set(map(int, _TURNS)),
    "mirrored": bool,
    "scale": Span(float, 1e-6, 1e6),
    "radial": Span(float, -10, 10),
    "shift": [_LENGTH],
    "score": (float, None),
    "rate": (Span(float, 0, 1), None),
    "share": (float, None),
    "area": (Span(int, 0, _MOST_PIXELS), None),
}


def rounded_view(view: View) -> View:
    """A view with the digits that mean something, which a table can hold."""
    x, y = view.shift
    return View(
        turn=int(view.turn),
        mirrored=bool(view.mirrored),
        scale=round(float(view.scale), _SCALE),
        radial=round(float(view.radial), _SCALE) + 0.0,
        shift=(round(float(x), _SHIFT) + 0.0, round(float(y), _SHIFT) + 0.0),
        score=_figures(view.score),
        rate=None if view.rate is None else _figures(max(view.rate, _SMALLEST)),
        share=_figures(view.share),
        area=None if view.area is None else int(view.area),
    )


def _figures(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.{_FIGURES}g}")


def view_cells(view: View | None) -> list[Any]:
    """A view as cells of `VIEW_COLUMNS`; all empty for none."""
    if view is None:
        return [None] * len(VIEW_COLUMNS)
    return [
        *(view.turn, int(view.mirrored), view.scale, view.radial, *view.shift),
        *(view.score, view.rate, view.share, view.area),
    ]


def cell_view(row: Mapping[str, str]) -> View | None:
    """The view of a row of a table; None if it says nothing. `ValueError` for what is no view."""
    if not any(row[name] for name in VIEW_COLUMNS):
        return None
    if row["turn"] not in _TURNS or row["mirrored"] not in ("0", "1"):
        raise ValueError("turn or mirrored is no such thing")
    view = View(
        turn=int(row["turn"]),
        mirrored=row["mirrored"] == "1",
        scale=_number(row, "scale"),
        radial=_number(row, "radial"),
        shift=(_number(row, "shift_x"), _number(row, "shift_y")),
        score=_maybe(row, "view_score"),
        rate=_maybe(row, "view_rate"),
        share=_maybe(row, "view_share"),
        area=int(row["view_area"]) if row["view_area"] else None,
    )
    far = any(not _LENGTH.low <= x <= _LENGTH.high for x in view.shift)
    odd_area = view.area is not None and not 0 <= view.area <= _MOST_PIXELS
    odd_rate = view.rate is not None and not 0 <= view.rate <= 1
    if far or odd_area or odd_rate or not 1e-6 <= view.scale <= 1e6 or abs(view.radial) > 10:
        raise ValueError("a view has a number that cannot be")
    return view


def _number(row: Mapping[str, str], name: str) -> float:
    value = float(row[name])
    if not math.isfinite(value):
        raise ValueError(f"{name} is not finite")
    return value


def _maybe(row: Mapping[str, str], name: str) -> float | None:
    return _number(row, name) if row[name] else None


def view_object(view: View | None) -> dict[str, Any] | None:
    """A view as it stands in `clusters.json`."""
    if view is None:
        return None
    names = ("turn", "mirrored", "scale", "radial", "shift", "score", "rate", "share", "area")
    values = {name: getattr(view, name) for name in names}
    return {**values, "shift": list(view.shift)}


def object_view(content: Mapping[str, Any] | None) -> View | None:
    """The view of an object of `VIEW_SHAPE`; `ValueError` for what is none."""
    if content is None:
        return None
    if len(content["shift"]) != 2 or len(content) != len(VIEW_SHAPE):
        raise ValueError("a view has other entries than views have")
    return View(**{**content, "shift": tuple(content["shift"])})
