"""Options that say how photos are grouped."""

from typing import TYPE_CHECKING, Any

import click

from samecam.cli._command import choice, option, together
from samecam.cli._options import seed_option
from samecam.cli._types import Count, Gamma, Rate

if TYPE_CHECKING:
    from samecam.case import ClusteringSettings

# Published by others, to compare with: `samecam.cluster.RIVALS`, which would be slow to import.
_RIVALS = (
    *("msc", "lin-ls", "ccc", "hierarchical", "mrf", "ncuts", "bloy"),
    *("hdbscan", "average-linkage"),
)
METHODS = ("consolidated", "ssc-nc", "ls-ssc", "ssc", *_RIVALS)
EPILOG = (
    "Methods: auto is consolidated, ours; ssc-nc, ls-ssc and ssc are the paper's and its "
    f"forerunner; published by others, to compare with: {', '.join(_RIVALS)}."
)
# How far to look for views of one camera: `samecam.case.SEARCHES`, likewise.
SEARCHES = ("normal", "quick", "deep", "off")
SEARCH_HELP = "Views of one camera: quick, normal, deep, off."
# What the options below are called in a method.
_PARAMETERS = (
    *("found_rate", "join_rate", "merge_rate", "gamma", "solver", "n_clusters"),
    *("batch_size", "false_alarm", "n_neighbours", "recycling"),
)

method_options = together(
    option(
        "--method",
        type=click.Choice(("auto", *METHODS)),
        metavar="NAME",
        default="auto",
        show_default=True,
        help="How photos are grouped; the names are below.",
    ),
    choice("--search", *SEARCHES, section="Grouping", metavar="HOW", help=SEARCH_HELP),
    seed_option,
    option(
        "--found-rate",
        type=Rate(),
        section="Grouping",
        show_default="0.001",
        help="Chance that noise alone makes any group.",
    ),
    option(
        "--join-rate",
        type=Rate(),
        section="Grouping",
        show_default="0.01",
        help="Chance that a stranger joins a group.",
    ),
    option(
        "--merge-rate",
        type=Rate(),
        section="Grouping",
        show_default="0.001",
        help="Chance that two cameras become one group.",
    ),
    option(
        "--batch-size",
        type=Count(2),
        section="Research methods",
        show_default="by --memory",
        help="Photos at a time (consolidated, ls-ssc).",
    ),
    option(
        "--gamma",
        type=Gamma(),
        section="Research methods",
        show_default="auto",
        help="Weight of sparsity (ssc, ssc-nc, ls-ssc).",
    ),
    option(
        "--solver",
        type=click.Choice(["exact", "admm", "authors"]),
        section="Research methods",
        show_default="exact",
        help="Solver of the LASSO (ssc, ssc-nc).",
    ),
    option(
        "--clusters",
        "n_clusters",
        type=Count(),
        section="Research methods",
        help="Number of cameras, if it is known (ssc, ssc-nc).",
    ),
    option(
        "--false-alarm",
        type=Rate(),
        section="Research methods",
        show_default="0.001",
        help="Chance to attract a stranger (ls-ssc).",
    ),
    option(
        "--neighbours",
        "n_neighbours",
        type=Count(2),
        section="Research methods",
        show_default="5",
        help="K, coefficients kept of each photo (ls-ssc).",
    ),
    option(
        "--recycling",
        type=Count(0),
        section="Research methods",
        show_default="until one finds nothing",
        help="R, rounds (ls-ssc).",
    ),
    option(
        "--tuned",
        metavar="FILE.json",
        section="Research methods",
        help="What samecam tune chose (ls-ssc); options beside it win.",
    ),
)


def take_grouping(options: dict[str, Any]) -> "ClusteringSettings":
    """Take the options of grouping out of all options; the preset stays, it is for both."""
    from samecam.case import ClusteringSettings, read_tuned

    tuned = options.pop("tuned")
    given = {name: options.pop(name) for name in _PARAMETERS}
    given = {name: value for name, value in given.items() if value is not None}
    chosen = None if tuned is None else read_tuned(tuned)
    method, seed, preset = options.pop("method"), options.pop("seed"), options["preset"]
    return ClusteringSettings(method, given, seed, preset, chosen, options.pop("search"))
