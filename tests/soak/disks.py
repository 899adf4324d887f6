"""Disks that fill up, drives that vanish in the midst of a run and come back."""

import os
import random
import shutil
import subprocess
import time
from contextlib import contextmanager

from tests.soak.runs import accounts_for, end, finish, hashes, same_case, start


def cluster(photos, case):
    return ("cluster", photos, "-o", case, "--workers", 2, "--quiet")


def undisturbed(photos, case):
    """Make a case that nobody disturbs; seconds it took, or less should the machine be busy."""
    began = time.monotonic()
    code, error = finish(*cluster(photos, case))
    assert code == 3, error
    return min(time.monotonic() - began, 6.0)


def settle(photos, case, calm):
    """The same command once more ends well, with the answer of the undisturbed run."""
    code, error = finish(*cluster(photos, case))
    assert code == 3, error
    accounts_for(case, hashes(photos))
    assert same_case(case, calm)


@contextmanager
def small_disk(place):
    """A file system whose size in kB can be set; None where this machine lets us make none."""
    place.mkdir(parents=True)

    def resize(size, remount=True):
        options = f"{'remount,' if remount else ''}size={size}k"
        words = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)]
        return subprocess.run(words, capture_output=True).returncode == 0

    if not shutil.which("mount") or not resize(100, remount=False):
        yield None
        return
    try:
        yield resize
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def full_disk(world, place, growth=1.12, size=40):
    """Every time there is a little more room, until there is enough; times it was too little."""
    undisturbed(world.photos, place / "calm")
    with small_disk(place / "disk") as resize:
        if resize is None:
            return None
        faults = 0
        while True:
            resize(size)
            code, error = finish(*cluster(world.photos, place / "disk" / "case"), SOAK_ANY_DISK=1)
            if code == 3:
                break
            assert code == 1, error
            assert error.startswith("Error: "), error
            faults += 1
            size = int(size * growth) + 4
            assert size < 100_000
        accounts_for(place / "disk" / "case", hashes(world.photos))
        assert same_case(place / "disk" / "case", place / "calm")
    return faults


def photos_vanish(world, place, times, seed):
    """The drive with the photos goes away in the midst of a run; what was taken stays."""
    photos, case, away = place / "photos", place / "case", place / "away"
    shutil.copytree(world.photos, photos)
    seconds = undisturbed(photos, place / "calm")
    chance, vanished = random.Random(seed), 0
    for _ in range(times):
        process = start(*cluster(photos, case))
        time.sleep(chance.uniform(0.3, 0.9 * seconds))
        vanished += process.poll() is None
        os.rename(photos, away)
        code, error = end(process)
        os.rename(away, photos)
        assert code in (0, 1, 3), error
        assert code != 1 or error.startswith("Error: "), error
        settle(photos, case, place / "calm")
        shutil.rmtree(case)
    return vanished


def case_vanishes(world, place, times, seed):
    """The drive with the case goes away in the midst of a run, and comes back."""
    case, away = place / "case", place / "away"
    seconds = undisturbed(world.photos, place / "calm")
    chance, vanished = random.Random(seed), 0
    for _ in range(times):
        process = start(*cluster(world.photos, case))
        until = time.monotonic() + 30
        while not (case / "case.json").exists() and time.monotonic() < until:
            time.sleep(0.01)
        time.sleep(chance.uniform(0, 0.7 * seconds))
        vanished += process.poll() is None
        os.rename(case, away)
        code, error = end(process)
        shutil.rmtree(case, ignore_errors=True)  # what was begun anew in its place
        os.rename(away, case)
        assert code in (0, 1, 3), error
        settle(world.photos, case, place / "calm")
        shutil.rmtree(case)
    return vanished
