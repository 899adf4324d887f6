"""The fused denoiser against the reference and its floor, one core, side by side.

python -m benchmarks.residual [--repeats N]
"""

import argparse

import numpy as np

from benchmarks.record import interleaved, write
from samecam.fingerprint import fingerprint, noise_residual
from tests.reference import residual as reference


def picture(side):
    rng = np.random.default_rng(0)
    y, x = np.mgrid[:side, :side]
    base = 110 + 60 * np.sin(x / 29) + 50 * np.cos(y / 17)
    return np.clip(base[..., None] + rng.normal(0, 4, (side, side, 3)), 0, 255).astype(np.uint8)


def operations(side):
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


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=30)
    options = parser.parse_args()
    rows = []
    print(
        f"{'side':>5} {'reference':>10} {'residual':>9} {'ratio':>6} "
        f"{'fingerprint':>12} {'Gflop/s':>8}"
    )
    for side in (256, 512, 1024):
        image = picture(side)
        times = interleaved(
            {
                "reference": lambda image=image: reference.noise_residual(image),
                "residual": lambda image=image: noise_residual(image),
                "fingerprint": lambda image=image: fingerprint(image),
            },
            options.repeats,
        )
        ratio = times["reference"] / times["residual"]
        rate = operations(side) / times["residual"] / 1e9
        rows.append(
            {
                "side": side,
                **{f"{k}_ms": 1e3 * v for k, v in times.items()},
                "ratio": ratio,
                "operations": operations(side),
                "gflops": rate,
            }
        )
        print(
            f"{side:5d} {1e3 * times['reference']:7.1f} ms {1e3 * times['residual']:6.2f} ms "
            f"{ratio:5.1f}× {1e3 * times['fingerprint']:9.2f} ms {rate:8.1f}"
        )
    write("residual", rows, repeats=options.repeats, threads=1)


if __name__ == "__main__":
    main()
