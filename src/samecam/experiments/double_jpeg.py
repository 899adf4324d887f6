"""Table III: photographs that were compressed a second time."""

from typing import Any

from samecam.experiments._experiment import Context, Experiment
from samecam.experiments._paper import QUALITIES, TABLE_III
from samecam.experiments._photo_level import plot_photos, run_photos, score_photos
from samecam.experiments._photo_sets import JUDGED, PhotoSet, Setting, allowed_sides
from samecam.experiments._photo_text import ABOUT, tell
from samecam.experiments._study import Study

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


_ABOUT = (
    f"Every photo is saved once more as JPEG by Pillow, where the paper used ImageMagick; none: as "
    f"it was. The table is of squares of {JUDGED} pixels. {ABOUT}"
)


EXPERIMENT = Experiment(
    "double-jpeg",
    "Table III: a second JPEG compression",
    run,
    score,
    plot_photos,
    _ABOUT,
    tell,
    takes_data=True,
)
