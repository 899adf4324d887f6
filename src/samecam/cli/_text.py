"""Numbers and names as people read them."""

from collections.abc import Iterable

from samecam.notebook import counted as counted


def plural(number: float, noun: str) -> str:
    """The noun as it stands behind a number."""
    return noun if number == 1 else f"{noun}s"


def duration(seconds: float) -> str:
    """Seconds as a person takes them in at a glance."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def table_line(name: str, cells: Iterable[str], width: int) -> str:
    """A line of a table of methods: the name in `width`, then the cells, right-aligned."""
    return f"{name:{width}}" + "".join(f"  {cell:>11}" for cell in cells)


def printable(text: str) -> str:
    """Text that any terminal takes as text: whatever is not printable is shown escaped.

    So are line breaks, the codes that move the cursor, change colours or the direction of
    writing, and bytes that are not UTF-8.
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def cut(text: str, longest: int = 2000) -> str:
    """A text without the middle of what somebody made absurdly long."""
    half = longest // 2
    return text if len(text) <= longest else f"{text[:half]} … {text[-half:]}"
