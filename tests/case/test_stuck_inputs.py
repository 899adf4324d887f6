"""Inputs that would have one wait: pipes, files of /proc, mounts that hang."""

import os
import signal
import time
from pathlib import Path

import pytest

from samecam import datasets, metrics
from samecam.case import cluster_fingerprints
from samecam.case.extraction import _duplicates, _worker
from samecam.errors import SamecamError
from samecam.fingerprint import fingerprint_photo
from samecam.inputs import in_time
from samecam.photos import PhotoFile, scan
from tests.case.conftest import write
from tests.photos.pictures import encode, scene
from tests.processes import PATIENCE, command, run_apart, wait_for

FAULTS = Path(__file__).parent / "faults"
KERNEL = "/proc/kmsg"


@pytest.fixture
def pipe(tmp_path):
    """A pipe that nobody writes to."""
    os.mkfifo(tmp_path / "pipe")
    return str(tmp_path / "pipe")


READERS = {
    "a list": lambda pipe: scan([f"@{pipe}"]),
    "truth": metrics.read_truth,
    "fingerprints": lambda pipe: cluster_fingerprints(pipe, pipe + ".case"),
    "a photo": fingerprint_photo,
    "a collection": lambda pipe: datasets.load("truth", pipe),
}


@pytest.mark.parametrize("name", READERS)
def test_a_pipe_is_refused_at_once(pipe, name):
    with pytest.raises(SamecamError, match=r"it is no regular file|is no|not there|no folder"):
        in_time(READERS[name], pipe, PATIENCE)


def test_a_file_that_has_nothing_to_give_is_one_that_cannot_be_read(tmp_path, monkeypatch):
    """As /proc/kmsg is, where it is opened so that it does not block."""
    file = tmp_path / "a.jpg"
    file.write_bytes(b"\xff\xd8\xff")
    monkeypatch.setattr(_worker, "open_input", blocking)
    outcome = _worker.extract(_worker.ExtractionTask("a.jpg", str(file)))
    assert (outcome.status, outcome.code) == ("skipped", "unreadable")
    assert outcome.passing
    assert _worker.measure((str(file),)) == [None]


def blocking(name):
    class Stream:
        def __enter__(self):
            self.file = open(name, "rb")
            return self

        def __exit__(self, *_):
            self.file.close()

        def fileno(self):
            return self.file.fileno()

        def read(self, *_):
            return None

        readall = read

    return Stream()


def kernel_messages():
    """Whether they can be opened, and would block if they are read plainly."""
    try:
        os.close(os.open(KERNEL, os.O_RDONLY | os.O_NONBLOCK))
    except OSError:
        return False
    return True


@pytest.mark.skipif(not kernel_messages(), reason=f"{KERNEL} cannot be read")
def test_messages_of_the_kernel_are_no_photo(tmp_path):
    write(tmp_path / "photos" / "a.jpg", encode(scene(1, 100, 100)))
    os.symlink(KERNEL, tmp_path / "photos" / "b.jpg")
    words = ("extract", tmp_path / "photos", "-o", tmp_path / "case")
    code, _, error = run_apart(*words)
    assert code == 3, error
    assert "Traceback" not in error


def test_files_that_do_not_answer_are_taken_each_by_itself(tmp_path, monkeypatch):
    monkeypatch.setattr(_duplicates, "_read_ends", lambda _: time.sleep(3600))
    monkeypatch.setattr(_duplicates, "_SECONDS", 0.05)
    files = []
    for name in "abcdefgh":
        (tmp_path / name).write_bytes(b"same")
        files.append(PhotoFile(name, str(tmp_path / name)))
    began = time.monotonic()
    assert _duplicates.likely_duplicates(files) == [[file] for file in files]
    assert time.monotonic() - began < 30


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_mount_that_hangs_does_not_keep_a_command_from_ending(tmp_path, number):
    (tmp_path / "HUNG").mkdir()
    words = ("extract", tmp_path / "HUNG", "-o", tmp_path / "case")
    process = command(*words, module_path=FAULTS)
    assert wait_for((tmp_path / "HUNG.reached").exists)
    process.send_signal(number)
    _, error = process.communicate(timeout=PATIENCE)
    assert (process.returncode, error.split()) == (130, [b"Interrupted."])
