"""The fused denoiser against the reference and its floor, one core, side by side.

python -m benchmarks.residual [--repeats N]
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from benchmarks.record import folder_of, interleaved, parser, write
from samecam.arrays import Pixels
from samecam.fingerprint import fingerprint, noise_residual
from tests.reference import residual as reference

SIDES, QUICK_SIDES = (256, 512, 1024), (64, 128)


def picture(side: int) -> Pixels:
    rng = np.random.default_rng(0)
    y, x = np.mgrid[:side, :side]
    base = 110 + 60 * np.sin(x / 29) + 50 * np.cos(y / 17)
    shot = base[..., None] + rng.normal(0, 4, (side, side, 3))
    return np.asarray(np.clip(shot, 0, 255), dtype=np.uint8)


def operations(side: int) -> int:
    """Floating-point operations of one residual of three channels (transform, shrinkage)."""
    total, length = 0, side
    for _ in range(4):
        band = (length + 7) // 2
        transform = 2 * 16 * 2 * band * length  # both passes, 16 a coefficient, there and back
        transform += 2 * 16 * 4 * band * band
        shrink = 3 * band * band * (1 + 8 + 20 + 12)
        total += transform + shrink
        length = band
    return 3 * total


def measure(side: int, repeats: int) -> dict[str, Any]:
    image = picture(side)
    times = interleaved(
        {
            "reference": partial(reference.noise_residual, image),
            "residual": partial(noise_residual, image),
            "fingerprint": partial(fingerprint, image),
        },
        repeats,
    )
    ratio = times["reference"] / times["residual"]
    rate = operations(side) / times["residual"] / 1e9
    print(
        f"{side:5d} {1e3 * times['reference']:7.1f} ms {1e3 * times['residual']:6.2f} ms "
        f"{ratio:5.1f}× {1e3 * times['fingerprint']:9.2f} ms {rate:8.1f}"
    )
    return {
        "side": side,
        **{f"{k}_ms": 1e3 * v for k, v in times.items()},
        "ratio": ratio,
        "operations": operations(side),
        "gflops": rate,
    }


def main(arguments: Sequence[str] | None = None) -> None:
    asked = parser(__doc__)
    asked.add_argument("--repeats", type=int, default=30)
    options = asked.parse_args(arguments)
    sides, repeats = (QUICK_SIDES, 2) if options.quick else (SIDES, options.repeats)
    print(
        f"{'side':>5} {'reference':>10} {'residual':>9} {'ratio':>6} "
        f"{'fingerprint':>12} {'Gflop/s':>8}"
    )
    rows = [measure(side, repeats) for side in sides]
    write("residual", rows, folder=folder_of(options), repeats=repeats, threads=1)


if __name__ == "__main__":
    main()
