"""The fingerprints of a case: its store, opened and checked against what a case can hold."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from samecam.arrays import Doubles
from samecam.case.folder._info import has_views, is_of_photos
from samecam.case.folder._names import CASE, DESCRIPTION, OWN, STATUSES, STORE, USED
from samecam.documents import HASH
from samecam.errors import SamecamError
from samecam.frames import Frame
from samecam.store import DiskStore, Record

_TEXT, _COUNT, _SHARE = (str, type(None)), (int, type(None)), (float, int, type(None))
# What a record must say, and may say, with the types it may have.
_ALWAYS = {"status": (str,), "reason": (str,), "code": (str,), "bytes": _COUNT}
_OF_PHOTOS = {**_ALWAYS, "modified": _COUNT, "passing": (bool,)}
_BROUGHT = {**_ALWAYS, "file": (list,)}
_MORE = {
    **dict.fromkeys(("width", "height"), _COUNT),
    **dict.fromkeys(("dark", "saturated", "flat", "even", "zoom", "focal", "colour"), _SHARE),
    **dict.fromkeys(("format", "make", "model", "serial", "software", "taken"), _TEXT),
    **dict.fromkeys(("orientation", "mode", "scene", "duplicate_of", "copy_of", "service"), _TEXT),
}
_LARGEST = 2**63


def open_records(folder: Path, info: Mapping[str, Any], mode: Literal["r", "a"] = "r") -> DiskStore:
    """The store of a case, if it is what `case.json` says and its records are such as cases have.

    Parameters
    ----------
    folder : of the case
    info : content of `case.json`
    mode : "a" to add to it
    """
    store = DiskStore.open(folder / STORE, mode)
    try:
        if store.extractor != info["extraction"] or not _fits(store, info["extraction"]):
            raise SamecamError(
                f"The settings in {str(folder / CASE)!r} are not those its fingerprints were made "
                f"with ({str(folder / DESCRIPTION)!r}): restore both from a copy, or "
                "begin a new case."
            )
        wanted = _OF_PHOTOS if is_of_photos(info) else _BROUGHT
        for record in store.records():
            _check(folder, record, wanted, whole=has_views(info))
    except BaseException:
        store.close()
        raise
    return store


def colours(records: Sequence[Record]) -> Doubles | None:
    """How smooth the fingerprints of whole frames are; None of squares, and where none says so.

    A fingerprint that was made before that was measured counts as white.
    """
    values = [record.meta.get("colour") for record in records]
    if all(value is None for value in values):
        return None
    return np.array([1.0 if value is None else value for value in values])


def _fits(store: DiskStore, settings: Mapping[str, Any]) -> bool:
    side, frame = settings.get("size"), None
    if "n_pixels" in settings:
        frame = Frame(settings["n_pixels"], 1)
    elif side is not None:
        frame = Frame(side, side)
    return bool(store.frame == frame and store.dtype == settings["dtype"])


def _odd_copy(meta: Mapping[str, Any]) -> str:
    """The entry of a record that no copy has, or that only a copy has; "" if there is none.

    A copy says of what, and keeps aside status, code and reason that it has by itself.
    """
    of, aside = meta.get("copy_of"), meta.get("aside")
    if meta["status"] != "copy":
        return "copy_of" if of else "aside" if aside else ""
    own = aside if isinstance(aside, list) and len(aside) == len(OWN) else []
    if not own or not all(isinstance(value, str) for value in own) or own[0] not in USED:
        return "aside"
    return "" if of else "copy_of"


def _check(
    folder: Path, record: Record, wanted: Mapping[str, tuple[type, ...]], *, whole: bool
) -> None:
    """Refuse a record that no case of ours has; `whole`: fingerprints are of the whole frame."""
    meta = record.meta
    odd = next((name for name in wanted if type(meta.get(name)) not in wanted[name]), "")
    odd = odd or next((n for n in _MORE if type(meta.get(n)) not in (*_MORE[n], type(None))), "")
    for name in ("zoom", "focal", "colour") if not odd else ():
        if not 0 < (1.0 if meta.get(name) is None else meta[name]) < _LARGEST:
            odd = odd or name
    numbers = () if odd else ("bytes", "modified", "width", "height")
    odd = odd or next((n for n in numbers if abs(meta.get(n) or 0) >= _LARGEST), "")
    if record.sha256 and not HASH.fullmatch(record.sha256):
        odd = odd or "sha256"
    if not odd and meta["status"] not in STATUSES:
        odd = "status"
    if not odd and record.has_row != (meta["status"] in (*USED, "copy")):
        odd = "fingerprint"
    odd = odd or _odd_copy(meta)
    if not odd and record.frame is not None and whole:
        odd = "" if (meta.get("width"), meta.get("height")) == record.frame else "frame"
    if odd:
        path = folder / STORE / "catalogue.sqlite"
        raise SamecamError(
            f"The catalogue {str(path)!r} cannot be used (what it says of {record.key!r}, "
            f"{odd!r}, cannot be): restore it from a copy, or begin a new case."
        )
