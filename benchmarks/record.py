"""How a benchmark is timed and written down: the same way everywhere.

Warm up first, repeat, take the median; compare only what was timed in one run.
"""

import json
import os
import platform
import statistics
import subprocess
import time
from pathlib import Path

from samecam.provenance import versions

RESULTS = Path(__file__).parent / "results"


def median_seconds(function, repeats):
    """Median and interquartile range of `repeats` timed calls after one for warming up."""
    function()
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        function()
        times.append(time.perf_counter() - began)
    quarters = statistics.quantiles(times, n=4) if repeats > 1 else [times[0]] * 3
    return statistics.median(times), quarters[2] - quarters[0]


def interleaved(functions, repeats):
    """Median seconds of several functions called in turn, so that all meet the same machine."""
    times = {name: [] for name in functions}
    for function in functions.values():
        function()
    for _ in range(repeats):
        for name, function in functions.items():
            began = time.perf_counter()
            function()
            times[name].append(time.perf_counter() - began)
    return {name: statistics.median(values) for name, values in times.items()}


def processor():
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor()


def write(name, result, **settings):
    """Write results/NAME.json with everything needed to make it again."""
    git = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(git, capture_output=True, text=True).stdout.strip()
    document = {
        "benchmark": name,
        "command": f"python -m benchmarks.{name}",
        "commit": commit,
        "versions": versions(),
        "processor": processor(),
        "cores": os.cpu_count(),
        "settings": settings,
        "result": result,
    }
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps(document, indent=2) + "\n")
    print(f"written: {path}")
