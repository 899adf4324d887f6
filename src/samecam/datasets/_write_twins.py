"""Twins on disk: fingerprints for the command line, or photographs."""

import csv
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np

from samecam.datasets._collection import truth_csv
from samecam.datasets._twins import Twin
from samecam.errors import SamecamError
from samecam.files import write_atomically
from samecam.simulate import simulate_photos


def write_twin(twin: Twin, folder: str | os.PathLike[str], *, n_pixels: int | None = None) -> Path:
    """Write a twin's fingerprints, their names and the truth.

    `samecam cluster --fingerprints fingerprints.npy --names names.txt -o CASE` groups them,
    `samecam compare CASE --truth truth.csv` compares methods on them.

    Parameters
    ----------
    twin : which
    folder : for `fingerprints.npy`, `names.txt` and, last, `truth.csv`; new or empty
    n_pixels : length of the fingerprints, see `Twin.fingerprints`

    Returns
    -------
    Path
        The truth file.
    """
    target = _new_folder(folder)
    X, labels = twin.fingerprints(n_pixels)
    names = [f"{twin.name} twin {k:05d}" for k in range(len(X))]
    np.save(target / "fingerprints.npy", X)
    (target / "names.txt").write_text("".join(f"{name}\n" for name in names), encoding="utf-8")
    cameras = [f"camera {label:03d}" for label in labels]
    return _write_truth(target / "truth.csv", list(zip(names, cameras, strict=True)))


def photograph_twin(
    twin: Twin,
    folder: str | os.PathLike[str],
    *,
    size: tuple[int, int] | None = None,
    seed: int | None = None,
    workers: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Path:
    """Make a twin's photographs, by `samecam.simulate.simulate_photos`.

    As many cameras, models, images and strangers, and the configuration's quality of the
    second compression; how strong the fingerprints are is the simulated sensors' doing and
    not the twin's. Every camera takes as many photos as the busiest, the surplus is
    removed.

    Parameters
    ----------
    twin : which
    folder : for `images/` and, last, `truth.csv`; new or empty
    size : width and height; default 1.5 times the side of the crop
    seed : default the twin's
    workers, progress : see `simulate_photos`
    """
    target = _new_folder(folder)
    wanted = twin.configuration
    side = max(64, wanted.side * 3 // 2)
    sizes = twin.sizes[: wanted.cameras]
    truth = simulate_photos(
        target,
        cameras=wanted.cameras,
        images=max(sizes),
        models=max(twin.models) + 1 if twin.models else wanted.cameras,
        size=(side, side) if size is None else size,
        outliers=wanted.strangers,
        recompress=wanted.quality,
        seed=twin.seed if seed is None else seed,
        workers=workers,
        progress=progress,
    )
    return _thin_out(truth, sizes)


def _thin_out(truth: Path, sizes: tuple[int, ...]) -> Path:
    """Keep that many photos of the cameras, in the order of their names; strangers stay."""
    with open(truth, encoding="utf-8", newline="") as stream:
        rows = [(row["path"], row["camera"]) for row in csv.DictReader(stream)]
    by_camera: dict[str, list[str]] = {}
    for path, camera in rows:
        by_camera.setdefault(camera, []).append(path)
    busy = sorted(camera for camera, paths in by_camera.items() if len(paths) > 1)
    surplus = {
        path
        for camera, count in zip(busy, sizes, strict=True)
        for path in by_camera[camera][count:]
    }
    _write_truth(truth, [row for row in rows if row[0] not in surplus])
    for path in sorted(surplus):
        (truth.parent / path).unlink()
    return truth


def _new_folder(folder: str | os.PathLike[str]) -> Path:
    target = Path(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
        if any(target.iterdir()):
            raise SamecamError(f"{str(target)!r} is not empty: name a new folder.")
    except OSError as error:
        raise SamecamError(f"{str(target)!r} cannot be written: {error.strerror}.") from None
    return target


def _write_truth(path: Path, rows: list[tuple[str, str]]) -> Path:
    write_atomically(path, truth_csv(rows))
    return path
