"""Cameras and views on disk: kept through a kill, and refused where somebody changed them."""

import csv
import json
import shutil
import signal
import sqlite3
import threading
from pathlib import Path

import pytest

from samecam import cluster_photos
from samecam.case import open_case
from samecam.case.folder import Place, cameras_of
from samecam.compute import Resources
from samecam.errors import SamecamError
from samecam.register import View
from tests.case.many import make_pile
from tests.case.seen import Search
from tests.processes import run, run_apart
from tests.report.conftest import rewrite

FIND = "samecam.register.find_cameras"
ONE = Resources(workers=1)


@pytest.fixture(scope="module")
def pile(tmp_path_factory):
    return make_pile(tmp_path_factory.mktemp("cameras") / "photos")


@pytest.fixture(scope="module")
def made(pile, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FIND, Search(pile))
        return cluster_photos(
            pile.folder, tmp_path_factory.mktemp("cameras") / "case", resources=ONE
        )


@pytest.fixture
def case(made, tmp_path):
    """A copy: free to be spoilt."""
    return shutil.copytree(made.case, tmp_path / "case")


HOOK = """
import sys
if '-c' not in sys.argv[:1]:
    import os, signal
    sys.path.insert(0, {root!r})
    import samecam.register, samecam.case.grouping._cluster as c
    from tests.case.many import Pile
    from tests.case.seen import Search
    samecam.register.find_cameras = Search(Pile(None, {camera}, {{}}))
    real = c.weigh
    def dying(*given, **more):
        os.kill(os.getpid(), signal.SIGKILL)
    c.weigh = dying
"""


def test_cameras_are_kept_before_they_are_weighed(pile, made, tmp_path, monkeypatch):
    (tmp_path / "hook").mkdir()
    hook = HOOK.format(camera=pile.camera, root=str(Path(__file__).parents[2]))
    (tmp_path / "hook" / "sitecustomize.py").write_text(hook)
    words = ("cluster", pile.folder, "-o", tmp_path / "case", "--no-report", "--quiet")
    assert run_apart(*words, module_path=tmp_path / "hook")[0] == -signal.SIGKILL
    assert not (tmp_path / "case" / "clusters.json").exists()
    monkeypatch.setattr(FIND, lambda *_, **__: pytest.fail("sought again"))
    assert run(*words)[0] == 0
    for name in ("clusters.csv", "evidence.csv", "clusters.json"):
        assert (tmp_path / "case" / name).read_bytes() == (made.case / name).read_bytes()


@pytest.mark.parametrize(("old", "new"), [(",1.996123,", ",1.9,"), (",45.6,", ",95.6,")])
def test_kept_views_that_somebody_changed_are_sought_again(
    pile, made, tmp_path, monkeypatch, old, new
):
    search, table = Search(pile), tmp_path / "case" / "clusters.csv"
    monkeypatch.setattr(FIND, search)
    stop = threading.Event()

    def told(phase, *_):
        if phase == "Looking for views":
            stop.set()

    stopped = cluster_photos(
        pile.folder, tmp_path / "case", resources=ONE, stop=stop, progress=told
    )
    assert stopped.extraction.interrupted
    assert old in table.read_text()
    table.write_text(table.read_text().replace(old, new))
    cluster_photos(pile.folder, tmp_path / "case", resources=ONE)
    assert len(search.calls) == 2
    assert table.read_bytes() == (made.case / "clusters.csv").read_bytes()


def damaged(text, path, column, value):
    rows = list(csv.DictReader(text.splitlines()))
    for row in rows:
        if row["path"] == path:
            row[column] = value
    lines = [",".join(rows[0]), *(",".join(row.values()) for row in rows)]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("column", "value"),
    [
        *(("group", ""), ("group", "99"), ("group", "-2"), ("group", "0"), ("cluster", "1")),
        *(("turn", "45"), ("turn", ""), ("mirrored", "yes"), ("scale", "nan"), ("scale", "0")),
        *(("scale", "1e400"), ("shift_x", "inf"), ("shift_y", ""), ("radial", "99")),
        *(("view_rate", "2"), ("view_area", "-1"), ("view_area", "x"), ("view_score", "")),
        ("view_share", "nan"),
    ],
)
def test_a_table_that_cannot_be_is_refused(pile, case, column, value):
    """Even if its hash was put right."""
    path = next(path for path, camera in pile.camera.items() if camera == "b")
    rewrite(case, change_csv=lambda data: damaged(data.decode(), path, column, value).encode())
    with pytest.raises(SamecamError, match="do not fit together"):
        open_case(case).photos  # noqa: B018


@pytest.mark.parametrize(
    "change",
    [
        lambda camera: camera["groups"].pop(),
        lambda camera: camera["placed"].clear(),
        lambda camera: camera.update(size=3),
        lambda camera: camera["groups"][1]["view"].update(scale=2.5),
        lambda camera: camera["groups"][1]["view"].update(turn=45),
        lambda camera: camera["groups"][1]["view"].update(shift=[1.0]),
        lambda camera: camera["groups"][1]["view"].pop("radial"),
        lambda camera: camera["groups"][1].update(view=None),
        lambda camera: camera["groups"][1].update(camera=1),
        lambda camera: camera["groups"][1].update(words=3),
        lambda camera: camera["groups"][1].update(frame="80x96"),
        lambda camera: camera["placed"][0].update(view=None),
        lambda camera: camera["placed"][0].update(more=1),
        lambda camera: camera["placed"][0]["view"].update(rate=-1),
    ],
)
def test_objects_that_do_not_fit_the_table_are_refused(case, change):
    rewrite(case, change_json=lambda objects: change(objects["clusters"][0]))
    with pytest.raises(SamecamError, match="do not fit together"):
        open_case(case).cameras  # noqa: B018


SOUND = [Place("", 0, 0, View()), Place("", 0, 1, View(scale=2, score=9)), Place("", -1, -1)]


@pytest.mark.parametrize(
    "places",
    [
        [*SOUND, Place("", 1, 0, View())],
        [*SOUND, Place("", 0, 0, View(scale=2, score=9))],
        [*SOUND, Place("", 0, -1)],
        [*SOUND, Place("", -1, -1, View())],
        [*SOUND, Place("", -1, 2, View())],
        [*SOUND, Place("", 0, 2, View())],
        [*SOUND, Place("", 1, 2, View(score=3.0))],
        [*SOUND, Place("", 2, 2, View())],
        [*SOUND, Place("", 1, 3, View())],
    ],
)
def test_places_that_make_no_cameras(places):
    assert cameras_of(SOUND).first == (0,)
    with pytest.raises(ValueError, match=r"group|camera"):
        cameras_of(places)


def test_a_zoom_that_cannot_be_is_refused(case):
    for value in ("-1", "0", '"2"', "true", "1e300"):
        with sqlite3.connect(case / "fingerprints" / "catalogue.sqlite") as db:
            (key, text) = db.execute("SELECT key, meta FROM records LIMIT 1").fetchone()
            meta = {**json.loads(text), "zoom": json.loads(value)}
            db.execute("UPDATE records SET meta = ? WHERE key = ?", (json.dumps(meta), key))
        with pytest.raises(SamecamError, match="'zoom', cannot be"):
            open_case(case).open_store()
