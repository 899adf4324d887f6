"""Where the photos of a case are now: found again under the arguments it was made from."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from samecam.case.folder._info import is_of_photos
from samecam.errors import SamecamError
from samecam.photos import PhotoFile, scan


@dataclass(frozen=True, slots=True, repr=False)
class Sources:
    """What is found under the photo arguments of a case.

    Attributes
    ----------
    files : files on disk by their path in the case
    lost : arguments under which nothing can be found (a drive that is not there)
    """

    files: dict[str, str] = field(default_factory=dict)
    lost: list[str] = field(default_factory=list)

    def __repr__(self) -> str:
        return f"<Sources: {len(self.files)} files found, {len(self.lost)} arguments lost>"


def find_sources(info: Mapping[str, Any], paths: Collection[str]) -> Sources:
    """Look for the photos of a case; nothing for one that was made from fingerprints.

    A path of the case is only ever looked up among what is found, never opened itself.

    Parameters
    ----------
    info : content of `case.json`
    paths : of the files of the case
    """
    result, known = Sources(), set(paths)
    if not is_of_photos(info):
        return result
    for entry in ({"folder": "", "sources": info["sources"]}, *info.get("added", ())):
        front, there = entry["folder"], []
        for argument in entry["sources"]:
            try:
                there.append(scan([argument]))
            except (SamecamError, OSError, ValueError):
                result.lost.append(argument)
        named = _together(entry["sources"]) if len(there) == len(entry["sources"]) > 1 else None
        if len(there) == len(entry["sources"]) == 1:
            named = there[0]
        if named is not None:
            result.files.update((_join(front, item.path), item.file) for item in named)
        else:
            for items in there:
                result.files.update(_guess(items, front, known))
    return result


def _together(sources: list[str]) -> list[PhotoFile] | None:
    """Files of several arguments, named as in the case; None if they cannot be told apart now."""
    try:
        return scan(sources)
    except (SamecamError, OSError, ValueError):
        return None


def _join(*parts: str) -> str:
    return "/".join(part for part in parts if part)


def _guess(items: Sequence[PhotoFile], front: str, paths: Iterable[str]) -> dict[str, str]:
    """Files of one argument by path in the case, where other arguments are not there.

    With several, parts of the argument's own folder stand before the paths: as many as fit
    most files of the case.
    """
    best: dict[str, str] = {}
    fitting = -1
    known = set(paths)
    deepest = max((item.file.count("/") for item in items), default=0)
    for depth in range(deepest + 1):
        named = {}
        for item in items:
            root = item.file.removesuffix(item.path).strip("/").split("/")
            above = root[len(root) - depth :] if depth <= len(root) else root
            named[_join(front, *above, item.path)] = item.file
        hits = len(known.intersection(named))
        if hits > fitting:
            best, fitting = named, hits
    return best
