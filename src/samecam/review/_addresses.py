"""Addresses of pages: any name can stand in one, and comes out as it went in."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlencode

_MOST_FIELDS = 50


@dataclass(frozen=True, slots=True)
class Here:
    """The address of a page: its path and its fields."""

    path: str
    fields: Mapping[str, str] = field(default_factory=dict)

    def get(self, name: str) -> str:
        """A field; "" if it is not there."""
        return self.fields.get(name, "")

    def number(self, name: str, most: int) -> int:
        """A field that is a whole number from 0 to `most`; 0 for what is none."""
        text = self.get(name)
        if not (text.isascii() and text.isdecimal() and len(text) < 10):
            return 0
        return max(min(int(text), most), 0)

    def moved(self, path: str) -> str:
        """The same fields under another path."""
        return f"{path}?{query(self.fields)}"


def here_of(path: str, query_string: bytes) -> Here:
    """The address of a request; odd bytes are kept, of a field that stands twice the last."""
    try:
        pairs = parse_qsl(
            query_string.decode("latin-1"),
            keep_blank_values=True,
            errors="surrogateescape",
            max_num_fields=_MOST_FIELDS,
        )
    except ValueError:
        pairs = []
    return Here(path, dict(pairs))


def query(fields: Mapping[str, Any]) -> str:
    """Fields as they stand in an address."""
    return urlencode(fields, errors="surrogateescape")


def camera_address(name: str) -> str:
    """The page of a camera."""
    return f"/camera?{query({'name': name})}"


def beside_address(names: tuple[str, str]) -> str:
    """The page of two cameras."""
    return f"/two?{query({'first': names[0], 'second': names[1]})}"


def question_address(key: str) -> str:
    """The page of a question."""
    return f"/?{query({'item': key})}"


def turned(here: Here, at: int) -> str:
    """The same list from another place on."""
    return f"{here.path}?{query({**here.fields, 'at': at})}"


def setting(here: Here, name: str, value: str) -> str:
    """The same page with another field, from its beginning."""
    rest = {k: v for k, v in here.fields.items() if k not in (name, "at")}
    return f"{here.path}?{query({**rest, name: value})}"


def without(here: Here, name: str) -> str:
    """The same page without a field, from its beginning."""
    rest = {k: v for k, v in here.fields.items() if k not in (name, "at")}
    return f"{here.path}?{query(rest)}" if rest else here.path
