"""How quick a review is: until its first page, and from a key to the answer.

python -m benchmarks.review [--photos 100000] [--repeats 40]

A case of photos that were never taken is written (its tables: no picture is needed), served by
`samecam.review` in a process of its own, and asked over HTTP as a browser does: the first page
once, then pages and decisions in turn. An action is a decision and the page that follows it.
Beside what a person waits stands what the server's processor did: others change that little.
"""

import argparse
import http.client
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from benchmarks import record
from benchmarks.review_case import write_case
from samecam.case import open_case


class Served:
    """`samecam review` of a case, asked over one connection."""

    def __init__(self, case: Path) -> None:
        words = ["review", str(case), "--examiner", "A", "--no-browser", "--json", "--quiet"]
        began = time.perf_counter()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "samecam", *words], stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        text = ""
        while not text.rstrip().endswith("}"):
            line = self.process.stdout.readline()
            if not line:
                raise RuntimeError("samecam review ended before it began")
            text += line
        self.start = time.perf_counter() - began
        address = urlsplit(json.loads(text)["address"])
        self.host = address.netloc
        self.http = http.client.HTTPConnection(self.host, timeout=60)
        self.headers = {"Origin": f"http://{self.host}", "Content-Type": "application/json"}
        self.http.request("GET", f"/?{address.query}")
        answer = self.http.getresponse()
        answer.read()
        self.headers["Cookie"] = str(answer.getheader("Set-Cookie")).partition(";")[0]

    def get(self, path: str) -> bytes:
        """A page."""
        return self._ask("GET", path)

    def decide(self, **body: Any) -> Any:
        """A decision."""
        return json.loads(self._ask("POST", "/decide", json.dumps(body).encode()))

    def _ask(self, method: str, path: str, body: bytes | None = None) -> bytes:
        self.http.request(method, path, body, self.headers)
        answer = self.http.getresponse()
        data = answer.read()
        if answer.status != 200:
            raise RuntimeError(f"{method} {path}: {answer.status} {data[:300]!r}")
        return data

    def processor(self) -> float:
        """Seconds of processor time that it has taken, its workers' not counted."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def close(self) -> None:
        """End it as Ctrl-C does."""
        self.http.close()
        self.process.terminate()
        self.process.communicate(timeout=30)


def tasks(served: Served, case: Path) -> dict[str, Callable[[int], object]]:
    """What is timed, by name: functions of the number of the repeat."""
    content = open_case(case)
    cameras = [camera.id for camera in content.cameras]
    members = {c: [p.sha256 for p in content.members(content.groups[c])] for c in cameras}
    alone = [photo.sha256 for photo in content.alone]

    keys: list[str] = []

    def page() -> bytes:
        text = served.get("/")
        keys.append(text.partition(b'data-question="')[2].partition(b'"')[0].decode())
        return text

    def answered(answer: str) -> Callable[[int], object]:
        return lambda _: (served.decide(kind=answer, question=keys[-1]), page())

    middle, last = len(cameras) // 3, len(cameras) - 1
    return {
        "page: questions": lambda _: page(),
        "page: cameras": lambda k: served.get(f"/cameras?at={60 * k}"),
        "page: cameras, filtered": lambda k: served.get(f"/cameras?model=Model%20{k % 60}"),
        "page: cameras, found by words": lambda k: served.get(f"/cameras?q=IMG_{k:04d}"),
        "page: largest camera": lambda _: served.get("/camera?name=camera-0"),
        "page: a photo": lambda k: served.get(f"/photo/{alone[k]}"),
        "page: alone": lambda _: served.get("/alone"),
        "page: sources": lambda _: served.get("/sources"),
        "page: log": lambda _: served.get("/log"),
        "action: accept": lambda k: _camera(served, "confirm", f"camera-{middle + k}"),
        "action: name": lambda k: _camera(served, "name", f"camera-{middle + k}", name=f"N {k}"),
        "action: merge": lambda k: (
            served.decide(
                kind="merge", first=f"camera-{last - 2 * k}", second=f"camera-{last - 2 * k - 1}"
            ),
            served.get("/cameras"),
        ),
        "action: split the largest": lambda k: _camera(
            served, "split", "camera-0", photos=members[0][5 * k : 5 * k + 3]
        ),
        "action: detach": lambda k: _camera(
            served, "reject", "camera-1", photos=members[1][3 * k : 3 * k + 1]
        ),
        "action: cannot tell": answered("cannot tell"),
        "action: same": answered("same"),
        "action: different": answered("different"),
        "action: undo": lambda _: (served.decide(kind="undo"), served.get("/log")),
        "action: redo": lambda _: (served.decide(kind="redo"), served.get("/log")),
    }  # fmt: skip


def _camera(served: Served, kind: str, camera: str, **more: Any) -> None:
    """A decision about a camera, and its page."""
    done = served.decide(kind=kind, camera=camera, **more)
    name = done["camera"] if kind == "name" else camera
    served.get(f"/camera?name={quote(name)}")


def summary(seconds: list[float]) -> dict[str, float]:
    """Milliseconds: median, 95th percentile and most."""
    ordered = sorted(1000 * s for s in seconds)
    high = ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]
    return {
        "p50": round(statistics.median(ordered), 1),
        "p95": round(high, 1),
        "most": round(ordered[-1], 1),
    }


def measure(photos: int, repeats: int, folder: Path) -> dict[str, Any]:
    """Times of one served case."""
    case = folder / "case"
    write_case(case, photos)
    load = [os.getloadavg()[0]]
    served = Served(case)
    try:
        _, first = record.timed(served.get, "/")
        times = {}
        for name, task in tasks(served, case).items():
            before = served.processor()
            times[name] = summary([record.timed(task, k)[1] for k in range(repeats)])
            spent = 1000 * (served.processor() - before) / repeats
            times[name]["processor"] = round(spent, 1)
            print(f"{name:32} {times[name]}", flush=True)
    finally:
        served.close()
    return {
        "photos": photos,
        "start_seconds": round(served.start, 2),
        "first_page_ms": round(1000 * first, 1),
        "load": [round(each, 1) for each in (*load, os.getloadavg()[0])],
        "milliseconds": times,
    }


def main(arguments: Sequence[str] | None = None) -> None:
    made = record.parser(__doc__)
    made.add_argument("--photos", type=int, default=100_000)
    made.add_argument("--repeats", type=int, default=40)
    options: argparse.Namespace = made.parse_args(arguments)
    photos, repeats = (3000, 2) if options.quick else (options.photos, options.repeats)
    with tempfile.TemporaryDirectory() as folder:
        result = measure(photos, repeats, Path(folder))
    print({k: v for k, v in result.items() if k != "milliseconds"})
    record.write(
        "review",
        result,
        folder=record.folder_of(options),
        libraries=("starlette", "uvicorn"),
        photos=photos,
        repeats=repeats,
    )


if __name__ == "__main__":
    main()
