"""Photos of several frames, small and with patterns that nobody overlooks."""

import hashlib
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tests.case.conftest import write
from tests.photos.pictures import encode, scene

# Cameras with their frame and how many photos they took; one photo each is a stranger's.
CAMERAS = {
    "a": ((96, 80), 7),
    "b": ((96, 80), 6),
    "c": ((80, 96), 6),
    "f": ((80, 96), 5),
    "d": ((112, 72), 4),
    "x": ((112, 72), 1),
    "y": ((112, 72), 1),
    "e": ((64, 64), 3),
    "z": ((120, 66), 1),
}
FRAMES = {f"{w}x{h}" for (w, h), _ in CAMERAS.values()}
GROUPS = sorted((count for _, count in CAMERAS.values() if count > 1), reverse=True)
ALONE = sum(count == 1 for _, count in CAMERAS.values())


@dataclass(frozen=True)
class Pile:
    """A folder of photos, and by the name of each its camera and its frame."""

    folder: Path
    camera: dict[str, str]
    frame: dict[str, str]

    @property
    def files(self):
        return sorted(self.folder.iterdir())


def make_pile(folder, cameras=CAMERAS, strength=0.06, seed=0, corner=(0, 0), bars=0):
    """Photos whose names mix frames and cameras; others for another seed, by the same cameras.

    In each a white `corner` of so many pixels each way, and black `bars` above and below.
    """
    photos = [(name, *size) for name, (size, count) in cameras.items() for _ in range(count)]
    order = np.random.default_rng(seed).permutation(len(photos))
    patterns = {
        name: np.random.default_rng([ord(letter) for letter in name]).normal(
            0, strength, (size[1], size[0], 1)
        )
        for name, (size, _) in cameras.items()
    }
    pile = Pile(folder, {}, {})
    for number, k in enumerate(order.tolist()):
        camera, width, height = photos[k]
        picture = scene(seed + k, width, height) * (1 + patterns[camera])
        picture[:bars] = picture[height - bars :] = 0
        picture[: corner[1], : corner[0]] = 255
        name = f"{number:02d}.png"
        write(folder / name, encode(np.clip(picture, 0, 255).astype(np.uint8), "PNG"))
        pile.camera[name], pile.frame[name] = camera, f"{width}x{height}"
    return pile


def groups_of(paths, labels):
    """Sets of file names, and the names in no group."""
    members = defaultdict(set)
    for path, label in zip(paths, labels, strict=True):
        members[int(label)].add(path.split("/")[-1])
    alone = members.pop(-1, set())
    return set(map(frozenset, members.values())), alone


def by_camera(pile):
    """The groups that are right: one a camera; and strangers."""
    members = defaultdict(set)
    for name, camera in pile.camera.items():
        members[camera].add(name)
    groups = {frozenset(names) for names in members.values() if len(names) > 1}
    return groups, set(pile.camera) - set().union(*groups)


def hashes(folder):
    """SHA-256 of every file below a folder."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(Path(folder).rglob("*"))
        if path.is_file()
    }
