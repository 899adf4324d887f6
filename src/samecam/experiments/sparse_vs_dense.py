"""The paper's figure of sparse representations against correlations, on noise and on photos."""

import base64
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from samecam import pages
from samecam.arrays import AnyFloats, Labels
from samecam.experiments import _pictures
from samecam.experiments._experiment import Context, Experiment, Result, Told
from samecam.experiments._photo_correlations import good_correlations
from samecam.experiments._photo_sets import PhotoSet, largest_cameras, simulate_set
from samecam.experiments._study import Run, Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure


CAMERAS, EACH, QUICK_EACH = 5, 100, 30
SIDE = 512
# The paper's synthetic pictures: uniform at .9 of full scale, variances of K and of the noise.
_LIGHT, _VAR_PRNU, _VAR_NOISE = 0.9, 0.001, 0.1
_FULL = 255.0
_PHOTO = (672, 544)
# Pictures in the result have at most so many squares a side, each the mean of what it covers.
_SQUARES = 100
_BRIGHT = 0.995
_FEWEST = 5
_ON = {
    "synthetic": "white noise on uniform pictures",
    "simulated": "simulated photographs",
    "real": "real photographs",
}


def _each(context: Context) -> int:
    return QUICK_EACH if context.quick else EACH


def _run(context: Context) -> None:
    """Correlations of each set, and their representations."""
    if context.data is None:
        _synthetic(context)
    photos = _photographs(context)
    gram, truth = good_correlations(context, photos, SIDE)
    _represent(context, photos.kind, gram, truth, photos.as_parameters())


def _synthetic(context: Context) -> None:
    """The paper's uniform pictures, filtered as photographs are."""
    given = {"cameras": CAMERAS, "images": _each(context), "side": SIDE, "seed": 0}
    drawn = context.study.run(
        f"synthetic-{_each(context)}/correlations",
        lambda: _draw_synthetic(context),
        parameters=given,
    )
    _represent(context, "synthetic", drawn.arrays["gram"], drawn.arrays["truth"], given)


def _draw_synthetic(context: Context) -> Run:
    """Y = I + I·K + Θ at I = .9, K one for each camera, Θ one for each picture; its residual."""
    from samecam import correlate
    from samecam.fingerprint import fingerprint

    began, each = time.monotonic(), _each(context)
    rows = np.empty((CAMERAS * each, SIDE * SIDE), dtype=np.float32)
    for camera in range(CAMERAS):
        rng = np.random.default_rng((0, camera))
        pattern = _VAR_PRNU**0.5 * rng.standard_normal((SIDE, SIDE), dtype=np.float32)
        for k in range(each):
            noise = _VAR_NOISE**0.5 * rng.standard_normal((SIDE, SIDE), dtype=np.float32)
            picture = _FULL * (_LIGHT + _LIGHT * pattern + noise)
            rows[camera * each + k] = fingerprint(picture, preset="paper")
            context.progress("Synthetic pictures", camera * each + k + 1, len(rows))
    truth = np.repeat(np.arange(CAMERAS), each)
    return Run(
        {"gram": correlate.gram(rows), "truth": truth}, {"seconds": time.monotonic() - began}
    )


def _photographs(context: Context) -> PhotoSet:
    """Five cameras and as many photos of each as are wanted, or as there are."""
    each = _each(context)
    if context.data is None:
        return simulate_set(context, f"simulated-{CAMERAS}x{each}", CAMERAS, each, _PHOTO)
    collection, most = largest_cameras(context.data, CAMERAS, _FEWEST)
    some = collection.take({camera: min(count, each) for camera, count in most.items()})
    return PhotoSet.of(f"real-{each}", "real", some)


def _represent(
    context: Context, kind: str, gram: AnyFloats, truth: Labels, given: Mapping[str, Any]
) -> None:
    context.study.run(
        f"{kind}-{_each(context)}/representations",
        lambda: _representation(kind, gram, truth),
        parameters={**given, "gamma": "twice the measured scale of chance"},
    )


def _representation(kind: str, gram: AnyFloats, truth: Labels) -> Run:
    from samecam.cluster import null_gamma
    from samecam.correlate import null_scale
    from samecam.represent import represent

    order = np.argsort(truth, kind="stable")
    gram, truth = np.ascontiguousarray(gram[np.ix_(order, order)]), truth[order]
    chance = null_scale(gram, SIDE * SIDE)
    gamma = null_gamma(chance)
    answer = represent(gram, gamma)
    arrays = {
        "gram": gram.astype(np.float32),
        "coefficients": answer.coefficients.toarray().astype(np.float32),
        "truth": truth,
    }
    facts = {
        "kind": kind,
        "null_scale": chance,
        "gamma": gamma,
        "kkt_violation": answer.report.kkt_violation,
        "seconds": answer.report.seconds,
    }
    return Run(arrays, facts)


def _score(study: Study, context: Context) -> dict[str, Any]:
    kinds = ["real"] if context.data is not None else ["synthetic", "simulated"]
    sets = []
    for kind in kinds:
        run = study.load(f"{kind}-{_each(context)}/representations")
        sets.append(_score_one(run))
    expected = _LIGHT**2 * _VAR_PRNU / (_LIGHT**2 * _VAR_PRNU + _VAR_NOISE)
    keys = ("kind", "photos", "cameras", "gamma", "null_scale", "kkt_violation")
    shown = [{key: one[key] for key in keys} for one in sets]
    return {
        "sets": sets,
        "expected_synthetic": expected,
        "runs": [
            {
                **about,
                "seed": 0,
                "dense": one["dense"]["numbers"],
                "sparse": one["sparse"]["numbers"],
            }
            for about, one in zip(shown, sets, strict=True)
        ],
    }


def _score_one(run: Run) -> dict[str, Any]:
    gram, truth = run.arrays["gram"].astype(np.float64), run.arrays["truth"]
    coefficients = run.arrays["coefficients"].astype(np.float64)
    same = truth[:, np.newaxis] == truth
    apart = ~np.eye(len(gram), dtype=bool)
    largest = np.maximum(coefficients.max(axis=1, keepdims=True), np.finfo(float).tiny)
    return {
        **run.facts,
        "photos": len(gram),
        "cameras": int(truth.max()) + 1,
        "sizes": np.bincount(truth).tolist(),
        "same_pairs": float(same[apart].mean()),
        "same_mean": float(gram[apart & same].mean()),
        "dense": {"numbers": separation(gram, same), "picture": _levels(gram * apart)},
        "sparse": {
            "numbers": separation(coefficients, same),
            "picture": _levels(coefficients / largest),
        },
    }


def separation(matrix: AnyFloats, same: npt.NDArray[np.bool_]) -> dict[str, float]:
    """How well the entries of a matrix tell pairs of one camera from others; no diagonal.

    within : share of the positive mass that lies within cameras
    inside, between : share of entries within and between cameras that are positive
    auc : probability that an entry within a camera is larger than one between cameras; of
        equal ones half
    """
    from scipy.stats import rankdata

    apart = ~np.eye(len(matrix), dtype=bool)
    values, inside = np.maximum(matrix[apart], 0), same[apart]
    ranks = rankdata(matrix[apart])
    n, m = int(inside.sum()), int((~inside).sum())
    total = float(values.sum())
    return {
        "within": float(values[inside].sum()) / total if total else 0.0,
        "inside": float(np.mean(values[inside] > 0)),
        "between": float(np.mean(values[~inside] > 0)),
        "auc": (float(ranks[inside].sum()) - n * (n + 1) / 2) / (n * m),
    }


def _levels(matrix: AnyFloats) -> dict[str, Any]:
    """A matrix as a small picture: 0 white, 255 the 99.5 % point and above; squares are means."""
    step = -(-len(matrix) // _SQUARES)
    count = -(-len(matrix) // step)
    starts = np.arange(count) * step
    sums = np.add.reduceat(np.add.reduceat(np.maximum(matrix, 0), starts, axis=0), starts, axis=1)
    widths = np.diff([*starts, len(matrix)])
    means = sums / np.outer(widths, widths)
    bright = float(np.quantile(means, _BRIGHT)) or 1.0
    levels = np.round(255 * np.minimum(means / bright, 1)).astype(np.uint8)
    text = base64.b64encode(levels.tobytes()).decode("ascii")
    return {"side": count, "photos_a_square": step, "levels": text}


def _plot(result: Result) -> "Figure":
    """A row a set: correlations on the left, representations on the right."""
    rows = result["sets"]
    figure = _pictures.blank(8.2, 0.4 + 4.0 * len(rows))
    axes = figure.subplots(len(rows), 2, squeeze=False)
    for line, one in zip(axes, rows, strict=True):
        on = _ON[one["kind"]]
        for ax, name, title in zip(line, ("dense", "sparse"), _titles(one), strict=True):
            _draw(ax, one[name]["picture"], one["sizes"])
            ax.set_title(f"{on}:\n{title}", fontsize=10, loc="left", weight="bold")
    _pictures.note(figure, "rows and columns are photos, camera after camera; darker is larger")
    return figure


def _titles(one: Mapping[str, Any]) -> tuple[str, str]:
    dense, sparse = (one[name]["numbers"]["within"] for name in ("dense", "sparse"))
    return (
        f"correlations, {dense:.0%} within cameras",
        f"sparse representations, {sparse:.0%} within",
    )


def _draw(ax: Any, picture: Mapping[str, Any], sizes: list[int]) -> None:
    side = picture["side"]
    levels = np.frombuffer(base64.b64decode(picture["levels"]), dtype=np.uint8)
    ax.imshow(levels.reshape(side, side), cmap="Greys", vmin=0, vmax=255, interpolation="nearest")
    ends = np.cumsum(sizes)[:-1] / picture["photos_a_square"] - 0.5
    for end in ends:
        ax.axhline(end, color=_pictures.COLOURS["ours"], linewidth=0.4)
        ax.axvline(end, color=_pictures.COLOURS["ours"], linewidth=0.4)
    ax.set_xticks([])
    ax.set_yticks([])


_ABOUT = (
    "Here both matrices are counted: the share of the "
    "positive mass that lies within cameras, and the probability (AUC) that a pair of one camera "
    "has more of it than a pair of two."
)


def _tell(result: Result) -> Told:
    rows = []
    for one in result["sets"]:
        both = [one[name]["numbers"] for name in ("dense", "sparse")]
        within = [pages.percent(numbers["within"]) for numbers in both]
        auc = [pages.share(numbers["auc"], 3) for numbers in both]
        rows.append([_ON[one["kind"]], *within, *auc])
    head = ["on", "correlations", "representations", "AUC", "AUC"]
    return Told(_compared(result["sets"]), pages.table(head, rows))


def _compared(sets: Sequence[Mapping[str, Any]]) -> list[str]:
    """What the representation adds, and what it does not."""
    pairs = [(one["dense"]["numbers"], one["sparse"]["numbers"]) for one in sets]
    words = []
    if all(sparse["within"] > dense["within"] for dense, sparse in pairs):
        words.append("As in the paper, representations have more of the mass within cameras.")
    if all(sparse["auc"] < dense["auc"] for dense, sparse in pairs):
        words.append("Pair by pair they tell less: many pairs of one camera have no weight either.")
    return words


EXPERIMENT = Experiment(
    "sparse-vs-dense",
    "Figure: representation matrix against correlation matrix",
    _run,
    _score,
    _plot,
    _ABOUT,
    _tell,
    takes_data=True,
)
