"""A study: a folder of finished runs, so that nothing is run twice and scoring comes later."""

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from samecam.errors import SamecamError
from samecam.experiments._made import commit, processor

_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._=+-]*(/[A-Za-z0-9][A-Za-z0-9._=+-]*)*")
_FORMAT = 1


@dataclass(frozen=True, slots=True)
class Run:
    """What one run gave, unscored.

    Attributes
    ----------
    arrays : labels, truth and the like; no object arrays
    facts : seconds, seed, parameters and the like, ready for JSON
    """

    arrays: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)


class Study:
    """Runs in a folder: each is saved as it finishes, and loaded when it is asked for again.

    `folder/runs/KEY.json` holds the facts, with the commit and the versions that made them,
    and `folder/runs/KEY.npz` the arrays. The JSON is written last: a run without it does not
    count. A quick study is the beginning of the full one, so both may share a folder.

    Parameters
    ----------
    folder : of the study; made when the first run is saved
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self.made = 0  # runs made, not loaded, through this object

    def run(
        self,
        key: str,
        make: Callable[[], Run],
        *,
        parameters: Mapping[str, Any] | None = None,
    ) -> Run:
        """The run of that name: loaded if it was saved, else made and saved.

        Parameters
        ----------
        key : plain name with / between parts, like "Va20/ls-ssc/3"
        make : does the work
        parameters : what it depends on, ready for JSON; a saved run with others is an error
        """
        given = json.loads(json.dumps(dict(parameters or {})))
        if self.has(key):
            saved = self._document(key)
            if saved["parameters"] != given:
                raise SamecamError(
                    f"The run {key!r} in {str(self.folder)!r} was made with "
                    f"{saved['parameters']}, not {given}: name a new folder for this study."
                )
            return self.load(key)
        found = make()
        self._save(key, found, given)
        self.made += 1
        return self.load(key)

    def has(self, key: str) -> bool:
        """Whether that run was saved."""
        return self._path(key, ".json").is_file()

    def load(self, key: str) -> Run:
        """A saved run; an error if there is none."""
        facts = self._document(key)["facts"]
        arrays: dict[str, npt.NDArray[Any]] = {}
        path = self._path(key, ".npz")
        try:
            if path.is_file():
                with np.load(path, allow_pickle=False) as stored:
                    arrays = {name: stored[name] for name in stored.files}
        except (OSError, ValueError) as error:
            raise SamecamError(f"{str(path)!r} cannot be read ({error}): delete it.") from None
        return Run(arrays, facts)

    def provenance(self, key: str) -> dict[str, Any]:
        """Commit, versions and processor that made a run."""
        made: dict[str, Any] = self._document(key)["made"]
        return made

    def keys(self, prefix: str = "") -> list[str]:
        """Names of all saved runs that begin with `prefix`, sorted, numbers by value."""
        root = self.folder / "runs"
        found = (p.relative_to(root).with_suffix("").as_posix() for p in _files(root))
        return sorted((key for key in found if key.startswith(prefix)), key=_natural)

    def _document(self, key: str) -> dict[str, Any]:
        path = self._path(key, ".json")
        try:
            document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise SamecamError(
                f"{str(self.folder)!r} has no run {key!r}: run the experiment first."
            ) from None
        except (OSError, ValueError) as error:
            raise SamecamError(f"{str(path)!r} cannot be read ({error}): delete it.") from None
        return document

    def _save(self, key: str, run: Run, parameters: Mapping[str, Any]) -> None:
        path = self._path(key, ".json")
        path.parent.mkdir(parents=True, exist_ok=True)
        arrays = self._path(key, ".npz")
        if run.arrays:
            beside = arrays.with_name(f".{arrays.name}")
            with open(beside, "wb") as stream:
                np.savez_compressed(stream, **run.arrays)  # type: ignore[arg-type]
                stream.flush()
                os.fsync(stream.fileno())
            beside.rename(arrays)
        else:
            arrays.unlink(missing_ok=True)
        document = {
            "format": _FORMAT,
            "key": key,
            "parameters": parameters,
            "made": _provenance(),
            "facts": dict(run.facts),
        }
        write_text(path, json.dumps(document, indent=1, default=_plain) + "\n")

    def _path(self, key: str, suffix: str) -> Path:
        if not _KEY.fullmatch(key):
            raise ValueError(f"{key!r} is no key: use letters, digits, . _ = + - and / between")
        *folders, name = key.split("/")
        return self.folder.joinpath("runs", *folders, name + suffix)


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all: beside it, to the disk, then in its place."""
    beside = path.with_name(f".{path.name}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(beside, "w", encoding="utf-8", newline="") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        beside.rename(path)
    except OSError as error:
        raise SamecamError(f"{str(path)!r} cannot be written: {error.strerror}.") from None


@cache
def _provenance() -> dict[str, Any]:
    from samecam.case import versions

    return {"commit": commit(), "versions": versions(), "processor": processor()}


def _files(root: Path) -> Iterator[Path]:
    return (p for p in root.rglob("*.json") if not p.name.startswith("."))


def _natural(key: str) -> list[tuple[int, int, str]]:
    parts = re.split(r"(\d+)", key)
    return [(1, int(p), "") if p.isdigit() else (0, 0, p) for p in parts]


def _plain(value: Any) -> Any:
    """NumPy's numbers as Python's."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r} cannot be written as JSON")
