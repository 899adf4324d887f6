"""Fingerprints that somebody brings: a .npy file into the store of a case."""

import hashlib
import mmap
import os
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from samecam import compute
from samecam.arrays import Floats, Mask, Rows
from samecam.case.extraction._estimate import free_bytes
from samecam.case.extraction._extract import Extraction, frames_with_rows
from samecam.case.folder import Case
from samecam.errors import SamecamError
from samecam.frames import Frame
from samecam.inputs import open_regular, read_input, read_some
from samecam.provenance import versions
from samecam.store import Dtype, Record, record_bytes

PHASE = "Reading"
_BLOCK = 2**26
_DIGITS = 6
_MAGIC = b"\x93NUMPY"


@dataclass(frozen=True, slots=True)
class Vectors:
    """An opened file of fingerprints.

    Attributes
    ----------
    rows : (n, d), mapped from the file
    names : of the rows
    sources : the file, and that of the names, absolute
    state : length and time of change of the file; rows are read again when it changes, and those
        that have another name than before
    """

    rows: npt.NDArray[np.floating]
    names: list[str]
    sources: list[str]
    state: tuple[int, int]


@dataclass(frozen=True, slots=True)
class VectorSettings:
    """What a case must know of fingerprints that were brought: length and numbers on disk."""

    n_pixels: int
    rows: Dtype

    @property
    def frame(self) -> Frame:
        """A row of unknown shape."""
        return Frame(self.n_pixels, 1)

    @classmethod
    def of(cls, vectors: Vectors) -> "VectorSettings":
        """Half floats stay half floats; wider ones are kept as float32."""
        half = vectors.rows.dtype.itemsize <= 2
        return cls(vectors.rows.shape[1], "float16" if half else "float32")

    def as_dict(self) -> dict[str, Any]:
        """As it stands in `case.json`."""
        return {"fingerprints": "brought", "n_pixels": self.n_pixels, "dtype": self.rows}


def open_vectors(
    file: str | os.PathLike[str], names: str | os.PathLike[str] | None = None
) -> Vectors:
    """Map an (n, d) array and name its rows, or a sentence why not."""
    rows = _mapped(file)
    sources = [os.path.abspath(file)]
    if names is None:
        digits = max(_DIGITS, len(str(len(rows) - 1)))
        called = [f"row {k:0{digits}d}" for k in range(len(rows))]
    else:
        called = _read_names(names, len(rows))
        sources.append(os.path.abspath(names))
    status = os.stat(file)
    return Vectors(rows, called, sources, (status.st_size, status.st_mtime_ns))


def _mapped(file: str | os.PathLike[str]) -> npt.NDArray[np.floating]:
    try:
        with open_regular(file) as stream:
            head = read_some(stream, len(_MAGIC))
        if head != _MAGIC:
            raise SamecamError(f"{str(file)!r} is no .npy file: write it with numpy.save.")
        rows: npt.NDArray[Any] = np.load(file, mmap_mode="r", allow_pickle=False)
    except OSError as error:
        words = error.strerror or "it is damaged"
        raise SamecamError(f"{str(file)!r} cannot be read: {words}.") from None
    except SamecamError:
        raise
    except Exception as error:  # any byte sequence may arrive
        words = " ".join(str(error).split()).rstrip(".") or type(error).__name__
        raise SamecamError(f"{str(file)!r} cannot be read as .npy: {words}.") from None
    if rows.ndim != 2 or rows.dtype.kind != "f":
        raise SamecamError(
            f"{str(file)!r} holds {rows.dtype} of shape {rows.shape}: give floating point "
            "numbers, one row per photo."
        )
    if not rows.size:
        raise SamecamError(f"{str(file)!r} holds no fingerprint: its shape is {rows.shape}.")
    return rows


def _read_names(file: str | os.PathLike[str], count: int) -> list[str]:
    try:
        text = read_input(file).decode("utf-8-sig", "surrogateescape")
    except OSError as error:
        raise SamecamError(f"{str(file)!r} cannot be read: {error.strerror}.") from None
    names = [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]
    if len(names) != count:
        raise SamecamError(
            f"{str(file)!r} has {len(names)} lines but there are {count} fingerprints: write one "
            "name a line."
        )
    seen: set[str] = set()
    for line, name in enumerate(names, start=1):
        if not name or name in seen:
            what = f"names {name!r} a second time" if name else "is empty"
            raise SamecamError(f"Line {line} of {str(file)!r} {what}: give each a name of its own.")
        seen.add(name)
    return names


def ingest(
    case: Case, vectors: Vectors, progress: compute.Progress, stop: threading.Event
) -> Extraction:
    """Bring the rows that are not there yet into the store, and write `images.csv`."""
    began = time.monotonic()
    known = {record.key: record for record in case.store.records()}
    case.store.discard(set(known) - set(vectors.names))
    current = _current(known, vectors)
    pending = [k for k, name in enumerate(vectors.names) if name not in current]
    _check_space(case, vectors, len(pending))
    case.log.add("extract", files=len(pending), settings={}, versions=versions())
    case.save(state="extracting", versions=versions(), device="cpu")
    owners = {
        known[name].sha256: name
        for name in vectors.names
        if name in current and known[name].meta["status"] != "duplicate"
    }
    done = 0
    for rows in _blocks(pending, vectors.rows):
        if stop.is_set():
            break
        _add(case, vectors, rows, owners)
        done += len(rows)
        progress(PHASE, done, len(pending))
    return _finish(case, done, len(pending), time.monotonic() - began)


def _current(known: Mapping[str, Record], vectors: Vectors) -> set[str]:
    """Names of rows that are kept as they are: read from there, duplicates of such a row."""
    same = {
        name: known[name]
        for row, name in enumerate(vectors.names)
        if name in known and known[name].meta.get("file") == [*vectors.state, row]
    }
    owned = {each.sha256 for each in same.values() if each.meta["status"] != "duplicate"}
    return {name for name, record in same.items() if record.sha256 in owned}


def _check_space(case: Case, vectors: Vectors, count: int) -> None:
    free = free_bytes(case.folder)
    need = count * record_bytes(vectors.rows.shape[1], case.store.dtype)
    if need > free:
        raise SamecamError(
            f"{count} fingerprints of {vectors.rows.shape[1]} numbers need "
            f"{compute.format_bytes(need)} and only {compute.format_bytes(free)} are free for "
            f"{str(case.folder)!r}: free some, or name a folder on a larger disk."
        )


def _blocks(pending: Sequence[int], rows: npt.NDArray[np.floating]) -> Iterator[list[int]]:
    step = max(1, _BLOCK // (8 * rows.shape[1]))
    for start in range(0, len(pending), step):
        yield list(pending[start : start + step])


@dataclass(frozen=True, slots=True)
class _Some:
    """Some rows of a file: their bytes' hashes and number, and what is kept of them.

    Rows with NaN or infinite numbers are not `finite`; theirs and constant ones are 0 in `unit`.
    """

    hashes: list[str]
    finite: list[bool]
    unit: Floats
    bytes_each: int


def _read(rows: npt.NDArray[np.floating], some: Rows) -> _Some:
    from samecam.correlate import normalised

    raw = np.array(rows[some])
    finite: Mask = np.asarray(np.isfinite(raw).all(axis=1))
    hashes = [hashlib.sha256(row.tobytes()).hexdigest() for row in raw]
    raw[~finite] = 0
    return _Some(hashes, finite.tolist(), normalised(raw), raw[0].nbytes)


def _add(case: Case, vectors: Vectors, rows: list[int], owners: dict[str, str]) -> None:
    """Judge, normalise and commit some rows, read in as many threads as there are."""
    parts = np.array_split(np.array(rows), min(compute.thread_count(), len(rows)))
    read = compute.side_by_side(partial(_read, vectors.rows), parts)
    _let_go(vectors.rows)
    for numbers, some in zip(parts, read, strict=True):
        for k, row in enumerate(numbers.tolist()):
            _add_row(case, vectors, row, some, k, owners)
    case.store.commit()
    case.log.flush()


def _add_row(
    case: Case, vectors: Vectors, row: int, some: _Some, k: int, owners: dict[str, str]
) -> None:
    name, sha256 = vectors.names[row], some.hashes[k]
    status, code, reason = "good", "", ""
    if not some.finite[k]:
        status, code = "unusable", "not-finite"
        reason = "contains NaN or infinite numbers"
    elif not some.unit[k].any():
        status, code, reason = "unusable", "constant", "all numbers are the same"
    elif sha256 in owners:
        status, reason = "duplicate", f"same bytes as {owners[sha256]}"
    else:
        owners[sha256] = name
    meta = {"status": status, "code": code, "reason": reason, "bytes": some.bytes_each}
    vector = some.unit[k] if status == "good" else None
    case.store.add(name, vector, sha256=sha256, meta={**meta, "file": [*vectors.state, row]})
    case.log.add("file", path=name, sha256=sha256, status=status, reason=reason)


def _let_go(rows: npt.NDArray[np.floating]) -> None:
    """Let the system take back pages of the file that have been read: they would count as ours."""
    mapping = getattr(rows, "_mmap", None)
    if mapping is not None and hasattr(mmap, "MADV_DONTNEED"):
        mapping.madvise(mmap.MADV_DONTNEED)


def _finish(case: Case, done: int, total: int, seconds: float) -> Extraction:
    interrupted = done < total
    counts, reasons = case.end_extraction(
        interrupted=interrupted, done=done, seconds=seconds, work={}
    )
    return Extraction(
        case.folder,
        counts,
        done,
        seconds,
        {},
        interrupted,
        reasons,
        frames_with_rows(case),
        brought=True,
    )
