"""The soak: damaged photos, killed commands, tampered cases, disks that fail.

    python -m benchmarks.soak [--work DIR] [--minutes M]

Runs in chunks, each in a process of its own, as many at a time as there are cores, but two at
most. A chunk that is done is a line of DIR/journal.jsonl: stopped or killed, the same command
goes on with the chunks that are not done. The journal holds for one commit and one state of the
working tree; with another it begins anew. Sums are written when all chunks are done. Exit code:
0 if nothing was seen that should not have been, 1 otherwise, 3 if it was stopped.
"""

import argparse
import dataclasses
import hashlib
import json
import multiprocessing
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from pathlib import Path
from typing import Any

from benchmarks import record
from tests.soak import parts

ROOT = Path(__file__).parents[1]
WORK = ROOT / "soak"
RESULT = "benchmarks/results/soak.json"
SIDE_BY_SIDE = 2
# What a whole run must have tried, at least; and kills of each command.
WANTED = {"mutated files": 20_000, "kills": 300, "tampered cases": 1_000, "disk faults": 10}
OF_EACH = 8
_WORDS = ("git", "-c", "core.quotepath=off")

Seen = dict[str, Any]


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
    """What is done: one line of JSON for each chunk, after one that says what was run."""

    def __init__(self, work: Path, state: str) -> None:
        self._path = work / "journal.jsonl"
        self.done: dict[str, Seen] = {}
        lines = self._lines()
        if not lines or lines[0].get("state") != state:
            shutil.rmtree(work, ignore_errors=True)
            work.mkdir(parents=True)
            self._append({"state": state})
            lines = []
        for line in lines[1:]:
            self.done[line["chunk"]] = line["seen"]

    def add(self, chunk: str, seen: Seen) -> None:
        """Note that a chunk is done."""
        self.done[chunk] = seen
        self._append({"chunk": chunk, "seen": seen})

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


def run(journal: Journal, work: Path, plan: "parts.Plan", until: float) -> bool:
    """Run the chunks that are not done; whether all are, when time is up."""
    left = [name for name in parts.chunks(plan) if name not in journal.done]
    if left and time.monotonic() < until:
        print(f"{len(journal.done)} chunks done, {len(left)} to do", flush=True)
        for unfinished in work.glob("chunk-*"):
            shutil.rmtree(unfinished)
        parts.prepare(work, plan)
    count = min(SIDE_BY_SIDE, os.cpu_count() or 1)
    context = multiprocessing.get_context("spawn")
    running: dict[Future[Seen], str] = {}
    with ProcessPoolExecutor(count, mp_context=context) as pool:
        while running or (left and time.monotonic() < until):
            while left and len(running) < count and time.monotonic() < until:
                name = left.pop(0)
                running[pool.submit(parts.run_chunk, name, str(work), plan)] = name
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                name, seen = running.pop(future), future.result()
                journal.add(name, seen)
                print(f"{name}: {seen['seconds']:.0f} s, {len(seen['faults'])} faults", flush=True)
    return not left


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


def summary(done: dict[str, Seen]) -> Seen:
    """What was tried and seen, over all chunks."""
    of = {
        part: {name: seen for name, seen in done.items() if name.startswith(f"{part}/")}
        for part in ("mutants", "kills", "tampered", "disks")
    }
    mutants, killed = list(of["mutants"].values()), of["kills"]
    tampered, disks = list(of["tampered"].values()), of["disks"]
    faults = [fault for seen in done.values() for fault in seen["faults"]]
    by_command: dict[str, dict[str, int]] = {}
    for name, seen in killed.items():
        _, command, how, _ = name.split("/")
        counts = by_command.setdefault(command, {})
        counts[how] = counts.get(how, 0) + seen.get("kills", 0)
    kills = sum(sum(counts.values()) for counts in by_command.values())
    return {
        "total": {
            "mutated files": sum(seen.get("mutated_files", 0) for seen in mutants),
            "kills": kills,
            "kills among mutated files": sum(seen.get("kills", 0) for seen in mutants),
            "tampered cases": sum(seen.get("tampered", 0) for seen in tampered),
            "commands on tampered cases": sum(seen.get("commands", 0) for seen in tampered),
            "disk faults": sum(seen.get("disk_faults", 0) for seen in disks.values()),
            "faults": len(faults),
        },
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
            "by_state_of_the_case": added(seen.get("by_state", {}) for seen in killed.values()),
            "moments": {
                name.split("/")[1]: seen["moments"]
                for name, seen in killed.items()
                if "/steps/" in name and "moments" in seen
            },
        },
        "tampered cases": {
            "codes_by_command": by_key([seen.get("codes_by_command", {}) for seen in tampered]),
            "codes_by_file": by_key([seen.get("codes_by_file", {}) for seen in tampered]),
            "slowest": _most(tampered, "slowest", "seconds"),
            "largest": _most(tampered, "largest", "memory"),
        },
        "disks": {
            name.split("/")[1]: seen.get("skipped") or seen.get("disk_faults", 0)
            for name, seen in disks.items()
        },
        "seconds_by_part": {
            part: round(sum(seen["seconds"] for seen in chunks.values()), 1)
            for part, chunks in of.items()
        },
        "largest_process": max(seen["largest_process"] for seen in done.values()),
        "faults": faults,
    }


def _most(rows: Sequence[Seen], name: str, figure: str) -> Any:
    given = [row[name] for row in rows if name in row]
    return max(given, key=lambda entry: entry[figure]) if given else None


def too_little(result: Seen) -> list[str]:
    """What a whole run must have tried, and has not."""
    tried, wanted = dict(result["total"]), dict(WANTED)
    for command in parts.JOBS:
        counts = result["kills"]["by_command"].get(command, {})
        tried[f"kills of {command}"], wanted[f"kills of {command}"] = sum(counts.values()), OF_EACH
    return [f"{n}: {tried[n]:,}, not {least:,}" for n, least in wanted.items() if tried[n] < least]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = record.parser(__doc__)
    parser.add_argument(
        "--work", type=Path, metavar="DIR", help=f"folder of the journal (default {WORK})"
    )
    parser.add_argument(
        "--minutes", type=float, metavar="M", help="begin no chunk after so many minutes"
    )
    options = parser.parse_args(arguments)
    return soak(options)


def soak(options: argparse.Namespace) -> int:
    """Run what is asked for, tell and write it."""
    began, plan = time.monotonic(), parts.QUICK if options.quick else parts.FULL
    work = Path(options.work or (WORK / "quick" if options.quick else WORK / "full"))
    journal = Journal(work, f"{state_of_tree()} {plan}")
    until = began + 60 * options.minutes if options.minutes is not None else float("inf")
    try:
        finished = run(journal, work, plan, until)
    except KeyboardInterrupt:
        finished = False
    if not finished:
        print(f"stopped; {len(journal.done)} chunks are done: give the same command again")
        return 3
    result = summary(journal.done)
    for fault in result["faults"]:
        print(json.dumps(fault)[:1000])
    short = [] if options.quick else too_little(result)
    print(json.dumps(result["total"]), *short, sep="\n")
    settings = {**dataclasses.asdict(plan), "seed": parts.SEED, "side_by_side": SIDE_BY_SIDE}
    record.write("soak", result, folder=record.folder_of(options), **settings)
    return 1 if result["faults"] or short else 0


if __name__ == "__main__":
    sys.exit(main())
