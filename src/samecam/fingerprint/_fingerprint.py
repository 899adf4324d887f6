"""From picture to fingerprint: the residual, cleaned and brought to unit norm."""

from typing import Literal

import numpy as np
import numpy.typing as npt

from samecam.fingerprint import _spectrum
from samecam.fingerprint._residual import Workspace, gray_residual, workspace

Floats = npt.NDArray[np.float32]
Preset = Literal["default", "paper"]

# Root-mean-square residual, in gray levels, under which there is only rounding noise.
LEAST_RESIDUAL = 1e-3


class NoResidualError(ValueError):
    """The picture is flat: it holds no noise from which to take a fingerprint."""


def fingerprint(
    image: npt.ArrayLike,
    *,
    sigma: float = 3.0,
    preset: Preset = "default",
    grid: bool | None = None,
    cfa: bool = False,
    wiener: bool = False,
    equalise: bool = False,
) -> Floats:
    """Fingerprint of one picture: float32 vector of h·w numbers, zero mean, unit norm.

    Steps: noise residual per channel → gray (.2989 R + .5870 G + .1140 B of the
    residuals) → row and column means subtracted → optional spectral clean-up →
    JPEG grid removed → unit norm.

    Parameters
    ----------
    image : (h, w, 3), (h, w, 1) or (h, w) array on the 0–255 scale, any real type
    sigma : noise level the denoiser assumes, in gray levels
    preset : "default" removes the JPEG grid; "paper" takes exactly the paper's steps
        and does not
    grid : subtract the mean of each of the 16×16 pixel phases, so that the block grid
        JPEG leaves in every camera's pictures links nobody; None follows the preset
    cfa : subtract row and column means on each of the four colour-filter sub-lattices
        rather than on the whole
    wiener : flatten the peaks of the Fourier magnitude by the same four-window filter
    equalise : bring Fourier magnitudes above three times their neighbourhood's mean
        down to that mean

    Raises
    ------
    NoResidualError
        if the picture is flat (root-mean-square residual under 0.001 gray levels)
    """
    if preset not in ("default", "paper"):
        raise ValueError(f"preset is {preset!r}; choose 'default' or 'paper'")
    from samecam.fingerprint import _kernels as k

    residual = gray_residual(image, sigma=sigma)
    work = workspace(*residual.shape)
    _subtract_means(residual, work, cfa=cfa)
    if wiener:
        residual[:] = _spectrum.wiener(residual)
    if equalise:
        residual[:] = _spectrum.equalise(residual)
    if grid if grid is not None else preset == "default":
        k.subtract_phase_means(residual, work.phases)
    out = np.empty(residual.size, dtype=np.float32)
    energy = k.normalise(residual, out, work.column)
    if energy < LEAST_RESIDUAL**2 * residual.size:
        raise NoResidualError("the picture is flat: it has no noise residual")
    return out


def _subtract_means(residual: Floats, work: Workspace, *, cfa: bool) -> None:
    from samecam.fingerprint import _kernels as k

    if not cfa:
        k.subtract_row_column_means(residual, work.column)
        return
    for a in (0, 1):
        for b in (0, 1):
            part = np.ascontiguousarray(residual[a::2, b::2])
            k.subtract_row_column_means(part, work.column)
            residual[a::2, b::2] = part
