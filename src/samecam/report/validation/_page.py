"""`validation.html`: one page, made of what `validation.json` holds and of nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from samecam.case import VALIDATION_PAGE, Validation
from samecam.errors import SamecamError
from samecam.files import sweep, write_atomically
from samecam.report._names import marked, shown
from samecam.report._parts import fill_template, part
from samecam.report.validation import _plots, _words

_FEW = 20
# Rows of a table of files; `validation.json` has all.
_LONG = 500
_HEADINGS = {
    "relation": "By model: another body of the same model, or another model",
    "frame": "By width and height",
    "photos of the camera": "By number of photos of the camera, the photo itself left out",
    "file": "By file",
}


def write_validation(result: Validation) -> Path:
    """Write the page of a validation into its folder, and say where it is.

    Examples
    --------
    >>> result = samecam.validate_photos(["photos/"], "truth.csv", "validation")
    >>> samecam.write_validation(result)
    """
    if result.interrupted:
        raise SamecamError(
            f"The validation in {str(result.output)!r} was interrupted: go on with it first."
        )
    target = result.output / VALIDATION_PAGE
    sweep(target.parent)
    write_atomically(target, render(result.content))
    return target


def render(content: Mapping[str, Any]) -> str:
    """The page as HTML."""
    return fill_template(
        "validation/page.html",
        part("page.css") + part("validation/page.css"),
        filters={
            "name": marked,
            "shown": shown,
            "ratio": _words.ratio,
            "number": _number,
            "percent": _percent,
        },
        content=content,
        conclusion=list(_words.conclusion(content)),
        limits=_words.limits(),
        sections=list(_sections(content)),
        plots=[
            _plots.tippett_plot(content),
            _plots.pav_plot(content),
            _plots.counted_plot(content, _FEW),
        ],
        chart={
            "width": _plots.WIDTH,
            "height": _plots.HEIGHT,
            "left": _plots.LEFT,
            "right": _plots.RIGHT,
            "top": _plots.TOP,
            "bottom": _plots.BOTTOM,
        },
        sheets=list(_sheets(content)),
        few=_FEW,
        long=_LONG,
    )


def _sections(content: Mapping[str, Any]) -> Iterator[tuple[str, list[Mapping[str, Any]]]]:
    """Tables of figures: all comparisons, then by what they have in common."""
    yield "All comparisons", [{**content["overall"], "value": "all"}]
    for by, heading in _HEADINGS.items():
        rows = [row for row in content["by"] if row["by"] == by]
        if by == "frame":
            rows = [{**row, "value": row["value"].replace("x", " × ")} for row in rows]
        if rows:
            yield heading, rows


def _sheets(content: Mapping[str, Any]) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Versions, parameters and provenance, in sections of names and values."""
    yield "Software", [*content["versions"].items(), ("commit", content["commit"] or "–")]
    yield (
        "Fingerprints",
        [(name, _text(value)) for name, value in content["extraction"].items()]
        + [("device", content["device"] or "–")],
    )
    yield (
        "Criteria and cap",
        [(name, _text(value)) for name, value in content["criteria"].items()]
        + [("largest likelihood ratio stated", _words.ratio(content["cap"]))],
    )
    yield (
        "Data",
        [
            ("photos", _text(content["sources"])),
            ("truth", shown(content["truth"]["file"])),
            ("truth, SHA-256", content["truth"]["sha256"]),
            ("case/images.csv, SHA-256", content["images_sha256"]),
            *((f"{name}, SHA-256", value) for name, value in content["sha256"].items()),
        ],
    )


def _text(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(map(_text, value)) or "–"
    return shown(str(value))


def _number(value: float | None, digits: int = 3) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{value:.2%}"
