"""A study: a folder of finished runs, so that nothing is run twice and scoring comes later."""

import io
import json
import os
import re
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from samecam.errors import SamecamError
from samecam.files import sweep, write_atomically
from samecam.provenance import commit, library_versions, processor, versions

_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._=+-]*(/[A-Za-z0-9][A-Za-z0-9._=+-]*)*")
_FORMAT = 1
# Libraries that methods compute with, beside those that make fingerprints.
COMPUTED_WITH = ("scipy", "scikit-learn")


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

    One process at a time makes runs in a folder; others may read what is there.

    Parameters
    ----------
    folder : of the study; made when the first run is saved
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self.made = 0  # runs made, not loaded, through this object
        self._hold: _Hold | None = None

    def run(
        self,
        key: str,
        make: Callable[[], Run],
        *,
        parameters: Mapping[str, Any] | None = None,
        again: Callable[[Run], bool] | None = None,
    ) -> Run:
        """The run of that name: loaded if it was saved, else made and saved.

        Parameters
        ----------
        key : plain name with / between parts, like "Va20/ls-ssc/3"
        make : does the work
        parameters : what it depends on, ready for JSON; a saved run with others is an error
        again : whether a saved run is to be made once more; None: never
        """
        given = json.loads(json.dumps(dict(parameters or {})))
        if not self.has(key):
            self.hold()
        if self.has(key):  # now, if another process has just made it
            saved = self._document(key)
            if saved["parameters"] != given:
                raise SamecamError(
                    f"The run {key!r} in {str(self.folder)!r} was made with "
                    f"{saved['parameters']}, not {given}: name a new folder for this study."
                )
            known = self.load(key)
            if again is None or not again(known):
                return known
            self.hold()
        run = make()
        self._save(key, run, given)
        self.made += 1
        return self.load(key)

    def hold(self) -> None:
        """Keep the folder for this process, until the last of its studies of it is gone.

        `run` does so before it makes anything; what writes to the folder by itself calls it.
        """
        if self._hold is None:
            with _holding:
                self._hold = _held(self.folder)

    def has(self, key: str) -> bool:
        """Whether that run was saved."""
        return os.path.isfile(self._path(key, ".json"))

    def load(self, key: str) -> Run:
        """A saved run; an error if there is none."""
        document, path = self._document(key), self._path(key, ".npz")
        arrays: dict[str, npt.NDArray[Any]] = {}
        try:
            if path.is_file():
                arrays = _read_arrays(path)
        except Exception as error:  # a damaged zip raises nearly anything
            raise SamecamError(
                f"{str(path)!r} cannot be read ({error}): delete it and the JSON beside it, and "
                "run the experiment again."
            ) from None
        if set(document.get("arrays", arrays)) != set(arrays):
            raise SamecamError(
                f"{str(path)!r} does not hold the arrays of its run: delete it and the JSON "
                "beside it, and run the experiment again."
            )
        return Run(arrays, document["facts"])

    def provenance(self, key: str) -> dict[str, Any]:
        """Commit, versions and processor that made a run."""
        made: dict[str, Any] = self._document(key)["made"]
        return made

    def keys(self, prefix: str = "") -> list[str]:
        """Names of all saved runs that begin with `prefix`, sorted, numbers by value."""
        root = self.folder / "runs"
        keys = (p.relative_to(root).with_suffix("").as_posix() for p in _files(root))
        return sorted((key for key in keys if key.startswith(prefix)), key=_natural)

    def _document(self, key: str) -> dict[str, Any]:
        path = self._path(key, ".json")
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise SamecamError(
                f"{str(self.folder)!r} has no run {key!r}: run the experiment first."
            ) from None
        except (OSError, ValueError, RecursionError) as error:
            raise SamecamError(f"{str(path)!r} cannot be read ({error}): delete it.") from None
        parts = ("parameters", "made", "facts")
        if not isinstance(document, dict) or any(
            not isinstance(document.get(part), dict) for part in parts
        ):
            raise SamecamError(f"{str(path)!r} is no run, which has {', '.join(parts)}: delete it.")
        return document

    def _save(self, key: str, run: Run, parameters: Mapping[str, Any]) -> None:
        path, arrays = self._path(key, ".json"), self._path(key, ".npz")
        if run.arrays:
            stream = io.BytesIO()
            np.savez_compressed(stream, **run.arrays)  # type: ignore[arg-type]
            write_file(arrays, stream.getvalue())
        else:
            with _write_errors(arrays):
                arrays.unlink(missing_ok=True)
        document = {
            "format": _FORMAT,
            "key": key,
            "parameters": parameters,
            "made": _provenance(),
            "arrays": sorted(run.arrays),
            "facts": dict(run.facts),
        }
        write_file(path, json.dumps(document, indent=1, default=_plain) + "\n")

    def _path(self, key: str, suffix: str) -> Path:
        if not _KEY.fullmatch(key):
            raise ValueError(f"{key!r} is no key: use letters, digits, . _ = + - and / between")
        *folders, name = key.split("/")
        return self.folder.joinpath("runs", *folders, name + suffix)


def write_file(path: Path, text: str | bytes) -> None:
    """Write a file whole or not at all, in a folder that is made if needed."""
    with _write_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, text)


@contextmanager
def _write_errors(path: Path) -> Iterator[None]:
    """Report that a path cannot be written, and why."""
    try:
        yield
    except OSError as error:
        why = error.strerror or error
        raise SamecamError(f"{str(path)!r} cannot be written: {why}.") from None


class _Hold:
    """The lock of a folder; the file is closed, which lets go of it, when nobody has this."""

    def __init__(self, fd: int) -> None:
        weakref.finalize(self, os.close, fd)


# Folders that this process holds, by their real paths: a process is not in its own way.
_holds: weakref.WeakValueDictionary[str, _Hold] = weakref.WeakValueDictionary()
# One thread at a time: to close one of two files of a lock is to let go of it.
_holding = threading.Lock()


def _held(folder: Path) -> _Hold:
    """Hold a study for this process alone; the kernel lets go when it ends."""
    from samecam.case import lock_folder

    if os.path.exists(folder) and not os.path.isdir(folder):
        raise SamecamError(f"{str(folder)!r} is a file: name a folder for the study.")
    real = os.path.realpath(folder)
    held = _holds.get(real)
    if held is not None:
        return held
    with _write_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        hold = _Hold(lock_folder(folder))
    for part in (folder, *(p for p in (folder / "runs").rglob("*") if p.is_dir())):
        sweep(part)
    _holds[real] = hold
    return hold


def _read_arrays(path: Path) -> dict[str, npt.NDArray[Any]]:
    """All arrays of a file, read whole."""
    with open(path, "rb") as stream, np.load(stream, allow_pickle=False) as stored:
        return {name: stored[name] for name in stored.files}


@cache
def _provenance() -> dict[str, Any]:
    computed_with = library_versions(*COMPUTED_WITH)
    return {
        "commit": commit(),
        "versions": versions() | computed_with,
        "processor": processor(),
    }


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
