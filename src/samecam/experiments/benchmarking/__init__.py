"""Any method on the fixed sets, or on a real collection: run, scored, put in order."""

from samecam.experiments.benchmarking._benchmark import benchmark
from samecam.experiments.benchmarking._result import Benchmark

__all__ = ["Benchmark", "benchmark"]
