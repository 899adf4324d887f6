"""A case of any number of photos that were never taken: its tables alone, as a run leaves them."""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np

from samecam.case import COLUMNS, Camera, Division, ExifCamera, Group, csv_text
from samecam.case.folder import VIEW_COLUMNS, clusters_json, view_cells
from samecam.register import View

FRAMES = ("4000x3000", "4032x3024", "3264x2448", "1600x1200")
EVIDENCE = (
    *("path", "cluster", "group", "correlation", "score", "log10_lr", "log10_lr_same_model"),
    *("doubtful", "p_value", "comparisons", "adjusted_p", "nearest", "nearest_correlation"),
    *("nearest_score", "nearest_log10_lr", "margin", "pce", "words"),
)
CLUSTERS = (
    *("path", "sha256", "cluster", "group", "frame"),
    *(*VIEW_COLUMNS, "correlation", "margin", "p_value", "doubtful"),
)
_ALONE = 0.15
_EACH = 50  # photos of a camera, on average
_EXTRACTION = {
    "size": None,
    "at": "corner",
    "offset": [0, 0],
    "portrait": "keep",
    "sigma": 3.0,
    "preset": "default",
    "grid": True,
    "cfa": False,
    "wiener": False,
    "equalise": False,
    "dtype": "auto",
}


def write_case(folder: Path, photos: int, seed: int = 0) -> None:
    """Write `images.csv`, `clusters.csv`, `evidence.csv`, `clusters.json` and `case.json`."""
    folder.mkdir(parents=True)
    rng = np.random.default_rng(seed)
    labels = _labels(rng, photos)
    folders = max(photos // 500, 2)
    names = sorted(
        f"source {k % folders:03d}/{2012 + k % 14}/IMG_{k:06d}.jpg" for k in range(photos)
    )
    hashes = [hashlib.sha256(name.encode()).hexdigest() for name in names]
    images, places, facts = _rows(rng, names, hashes, labels)
    cameras = _cameras(rng, names, hashes, labels)
    alone = [(names[k], hashes[k]) for k in np.flatnonzero(labels < 0)]
    files = {
        "images.csv": csv_text(COLUMNS, images),
        "clusters.csv": csv_text(CLUSTERS, places),
        "evidence.csv": csv_text(EVIDENCE, facts),
    }
    digests = {name: _digest(files[name]) for name in ("clusters.csv", "evidence.csv")}
    files["clusters.json"] = clusters_json(cameras, alone, {"words": []}, digests)
    info: dict[str, Any] = {
        "format": "samecam-case",
        "version": 2,
        "samecam": "0",
        "created": "2026-01-01T00:00:00+00:00",
        "state": "clustered",
        "sources": [str(folder.parent / "nothing")],
        "extraction": _EXTRACTION,
        "clustering": {
            "method": "auto",
            "options": {},
            "seed": 0,
            "preset": "default",
            "search": "normal",
            "sha256": {name: _digest(text) for name, text in files.items() if name[0] != "i"},
        },
    }
    for name, text in {**files, "case.json": json.dumps(info)}.items():
        (folder / name).write_text(text, encoding="utf-8")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _labels(rng: np.random.Generator, photos: int) -> np.ndarray:
    """Cameras of the photos, the largest first, of very unlike sizes; −1: none."""
    count = max(photos // _EACH, 2)
    weights = 1 / np.arange(1, count + 1) ** 0.7
    drawn = rng.choice(count, photos, p=weights / weights.sum())
    drawn[rng.random(photos) < _ALONE] = -1
    drawn[: 2 * count] = np.repeat(np.arange(count), 2)
    sizes = np.bincount(drawn[drawn >= 0], minlength=count)
    rank = np.empty(count, dtype=np.intp)
    rank[np.argsort(-sizes, kind="stable")] = np.arange(count)
    return np.where(drawn < 0, -1, rank[drawn])


def _frame(label: int) -> str:
    return FRAMES[label % len(FRAMES)]


def _model(label: int) -> str:
    return f"Model {label % 60}"


def _rows(
    rng: np.random.Generator, names: list[str], hashes: list[str], labels: np.ndarray
) -> tuple[list[list[Any]], list[list[Any]], list[list[Any]]]:
    images, places, facts = [], [], []
    count = int(labels.max()) + 1
    near, scores = rng.integers(0, count, len(names)), rng.gamma(4, 12, len(names))
    strange = rng.normal(1.5, 1.0, len(names))
    for k, (name, sha256, label) in enumerate(zip(names, hashes, labels.tolist(), strict=True)):
        width, height = _frame(label).split("x")
        taken = f"{2012 + k % 14}:{1 + k % 12:02d}:{1 + k % 28:02d} 10:00:00"
        row = {"path": name, "sha256": sha256, "bytes": 3_000_000, "width": width}
        row |= {"height": height, "format": "JPEG", "make": "Maker", "model": _model(label)}
        row |= {"taken": taken, "dark": 0.0, "saturated": 0.0, "flat": 0.0, "even": 0.1}
        images.append([(row | {"status": "good"}).get(column) for column in COLUMNS])
        inside, other = label >= 0, int(near[k])
        score = round(float(scores[k]), 2) if inside else None
        weak = "yes" if score is not None and score < 5 else "no" if inside else ""
        view = view_cells(View()) if inside else view_cells(None)
        link = (0.05, 0.045, 1e-6) if inside else (None, None, None)
        places.append([name, sha256, label, label, _frame(label), *view, *link, weak])
        ratio = 4.0 if inside else None
        words = f"Its correlation with the fingerprint of group {label} is a score of {score}."
        if not inside:
            words = f"In no group. Nearest is group {other}: a score of {strange[k]:.1f}."
        facts.append(
            [name, label, label, link[0], score, ratio, None, weak, link[2], count, link[2],
             other, 0.004, round(float(strange[k]), 2), -1.0, link[1], None, words]
        )  # fmt: skip
    return images, places, facts


def _cameras(
    rng: np.random.Generator, names: list[str], hashes: list[str], labels: np.ndarray
) -> list[Camera]:
    cameras = []
    count = int(labels.max()) + 1
    order = np.argsort(labels, kind="stable")
    ends = np.searchsorted(labels[order], np.arange(count + 1))
    for number in range(count):
        rows = order[ends[number] : ends[number + 1]].tolist()
        near = (number + 4) % count
        apart = "may be one" if rng.random() < 0.05 else "not shown"
        falls = bool(rng.random() < 0.05) and len(rows) > 3
        paths = [names[k] for k in rows]
        why = f"The fingerprints of groups {number} and {near} have a score of 6.0."
        group = Group(
            id=number,
            size=len(rows),
            frame=_frame(number),
            paths=paths,
            hashes=[hashes[k] for k in rows],
            correlation=0.05,
            quality=0.9,
            score=40.0,
            weakest=4.0,
            repeats=0.0,
            division=Division(paths[: len(paths) // 3], 0.01, 0.05, 3.0, falls) if falls else None,
            cameras=[ExifCamera("Maker", _model(number), len(rows))],
            nearest=near,
            nearest_correlation=0.006,
            nearest_score=round(float(rng.normal(3, 1)), 2),
            nearest_log10_lr=-1.4,
            expected=0.05,
            apart=apart,
            why_apart=why,
            scenes=None,
            warnings=[],
            camera=number,
            view=View(),
            words=_frame(number).replace("x", "×"),
        )
        cameras.append(Camera(number, len(rows), [group]))
    return cameras
