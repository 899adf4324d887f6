"""`case.json`: how a case was made, and what its answer rests on."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from samecam.case.folder._clustering import SEARCHES, ClusteringSettings
from samecam.case.folder._names import ANSWER, CASE, STATES
from samecam.case.folder._settings import ExtractionSettings, StoreSettings
from samecam.documents import HASH, Span, check_shape, read_versioned
from samecam.errors import SamecamError
from samecam.fingerprint import MOST_SPINS
from samecam.store import DTYPES

FORMAT = "samecam-case"
VERSION = 2
_COUNT = Span(int, 0, 2**53)
_DETAILS = {
    "parameters?": {"join_rate?": (float, str, None)},
    "device?": str,
    "memory_bytes?": (Span(int, 1, 2**53), None),
    "searched?": {str: _COUNT},
    "frames?": {
        str: {"null_scale?": (float, None), "gamma?": (float, None), "left_out?": [[_COUNT]]}
    },
}
_CLUSTERING = {
    "method": str,
    "options": dict,
    "seed": Span(int, 0, 2**63),
    "preset": {"default", "paper"},
    "search": set(SEARCHES),
    "details?": _DETAILS,
    "mark?": HASH,
    "grouped?": HASH,
    "labels?": HASH,
    "start?": HASH,
    "cameras?": _COUNT,
    "groups?": _COUNT,
    "unclustered?": _COUNT,
    "sha256?": {str: HASH},
}
_NAMED = {
    "clusters": HASH,
    "decisions": (HASH, {""}),
    "honoured": [_COUNT],
    "described": {
        str: {"name?": _COUNT, "status?": _COUNT, "notes?": [_COUNT], "decisions?": [_COUNT]}
    },
    "next": _COUNT,
    "sha256": HASH,
}
_SHAPE = {
    "format": {FORMAT},
    "samecam": str,
    "created": str,
    "state": set(STATES),
    "sources": [str],
    "extraction": dict,
    "versions?": {str: str},
    "device?": str,
    "counts?": {str: _COUNT},
    "copies?": (HASH, {""}),
    "timings?": {str: {str: Span(float, 0)}},
    "seed?": Span(int, 0, 2**63),
    "clustering?": _CLUSTERING,
    "start?": HASH,
    "names?": {**_NAMED, "coming?": _NAMED},
    "added?": [{"folder": str, "sources": [str]}],
}
# Of a residual, where a case does not name them: it is older than the choice.
_BEFORE = {"spins": 1, "weigh": False}
_OF_PHOTOS = {
    "size": (Span(int, 1, 2**16), None),
    "at": {"corner", "centre"},
    "offset": [Span(int, 0, 2**31)],
    "portrait": str,
    "sigma": Span(float, 0, 256),
    "spins?": Span(int, 1, MOST_SPINS),
    "weigh?": bool,
    "preset": {"default", "paper"},
    "grid": bool,
    "cfa": bool,
    "wiener": bool,
    "equalise": bool,
    "dtype": {"auto", *DTYPES},
}
_BROUGHT = {"fingerprints": {"brought"}, "n_pixels": Span(int, 1, 2**31), "dtype": set(DTYPES)}


def read_info(folder: str | os.PathLike[str]) -> dict[str, Any]:
    """Content of `case.json`, or an error that says why not."""
    path = Path(folder) / CASE
    if os.path.isfile(folder):
        raise SamecamError(f"{str(folder)!r} is a file, not a case: name the case folder.")
    try:
        info = read_versioned(path, VERSION, "case", _SHAPE)
        brought = "fingerprints" in info["extraction"]
        check_shape(info["extraction"], _BROUGHT if brought else _OF_PHOTOS, "extraction")
        for entry in (info, *info.get("added", ())):
            if not entry["sources"]:
                raise ValueError("there are no sources")
    except (FileNotFoundError, NotADirectoryError):
        raise SamecamError(f"{str(folder)!r} is no case folder: it has no {CASE}.") from None
    except ValueError as error:
        raise _unreadable(Path(folder), "extraction or sources", error) from None
    return info


def is_of_photos(info: Mapping[str, Any]) -> bool:
    """Whether a case was made from photos, not from fingerprints that somebody brought."""
    return "fingerprints" not in info["extraction"]


def has_views(info: Mapping[str, Any]) -> bool:
    """Whether whole frames are compared, so that a camera may be seen in several ways."""
    return is_of_photos(info) and info["extraction"]["size"] is None


def written_hashes(info: Mapping[str, Any]) -> dict[str, str]:
    """What `case.json` says the hashes of the answer's files are."""
    hashes = info.get("clustering", {}).get("sha256", {})
    return {name: hashes[name] for name in ANSWER if name in hashes}


def extraction_settings(folder: Path, info: Mapping[str, Any]) -> ExtractionSettings:
    """How the case makes fingerprints of photos, or an error: it does not."""
    if not is_of_photos(info):
        raise SamecamError(
            f"The case {str(folder)!r} was made from a file of fingerprints, not from photos: how "
            "others are to be made is not known."
        )
    had = {**_BEFORE, **info["extraction"]}
    try:
        if had["size"] is None:  # `grid` takes effect there, and cannot be chosen
            had["grid"] = None
        return ExtractionSettings(**{**had, "offset": tuple(had["offset"])})
    except (TypeError, KeyError, ValueError) as error:
        raise _unreadable(folder, "extraction", error) from None


def clustering_settings(folder: Path, info: Mapping[str, Any]) -> ClusteringSettings:
    """How the case was grouped, or an error: it was not."""
    entry = info.get("clustering")
    if not entry:
        raise not_clustered(folder)
    try:
        settings = ClusteringSettings(
            entry["method"],
            entry["options"],
            entry["seed"],
            entry["preset"],
            search=entry["search"],
        )
    except (TypeError, KeyError) as error:
        raise _unreadable(folder, "clustering", error) from None
    settings.estimator()
    return settings


def not_clustered(folder: Path) -> SamecamError:
    """The error of a command that needs groups where there are none."""
    return SamecamError(f"{str(folder)!r} has not been clustered yet: run samecam cluster.")


def _unreadable(folder: Path, entry: str, error: Exception) -> SamecamError:
    return SamecamError(
        f"The entry {entry!r} of {str(folder / CASE)!r} cannot be read ({error}): "
        "restore the file from a copy."
    )


def check_same(
    folder: Path, info: Mapping[str, Any], settings: StoreSettings, sources: list[str]
) -> None:
    """Refuse to go on with a case that was made otherwise, or from something else."""
    had, wanted = dict(info["extraction"]), settings.as_dict()
    if is_of_photos(info):
        had = {**_BEFORE, **had}
    if ("fingerprints" in had) != ("fingerprints" in wanted):
        made = "photos" if is_of_photos(info) else "a file of fingerprints"
        raise SamecamError(
            f"The case {str(folder)!r} was made from {made} "
            f"({', '.join(map(repr, info['sources']))}): give the same, or name another folder."
        )
    differing = [name for name in wanted if had.get(name) != wanted[name]]
    if differing:
        name = differing[0]
        was, now = f"{name} {had.get(name)!r}", repr(wanted[name])
        if name == "size" and None in (had.get(name), wanted[name]):
            frames = "whole frames"
            was, now = (was, frames) if wanted[name] is None else (frames, f"{name} {now}")
        raise SamecamError(
            f"The case {str(folder)!r} was made with {was}, not {now}: give the same settings, or "
            "name another folder."
        )
    if info["sources"] != sources:
        raise SamecamError(
            f"The case {str(folder)!r} was made from {', '.join(map(repr, info['sources']))}: "
            "give the same, or name another folder."
        )
