"""A collection of whole frames, two bits a pixel or one: correlated and grouped frame by frame.

    python -m benchmarks.many_frames                    # 16,000 photos of 12 megapixels, 12 frames
    python -m benchmarks.many_frames --photos 1000 --frames 3 --pixels 2000000 [--device cuda]
    python -m benchmarks.many_frames --bits 1           # figures with another name
    python -m benchmarks.many_frames --photos 1333 --frames 1    # and again another

Photos are simulated: a bit is that of the camera's pattern with a probability above one half, such
that photos of one camera correlate by about --mean. Only one frame is in memory at a time; it is
made, correlated, grouped and weighed as a case does it (there are no pictures, so no scenes of
them are compared); the evidence is weighed on the processor.
Seconds are given without making the bits.
"""

import math
import resource
import time
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from benchmarks.bit_sets import simulated, truth_of
from benchmarks.record import describe, folder_of, parser, timed, write
from samecam import compute, correlate, evidence
from samecam.cluster import ConsolidatedSSC
from samecam.metrics import scores
from samecam.store import BitRows, Frame

NAME = "many_frames"
PHOTOS, FRAMES, PIXELS, MEAN = 16_000, 12, 12_000_000, 0.005
# Photos of a frame whose nearest other group is looked at in any case.
SAMPLE = 256
QUICK = (60, 2, 40_000, 0.05)


class Phases:
    """Seconds of each phase as `progress` tells of them."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last: str | None = None
        self._since = 0.0

    def __call__(self, phase: str, done: int, total: int) -> None:
        now = time.perf_counter()
        if self._last is not None:
            self.seconds[self._last] = self.seconds.get(self._last, 0) + now - self._since
        self._last, self._since = (None if done == total else phase), now


def host_peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def device_peak(device: str) -> int | None:
    if not device.startswith("cuda"):
        return None
    import torch

    return int(torch.cuda.max_memory_allocated())


def frame_of(pixels: int) -> Frame:
    """Of the shape 4:3, or a square."""
    for across, down in ((4, 3), (1, 1)):
        unit = math.isqrt(pixels // (across * down))
        if unit * unit * across * down == pixels:
            return Frame(across * unit, down * unit)
    raise SystemExit(f"{pixels} pixels are no frame of 4:3 and no square: give 12000000")


def one_frame(
    number: int, photos: int, pixels: int, mean: float, bits: int, device: str, memory: int
) -> dict[str, Any]:
    """Make a frame, group it, and say how that went."""
    truth = truth_of(photos, seed=number)
    kind = {"frame": frame_of(pixels), "planes": bits}
    store, making = timed(simulated, truth, mean, pixels, seed=number, **kind)
    phases = Phases()
    model = ConsolidatedSSC(device=device, memory=memory)
    with correlate.KeptGrams() as kept:
        keep = partial(kept.put, store.frame.name)
        _, seconds = timed(model.fit, store, progress=phases, keep=keep)
        score = scores(truth.tolist(), model.labels_)
        given, comparing = timed(compared, store, model, memory, kept)
    _, chance = timed(weigh, store, model, given, memory)
    figures = {
        "photos": photos,
        "cameras": len(np.unique(truth)),
        "bytes": store.values.nbytes,
        "making_seconds": making,
        "seconds": seconds,
        "phases": phases.seconds,
        "evidence": {"comparing": comparing, "peaks": chance},
        "f": score.f,
        "precision": score.precision,
        "groups": int(model.n_clusters_),
        "unclustered": int((model.labels_ < 0).sum()),
        "host_bytes": host_peak(),
        "device_bytes": device_peak(device),
    }
    print(
        f"frame {number + 1}: {photos} photos made in {making:.1f} s, grouped in {seconds:.1f} s "
        f"({', '.join(f'{k} {v:.1f}' for k, v in phases.seconds.items())}), weighed in "
        f"{comparing + chance:.1f} s (chance {chance:.1f}): F {score.f:.3f}, "
        f"P {score.precision:.3f}, peak {compute.format_bytes(host_peak())}",
        flush=True,
    )
    return figures


def compared(
    store: BitRows, model: ConsolidatedSSC, memory: int, kept: correlate.KeptGrams
) -> evidence.Comparisons:
    """Every photo against every group."""
    gram = kept.get(store.frame.name)
    return evidence.comparisons_from_rows(store, model.labels_, memory=memory, gram=gram)


def weigh(store: BitRows, model: ConsolidatedSSC, given: evidence.Comparisons, memory: int) -> None:
    """Scores of all photos with their own groups, of some with another, and what a case says."""
    if not model.n_clusters_:
        return
    null = evidence.measured_null(given, null_scale=model.null_scale_)
    some = np.linspace(0, len(store) - 1, min(SAMPLE, len(store))).round().astype(int)
    nearest = np.full(len(store), -1)
    nearest[some] = given.other[some]
    own, other = evidence.group_chances(store, given, (given.labels, nearest), memory=memory)
    scores = evidence.photo_scores(given, null, own, other)
    evidence.photo_evidence(given, scores, store.n_pixels)
    evidence.group_evidence(given, null, scores[0], store.n_pixels, own=own)
    for group in range(model.n_clusters_):
        members = np.flatnonzero(given.labels == group)
        evidence.best_division(correlate.gram(store, rows=members, memory=memory), null.scale)


def warm(device: str, bits: int) -> None:
    """Load libraries and compile what is compiled."""
    store = simulated(truth_of(60), 0.05, 40_000, frame=frame_of(40_000), planes=bits)
    model = ConsolidatedSSC(device=device).fit(store)
    memory = correlate.DEFAULT_MEMORY
    with correlate.KeptGrams() as kept:
        weigh(store, model, compared(store, model, memory, kept), memory)


def main(arguments: Sequence[str] | None = None) -> None:
    asked = parser(__doc__)
    asked.add_argument("--photos", type=int, default=PHOTOS, help="of all frames together")
    asked.add_argument("--frames", type=int, default=FRAMES)
    asked.add_argument("--pixels", type=int, default=PIXELS, help="of a frame")
    asked.add_argument("--mean", type=float, default=MEAN, help="correlation of one camera's")
    asked.add_argument("--bits", type=int, choices=(1, 2), default=2, help="a pixel")
    asked.add_argument("--device", default="cpu")
    asked.add_argument("--memory", default=None, help="for grouping, as 2G")
    options = asked.parse_args(arguments)
    photos, frames, pixels, mean = (
        QUICK if options.quick else (options.photos, options.frames, options.pixels, options.mean)
    )
    device = compute.choose_device(options.device)
    memory = correlate.DEFAULT_MEMORY if device == "cpu" else compute.default_memory(device)
    if options.memory:
        memory = compute.parse_bytes(options.memory)
    warm(device, options.bits)
    edges = np.linspace(0, photos, frames + 1).astype(int).tolist()
    rows = [
        one_frame(number, b - a, pixels, mean, options.bits, device, memory)
        for number, (a, b) in enumerate(pairwise(edges))
    ]
    result = {
        "device": describe(device),
        "frames": rows,
        "seconds": sum(row["seconds"] for row in rows),
        "evidence_seconds": sum(sum(row["evidence"].values()) for row in rows),
        "making_seconds": sum(row["making_seconds"] for row in rows),
        "host_bytes": host_peak(),
        "device_bytes": device_peak(device),
        "f": float(np.average([row["f"] for row in rows], weights=[r["photos"] for r in rows])),
    }
    print(
        f"{photos} photos in {frames} frames: {result['seconds']:.1f} s and "
        f"{result['evidence_seconds']:.1f} s for the evidence, F {result['f']:.4f}, peak "
        f"{compute.format_bytes(host_peak())}"
    )
    settings = {"photos": photos, "frames": frames, "pixels": pixels, "mean": mean}
    settings["bits"] = options.bits
    libraries = () if device == "cpu" else ("torch",)
    name, command = NAME, NAME
    if options.bits == 1:
        name, command = f"{name}.one_bit", f"{command} --bits 1"
    if frames == 1:
        name, command = f"{name}.one_frame", f"{command} --photos {photos} --frames 1"
    if device != "cpu":
        name, command = f"gpu.{name}", f"{command} --device {options.device}"
    write(
        name,
        result,
        folder=folder_of(options),
        command=command,
        libraries=libraries,
        memory=memory,
        **settings,
    )


if __name__ == "__main__":
    main()
