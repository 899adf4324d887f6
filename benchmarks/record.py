"""How a benchmark is asked, timed and written down: the same way everywhere.

Warm up first, repeat, take the median or the best; compare only what was timed in one run.
"""

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from samecam import compute, provenance
from samecam.files import write_atomically
from samecam.pages import read_json

RESULTS = Path(__file__).parent / "results"
# What every result says of itself.
FIELDS: Mapping[str, type | tuple[type, ...]] = {
    "benchmark": str,
    "command": str,
    "commit": str,
    "versions": dict,
    "processor": str,
    "cores": int,
    "settings": dict,
    "result": (dict, list),
}
Answer = TypeVar("Answer")


def parser(description: str | None) -> argparse.ArgumentParser:
    """Options that all benchmarks have: --quick and --out."""
    made = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument(
        "--quick",
        action="store_true",
        help="tiny sizes, to see that it runs; written only where --out says",
    )
    made.add_argument(
        "--out", type=Path, metavar="DIR", help=f"folder for the result (default {RESULTS})"
    )
    return made


def folder_of(options: argparse.Namespace) -> Path | None:
    """Where the result goes; None: nowhere."""
    if options.out is not None:
        return Path(options.out)
    return None if options.quick else RESULTS


def numbers(text: str) -> list[int]:
    """Whole numbers, separated by commas."""
    return [int(word) for word in text.split(",") if word]


def timed(function: Callable[..., Answer], *arguments: Any, **options: Any) -> tuple[Answer, float]:
    """What a call gives, and its seconds."""
    began = time.perf_counter()
    answer = function(*arguments, **options)
    return answer, time.perf_counter() - began


def best(function: Callable[[], object], repeats: int = 3) -> float:
    """Least seconds of some calls."""
    return min(timed(function)[1] for _ in range(repeats))


def interleaved(functions: Mapping[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """Median seconds of several functions called in turn, so that all meet the same machine."""
    times: dict[str, list[float]] = {name: [] for name in functions}
    for function in functions.values():
        function()
    for _ in range(repeats):
        for name, function in functions.items():
            times[name].append(timed(function)[1])
    return {name: statistics.median(values) for name, values in times.items()}


def describe(device: str) -> str:
    """A device as a person would name it."""
    return compute.describe_device(device)


def about(
    name: str,
    settings: Mapping[str, Any],
    *,
    command: str | None = None,
    commit: str | None = None,
    libraries: Sequence[str] = (),
) -> dict[str, Any]:
    """Everything a result says of itself but the result.

    Parameters
    ----------
    name : of the benchmark, a module in this folder
    settings : sizes and the like, ready for JSON
    command : module and options, where the name alone does not say them: "many_frames --bits 1"
    commit : where this is no checkout
    libraries : that are named beside those of fingerprints, SciPy and scikit-learn
    """
    more = provenance.library_versions("scipy", "scikit-learn", *libraries)
    return {
        "benchmark": name,
        "command": f"python -m benchmarks.{command or name}",
        "commit": commit or provenance.commit(),
        "versions": provenance.versions() | more,
        "processor": provenance.processor(),
        "cores": os.cpu_count(),
        "settings": dict(settings),
    }


def write(
    name: str,
    result: Any,
    *,
    folder: Path | None = RESULTS,
    command: str | None = None,
    libraries: Sequence[str] = (),
    **settings: Any,
) -> None:
    """Write FOLDER/NAME.json with everything needed to make it again; nowhere if it is None."""
    told = about(name, settings, command=command, libraries=libraries)
    document = {**told, "result": result}
    if folder is None:
        print("not written: --quick, and --out does not say where")
        return
    save(folder / f"{name}.json", document)
    print(f"written: {folder / name}.json")


def save(path: Path, document: Mapping[str, Any]) -> None:
    """Write a JSON file, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, json.dumps(document, indent=2) + "\n")


def load(name: str, folder: Path | None = RESULTS) -> dict[str, Any]:
    """What a benchmark wrote last."""
    path = (folder or RESULTS) / f"{name}.json"
    document: dict[str, Any] = read_json(path, f"run python -m benchmarks.{name}")
    return document


def missing(document: Mapping[str, Any]) -> list[str]:
    """Fields that a result has not, or of another type than they should be."""
    return [name for name, kind in FIELDS.items() if not isinstance(document.get(name), kind)]
