"""A small clustered case with something of everything to decide, and hostile names."""

import asyncio
import csv
import hashlib
import io
import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

import pytest

from samecam import compute
from samecam.case import cluster_photos
from samecam.review import Review
from tests.once import made_once
from tests.report.conftest import _make_photos, _take_photos

WORDS = "The fingerprints of groups 0 and 1 correlate by 0.0100, a score of 9.9."
SCORE = "4.2"  # of a photo that was not doubtful


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """The case; not to be changed."""
    taken = made_once(tmp_path_factory, "photos of a report", _take_photos)

    def take(folder):
        photos = _make_photos(folder, taken)
        for file in sorted(photos.glob("IMG_*"))[::2]:
            (photos / "phone").mkdir(exist_ok=True)
            file.rename(photos / "phone" / file.name)

    photos = made_once(tmp_path_factory, "photos of a review", take)

    def group(folder):
        cluster_photos([photos / "photos"], folder / "case", search="off")
        plant(folder / "case")

    return made_once(tmp_path_factory, "case of a review", group) / "case"


@pytest.fixture
def case(made, tmp_path):
    """A copy that may be changed; its photos are where they were."""
    return Path(shutil.copytree(made, tmp_path / "case"))


def plant(case):
    """Let the case have doubts: two groups that may be one, one that may be two, a weak photo."""
    objects = json.loads((case / "clusters.json").read_text())
    groups = [group for camera in objects["clusters"] for group in camera["groups"]]
    for one, two in ((0, 1), (1, 0)):
        groups[one].update(nearest=two, apart="may be one", why_apart=WORDS)
        groups[one].update(nearest_score=9.9, nearest_log10_lr=0.5)
    paths = [member["path"] for member in groups[2]["members"]][:4]
    division = {"paths": paths, "correlation": 0.01, "expected": 0.1, "score": 2.0}
    groups[2]["division"] = {**division, "falls_apart": True}
    rows = list(
        csv.reader(io.StringIO((case / "evidence.csv").read_text(errors="surrogateescape")))
    )
    weak = groups[1]["members"][-1]["path"]
    at = {name: rows[0].index(name) for name in ("path", "doubtful", "score")}
    for row in rows[1:]:
        if row[at["path"]] == weak:
            row[at["doubtful"]], row[at["score"]] = "yes", SCORE
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    (case / "evidence.csv").write_text(text.getvalue(), errors="surrogateescape", newline="")
    (case / "clusters.json").write_text(json.dumps(objects))
    info = json.loads((case / "case.json").read_text())
    for name in info["clustering"]["sha256"]:
        digest = hashlib.sha256((case / name).read_bytes()).hexdigest()
        info["clustering"]["sha256"][name] = digest
    (case / "case.json").write_text(json.dumps(info))


@pytest.fixture
def review(case):
    """A review of the case that is not served."""
    with Review(case, "Ada", resources=compute.Resources(workers=1)) as opened:
        yield opened


@dataclass
class Answer:
    """What the server said."""

    status_code: int
    raw: list
    content: bytes

    @property
    def headers(self):
        return dict(self.raw)

    @property
    def text(self):
        return self.content.decode()

    def json(self):
        return json.loads(self.content)


class Browser:
    """Asks as a browser does that has the page open, without a socket."""

    def __init__(self, review, *, let_in=True):
        self.app, self.host, self.cookie = review.app, f"127.0.0.1:{review.port}", ""
        self.origin = {"Origin": f"http://{self.host}", "Sec-Fetch-Site": "same-origin"}
        if let_in:
            assert self.get(review.address).status_code == 303

    def request(self, method, path, headers=None, content=b""):
        path = path.removeprefix(f"http://{self.host}")
        path, _, query = path.partition("?")
        given = {"host": self.host, "cookie": self.cookie}
        given |= {name.lower(): value for name, value in (headers or {}).items()}
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "scheme": "http",
            "method": method,
            "path": unquote(path),
            "raw_path": path.encode(),
            "root_path": "",
            "query_string": query.encode(),
            "headers": [(name.encode(), value.encode()) for name, value in given.items()],
            "client": ("127.0.0.1", 9),
            "server": ("127.0.0.1", 1),
        }
        return asyncio.run(self._ask(scope, content))

    async def _ask(self, scope, content):
        parts = [{"type": "http.request", "body": content, "more_body": False}]
        sent = []

        async def receive():
            return parts.pop() if parts else {"type": "http.disconnect"}

        async def send(message):
            sent.append(message)

        await self.app(scope, receive, send)
        raw = [(n.decode().lower(), v.decode()) for n, v in sent[0]["headers"]]
        for name, value in raw:
            if name == "set-cookie":
                self.cookie = value.partition(";")[0]
        body = b"".join(message.get("body", b"") for message in sent[1:])
        return Answer(sent[0]["status"], raw, body)

    def get(self, path, headers=None):
        return self.request("GET", path, headers)

    def post(self, body, headers):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.request(
            "POST", "/decide", {"Content-Type": "application/json", **headers}, data
        )

    def text(self, path):
        answer = self.get(path)
        assert answer.status_code == 200, answer.text
        return answer.text

    def decide(self, **body):
        """What is answered to a decision that can be taken."""
        answer = self.post(body, self.origin)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def refused(self, **body):
        answer = self.post(body, self.origin)
        assert answer.status_code in (400, 403, 409), answer.text
        return answer.json()["error"]


@pytest.fixture
def browser(review):
    return Browser(review)
