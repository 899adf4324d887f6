"""A case with three known cameras, photos held back, and a camera that it never saw."""

import csv
import hashlib
import shutil
import sqlite3
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path

from samecam import cluster_photos
from samecam.case import Clustering, ExtractionSettings
from samecam.simulate import simulate_photos
from tests.once import made_once

SETTINGS = ExtractionSettings(size=256)
WHOLE = ExtractionSettings()
OTHER = (448, 320)  # another frame


@dataclass(frozen=True)
class World:
    """Folders `kept` (of the case), `held` (same cameras) and `strangers`, and their truth."""

    root: Path
    truth: dict[str, str]
    result: Clustering
    settings: ExtractionSettings = SETTINGS

    @property
    def case(self):
        return self.result.case

    def again(self, case):
        """The command that made the case, for a copy of it."""
        size = self.settings.size
        more = ("--search", "off") if size is None else ("--size", size)
        return ("cluster", self.root / "kept", "-o", case, *more, "--quiet")

    def group_of(self, camera):
        """The group most photos of a camera are in."""
        placed = zip(self.result.paths, self.result.labels.tolist(), strict=True)
        votes = Counter(k for path, k in placed if k >= 0 and self.truth[path] == camera)
        return votes.most_common(1)[0][0]


CAMERAS, KEPT, HELD = 3, 14, 3  # cameras of the case; photos of each in it, and held back


def take_photos(folder):
    """Photos of the cameras and of a stranger, with their truth."""
    given = {"cameras": CAMERAS + 1, "images": KEPT + HELD, "size": (512, 384), "seed": 2}
    simulate_photos(folder, workers=1, **given)


def other_photos(tmp_path_factory):
    """A folder with photos of another frame by two cameras, and their truth."""

    def take(folder):
        simulate_photos(folder, cameras=2, images=10, size=OTHER, seed=5, workers=1)

    return made_once(tmp_path_factory, "photos of another frame", take)


def make_world(root, photos, settings=SETTINGS):
    """A world of such photos, in a folder of its own."""
    with open(photos / "truth.csv", newline="") as stream:
        rows = list(csv.DictReader(stream))
    by_camera = defaultdict(list)
    for row in rows:
        by_camera[row["camera"]].append(photos / row["path"])
    for number, camera in enumerate(sorted(by_camera)):
        for k, file in enumerate(sorted(by_camera[camera])):
            name = "strangers" if number == CAMERAS else "held" if k < HELD else "kept"
            (root / name).mkdir(exist_ok=True)
            shutil.copy(file, root / name / file.name)
    truth = {Path(row["path"]).name: row["camera"] for row in rows}
    views = {"search": "off"} if settings.size is None else {}  # they are tested elsewhere
    result = cluster_photos(root / "kept", root / "case", settings, **views)
    return World(root, truth, result, settings)


def copied(case, target):
    shutil.copytree(case, target)
    return target


def tree(folder):
    """Bytes, by name, of all there is in a folder but the lock."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(Path(folder).rglob("*"))
        if path.is_file() and path.name != "lock"
    }


def change(case, *statements):
    """Change the catalogue of a case behind its back."""
    with sqlite3.connect(case / "fingerprints" / "catalogue.sqlite") as db:
        for statement in statements:
            db.execute(statement)
    db.close()


_made: dict[ExtractionSettings, World] = {}


def shared_world(tmp_path_factory, settings=SETTINGS):
    """One world for all tests of a process; those that change it copy it first."""
    if settings not in _made:
        photos = made_once(tmp_path_factory, "photos of the world", take_photos)
        _made[settings] = make_world(tmp_path_factory.mktemp("world"), photos, settings)
    return _made[settings]
