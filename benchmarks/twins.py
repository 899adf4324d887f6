"""LS-SSC with the published constants on the simulated twins, beside what the paper prints.

The twins are fixed; this shows again what they were chosen by. Large ones take minutes each.

python -m benchmarks.twins [--runs N] [NAME ...]
"""

import argparse
import time

import numpy as np

from benchmarks.record import write
from samecam.cluster import LargeScaleSSC
from samecam.datasets import twin, twins
from samecam.metrics import scores


def measure(name, runs):
    found = twin(name)
    wanted = found.configuration
    batches = {"n_batches": wanted.batches} if wanted.batches else {"batch_size": 4000}
    G, labels = found.gram()
    reached, began = [], time.perf_counter()
    for seed in range(runs):
        method = LargeScaleSSC(
            preset="paper",
            metric="precomputed",
            n_pixels=found.n_pixels,
            random_state=seed,
            **batches,
        )
        score = scores(labels, method.fit(G).labels_)
        reached.append(
            (score.f, score.precision, score.recall, score.n_clusters, score.n_unclustered)
        )
    mean = dict(
        zip(("F", "P", "R", "clusters", "unclustered"), np.mean(reached, axis=0), strict=True)
    )
    row = {
        "twin": name,
        "images": found.n_images,
        "cameras": wanted.cameras,
        "runs": runs,
        "F_all": [r[0] for r in reached],
        "printed": dict(wanted.printed),
        "seconds": (time.perf_counter() - began) / runs,
    } | {key: float(value) for key, value in mean.items()}
    print(
        f"{name:16} F {row['F']:.3f} P {row['P']:.3f} R {row['R']:.3f} {row['clusters']:6.1f}"
        f"/{row['cameras']:<4} {row['unclustered']:6.1f} {row['seconds']:6.1f} s {row['printed']}",
        flush=True,
    )
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="all by default")
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    rows = [measure(name, options.runs) for name in options.names or twins()]
    write("twins", rows, runs=options.runs)


if __name__ == "__main__":
    main()
