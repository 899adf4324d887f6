"""Templates filled with what pages show; whatever comes from files is text."""

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from samecam.report import marked, shown
from samecam.review._addresses import (
    beside_address,
    camera_address,
    query,
    question_address,
    setting,
    turned,
    without,
)
from samecam.review._state import Moment

if TYPE_CHECKING:
    from jinja2 import Environment

_GROUPS = re.compile(r"\b(group|groups) (\d{1,9})(?: and (\d{1,9}))?\b")


@cache
def environment() -> "Environment":
    """Everything is escaped, and what is not given is an error."""
    from jinja2 import Environment, PackageLoader, StrictUndefined, pass_context

    made = Environment(
        loader=PackageLoader("samecam.review"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    named = pass_context(lambda context, text: name_groups(context["moment"], text))
    made.filters.update(name=marked, shown=shown, named=named, lines=_lines)
    made.filters.update(camera=camera_address, beside=beside_address, question=question_address)
    made.filters.update(turned=turned, setting=setting, without=without, query=query)
    return made


def name_groups(moment: Moment, text: str) -> Markup:
    """A sentence about groups, with the cameras that hold them now."""

    def said(found: re.Match[str]) -> str:
        numbers = [int(digits) for digits in found.groups()[1:] if digits]
        parts = [f"{number}{_link(moment, number)}" for number in numbers]
        return f"{found[1]} {' and '.join(parts)}"

    return Markup(_GROUPS.sub(said, str(escape(shown(text)))))


def _link(moment: Moment, number: int) -> str:
    by_group = moment.index.by_group
    name = moment.home(by_group[number]) if number < len(by_group) else ""
    if not name:
        return ""
    return f' (<a href="{escape(camera_address(name))}">{marked(name)}</a>)'


def _lines(text: str) -> Markup:
    """Text of a person, its line breaks kept."""
    return Markup("<br>").join(marked(line) for line in text.split("\n"))


def render(made: "Environment", template: str, context: dict[str, Any]) -> bytes:
    """A page as bytes."""
    return made.get_template(template).render(context).encode("utf-8", "backslashreplace")
