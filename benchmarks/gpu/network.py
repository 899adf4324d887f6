"""A small network that improves the residual: what it gains on cameras it never saw.

    samecam simulate -o SIMULATED --cameras 40 --images 24 --size 1024x1024 --no-exif --crosstalk .6
    python -m benchmarks.gpu.network --shared DIR --simulated SIMULATED
    python -m benchmarks.gpu.network --shared DIR --simulated SIMULATED --kinds 2,4,5 --seconds 30

Kinds are added to gpu.network.json beside what was measured before.

Of each photograph the network sees the gray picture and the default's residual R, weighed, and
gives a gain g and an addition h: R·exp(g) + h takes R's place, so that an untrained network is the
default. It learns on squares at one place of many photographs: the correlation of what it gives
with the sum of the *other* photographs' fingerprints of that camera, in units of chance, is to be
higher than with those of other cameras (a correlation loss as in arXiv 2112.02858, as a choice
among cameras, so that weak photographs count and strong ones are soon done with). Half of the
squares are of photographs that were saved again at quality 80.

Cameras of one model (`cameras.csv`) are together in one of two folds; a network learns on one
fold, and on simulated cameras if they are given, and is scored on the other by the figures of
`benchmarks.filters`, beside the default on the same photographs.
"""

import argparse
import csv
import json
import math
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import torch
from torch import nn
from torch.nn.functional import cross_entropy

from benchmarks.filters import compressed, figures
from benchmarks.gpu.large import Place
from benchmarks.record import about, describe, folder_of, load, parser, save
from samecam.arrays import Labels, Pixels
from samecam.fingerprint import _gpu
from samecam.fingerprint._fingerprint import complete
from samecam.fingerprint._weigh_gpu import weigh
from samecam.photos import frame_exposure, read_frame

NAME = "gpu.network"
QUALITIES = (None, 80)
STEPS = complete({"spins": 2, "weigh": True})
# One unmoving scene: what its photographs share is the picture, which a network would learn.
UNMOVING = ("eos6d", "d3000")
Tensor: TypeAlias = torch.Tensor


class Kind(NamedTuple):
    """A network, and how long it learns.

    Attributes
    ----------
    depth, width : layers of 3×3 filters, and filters of each
    share : of the seconds that one fold is given
    simulated : whether it learns on simulated cameras, too
    adds : whether it gives an addition beside the gain
    half : whether half of the squares are of photographs, however many simulated ones there are
    """

    depth: int
    width: int
    share: float = 1.0
    simulated: bool = True
    adds: bool = True
    half: bool = True


KINDS: Mapping[str, Kind] = {
    "17 layers of 64": Kind(17, 64, half=False),
    "17 layers of 64, photographs alone": Kind(17, 64, simulated=False),
    "17 layers of 64, gain alone": Kind(17, 64, adds=False),
    "5 layers of 16": Kind(5, 16, 0.5, half=False),
    "5 layers of 16, gain alone": Kind(5, 16, 0.5, adds=False),
    "5 layers of 16, gain alone, photographs alone": Kind(5, 16, 0.5, False, adds=False),
}
DEFAULT = "default"


class Photos(NamedTuple):
    """Photographs of one size on a device.

    Attributes
    ----------
    luma : (q, n, h, w) uint8, one stack for each of `QUALITIES`
    residual : (q, n, h, w) float16, the default's before means are subtracted, root mean square 1
    rows : (n, h, w) float16, fingerprints of the originals, root mean square 1
    cameras : (n,) numbers of the cameras
    names : of the cameras
    """

    luma: Tensor
    residual: Tensor
    rows: Tensor
    cameras: Labels
    names: list[str]

    def those(self, chosen: Sequence[int]) -> "Photos":
        """Photographs of some cameras, which are numbered anew."""
        keep = np.flatnonzero(np.isin(self.cameras, chosen))
        cameras = np.searchsorted(np.array(chosen), self.cameras[keep])
        at = torch.from_numpy(keep).to(self.rows.device)
        parts = (self.luma[:, at], self.residual[:, at], self.rows[at])
        return Photos(*parts, cameras, [self.names[k] for k in chosen])


class Improver(nn.Module):  # type: ignore[misc, unused-ignore]
    """Gain and addition for a residual, from it and its picture; nothing before it has learned."""

    def __init__(self, depth: int, width: int, *, adds: bool = True) -> None:
        super().__init__()
        self.adds = adds
        self.first = nn.Conv2d(2, width, 3, padding=1)
        self.middle = nn.ModuleList(
            nn.Conv2d(width, width, 3, padding=1) for _ in range(max(depth - 2, 0))
        )
        self.last = nn.Conv2d(width, 2, 3, padding=1)
        nn.init.zeros_(self.last.weight)
        if self.last.bias is not None:
            nn.init.zeros_(self.last.bias)

    def forward(self, luma: Tensor, residual: Tensor) -> Tensor:
        """(b, h, w) from bytes and a residual of root mean square 1."""
        given = torch.stack(((luma.float() - 128) / 64, residual.float().clamp(-8, 8)), dim=1)
        given = given.contiguous(memory_format=torch.channels_last)
        with torch.autocast(given.device.type, torch.bfloat16, enabled=given.is_cuda):
            x = torch.relu(self.first(given))
            for k in range(0, len(self.middle), 2):
                y = x
                for layer in self.middle[k : k + 2]:
                    y = torch.relu(layer(y))
                x = x + 0.5 * y
            made = self.last(x)
        gain, more = made.float().unbind(1)
        better: Tensor = residual.float() * torch.exp(2 * torch.tanh(gain / 2))
        return better + more if self.adds else better


def read_photos(folder: Path, place: Place, most: int | None, side: int | None = None) -> Photos:
    """The first photographs of a folder with `truth.csv`, or corners of them, that are of use."""
    with open(folder / "truth.csv", newline="", encoding="utf-8") as stream:
        listed = list(csv.DictReader(stream))[:most]

    def read(row: Mapping[str, str]) -> list[Pixels]:
        luma = read_frame((folder / row["path"]).read_bytes()).pixels[:side, :side]
        usable = frame_exposure(luma).status != "unusable"
        return [compressed(luma, quality) for quality in QUALITIES] if usable else []

    with ThreadPoolExecutor() as pool:
        found = [
            (row["camera"], some)
            for row, some in zip(listed, pool.map(read, listed), strict=True)
            if some
        ]
    cameras = [camera for camera, _ in found]
    names = sorted(set(cameras))
    stacks, residuals = [], []
    for q in range(len(QUALITIES)):
        some = np.stack([lumas[q] for _, lumas in found])
        residuals.append(
            torch.cat([residual_of(some[k : k + 8], place) for k in range(0, len(some), 8)])
        )
        stacks.append(torch.from_numpy(some).to(place.torch_name))
    residual = torch.stack(residuals)
    rows = torch.cat([rows_of(residual[0, k : k + 8]) for k in range(0, len(found), 8)])
    numbers = np.array([names.index(camera) for camera in cameras])
    return Photos(torch.stack(stacks), residual, rows, numbers, names)


def residual_of(lumas: Pixels, place: Place) -> Tensor:
    """The default's residuals (b, h, w), weighed, root mean square 1, float16."""
    planes = _gpu.to_planes(torch.from_numpy(lumas[..., np.newaxis]).to(place.torch_name))
    made = _gpu.spun(_gpu.residuals, planes, STEPS["sigma"], STEPS["spins"])
    weigh(made, planes[:, 0] + _gpu.MIDDLE)
    made /= made.square().mean(dim=(1, 2), keepdim=True).sqrt().clamp_(min=1e-6)
    return made.half()


def rows_of(residual: Tensor) -> Tensor:
    """Fingerprints (b, h, w) of residuals: cleaned, root mean square 1, float16."""
    rows, _ = _gpu.clean(residual.float().clone(), STEPS)
    return (rows.view(residual.shape) * math.sqrt(rows.shape[1])).half()


def train(
    photos: Photos, first: int, kind: Kind, place: Place, options: argparse.Namespace
) -> Improver:
    """A network that learned on all of these; half of each batch is of the `first` of them."""
    seconds, side, batch = kind.share * options.seconds, options.side, options.batch
    torch.manual_seed(0)
    model = Improver(kind.depth, kind.width, adds=kind.adds)
    model.to(place.torch_name)
    rate = 1e-3
    optimiser = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=1e-3)
    rng = np.random.default_rng(0)
    camera = torch.from_numpy(photos.cameras).to(place.torch_name)
    sums = torch.stack(
        [photos.rows[camera == k].sum(dim=0, dtype=torch.float32) for k in range(len(photos.names))]
    )
    n, (height, width) = len(camera), photos.rows.shape[1:]
    step, began, losses = 0, time.perf_counter(), list[Tensor]()
    while (spent := time.perf_counter() - began) < seconds:
        for group in optimiser.param_groups:
            group["lr"] = (
                rate
                * min(1, (step + 1) / 100)
                * (0.02 + 0.98 * math.cos(math.pi / 2 * spent / seconds))
            )
        top, left = (int(rng.integers((size - side) // 8 + 1)) * 8 for size in (height, width))
        here = (slice(top, top + side), slice(left, left + side))
        some = torch.from_numpy(drawn(rng, n, first, batch)).to(place.torch_name)
        which = torch.from_numpy(rng.integers(len(QUALITIES), size=len(some))).to(place.torch_name)
        made = model(photos.luma[which, some, *here], photos.residual[which, some, *here])
        loss = cross_entropy(chances(made, some, camera, photos.rows, sums, here), camera[some])
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        losses.append(loss.detach())
        step += 1
        if step % 200 == 0:
            print(
                f"  {step} steps, {spent:.0f} s, {torch.stack(losses[-200:]).mean():.4f}",
                flush=True,
            )
    return model


def drawn(rng: np.random.Generator, n: int, first: int, batch: int) -> Labels:
    """Half of a batch of the `first` of n, half of the others, if there are others."""
    parts = [rng.permutation(first), first + rng.permutation(n - first)]
    half = batch if first == n else batch // 2
    return np.concatenate([part[:half] for part in parts])


def chances(
    made: Tensor, some: Tensor, camera: Tensor, rows: Tensor, sums: Tensor, here: Any
) -> Tensor:
    """Correlations (b, cameras), in units of chance, with sums of the other photographs of each."""
    parts = sums[:, *here].flatten(1)  # (c, p)
    own = rows[some][:, *here].flatten(1).float()
    flat = made.flatten(1)
    flat = flat - flat.mean(dim=1, keepdim=True)
    mine = camera[some]
    inner = flat @ parts.T
    norms = parts.square().sum(dim=1).expand(len(some), -1).clone()
    at = torch.arange(len(some), device=mine.device)
    inner = inner.index_put((at, mine), -(flat * own).sum(dim=1), accumulate=True)
    less = (2 * own * parts[mine]).sum(dim=1) - own.square().sum(dim=1)
    norms[at, mine] -= less
    scale = math.sqrt(flat.shape[1])
    norm: Tensor = flat.norm(dim=1, keepdim=True) * norms.clamp(min=1).sqrt()
    return scale * inner / norm


@torch.no_grad()  # type: ignore[untyped-decorator, unused-ignore]
def scored(model: Improver | None, photos: Photos) -> dict[str, Any]:
    """Figures of photographs of cameras, with a network or as by default, at each quality."""
    told = {}
    for q, quality in enumerate(QUALITIES):
        parts = []
        for k in range(photos.luma.shape[1]):
            residual = photos.residual[q, k : k + 1]
            if model is not None:
                residual = model(photos.luma[q, k : k + 1], residual)
            parts.append(rows_of(residual).flatten(1))
        rows = torch.cat(parts)
        d = rows.shape[1]
        G = torch.zeros((len(rows), len(rows)), dtype=torch.float64, device=rows.device)
        for first in range(0, d, 2**16):
            part = rows[:, first : first + 2**16].float()
            G += (part @ part.T).double()
        G /= d
        scale = G.diagonal().sqrt()
        told[str(quality)] = figures((G / scale[:, None] / scale).cpu().numpy(), photos.cameras, d)
    return told


def folds(folder: Path, names: Sequence[str]) -> list[list[int]]:
    """Numbers of the cameras of two folds; those of one model are together."""
    model = {name: name for name in names}
    if (folder / "cameras.csv").exists():
        with open(folder / "cameras.csv", newline="", encoding="utf-8") as stream:
            model |= {row["camera"]: row["model"] for row in csv.DictReader(stream)}
    models = sorted({model[name] for name in names})
    return [
        [k for k, name in enumerate(names) if models.index(model[name]) % 2 == fold]
        for fold in range(2)
    ]


def together(first: Photos, second: Photos) -> Photos:
    """Photographs of two sets, of one size."""
    luma, residual = (
        torch.cat(pair, dim=1)
        for pair in ((first.luma, second.luma), (first.residual, second.residual))
    )
    rows = torch.cat((first.rows, second.rows))
    cameras = np.concatenate((first.cameras, second.cameras + len(first.names)))
    return Photos(luma, residual, rows, cameras, first.names + second.names)


def milliseconds(kind: Kind, photos: Photos, place: Place) -> float:
    """Of a megapixel, on this device."""
    model = Improver(kind.depth, kind.width, adds=kind.adds).to(place.torch_name)
    times = []
    with torch.no_grad():
        for _ in range(5):
            place.wait()
            began = time.perf_counter()
            model(photos.luma[0, :1], photos.residual[0, :1])
            place.wait()
            times.append(time.perf_counter() - began)
    pixels: int = photos.luma[0, 0].numel()
    return 1e3 * sorted(times)[2] * 1e6 / pixels


def main(arguments: Sequence[str] | None = None) -> None:
    asked = parser(__doc__)
    asked.add_argument("--shared", type=Path, required=True, help="folder with photos/")
    asked.add_argument(
        "--simulated", type=Path, help="photographs of the same size, with truth.csv"
    )
    asked.add_argument("--device", default="cuda")
    asked.add_argument("--seconds", type=float, default=60, help="of learning, a fold")
    asked.add_argument("--kinds", default=",".join(map(str, range(len(KINDS)))))
    asked.add_argument("--side", type=int, default=128)
    asked.add_argument("--batch", type=int, default=64)
    asked.add_argument("--most", type=int, help="photographs of each set, to see that it runs")
    asked.add_argument("--commit", help="of the tree, where git is missing")
    options = asked.parse_args(arguments)
    place, folder = Place(options.device), folder_of(options)
    corner = 128 if options.quick else None
    if options.quick:
        options.seconds, options.side, options.batch = 0.5, 32, 8
        options.most, options.kinds = 40, "3"
    real = read_photos(options.shared / "photos", place, options.most, corner)
    made = (
        read_photos(options.simulated, place, options.most, corner) if options.simulated else None
    )
    print("loaded", len(real.cameras), 0 if made is None else len(made.cameras), flush=True)
    parts = folds(options.shared / "photos", real.names)
    names = ("side", "batch")
    settings = {name: getattr(options, name) for name in names}
    document = about(NAME, settings, commit=options.commit, libraries=("torch",))
    result: dict[str, Any] = {}
    if folder is not None and (folder / f"{NAME}.json").exists():
        result = load(NAME, folder)["result"]
    document["result"] = result
    facts = {
        "commit": document["commit"],
        "device": describe(place.device),
        "seconds": options.seconds,
        "photos": len(real.cameras),
        "simulated": 0 if made is None else len(made.cameras),
        "simulated_cameras": 0 if made is None else len(made.names),
    }
    result[DEFAULT] = {**facts, "folds": [scored(None, real.those(fold)) for fold in parts]}
    print(DEFAULT, json.dumps(result[DEFAULT]), flush=True)
    for which in options.kinds.split(","):
        name, kind = list(KINDS.items())[int(which)]
        told = []
        for number, test in enumerate(parts):
            learn = [k for k in parts[1 - number] if not any(u in real.names[k] for u in UNMOVING)]
            photos = real.those(learn)
            first = len(photos.cameras)
            if made is not None and kind.simulated:
                photos = together(photos, made)
            if not kind.half:
                first = len(photos.cameras)
            print(name, "fold", number, len(photos.cameras), "photographs", flush=True)
            model = train(photos, first, kind, place, options)
            del photos
            place.forget()
            told.append(scored(model, real.those(test)))
        each = milliseconds(kind, real, place)
        result[name] = {**facts, "milliseconds_a_megapixel": each, "folds": told}
        print(name, json.dumps(result[name]), flush=True)
        if folder is not None:
            save(folder / f"{NAME}.json", document)


if __name__ == "__main__":
    main()
