"""Table III: photographs that were compressed a second time."""

from typing import TYPE_CHECKING, Any

from samecam.experiments._experiment import Context, Experiment, Result
from samecam.experiments._paper import QUALITIES, TABLE_III
from samecam.experiments._photo_level import plot_photos, run_photos, score_photos
from samecam.experiments._photo_sets import JUDGED, PhotoSet, Setting, allowed_sides
from samecam.experiments._photo_text import introduce, tables, where_behind
from samecam.experiments._study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

QUICK_QUALITIES = (50, 65, 80, 95)
# Squares of real photographs; the paper's, and the largest.
SIDES = (JUDGED, 1024)


def settings(photos: PhotoSet, quick: bool) -> list[Setting]:
    """The originals, and all qualities; of real photographs also at 1024 pixels."""
    sides = allowed_sides(photos, SIDES if photos.kind == "real" else (JUDGED,))
    qualities = (None, *(QUICK_QUALITIES if quick else QUALITIES))
    return [Setting(quality, side) for quality in qualities for side in sides]


def run(context: Context) -> None:
    """Make all runs."""
    run_photos(context, "double-jpeg", settings)


def score(study: Study, context: Context) -> dict[str, Any]:
    """Scores by quality, and Table III."""
    printed = {
        str(quality): {name: values[k] for name, values in TABLE_III.items()}
        for k, quality in enumerate(QUALITIES)
    }
    return score_photos(study, context, "quality", printed)


def plot(result: Result) -> "Figure":
    """F against the quality."""
    return plot_photos(result)


_WIDER = "A second compression widens chance itself. "
_AGAIN = (
    "Every photo is saved once more as JPEG by Pillow (the quality alone is given; colour is "
    "halved), where the paper used ImageMagick; none is the photo as it was."
)


def text(result: Result) -> str:
    """The section of the page."""
    scales = dict(zip(map(tuple, result["set"]["settings"]), result["null_scales"], strict=True))
    once = scales[None, JUDGED]
    worst = max(value for (_, side), value in scales.items() if side == JUDGED)
    return "\n\n".join(
        [
            introduce(result, [_AGAIN]),
            tables(result),
            where_behind(result),
            f"{_WIDER if worst > once else ''}The measured scale of chance at "
            f"{JUDGED} × {JUDGED} is {once:.5f} for the originals and up to {worst:.5f} after it "
            f"({worst / once:.2f} times that), against 1/√d = {1 / JUDGED:.5f}, which "
            "LS-SSC in its published form takes for it.",
        ]
    )


EXPERIMENT = Experiment(
    "double-jpeg",
    "Table III: a second JPEG compression",
    run,
    score,
    plot,
    text,
    takes_data=True,
)
