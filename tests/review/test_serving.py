"""The command itself: one address, Ctrl-C, several tabs, and a second examiner who only reads."""

import contextlib
import errno
import gc
import http.client
import json
import os
import signal
import threading
from urllib.parse import urlsplit

import pytest

from samecam import compute
from samecam.case import Deciding
from samecam.errors import ParameterError
from samecam.review import Review
from tests.processes import PATIENCE, command, ctrl_c, run, wait_for
from tests.review.conftest import Browser


def address_of(process):
    """What a started command prints first."""
    text = ""
    while not text.rstrip().endswith("}"):
        line = process.stdout.readline().decode()
        assert line, process.stderr.read().decode()
        text += line
    return json.loads(text)


class Tab:
    """A connection to a served review."""

    def __init__(self, address, cookie=None):
        parts = urlsplit(address)
        self.host, self.cookie = parts.netloc, cookie
        self.http = http.client.HTTPConnection(self.host, timeout=PATIENCE)
        if cookie is None:
            answer = self.ask("GET", f"/?{parts.query}")
            assert answer.status == 303
            answer.read()
            self.cookie = answer.getheader("Set-Cookie").partition(";")[0]

    def ask(self, method, path, body=None):
        headers = {"Cookie": self.cookie or "", "Origin": f"http://{self.host}"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        self.http.request(method, path, body and json.dumps(body), headers)
        return self.http.getresponse()

    def get(self, path):
        return self.ask("GET", path).read().decode()

    def listen(self):
        """Versions, as they are told."""
        with self.ask("GET", "/events") as answer:
            while line := answer.fp.readline():
                if line.startswith(b"data:"):
                    yield json.loads(line[5:])["version"]


@pytest.fixture
def open_tab():
    """Opens tabs, and closes them in the end."""
    with contextlib.ExitStack() as tabs:

        def opened(*given):
            tab = Tab(*given)
            tabs.callback(tab.http.close)
            return tab

        yield opened


@pytest.mark.parametrize("how", [ctrl_c, lambda process: process.send_signal(signal.SIGTERM)])
def test_one_command_serves_until_it_is_stopped(case, how, open_tab):
    process = command("review", case, "--no-browser", "--json", "--examiner", "Ada")
    address = address_of(process)["address"]
    tab = open_tab(address)
    assert "samecam" in tab.get("/")
    other = open_tab(address, tab.cookie)
    events = other.listen()
    assert next(events) == 1
    done = json.loads(tab.ask("POST", "/decide", {"kind": "confirm", "camera": "camera-0"}).read())
    assert done["version"] == next(events) == 2
    events.close()
    how(process)
    assert process.wait(PATIENCE) == 0
    assert process.stderr.read() == b""
    assert (case / "decided.csv").exists()
    with Deciding(case, "Bob") as held:
        assert len(held.decided.decisions) == 1


def test_the_second_examiner_reads_and_sees_what_the_first_decides(case, open_tab):
    workers = compute.Resources(workers=1)
    process = command("review", case, "--no-browser", "--json", "--examiner", "Ada")
    tab = open_tab(address_of(process)["address"])
    with Review(case, "Bob", resources=workers) as second:
        assert "in use by process" in second.looking
        browser = Browser(second)
        text = browser.text("/")
        assert 'id="looking"' in text
        assert 'data-answer="same"' not in text
        assert "in use by" in browser.refused(kind="confirm", camera="camera-0")
        tab.ask("POST", "/decide", {"kind": "name", "camera": "camera-0", "name": "Known"}).read()
        second.state.look_again()
        assert second.state.now.version == 2
        assert "Known" in browser.text("/cameras")
        second.state.look_again()
        assert second.state.now.version == 2
        photo = second.state.index.photos[0].sha256
        assert browser.get(f"/small/{photo}.jpg").content.startswith(b"\xff\xd8\xff")


def test_read_only_takes_no_lock_and_writes_nothing(case):
    before = {path.name for path in case.iterdir()}
    with Review(case, "", read_only=True) as looking, Deciding(case, "Ada"):
        browser = Browser(looking)
        assert "--read-only" in browser.text("/")
        photo = looking.state.index.photos[0].sha256
        assert browser.get(f"/small/{photo}.jpg").content.startswith(b"\xff\xd8\xff")
        assert browser.refused(kind="undo")
    assert "thumbnails" not in {path.name for path in case.iterdir()} - before


def test_a_case_that_cannot_be_written_is_read(case, monkeypatch):
    def refuse(*_):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr("samecam.review._state.Deciding", refuse)
    with Review(case, "Ada") as looking:
        assert "Read-only file system" in looking.looking
        assert 'id="looking"' in Browser(looking).text("/cameras")
    assert not (case / "thumbnails").exists()


def test_a_served_review_ends_while_a_tab_listens(case, open_tab):
    with Review(case, "Ada", resources=compute.Resources(workers=1)) as review:
        thread = threading.Thread(target=review.serve)
        thread.start()
        tab = open_tab(review.address)
        events = tab.listen()
        assert next(events) == 1
        review.stop()
        thread.join(PATIENCE)
        assert not thread.is_alive()
        assert list(events) == []


def test_a_port_that_is_taken_is_named(case):
    with Review(case, "Ada") as review:
        with pytest.raises(ParameterError, match="nothing can listen"):
            Review(case, "Ada", port=review.port)
        code, _, error = run("review", case, "--port", review.port, "--no-browser")
    assert code == 1
    assert "--port" in error


def test_no_case_is_an_error_in_one_line(tmp_path):
    code, out, error = run("review", tmp_path, "--no-browser")
    assert (code, out) == (1, "")
    assert "is no case folder" in error


def test_thumbnails_are_the_cases_own(case):
    """A later run takes the folder for its own, and a report is written beside it."""
    with Review(case, "Ada", resources=compute.Resources(workers=1)) as review:
        review._pictures.make_all([0])
    assert len(list((case / "thumbnails").iterdir())) == 1
    code, _, error = run("report", case, "--no-thumbnails", "--quiet")
    assert code == 0, error


def test_the_browser_is_opened_at_the_address(case, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr(Review, "serve", lambda _, ready: ready())
    code, out, _ = run("review", case, "--examiner", "Ada")
    assert code == 0
    assert opened[0] in out
    assert "Ctrl-C" in out
    assert wait_for(lambda: len(opened) == 1)


@pytest.mark.parametrize("frozen", [True, False])
def test_what_a_process_has_frozen_stays_so(case, frozen):
    """Objects that no look for garbage goes through any more, as those of these tests."""
    gc.unfreeze()
    if frozen:
        gc.freeze()
    with Review(case, "Ada", resources=compute.Resources(workers=1)):
        assert gc.get_freeze_count() > 0
    assert (gc.get_freeze_count() > 0) == frozen
    gc.freeze()
