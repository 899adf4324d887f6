"""Share of the machine's own matrix rate that forming the correlations reaches.

Fingerprints of 512² in a store in the page cache, against ssyrk and sgemm on arrays in memory.

python -m benchmarks.gram [--photos N]
"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
from scipy.linalg.blas import ssyrk

from benchmarks.record import write
from samecam import correlate
from samecam.store import DiskStore

SIDE = 512


def best(function, repeats=3):
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        function()
        times.append(time.perf_counter() - began)
    return min(times)


def rates(n, width=8192):
    """Gflop/s of one part: a triangle by ssyrk (n² · width), a square by sgemm (twice that)."""
    X = np.random.default_rng(0).standard_normal((n, width), dtype=np.float32)
    out = np.zeros((n, n), dtype=np.float32, order="F")
    triangle = best(lambda: ssyrk(1.0, X.T, beta=1.0, c=out, trans=1, overwrite_c=1))
    square = best(lambda: np.matmul(X, X[::-1].T))
    return n * n * width / triangle / 1e9, 2 * n * n * width / square / 1e9


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--photos", type=int, default=2000)
    options = parser.parse_args()
    n, d = options.photos, SIDE * SIDE
    rng = np.random.default_rng(0)
    rows = []
    for dtype in ("float16", "int8"):
        with (
            tempfile.TemporaryDirectory() as scratch,
            DiskStore.create(Path(scratch) / "s", n_pixels=d, dtype=dtype) as store,
        ):
            for k in range(n):
                x = rng.standard_normal(d, dtype=np.float32)
                store.add(f"{k:06d}", x / np.linalg.norm(x))
            store.commit()
            correlate.gram(store, rows=np.arange(50))  # compiled code
            before = rates(n)
            seconds = best(lambda store=store: correlate.gram(store), 2)
            after = rates(n)
            reading = best(lambda store=store: [0 for _ in store.columns(8192)], 2)
        triangle, square = (max(a, b) for a, b in zip(before, after, strict=True))
        reached = n * n * d / seconds / 1e9
        rows.append(
            {
                "dtype": dtype,
                "seconds": seconds,
                "reading_seconds": reading,
                "gflops": reached,
                "ssyrk_gflops": triangle,
                "sgemm_gflops": square,
                "share_of_ssyrk": reached / triangle,
                "share_of_sgemm": reached / square,
            }
        )
        print(
            f"{dtype}: {seconds:.2f} s, {reached:.0f} Gflop/s of the triangle: "
            f"{reached / triangle:.0%} of ssyrk ({triangle:.0f}), {reached / square:.0%} of sgemm "
            f"({square:.0f}); reading alone {reading:.2f} s"
        )
    write("gram", rows, photos=n, n_pixels=d)


if __name__ == "__main__":
    main()
