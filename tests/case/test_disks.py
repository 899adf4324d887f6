"""Cases on disks that cannot be written, belong to another user, have no locks, or fail."""

import errno
import fcntl
import itertools
import os
import shutil
import subprocess
import sys
from unittest import mock

import numpy as np
import pytest

from samecam import cluster_fingerprints
from samecam.case import verify_case
from samecam.errors import SamecamError
from samecam.store import DiskStore
from tests.case.studied import compare_here
from tests.case.worlds import WHOLE, copied, shared_world, tree
from tests.processes import run


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return shared_world(tmp_path_factory, WHOLE)


@pytest.fixture
def case(world, tmp_path):
    """A copy of a clustered case: free to be spoilt."""
    return copied(world.case, tmp_path / "case")


# A read-only file system


def mid_run(world, target):
    """A case as a run leaves it that is killed while records are committed."""
    with DiskStore.open(shutil.copytree(world.case, target) / "fingerprints", "a") as store:
        store.add("new.jpg", None, meta={**store.records()[0].meta, "status": "skipped"})
        store.commit()
        shutil.copytree(target, f"{target} killed")
    shutil.rmtree(target)
    os.rename(f"{target} killed", target)


@pytest.fixture
def evidence_disk(world, tmp_path):
    """A clustered case on a read-only file system, and beside it one in the midst of a run."""
    place = tmp_path / "disk"
    place.mkdir()

    def mount(*words):
        return subprocess.run(["mount", *words, str(place)], capture_output=True).returncode == 0

    if not shutil.which("mount") or not mount("-t", "tmpfs", "-o", "size=64m", "tmpfs"):
        pytest.skip("cannot mount a file system here")
    try:
        shutil.copytree(world.case, place / "case")
        mid_run(world, place / "killed")
        (place / "killed" / "fingerprints" / "catalogue.sqlite-shm").unlink()
        assert mount("-o", "remount,ro")
        yield place / "case"
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def test_every_command_that_reads_works_on_a_read_only_disk(
    evidence_disk, world, tmp_path, monkeypatch
):
    compare_here(monkeypatch)
    case, held = evidence_disk, next((world.root / "held").iterdir())
    truth = tmp_path / "truth.csv"
    truth.write_text("path,camera\n" + "".join(f"{p},{c}\n" for p, c in world.truth.items()))
    for words in (
        ("verify", case),
        ("match", case, held),
        ("evaluate", case, "--truth", truth),
        ("report", case, "-o", tmp_path / "r.html", "--no-thumbnails"),
        ("export", case, "--format", "csv", "-o", tmp_path / "e.csv"),
        ("compare", case, "--methods", "consolidated", "-o", tmp_path / "c.json"),
        ("tune", case, "--truth", truth, "-o", tmp_path / "t.json", "--runs", 1),
    ):
        code, _, error = run(*words)
        assert code == 0, (words, error)
    names = {"r.html", "e.csv", "c.json", "c.svg", "t.json"}
    assert names <= set(os.listdir(tmp_path))
    assert (tmp_path / "r.html").read_bytes()[:15] == b"<!DOCTYPE html>"


@pytest.mark.parametrize(
    "words",
    [
        ("report", "--no-thumbnails"),
        ("export", "--format", "json"),
        ("compare", "--methods", "consolidated"),
    ],
)
def test_a_command_that_would_write_there_says_where_else(evidence_disk, words):
    code, out, error = run(words[0], evidence_disk, *words[1:])
    assert (code, out) == (1, "")
    assert error.startswith("Error: ")
    assert "Read-only file system; name a file elsewhere with -o.\n" in error
    assert error.count("\n") == 1


def test_grouping_a_case_on_a_read_only_disk_is_refused(evidence_disk, world):
    code, _, error = run(*world.again(evidence_disk))
    assert code == 1
    assert error.endswith("cannot be written: Read-only file system.\n")


def test_a_case_in_the_midst_of_a_run_is_not_taken_for_an_older_state(evidence_disk, tmp_path):
    """SQLite could be told to read the file alone, without what was written last."""
    case = evidence_disk.parent / "killed"
    code, out, _ = run("verify", case)
    assert code == 4
    assert "'new.jpg'" in out  # is in the catalogue, and in no table
    assert run("report", case, "-o", tmp_path / "r.html")[0] == 0


# Another user


@pytest.mark.slow
def test_a_case_of_another_user_can_be_read_and_not_written(world, case, tmp_path):
    """As root without the right to overrule permissions, on files that are not root's."""
    bare = ("-dac_override", "-dac_read_search", "-fowner", "-chown")
    words = ["setpriv", "--bounding-set", ",".join(bare), "--inh-caps", "-all"]
    if os.getuid() or not shutil.which("setpriv") or subprocess.run([*words, "true"]).returncode:
        pytest.skip("needs to be root, and setpriv")
    for path in (case, *case.rglob("*")):
        os.chown(path, 65534, 65534)
        path.chmod(0o755 if path.is_dir() else 0o644)
    before = tree(case)

    def other(*command):
        whole = [*words, sys.executable, "-m", "samecam", *map(str, command)]
        done = subprocess.run(whole, capture_output=True, text=True)
        return done.returncode, done.stderr

    assert other("verify", case) == (0, mock.ANY)
    made = tmp_path / "r.html"
    assert other("report", case, "-o", made, "--no-thumbnails", "--quiet") == (0, "")
    for refused in (("report", case, "--no-thumbnails"), world.again(case)):
        code, error = other(*refused)
        assert code == 1
        assert "cannot be written: Permission denied" in error
    for path in (case / "fingerprints" / "shards").glob("*/*"):
        path.chmod(0o600)
    code, error = other("report", case, "-o", made, "--no-thumbnails")
    assert code == 1
    assert "cannot be read (Permission denied)" in error
    assert other("verify", case)[0] == 4
    assert tree(case) == before


# A file system without locks


@pytest.mark.parametrize("kind", ["flock", "lockf"])
def test_a_file_system_without_locks_is_told(tmp_path, monkeypatch, kind):
    """Not that somebody uses the folder; and no new shard is tried for ever."""

    def no_locks(*_):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, kind, no_locks)
    with pytest.raises(SamecamError, match=r"cannot be locked .*\(No locks available\)"):
        cluster_fingerprints(vectors(tmp_path), tmp_path / "case")


def vectors(folder):
    np.save(folder / "x.npy", np.random.default_rng(0).normal(size=(12, 64)))
    return folder / "x.npy"


# Disks that fail


@pytest.mark.parametrize(
    ("call", "after"),
    [
        *(("pread", 0), ("preadv", 0), ("pwrite", 0), ("pwrite", 3), ("ftruncate", 0)),
        *(("write", 0), ("write", 3), ("write", 7), ("fsync", 0), ("fsync", 3), ("fsync", 7)),
    ],
)
def test_an_error_of_the_disk_is_a_sentence_and_the_same_command_goes_on(
    tmp_path, monkeypatch, call, after
):
    """Every call from some moment on fails, as on a disk that dies; then it lives again."""
    file, case, calls = vectors(tmp_path), tmp_path / "case", itertools.count()
    real = getattr(os, call)

    def failing(*given, **options):
        if next(calls) >= after:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return real(*given, **options)

    words = ("cluster", "--fingerprints", file, "-o", case, "--quiet", "--no-report")
    assert run(*words, "--workers", 1)[0] == 0
    whole = tree(case)["clusters.csv"]
    shutil.rmtree(case)
    with monkeypatch.context() as patch:
        patch.setattr(os, call, failing)
        code, _, error = run(*words)
    assert next(calls) > after
    assert code == 1, error
    assert error.startswith("Error: ")
    assert error.count("\n") == 1
    assert run(*words)[0] == 0
    assert tree(case)["clusters.csv"] == whole
    assert verify_case(case).agrees
