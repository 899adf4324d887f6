"""Choosing the paper's hyperparameters on a case whose cameras are known."""

from __future__ import annotations

import json
import math
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from samecam import compute
from samecam._version import __version__
from samecam.arrays import Labels
from samecam.case.folder import TUNE_FORMAT, TUNE_VERSION, by_frame, open_case, used_photos
from samecam.case.studies._result import PICTURE, check_result
from samecam.errors import ParameterError, SamecamError, as_samecam_error
from samecam.files import sweep, write_atomically
from samecam.frames import Frame
from samecam.inputs import PathLike
from samecam.metrics import match_paths, read_truth
from samecam.provenance import versions
from samecam.store import FingerprintStore, Record

if TYPE_CHECKING:
    from samecam.cluster import GammaSelection, RecyclingSelection, RegressorFit

RESULT = "tune.json"
# More photos are not looked at: choosing γ takes time as the cube of their number.
MOST = 1000
# Batches in which K and R are chosen, as in the paper; fewer for fewer photos.
_BATCHES, _FEWEST = 6, 30
# Photos of one camera that learning the threshold needs: two groups of two.
_LEAST = 4


@dataclass(frozen=True, slots=True, repr=False)
class Tuning:
    """What was chosen on photos of known cameras.

    Attributes
    ----------
    case, truth : where they are
    photos, cameras : photos looked at, and their cameras
    of : photos of the case whose camera is known; more than `photos` if there were too many
    n_pixels : length of the fingerprints
    n_batches : batches in which K and R were chosen
    gamma, recycling, regressor : the choices, with what led there
    file : where it was written; the picture is beside it, unless matplotlib is missing
    picture : or None
    """

    case: Path
    truth: str
    photos: int
    cameras: int
    of: int
    n_pixels: int
    n_batches: int
    seed: int
    gamma: GammaSelection
    recycling: RecyclingSelection
    regressor: RegressorFit
    file: Path
    picture: Path | None = None

    def __repr__(self) -> str:
        given = self.options()
        chosen = f"gamma {given['gamma']:.3g}, K {given['n_neighbours']}, R {given['recycling']}"
        where = f"{self.photos} photos by {self.cameras} cameras of {str(self.case)!r}"
        return f"<Tuning on {where}: {chosen}>"

    def options(self) -> dict[str, Any]:
        """Parameters of `samecam.cluster.LargeScaleSSC`."""
        return {
            "gamma": self.gamma.gamma,
            "n_neighbours": self.recycling.n_neighbours,
            "recycling": self.recycling.recycling,
            "threshold": list(self.regressor.regressor),
        }

    def as_dict(self) -> dict[str, Any]:
        """As it stands in the file."""
        return {
            "format": TUNE_FORMAT,
            "version": TUNE_VERSION,
            "samecam": __version__,
            "case": str(self.case),
            "truth": self.truth,
            "photos": self.photos,
            "known": self.of,
            "cameras": self.cameras,
            "n_pixels": self.n_pixels,
            "seed": self.seed,
            "options": self.options(),
            "gamma": _gamma(self.gamma),
            "k_and_recycling": _recycling(self.recycling, self.n_batches),
            "merge_regressor": _regressor(self.regressor),
            "versions": versions(),
        }


def tune_case(
    case: PathLike,
    truth: PathLike,
    *,
    out: PathLike | None = None,
    by: Literal["f", "cost"] = "f",
    runs: int = 10,
    most: int = MOST,
    seed: int = 0,
    memory: int | None = None,
    progress: compute.Progress | None = None,
) -> Tuning:
    """Choose γ, K, R and the regressor of merging on the good photos of a case.

    The paper's selection, see `samecam.cluster.select_gamma`, `select_k_and_recycling` and
    `fit_merge_regressor`. The answer that stands in the case is not touched.

    Parameters
    ----------
    case : a case with fingerprints
    truth : CSV with the columns path and camera; photos that it does not name are left out
    out : file for the result; default tune.json in the case. The picture stands beside it.
    by : what decides on γ: "f", the known cameras, or "cost", the published cost
    runs : splits into batches for K and R
    most : photos looked at; of more, so many are drawn by `seed`
    seed : of everything random: which photos are drawn, k-means, the splits, the pairs of groups
    memory : bytes for the correlations; default half of what is available
    progress : called as progress(phase, done, total)

    Examples
    --------
    >>> tuned = samecam.tune_case("CASE", "truth.csv")
    >>> samecam.ClusteringSettings("ls-ssc", tuned=samecam.case.read_tuned(tuned.file))
    """
    if runs < 1 or most < 8:
        raise SamecamError(f"runs is {runs} and most is {most}: give 1 or more, and 8 or more.")
    saved, progress = open_case(case), compute.shown_progress(progress)
    file = Path(case) / RESULT if out is None else Path(out)
    picture = _picture_path(file)
    check_result(file, picture, Path(case), truth)
    named = read_truth(truth)
    with saved.open_store() as store:
        used = used_photos(store)
        rows = store.rows(_only_frame(used))
        known, names = _known(rows, used, named, truth)
        rng = np.random.default_rng(seed)
        chosen = np.sort(rng.permutation(len(known))[:most])
        _check_drawn(names, chosen, most)
        gram = _correlate(rows, known[chosen], memory, progress)
        n_pixels = rows.n_pixels
    cameras = np.unique([names[i] for i in chosen], return_inverse=True)[1].astype(np.intp)
    try:
        found = _choose(gram, cameras, n_pixels, by, runs, seed, progress)
    except ValueError as error:
        raise as_samecam_error(error) from None
    result = Tuning(
        Path(case), os.fspath(truth), len(chosen), int(cameras.max()) + 1, len(known), n_pixels,
        _batches(len(chosen)), seed, *found, file=file, picture=picture,
    )  # fmt: skip
    _write(result)
    return result


def _only_frame(used: Sequence[Record]) -> Frame | None:
    """The frame of all photos: γ holds for one alone."""
    frames = list(by_frame(used))
    if len(frames) > 1:
        raise SamecamError(
            f"The photos have {len(frames)} widths and heights, and what is chosen holds for one: "
            "extract them with a size, 1024 for instance, and tune on that case."
        )
    return frames[0] if frames else None


def _known(
    store: FingerprintStore,
    used: Sequence[Record],
    truth: dict[str, str],
    file: PathLike,
) -> tuple[Labels, list[str]]:
    """Rows of the good photos whose camera is known, and their cameras."""
    good = [record.key for record in used if record.meta["status"] == "good"]
    partners = match_paths(good, list(truth))
    if not partners:
        raise SamecamError(
            f"None of the {len(good)} good photos of the case has the file name of one in "
            f"{os.fspath(file)!r}: name the truth of these photos."
        )
    paths = [path for path in good if path in partners]
    rows = np.array([store.index(path) for path in paths], dtype=np.intp)
    return rows, [truth[partners[path]] for path in paths]


def _check_drawn(names: Sequence[str], chosen: Labels, most: int) -> None:
    """Refuse to go on if drawing has left too little of cameras that had enough."""

    def enough(cameras: list[str]) -> bool:
        counts = Counter(cameras)
        return len(counts) > 1 and max(counts.values()) >= _LEAST

    if enough(list(names)) and not enough([names[i] for i in chosen]):
        raise ParameterError(
            "most",
            f"{{name}} is {most}, and among so many of the {len(names)} photos of "
            f"{len(set(names))} cameras there are not two cameras and {_LEAST} photos of one: "
            "look at more.",
        )


def _correlate(
    store: FingerprintStore, rows: Labels, memory: int | None, progress: compute.Progress
) -> npt.NDArray[np.float32]:
    from samecam import correlate

    told = partial(progress, "Correlating")
    budget = memory or compute.machine().available // 2
    return correlate.gram(store, rows=rows, memory=budget, progress=told)


def _choose(
    gram: npt.NDArray[np.float32],
    cameras: Labels,
    n_pixels: int,
    by: Literal["f", "cost"],
    runs: int,
    seed: int,
    progress: compute.Progress,
) -> tuple[GammaSelection, RecyclingSelection, RegressorFit]:
    """γ; the regressor; K and R with both, so that what is handed out was run."""
    from samecam.cluster import fit_merge_regressor, select_gamma, select_k_and_recycling

    regressor = fit_merge_regressor(gram, cameras, random_state=seed)
    gamma = select_gamma(
        gram, cameras, by=by, n_pixels=n_pixels, random_state=seed, progress=progress
    )
    recycling = select_k_and_recycling(
        gram,
        cameras,
        runs=runs,
        n_batches=_batches(len(gram)),
        gamma=gamma.gamma,
        n_pixels=n_pixels,
        threshold=regressor.regressor,
        random_state=seed,
        progress=progress,
    )
    return gamma, recycling, regressor


def _batches(n: int) -> int:
    """Six as in the paper, or as many as hold 30 photos each."""
    return max(1, min(_BATCHES, n // _FEWEST))


def _picture_path(file: Path) -> Path | None:
    from importlib.util import find_spec

    return file.with_suffix(PICTURE) if find_spec("matplotlib") else None


def _write(result: Tuning) -> None:
    text = json.dumps(result.as_dict(), indent=1, ensure_ascii=True)
    sweep(result.file.parent)
    write_atomically(result.file, text + "\n")
    if result.picture is not None:
        from samecam.case.studies._tune_plot import picture

        write_atomically(result.picture, picture(result.as_dict()))


def _gamma(found: GammaSelection) -> dict[str, Any]:
    curve = zip(found.candidates, found.f, found.precision, found.recall, found.costs, strict=True)
    return {
        "chosen": found.gamma,
        "by": found.by,
        "by_f": found.by_f,
        "by_cost": found.by_cost,
        "default": found.default,
        "plateau": list(found.plateau),
        "at_edge": found.at_edge,
        "curve": [
            {"gamma": g, "f": f, "precision": p, "recall": r,
             "cost": cost if math.isfinite(cost) else None}
            for g, f, p, r, cost in curve
        ],
    }  # fmt: skip


def _recycling(found: RecyclingSelection, n_batches: int) -> dict[str, Any]:
    rows = [
        {
            "n_neighbours": k,
            "recycling": rounds,
            "precision": float(found.precision[place, rounds].mean()),
            "precision_spread": float(found.precision[place, rounds].std()),
            "discovered": float(found.discovered[place, rounds].mean()),
            "discovered_spread": float(found.discovered[place, rounds].std()),
        }
        for place, k in enumerate(found.neighbours)
        for rounds in range(found.precision.shape[1])
    ]
    return {
        "n_neighbours": found.n_neighbours,
        "recycling": found.recycling,
        "n_batches": n_batches,
        "runs": found.precision.shape[2],
        "curve": rows,
    }


def _regressor(found: RegressorFit) -> dict[str, Any]:
    pairs = found.pairs
    shown = slice(0, 400)
    columns = (pairs.n_a, pairs.n_b, pairs.rho_a, pairs.rho_b, pairs.correlation)
    return {
        **found.regressor._asdict(),
        "explained": found.explained,
        "error": found.error,
        "pairs": len(pairs),
        "first_pairs": [[round(float(x), 6) for x in row] for row in np.stack(columns, 1)[shown]],
    }
