"""Correlations of whole frames, one or two bits a pixel, on a GPU.

    python -m benchmarks.gpu.bits [--photos 2048] [--pixels 12000000] [--device cuda] [--bits 2]

Simulated rows, made on the device. Timed: the Gram of rows that are there, the same from the
memory of the host, and every photo with the sums of all groups. Floors, in the same run: the
products of int8 at the rate of one large product, and unpacking alone. The Gram of some rows must
be that of the processor to the last digit.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from benchmarks.bit_sets import SMALL, shares, truth_of
from benchmarks.gpu.large import Place, timed
from benchmarks.record import about, describe, folder_of, parser, save
from samecam import correlate
from samecam.arrays import Labels
from samecam.compute import default_memory
from samecam.correlate._device_bits import DeviceBits, DevicePairs
from samecam.store import BitRows, pair_scales

NAME = "gpu.bits"
PHOTOS, PIXELS, MEAN = 2048, 12_000_000, 0.005
QUICK = (70, 5_000)
CHECKED = 24
REPEATS = 3


def on_device(
    cameras: Labels, mean: float, d: int, device: str, seed: int = 0, bits: int = 1
) -> DeviceBits:
    """Rows as `bit_sets` makes them, drawn by the device."""
    made = torch.Generator(device).manual_seed(seed)
    width = -(-d // 64)

    def drawn(rows: int) -> torch.Tensor:
        return torch.randint(
            -(2**63), 2**63 - 1, (rows, width), generator=made, device=device, dtype=torch.int64
        )

    def share(parts: int) -> torch.Tensor:
        own = torch.zeros((1, width), dtype=torch.int64, device=device)
        for digit in range(6):  # of the share, in parts of 64
            own = drawn(1) | own if parts >> digit & 1 else drawn(1) & own
        return own

    patterns = drawn(int(cameras.max()) + 1)
    shape = (-(-len(cameras) // 32) * 32, width, bits)
    values = torch.zeros(shape, dtype=torch.int64, device=device)
    for photo, parts in enumerate(shares(cameras, mean, seed)):
        own, chance = share(int(parts)), drawn(1)
        values[photo, :, 0] = (chance ^ (own & (chance ^ patterns[cameras[photo]])))[0]
        if bits == 2:
            values[photo, :, 1] = share(SMALL)[0]
    spare = 64 * width - d
    if spare:
        values[:, -1] &= 2 ** (64 - spare) - 1
    values = values.view(len(values), bits * width)
    scales = torch.full((len(cameras),), d**-0.5, device=device)
    if bits == 1:
        return DeviceBits(values, scales, d)
    for photo in range(len(cameras)):
        words = values[photo : photo + 1].cpu().numpy().view(np.uint64)
        scales[photo] = float(pair_scales(words, d)[0])
    return DevicePairs(values, scales, d)


def floors(rows: DeviceBits, place: Place) -> dict[str, float]:
    """Seconds of unpacking all rows, and of their products at the rate of one large product."""
    slab = next(rows.slabs()).values
    product = timed(lambda: torch._int_mm(slab, slab.t()), place, REPEATS)
    rate = 2 * len(slab) ** 2 * slab.shape[1] / product
    n, d = len(rows), rows.n_pixels

    def unpack() -> None:
        for _ in rows.slabs():
            pass

    return {
        "int8_operations_per_second": rate,
        "products_seconds": n * (n + 1) * d / rate,
        "unpacking_seconds": timed(unpack, place, REPEATS),
    }


def gram_figures(rows: DeviceBits, source: DeviceBits | BitRows, place: Place) -> dict[str, Any]:
    """The Gram from rows that are somewhere."""
    memory = default_memory(place.device)
    if place.cuda:
        torch.cuda.reset_peak_memory_stats()
    seconds = timed(
        lambda: correlate.gram_on(source, memory=memory, device=place.device), place, REPEATS
    )
    n = len(rows)
    return {
        "seconds": seconds,
        "words_per_second": n * (n + 1) / 2 * (rows.n_words // rows.planes) / seconds,
        "device_bytes": place.peak(),
    }


def sum_figures(rows: DeviceBits, truth: Labels, place: Place) -> dict[str, Any]:
    """Every photo with the sums of all groups; how far the processor is off for some photos."""
    weights, unit = correlate.whole_weights(np.random.default_rng(0).uniform(1, 2, len(rows)))
    members = correlate.Membership(truth, None, weights, unit)
    memory = default_memory(place.device)

    def work() -> Any:
        return correlate.other_products(rows, members, memory=memory, device=place.device)

    seconds, got = timed(work, place, REPEATS), work().cpu().numpy()
    few = np.isin(truth, np.unique(truth)[:2])
    host = BitRows(words_of(rows, np.flatnonzero(few)), rows.n_pixels)
    part = correlate.Membership(truth[few], 2, weights[few], unit)
    expected = correlate.other_products(host, part, memory=2**31, device="cpu")
    chance = np.sqrt(np.bincount(truth[few], weights[few] ** 2) / rows.n_pixels)[:, np.newaxis]
    return {
        "seconds": seconds,
        "groups": members.count,
        "device_bytes": place.peak(),
        "largest_difference_in_chance": float(np.abs((got[:2, few] - expected) / chance).max()),
    }


def words_of(rows: DeviceBits, some: Labels | None = None) -> Any:
    """Words of rows on the host."""
    return next(rows.words(rows.n_words, some))[1]


def measure(
    photos: int, pixels: int, bits: int, place: Place, told: Callable[..., None]
) -> dict[str, Any]:
    """All figures."""
    truth = truth_of(photos)
    rows = on_device(truth, MEAN, pixels, place.torch_name, bits=bits)
    result: dict[str, Any] = {"device": describe(place.device), "torch": torch.__version__}
    result["floors"] = floors(rows, place)
    told("floors", result["floors"])
    result["from_the_device"] = gram_figures(rows, rows, place)
    told("from the device", result["from_the_device"])
    host = BitRows(words_of(rows), pixels)
    result["from_the_host"] = gram_figures(rows, host, place)
    told("from the host", result["from_the_host"])
    few = np.linspace(0, photos - 1, CHECKED).astype(np.intp)
    there = correlate.gram(rows, rows=few, memory=default_memory(place.device), device=place.device)
    whole = correlate.gram_on(rows, memory=default_memory(place.device), device=place.device)
    here = correlate.gram(host, rows=few)
    result["same_as_the_processor"] = bool(
        (there == here).all() and (whole.cpu().numpy()[np.ix_(few, few)] == here).all()
    )
    told("same as the processor", result["same_as_the_processor"])
    del whole, host
    place.forget()
    result["sums"] = sum_figures(rows, truth, place)
    told("sums", result["sums"])
    return result


def main(arguments: Sequence[str] | None = None) -> None:
    asked = parser(__doc__)
    asked.add_argument("--photos", type=int, default=PHOTOS)
    asked.add_argument("--pixels", type=int, default=PIXELS)
    asked.add_argument("--bits", type=int, choices=(1, 2), default=1, help="a pixel")
    asked.add_argument("--commit", help="of the tree, where git is missing")
    asked.add_argument("--device", default="cuda")
    options = asked.parse_args(arguments)
    photos, pixels = QUICK if options.quick else (options.photos, options.pixels)
    place, folder = Place(options.device), folder_of(options)

    def told(*what: object) -> None:
        print(*what, flush=True)

    measure(*QUICK, options.bits, place, lambda *_: None)  # loads libraries, compiles
    result = measure(photos, pixels, options.bits, place, told)
    settings = {"photos": photos, "pixels": pixels, "mean": MEAN}
    name, command = (NAME, NAME) if options.bits == 1 else (f"{NAME}.two_bits", f"{NAME} --bits 2")
    document = about(name, settings, command=command, commit=options.commit, libraries=("torch",))
    if folder is not None:
        save(folder / f"{name}.json", document | {"result": result})


if __name__ == "__main__":
    main()
