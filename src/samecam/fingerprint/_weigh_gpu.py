"""Residuals weighed with PyTorch, on a GPU; see `_weigh`.

No number depends on the pictures beside it: each is weighed by itself.
"""

from functools import lru_cache
from typing import TypeAlias

import torch

from samecam import compute
from samecam.fingerprint._weigh import SIDE, cosines, mixers, one_of

Tensor: TypeAlias = torch.Tensor


def weigh(residual: Tensor, luma: Tensor) -> None:
    """Weigh residuals (b, h, w) of pictures (b, h, w) on the 0–255 scale, in place."""
    residual *= (luma - residual).clamp_(min=0).add_(1).mul_(1 / 128).sqrt_()
    with compute.full_precision():
        for plane in residual:
            _even(plane)


def _even(plane: Tensor) -> None:
    """Even out the frequencies of one residual (h, w), in place."""
    height, width = (side // SIDE * SIDE for side in plane.shape)
    if not height or not width:
        return
    blocks = plane[:height, :width].unflatten(1, (-1, SIDE)).unflatten(0, (-1, SIDE))
    chosen = blocks.transpose(1, 2)[_chosen(*plane.shape, str(plane.device))]
    C = torch.from_numpy(cosines()).to(plane.device, torch.float32)
    energies = [
        (C @ some).square_().sum(dim=(0, 2), dtype=torch.float64).cpu().numpy()
        for some in (chosen, chosen.transpose(1, 2))
    ]
    found = mixers(*energies)
    down, across = (torch.from_numpy(part).to(plane.device) for part in found)
    strips = plane[:height].unflatten(0, (-1, SIDE))
    plane[:height] = torch.matmul(down, strips).flatten(0, 1)
    parts = plane[:, :width].unflatten(1, (-1, SIDE))
    plane[:, :width] = torch.matmul(parts, across.T).flatten(1, 2)


@lru_cache(maxsize=8)
def _chosen(height: int, width: int, name: str) -> tuple[Tensor, Tensor]:
    """Rows and columns of the blocks on which energies are measured."""
    down, across = torch.arange(height // SIDE), torch.arange(width // SIDE)
    mask = (down[:, None] + across) % one_of((height, width)) == 0
    rows, columns = mask.nonzero(as_tuple=True)
    return rows.to(name), columns.to(name)
