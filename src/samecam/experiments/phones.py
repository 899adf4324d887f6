"""Phones: whole originals of weak cameras, zoomed digitally, several bodies of one model."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from samecam.experiments._experiment import Context, Experiment, Result, Told
from samecam.experiments._kinds import kinds_table, plot_kinds, score_kinds, scored_words
from samecam.experiments._photo_sets import PhotoSet, real_or_simulated, set_name
from samecam.experiments._piles import (
    CROSSTALK,
    Places,
    as_run,
    asked_search,
    group_pile,
    link_originals,
    steps_of,
)
from samecam.experiments._study import Run, Study
from samecam.inputs import read_input
from samecam.simulate import Views

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Simulated phones, photos by each, size; and with --quick. Two bodies of each model.
FULL, QUICK = (8, 16, (2592, 1944)), (4, 10, (1280, 960))
# Strong compression, in which little of the pattern is left.
ASKED: dict[str, Any] = {"quality": (72, 82), "views": Views(zoom=0.4), "crosstalk": CROSSTALK}
KINDS = {"plain": "not zoomed", "zoom": "zoomed digitally"}


def _name(context: Context) -> str:
    cameras, images, size = QUICK if context.quick else FULL
    return set_name(context, f"simulated-{cameras}x{images}-{size[0]}")


def _run(context: Context) -> None:
    name = _name(context)
    cameras, images, size = QUICK if context.quick else FULL
    photos = real_or_simulated(context, name, cameras, images, size, **ASKED)
    given = {**photos.as_parameters(), **asked_search()}
    context.study.run(f"{name}/phones", partial(_group, context, photos), parameters=given)


def _group(context: Context, photos: PhotoSet) -> Run:
    """The originals as they are; what EXIF says of zoom and model tells kinds and bodies apart."""
    work = context.study.folder / "work" / photos.name
    names = link_originals(context, work, photos.files)
    told = [_told(file) for file in photos.files]
    answer = group_pile(context, work / "photos", work)
    return as_run(
        answer,
        names,
        photos.cameras,
        kind=np.array([int(zoomed) for zoomed, _ in told], dtype=np.int64),
        model=_numbers([model for _, model in told]),
    )


def _told(file: Path) -> tuple[bool, str]:
    """Whether a photo is zoomed, and the model of its camera, as its EXIF says."""
    from samecam.photos import PhotoError, read_header

    try:
        exif = read_header(read_input(file)).exif
    except (OSError, PhotoError):
        return False, ""
    return (exif.zoom or 1) > 1, f"{exif.make} {exif.model}".strip()


def _numbers(models: Sequence[str]) -> Places:
    """Models as numbers; -1: not known."""
    order = sorted(set(models) - {""})
    return np.array([order.index(model) if model else -1 for model in models], dtype=np.int64)


def _score(study: Study, context: Context) -> dict[str, Any]:
    name = _name(context)
    run = study.load(f"{name}/phones")
    scored = score_kinds(run, list(KINDS), len(KINDS))
    truth, model = run.arrays["truth"], run.arrays["model"]
    for step, row in zip(steps_of(run), scored["rows"], strict=True):
        row["pairs_of_a_model"], row["mixed"] = mixed_pairs(truth, model, run.arrays[step])
    models = [set(truth[model == m].tolist()) for m in set(model.tolist()) - {-1}]
    return {
        "set": name,
        "models": len(models),
        "models_of_several": sum(len(bodies) > 1 for bodies in models),
        **scored,
        "runs": [{"seed": 0, "seconds": run.facts["seconds"]}],
    }


def mixed_pairs(truth: Places, model: Places, labels: Places) -> tuple[int, int]:
    """Pairs of photos by two bodies of one model, and how many of them are in one group."""
    alike = (model[:, np.newaxis] == model) & (model >= 0)
    pairs = np.triu(alike & (truth[:, np.newaxis] != truth), 1)
    together = (labels[:, np.newaxis] == labels) & (labels >= 0)
    return int(pairs.sum()), int((pairs & together).sum())


def _plot(result: Result) -> "Figure":
    return plot_kinds(result, KINDS)


_ABOUT = "Whole originals as they are; search, placed and wrong as in [views](#views)."


def _tell(result: Result) -> Told:
    first, last = result["rows"][0], result["rows"][-1]
    bodies = (
        f"; of {last['pairs_of_a_model']} pairs by two bodies of one model {last['mixed']} are in "
        "one group"
        if last["pairs_of_a_model"]
        else ""
    )
    said = (
        f"{first['n_images']} photos by {first['n_cameras']} cameras of "
        f"{result['models']} models: {scored_words(result)}{bodies}."
    )
    return Told([said], kinds_table(result, KINDS))


EXPERIMENT = Experiment(
    "phones",
    "Beyond the paper: weak cameras, digital zoom, bodies of one model",
    _run,
    _score,
    _plot,
    _ABOUT,
    _tell,
    takes_data=True,
)
