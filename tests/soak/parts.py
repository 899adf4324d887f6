"""A round of the soak in chunks: each a line of the journal, so that what is done counts.

`chunks` names them all; `run_chunk` runs one with the seed of its round, in a process of its own,
and gives what it saw as a dictionary for JSON, with `faults`: all that should not have been.
"""

import os
import random
import resource
import shutil
import time
import traceback
from dataclasses import dataclass
from pathlib import Path

from tests.processes import end_commands
from tests.soak import damaged, decided, disks
from tests.soak.jobs import JOBS, experiment
from tests.soak.kills import HOWS, Killing
from tests.soak.slots import Slot
from tests.soak.tampered import World, attempt, make_world, others, tamperings

PATIENCE = 600  # seconds for a step of preparing


@dataclass(frozen=True)
class Plan:
    """How much is tried in a round.

    Attributes
    ----------
    mutants, of_each, mutant_kills : photos, how many in one case, kills for each case
    all_kills : whether as many as each job says, or one
    jobs : commands to kill
    tampered, of_each_tampered, more : tamperings, drawn from all there are, how many in a chunk,
        and commands for each beside verify
    decisions, decision_kills : decisions about one case, and commands killed while they decide
    vanishings : of photos, and of cases
    growth : of a disk that is too small, each time
    """

    mutants: int = 16_000
    of_each: int = 2_000
    mutant_kills: int = 4
    all_kills: bool = True
    jobs: tuple = tuple(JOBS)
    tampered: int = 100
    of_each_tampered: int = 50
    more: int = 4
    decisions: int = 60
    decision_kills: int = 16
    vanishings: int = 2
    growth: float = 1.4


ROUND = Plan()
QUICK = Plan(38, 38, 1, False, ("simulate",), 6, 6, 2, 6, 1, 0)


def chunks(plan):
    """Names of all chunks of a round."""
    names = [f"kills/{name}" for name in plan.jobs]
    if plan.vanishings:
        names += ["disks/full", "disks/photos vanish", "disks/case vanishes"]
    for part, count, of_each in (
        ("tampered", plan.tampered, plan.of_each_tampered),
        ("mutants", plan.mutants, plan.of_each),
    ):
        pieces = -(-count // of_each)
        names += [f"{part}/{k + 1} of {pieces}" for k in range(pieces)]
    return [*names, "decisions/about a case"]


def prepare(work, plan):
    """Make what commands begin with, unless it is there."""
    world = World(Path(work) / "world")
    done = world.root / "done"
    if not done.exists():
        shutil.rmtree(world.root, ignore_errors=True)
        world.root.mkdir(parents=True)
        with Slot(world.root) as slot:

            def ask(*words):
                return slot.run(*words, seconds=PATIENCE)

            make_world(world.root, ask)
            if "experiment" in plan.jobs and (said := ask(*experiment(world.root))).code != 0:
                raise RuntimeError(said.error)
        done.touch()
    return world


def run_chunk(name, work, plan, seed):
    """Run one chunk; a check that does not hold, or cannot be made, is a fault, not the end."""
    part, *rest = name.split("/")
    place = Path(work) / f"chunk-{os.getpid()}"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    world, began = World(Path(work) / "world"), time.monotonic()
    try:
        seen = _PARTS[part](world, place, plan, rest, seed)
    except Exception:
        told = traceback.format_exc().replace(str(place), "PLACE")
        seen = {"faults": [{"fault": told[-1500:]}]}
    finally:
        end_commands()
        shutil.rmtree(place, ignore_errors=True)
    used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    return {**seen, "seconds": round(time.monotonic() - began, 1), "largest_process": used}


def _number(rest):
    return int(rest[-1].split(" of ")[0]) - 1


def _mutants(_, place, plan, rest, seed):
    number = _number(rest)
    count = min(plan.of_each, plan.mutants - number * plan.of_each)
    return damaged.damage(place, count, plan.mutant_kills, seed + number) | {"faults": []}


def _kills(world, place, plan, rest, seed):
    name = rest[0]
    killing = Killing(world, name, place / "place", seed)
    counts = JOBS[name].kills if plan.all_kills else (1, 0, 0)
    for how, count in zip(
        (killing.at_steps, killing.at_random, killing.of_workers), counts, strict=True
    ):
        how(count)
    faults = [
        {
            "command": name,
            "way": row["way"],
            "how": row["how"],
            "stood": row["stood"],
            "fault": fault,
        }
        for row in killing.rows
        for fault in row["faults"]
    ]
    states = {}
    for row in killing.rows:
        states[row["stood"]] = states.get(row["stood"], 0) + row["kills"]
    return {
        "kills": {
            how: killing.kills(how) for how, count in zip(HOWS, counts, strict=True) if count
        },
        "moments": killing.calm.moments,
        "by_state": states,
        "faults": faults,
    }


def _tampered(world, place, plan, rest, seed):
    chosen = random.Random(f"{seed} tampered").sample(tamperings(), plan.tampered)
    first = _number(rest) * plan.of_each_tampered
    rows = []
    with Slot(place) as slot:
        for k in range(first, min(first + plan.of_each_tampered, plan.tampered)):
            names = ["verify", *others(world.commands(world.case), k, plan.more)]
            if chosen[k][0] == "tune.json":
                names.append("cluster --tuned")
            rows += attempt(world, slot, place / "place", chosen[k], seed, names)
    return tampered_figures(rows)


def tampered_figures(rows):
    """Counts of exit codes by command and by file, and all faults."""
    codes, files, keep = {}, {}, ("file", "change", "signed", "seed", "command", "code", "error")
    for row in rows:
        for table, key in ((codes, row["command"]), (files, row["file"])):
            counts = table.setdefault(key, {})
            counts[str(row["code"])] = counts.get(str(row["code"]), 0) + 1
    slowest = max(rows, key=lambda row: row["seconds"])
    largest = max(rows, key=lambda row: row["memory"])
    return {
        "tampered": len({(r["file"], r["change"], r["signed"]) for r in rows}),
        "commands": len(rows),
        "codes_by_command": codes,
        "codes_by_file": files,
        "slowest": {k: slowest[k] for k in ("seconds", "command", "file", "change")},
        "largest": {k: largest[k] for k in ("memory", "command", "file", "change")},
        "faults": [
            {**{k: row[k] for k in keep}, "fault": fault} for row in rows for fault in row["faults"]
        ],
    }


def _decisions(world, place, plan, _, seed):
    return decided.decide(world, place, plan.decisions, plan.decision_kills, seed) | {"faults": []}


def _disks(world, place, plan, rest, seed):
    if rest[0] == "full":
        faults = disks.full_disk(world, place, plan.growth, random.Random(seed).randint(20, 60))
    elif rest[0] == "photos vanish":
        faults = disks.photos_vanish(world, place, plan.vanishings, seed)
    else:
        faults = disks.case_vanishes(world, place, plan.vanishings, seed)
    if faults is None:
        return {"disk_faults": 0, "skipped": "cannot mount a small file system", "faults": []}
    return {"disk_faults": faults, "faults": []}


_PARTS = {
    "mutants": _mutants,
    "kills": _kills,
    "tampered": _tampered,
    "decisions": _decisions,
    "disks": _disks,
}
PARTS = tuple(_PARTS)
