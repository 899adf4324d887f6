"""Pages in markdown whose figures come from JSON: read, format, fill in, compare."""

import difflib
import hashlib
import io
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from samecam.errors import SamecamError
from samecam.files import write_atomically

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "Page",
    "bullets",
    "count",
    "digest",
    "digest_in",
    "duration",
    "fill",
    "listed",
    "percent",
    "power_of_ten",
    "read_json",
    "share",
    "significant",
    "span",
    "svg",
    "table",
    "with_spread",
]

# Nearer to 1 than this is 1: results are kept with six digits.
_ONE = 5e-7
_MOST = 6
_DIGEST = "sha256 of the result: "
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True, slots=True)
class Page:
    """A page of documentation that is made from JSON, whole or between markers.

    Attributes
    ----------
    path : the page
    command : what writes it again
    make : its text from the text that stands there and the JSON
    """

    path: Path
    command: str
    make: Callable[[str], str]

    def text(self) -> str:
        """The page as it stands."""
        return self.path.read_text(encoding="utf-8") if self.path.exists() else ""

    def write(self) -> None:
        """Write the page that its JSON makes."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(self.path, self.make(self.text()))

    def differences(self) -> str:
        """Lines in which the page differs from what its JSON makes; "" if there are none."""
        before = self.text()
        lines = difflib.unified_diff(
            before.splitlines(), self.make(before).splitlines(), "page", "JSON", lineterm="", n=0
        )
        return "\n".join(lines)


def read_json(path: Path, make: str) -> Any:
    """What a JSON file holds, or an error that says how to make the file."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise SamecamError(f"{str(path)!r} is not there: {make}.") from None
    except (OSError, ValueError, RecursionError) as error:
        raise SamecamError(f"{str(path)!r} cannot be read ({error}): make it again.") from None


def fill(text: str, parts: Mapping[str, str]) -> str:
    """A page with what stands between each pair of markers replaced.

    The markers of a part are the comments ``<!-- NAME -->`` and ``<!-- end of NAME -->``.
    """
    for name, body in parts.items():
        pattern = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end of {name} -->)", re.S)
        if len(pattern.findall(text)) != 1:
            raise ValueError(f"the page has not one pair of markers {name!r}; put it in")

        def replaced(match: re.Match[str], body: str = body) -> str:
            return f"{match[1]}{body.strip()}\n{match[2]}"

        text = pattern.sub(replaced, text)
    return text


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A markdown table."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines)


def bullets(sentences: Iterable[str]) -> str:
    """A markdown list, a line each; empty ones are left out."""
    return "\n".join(f"- {sentence}" for sentence in sentences if sentence)


def listed(names: Sequence[str]) -> str:
    """One, two and three."""
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]


def share(value: float, digits: int = 2) -> str:
    """A number between 0 and 1 with two digits, and with more where it would round to 1.

    Only what is 1 to six digits reads "1".
    """
    if value >= 1 - _ONE:
        return "1"
    text = ""
    for places in range(digits, _MOST + 1):
        text = f"{value:.{places}f}"
        if not text.startswith("1"):
            break
    return text.removeprefix("0")


def with_spread(row: Mapping[str, Any], name: str = "f", digits: int = 2) -> str:
    """Mean ± standard deviation, or the mean alone where the deviation would read 0."""
    mean = share(row[name], digits)
    spread = share(row[f"{name}_spread"], max(digits, len(mean.partition(".")[2])))
    return f"{mean} ± {spread}" if row["runs"] > 1 and spread.strip(".0") else mean


def percent(value: float) -> str:
    """A share in percent with one digit, two where it would read 0 or 100 and is neither."""
    text = f"{value:.1%}"
    return f"{value:.2%}" if text in ("0.0%", "100.0%") and 0 < value < 1 else text


def count(value: float) -> str:
    """A mean of counts: whole where it is."""
    return f"{value:.0f}" if abs(value - round(value)) < 0.05 else f"{value:.1f}"


def span(low: str, high: str) -> str:
    """Two numbers as a range, or the one that they are."""
    return low if low == high else f"{low} to {high}"


def significant(value: float) -> str:
    """A number to two figures, whole from 10 on."""
    if value == 0:
        return "0"
    digits = max(0, 1 - math.floor(math.log10(abs(value))))
    return f"{value:,.{min(digits, 9)}f}"


def power_of_ten(value: float) -> str:
    """1.2·10¹³."""
    mantissa, power = f"{value:.1e}".split("e")
    return f"{mantissa}·10{str(int(power)).translate(_RAISED)}"


def duration(seconds: float) -> str:
    """A time as one would say it."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} minutes"
    return f"{seconds / 3600:.1f} hours"


def digest(result: Mapping[str, Any]) -> str:
    """SHA-256 of a result, by which a picture says what it was drawn from."""
    text = json.dumps(result, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def svg(figure: "Figure", drawn_from: str = "", *, fonts: Literal["path", "none"] = "path") -> str:
    """A figure as SVG, the same bytes for the same figure: no date, names not by chance.

    Parameters
    ----------
    figure : of matplotlib
    drawn_from : `digest` of the result, to be found again by `digest_in`
    fonts : letters as outlines, or as text for the reader's own font
    """
    import matplotlib

    stream = io.StringIO()
    about = {"Date": None, "Creator": None, "Description": _DIGEST + drawn_from}
    with matplotlib.rc_context({"svg.hashsalt": "samecam", "svg.fonttype": fonts}):
        figure.savefig(stream, format="svg", metadata=about)
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines()) + "\n"


def digest_in(picture: str) -> str:
    """The digest of the result that an SVG was drawn from; "" if it names none."""
    match = re.search(re.escape(_DIGEST) + "([0-9a-f]{64})", picture)
    return match[1] if match else ""
