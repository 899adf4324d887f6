"""Which files are meant: folders, files, globs and lists, in an order of our own."""

import fnmatch
import glob
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from samecam.errors import SamecamError
from samecam.inputs import read_input


@dataclass(frozen=True, slots=True)
class PhotoFile:
    """One file that `scan` lists.

    Attributes
    ----------
    path : its name in the case: relative to the argument it lies under, prefixed
        by that argument's base name if there are several; '/' between parts; bytes
        that are not UTF-8 kept by surrogateescape
    file : where it is on disk (absolute)
    """

    path: str
    file: str


@dataclass(frozen=True, slots=True)
class _Root:
    """One argument: a folder, and the absolute names of the files listed under it."""

    folder: str
    files: tuple[str, ...]
    is_file: bool


def scan(arguments: Iterable[str | os.PathLike[str]]) -> list[PhotoFile]:
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
    files = _named(roots)
    return [PhotoFile(path, files[path]) for path in sorted(files)]


def would_find(arguments: Iterable[str | os.PathLike[str]], folder: str) -> str | None:
    """The argument under which `scan` would find files of a folder, or None."""
    real = os.path.realpath(folder)
    for argument in arguments:
        text = os.fspath(argument)
        if os.path.isdir(text):
            if os.path.commonpath([os.path.realpath(text), real]) == os.path.realpath(text):
                return text
        elif os.path.lexists(text):
            continue
        elif text.startswith("@"):
            if would_find(_lines(text[1:]), folder) is not None:
                return text
        elif glob.has_magic(text) and _matches_folder(text, real):
            return text
    return None


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
        content = read_input(name)
    except OSError as error:
        raise SamecamError(f"The list {name!r} cannot be read: {error.strerror}.") from None
    lines = content.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").split(b"\n")
    return [os.fsdecode(line) for line in lines if line.strip()]


def _fixed(pattern: str) -> str:
    """The folder before the first wildcard of a pattern, absolute."""
    fixed = pattern
    while glob.has_magic(fixed):
        fixed = os.path.dirname(fixed)
    return os.path.abspath(fixed or ".")


def _glob_root(pattern: str) -> _Root:
    root = _fixed(pattern)
    files: dict[str, None] = {}
    if "**" in pattern.split("/"):
        # Not by glob: it follows links in circles.
        below = _walk(root) if os.path.isdir(root) else []
        wanted = _wanted(pattern)
        files = dict.fromkeys(
            f for f in below if _matches(os.path.relpath(f, root).split(os.sep), wanted)
        )
    else:
        for match in glob.iglob(pattern, include_hidden=True):
            match = os.path.abspath(match)
            files.update(dict.fromkeys(_walk(match) if os.path.isdir(match) else [match]))
    if not files:
        raise SamecamError(f"No file matches {pattern!r}: check the pattern.")
    return _Root(root, tuple(files), is_file=False)


def _wanted(pattern: str) -> list[str]:
    """The parts of a pattern after its fixed folder."""
    return os.path.relpath(os.path.abspath(pattern), _fixed(pattern)).split(os.sep)


def _matches(path: list[str], wanted: list[str]) -> bool:
    """Whether the parts of a path are what a pattern wants; '**' stands for any folders."""
    if not wanted or not path:
        return not wanted and not path
    if wanted == ["**"]:
        return True
    if wanted[0] == "**":
        return any(_matches(path[k:], wanted[1:]) for k in range(len(path)))
    return fnmatch.fnmatchcase(path[0], wanted[0]) and _matches(path[1:], wanted[1:])


def _matches_folder(pattern: str, real: str) -> bool:
    """Whether a pattern finds a folder, one that holds it, or any file in it."""
    root = os.path.realpath(_fixed(pattern))
    if os.path.commonpath([root, real]) != root:
        return False
    wanted, path = _wanted(pattern), os.path.relpath(real, root).split(os.sep)
    inside = [[*path, "case.json"], [*path, "fingerprints", "shards", "00000.f16"]]
    above = [path[:k] for k in range(1, len(path) + 1)]
    return any(_matches(name, wanted) for name in inside + above)


def _walk(folder: str) -> Iterator[str]:
    """Every file below a folder; no real folder is entered twice.

    Real folders come first and links to folders last, each in name order, so which
    name a file gets does not depend on the file system. A folder that cannot be
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
        return entry.is_dir()
    except OSError:  # a dangling or circular link: a file that cannot be read
        return False


def _named(roots: list[_Root]) -> dict[str, str]:
    """Path in the case → file, for all roots.

    One root: paths relative to it. Several: its base name stands before them, and as
    many of its parents as it takes for no two files to share a path.
    """
    tops = [root.files[0] if root.is_file else root.folder for root in roots]
    parts = [top.strip(os.sep).split(os.sep) for top in tops]
    depth = [0 if len(roots) == 1 else 1] * len(roots)
    while True:
        owner: dict[str, int] = {}
        files: dict[str, str] = {}
        clash = set()
        for k, root in enumerate(roots):
            front = [] if depth[k] == 0 else parts[k][-depth[k] : -1 if root.is_file else None]
            for file in root.files:
                relative = os.path.relpath(file, root.folder).replace(os.sep, "/")
                path = "/".join([*front, relative])
                if files.setdefault(path, file) != file:
                    clash |= {k, owner.get(path, 0)}
                if k:  # of the first root need not be kept
                    owner.setdefault(path, k)
        longer = [k for k in clash if depth[k] < len(parts[k])]
        if not longer:
            break
        for k in longer:
            depth[k] += 1
    if clash:
        raise SamecamError("Two files would have the same path in the case: name fewer folders.")
    return files
