"""`samecam tune`."""

import shlex
from typing import TYPE_CHECKING, Any

import click

from samecam.cli._command import choice, command, option, together
from samecam.cli._options import (
    file_option,
    memory_option,
    output_options,
    seed_option,
    take_resources,
    truth_option,
)
from samecam.cli._output import print_json, say
from samecam.cli._progress import Phases
from samecam.cli._text import counted
from samecam.cli._types import Count

if TYPE_CHECKING:
    from samecam.case import Tuning


@command()
@click.argument("case", type=click.Path())
@truth_option
@file_option("--out", "CASE/tune.json", "The result; its picture is put beside it.")
@choice("--by", "f", "cost", help="What decides on γ: f, known cameras; cost, the published one.")
@option(
    "--runs",
    type=Count(),
    default=10,
    show_default=True,
    help="Splits into batches for K and the rounds of recycling.",
)
@option(
    "--photos",
    "most",
    type=Count(8),
    default=1000,
    show_default=True,
    help="Photos to look at; of more, so many are drawn.",
)
@together(seed_option, memory_option("the correlations"), output_options)
def tune(case: str, truth: str, as_json: bool, quiet: bool, **options: Any) -> int:
    """Choose the parameters of the paper's methods on photos whose cameras are known.

    CASE is a case with fingerprints; only its good photos that TRUTH.csv names are looked
    at. Chosen are γ, the weight of sparsity; K, the neighbours of a photo, and R, the rounds
    of recycling of ls-ssc; and the threshold at which it merges groups. The answer in
    CASE stays as it is; samecam cluster --method ls-ssc --tuned takes the file. The default
    method needs none of this: it measures what it needs.

    Example:  samecam tune CASE --truth truth.csv
    """
    from samecam.case import tune_case

    memory = take_resources(options).memory
    with Phases(quiet=quiet) as phases:
        result = tune_case(case, truth, memory=memory, progress=phases, **options)
    if as_json:
        print_json(result.as_dict())
    else:
        say(_summary(result), quiet=quiet)
    return 0


def _summary(result: "Tuning") -> list[str]:
    gamma, rounds, fit = result.gamma, result.recycling, result.regressor
    at = gamma.candidates.index(gamma.gamma)
    place = rounds.neighbours.index(rounds.n_neighbours)
    precision = rounds.precision[place, rounds.recycling].mean()
    discovered = rounds.discovered[place, rounds.recycling].mean()
    size, correlation, bias = fit.regressor
    told = f" of {result.of}" if result.of > result.photos else ""
    other = f"the cost would choose {gamma.by_cost:.2g}"
    if gamma.by == "cost":
        other = f"F would choose {gamma.by_f:.2g}"
    lines = [
        f"Looked at: {result.photos}{told} photos of {counted(result.cameras, 'camera')}",
        f"γ = {gamma.gamma:.2g}: F of ssc-nc {gamma.f[at]:.4f}; {other}",
        *_edge_lines(result),
        f"K = {rounds.n_neighbours}, R = {rounds.recycling} in {result.n_batches} batches: "
        f"precision {precision:.4f}, {discovered:.0%} of the cameras found before attraction",
        f"Merging above {size:.4f}·(n_A + n_B) + {correlation:.4f}·(ρ_A + ρ_B) "
        f"{'+' if bias >= 0 else '−'} {abs(bias):.4f}: explains {fit.explained:.0%} of what "
        f"{len(fit.pairs)} pairs of groups show",
        "",
        "Use it:  samecam cluster PHOTOS... -o CASE --method ls-ssc --tuned "
        f"{shlex.quote(str(result.file))}",
        f"         samecam cluster PHOTOS... -o CASE --method ssc-nc --gamma {gamma.gamma:.3g}",
    ]
    files = [str(path) for path in (result.file, result.picture) if path is not None]
    lines.append(f"Written: {', '.join(files)}")
    if result.picture is None:
        lines.append("There is no picture, because matplotlib is missing: install samecam[plots].")
    return lines


def _edge_lines(result: "Tuning") -> list[str]:
    """What γ was taken from, if F says no more than that the range was too short."""
    gamma = result.gamma
    if gamma.by != "f" or not gamma.at_edge:
        return []
    low, high = gamma.plateau
    return [
        f"    F is as good from {low:.2g} to {high:.2g}, an end of what was tried, so it does not "
        "tell γ: taken is the",
        f"    nearest of these to twice the scale of chance, {gamma.default:.2g}, our default",
    ]
