"""The paper's tables and figures made again, ours beside theirs; and a benchmark for any method."""

from samecam.experiments._experiment import Context, Experiment
from samecam.experiments._list import EXPERIMENTS, Entry, experiment
from samecam.experiments._page import results_page, write_page
from samecam.experiments._results import conduct, read_result
from samecam.experiments._study import Run, Study
from samecam.experiments.benchmarking import Benchmark, benchmark

__all__ = [
    "EXPERIMENTS",
    "Benchmark",
    "Context",
    "Entry",
    "Experiment",
    "Run",
    "Study",
    "benchmark",
    "conduct",
    "experiment",
    "read_result",
    "results_page",
    "write_page",
]
