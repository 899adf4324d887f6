"""Damaged photos in one case: each accounted for, whatever becomes of the run."""

import random
import shutil
import time
from collections import Counter

import numpy as np

from samecam.case import open_store
from tests.case.conftest import keys_of, row_of
from tests.soak.mutants import mutants, seeds
from tests.soak.runs import accounts_for, finish, hashes, kill_run, same_case, start, table


def extract(photos, case):
    return ("extract", photos, "-o", case, "--workers", 2, "--quiet")


def write_photos(photos, count, seed):
    """Mutated photos, and one whole one of every kind; counts by kind and by mutation."""
    kinds, mutations = Counter(), Counter()
    for name, data in seeds().items():
        path = photos / "!whole" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    for k, (name, data, kind, mutation) in enumerate(mutants(count, seed)):
        path = photos / f"{k // 1000:03d}" / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
        kinds[kind] += 1
        mutations[mutation] += 1
    return kinds, mutations


def damage(place, count, kills, seed):
    """Put mutated photos through a case in peace, and through one that is killed meanwhile.

    Raises `AssertionError` if anything is lost, invented or left out; else gives figures.
    """
    photos, calm, case = place / "photos", place / "calm", place / "case"
    kinds, mutations = write_photos(photos, count, seed)
    before = hashes(photos)
    began = time.monotonic()
    code, error = finish(*extract(photos, calm))
    seconds = time.monotonic() - began
    assert code == 3, error
    counts = accounts_for(calm, before)
    chance, done = random.Random(seed), 0
    while done < kills:
        process = start(*extract(photos, case))
        longest = min(1.2 * seconds / kills + 2, 0.9 * seconds)
        time.sleep(chance.uniform(0.2, max(0.3, longest)))
        killed = kill_run(process)
        done += killed
        if not killed:  # it came to its end: once more from the start
            assert same_case(case, calm)
            shutil.rmtree(case)
    code, error = finish(*extract(photos, case))
    assert code == 3, error
    assert accounts_for(case, before) == counts
    assert same_case(case, calm)
    assert hashes(photos) == before, "photos are only read"
    nothing_invented(calm)
    reasons = [row["reason"] for row in table(calm / "images.csv").values()]
    shutil.rmtree(place)
    return {
        "mutated_files": count,
        "whole_files": len(seeds()),
        "by_kind": dict(kinds),
        "by_mutation": dict(mutations),
        "by_status": counts,
        "decoder_crashes": sum("crashed" in reason for reason in reasons),
        "decoder_time_outs": sum("took longer" in reason for reason in reasons),
        "kills": done,
        "seconds_undisturbed": round(seconds, 1),
    }


def nothing_invented(case):
    """Whole photos are used; a PNG, which has checksums, gives its pixels or a reason."""
    images = table(case / "images.csv")
    with open_store(case) as store:
        rows = {key: row_of(store, key) for key in keys_of(store)}
    assert all(images[f"!whole/{name}"]["status"] in ("good", "copy") for name in seeds())
    for kind in ("colour", "palette", "sixteen"):
        right = rows[f"!whole/{kind}.png"]
        for path, vector in rows.items():
            if f"-{kind}-" in path:
                np.testing.assert_array_equal(vector, right, err_msg=path)
