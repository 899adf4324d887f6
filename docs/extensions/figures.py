"""Pictures of the gallery: what an example calls `figure`, saved as a user would save it.

Figures of samecam are not pyplot's, which is where sphinx-gallery looks by itself.
"""

from pathlib import Path
from typing import Any

from sphinx_gallery.scrapers import figure_rst


def save_figure(_block: Any, variables: dict[str, Any], settings: dict[str, Any]) -> str:
    """The picture of a block of code, as reStructuredText; "" if it drew none."""
    figure = variables["example_globals"].pop("figure", None)
    if figure is None:
        return ""
    path = next(variables["image_path_iterator"])
    figure.savefig(path, dpi=120)
    name = Path(variables["src_file"]).stem.removeprefix("plot_")
    return str(figure_rst([path], settings["src_dir"], name))


def _get_sg_image_scraper() -> Any:
    return save_figure
