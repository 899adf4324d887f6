"""Share of the machine's own matrix rate that forming the correlations reaches.

Fingerprints of 512² in a store in the page cache, against ssyrk and sgemm on arrays in memory.

python -m benchmarks.gram [--photos N]
"""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from scipy.linalg.blas import ssyrk

from benchmarks.record import best, folder_of, parser, write
from samecam import correlate
from samecam.store import DiskStore, Frame

SIDE, QUICK_SIDE = 512, 64
WIDTH = 8192
DTYPES: tuple[Literal["float16", "int8"], ...] = ("float16", "int8")


def rates(n: int, width: int = WIDTH) -> tuple[float, float]:
    """Gflop/s of one part: a triangle by ssyrk (n² · width), a square by sgemm (twice that)."""
    X = np.random.default_rng(0).standard_normal((n, width), dtype=np.float32)
    out = np.zeros((n, n), dtype=np.float32, order="F")
    triangle = best(lambda: ssyrk(1.0, X.T, beta=1.0, c=out, trans=1, overwrite_c=1))
    square = best(lambda: np.matmul(X, X[::-1].T))
    return n * n * width / triangle / 1e9, 2 * n * n * width / square / 1e9


def measure(n: int, d: int, dtype: Literal["float16", "int8"]) -> dict[str, Any]:
    """Seconds and share of the rate for a store of that type."""
    rng = np.random.default_rng(0)
    with (
        tempfile.TemporaryDirectory() as scratch,
        DiskStore.create(Path(scratch) / "s", frame=Frame(d, 1), dtype=dtype) as store,
    ):
        for k in range(n):
            x = rng.standard_normal(d, dtype=np.float32)
            store.add(f"{k:06d}", x / np.linalg.norm(x))
        store.commit()
        rows = store.rows()
        correlate.gram(rows, rows=np.arange(min(n, 50)))  # compiled code
        before = rates(n)
        seconds = best(lambda: correlate.gram(rows), 2)
        after = rates(n)
        reading = best(lambda: [0 for _ in rows.columns(WIDTH)], 2)
    triangle, square = (max(a, b) for a, b in zip(before, after, strict=True))
    reached = n * n * d / seconds / 1e9
    print(
        f"{dtype}: {seconds:.2f} s, {reached:.0f} Gflop/s of the triangle: "
        f"{reached / triangle:.0%} of ssyrk ({triangle:.0f}), {reached / square:.0%} of sgemm "
        f"({square:.0f}); reading alone {reading:.2f} s"
    )
    return {
        "dtype": dtype,
        "seconds": seconds,
        "reading_seconds": reading,
        "gflops": reached,
        "ssyrk_gflops": triangle,
        "sgemm_gflops": square,
        "share_of_ssyrk": reached / triangle,
        "share_of_sgemm": reached / square,
    }


def main(arguments: Sequence[str] | None = None) -> None:
    asked = parser(__doc__)
    asked.add_argument("--photos", type=int, default=2000)
    options = asked.parse_args(arguments)
    n, side = (60, QUICK_SIDE) if options.quick else (options.photos, SIDE)
    rows = [measure(n, side * side, dtype) for dtype in DTYPES]
    write("gram", rows, folder=folder_of(options), photos=n, n_pixels=side * side)


if __name__ == "__main__":
    main()
