"""What pages are put together from: files of the package, and what a browser may load for them."""

import base64
import hashlib
from collections.abc import Callable, Mapping
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

if TYPE_CHECKING:
    from jinja2 import Environment


def part(name: str) -> str:
    """Text of a file beside the code of pages, like "page.css"."""
    return resources.files("samecam.report").joinpath(name).read_text(encoding="utf-8")


def style() -> str:
    """The style sheet of the report, which other pages of ours share."""
    return part("page.css")


def policy(style: str, script: str | None = None) -> str:
    """A content security policy: pictures of the page itself, this style, this script."""

    def source(text: str) -> str:
        digest = hashlib.sha256(text.encode()).digest()
        return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"

    scripts = "" if script is None else f"script-src {source(script)}; "
    return (
        f"default-src 'none'; img-src data:; style-src {source(style)}; {scripts}"
        "base-uri 'none'; form-action 'none'"
    )


def fill_template(
    name: str,
    style: str,
    script: str | None = None,
    *,
    filters: Mapping[str, Callable[..., Any]],
    **content: Any,
) -> str:
    """A page as HTML: everything is escaped, and what is not given is an error.

    Parameters
    ----------
    name : of its template, as for `part`; those it extends, includes or imports lie there too
    style, script : what stands inside of the page
    filters, content : what the template asks for
    """
    template = _environment(tuple(filters.items())).get_template(name)
    return template.render(
        **content,
        style=Markup(style),
        script=Markup(script or ""),
        policy=policy(style, script),
    )


@cache
def _environment(filters: tuple[tuple[str, Callable[..., Any]], ...]) -> "Environment":
    """What templates are compiled by: once a process, which takes longer than to fill them."""
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    made = Environment(
        loader=FunctionLoader(part),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(filters)
    return made
