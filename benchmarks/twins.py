"""LS-SSC with the published constants on the simulated twins, beside what the paper prints.

The twins are fixed; this shows again what they were chosen by. Large ones take minutes each.

python -m benchmarks.twins [--runs N] [NAME ...]
"""

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.record import folder_of, parser, write
from samecam.cluster import LargeScaleSSC
from samecam.datasets import twin, twins
from samecam.metrics import scores

BATCH = 4000
QUICK = ("phan-D1",)


def measure(name: str, runs: int) -> dict[str, Any]:
    model = twin(name)
    wanted = model.configuration
    G, labels = model.gram()
    reached, began = [], time.perf_counter()
    for seed in range(runs):
        method = LargeScaleSSC(
            preset="paper",
            metric="precomputed",
            n_pixels=model.n_pixels,
            random_state=seed,
            n_batches=wanted.batches or None,
            batch_size=None if wanted.batches else BATCH,
        )
        score = scores(labels, method.fit(G).labels_)
        reached.append(
            (score.f, score.precision, score.recall, score.n_clusters, score.n_unclustered)
        )
    names = ("F", "P", "R", "clusters", "unclustered")
    mean = dict(zip(names, np.mean(reached, axis=0).tolist(), strict=True))
    row = {
        "twin": name,
        "images": model.n_images,
        "cameras": wanted.cameras,
        "runs": runs,
        "F_all": [r[0] for r in reached],
        "printed": dict(wanted.printed),
        "seconds": (time.perf_counter() - began) / runs,
        **mean,
    }
    print(
        f"{name:16} F {row['F']:.3f} P {row['P']:.3f} R {row['R']:.3f} {row['clusters']:6.1f}"
        f"/{row['cameras']:<4} {row['unclustered']:6.1f} {row['seconds']:6.1f} s {row['printed']}",
        flush=True,
    )
    return row


def main(arguments: Sequence[str] | None = None) -> None:
    asked = parser(__doc__)
    asked.add_argument("names", nargs="*", metavar="NAME", help="all by default")
    asked.add_argument("--runs", type=int, default=3)
    options = asked.parse_args(arguments)
    names, runs = (QUICK, 1) if options.quick else (options.names or twins(), options.runs)
    rows = [measure(name, runs) for name in names]
    write("twins", rows, folder=folder_of(options), runs=runs)


if __name__ == "__main__":
    main()
