"""A small pile of photos of every status, and what may be done to it."""

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from samecam.case import extract_photos, open_store
from samecam.store import DiskStore
from tests.photos.pictures import encode, scene
from tests.processes import run

__all__ = ["run"]

SIZE = 64


def write(path, data):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def make_photos(root, count=12):
    """Good photos a00.jpg …, and one file or more of every other kind."""
    for k in range(count):
        write(root / f"a{k:02d}.jpg", encode(scene(k, 120 + k, 200), quality=92))
    bright = scene(50, 100, 100)
    bright[:30] = 255
    write(root / "b/weak.png", encode(bright, "PNG"))
    write(root / "b/white.png", encode(np.full((80, 80, 3), 255, np.uint8), "PNG"))
    write(root / "b/flat.png", encode(np.full((80, 80, 3), 90, np.uint8), "PNG"))
    write(root / "b/small.jpg", encode(scene(51, 63, 200)))
    write(root / "b/text.jpg", b"no photo at all")
    write(root / "b/empty.jpg", b"")
    write(root / "c/twin.jpg", (root / "a01.jpg").read_bytes())
    write(root / "c/text again.txt", b"no photo at all")
    odd = os.fsdecode(b'x\xff\n"<script>.jpg')
    write(root / odd, encode(scene(60, 100, 100)))
    return root


EXPECTED = {
    "b/weak.png": "weak",
    "b/white.png": "unusable",
    "b/flat.png": "unusable",
    "b/small.jpg": "skipped",
    "b/text.jpg": "skipped",
    "b/empty.jpg": "skipped",
    "c/text again.txt": "duplicate",
    "c/twin.jpg": "duplicate",
}


@pytest.fixture(scope="session")
def pile(tmp_path_factory):
    """The pile; tests that change it copy it first."""
    return make_photos(tmp_path_factory.mktemp("pile") / "photos")


@pytest.fixture
def own_pile(pile, tmp_path):
    shutil.copytree(pile, tmp_path / "photos", symlinks=True)
    return tmp_path / "photos"


def keys_of(store):
    """Keys of all rows of a store, whatever their frame, sorted."""
    return [record.key for record in store.records() if record.has_row]


def row_of(store, key):
    """The fingerprint of one photo."""
    (frame,) = [record.frame for record in store.records() if record.key == key]
    rows = store.all_rows(frame)
    row = rows.read([rows.index(key)])[0]
    rows.close()
    return row


def rows_in(case):
    """Rows that count, read beside a living writer."""
    try:
        with DiskStore.open(Path(case) / "fingerprints") as store:
            return len(keys_of(store))
    except Exception:
        return 0


def same_answer(one, other):
    """Whether two cases hold the same table and the same fingerprints."""
    assert (Path(one) / "images.csv").read_bytes() == (Path(other) / "images.csv").read_bytes()
    with open_store(one) as a, open_store(other) as b:
        assert a.frames == b.frames
        assert keys_of(a) == keys_of(b)
        for frame in a.frames:
            assert list(a.rows(frame).keys) == list(b.rows(frame).keys)
            np.testing.assert_array_equal(a.rows(frame).read(), b.rows(frame).read())
        assert a.verify() == []
    states = [json.loads((Path(c) / "case.json").read_text())["counts"] for c in (one, other)]
    assert states[0] == states[1]
    return True


def slow_photos(root, count=24):
    """Photos that take 0.2 s each, so that there is time to disturb the run."""
    make_photos(root, count)
    for file in root.glob("a*.jpg"):
        file.write_bytes(file.read_bytes() + b"SLOW-HERE")
    return root


@pytest.fixture(scope="session")
def slow(tmp_path_factory):
    """Slow photos; nobody changes them."""
    return slow_photos(tmp_path_factory.mktemp("slow") / "photos")


@pytest.fixture(scope="session")
def undisturbed(slow, tmp_path_factory):
    """The case of the slow photos, of many frames, that a run makes if nobody disturbs it."""
    case = tmp_path_factory.mktemp("undisturbed") / "case"
    extract_photos([slow], case)
    return case
