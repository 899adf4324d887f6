"""The soak: damaged photos, killed commands, random decisions, tampered cases, failing disks.

    python -m benchmarks.soak [--hours H | --minutes M] [--work DIR]

Goes on in rounds of some minutes, each with a seed of its own, until it has run for so long; by
default one round. A round is run in chunks, each in a process of its own, as many at a time as
there are cores, but two at most. A chunk that is done is a line of DIR/journal.jsonl: stopped or
killed, the same command goes on with what is left of the round and of the time, and a longer time
adds rounds to those that are done. The journal holds for one commit and one state of the working
tree; with another it begins anew. Sums over all rounds are written after each, and at the end.
Exit code: 0 if nothing was seen that should not have been, 1 otherwise, 3 if it was stopped.

    python -m benchmarks.soak --again SEED CHUNK

One chunk once more, as a fault names it: the seed gives all that is random but how far a process
has come when it is killed.
"""

import argparse
import dataclasses
import hashlib
import json
import multiprocessing
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

from benchmarks import record
from tests.processes import end_commands
from tests.soak import parts

ROOT = Path(__file__).parents[1]
WORK = ROOT / "soak"
RESULT = "benchmarks/results/soak.json"
SIDE_BY_SIDE = 2
# What a whole round must have tried, at least; and kills of each command.
WANTED = {
    "mutated files": 16_000,
    "kills": 60,
    "decisions": 20,
    "tampered cases": 100,
    "disk faults": 2,
}
OF_EACH = 1
AGAIN = "python -m benchmarks.soak --again"
_WORDS = ("git", "-c", "core.quotepath=off")

Seen = dict[str, Any]
Rounds = Mapping[int, Mapping[str, Seen]]


def state_of_tree() -> str:
    """The commit, and a hash of all that differs from it but the result itself."""
    digest = hashlib.sha256()
    commit = _git("rev-parse", "HEAD").decode().strip()
    digest.update(_git("diff", "HEAD", "--binary", "--", ".", f":!{RESULT}"))
    for name in _git("ls-files", "--others", "--exclude-standard", "-z").split(b"\0"):
        path = ROOT / os.fsdecode(name)
        if path.is_file():
            digest.update(name + b"\0" + path.read_bytes())
    return f"{commit} {digest.hexdigest()}"


def _git(*words: str) -> bytes:
    said = subprocess.run([*_WORDS, *words], cwd=ROOT, capture_output=True)
    return said.stdout if said.returncode == 0 else b""


class Journal:
    """What is done: a line of JSON for each round that is begun and for each chunk that is done.

    Attributes
    ----------
    rounds : what was seen in each chunk that is done, by the seed of its round
    seconds : that were spent on them, over all runs
    """

    def __init__(self, work: Path, state: str) -> None:
        self._path = work / "journal.jsonl"
        self.rounds: dict[int, dict[str, Seen]] = {}
        self.seconds = 0.0
        self._last = time.monotonic()
        lines = self._lines()
        if not lines or lines[0].get("state") != state:
            shutil.rmtree(work, ignore_errors=True)
            work.mkdir(parents=True)
            self._append({"state": state})
            lines = []
        for line in lines[1:]:
            self._take(line)

    def begin(self, seed: int) -> None:
        """Note that a round is begun."""
        self._note({"round": seed})

    def add(self, seed: int, chunk: str, seen: Seen) -> None:
        """Note that a chunk of a round is done, and the time since the last line."""
        now = time.monotonic()
        self._note({"round": seed, "chunk": chunk, "took": now - self._last, "seen": seen})
        self._last = now

    def left(self, plan: "parts.Plan") -> list[str]:
        """Chunks of the last round that are not done, in an order of its own."""
        if not self.rounds:
            return []
        seed = next(reversed(self.rounds))
        names = [name for name in parts.chunks(plan) if name not in self.rounds[seed]]
        random.Random(seed).shuffle(names)
        return names

    def _note(self, line: Seen) -> None:
        self._append(line)
        self._take(line)

    def _take(self, line: Seen) -> None:
        done = self.rounds.setdefault(line["round"], {})
        if "chunk" in line:
            done[line["chunk"]] = line["seen"]
            self.seconds += line["took"]

    def _lines(self) -> list[Seen]:
        """Whole lines; one that was cut off by a kill is cut away."""
        try:
            data = self._path.read_bytes()
        except FileNotFoundError:
            return []
        end = data.rfind(b"\n") + 1
        if end < len(data):
            os.truncate(self._path, end)
        return [json.loads(line) for line in data[:end].splitlines()]

    def _append(self, line: Seen) -> None:
        with open(self._path, "a", encoding="utf-8") as stream:
            stream.write(json.dumps(line) + "\n")
            stream.flush()
            os.fsync(stream.fileno())


def pool(count: int) -> Executor:
    """Processes that end, with all they have started, when this one is killed."""
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(count, mp_context=context, initializer=_end_with_parent)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            end_commands()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def run_round(journal: Journal, work: Path, plan: "parts.Plan", until: float) -> None:
    """Run the chunks of the last round that are not done; begin none after `until`."""
    seed, left = next(reversed(journal.rounds)), journal.left(plan)
    count = min(SIDE_BY_SIDE, os.cpu_count() or 1)
    while left and time.monotonic() < until:
        running: dict[Future[Seen], str] = {}
        try:
            with pool(count) as executor:
                while running or (left and time.monotonic() < until):
                    while left and len(running) < count and time.monotonic() < until:
                        name = left.pop(0)
                        made = executor.submit(parts.run_chunk, name, str(work), plan, seed)
                        running[made] = name
                    for future in wait(running, return_when=FIRST_COMPLETED).done:
                        _done(journal, seed, running[future], future.result())
                        del running[future]
        except BrokenProcessPool:
            for name in running.values():
                died = {"faults": [{"fault": "its process died"}], "seconds": 0.0}
                _done(journal, seed, name, {**died, "largest_process": 0})


def _done(journal: Journal, seed: int, name: str, seen: Seen) -> None:
    journal.add(seed, name, seen)
    print(f"{seed} {name}: {seen['seconds']:.0f} s, {len(seen['faults'])} faults", flush=True)


def added(tables: Iterable[dict[str, int]]) -> dict[str, int]:
    """Counts of several tables, summed by key."""
    total: dict[str, int] = {}
    for table in tables:
        for key, count in table.items():
            total[key] = total.get(key, 0) + count
    return dict(sorted(total.items()))


def by_key(tables: Sequence[dict[str, dict[str, int]]]) -> dict[str, dict[str, int]]:
    """As `added`, one level down."""
    keys = sorted({key for table in tables for key in table})
    return {key: added(table.get(key, {}) for table in tables) for key in keys}


def summary(rounds: Rounds, seconds: float, plan: "parts.Plan") -> Seen:
    """What was tried and seen, over all chunks of all rounds."""
    done = [(name, seen) for chunks in rounds.values() for name, seen in chunks.items()]
    of = {
        part: [(name, seen) for name, seen in done if name.startswith(f"{part}/")]
        for part in parts.PARTS
    }
    mutants, tampered, decisions = (
        [seen for _, seen in of[part]] for part in ("mutants", "tampered", "decisions")
    )
    by_command = by_key(
        [
            *({name.split("/")[1]: seen.get("kills", {})} for name, seen in of["kills"]),
            {"extract": added({"damaged photos": seen.get("kills", 0)} for seen in mutants)},
            {"decide": added({"steps": seen.get("kills", 0)} for seen in decisions)},
        ]
    )
    faults = [
        {"round": seed, "chunk": name, "again": f"{AGAIN} {seed} {name!r}", **fault}
        for seed, chunks in rounds.items()
        for name, seen in chunks.items()
        for fault in seen["faults"]
    ]
    return {
        "total": {
            "hours": round(seconds / 3600, 3),
            "rounds": sum(len(chunks) == len(parts.chunks(plan)) for chunks in rounds.values()),
            "mutated files": sum(seen.get("mutated_files", 0) for seen in mutants),
            "kills": sum(sum(counts.values()) for counts in by_command.values()),
            "decisions": sum(seen.get("decisions", 0) for seen in decisions),
            "tampered cases": sum(seen.get("tampered", 0) for seen in tampered),
            "commands on tampered cases": sum(seen.get("commands", 0) for seen in tampered),
            "disk faults": sum(seen.get("disk_faults", 0) for _, seen in of["disks"]),
            "faults": len(faults),
        },
        "rounds": {str(seed): len(chunks) for seed, chunks in rounds.items()},
        "mutated files": {
            name: added(seen.get(name, {}) for seen in mutants)
            for name in ("by_status", "by_kind", "by_mutation")
        }
        | added(
            {k: v for k, v in seen.items() if k.startswith(("decoder", "whole"))}
            for seen in mutants
        ),
        "kills": {
            "by_command": by_command,
            "by_state_of_the_case": added(seen.get("by_state", {}) for _, seen in of["kills"]),
            "moments": {
                name.split("/")[1]: seen["moments"]
                for name, seen in of["kills"]
                if "steps" in seen.get("kills", {})
            },
        },
        "decisions": added(
            {k: v for k, v in seen.items() if k in ("decisions", "undone", "refused", "kept")}
            for seen in decisions
        ),
        "tampered cases": {
            "codes_by_command": by_key([seen.get("codes_by_command", {}) for seen in tampered]),
            "codes_by_file": by_key([seen.get("codes_by_file", {}) for seen in tampered]),
            "slowest": _most(tampered, "slowest", "seconds"),
            "largest": _most(tampered, "largest", "memory"),
        },
        "disks": added(
            {name.split("/")[1]: seen.get("disk_faults", 0)} for name, seen in of["disks"]
        )
        | {name.split("/")[1]: seen["skipped"] for name, seen in of["disks"] if "skipped" in seen},
        "seconds_by_part": {
            part: round(sum(seen["seconds"] for _, seen in chunks), 1)
            for part, chunks in of.items()
        },
        "largest_process": max((seen["largest_process"] for _, seen in done), default=0),
        "faults": faults,
    }


def _most(rows: Sequence[Seen], name: str, figure: str) -> Any:
    given = [row[name] for row in rows if name in row]
    return max(given, key=lambda entry: entry[figure]) if given else None


def too_little(result: Seen) -> list[str]:
    """What so many whole rounds must have tried, and have not."""
    tried, wanted = dict(result["total"]), dict(WANTED)
    for command in parts.JOBS:
        counts = result["kills"]["by_command"].get(command, {})
        tried[f"kills of {command}"], wanted[f"kills of {command}"] = sum(counts.values()), OF_EACH
    least = {name: count * tried["rounds"] for name, count in wanted.items()}
    return [f"{n}: {tried[n]:,}, not {least[n]:,}" for n in wanted if tried[n] < least[n]]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = record.parser(__doc__)
    parser.add_argument(
        "--work", type=Path, metavar="DIR", help=f"folder of the journal (default {WORK})"
    )
    how_long = parser.add_mutually_exclusive_group()
    how_long.add_argument(
        "--hours", type=float, metavar="H", help="how long, with what the journal has; 0.5 is fine"
    )
    how_long.add_argument("--minutes", type=float, metavar="M", help="the same in minutes")
    parser.add_argument(
        "--again", nargs=2, metavar=("SEED", "CHUNK"), help="one chunk of a round once more"
    )
    options = parser.parse_args(arguments)
    plan = parts.QUICK if options.quick else parts.ROUND
    return again(plan, *options.again) if options.again else soak(options, plan)


def again(plan: "parts.Plan", seed: str, chunk: str) -> int:
    """Run one chunk of a round, and tell what was seen."""
    if chunk not in parts.chunks(plan):
        raise SystemExit(f"no chunk {chunk!r}: one of {', '.join(map(repr, parts.chunks(plan)))}")
    with tempfile.TemporaryDirectory() as work:
        parts.prepare(work, plan)
        seen = parts.run_chunk(chunk, work, plan, int(seed))
    print(json.dumps(seen, indent=2))
    return 1 if seen["faults"] else 0


def soak(options: argparse.Namespace, plan: "parts.Plan") -> int:
    """Go on with rounds for as long as is asked for, tell and write the sums."""
    work = Path(options.work or (WORK / "quick" if options.quick else WORK / "full"))
    journal = Journal(work, f"{state_of_tree()} {plan}")
    minutes = options.minutes if options.hours is None else 60 * options.hours
    until = float("inf")
    if minutes is not None:
        until = time.monotonic() + 60 * minutes - journal.seconds
    stopped = False
    try:
        for unfinished in work.glob("chunk-*"):
            shutil.rmtree(unfinished)
        while time.monotonic() < until:
            if not journal.left(plan):
                if journal.rounds and minutes is None:
                    break
                write(journal, options, plan)
                journal.begin(random.SystemRandom().randrange(2**32))
            parts.prepare(work, plan)
            run_round(journal, work, plan, until)
    except KeyboardInterrupt:
        stopped = True
        print("stopped: the same command goes on")
    result = write(journal, options, plan)
    for fault in result["faults"]:
        print(json.dumps(fault)[:2000])
    short = [] if options.quick else too_little(result)
    print(json.dumps(result["total"]), *short, sep="\n")
    return 1 if result["faults"] or short else 3 if stopped else 0


def write(journal: Journal, options: argparse.Namespace, plan: "parts.Plan") -> Seen:
    """Write the sums over what is done so far."""
    result = summary(journal.rounds, journal.seconds, plan)
    if any(journal.rounds.values()):
        settings = {**dataclasses.asdict(plan), "side_by_side": SIDE_BY_SIDE}
        record.write("soak", result, folder=record.folder_of(options), **settings)
    return result


if __name__ == "__main__":
    sys.exit(main())
