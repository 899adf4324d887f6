"""Every kind of decision in words, and pictures that wait for one another."""

import asyncio

import pytest

from samecam.report import shown
from samecam.review._pictures import SMALL, BusyError


def said(browser, **body):
    return browser.decide(**body)["said"]


def test_every_kind_is_a_sentence(browser, review):
    index, now = review.state.index, review.state.now
    photos = index.hashes(now.cameras.by_name["camera-2"].rows)
    one = index.photos[index.row_of[photos[0]]].name
    sizes = [now.cameras.by_name[f"camera-{k}"].size for k in (0, 1)]
    both = f"{sizes[0]} photos and {sizes[1]} photos"
    assert said(browser, kind="cannot tell", first="camera-0", second="camera-1") == (
        f"cannot tell whether {sizes[0]} photos of camera-0 and {sizes[1]} photos of camera-1 "
        "are of one camera"
    )
    assert said(browser, kind="merge", first="camera-0", second="camera-1") == (
        f"{both} are of one camera (camera-0)"
    )
    assert said(browser, kind="split", camera="camera-2", photos=photos[:2]).startswith(
        "split off 2 photos as camera-"
    )
    end = shown(index.photos[index.row_of[photos[-1]]].name)
    assert said(browser, kind="reject", camera="camera-2", photos=photos[-1:]) == (
        f"detached {end} from camera-2"
    )
    assert said(browser, kind="move", photos=photos[:1], camera="camera-0") == (
        f"moved {shown(one)} to camera-0"
    )
    assert said(browser, kind="name", camera="camera-0", name="N").endswith(" photos N")
    assert said(browser, kind="status", camera="N", status="ok") == "marked N: ok"
    assert said(browser, kind="note", camera="N", text="x" * 300).endswith("x…")
    assert said(browser, kind="note", photos=photos[:1], text="y") == f"note on {shown(one)}: y"
    assert said(browser, kind="confirm", camera="N").endswith("as one camera (N)")
    assert said(browser, kind="undo").startswith("took back decision 10 (accepted ")
    assert said(browser, kind="redo") == "restored decision 10"


def test_few_requests_wait_for_pictures(review):
    """A browser has six connections: pages must not stand behind pictures."""
    hashes = review.state.index.hashes(range(5))

    async def ask():
        asked = (review._pictures.get(each, SMALL) for each in hashes)
        return await asyncio.gather(*asked, return_exceptions=True)

    answers = asyncio.run(ask())
    assert sum(isinstance(answer, bytes) for answer in answers) >= 1
    assert all(isinstance(answer, bytes | BusyError) for answer in answers)
    assert any(isinstance(answer, BusyError) for answer in answers)


def test_a_busy_answer_says_when_to_ask_again(browser, review, monkeypatch):
    async def busy(*_):
        raise BusyError

    monkeypatch.setattr(review._pictures, "get", busy)
    answer = browser.get(f"/small/{review.state.index.photos[0].sha256}.jpg")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")


@pytest.mark.parametrize("sha256", ["0" * 64, "f" * 64])
def test_an_unknown_hash_is_not_looked_for(review, sha256):
    assert asyncio.run(review._pictures.get(sha256, SMALL)) is None
    assert review._pictures.reasons[sha256] == "not found"
