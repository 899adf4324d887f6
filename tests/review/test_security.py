"""Attacks on the page: each is tried, and refused."""

import re
import socket

import pytest

from samecam.report import shown
from samecam.review._security import HEADERS
from tests.report.conftest import IMG, MAKE, ODD
from tests.review.conftest import Browser

DECISION = {"kind": "confirm", "camera": "camera-0"}


def test_it_listens_on_this_machine_alone(review):
    assert review._socket.getsockname()[0] == "127.0.0.1"
    assert review.address.startswith(f"http://127.0.0.1:{review.port}/?token=")
    with socket.socket() as outside:
        outside.settimeout(1)
        host = next(
            (a[4][0] for a in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)), ""
        )
        if host and not host.startswith("127."):
            assert outside.connect_ex((host, review.port)) != 0


def test_nobody_gets_in_without_the_token(review):
    stranger = Browser(review, let_in=False)
    for path in ("/", "/cameras", "/events", "/static/review.js", "/small/" + "0" * 64 + ".jpg"):
        assert stranger.get(path).status_code == 403
    assert stranger.get("/?token=guess").status_code == 403
    assert stranger.get("/?token=").status_code == 403
    assert stranger.post(DECISION, stranger.origin).status_code == 403
    cookies = {"Cookie": f"samecam-{review.port}=guess"}
    assert stranger.get("/", headers=cookies).status_code == 403
    assert review.state.now.decided.decisions == []


def test_the_token_works_once_and_leaves_the_address(review):
    first = Browser(review, let_in=False)
    answer = first.get(review.address)
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert "token" not in cookie
    second = Browser(review, let_in=False)
    assert second.get(review.address).status_code == 403
    assert first.get("/").status_code == 200


def test_a_name_that_points_here_is_refused(browser):
    """DNS rebinding: the page of another name has our address, but not our Host."""
    for host in ("evil.example", f"evil.example:{browser.host[10:]}", "127.0.0.1", "localhost:1"):
        assert browser.get("/", headers={"Host": host}).status_code == 403
    local = browser.host.replace("127.0.0.1", "localhost")
    assert browser.get("/", headers={"Host": local}).status_code == 200


def test_two_hosts_are_none(review):
    from samecam.review._security import _headers

    scope = {
        "method": "GET",
        "headers": [(b"host", f"127.0.0.1:{review.port}".encode()), (b"host", b"evil.example")],
    }
    assert review.app._refusal(scope, _headers(scope))


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "none"},
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": "http://evil.example", "Sec-Fetch-Site": "same-origin"},
    ],
)
def test_another_page_changes_nothing(browser, review, headers):
    """Even with the cookie, which browsers do not send along (SameSite=Strict)."""
    answer = browser.post(DECISION, headers)
    assert answer.status_code == 403
    assert review.state.now.decided.decisions == []


def test_a_form_changes_nothing(browser, review):
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
        headers = {**browser.origin, "Content-Type": kind}
        answer = browser.post(b'{"kind": "confirm", "camera": "camera-0"}', headers)
        assert answer.status_code == 403
    assert browser.get("/decide?kind=confirm&camera=camera-0").status_code == 405
    for method in ("PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"):
        assert browser.request(method, "/decide", browser.origin).status_code == 403
    assert review.state.now.decided.decisions == []


def test_another_page_reads_nothing(browser):
    """No answer says that others may read it, whatever they ask."""
    asked = {"Origin": "http://evil.example"}
    assert browser.get("/cameras", headers=asked).status_code == 403
    assert browser.get("/cameras", headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403
    for path in ("/", "/cameras", "/static/page.css", "/nothing"):
        headers = browser.get(path).headers
        assert not [name for name in headers if name.startswith("access-control")]


@pytest.mark.parametrize(
    "path", ["/", "/cameras", "/log", "/static/review.js", "/nothing", "/names", "/small/x.jpg"]
)
def test_every_answer_has_the_headers(browser, path):
    answer = browser.get(path)
    headers = answer.headers
    for name, value in HEADERS.items():
        assert headers[name] == value
    names = [name for name, _ in answer.raw]
    assert len(set(names)) == len(names)
    policy = headers["content-security-policy"]
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy


def test_pages_have_nothing_inline(browser, review):
    photo = review.state.index.photos[0].sha256
    pages = ["/", "/cameras", "/camera?name=camera-0", "/alone", "/sources", "/log"]
    pages += [f"/photo/{photo}", "/two?first=camera-0&second=camera-1"]
    for path in pages:
        text = browser.text(path)
        assert not re.search(r"<[^>]+\s(on\w+|style)=", re.sub(r'="[^"]*"', "=", text))
        assert "<style" not in text
        assert re.findall(r"<script[^>]*>", text) == [
            '<script type="module" src="/static/review.js">'
        ]
        assert not re.search(r'(src|href)="(https?:|//|data:|javascript:)', text)


def test_pictures_go_by_hash_and_never_by_path(browser):
    inside = [
        "/small/../case.json",
        "/small/..%2fcase.json",
        "/small/%2e%2e%2fcase.json",
        "/small//etc/passwd",
        "/small/" + "a" * 63 + ".jpg",
        "/small/" + "A" * 64 + ".jpg",
        "/small/" + "a" * 64 + ".png",
        "/large/case.json.jpg",
        "/static/../_run.py",
        "/static/%2e%2e/_run.py",
        "/static/..%2f_run.py",
    ]
    for path in inside:
        answer = browser.get(path)
        assert answer.status_code == 404
        assert b"import" not in answer.content
        assert b"sources" not in answer.content
    unknown = browser.get("/small/" + "a" * 64 + ".jpg")
    assert unknown.headers["content-type"].startswith("image/svg+xml")
    assert b"not found" in unknown.content


def test_a_planted_thumbnail_is_no_way_out(browser, review, case):
    """A link in the place of a small picture is not followed; what is no JPEG is not served."""
    first, second = (review.state.index.photos[k].sha256 for k in (0, 1))
    folder = case / "thumbnails"
    (folder / f"{first}.jpg").symlink_to("/etc/passwd")
    (folder / f"{second}.jpg").write_bytes(b"<script>alert(1)</script>")
    for sha256 in (first, second):
        answer = browser.get(f"/small/{sha256}.jpg")
        assert b"root:" not in answer.content
        assert b"script" not in answer.content


def test_a_link_for_the_folder_of_thumbnails_is_refused(case, tmp_path):
    from samecam.errors import SamecamError
    from samecam.review import Review

    (tmp_path / "elsewhere").mkdir()
    (case / "thumbnails").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(SamecamError, match="is a link"):
        Review(case, "Ada")


def test_hostile_names_and_exif_stay_text(browser, review):
    photos = {photo.name: photo for photo in review.state.index.photos}
    for name in ODD:
        photo = photos.get(name.rsplit("/", 1)[-1])
        if photo is None:
            continue
        text = browser.text(f"/photo/{photo.sha256}")
        assert "<img src=x" not in text
        assert "<script>alert" not in text
        assert "\u202e" not in text
    text = browser.text(f"/photo/{photos[IMG].sha256}")
    assert "&lt;img src=x onerror=alert(1)&gt;" in text
    (named,) = [photo for photo in photos.values() if photo.image["make"] == MAKE]
    text = browser.text(f"/photo/{named.sha256}")
    assert "<svg onload" not in text
    assert "&lt;svg onload" in text
    assert "{{ 6*7 }}" in text


def test_a_hostile_name_of_a_camera_stays_text(browser):
    name = '"><img src=x onerror=alert(1)>{{7*7}}'
    browser.decide(kind="name", camera="camera-0", name=name)
    for path in ("/", "/cameras", "/log", "/sources"):
        text = browser.text(path)
        assert "<img src=x" not in text
        assert "49" not in re.findall(r"\{\{7\*7\}\}|(?<=&gt;)49", text)
    page = re.search(r'href="(/camera\?name=[^"]+)"', browser.text("/cameras?sort=name"))
    assert page
    assert browser.refused(kind="name", camera=name, name="a\x1b[31m")
    assert browser.refused(kind="name", camera=name, name="e\u202egpj")
    assert browser.refused(kind="note", camera=name, text="x\ud800")


def test_odd_requests_are_answered_shortly(browser):
    for data in (b"", b"[]", b"{", b'{"kind": 3}', b'{"kind": "name"}', b"\xff", b"[" * 10**5):
        assert browser.post(data, browser.origin).status_code in (400, 409)
    large = b'{"kind": "note", "text": "' + b"a" * 17 * 2**20 + b'"}'
    assert browser.post(large, browser.origin).status_code == 413
    paths = [
        "/camera?name=nobody",
        "/camera",
        "/two?first=camera-0",
        "/photo/x",
        "/photo/" + "0" * 64,
    ]
    for path in paths:
        assert browser.get(path).status_code == 404
    for path in ("/?item=x", "/cameras?at=-1", "/cameras?at=99999999999", "/log?at=x"):
        assert browser.get(path).status_code == 200
    assert browser.get("/cameras?folder=%ff%00&q=%ed%b2%80").status_code == 200
    assert browser.get("/cameras?" + "&".join(f"a{k}=1" for k in range(99))).status_code == 200
    assert shown("\x00") in browser.text("/cameras?q=%00")
