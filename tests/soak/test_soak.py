"""A long soak: damaged photos, killed processes, full disks, vanished drives.

Nothing is lost, nothing invented, every file accounted for. Each test notes its figures in
`benchmarks/results/soak.json` when it has passed.
"""

import json
import os
import random
import shutil
import subprocess
import time
from collections import Counter

import numpy as np
import pytest

from samecam.case import open_store
from samecam.simulate import simulate_photos
from tests.photos.pictures import encode, scene
from tests.soak import figures
from tests.soak.mutants import MUTATIONS, mutants, seeds
from tests.soak.runs import (
    accounts_for,
    end,
    finish,
    hashes,
    kill_a_worker,
    kill_run,
    same_case,
    start,
    table,
)

pytestmark = pytest.mark.long

MUTANTS, MUTANT_KILLS = 10_500, 60
RANDOM_KILLS, WORKER_KILLS = 16, 16
STRIDE = 5  # of the moments of writing; each is before or after something that lasts
SEED = 20


def extract(photos, case):
    return ("extract", photos, "-o", case, "--size", 64, "--workers", 2, "--quiet")


def cluster(photos, case):
    return ("cluster", photos, "-o", case, "--size", 256, "--workers", 2, "--quiet")


# Damaged photos


@pytest.fixture(scope="module")
def damaged(tmp_path_factory):
    """Thousands of mutated photos, and one whole one of every kind."""
    photos = tmp_path_factory.mktemp("damaged") / "photos"
    kinds, mutations = Counter(), Counter()
    for name, data in seeds().items():
        path = photos / "!whole" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    for k, (name, data, kind, mutation) in enumerate(mutants(MUTANTS, SEED)):
        path = photos / f"{k // 1000:03d}" / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
        kinds[kind] += 1
        mutations[mutation] += 1
    assert len(kinds) == len(seeds())
    assert len(mutations) == len(MUTATIONS)
    return photos


def fingerprints(case):
    with open_store(case) as store:
        return dict(zip(store.keys, store.read(), strict=True))


def test_mutated_photos_and_kills_among_them(damaged, tmp_path):
    before = hashes(damaged)
    began = time.monotonic()
    code, error = finish(*extract(damaged, tmp_path / "calm"))
    seconds = time.monotonic() - began
    assert code == 3, error
    counts = accounts_for(tmp_path / "calm", before)
    chance = random.Random(SEED)
    kills = 0
    while kills < MUTANT_KILLS:
        process = start(*extract(damaged, tmp_path / "case"))
        time.sleep(chance.uniform(0.2, 1.2 * seconds / MUTANT_KILLS + 2))
        killed = kill_run(process)
        kills += killed
        if not killed:  # it came to its end: once more from the start
            same_case(tmp_path / "case", tmp_path / "calm")
            shutil.rmtree(tmp_path / "case")
    code, error = finish(*extract(damaged, tmp_path / "case"))
    assert code == 3, error
    assert accounts_for(tmp_path / "case", before) == counts
    assert same_case(tmp_path / "case", tmp_path / "calm")
    assert hashes(damaged) == before, "photos are only read"
    _nothing_invented(tmp_path / "calm")
    crashed = [r["reason"] for r in table(tmp_path / "calm" / "images.csv").values()]
    figures.note(
        "mutated photos",
        mutated_files=MUTANTS,
        kinds_of_photo=len(seeds()),
        kinds_of_mutation=len(MUTATIONS),
        by_status=counts,
        decoder_crashes=sum("crashed" in reason for reason in crashed),
        decoder_time_outs=sum("took longer" in reason for reason in crashed),
        seconds_undisturbed=round(seconds, 1),
        kills_of_the_parent=kills,
        seed=SEED,
    )


def _nothing_invented(case):
    """Whole photos are used; a PNG, which has checksums, gives its pixels or a reason."""
    images, rows = table(case / "images.csv"), fingerprints(case)
    assert all(images[f"!whole/{name}"]["status"] == "good" for name in seeds())
    checked = 0
    for kind in ("colour", "palette", "sixteen"):
        right = rows[f"!whole/{kind}.png"]
        for path, vector in rows.items():
            if f"-{kind}-" in path:
                np.testing.assert_array_equal(vector, right, err_msg=path)
                checked += 1
    assert checked >= 1


# Kills


@pytest.fixture(scope="module")
def pile(tmp_path_factory):
    """Photos by two cameras, and files of every other fate."""
    root = tmp_path_factory.mktemp("pile")
    simulate_photos(root / "sim", cameras=2, images=7, size=(272, 264), seed=0, workers=1)
    photos = root / "photos"
    shutil.copytree(root / "sim" / "images", photos / "cameras")
    first = sorted((photos / "cameras").iterdir())[0]
    shutil.copy(first, photos / "twin.jpg")
    (photos / "cut.jpg").write_bytes(first.read_bytes()[:3000])
    (photos / "flat.png").write_bytes(encode(np.full((270, 270, 3), 90, np.uint8), "PNG"))
    (photos / "small.png").write_bytes(encode(scene(1, 70, 70), "PNG"))
    (photos / "text.txt").write_text("no photo")
    return photos


@pytest.fixture(scope="module")
def calm(pile, tmp_path_factory):
    """The answer of a run that nobody disturbs, and its seconds."""
    case = tmp_path_factory.mktemp("calm") / "case"
    began = time.monotonic()
    code, error = finish(*cluster(pile, case))
    assert code == 3, error
    accounts_for(case, hashes(pile))
    assert table(case / "clusters.csv")
    return case, min(time.monotonic() - began, 6.0)  # less, should others use the machine


def stage(case):
    """How far a run had come when it was killed, by what is on disk."""
    try:
        return json.loads((case / "case.json").read_text())["state"]
    except FileNotFoundError:
        return "before the case"


def settle(pile, case, calm):
    """The same command once more ends well, with the answer of the undisturbed run."""
    code, error = finish(*cluster(pile, case))
    assert code == 3, error
    accounts_for(case, hashes(pile))
    assert same_case(case, calm)


def test_killed_before_and_after_everything_that_lasts(pile, calm, tmp_path):
    stages, kills, moment = Counter(), 0, 1 + SEED % STRIDE
    while True:
        case = tmp_path / f"case{moment}"
        process = start(*cluster(pile, case), SOAK_KILL_AT=moment)
        code, error = end(process)
        if code != -9:
            assert code == 3, error
            assert same_case(case, calm[0])
            break
        stages[stage(case)] += 1
        settle(pile, case, calm[0])
        shutil.rmtree(case)
        kills += 1
        moment += STRIDE
    assert moment > 40
    assert len(stages) >= 4
    figures.note(
        "killed at steps of writing",
        kills_of_the_parent=kills,
        moments=moment - STRIDE,
        by_state_of_the_case=dict(stages),
    )


@pytest.mark.parametrize("kind", ["csv", "vics"])
def test_killed_while_exporting(calm, tmp_path, kind):
    case = tmp_path / "case"
    shutil.copytree(calm[0], case)
    before = {p.name for p in case.iterdir()}
    words = ("export", case, "--format", kind, "--quiet")
    moment = 1
    while True:
        code, error = end(start(*words, SOAK_KILL_AT=moment))
        if code != -9:
            assert code == 0, error
            break
        moment += 1
    assert moment > 3
    (made,) = {p.name for p in case.iterdir() if not p.name.startswith(".")} - before
    once = (case / made).read_bytes()
    assert finish(*words)[0] == 0
    assert (case / made).read_bytes() == once
    figures.note(f"killed while exporting {kind}", kills_of_the_parent=moment - 1)


def test_killed_at_random(pile, calm, tmp_path):
    chance, stages, kills, round_ = random.Random(SEED + 1), Counter(), 0, 0
    while kills < RANDOM_KILLS:
        case = tmp_path / f"case{round_}"
        for _ in range(chance.randint(1, 5)):
            process = start(*cluster(pile, case))
            time.sleep(chance.uniform(0.05, 1.1 * calm[1]))
            if kill_run(process):
                kills += 1
                stages[stage(case)] += 1
        settle(pile, case, calm[0])
        shutil.rmtree(case)
        round_ += 1
    figures.note("killed at random", kills_of_the_parent=kills, by_state_of_the_case=dict(stages))


def test_workers_killed_at_random(pile, calm, tmp_path):
    """A worker, or the server that forks them: the run goes on, or says why not."""
    chance, kills, round_ = random.Random(SEED + 2), 0, 0
    while kills < WORKER_KILLS:
        case = tmp_path / f"case{round_}"
        process = start(*cluster(pile, case))
        for _ in range(3):
            time.sleep(chance.uniform(0.1, 0.5 * calm[1]))
            kills += kill_a_worker(process, chance)
        code, error = end(process)
        assert code in (1, 3), error
        assert code == 3 or error.startswith("Error: "), error
        settle(pile, case, calm[0])
        shutil.rmtree(case)
        round_ += 1
    figures.note("workers killed at random", kills_of_workers=kills)


# Disks


@pytest.fixture
def disk(tmp_path):
    """A file system whose size can be set, where this machine lets us make one."""
    place = tmp_path / "disk"
    place.mkdir()

    def resize(size, remount=True):
        options = f"{'remount,' if remount else ''}size={size}k"
        words = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)]
        return subprocess.run(words, capture_output=True).returncode == 0

    if not shutil.which("mount") or not resize(100, remount=False):
        pytest.skip("cannot mount a small file system here")
    yield place, resize
    subprocess.run(["umount", "-l", str(place)], check=True)


def test_full_disk_again_and_again(pile, calm, disk):
    """Every time there is a little more room, until there is enough."""
    place, resize = disk
    faults, size = 0, 40
    while True:
        resize(size)
        code, error = finish(*cluster(pile, place / "case"), SOAK_ANY_DISK=1)
        if code == 3:
            break
        assert code == 1, error
        assert error.startswith("Error: "), error
        faults += 1
        size = int(size * 1.12) + 4
        assert size < 100_000
    accounts_for(place / "case", hashes(pile))
    assert same_case(place / "case", calm[0])
    assert faults >= 10
    figures.note("full disk", disk_faults=faults)


def test_photos_vanish_and_come_back(pile, calm, tmp_path):
    """The drive with the photos goes away in the midst of a run; what was taken stays."""
    photos, case, away = tmp_path / "photos", tmp_path / "case", tmp_path / "away"
    shutil.copytree(pile, photos)
    calm_here = tmp_path / "calm"
    assert finish(*cluster(photos, calm_here))[0] == 3
    chance, vanished = random.Random(SEED + 3), 0
    for k in range(6):
        process = start(*cluster(photos, case))
        time.sleep(chance.uniform(0.3, 0.9 * calm[1]))
        in_time = process.poll() is None
        os.rename(photos, away)
        code, error = end(process)
        os.rename(away, photos)
        vanished += in_time
        assert code in (0, 1, 3), error
        assert code != 1 or error.startswith("Error: "), error
        code, error = finish(*cluster(photos, case))
        assert code == 3, error
        accounts_for(case, hashes(photos))
        assert same_case(case, calm_here), k
        shutil.rmtree(case)
    figures.note("photos vanish", disk_faults=vanished)


def test_the_case_vanishes_and_comes_back(pile, calm, tmp_path):
    case, away = tmp_path / "case", tmp_path / "away"
    chance, vanished = random.Random(SEED + 4), 0
    for _ in range(6):
        process = start(*cluster(pile, case))
        until = time.monotonic() + 30
        while not (case / "case.json").exists() and time.monotonic() < until:
            time.sleep(0.01)
        time.sleep(chance.uniform(0, 0.7 * calm[1]))
        in_time = process.poll() is None
        os.rename(case, away)
        code, error = end(process)
        shutil.rmtree(case, ignore_errors=True)  # what was begun anew in its place
        os.rename(away, case)
        vanished += in_time
        assert code in (0, 1, 3), error
        settle(pile, case, calm[0])
        shutil.rmtree(case)
    figures.note("case vanishes", disk_faults=vanished)


def test_the_soak_was_long_enough():
    total = figures.total(figures.read())
    print(total)
    assert total["mutated files"] >= 10_000
    assert total["kills"] >= 100
    assert total["disk faults"] >= 10
