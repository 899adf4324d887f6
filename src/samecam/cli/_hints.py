"""What helps a reader on after `samecam cluster`: too few photos, or two sources to compare."""

import os
import shlex
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from samecam.case import Clustering, SavedCase, Source, TwoSources

_FEW = 2


def hints_dict(result: "Clustering") -> dict[str, Any]:
    """The same for `--json`: `hint` and `sources`, null where there is nothing to say."""
    given = _two_sources(result)
    few = few_text(result)
    return {
        "hint": few[0] if few else None,
        "sources": None if given is None else {**given[1].as_dict(), "reference": _ask(*given)},
    }


def few_text(result: "Clustering") -> list[str]:
    """What is needed where one or two photos can be used, or none."""
    count = len(result.paths)
    if count > _FEW or result.extraction.interrupted:
        return []
    if count == 0:
        return ["No photo can be used, and groups need several: images.csv says why."]
    if count == 1:
        return [
            "One photo can be used, and groups need several: give more, or compare it with one "
            "other: samecam match A B."
        ]
    command = shlex.join(["samecam", "match", *_files(result)])
    return [
        f"Two photos can be compared, with a likelihood ratio: {command}; groups say more the more "
        "photos there are."
    ]


def sources_text(result: "Clustering") -> list[str]:
    """Whether two sources share a camera; and, where one is a camera at hand, what asks more."""
    given = _two_sources(result)
    if given is None:
        return []
    asked, command = given[1], _ask(*given)
    if command is None:
        return [asked.sentence]
    one, other = asked.first, asked.second
    one, other = (one, other) if one.is_reference else (other, one)
    more = f"To ask of each photo of {other.name} whether the camera of {one.name} took it: "
    return [asked.sentence, more + command]


def _two_sources(result: "Clustering") -> "tuple[SavedCase, TwoSources] | None":
    from samecam.case import open_case, two_sources

    if result.extraction.interrupted or len(result.paths) <= _FEW:
        return None
    saved = open_case(result.case)
    found = two_sources(saved)
    return None if found is None else (saved, found)


def _ask(saved: "SavedCase", found: "TwoSources") -> str | None:
    """The command that compares one source with the other as a reference, if one is fit for it."""
    for one, other in ((found.first, found.second), (found.second, found.first)):
        if one.is_reference:
            names = [_folder(saved, one), _folder(saved, other)]
            return shlex.join(["samecam", "match", "--reference", *names])
    return None


def _folder(saved: "SavedCase", source: "Source") -> str:
    """Where a source is: an argument of the case, or a folder in one."""
    arguments: list[str] = saved.info["sources"]
    for argument in arguments:
        if os.path.basename(os.path.normpath(argument)) == source.name and not source.above:
            return argument
        inside = os.path.join(argument, source.above, source.name)
        if os.path.isdir(inside):
            return inside
    return source.name


def _files(result: "Clustering") -> list[str]:
    """Where the photos are, as far as they are found; else their paths in the case."""
    from samecam.case import open_case

    files = open_case(result.case).sources().files
    return [files.get(path, path) for path in result.paths]
