"""`about.toml`: who asks what, and who answers; written by a person, read as a stranger's."""

import datetime
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from samecam.case import ABOUT
from samecam.errors import ParameterError, SamecamError
from samecam.files import open_own, read_own, write_atomically

_LARGEST = 2**18
_SHORT, _LONG, _MANY = 200, 20_000, 1000
_TEXTS = {
    **dict.fromkeys(("examiner", "organisation", "case_number"), _SHORT),
    **dict.fromkeys(("question", "remarks", "conclusion"), _LONG),
}
TEMPLATE = '''\
# What a report says of itself: samecam report puts it on the first page. Take away the "#" where
# you have something to say. samecam reads this file and never writes to it.

# examiner = "A. Examiner"
# organisation = "Laboratory, or newsroom"
# case_number = "2026-0017"

# Numbers of exhibits, or numbers with what they are; a folder's name stands beside the folder.
# exhibits = ["A-1", "A-2"]
# exhibits = { "A-1" = "alice", "A-2" = "bob" }

# question = """Were the photographs of the two accounts taken by one camera?"""
# remarks = """What the files are, and how they came here."""

# In your own words, and on your own account; what was computed stands beside it.
# conclusion = """…"""

# Without this line the report is a draft, and says so on every page.
# signed = { name = "A. Examiner", date = 2026-01-31 }
'''


@dataclass(frozen=True, slots=True)
class About:
    """What a person says of a case; "" where nothing is said.

    Attributes
    ----------
    exhibits : numbers, each with what it is
    signed_by, signed_on : who signed the report, and the date; both or none
    """

    examiner: str = ""
    organisation: str = ""
    case_number: str = ""
    exhibits: tuple[tuple[str, str], ...] = ()
    question: str = ""
    remarks: str = ""
    conclusion: str = ""
    signed_by: str = ""
    signed_on: str = ""

    @property
    def mark(self) -> str:
        """What stands on every page: whether it is signed."""
        if not self.signed_by:
            return "Draft, not signed"
        return f"Signed by {self.signed_by}, {self.signed_on}"


def read_about(folder: Path, given: Mapping[str, Any] | None = None) -> About:
    """What `about.toml` of a case says, if there is one, and `given` in place of it.

    Parameters
    ----------
    given : entries as they would stand in the file; an error about one is a `ParameterError`
    """
    path = folder / ABOUT
    entries: dict[str, Any] = {}
    try:
        entries = _checked(tomllib.loads(read_own(path, _LARGEST).decode("utf-8")))
    except FileNotFoundError:
        pass
    except OSError as error:
        raise SamecamError(f"{str(path)!r} cannot be read: {error.strerror}.") from None
    except _WrongEntry as error:
        raise SamecamError(f"{str(path)!r}: {error.entry} {error.what}.") from None
    except (ValueError, RecursionError) as error:
        said = str(error) if isinstance(error, ValueError) else "it is nested too deeply"
        raise SamecamError(
            f"{str(path)!r} cannot be read as TOML ({said}): mend it, or see what samecam report "
            "--about-template writes."
        ) from None
    try:
        entries |= _checked(given or {})
    except _WrongEntry as error:
        raise ParameterError(error.entry, f"{{name}} {error.what}.") from None
    return About(**entries)


def write_about_template(folder: Path) -> Path:
    """Write an `about.toml` to fill in, if the case has none, and say where it is."""
    path = folder / ABOUT
    try:
        open(open_own(path)).close()
    except FileNotFoundError:
        write_atomically(path, TEMPLATE)
        return path
    except OSError as error:
        raise SamecamError(f"{str(path)!r} cannot be read: {error.strerror}.") from None
    raise SamecamError(f"{str(path)!r} is there already: change it, or take it away first.")


class _WrongEntry(Exception):  # noqa: N818 - becomes an error that a user sees
    """An entry that cannot be, and why."""

    def __init__(self, entry: str, what: str) -> None:
        super().__init__(entry, what)
        self.entry, self.what = entry, what


def _checked(given: Mapping[str, Any]) -> dict[str, Any]:
    """Entries as `About` has them."""
    result: dict[str, Any] = {}
    for name, value in given.items():
        if name in _TEXTS:
            result[name] = _text(name, value, _TEXTS[name])
        elif name == "exhibits":
            result[name] = _exhibits(value)
        elif name == "signed":
            result["signed_by"], result["signed_on"] = _signed(value)
        else:
            known = ", ".join([*_TEXTS, "exhibits", "signed"])
            raise _WrongEntry(repr(name[:_SHORT]), f"is no entry of it; there are {known}")
    return result


def _text(name: str, value: Any, most: int) -> str:
    if not isinstance(value, str):
        raise _WrongEntry(name, "is not text: give it in quotation marks")
    if len(value) > most:
        raise _WrongEntry(name, f"has {len(value):,} characters: give {most:,} at most")
    return value.strip()


def _exhibits(value: Any) -> tuple[tuple[str, str], ...]:
    if isinstance(value, dict):
        pairs = list(value.items())
    elif isinstance(value, list | tuple):
        pairs = [(each, "") for each in value]
    else:
        raise _WrongEntry("exhibits", "is neither a list of numbers nor a table of what they are")
    if len(pairs) > _MANY:
        raise _WrongEntry("exhibits", f"has {len(pairs):,} entries: give {_MANY:,} at most")
    return tuple(
        (_text("exhibits", number, _SHORT), _text("exhibits", what, _SHORT))
        for number, what in pairs
    )


def _signed(value: Any) -> tuple[str, str]:
    if not isinstance(value, dict) or set(value) != {"name", "date"}:
        raise _WrongEntry("signed", 'must be like { name = "A. Examiner", date = 2026-01-31 }')
    name, date = _text("signed", value["name"], _SHORT), value["date"]
    if isinstance(date, datetime.datetime):
        date = date.date()
    try:
        day = date if isinstance(date, datetime.date) else datetime.date.fromisoformat(date)
    except (TypeError, ValueError):
        raise _WrongEntry("signed", "has a date that is none: give it like 2026-01-31") from None
    if not name:
        raise _WrongEntry("signed", "has no name")
    return name, day.isoformat()
