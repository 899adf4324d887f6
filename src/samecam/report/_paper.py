"""What stands in the margins of every printed page."""

from typing import Literal

from samecam.report._about import About

Paper = Literal["a4", "letter"]
SIZES: dict[Paper, str] = {"a4": "A4", "letter": "letter"}


def on_paper(about: About, title: str, paper: Paper | None = None) -> str:
    """Rules of style: case and mark at the top, the number of the page at the bottom.

    Parameters
    ----------
    title : name of the case
    paper : its size; None: that of the printer
    """
    case = f"{about.case_number} ({title})" if about.case_number else title
    return (
        "@page {\n"
        f"{f'  size: {SIZES[paper]};' if paper else ''}\n"
        f"  @top-left {{ content: {css_text(f'samecam report, case {case}')}; }}\n"
        f"  @top-right {{ content: {css_text(about.mark)}; }}\n"
        '  @bottom-right { content: "Page " counter(page) " of " counter(pages); }\n'
        "}\n"
    )


def css_text(text: str) -> str:
    """Text as a string of CSS; all but letters and digits of ASCII by their numbers.

    Half a character, of a name that is not UTF-8, is what a browser shows for one that it does
    not know.
    """
    safe = text.encode("utf-8", "replace").decode("utf-8")
    parts = (c if c.isascii() and (c.isalnum() or c == " ") else f"\\{ord(c):x} " for c in safe)
    return '"' + "".join(parts) + '"'
