"""Names that a file may have, as text that a page can show."""

from markupsafe import Markup, escape

from samecam.notebook import is_odd, shown_character
from samecam.notebook import shown as shown


def marked(text: str) -> Markup:
    """Text as HTML, what cannot be seen written out and marked, so that no name passes for it.

    The text itself is that of `samecam.notebook.shown`.
    """
    if text.isprintable():
        return Markup(f'<bdi class="name">{escape(text)}</bdi>')
    parts: list[str] = []
    plain = ""
    for c in text:
        if not is_odd(c):
            plain += c
            continue
        parts.append(str(escape(plain)))
        plain = ""
        parts.append(f'<span class="odd">{shown_character(c)}</span>')
    parts.append(str(escape(plain)))
    return Markup('<bdi class="name">' + "".join(parts) + "</bdi>")
