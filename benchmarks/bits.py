"""Correlations of whole frames: one and two bits a pixel by popcount, float32 by BLAS.

python -m benchmarks.bits [--photos 96] [--pixels 12000000]

Both in one run, in turn, of the same pixels, on one thread and on two. Of one thread the seconds
are those the processor spent, which other work on the machine does not lengthen; of two they are
of the clock on the wall. The least of some runs counts. Of the float32 the time is also given
without unpacking, that is of ssyrk alone. Floors: vector popcounts at the measured clock (8 words
a cycle, where the processor has them; XOR and addition share ports with them), the same kernel on
rows in the second cache, and reading all rows once at the rate at which memory is copied. Sums over
groups likewise, of ten times the photos and a tenth of the pixels: every photo with every group.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.bit_sets import simulated
from benchmarks.record import folder_of, parser, write
from samecam import compute, correlate
from samecam.arrays import Floats, Rows
from samecam.correlate._bit_kernels import count_differences
from samecam.store import BitRows, FingerprintStore, Record

PHOTOS, PIXELS, GROUP, REPEATS = 96, 12_000_000, 40, 5
QUICK = (24, 20_000)
COPIED, QUICK_COPIED = 2**27, 2**20  # numbers that are copied to see how fast memory is
# Words that a vector instruction counts in a cycle: 512 bits.
WORDS_PER_CYCLE = 8
LINK_CYCLES = 5
WIDTH = 8192


class AsNumbers(FingerprintStore):
    """The same rows as float32, unpacked whenever they are read."""

    def __init__(self, bits: BitRows) -> None:
        self.bits, self.n_pixels = bits, bits.n_pixels

    @property
    def keys(self) -> Sequence[str]:
        return self.bits.keys

    @property
    def hashes(self) -> Sequence[str]:
        return self.bits.hashes

    @property
    def row_bytes(self) -> int:
        return self.bits.row_bytes

    def records(self) -> list[Record]:
        return self.bits.records()

    def columns(self, width: int, rows: Rows | None = None) -> Iterator[tuple[int, Floats]]:
        return self.bits.columns(width, rows)

    def read_into(self, rows: Rows, out: Floats) -> None:
        self.bits.read_into(rows, out)


@compute.jit()
def chain(x: np.uint64, times: int) -> np.uint64:
    """Multiply (3 cycles), shift and XOR (1 each), each waiting for the one before."""
    for _ in range(times):
        x *= np.uint64(6364136223846793005)
        x ^= x >> np.uint64(29)
    return x


def clock() -> float:
    """Cycles a second, from how long a chain of dependent instructions takes."""
    times, start = 10**7, np.uint64(3)
    chain(start, times)
    return LINK_CYCLES * times / spent(lambda: chain(start, times))


def spent(function: Callable[[], object]) -> float:
    """Least seconds of the processor of some calls."""
    return least({"": function}, time.process_time, REPEATS)[""]


def least(
    functions: Mapping[str, Callable[[], object]], clock: Callable[[], float], repeats: int
) -> dict[str, float]:
    """Least seconds of several functions called in turn."""
    times = dict.fromkeys(functions, float("inf"))
    for function in functions.values():
        function()
    for _ in range(repeats):
        for name, function in functions.items():
            began = clock()
            function()
            times[name] = min(times[name], clock() - began)
    return times


def has_vector_popcount() -> bool:
    cpu = Path("/proc/cpuinfo")
    return cpu.exists() and "avx512_vpopcntdq" in cpu.read_text(encoding="ascii")


def floors(store: BitRows, numbers: int) -> dict[str, Any]:
    """What the machine itself could do."""
    cycles = clock()
    source, target = np.ones(numbers), np.empty(numbers)
    np.copyto(target, source)
    copied = 2 * source.nbytes / spent(lambda: np.copyto(target, source))
    words = np.ascontiguousarray(store.values[:24, :512])  # 96 kB
    counts = np.zeros((24, 24), dtype=np.int32)

    def in_cache() -> None:
        for _ in range(200):
            count_differences(words, words, 0, words.shape[1], False, 1, counts)

    in_cache()
    return {
        "cycles_per_second": cycles,
        "popcount_words_per_second": WORDS_PER_CYCLE * cycles if has_vector_popcount() else None,
        "cached_words_per_second": 200 * counts.size * words.shape[1] / spent(in_cache),
        "copied_bytes_per_second": copied,
        "reading_seconds": store.values.nbytes / copied,
    }


def pair_words(n: int, words: int) -> int:
    """Words that are compared for the correlations of n photos, each pair once."""
    return n * (n + 1) // 2 * words


def compared(
    store: BitRows, work: Callable[[FingerprintStore], Any], threads: int, repeats: int
) -> dict[str, Any]:
    """The same of bits and of float32."""
    numbers = AsNumbers(store)
    with threadpool_limits(threads):
        seconds = least(
            {
                "bits": lambda: work(store),
                "float32": lambda: work(numbers),
                "unpacking": lambda: [0 for _ in numbers.columns(WIDTH)],
            },
            time.process_time if threads == 1 else time.perf_counter,
            repeats,
        )
        apart = np.abs(work(store) - work(numbers)).max()
    products = seconds["float32"] - seconds["unpacking"]
    return {
        "threads": threads,
        "photos": len(store),
        "pixels": store.n_pixels,
        "seconds": seconds,
        "ratio": seconds["float32"] / seconds["bits"],
        "ratio_without_unpacking": products / seconds["bits"],
        "largest_difference": float(apart),
    }


def gram_figures(store: BitRows, threads: int, repeats: int) -> dict[str, Any]:
    """Correlations of all pairs."""
    figures = compared(store, correlate.gram, threads, repeats)
    words = store.n_words // store.planes
    rate = pair_words(len(store), words) / figures["seconds"]["bits"]
    return figures | {"words_per_second_and_core": rate / threads}


def sum_figures(store: BitRows, threads: int, repeats: int) -> dict[str, Any]:
    """Every photo with the sums of all groups, weighted as in batches."""
    n, many = len(store), -(-len(store) // GROUP)
    weights, unit = correlate.whole_weights(np.random.default_rng(0).uniform(1, 2, n))
    members = correlate.Membership(np.arange(n, dtype=np.intp) % many, many, weights, unit)

    def work(source: FingerprintStore) -> Any:
        return correlate.other_products(
            source, members, memory=correlate.DEFAULT_MEMORY, device="cpu"
        )

    return compared(store, work, threads, repeats) | {"groups": many}


def measure(photos: int, pixels: int, repeats: int, copied: int) -> dict[str, Any]:
    """All figures."""
    cameras, groups = np.arange(photos, dtype=np.intp) // 12, np.arange(10 * photos) // GROUP
    frames, pairs = (simulated(cameras, 0.01, pixels, planes=k) for k in (1, 2))
    many, many_pairs = (simulated(groups, 0.01, pixels // 10, planes=k) for k in (1, 2))
    limits = floors(frames, copied)
    result: dict[str, Any] = {"floors": limits}
    tried = (
        ("gram", gram_figures, frames),
        ("gram of two bits", gram_figures, pairs),
        ("sums", sum_figures, many),
        ("sums of two bits", sum_figures, many_pairs),
    )
    for threads in range(1, min(2, compute.machine().cores) + 1):
        for name, figures, store in tried:
            made = figures(store, threads, repeats)
            result.setdefault(name, []).append(made)
            print(
                f"{name}, {threads} thread(s): bits {made['seconds']['bits']:.3f} s, float32 "
                f"{made['seconds']['float32']:.2f} s: {made['ratio']:.0f} times, "
                f"{made['ratio_without_unpacking']:.0f} without unpacking",
                flush=True,
            )
    one, two = (
        result[name][0]["words_per_second_and_core"] for name in ("gram", "gram of two bits")
    )
    result["share_of_cache_rate"] = one / limits["cached_words_per_second"]
    if limits["popcount_words_per_second"]:
        result["share_of_popcounts"] = one / limits["popcount_words_per_second"]
    print(
        f"{one / 1e9:.1f} G words/s a core, of two bits {two / 1e9:.1f}; in the second cache "
        f"{limits['cached_words_per_second'] / 1e9:.1f}, clock "
        f"{limits['cycles_per_second'] / 1e9:.2f} GHz"
    )
    return result


def main(arguments: Sequence[str] | None = None) -> None:
    asked = parser(__doc__)
    asked.add_argument("--photos", type=int, default=PHOTOS)
    asked.add_argument("--pixels", type=int, default=PIXELS)
    options = asked.parse_args(arguments)
    photos, pixels = QUICK if options.quick else (options.photos, options.pixels)
    began = time.perf_counter()
    repeats, copied = (1, QUICK_COPIED) if options.quick else (REPEATS, COPIED)
    result = measure(photos, pixels, repeats, copied)
    result["seconds"] = time.perf_counter() - began
    write("bits", result, folder=folder_of(options), photos=photos, pixels=pixels)


if __name__ == "__main__":
    main()
