"""What may be done to a file of a case: by a bad disk, a careless hand, or somebody who means it.

A change is named, as "bytes: flip"; `tamper` applies one to one file, the same for the same chance.
"""

import hashlib
import json
import os
import shutil
import socket
from pathlib import Path

from tests.soak import tampering_sqlite, tampering_text
from tests.soak.mutants import blank, cut, flip, noise, repeat

JSON_FILES = (
    "case.json", "clusters.json", "compare.json", "tune.json", "fingerprints/store.json",
    "log.jsonl",
)  # fmt: skip
CSV_FILES = ("images.csv", "clusters.csv", "evidence.csv", "start.csv")
CATALOGUE = "fingerprints/catalogue.sqlite"
# Of two frames; the last is one that no case has.
SHARDS = tuple(f"fingerprints/shards/{frame}/00000.i8" for frame in ("272x264", "264x272"))
OTHERS = (
    "report.html", "lock", CATALOGUE, f"{CATALOGUE}-wal", f"{CATALOGUE}-journal",
    f"{CATALOGUE}-shm", *SHARDS, "fingerprints/shards/272x264/00001.i8",
)  # fmt: skip
FOLDERS = ("fingerprints", "fingerprints/shards", "fingerprints/shards/272x264")
FILES = (*JSON_FILES, *CSV_FILES, *OTHERS)
# What nothing refers to: `verify` need not say that it is damaged.
SIGNED = ("clusters.csv", "evidence.csv", "clusters.json")


# Bytes


def insert(data, rng):
    at = rng.integers(len(data) + 1)
    data[at:at] = rng.bytes(1 + rng.integers(2000))
    return data


def empty(*_):
    return b""


def double(data, _):
    return data + data


BYTES = {
    f"bytes: {change.__name__}": change
    for change in (flip, cut, blank, noise, repeat, insert, empty, double)
}


# Kinds of file; `outside` is a folder with a file `target` and whatever is put there


def gone(path, _):
    remove(path)


def pipe(path, _):
    remove(path)
    os.mkfifo(path)


def folder(path, _):
    remove(path)
    path.mkdir()


def full_folder(path, _):
    remove(path)
    path.mkdir()
    (path / "file").write_text("inside")


def link(path, outside):
    remove(path)
    path.symlink_to(outside / "target")


def link_to_itself_moved(path, outside):
    """The file lies outside now, and a link stands in its place."""
    if path.exists():
        shutil.move(path, outside / path.name)
    path.symlink_to(outside / path.name)


def endless(path, _):
    remove(path)
    path.symlink_to("/dev/zero")


def dangling(path, outside):
    remove(path)
    path.symlink_to(outside / "nothing")


def loop(path, _):
    remove(path)
    path.symlink_to(path.name)


def hard_link(path, outside):
    remove(path)
    os.link(outside / "target", path)


def hard_link_to_itself(path, outside):
    """The file has a second name outside."""
    if path.is_file():
        os.link(path, outside / path.name)


def listening(path, _):
    remove(path)
    with socket.socket(socket.AF_UNIX) as made:
        here = os.open(path.parent, os.O_RDONLY)
        try:
            made.bind(f"/proc/self/fd/{here}/{path.name}")  # names of sockets are short
        finally:
            os.close(here)


def unreadable(path, _):
    if path.exists():
        path.chmod(0)


KINDS = {
    f"kind: {change.__name__.replace('_', ' ')}": change
    for change in (
        gone, pipe, folder, full_folder, link, link_to_itself_moved, endless, dangling, loop,
        hard_link, hard_link_to_itself, listening, unreadable,
    )
}  # fmt: skip


def remove(path):
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


# All of them


def changes(file):
    """Names of what may be done to a file."""
    if file in FOLDERS:
        return [name for name in KINDS if "hard" not in name]
    more = []
    if file in JSON_FILES:
        more = list(tampering_text.JSON)
    elif file in CSV_FILES:
        more = list(tampering_text.CSV)
    elif file == CATALOGUE:
        more = list(tampering_sqlite.CHANGES)
    return [*BYTES, *KINDS, *more]


def all_changes():
    """Every (file, change)."""
    return [(file, change) for file in (*FILES, *FOLDERS) for change in changes(file)]


def tamper(case, file, change, rng, outside, *, sign=False):
    """Change one file of a case.

    Parameters
    ----------
    case : a copy
    file, change : one of `all_changes`
    rng : NumPy's; decides on places and values
    outside : a folder, with a file `target`, that links lead to
    sign : whether hashes of the file elsewhere in the case are put right
    """
    path = Path(case) / file
    if change in KINDS:
        KINDS[change](path, outside)
    elif change in tampering_sqlite.CHANGES:
        tampering_sqlite.CHANGES[change](path, rng)
    else:
        data = path.read_bytes() if path.exists() else rng.bytes(4096)
        if change in BYTES:
            changed = bytes(BYTES[change](bytearray(data), rng))
        elif file in CSV_FILES:
            changed = tampering_text.change_csv(data, change, rng)
        elif file == "log.jsonl":
            changed = tampering_text.change_lines(data, change, rng)
        else:
            changed = tampering_text.change_json(data, change, rng)
        path.write_bytes(changed)
    if sign:
        put_right(Path(case), file)


def put_right(case, file):
    """Let hashes in the case be those of the file as it is now."""
    path = case / file
    if path.is_symlink() or not path.is_file():
        return
    if file == "log.jsonl":
        path.write_bytes(_chained(path.read_bytes()))
    info = json.loads((case / "case.json").read_bytes()) if file != "case.json" else {}
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    if file in SIGNED:
        info["clustering"]["sha256"][file] = digest
        if file == "clusters.csv":
            info["clustering"]["labels"] = tampering_text.labels_hash(path.read_bytes())
    elif file == "start.csv":
        info["start"] = info["clustering"]["start"] = digest
    else:
        return
    (case / "case.json").write_text(json.dumps(info, indent=2) + "\n")


def _chained(data):
    """Lines of a log, each with the hash of the one before, as far as that can be said."""
    previous, lines = "", []
    for line in data.split(b"\n")[:-1]:
        try:
            entry = json.loads(line)
            entry["previous"] = previous
            line = json.dumps(entry).encode()
        except (ValueError, TypeError, RecursionError):
            pass
        lines.append(line + b"\n")
        previous = hashlib.sha256(line).hexdigest()
    return b"".join(lines)
