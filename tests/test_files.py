"""Files of our own: whole or not at all, never through a link, nothing left behind."""

import errno
import fcntl
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from samecam import files
from samecam.errors import SamecamError
from samecam.files import (
    check_single,
    check_writable,
    file_hash,
    open_own,
    read_own,
    sweep,
    work_folder,
    write_atomically,
)


def test_a_file_is_replaced_and_nothing_is_left(tmp_path):
    path = tmp_path / "a.txt"
    write_atomically(path, "one")
    write_atomically(path, b"two", modified=12345.0)
    assert path.read_bytes() == b"two"
    assert path.stat().st_mtime == 12345
    assert os.listdir(tmp_path) == ["a.txt"]


def test_a_long_name_can_be_written(tmp_path):
    path = tmp_path / ("n" * 255)
    write_atomically(path, "x")
    assert path.read_text() == "x"


def test_what_others_put_in_the_way_is_neither_followed_nor_changed(tmp_path, monkeypatch):
    """Not even if somebody guesses the name: it must be new."""
    outside = tmp_path / "outside"
    outside.write_text("precious")
    names = iter(["00" * 12, "11" * 12])
    monkeypatch.setattr(files.secrets, "token_hex", lambda _: next(names))
    (tmp_path / f".samecam-{'00' * 12}.part").symlink_to(outside)
    with pytest.raises(SamecamError, match="cannot be written: File exists"):
        write_atomically(tmp_path / "a", "mine")
    write_atomically(tmp_path / "a", "mine")
    assert outside.read_text() == "precious"


@pytest.mark.parametrize("kind", ["link", "dangling", "pipe", "folder"])
def test_only_a_regular_file_is_replaced(tmp_path, kind):
    path, outside = tmp_path / "a", tmp_path / "outside"
    outside.write_text("precious")
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to(outside if kind == "link" else tmp_path / "nowhere")
    with pytest.raises(SamecamError, match="a case keeps its files itself"):
        write_atomically(path, "mine")
    with pytest.raises(SamecamError, match="(is a link|file|be): name another\\.$"):
        check_writable(path, "name another")
    with pytest.raises(SamecamError, match="a case keeps its files itself"):
        open_own(path, os.O_RDWR)
    assert file_hash(path) == ""
    assert outside.read_text() == "precious"


def test_a_hard_link_keeps_what_it_has(tmp_path):
    path, twin = tmp_path / "a", tmp_path / "twin"
    path.write_text("old")
    os.link(path, twin)
    write_atomically(path, "new")
    assert (path.read_text(), twin.read_text()) == ("new", "old")
    os.link(path, tmp_path / "second")
    assert read_own(path) == b"new"
    for refused in (lambda: os.close(open_own(path, os.O_RDWR)), lambda: check_single(path)):
        with pytest.raises(SamecamError, match="several names"):
            refused()


@pytest.mark.parametrize("failing", ["write", "fsync", "rename"])
@pytest.mark.parametrize("unlinks", [True, False])
def test_an_error_of_the_disk_is_a_sentence(tmp_path, monkeypatch, failing, unlinks):
    """Also where what was begun cannot be removed, as on a disk that has become read-only."""

    def fail(*_, **__):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    path = tmp_path / "a"
    path.write_text("old")
    monkeypatch.setattr(files.os, failing, fail)
    if not unlinks:
        monkeypatch.setattr(files.os, "unlink", fail)
    with pytest.raises(SamecamError, match="cannot be written: Read-only file system"):
        write_atomically(path, "new")
    monkeypatch.undo()
    assert path.read_text() == "old"
    assert len(os.listdir(tmp_path)) == (1 if unlinks else 2)


def test_a_folder_that_cannot_be_written_is_told_before_the_work(tmp_path):
    with pytest.raises(SamecamError, match="No such file or directory; name another\\.$"):
        check_writable(tmp_path / "gone" / "a", "name another")
    check_writable(tmp_path / "a", "name another")
    assert os.listdir(tmp_path) == []


WRITER = """
import os, sys
from pathlib import Path
from samecam import files
def stop(*_, **__):
    print("ready", flush=True)
    sys.stdin.read()
files.os.rename = stop
files.write_atomically(Path(sys.argv[1]) / "a", "x" * 100)
"""


def test_what_a_killed_process_left_is_swept_and_not_what_a_living_one_writes(tmp_path):
    words = [sys.executable, "-c", WRITER, str(tmp_path)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as writer:
        assert writer.stdout.readline() == b"ready\n"
        (part,) = os.listdir(tmp_path)
        sweep(tmp_path)
        assert os.listdir(tmp_path) == [part]
        writer.kill()
    assert os.listdir(tmp_path) == [part]
    (tmp_path / f".samecam-{'0' * 24}.work").mkdir()
    (tmp_path / f".samecam-{'0' * 24}.work" / "gram.npy").write_text("x")
    (tmp_path / ".samecam-other").write_text("not ours")
    sweep(tmp_path)
    assert os.listdir(tmp_path) == [".samecam-other"]


def test_a_sweep_follows_no_link(tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_text("x")
    here = tmp_path / "here"
    here.mkdir()
    (here / f".samecam-{'0' * 24}.work").symlink_to(outside)
    (here / f".samecam-{'1' * 24}.part").symlink_to(outside / "precious")
    sweep(here)
    assert (outside / "precious").read_text() == "x"


def test_a_work_folder_is_held_and_goes(tmp_path):
    with work_folder(tmp_path) as folder:
        (folder / "a").write_text("x")
        sweep(tmp_path)
        assert (folder / "a").exists()
    assert os.listdir(tmp_path) == []
    with pytest.raises(SamecamError, match="cannot be written"), work_folder(tmp_path / "gone"):
        pass


def test_where_nothing_can_be_locked_writing_works_and_nothing_is_swept(tmp_path, monkeypatch):
    def no_locks(*_):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", no_locks)
    write_atomically(tmp_path / "a", "x")
    (tmp_path / f".samecam-{'0' * 24}.part").write_text("maybe another machine's")
    sweep(tmp_path)
    assert len(os.listdir(tmp_path)) == 2


def test_reading_never_waits_and_never_takes_too_much(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    began = time.monotonic()
    with pytest.raises(SamecamError, match="no regular file"):
        read_own(tmp_path / "pipe")
    assert time.monotonic() - began < 30
    with open(tmp_path / "huge", "wb") as stream:
        stream.truncate(2**40)
    with pytest.raises(SamecamError, match="which it never is"):
        read_own(tmp_path / "huge")
    with pytest.raises(FileNotFoundError):
        read_own(tmp_path / "gone")
    with pytest.raises(SamecamError, match="no regular file"):
        open_own(Path("/dev/zero"))
