"""Killed, interrupted, starved, hung: the same command goes on and gives the same answer."""

import csv
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import numpy as np
import psutil
import pytest

from samecam.case import ExtractionSettings, check_log, extract_photos
from tests.case.conftest import SIZE, make_photos, rows_in, same_answer, write
from tests.photos.pictures import encode, scene
from tests.processes import PATIENCE, command, ctrl_c, run, run_apart, wait_for

FAULTS = Path(__file__).parent / "faults"


def reasons(case):
    with open(case / "images.csv", encoding="utf-8", errors="surrogateescape", newline="") as f:
        return {row["path"]: row["reason"] for row in csv.DictReader(f)}


def extract(photos, case, *more):
    words = ("extract", photos, "-o", case, "--workers", 2, *more)
    return command(*words, module_path=FAULTS)


def alive(processes):
    """Command lines of the processes that still run; one that only waits to be reaped has ended."""
    lines = []
    for process in processes:
        try:
            if process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
                lines.append(" ".join(process.cmdline()))
        except psutil.NoSuchProcess:
            continue
    return lines


def kill_and_check(process, case):
    """kill -9 the parent: workers end by themselves and the lock is free."""
    try:
        workers = psutil.Process(process.pid).children(recursive=True)
    except psutil.NoSuchProcess:
        workers = []
    acknowledged = rows_in(case)
    process.kill()
    process.communicate()
    assert wait_for(lambda: not alive(workers), 30), f"orphans: {alive(workers)}"
    return acknowledged


def kill_loop(photos, case, kills, seed):
    """Disturb a run so often, every other time once it has written rows, then let it end."""
    chance = random.Random(seed)
    for k in range(kills):
        before, process = rows_in(case), extract(photos, case)
        if k % 2:
            wait_for(lambda: rows_in(case) > before or process.poll() is not None)  # noqa: B023
            time.sleep(chance.uniform(0, 0.6))
        else:
            time.sleep(chance.uniform(0.1, 2.5))
        acknowledged = kill_and_check(process, case)
        if (case / "fingerprints" / "store.json").exists():
            assert rows_in(case) >= acknowledged
    code, _, error = run("extract", photos, "-o", case, "--workers", 2)
    assert code == 3, error


def test_killed_at_random_moments_and_resumed(slow, undisturbed, tmp_path):
    """The photos have many frames: no two processes may write to one's shard."""
    kill_loop(slow, tmp_path / "case", kills=2, seed=1)
    assert same_answer(tmp_path / "case", undisturbed)
    assert check_log(tmp_path / "case" / "log.jsonl") is None


@pytest.mark.long
@pytest.mark.parametrize("seed", range(10))
def test_fifty_kills(slow, undisturbed, tmp_path, seed):
    kill_loop(slow, tmp_path / "case", kills=5, seed=100 + seed)
    assert same_answer(tmp_path / "case", undisturbed)
    assert check_log(tmp_path / "case" / "log.jsonl") is None


def test_killed_workers_cost_at_most_their_file(slow, undisturbed, tmp_path):
    process = extract(slow, tmp_path / "case")
    assert wait_for(lambda: rows_in(tmp_path / "case") > 2)
    busy = [w for w in psutil.Process(process.pid).children(recursive=True) if not w.children()]
    workers = [w for w in busy if "resource_tracker" not in " ".join(w.cmdline())]
    workers[0].kill()
    process.communicate(timeout=PATIENCE)
    lost = {p: r for p, r in reasons(tmp_path / "case").items() if "crashed" in r}
    assert len(lost) <= 1
    code, *_ = run("extract", slow, "-o", tmp_path / "case")
    assert code == 3
    assert same_answer(tmp_path / "case", undisturbed), "lost files are tried again"


def test_ctrl_c_finishes_the_files_in_hand_and_tells_how_to_go_on(slow, undisturbed, tmp_path):
    case = tmp_path / "case"
    process = extract(slow, case)
    assert wait_for(lambda: rows_in(case) > 2)
    ctrl_c(process)
    _, error = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, error.decode()
    assert "To go on: samecam extract" in error.decode()
    assert json.loads((case / "case.json").read_text())["state"] == "interrupted"
    assert 2 < rows_in(case) < 26
    run("extract", slow, "-o", case)
    assert same_answer(case, undisturbed)
    assert not any("crashed" in r for r in reasons(case).values())


def test_sigterm_is_an_orderly_end_too(slow, tmp_path):
    case = tmp_path / "case"
    process = extract(slow, case)
    assert wait_for(lambda: rows_in(case) > 2)
    process.terminate()
    _, error = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, error.decode()
    assert "To go on" in error.decode()


def started(process):
    """How far the start of a run has come: processes there are beside it."""
    try:
        return len(psutil.Process(process.pid).children(recursive=True))
    except psutil.NoSuchProcess:
        return 99


MOMENTS = {
    "while it loads": lambda _, case: (case.parent / "loads").exists(),
    "when the case is there": lambda _, case: (case / "case.json").exists(),
    "with the server": lambda process, _: started(process) >= 2,
    "with the workers": lambda process, _: started(process) >= 3,
}
LOADS = """
import sys

class Finder:
    def find_spec(self, name, *_):
        if name == "samecam.cli":
            open({path!r}, "w").close()

sys.meta_path.insert(0, Finder())
exec(open({faults!r}).read())
"""


@pytest.mark.parametrize("moment", MOMENTS)
def test_ctrl_c_while_everything_starts(slow, tmp_path, moment):
    hook, case = tmp_path / "hook", tmp_path / "case"
    text = LOADS.format(path=str(tmp_path / "loads"), faults=str(FAULTS / "sitecustomize.py"))
    write(hook / "sitecustomize.py", text.encode())
    words = ("extract", slow, "-o", case, "--workers", 2)
    process = command(*words, module_path=hook)
    assert wait_for(lambda: MOMENTS[moment](process, case))
    ctrl_c(process)
    _, error = process.communicate(timeout=PATIENCE)
    assert process.returncode in (130, -signal.SIGINT), error.decode()
    assert "Broken" not in error.decode()
    if (case / "images.csv").exists():
        assert not any("crashed" in reason for reason in reasons(case).values())


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 0), (signal.SIGTERM, 130)])
def test_who_ignores_ctrl_c_from_the_start_goes_on_ignoring_it(tmp_path, number, code):
    """As `nohup samecam … &` in a script, where Ctrl-C is for the script alone."""
    photos, gate = tmp_path / "photos", tmp_path / "gate"
    waits = b"LOADS-AFTER" + os.fsencode(gate)
    for k in range(8):
        write(photos / f"{k}.jpg", encode(scene(k, 90, 90)) + waits)
    words = ("extract", photos, "-o", tmp_path / "case", "--workers", 1)
    process = command(*words, module_path=FAULTS, deaf=True)
    assert wait_for(Path(f"{gate}.reached").exists)
    process.send_signal(number)
    gate.touch()
    _, error = process.communicate(timeout=PATIENCE)
    assert process.returncode == code, error.decode()


SCRIPT = """
from samecam.case import extract_photos
extract_photos([{photos!r}], {case!r})
"""


def test_a_script_without_a_guard_is_told_so(pile, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(photos=str(pile), case=str(tmp_path / "case")))
    result = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, timeout=PATIENCE
    )
    assert result.returncode == 1
    assert "if __name__ == '__main__'" in result.stderr


def test_a_second_process_is_refused_with_an_error(tmp_path):
    photos, gate, case = tmp_path / "photos", tmp_path / "gate", tmp_path / "case"
    write(photos / "a.jpg", encode(scene(1, 90, 90)) + b"LOADS-AFTER" + os.fsencode(gate))
    process = extract(photos, case)
    assert wait_for(Path(f"{gate}.reached").exists)
    code, _, error = run("extract", photos, "-o", case)
    assert code == 1
    assert f"is in use by process {process.pid}" in error
    assert error.count("\n") <= 3
    kill_and_check(process, case)


def test_a_photo_that_is_read_at_the_second_try_stands_for_its_duplicates(tmp_path):
    photos, end = tmp_path / "photos", b"CRASH-HERE"
    for k in range(3):
        write(photos / f"{k}.jpg", encode(scene(k, 90, 90)))
    write(photos / "b.jpg", encode(scene(4, 90, 90)) + end)
    for name in ("b copy.jpg", "twin.jpg"):
        write(photos / name, encode(scene(4, 90, 90)) + b"0" * len(end))
    words = ("extract", photos, "-o", tmp_path / "case")
    run_apart(*words, module_path=FAULTS)
    assert "crashed" in reasons(tmp_path / "case")["b.jpg"]
    assert reasons(tmp_path / "case")["b copy.jpg"] == "same bytes as twin.jpg"
    shutil.copy(photos / "twin.jpg", photos / "b.jpg")
    run(*words)
    run("extract", photos, "-o", tmp_path / "undisturbed")
    assert reasons(tmp_path / "case")["twin.jpg"] == "same bytes as b.jpg"
    assert same_answer(tmp_path / "case", tmp_path / "undisturbed")


def test_a_decoder_that_hangs_or_crashes_costs_that_file_alone(tmp_path):
    photos = tmp_path / "photos"
    for k in range(8):
        write(photos / f"{k}.jpg", encode(scene(k, 90, 90)))
    write(photos / "hang.jpg", encode(scene(20, 90, 90)) + b"HANG-HERE")
    write(photos / "crash.jpg", encode(scene(21, 90, 90)) + b"CRASH-HERE")
    code, out, error = run_apart(
        *("extract", photos, "-o", tmp_path / "case", "--size", SIZE, "--timeout", 2, "--json"),
        module_path=FAULTS,
    )
    assert code == 3, error
    assert json.loads(out)["counts"] == {
        "good": 8, "weak": 0, "unusable": 0, "duplicate": 0, "copy": 0, "skipped": 2,
    }  # fmt: skip
    why = reasons(tmp_path / "case")
    assert why["hang.jpg"] == "took longer than 2 s"
    assert why["crash.jpg"] == "its decoder crashed (SIGSEGV)"


@pytest.mark.parametrize("settings", [ExtractionSettings(), ExtractionSettings(size=SIZE)])
def test_a_picture_larger_than_a_workers_memory_costs_itself_alone(tmp_path, settings):
    """What the address-space limit is for; 12 MB past the start is too little for anything."""
    from samecam import compute
    from samecam.case.extraction import _worker

    photos = tmp_path / "big.png"
    write(photos, encode(np.zeros((6000, 6000, 3), np.uint8), "PNG", compress_level=1))
    options = {
        "timeout": PATIENCE,
        "memory": 12 * 2**20,
        "preload": "samecam._preload",
        "initializer": _worker.start,
        "initargs": (settings, None),
    }
    with closing(compute.LocalPool(1, **options)) as pool:
        outcome = pool.submit(
            _worker.extract, _worker.ExtractionTask("big.png", str(photos))
        ).result()
    assert outcome.status == "skipped"
    assert "memory" in outcome.reason


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 400 kB, where this machine lets us make one."""
    disk = tmp_path / "disk"
    disk.mkdir()
    options = ["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(disk)]
    if not shutil.which("mount") or subprocess.run(options, capture_output=True).returncode:
        pytest.skip("cannot mount a small file system here")
    yield disk
    subprocess.run(["umount", "-l", str(disk)], check=True)


def test_a_full_disk_ends_with_an_error_and_goes_on_when_there_is_room(small_disk, tmp_path):
    photos = tmp_path / "photos"
    make_photos(photos, 40)
    case = small_disk / "case"
    words = ("extract", photos, "-o", case, "--workers", 2)
    code, _, error = run(*words)
    assert code == 1, "the check before the work"
    assert "are free for" in error
    # Past the check (another program takes the room meanwhile), the disk itself says no.
    hook = tmp_path / "hook"
    hook.mkdir()
    (hook / "sitecustomize.py").write_text(
        "import shutil\nreal = shutil.disk_usage\n"
        "shutil.disk_usage = lambda p: real('/')._replace(free=10**12)\n"
    )
    code, _, error = run_apart(*words, module_path=hook)
    assert code == 1
    assert "No space is left" in error or "cannot be written: No space left" in error
    assert "Traceback" not in error
    before = rows_in(case)
    subprocess.run(["mount", "-o", "remount,size=40m", str(small_disk)], check=True)
    code, _, error = run(*words)
    assert code == 3, error
    assert before < rows_in(case)
    extract_photos([photos], tmp_path / "undisturbed")
    assert same_answer(case, tmp_path / "undisturbed")


def test_a_limit_on_file_size_is_a_full_disk_too(tmp_path):
    photos = tmp_path / "photos"
    make_photos(photos, 12)

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))

    words = ("extract", photos, "-o", tmp_path / "case", "--size", SIZE, "--workers", 1)
    code, _, error = run_apart(*words, preexec_fn=limit)
    assert code == 1
    assert "No space is left" in error
    code, _, error = run(*words)
    assert code == 3, error
    extract_photos([photos], tmp_path / "undisturbed", ExtractionSettings(size=SIZE))
    assert same_answer(tmp_path / "case", tmp_path / "undisturbed")
