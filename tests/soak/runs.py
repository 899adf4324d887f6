"""Running the tool under faults, and telling whether a case accounts for everything."""

import csv
import hashlib
import os
import signal
from collections import Counter
from pathlib import Path

import numpy as np
import psutil

from samecam.case import STATUSES, check_log, open_store
from tests.case.conftest import same_answer
from tests.processes import command, wait_for

FAULTS = Path(__file__).parent / "faults"
ANSWER = ("clusters.csv", "clusters.json")
PATIENCE = 900


def start(*words, **environment):
    """Start `samecam WORDS` in a process group of its own."""
    return command(*words, module_path=FAULTS, variables=environment)


def end(process):
    """Wait for a run; its exit code and what it said. Nobody may be left behind."""
    error = process.communicate(timeout=PATIENCE)[1].decode(errors="replace")
    assert "Traceback" not in error, error
    assert wait_for(lambda: not group_of(process.pid), 60), "processes were left behind"
    return process.returncode, error


def finish(*words, **environment):
    return end(start(*words, **environment))


def group_of(leader):
    """Living processes of a group."""
    living = []
    for process in psutil.process_iter():
        try:
            if os.getpgid(process.pid) == leader and process.status() != psutil.STATUS_ZOMBIE:
                living.append(process)
        except (ProcessLookupError, psutil.NoSuchProcess):
            continue
    return living


def below(process):
    """Living processes that a run has started, in whatever group."""
    try:
        started = psutil.Process(process.pid).children(recursive=True)
    except psutil.NoSuchProcess:
        started = []
    others = [p for p in group_of(process.pid) if p.pid != process.pid]
    return list({p.pid: p for p in (*started, *others)}.values())


def kill_run(process):
    """kill -9 the parent; False if it had ended by itself. Whom it had started must end too."""
    started = below(process)
    was_running = process.poll() is None
    if was_running:
        process.kill()
    code, _ = end(process)
    assert wait_for(lambda: not any(map(_lives, started)), 60), "processes outlive their parent"
    return was_running and code == -signal.SIGKILL


def _lives(process):
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def kill_a_worker(process, chance):
    """kill -9 a worker of a run, or the server that forks them; which, or "" if there was none.

    Python's own resource tracker is spared: its successor writes tracebacks of its own. So is what
    may become it: a child of the parent that still has the parent's command line.
    """
    try:
        parent = psutil.Process(process.pid).cmdline()
        victims = [
            p
            for p in below(process)
            if "resource_tracker" not in " ".join(p.cmdline())
            and (p.ppid() != process.pid or p.cmdline() != parent)
        ]
        if not victims:
            return ""
        victim = chance.choice(sorted(victims, key=lambda p: p.pid))
        which = "a worker" if victim.ppid() != process.pid else "the first below the parent"
        victim.kill()
    except psutil.NoSuchProcess:
        return ""
    return which


def table(path):
    with open(path, encoding="utf-8", errors="surrogateescape", newline="") as stream:
        return {row["path"]: row for row in csv.DictReader(stream)}


def hashes(photos):
    """SHA-256 of every file below a folder, by path."""
    return {
        p.relative_to(photos).as_posix(): hashlib.sha256(p.read_bytes()).hexdigest()
        for p in photos.rglob("*")
        if p.is_file()
    }


def accounts_for(case, wanted):
    """Whether a case has every file once, with its hash, and a row for just those it should.

    Gives the number of files by status.
    """
    images = table(case / "images.csv")
    assert set(images) == set(wanted), "one row for each file, and none besides"
    with open_store(case) as store:
        rows = {record.key: record.has_row for record in store.records()}
        assert set(rows) == set(wanted)
        assert store.verify() == []
        for frame in store.frames:
            for _, block in store.rows(frame).blocks(2**26):
                assert np.isfinite(block).all()
                np.testing.assert_allclose(np.linalg.norm(block, axis=1), 1, atol=1e-2)
    for path, row in images.items():
        assert row["sha256"] == wanted[path], path
        assert row["status"] in STATUSES, path
        assert rows[path] == (row["status"] in ("good", "weak", "copy")), path
        assert row["status"] == "good" or row["reason"], path
        assert "internal error" not in row["reason"], row["reason"]
    assert check_log(case / "log.jsonl") is None
    return dict(Counter(row["status"] for row in images.values()))


def same_case(one, other):
    """Whether two cases hold the same tables, fingerprints and groups."""
    for name in ANSWER:
        here, there = one / name, other / name
        assert here.exists() == there.exists(), name
        assert not here.exists() or here.read_bytes() == there.read_bytes(), name
    return same_answer(one, other)
