"""Tampered cases given to commands: each ends in time, with a sentence, and keeps to the case."""

import argparse
import json
import shutil
import sqlite3
import tempfile
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from samecam.simulate import simulate_photos
from tests.processes import PATIENCE, run
from tests.soak.runs import hashes
from tests.soak.slots import MEMORY, Slot
from tests.soak.tampering import CATALOGUE, SHARDS, SIGNED, all_changes, tamper

SIZE = 256  # of the squares on which parameters are tuned
FRAMES = ((272, 264), (264, 272))
CODES = (0, 1, 3, 4)
# Hashes or checksums elsewhere in the case cover these, unless they are put right; by what
# `verify` may call them.
COVERED = {
    **{name: (name,) for name in (*SIGNED, "images.csv", "start.csv", "case.json", "log.jsonl")},
    **dict.fromkeys(SHARDS, ("damaged", "shard", "fingerprints")),
    "fingerprints/store.json": ("store.json", "fingerprints"),
    CATALOGUE: ("catalogue", "images.csv", "fingerprint"),
}
# Hashes of these stand elsewhere in the case, and can be put right.
SIGNABLE = (*SIGNED, "start.csv", "log.jsonl")
LINES, CHARACTERS = 8, 3000  # of an error, at most


@dataclass(frozen=True)
class World:
    """A case of every file there is, and the photos it was made from; nobody changes them."""

    root: Path

    @property
    def case(self):
        return self.root / "case"

    @property
    def photos(self):
        return self.root / "photos"

    def commands(self, case):
        """Words of every command that takes a case, by name."""
        photos, more, new = (self.root / name for name in ("photos", "more", "new"))
        one = ("--workers", 1, "--quiet")
        made = ("-o", case, *one)
        return {
            "verify": ("verify", case, "--workers", 1),
            "report": ("report", case, "--no-thumbnails", *one),
            **{
                f"export {kind}": ("export", case, "--format", kind, "--quiet")
                for kind in ("csv", "json", "vics", "case")
            },
            "match": ("match", case, more, *one),
            "evaluate": ("evaluate", case, "--truth", self.root / "sim" / "truth.csv"),
            "cluster": ("cluster", photos, *made, "--search", "off"),
            "extract": ("extract", photos, *made),
            "add": ("add", case, new, *one),
            "add again": ("add", case, more, *one),
            "cluster --tuned": (
                *("cluster", photos, "-o", case / "tuned", "--size", SIZE, *one),
                *("--method", "ls-ssc", "--tuned", case / "tune.json"),
            ),
        }


def make_world(root, ask=run, studies=True):
    """Photos by two cameras, a frame each, and other files: grouped, added to, compared, tuned.

    Parameters are tuned on squares: what is chosen holds for one frame.

    Parameters
    ----------
    root : an empty folder
    ask : runs a command
    studies : whether methods are compared and parameters tuned, which takes longest
    """
    simulate_photos(root / "sim", cameras=2, images=9, size=FRAMES[0], seed=0, workers=1)
    simulate_photos(root / "labelled", cameras=2, images=5, size=(128, 96), seed=0, workers=1)
    folders = {name: root / name for name in ("photos", "more", "new")}
    for folder in folders.values():
        folder.mkdir()
    for k, file in enumerate(sorted((root / "sim" / "images").iterdir())):
        if k >= 9:  # the second camera, as if it stored pictures upright
            with Image.open(file) as picture:
                picture.transpose(Image.Transpose.ROTATE_90).save(file, quality=97)
        place = {7: "more", 8: "new"}.get(k % 9, "photos")
        shutil.copy(file, folders[place])
    first = sorted(folders["photos"].iterdir())[0]
    shutil.copy(first, folders["photos"] / "twin.jpg")
    (folders["photos"] / "text.txt").write_text("no photo")
    world = World(root)
    words = world.commands(world.case)
    truth = ("--truth", root / "sim" / "truth.csv", "--quiet")
    square, tuned = root / "square", ("-o", world.case / "tune.json")
    for given in (
        words["cluster"],
        words["add again"],
        *([("compare", world.case, "--methods", "consolidated", *truth)] * studies),
        *([("cluster", world.photos, "-o", square, "--size", SIZE, "--quiet")] * studies),
        *([("tune", square, "--runs", 1, *truth, *tuned)] * studies),
        words["verify"],
    ):
        code, error = _answer(ask(*given))
        if code not in (0, 3):
            raise RuntimeError(f"samecam {given[0]} gave {code}: {error}")
    return world


def _answer(outcome):
    """Exit code and error of what `run` or a slot gives."""
    return (outcome[0], outcome[2]) if isinstance(outcome, tuple) else (outcome.code, outcome.error)


def tamperings():
    """Every (file, change, whether hashes are put right)."""
    pairs = all_changes()
    again = [(file, change, True) for file, change in pairs if file in SIGNABLE]
    return [*((file, change, False) for file, change in pairs), *again]


def same_records(one, other):
    """Whether two catalogues hold the same records, whatever else was done to one of them."""
    read = [_records(case / CATALOGUE) for case in (one, other)]
    return read[0] is not None and read[0] == read[1]


def _records(path):
    """Rows of a catalogue that is one, JSON in them as what it says; None if it is none."""
    if path.is_symlink() or not path.is_file():
        return None
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        kinds = [kind for (kind,) in db.execute("SELECT type FROM sqlite_schema")]
        if not {*kinds} <= {"table", "index"}:
            return None
        rows = db.execute("SELECT * FROM records").fetchmany(10_000)
        return sorted(([*row[:-1], _said(row[-1])] for row in rows), key=repr)
    except (sqlite3.Error, UnicodeError, OverflowError):
        return None
    finally:
        db.close()


def _said(text):
    """What a text in JSON says, however it is laid out; any other value as it is."""
    try:
        return json.dumps(json.loads(text), sort_keys=True)
    except (TypeError, ValueError, RecursionError):
        return text


def attempt(world, slot, place, tampering, seed, names):
    """Give one tampered case to some commands; a dictionary for each.

    Each gets a copy of its own, tampered with in the same way.
    """
    file, change, sign = tampering
    photos = _all_hashes(world.root)
    seen = []
    for name in names:
        shutil.rmtree(place, ignore_errors=True)
        case, outside = place / "case", place / "outside"
        outside.mkdir(parents=True)
        (outside / "target").write_text("nobody changes this")
        shutil.copytree(world.case, case)
        rng = np.random.default_rng([seed, zlib.crc32(f"{file} {change} {sign}".encode())])
        tamper(case, file, change, rng, outside, sign=sign)
        before, other = hashes(outside), _differs(world.case, case, file)
        meant = file in COVERED and not (file == CATALOGUE and same_records(case, world.case))
        outcome = slot.run(*world.commands(case)[name])
        wrong = faults(name, outcome)
        if hashes(outside) != before or {p.name for p in place.iterdir()} != {"case", "outside"}:
            wrong.append("wrote outside the case")
        if name == "verify" and other and meant and not sign:
            wrong += unnoticed(file, outcome)
        seen.append(
            {
                "file": file,
                "change": change,
                "signed": sign,
                "seed": seed,
                "command": name,
                "code": outcome.code,
                "seconds": round(outcome.seconds, 2),
                "memory": outcome.memory,
                "faults": wrong,
                "error": _told(outcome, place) if wrong else "",
            }
        )
    shutil.rmtree(place, ignore_errors=True)
    if _all_hashes(world.root) != photos:
        seen[-1]["faults"].append("changed photos, or the case that was copied")
    return seen


def _told(outcome, place):
    """The ends of what a command said, without where on this machine it was run."""
    text = f"{outcome.out[-300:]}\n{outcome.error[:300]}\n…\n{outcome.error[-600:]}"
    return text.replace(str(place.parent), "WORK").strip()


def _all_hashes(folder):
    return hashes(folder / "photos") | hashes(folder / "case")


def _differs(one, other, file):
    """Whether a file has other bytes than it had, or is none.

    What is behind the rows of a shard is never read, and is cut off when somebody writes.
    """
    if not ((one / file).is_file() and (other / file).is_file()):
        return True
    before, now = (one / file).read_bytes(), (other / file).read_bytes()
    return before != (now[: len(before)] if "shards" in file else now)


def faults(name, outcome):
    """What is wrong with how a command ended."""
    wrong, error = [], outcome.error
    if outcome.code not in CODES and "Traceback" not in error:
        wrong.append(f"exit code {outcome.code}")
    if name != "verify" and outcome.code == 4:
        wrong.append("exit code 4, which is for verify")
    if "Traceback" in error:
        lines = [line for line in error.strip().split("\n") if line.strip()]
        places = [line.split("/samecam/")[-1] for line in lines if "/samecam/" in line]
        code = f"exit code {outcome.code}, " if outcome.code not in CODES else ""
        wrong.append(f"{code}traceback: {lines[-1][:150]} ({places[-1] if places else '?'})")
    elif "not enough memory" in error:
        wrong.append("out of memory")
    elif outcome.code == 1 and "Error: " not in error:
        wrong.append("failed without a sentence")
    elif outcome.length > CHARACTERS or (outcome.code in CODES and error.count("\n") > LINES):
        wrong.append(f"error of {outcome.length:,} characters, {error.count(chr(10))} lines")
    if outcome.memory > MEMORY:
        wrong.append(f"memory {outcome.memory:,}")
    return wrong


def unnoticed(file, outcome):
    """What `verify` should have said of a file that is not as it was."""
    if outcome.code not in (1, 4):
        return ["verify did not notice"]
    told = f"{outcome.out}{outcome.error}"
    named = any(word in told for word in COVERED[file])
    return [] if named else ["verify does not name the file"]


def others(names, k, count):
    """Some commands beside verify, in turn."""
    rest = [name for name in names if name not in ("verify", "cluster --tuned")]
    return [rest[(count * k + i) % len(rest)] for i in range(count)]


def grouped(seen):
    """Text on all faults: those alike together, with how to see one."""
    groups = {}
    for row in seen:
        for fault in row["faults"]:
            groups.setdefault((row["file"], row["command"], fault), []).append(row)
    lines = [f"{len(seen):,} commands, {len(groups)} kinds of fault."]
    for (file, command, fault), rows in sorted(groups.items()):
        kinds = sorted({f"{r['change']}{' (signed)' * r['signed']}" for r in rows})
        lines.append(f"- {file} | {command} | {fault} | {len(rows)}×: {'; '.join(kinds)}")
    return lines


def main(arguments=None):
    """Show what becomes of one tampering."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("file")
    parser.add_argument("change")
    parser.add_argument("commands", nargs="*", metavar="command", help="default: verify")
    parser.add_argument("--signed", action="store_true", help="hashes elsewhere are put right")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name, Slot(name) as slot:
        root = Path(name)
        (root / "world").mkdir()
        world = make_world(root / "world", lambda *words: slot.run(*words, seconds=PATIENCE))
        tampering = given.file, given.change, given.signed
        commands = given.commands or ["verify"]
        for row in attempt(world, slot, root / "place", tampering, given.seed, commands):
            print(f"{row['command']}: {row['code']}, {row['faults']}\n{row['error']}")


if __name__ == "__main__":
    main()
