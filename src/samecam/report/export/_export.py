"""`export_case`: a case to one file of another format."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path

from samecam import compute
from samecam.errors import SamecamError
from samecam.files import sweep, write_atomically
from samecam.inputs import PathLike
from samecam.report._target import check_target
from samecam.report.export._content import Content, ExportedFile, read_content, with_hashes
from samecam.report.export._hashes import hash_files
from samecam.report.export._tables import csv_export, json_export
from samecam.report.export._uco import uco_export
from samecam.report.export._vics import vics_export

HASHES = ("md5", "sha1", "sha256")
FORMATS = {
    "csv": "export.csv",
    "json": "export.json",
    "vics": "export.vics.json",
    "case": "export.case.jsonld",
}
_PICTURES_ONLY = ("vics", "case")
_NEEDED = {"vics": ("md5", "sha1")}


@dataclass(frozen=True, slots=True, repr=False)
class Export:
    """What was written.

    Attributes
    ----------
    file : where
    format : csv, json, vics or case
    files : files of the case that are in it
    cameras, groups : that are in it
    without_hashes : files whose further hashes could not be made, by path, with the reason;
        `vics` leaves them out
    """

    file: Path
    format: str
    files: int
    cameras: int
    groups: int
    without_hashes: dict[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        lost = f", {len(self.without_hashes)} without hashes" if self.without_hashes else ""
        return f"<Export {str(self.file)!r}: {self.files} files, {self.cameras} cameras{lost}>"

    def __fspath__(self) -> str:
        return str(self.file)


def export_case(
    case: PathLike,
    format: str,
    *,
    output: PathLike | None = None,
    hashes: Collection[str] = (),
    bom: bool = False,
    progress: compute.Progress | None = None,
) -> Export:
    """Write a clustered case in the format of another tool.

    The case is only read; its photos too, and only if hashes are wanted that it does not
    hold. Nothing is sent anywhere.

    Parameters
    ----------
    case : the case folder
    format : "csv", "json", "vics" (VICS 2.0) or "case" (CASE/UCO JSON-LD)
    output : file to write; by default `export.*` in the case folder
    hashes : of md5, sha1, sha256; the last is always there, `vics` has the first two anyway
    bom : begin a CSV with the mark by which spreadsheets know UTF-8
    progress : called as progress(phase, done, total) from time to time

    Examples
    --------
    >>> samecam.export_case("CASE", "json", output="for another tool.json").file
    """
    folder = Path(case)
    wanted = _check(format, hashes)
    content = read_content(folder)
    if format in _PICTURES_ONLY and not content.case.is_of_photos:
        raise SamecamError(
            f"The case {str(folder)!r} was made from fingerprints and has no files for the format "
            f"{format!r}: choose csv or json."
        )
    target = folder / FORMATS[format] if output is None else Path(output)
    check_target(target, content.case, ("export.",))
    content, troubles = _hashed(content, format, wanted, compute.shown_progress(progress))
    sweep(target.parent)
    write_atomically(target, _texts(content, wanted, bom)[format]())
    left_out = len(troubles) if format == "vics" else 0
    count = len(_exported(content, format)) - left_out
    cameras, groups = len(content.cameras), len(content.groups)
    return Export(target, format, count, cameras, groups, troubles)


def _exported(content: Content, format: str) -> list[ExportedFile]:
    """The files a format is about: pictures for tools that know only these, else all."""
    return content.pictures() if format in _PICTURES_ONLY else content.files


def _hashed(
    content: Content, format: str, wanted: list[str], progress: compute.Progress
) -> tuple[Content, dict[str, str]]:
    """Content with the hashes that are wanted, and files that could not be hashed."""
    further = [name for name in wanted if name != "sha256"]
    readable = [f for f in _exported(content, format) if f.photo.sha256]
    if not further or not readable:
        return content, {}
    made, troubles = hash_files(content.case, readable, further, progress)
    if not made:
        raise SamecamError(
            f"None of the {len(readable)} files of {str(content.case.folder)!r} can be hashed "
            f"({next(iter(troubles.values()))}): put the photos back where they were."
        )
    return with_hashes(content, made), troubles


def _texts(content: Content, hashes: list[str], bom: bool) -> dict[str, Callable[[], str]]:
    return {
        "csv": lambda: csv_export(content, bom=bom),
        "json": lambda: json_export(content, hashes),
        "vics": lambda: vics_export(content),
        "case": lambda: uco_export(content, _ended(content)),
    }


def _check(format: str, hashes: Collection[str]) -> list[str]:
    if format not in FORMATS:
        raise SamecamError(f"The format is {format!r}: choose one of {', '.join(FORMATS)}.")
    unknown = sorted(set(hashes) - set(HASHES))
    if unknown:
        raise SamecamError(f"The hash is {unknown[0]!r}: choose of {', '.join(HASHES)}.")
    return sorted({*hashes, *_NEEDED.get(format, ())})


def _ended(content: Content) -> str | None:
    """When the case was last clustered, as its log says."""
    ended = None
    for entry in content.case.log_entries("clustered"):
        ended = str(entry.get("time")) if "time" in entry else ended
    return ended
