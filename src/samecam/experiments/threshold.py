"""The paper's figure of the merging threshold against both distributions as groups grow."""

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from samecam import pages
from samecam.arrays import Doubles
from samecam.errors import SamecamError
from samecam.experiments import _pictures
from samecam.experiments._experiment import Context, Experiment, Result, Told
from samecam.experiments._photo_correlations import good_correlations
from samecam.experiments._photo_sets import PhotoSet, largest_cameras
from samecam.experiments._study import Run, Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from samecam.cluster import GroupPairs


REPLICATIONS, QUICK_REPLICATIONS = 2000, 200
_CHUNK = 200
SIZES = (2, 3, 5, 8, 12, 20, 30, 50)
SIDE = 512
# Two simulated cameras of each strength: mean correlation of two photos of one camera. The
# twins of Dresden have .02.
STRENGTHS: Mapping[str, float] = {"weak": 0.005, "usual": 0.02, "strong": 0.1}
_EACH = 120
_NULL, _PHOTO_CV = 0.0027, 0.5
FALSE_ALARM = 0.001
_QUANTILE = 3.090232306167813
RULES: Mapping[str, str] = {
    "ours": "ours, max(chance, H₁/2)",
    "ls-ssc": "the paper's regressor",
    "lin-ls": "Lin's, as far as it is known",
}
_FEWEST = 8
# Differences of rates that the text speaks of.
_NOTABLE = 0.005


def _names(context: Context) -> list[str]:
    return ["real"] if context.data is not None else list(STRENGTHS)


def _chunks(context: Context) -> range:
    return range((QUICK_REPLICATIONS if context.quick else REPLICATIONS) // _CHUNK)


def _run(context: Context) -> None:
    """Correlations of two cameras, then pairs of groups of every size drawn from them."""
    for name in _names(context):
        gram, cameras = _correlations(context, name)
        sizes = _sizes(cameras)
        for done, n in enumerate(sizes):
            context.progress(f"Drawing groups, {name}", done, len(sizes))
            for chunk in _chunks(context):
                context.study.run(
                    f"{name}/{n}/{chunk}",
                    lambda g=gram, c=cameras, n=n, k=chunk: _draw(g, c, n, k),  # type: ignore[misc]
                    parameters={"replications": _CHUNK, "seed": chunk},
                )
        context.progress(f"Drawing groups, {name}", len(sizes), len(sizes))


def _sizes(cameras: npt.NDArray[np.integer]) -> list[int]:
    """Sizes for which both cameras have two groups that share no photo."""
    most = int(np.bincount(cameras, minlength=2).min())
    if most < 2 * SIZES[0]:
        raise SamecamError(
            f"Of one of the two cameras only {most} photos can be used: give more of them."
        )
    return [n for n in SIZES if n <= most // 2]


def _correlations(
    context: Context, name: str
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.intp]]:
    if name == "real":
        return _real(context)
    given = {"mean": STRENGTHS[name], "each": _EACH, "null_scale": _NULL, "photo_cv": _PHOTO_CV}
    run = context.study.run(
        f"{name}/correlations", lambda: _simulated(context, name), parameters=given
    )
    return run.arrays["gram"], run.arrays["cameras"]


def _simulated(context: Context, name: str) -> Run:
    """Two cameras alike in strength, coloured noise; whole fingerprints, not drawn correlations.

    Drawn correlations would make the fingerprints of groups of two cameras too unlike.
    """
    from samecam import correlate
    from samecam.datasets import Twin

    context.progress(f"Simulating {name} cameras", 0, 1)
    began = time.monotonic()
    pair = Twin(
        f"two {name} cameras",
        (_EACH, _EACH),
        STRENGTHS[name],
        camera_spread=0.0,
        photo_cv=_PHOTO_CV,
        null_scale=_NULL,
        n_pixels=SIDE * SIDE,
    )
    drawn = pair.fingerprints()
    gram = correlate.gram(drawn.X)
    facts = _facts(gram, drawn.labels) | {"seconds": time.monotonic() - began}
    context.progress(f"Simulating {name} cameras", 1, 1)
    return Run({"gram": gram, "cameras": drawn.labels}, facts)


def _facts(gram: npt.NDArray[np.float32], cameras: npt.NDArray[np.intp]) -> dict[str, Any]:
    from samecam.correlate import null_scale

    return {
        "photos": np.bincount(cameras).tolist(),
        "n_pixels": SIDE * SIDE,
        "null_scale": null_scale(gram, SIDE * SIDE),
    }


def _real(context: Context) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.intp]]:
    """The two cameras with the most photos; photos that are not good are left out."""
    assert context.data is not None
    collection, most = largest_cameras(context.data, 2, _FEWEST)
    photos = PhotoSet.of("real", "real", collection.take(most))
    gram, cameras = good_correlations(context, photos, SIDE)
    context.study.run(
        "real/correlations",
        lambda: Run({"cameras": cameras}, _facts(gram, cameras)),
        parameters=photos.as_parameters(),
    )
    return gram, cameras


def _draw(gram: npt.NDArray[np.float32], cameras: npt.NDArray[np.intp], n: int, chunk: int) -> Run:
    """Pairs of groups of n photos each: of one camera, and of two."""
    from samecam.cluster import draw_pairs

    arrays: dict[str, Doubles] = {}
    for same in (True, False):
        pairs = draw_pairs(
            gram,
            cameras,
            _CHUNK,
            same=same,
            sizes=(n, n),
            random_state=np.random.default_rng((chunk, n, int(same))),
        )
        mark = "one" if same else "two"
        for name in ("rho_a", "rho_b", "correlation"):
            arrays[f"{mark}_{name}"] = getattr(pairs, name)
    return Run(arrays, {"seed": chunk, "size": n})


def thresholds(pairs: "GroupPairs", null_scale: float, n_pixels: int) -> dict[str, Doubles]:
    """τ of every pair by each rule, P_FA = .001.

    ours : max(3.09·σ₀, H₁/2), σ₀ measured
    ls-ssc : max(3.09/√d, R), the published regressor
    lin-ls : max(3.09/√d, H₁ − 3.09·(1 − H₁²)/√d). The formula of Lin and Li was not found; this
        is what is known of it: it adapts to sizes and correlations within, and is confident.
    """
    from samecam.cluster import PUBLISHED_REGRESSOR

    white = float(n_pixels) ** -0.5
    h = pairs.expected
    paper = PUBLISHED_REGRESSOR(pairs.n_a, pairs.n_b, pairs.rho_a, pairs.rho_b)
    return {
        "ours": np.maximum(_QUANTILE * null_scale, h / 2),
        "ls-ssc": np.maximum(_QUANTILE * white, paper),
        "lin-ls": np.maximum(_QUANTILE * white, h - _QUANTILE * (1 - h * h) * white),
    }


def _score(study: Study, context: Context) -> dict[str, Any]:
    panels = []
    for name in _names(context):
        saved = study.load(f"{name}/correlations")
        facts = {k: v for k, v in saved.facts.items() if k != "seconds"}
        rows = [
            _row(study, name, n, _chunks(context), facts) for n in _sizes(saved.arrays["cameras"])
        ]
        about = {"name": name, "strength": STRENGTHS.get(name), **facts}
        panels.append({**about, "rows": rows, "learnt": _learnt(study, name, context)})
    return {
        "replications": _CHUNK * len(_chunks(context)),
        "false_alarm": FALSE_ALARM,
        "panels": panels,
        "runs": [
            {"panel": panel["name"], "seed": chunk, **_row(study, panel["name"], row["size"],
             [chunk], panel)}
            for panel in panels for row in panel["rows"] for chunk in _chunks(context)
        ],
    }  # fmt: skip


def _pairs(study: Study, name: str, n: int, chunks: Sequence[int], mark: str) -> "GroupPairs":
    from samecam.cluster import GroupPairs

    saved = [study.load(f"{name}/{n}/{chunk}").arrays for chunk in chunks]
    columns = [
        np.concatenate([arrays[f"{mark}_{key}"] for arrays in saved])
        for key in ("rho_a", "rho_b", "correlation")
    ]
    sizes = np.full(len(columns[0]), float(n))
    return GroupPairs(sizes, sizes, *columns)


def _row(
    study: Study, name: str, n: int, chunks: Sequence[int], facts: Mapping[str, Any]
) -> dict[str, Any]:
    """Both distributions at one size, and for every rule how often it is wrong."""
    one, two = (_pairs(study, name, n, chunks, mark) for mark in ("one", "two"))
    row: dict[str, Any] = {"size": n}
    for mark, pairs in (("one", one), ("two", two)):
        low, middle, high = np.quantile(pairs.correlation, (0.01, 0.5, 0.99))
        row[mark] = {"low": low, "median": middle, "high": high}
    own = thresholds(one, facts["null_scale"], facts["n_pixels"])
    other = thresholds(two, facts["null_scale"], facts["n_pixels"])
    row["rules"] = {
        rule: {
            "threshold": float(own[rule].mean()),
            "missed": float(np.mean(one.correlation <= own[rule])),
            "wrong": float(np.mean(two.correlation > other[rule])),
        }
        for rule in RULES
    }
    rounded: dict[str, Any] = _rounded(row)
    return rounded


def _rounded(value: Any) -> Any:
    """Numbers with the digits that mean something, so that a result can be read."""
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    return round(float(value), 6) if isinstance(value, float) else value


def _learnt(study: Study, name: str, context: Context) -> dict[str, float]:
    """The regressor that these pairs of one camera would teach."""
    from samecam.cluster import GroupPairs, fit_pairs

    sizes = _sizes(study.load(f"{name}/correlations").arrays["cameras"])
    pairs = [_pairs(study, name, n, _chunks(context), "one") for n in sizes]
    columns = ("n_a", "n_b", "rho_a", "rho_b", "correlation")
    every = GroupPairs(*(np.concatenate([getattr(p, c) for p in pairs]) for c in columns))
    fit = fit_pairs(every)
    learnt: dict[str, float] = _rounded({**fit.regressor._asdict(), "explained": fit.explained})
    return learnt


def _plot(result: Result) -> "Figure":
    """A panel a camera strength: both distributions as bands, the rules as lines."""
    panels = result["panels"]
    figure = _pictures.blank(1.0 + 4.1 * max(len(panels), 2), 4.4)
    axes = figure.subplots(1, len(panels), squeeze=False)[0]
    for ax, panel in zip(axes, panels, strict=True):
        sizes = [row["size"] for row in panel["rows"]]
        for mark, word, colour in (
            ("one", "one camera", _pictures.COLOURS["ssc"]),
            ("two", "two cameras", _pictures.OTHER),
        ):
            low, mid, high = (
                [row[mark][key] for row in panel["rows"]] for key in ("low", "median", "high")
            )
            ax.fill_between(sizes, low, high, color=colour, alpha=0.3, linewidth=0, label=word)
            ax.plot(sizes, mid, color=colour, linewidth=1, linestyle=":")
        for rule, label in RULES.items():
            course = [row["rules"][rule]["threshold"] for row in panel["rows"]]
            _pictures.line(ax, rule, label, sizes, course, [0.0] * len(sizes))
        ax.set_xscale("log")
        ax.set_xticks(sizes, [str(n) for n in sizes], fontsize=8)
        ax.minorticks_off()
        _pictures.tidy(ax, _title(panel), "photos in each group")
    axes[0].set_ylabel("correlation of the groups' fingerprints")
    axes[0].legend(fontsize=7.5, frameon=False, loc="upper left")
    _pictures.note(figure, "bands: 1 % to 99 %; a good threshold runs between the bands")
    return figure


def _title(panel: Mapping[str, Any]) -> str:
    if panel["name"] == "real":
        return "two real cameras, {} and {} photos".format(*panel["photos"])
    return f"{panel['name']} cameras, ρ = {panel['strength']:g}"


_ABOUT = (
    "Pairs of groups of n photos judged by each rule at P_FA = "
    f"{FALSE_ALARM:g}: pairs of one camera that it misses / of two that it joins, at the worst n. "
    "H₁ is what two groups of one camera are expected to have. Lin's formula was not found, and "
    "Lin-LS merges not by this line, but by H₁/2 ([rivals](rivals.md))."
)


def _tell(result: Result) -> Told:
    rows = [
        [_title(panel), *(f"{_most(panel, rule, 'missed')} / {_most(panel, rule, 'wrong')}"
                          for rule in RULES)]
        for panel in result["panels"]
    ]  # fmt: skip
    behind = [_behind(panel) for panel in result["panels"]]
    sentences = [f"{result['replications']:,} pairs at every n.", *behind]
    return Told(sentences, pages.table(["cameras", *RULES.values()], rows))


def _most(panel: Mapping[str, Any], rule: str, name: str) -> str:
    """The largest rate of an error of a rule, at any n."""
    return pages.percent(max(row["rules"][rule][name] for row in panel["rows"]))


def _behind(panel: Mapping[str, Any]) -> str:
    """Sizes at which ours misses more than another rule, and what that one pays for it."""
    better = []
    for rule, label in list(RULES.items())[1:]:
        rows = [
            row for row in panel["rows"]
            if row["rules"]["ours"]["missed"] > row["rules"][rule]["missed"] + _NOTABLE
        ]  # fmt: skip
        if rows:
            sizes = pages.listed([str(row["size"]) for row in rows])
            wrong = pages.percent(max(row["rules"][rule]["wrong"] for row in rows))
            better.append(f"{label.partition(',')[0]} at n = {sizes} (joins up to {wrong})")
    if not better:
        return ""
    return f"**Of {_title(panel)}, ours misses more** than {' and '.join(better)}."


EXPERIMENT = Experiment(
    "threshold",
    "Figure: merging threshold against null and alternative distribution as the groups grow",
    _run,
    _score,
    _plot,
    _ABOUT,
    _tell,
    takes_data=True,
)
