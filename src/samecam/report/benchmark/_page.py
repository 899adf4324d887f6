"""`benchmark.html`: one page, made of what `benchmark.json` holds and of nothing else."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from samecam.documents import HASH, Span, check_shape
from samecam.errors import SamecamError
from samecam.files import sweep, write_atomically
from samecam.inputs import PathLike
from samecam.pages import count, read_json, share, with_spread
from samecam.report._names import marked, shown
from samecam.report._parts import fill_template, part

_FORMAT, _VERSION = "samecam-benchmark", 1
_FILE, _PAGE = "benchmark.json", "benchmark.html"
# Of the picture, in pixels: names of methods, then a cell a set.
_LEFT, _TOP, _WIDE, _HIGH = 170, 92, 62, 30
_TEXT_ON_DARK = 0.55
_DIGITS = 3
_SHARE = Span(float, -1, 1)
_ROW = {"configuration": str, "method": str, "label": str, "runs": Span(int, 0), "failed?": str}
_SHAPE = {
    "samecam": str,
    "command": str,
    "sets_version": int,
    "repeats": int,
    "limit": (float, None),
    "commit": str,
    "versions": {str: str},
    "processor": str,
    "cores": (int, None),
    "threads": [int],
    "cite": [str],
    "sets": [
        {
            "name": str,
            "about": str,
            "kind": {"twin", "real"},
            "photos": int,
            "cameras": int,
            "strangers": int,
            "n_pixels": int,
            "sha256": HASH,
            "failed": str,
        }
    ],
    "methods": [{"method": str, "label": str, "input": str}],
    "notes": [str],
    "failures": [str],
    "ranking": [
        {
            "method": str,
            "label": str,
            "whose": str,
            "f": _SHARE,
            "f_spread": float,
            "precision": _SHARE,
            "recall": _SHARE,
            "ari": _SHARE,
            "groups": float,
            "cameras": int,
            "unclustered": float,
            "seconds": float,
            "sets": int,
            "runs": int,
        }
    ],
    "result": {"configurations": [str], "rows": [_ROW]},
}
_MEASURES = ("f", "f_spread", "precision", "recall", "ari", "n_clusters", "n_unclustered")
_DONE = dict.fromkeys((*_MEASURES, "seconds", "seconds_spread"), float)


def write_benchmark(folder: PathLike) -> Path:
    """Write the page of a benchmark beside its `benchmark.json`, and say where it is.

    Parameters
    ----------
    folder : of the benchmark, or what `samecam.benchmark` returned

    Examples
    --------
    >>> result = samecam.benchmark("ours", sets=["few"])
    >>> samecam.write_benchmark(result)
    """
    target = Path(folder) / _PAGE
    text = render(_read(Path(folder) / _FILE))
    sweep(target.parent)
    write_atomically(target, text)
    return target


def _read(path: Path) -> Mapping[str, Any]:
    """What a `benchmark.json` holds, or an error that says what is wrong with it."""
    content: dict[str, Any] = read_json(path, "run samecam benchmark first")
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        raise SamecamError(f"{str(path)!r} is no result of a benchmark: name its folder.")
    if content.get("version") != _VERSION:
        raise SamecamError(f"{str(path)!r} is of another version of samecam: make it again.")
    try:
        check_shape(content, _SHAPE)
        for row in content["result"]["rows"]:
            check_shape(row, _DONE if row["runs"] else {"failed": str}, "a row")
    except ValueError as error:
        raise SamecamError(f"{str(path)!r} cannot be read ({error}): make it again.") from None
    return content


def render(content: Mapping[str, Any]) -> str:
    """The page as HTML."""
    return fill_template(
        "benchmark/page.html",
        part("page.css") + part("benchmark/page.css"),
        filters={
            "name": marked,
            "share": _share,
            "count": count,
            "spread": _spread,
            "seconds": _seconds,
        },
        content=content,
        used=[one for one in content["sets"] if not one["failed"]],
        different=[one["failed"] for one in content["sets"] if one["failed"]],
        inputs={one["method"]: one["input"] for one in content["methods"]},
        picture=_picture(content),
        cameras={one["name"]: one["cameras"] for one in content["sets"]},
        sheets=list(_sheets(content)),
    )


def _picture(content: Mapping[str, Any]) -> dict[str, Any]:
    """F of every method on every set, as a table of shades: places, shades, words."""
    names = content["result"]["configurations"]
    found = {(row["configuration"], row["method"]): row for row in content["result"]["rows"]}
    lines = []
    for k, one in enumerate(content["ranking"]):
        cells = []
        for j, name in enumerate(names):
            row = found.get((name, one["method"]), {"runs": 0})
            value = row["f"] if row["runs"] else None
            cells.append(
                {
                    "x": _LEFT + j * _WIDE,
                    "word": "–" if value is None else share(value),
                    "shade": 0.0 if value is None else round(value, 3),
                    "dark": value is not None and value > _TEXT_ON_DARK,
                    "title": f"{one['label']} on {name}",
                }
            )
        lines.append({"label": one["label"], "whose": one["whose"], "y": _TOP + k * _HIGH,
                      "cells": cells})  # fmt: skip
    return {
        "width": _LEFT + len(names) * _WIDE + 30,
        "height": _TOP + len(lines) * _HIGH + 6,
        "left": _LEFT,
        "wide": _WIDE - 3,
        "high": _HIGH - 3,
        "heads": [(_LEFT + j * _WIDE + _WIDE / 2, name) for j, name in enumerate(names)],
        "top": _TOP,
        "lines": lines,
    }


def _sheets(content: Mapping[str, Any]) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Versions, machine and provenance, in sections of names and values."""
    yield "Software", [*content["versions"].items(), ("commit", content["commit"] or "–")]
    limit = content["limit"]
    yield (
        "Runs",
        [
            ("command", shown(content["command"])),
            ("fixed sets", f"version {content['sets_version']}"),
            ("runs of a method with chance in it", str(content["repeats"])),
            ("limit of a run", "none" if limit is None else f"{limit:g} s"),
        ],
    )
    threads = ", ".join(map(str, content["threads"])) or "–"
    yield (
        "Machine",
        [
            ("processor", shown(content["processor"])),
            ("cores", str(content["cores"])),
            ("threads of a method", threads),
        ],
    )


def _share(value: float) -> str:
    return share(value, _DIGITS)


def _spread(row: Mapping[str, Any]) -> str:
    return with_spread(row, digits=_DIGITS)


def _seconds(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:.0f}"
