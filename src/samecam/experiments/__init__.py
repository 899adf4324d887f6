"""The paper's tables and figures made again, ours beside theirs."""

from samecam.experiments._experiment import Context, Experiment
from samecam.experiments._list import EXPERIMENTS, Entry, experiment
from samecam.experiments._page import results_page, write_page
from samecam.experiments._results import conduct, read_result
from samecam.experiments._study import Run, Study

__all__ = [
    "EXPERIMENTS",
    "Context",
    "Entry",
    "Experiment",
    "Run",
    "Study",
    "conduct",
    "experiment",
    "read_result",
    "results_page",
    "write_page",
]
