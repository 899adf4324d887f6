"""What an experiment is, and what it is given."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from samecam.experiments._study import Study
from samecam.pages import bullets

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Progress = Callable[[str, int, int], None]
Result = Mapping[str, Any]

# Runs of a method with chance in it: as in the paper, and with --quick.
RUNS, QUICK_RUNS = 10, 3


def silent(_phase: str, _done: int, _total: int) -> None:
    """Report progress to nobody."""


@dataclass(frozen=True, slots=True)
class Context:
    """What an experiment is given.

    Attributes
    ----------
    study : where runs are saved and loaded from
    quick : fewer configurations and runs; what is run is also part of the full study
    data : root of a real collection; None: simulated twins
    progress : progress(phase, done, total)
    workers : processes; None: one for each core
    memory : bytes; None: half of what is free
    device : "auto", "cpu", "cuda", "cuda:K" or "torch-cpu"
    repeats : runs of a method with chance in it; None: 10, or 3 if quick
    """

    study: Study
    quick: bool = False
    data: Path | None = None
    progress: Progress = silent
    workers: int | None = None
    memory: int | None = None
    device: str = "auto"
    repeats: int | None = None

    @property
    def runs(self) -> int:
        """Runs of a method with chance in it; its seeds are 0, 1, …"""
        return self.repeats or (QUICK_RUNS if self.quick else RUNS)


class Told(NamedTuple):
    """What is said of a result, in markdown.

    Attributes
    ----------
    sentences : what matters; empty ones are left out
    table : the numbers
    """

    sentences: Sequence[str]
    table: str

    @property
    def said(self) -> str:
        """The sentences as a list, or alone."""
        there = [sentence for sentence in self.sentences if sentence]
        return there[0] if len(there) == 1 else bullets(there)


@dataclass(frozen=True, slots=True)
class Experiment:
    """One table or figure of the paper, ours beside theirs.

    Attributes
    ----------
    name : what the command line calls it
    title : one line: what of the paper, and what it shows
    run : makes all runs, into `context.study`; scores nothing
    score : the result from the saved runs, ready for JSON. Its key "runs" lists every run
        (a dict each: what it was, seed, scores, seconds); the other keys are the experiment's
    plot : the picture of a result, as it was read back from JSON
    about : how its tables are to be read, in a sentence or two; no number of a result
    tell : what is said of a result: the sentences that matter and one table; every number comes
        from the result, which has the rest
    takes_data : whether it also runs on a real collection
    """

    name: str
    title: str
    run: Callable[[Context], None]
    score: Callable[[Study, Context], dict[str, Any]]
    plot: Callable[[Result], "Figure"]
    about: str
    tell: Callable[[Result], Told]
    takes_data: bool = False

    def text(self, result: Result) -> str:
        """All that is said of a result, in markdown."""
        told = self.tell(result)
        return f"{told.said}\n\n{told.table}"
