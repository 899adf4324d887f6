"""What a notebook shows of a result: any name as text, a table, a data frame, a picture."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib import import_module
from typing import TYPE_CHECKING, Any

from samecam.errors import SamecamError

if TYPE_CHECKING:
    import pandas

__all__ = [
    "counted",
    "data_frame",
    "draw",
    "figure",
    "is_odd",
    "shown",
    "shown_character",
    "table",
]

_ROWS = 20
_LONGEST = 60
_CELL = "padding:.15em .8em;text-align:{};vertical-align:top"


def shown(text: str) -> str:
    r"""The text with everything that cannot be seen written out, as \x1b or \u202e.

    Bytes of a path that are not UTF-8 (lone surrogates U+DC80 to U+DCFF) become \x80 to \xff.
    Spaces other than the plain one are written out too, since they pass for it.
    """
    if text.isprintable():
        return text
    return "".join(shown_character(c) if is_odd(c) else c for c in text)


def is_odd(c: str) -> bool:
    """Whether a character is one that cannot be seen, or passes for another.

    Controls, formats (bidi marks, zero width), surrogates, private and unassigned ones, line
    separators, and spaces other than the plain one: all that Python takes for not printable.
    """
    return not c.isprintable()


def shown_character(c: str) -> str:
    """What is written for an odd one."""
    code = ord(c)
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    return c.encode("unicode_escape", "surrogatepass").decode("ascii")


def counted(number: int, noun: str) -> str:
    """'1 photo', '2 photos'."""
    return f"{number} {noun}" + "s" * (number != 1)


def figure(value: float | None, digits: int = 3) -> str:
    """A number as a reader takes it in; a dash where there is none."""
    return "–" if value is None else f"{value:.{digits}g}"


def table(
    title: str,
    head: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    notes: Sequence[str] = (),
    most: int = _ROWS,
) -> str:
    """HTML of a heading, a table of at most `most` rows, and remarks below.

    Every cell is text, whatever is in it; numbers stand to the right. No colour is set but those
    of the page, so that it can be read on light and on dark.

    Parameters
    ----------
    title : a sentence
    head : names of the columns
    rows : cells; what is no text is made one
    notes : sentences below the table
    most : further rows are counted, not shown
    """
    given = [list(row) for row in rows]
    parts = [f"<div><strong>{_html(title)}</strong>"]
    if given:
        parts.append('<table style="border-collapse:collapse"><thead><tr>')
        numbers = [isinstance(cell, int | float) for cell in given[0]]
        parts += [_cell("th", name, right) for name, right in zip(head, numbers, strict=True)]
        parts.append("</tr></thead><tbody>")
        for row in given[:most]:
            cells = [_cell("td", cell, right) for cell, right in zip(row, numbers, strict=True)]
            parts.append(f"<tr>{''.join(cells)}</tr>")
        parts.append("</tbody></table>")
    more = [f"… and {len(given) - most} more"] if len(given) > most else []
    parts += [f"<div>{_html(text)}</div>" for text in (*more, *notes)]
    return "".join([*parts, "</div>"])


def _cell(tag: str, value: object, right: bool) -> str:
    style = _CELL.format("right" if right else "left")
    if isinstance(value, float):
        value = figure(value)
    return f'<{tag} style="{style}">{_html("" if value is None else str(value))}</{tag}>'


def _html(text: str) -> str:
    """Text that does nothing; the middle of what is absurdly long is left out."""
    text = shown(text)
    if len(text) > 4 * _LONGEST:
        text = f"{text[: 2 * _LONGEST]} … {text[-2 * _LONGEST :]}"
    return f"<bdi>{escape(text)}</bdi>"


def data_frame(columns: Mapping[str, Sequence[Any]]) -> "pandas.DataFrame":
    """Columns as a data frame of pandas: whole numbers and truth values may be missing.

    An error that says what to do, if pandas is not there.
    """
    try:
        import pandas
    except ImportError:
        raise SamecamError("A data frame needs pandas: pip install pandas.") from None
    return pandas.DataFrame({name: _series(values) for name, values in columns.items()})


def _series(values: Sequence[Any]) -> "pandas.Series[Any]":
    import pandas

    kinds = {type(value) for value in values if value is not None}
    if kinds == {bool}:
        return pandas.Series(values, dtype="boolean" if None in values else "bool")
    if kinds == {int}:
        return pandas.Series(values, dtype="Int64" if None in values else "int64")
    if kinds and kinds <= {int, float}:
        return pandas.Series(values, dtype="float64")
    # Names of files may hold bytes that are no UTF-8, which pandas' own kind of text refuses.
    return pandas.Series(values, dtype="object")


def draw(given: object, kind: str, **options: Any) -> Any:
    """A picture by `samecam.plots`: a later room, which is found by its name when it is wanted."""
    return import_module("samecam.plots").plot(given, kind, **options)
