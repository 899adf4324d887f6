"""Names that a file may have, as text that a page can show."""

import unicodedata

from markupsafe import Markup, escape

# Control, format (bidi marks, zero width), surrogate, private, unassigned; line separators.
_UNSEEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
_SPACES = {" "}


def shown(text: str) -> str:
    r"""The text with everything that cannot be seen written out, as \x1b or \u202e.

    Bytes of a path that are not UTF-8 (lone surrogates U+DC80 to U+DCFF) become \x80 to \xff.
    Spaces other than the plain one are written out too, since they pass for it.
    """
    return "".join(_escape(c) if _is_odd(c) else c for c in text)


def marked(text: str) -> Markup:
    """The same as HTML, what was written out marked, so that no file name can pass for it."""
    parts: list[str] = []
    plain = ""
    for c in text:
        if not _is_odd(c):
            plain += c
            continue
        parts.append(str(escape(plain)))
        plain = ""
        parts.append(f'<span class="odd">{_escape(c)}</span>')
    parts.append(str(escape(plain)))
    return Markup('<bdi class="name">' + "".join(parts) + "</bdi>")


def _is_odd(c: str) -> bool:
    if c.isascii():
        return not c.isprintable()
    kind = unicodedata.category(c)
    return kind in _UNSEEN or (kind == "Zs" and c not in _SPACES)


def _escape(c: str) -> str:
    code = ord(c)
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    return c.encode("unicode_escape", "surrogatepass").decode("ascii")
