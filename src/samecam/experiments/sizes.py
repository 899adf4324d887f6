"""Table IV: squares of different size of the same photographs."""

from typing import Any

from samecam.experiments._experiment import Context, Experiment
from samecam.experiments._paper import SIDES, TABLE_IV
from samecam.experiments._photo_level import plot_photos, run_photos, score_photos
from samecam.experiments._photo_sets import PhotoSet, Setting, allowed_sides
from samecam.experiments._photo_text import tell
from samecam.experiments._study import Study


def settings(photos: PhotoSet, _quick: bool) -> list[Setting]:
    """The four squares of the paper, or those that the photos hold."""
    return [Setting(None, side) for side in allowed_sides(photos, SIDES)]


def run(context: Context) -> None:
    """Make all runs."""
    run_photos(context, "sizes", settings)


def score(study: Study, context: Context) -> dict[str, Any]:
    """Scores by side, and Table IV."""
    printed = {
        str(side): {name: values[k] for name, values in TABLE_IV.items()}
        for k, side in enumerate(SIDES)
    }
    return score_photos(study, context, "side", printed)


EXPERIMENT = Experiment(
    "sizes",
    "Table IV: squares of 256 to 1024 pixels",
    run,
    score,
    plot_photos,
    "Squares from the top left corner; otherwise as [double-jpeg](#double-jpeg).",
    tell,
    takes_data=True,
)
