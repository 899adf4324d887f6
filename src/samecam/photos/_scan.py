"""Which files are meant: folders, files, globs and lists, in an order of our own."""

import glob
import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from samecam.errors import SamecamError


@dataclass(frozen=True, slots=True)
class Found:
    """One file that was found.

    Attributes
    ----------
    path : its name in the case: relative to the argument it was found under, prefixed
        by that argument's base name if there are several; '/' between parts; bytes
        that are not UTF-8 kept by surrogateescape
    file : where it is on disk (absolute)
    """

    path: str
    file: str


@dataclass(frozen=True, slots=True)
class _Root:
    """One argument: a folder under which files were found, and their absolute names."""

    folder: str
    files: tuple[str, ...]
    is_file: bool


def scan(arguments: Iterable[str | os.PathLike[str]]) -> list[Found]:
    """Every file under the given arguments, sorted by `path`.

    An argument is a file, a folder (entered with all folders below it), a pattern
    with ``*``, ``?``, ``[...]`` or ``**``, or ``@list.txt`` with one such argument a
    line. A name that exists is taken as it is, before any meaning of its characters.
    Links to folders are followed, each real folder is entered once per argument.
    Names in a list are relative to the working folder.
    """
    roots = [root for argument in arguments for root in _roots(os.fspath(argument))]
    if not roots:
        raise SamecamError("No photos were named: give files, folders, patterns or @list.txt.")
    prefixes = _prefixes(roots)
    found: dict[str, str] = {}
    for root, prefix in zip(roots, prefixes, strict=True):
        for file in root.files:
            path = prefix + os.path.relpath(file, root.folder).replace(os.sep, "/")
            found.setdefault(path, file)
    return [Found(path, found[path]) for path in sorted(found)]


def folders(arguments: Iterable[str | os.PathLike[str]]) -> list[str]:
    """Return the real folders that `scan` would enter for the arguments that are folders."""
    names = []
    for argument in arguments:
        text = os.fspath(argument)
        if os.path.isdir(text):
            names.append(os.path.realpath(text))
        elif text.startswith("@") and not os.path.lexists(text):
            names += [os.path.realpath(line) for line in _lines(text[1:]) if os.path.isdir(line)]
    return names


def _roots(argument: str) -> Iterator[_Root]:
    if os.path.isdir(argument):
        folder = os.path.abspath(argument)
        yield _Root(folder, tuple(_walk(folder)), is_file=False)
    elif os.path.lexists(argument):
        file = os.path.abspath(argument)
        yield _Root(os.path.dirname(file), (file,), is_file=True)
    elif argument.startswith("@"):
        yield from _list_roots(argument[1:])
    elif glob.has_magic(argument):
        yield _glob_root(argument)
    else:
        raise SamecamError(f"{argument!r} is not there: check the name, or give another folder.")


def _list_roots(name: str) -> Iterator[_Root]:
    """Roots of a list: its folders and patterns, and one for its single files.

    The latter is their deepest common folder. A file that is named but not there is
    kept: it gets its row and its reason.
    """
    files = []
    for entry in _lines(name):
        if os.path.isdir(entry):
            yield from _roots(entry)
        elif not os.path.lexists(entry) and glob.has_magic(entry):
            yield _glob_root(entry)
        else:
            files.append(os.path.abspath(entry))
    if files:
        folder = os.path.commonpath([os.path.dirname(f) for f in files])
        yield _Root(folder, tuple(files), is_file=False)


def _lines(name: str) -> list[str]:
    try:
        with open(name, "rb") as stream:
            content = stream.read()
    except OSError as error:
        raise SamecamError(f"The list {name!r} cannot be read: {error.strerror}.") from None
    lines = content.replace(b"\r\n", b"\n").split(b"\n")
    return [os.fsdecode(line) for line in lines if line.strip()]


def _glob_root(pattern: str) -> _Root:
    fixed = pattern
    while glob.has_magic(fixed):
        fixed = os.path.dirname(fixed)
    files: dict[str, None] = {}
    for match in glob.iglob(pattern, recursive=True, include_hidden=True):
        match = os.path.abspath(match)
        files.update(dict.fromkeys(_walk(match) if os.path.isdir(match) else [match]))
    if not files:
        raise SamecamError(f"No file matches {pattern!r}: check the pattern.")
    return _Root(os.path.abspath(fixed or "."), tuple(files), is_file=False)


def _walk(folder: str) -> Iterator[str]:
    """Every file below a folder; no real folder is entered twice.

    Real folders come first and links to folders last, each in name order, so what is
    found under which name does not depend on the file system. A folder that cannot be
    read is itself given, as a file that cannot be.
    """
    seen = set()
    waiting, links = [folder], list[str]()
    while waiting or links:
        current = waiting.pop() if waiting else links.pop(links.index(min(links)))
        try:
            status = os.stat(current)
            if (status.st_dev, status.st_ino) in seen:
                continue
            entries = sorted(os.scandir(current), key=lambda entry: entry.name)
        except OSError:
            yield current
            continue
        seen.add((status.st_dev, status.st_ino))
        below = []
        for entry in entries:
            if not _is_folder(entry):
                yield entry.path
            elif entry.is_symlink():
                links.append(entry.path)
            else:
                below.append(entry.path)
        waiting += reversed(below)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return stat.S_ISDIR(entry.stat().st_mode)
    except OSError:  # a dangling or circular link: a file that cannot be read
        return False


def _prefixes(roots: list[_Root]) -> list[str]:
    """What stands before the paths of each root: nothing for one, its base name for several.

    Arguments that share a base name get as many of their parents as tell them apart.
    """
    if len(roots) == 1:
        return [""]
    tops = [root.files[0] if root.is_file else root.folder for root in roots]
    parts = [top.split(os.sep) for top in tops]
    depth = [1] * len(roots)
    while True:
        names = ["/".join(p[-n:]) for p, n in zip(parts, depth, strict=True)]
        clash = [
            k
            for k, name in enumerate(names)
            if depth[k] < len(parts[k])
            and any(name == other and tops[k] != tops[j] for j, other in enumerate(names))
        ]
        if not clash:
            break
        for k in clash:
            depth[k] += 1
    return [
        name[: name.rfind("/") + 1] if root.is_file else name + "/"
        for name, root in zip(names, roots, strict=True)
    ]
