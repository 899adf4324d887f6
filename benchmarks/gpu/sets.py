"""Simulated fingerprints made on the device: cameras that do not exist, with truth."""

import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch

from samecam.arrays import Floats, Labels
from samecam.correlate._rows import DeviceRows
from samecam.store import DiskStore, Frame, Placement
from samecam.store._shard import SHARD_BYTES, shard_path

CAMERA_SPREAD, PHOTO_CV = 0.4, 0.7
Kind = Literal["int8", "float16", "float32"]
KEPT = 3.89  # standard deviations that int8 holds: the 99.99 % quantile of a normal law


def truth_of(sizes: Sequence[int], seed: int = 0) -> Labels:
    """Camera of each photo, in random order."""
    return np.random.default_rng(seed).permutation(np.repeat(np.arange(len(sizes)), sizes))


def strengths(cameras: Labels, mean: float, seed: int = 0) -> Floats:
    """a_i, so that photos i, j of one camera correlate by a_i a_j, about `mean` on average."""
    rng = np.random.default_rng(seed + 1)
    camera = rng.lognormal(0, CAMERA_SPREAD, cameras.max() + 1)[cameras]
    photo = rng.gamma(1 / PHOTO_CV**2, PHOTO_CV**2, len(cameras))
    return np.asarray(np.minimum(np.sqrt(mean) * camera * photo, 0.95), dtype=np.float32)


def blocks(
    cameras: Labels,
    mean: float,
    d: int,
    device: str,
    dtype: Kind,
    seed: int = 0,
    step: int = 1024,
) -> Iterator[tuple[int, Any, Any]]:
    """(first, values, scales) of `step` rows at a time, as a store would hold them."""
    made = torch.Generator(device).manual_seed(seed)
    patterns = torch.randn((cameras.max() + 1, d), generator=made, device=device).half()
    a = torch.from_numpy(strengths(cameras, mean, seed)).to(device)
    camera = torch.from_numpy(cameras).to(device)
    for first in range(0, len(cameras), step):
        part = slice(first, first + step)
        rows = torch.randn((len(camera[part]), d), generator=made, device=device)
        rows *= torch.sqrt(1 - a[part] ** 2)[:, None]
        rows += patterns[camera[part]].float() * a[part][:, None]
        rows -= rows.mean(dim=1, keepdim=True)
        rows /= rows.norm(dim=1, keepdim=True)
        if dtype == "int8":
            top = KEPT / d**0.5
            whole = (rows * (127 / top)).round_().clamp_(-127, 127)
            yield first, whole.to(torch.int8), 1 / whole.norm(dim=1)
        else:
            yield first, rows.to(getattr(torch, dtype)), torch.ones(len(rows), device=device)


def on_device(
    cameras: Labels, mean: float, d: int, device: str, dtype: Kind = "int8", seed: int = 0
) -> DeviceRows:
    """All rows in the memory of the device."""
    n = -(-len(cameras) // 32) * 32
    values = torch.zeros((n, d), dtype=getattr(torch, dtype), device=device)
    scales = torch.ones(len(cameras), device=device)
    for first, part, factor in blocks(cameras, mean, d, device, dtype, seed):
        values[first : first + len(part)] = part
        scales[first : first + len(part)] = factor
    return DeviceRows(values, scales, d)


def on_disk(
    folder: Path,
    cameras: Labels,
    mean: float,
    d: int,
    device: str,
    dtype: Literal["int8", "float16"],
    seed: int = 0,
) -> DiskStore:
    """A store on disk, written without passing through the encoder, which is not the question."""
    frame = Frame(d, 1)
    store = DiskStore.create(folder, frame=frame, dtype=dtype)
    capacity = SHARD_BYTES // (d * np.dtype(dtype).itemsize)
    count = 0
    for _, part, factors in blocks(cameras, mean, d, device, dtype, seed, step=512):
        for row, scale in zip(part.cpu().numpy(), factors.cpu().numpy(), strict=True):
            shard, at = divmod(count, capacity)
            data = row.tobytes()
            path = shard_path(store.folder, frame, shard, dtype)
            path.parent.mkdir(exist_ok=True)
            with open(path, "ab") as stream:
                stream.write(data)
            place = Placement(frame, shard, at, zlib.crc32(data), float(scale))
            store.add_placed(f"{count:07d}.jpg", place, sha256=f"{count:064x}")
            count += 1
    store.commit()
    return store
