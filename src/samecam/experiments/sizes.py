"""Table IV: squares of different size of the same photographs."""

from typing import TYPE_CHECKING, Any

from samecam.experiments._experiment import Context, Experiment, Result
from samecam.experiments._paper import SIDES, TABLE_IV
from samecam.experiments._photo_level import plot_photos, run_photos, score_photos
from samecam.experiments._photo_sets import PhotoSet, Setting, allowed_sides
from samecam.experiments._photo_text import introduce, tables, where_behind
from samecam.experiments._study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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


def plot(result: Result) -> "Figure":
    """F against the side."""
    return plot_photos(result)


def text(result: Result) -> str:
    """The section of the page."""
    return "\n\n".join(
        [
            introduce(result, ["All squares are cut from the top left corner."]),
            tables(result),
            where_behind(result),
        ]
    )


EXPERIMENT = Experiment(
    "sizes",
    "Table IV: squares of 256 to 1024 pixels",
    run,
    score,
    plot,
    text,
    takes_data=True,
)
