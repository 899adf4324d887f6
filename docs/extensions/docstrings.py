"""Docstrings of the house for napoleon: ``name : what it is`` has no type before what it is.

Types stand in the signatures. In the sections of numpy's style the text after the colon would be
read as a type; here it becomes the description.
"""

import re
from types import ModuleType
from typing import Any

from sphinx.application import Sphinx

import samecam

SECTIONS = {"Parameters", "Attributes", "Returns", "Raises", "Yields"}
_ENTRY = re.compile(r"^(\S[^:]*?) : (.+)$")
_ARRAY = re.compile(
    r"~?(?:numpy\.)?ndarray\[tuple\[~?(?:typing\.)?Any, \.\.\.\], (?:~?numpy\.)?dtype\[([^]]*)\]\]"
)
_ARRAY_LIKE = re.compile(r"[~\w.]*_Buffer \| .*?_NestedSequence\[complex \| bytes \| str\]")
# Below a type stands a sentence; what only goes on begins with a small letter.
_TYPED = re.compile(r"    [A-Z]")
_CODE = re.compile(r"(`+[^`]*`+)")


def described(lines: list[str]) -> list[str]:
    """The lines of a docstring with entries of its sections on two lines each."""
    found: list[str] = []
    inside = False
    for number, line in enumerate(lines):
        following = lines[number + 1] if number + 1 < len(lines) else ""
        if following and set(following.strip()) == {"-"}:
            inside = line.strip() in SECTIONS
        match = _ENTRY.match(line) if inside and not _TYPED.match(following) else None
        found += [match[1], f"    {match[2]}"] if match else [line]
    return [escaped(line) for line in found]


def escaped(line: str) -> str:
    """A line in which only code is marked up: |C|, 2*n and labels_ are not, `n` of 2`n` is."""
    parts = _CODE.split(line)
    for number in range(0, len(parts), 2):
        text = re.sub(r"([|*]|_(?!\w))", r"\\\1", parts[number])
        if number > 0 and re.match(r"[^\s.,;:!?)\]}'\"-]", text):
            text = "\\ " + text
        if number + 1 < len(parts) and re.search(r"[^\s(\[{'\"-]$", text):
            text += "\\ "
        parts[number] = text
    return "".join(parts)


def process(
    _app: Sphinx, _what: str, _name: str, _object: Any, _options: Any, lines: list[str]
) -> None:
    """Change the lines in place, before napoleon reads them."""
    lines[:] = described(lines)


def skip(
    _app: Sphinx, what: str, name: str, value: Any, skipped: bool, _options: Any
) -> bool | None:
    """Leave out what scikit-learn adds to every estimator, and of rooms what samecam shows."""
    shown = what == "module" and not isinstance(value, ModuleType)
    if shown and name in samecam.__all__ and getattr(samecam, name) is value:
        return True
    return True if re.fullmatch("set_.*_request", name) else skipped or None


def shorten(
    _app: Sphinx,
    _what: str,
    _name: str,
    _object: Any,
    _options: Any,
    signature: str | None,
    answer: str | None,
) -> tuple[str | None, str | None]:
    """Give types of numpy the names that they have in the source."""
    return tuple(  # type: ignore[return-value]
        text and _ARRAY.sub(r"NDArray[\1]", _ARRAY_LIKE.sub("ArrayLike", text))
        for text in (signature, answer)
    )


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx to ask here first."""
    app.connect("autodoc-process-docstring", process, priority=1)
    app.connect("autodoc-process-signature", shorten)
    app.connect("autodoc-skip-member", skip)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
