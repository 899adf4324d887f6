"""From picture to fingerprint: the residual, cleaned and brought to unit norm."""

from collections.abc import Sequence
from typing import Literal, NamedTuple, TypedDict, Unpack

import numpy as np
import numpy.typing as npt

from samecam import compute
from samecam.arrays import Floats
from samecam.errors import ParameterValueError
from samecam.fingerprint import _residual, _spectrum
from samecam.fingerprint._residual import Workspace, gray, gray_residual, workspace
from samecam.fingerprint._weigh import weigh as weigh_residual

Preset = Literal["default", "paper"]

# Root-mean-square residual, in gray levels, under which there is only rounding noise.
LEAST_RESIDUAL = 1e-3


class NoResidualError(ValueError):
    """The picture is flat: it holds no noise from which to take a fingerprint."""


class Steps(TypedDict, total=False):
    """Arguments of `fingerprint` beside the picture."""

    sigma: float
    spins: int
    weigh: bool
    preset: Preset
    grid: bool | None
    cfa: bool
    wiener: bool
    equalise: bool


class Fingerprints(NamedTuple):
    """Fingerprints of several pictures.

    Attributes
    ----------
    rows : (b, h·w) float32, one fingerprint a row; zeros where the picture is flat
    flat : (b,) bool, pictures that hold no noise
    """

    rows: Floats
    flat: npt.NDArray[np.bool_]


def fingerprint(
    image: npt.ArrayLike,
    *,
    sigma: float = 3.0,
    spins: int = 1,
    weigh: bool = False,
    preset: Preset = "default",
    grid: bool | None = None,
    cfa: bool = False,
    wiener: bool = False,
    equalise: bool = False,
) -> Floats:
    """Fingerprint of one picture: float32 vector of h·w numbers, zero mean, unit norm.

    Steps: noise residual per channel → gray (.2989 R + .5870 G + .1140 B of the
    residuals) → weighed if asked for → row and column means subtracted → optional
    spectral clean-up → JPEG grid removed → unit norm.

    Parameters
    ----------
    image : (h, w, 3), (h, w, 1) or (h, w) array on the 0–255 scale, any real type
    sigma, spins : see `samecam.fingerprint.noise_residual`; a case takes two spins of whole frames
    weigh : multiply each pixel by the root of its brightness, and even out the frequencies of
        JPEG's 8×8 blocks in part: the pattern grows with the light, and compression leaves some
        frequencies too strong. A case does so with whole frames, the paper does not
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
    _check_preset(preset)
    from samecam.fingerprint import _planes as k

    residual = gray_residual(image, sigma=sigma, spins=spins)
    work = workspace(*residual.shape)
    if weigh:
        weigh_residual(residual, gray(np.asarray(image)))
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
    from samecam.fingerprint import _planes as k

    if not cfa:
        k.subtract_row_column_means(residual, work.column)
        return
    for a in (0, 1):
        for b in (0, 1):
            part = np.ascontiguousarray(residual[a::2, b::2])
            k.subtract_row_column_means(part, work.column)
            residual[a::2, b::2] = part


def fingerprints(
    images: Sequence[npt.ArrayLike] | npt.NDArray[np.generic],
    *,
    device: str = "cpu",
    memory: int | None = None,
    **steps: Unpack[Steps],
) -> Fingerprints:
    """Fingerprints of pictures of one size, on the processor or on a GPU.

    Row k is `fingerprint(images[k], **steps)`, but a flat picture is reported and not
    raised. A GPU adds up in another order: gray levels of the residual differ by about
    10⁻⁴ at most. On one device a picture gives the same bits whatever pictures are beside it,
    unless so little memory is given or left there that groups become smaller.

    Parameters
    ----------
    images : stack (b, h, w, 3), (b, h, w, 1) or (b, h, w), or a list of such pictures, all
        of one shape, on the 0–255 scale; b ≥ 1
    device : "cpu", "cuda", "cuda:1", … or "auto", see `samecam.compute.choose_device`
    memory : bytes that work arrays may take on a GPU; None: see `compute.default_memory`
    **steps : arguments of `fingerprint`
    """
    pictures = _checked_pictures(images)
    chosen = compute.choose_device(device)
    if chosen == "cpu":
        from samecam.fingerprint import _cpu

        return _cpu.fingerprints(pictures, steps)
    from samecam.fingerprint import _gpu

    return _gpu.fingerprints(pictures, steps, chosen, memory)


def complete(steps: Steps) -> Steps:
    """All steps, the defaults of `fingerprint` filled in; `grid` as it takes effect."""
    defaults = fingerprint.__kwdefaults__ or {}
    if unknown := sorted(set(steps) - set(defaults)):
        raise TypeError(f"{unknown[0]!r} is no step of a fingerprint: {', '.join(defaults)}")
    whole: Steps = {**defaults, **steps}  # type: ignore[typeddict-item]
    _check_preset(whole["preset"])
    _residual.check_sigma(whole["sigma"])
    _residual.check_spins(whole["spins"])
    if whole["grid"] is None:
        whole["grid"] = whole["preset"] == "default"
    return whole


def _check_preset(preset: str) -> None:
    if preset not in ("default", "paper"):
        raise ParameterValueError("preset", f"{{name}} is {preset!r}; choose 'default' or 'paper'")


def _checked_pictures(
    images: Sequence[npt.ArrayLike] | npt.NDArray[np.generic],
) -> list[npt.NDArray[np.generic]]:
    pictures = [_residual.checked_image(image) for image in images]
    if not pictures:
        raise ValueError("images holds no picture; give at least one")
    first = pictures[0].shape
    for number, picture in enumerate(pictures):
        if picture.shape != first:
            raise ValueError(
                f"picture {number} has shape {picture.shape} and picture 0 {first}; give pictures "
                "of one shape"
            )
    if len(first) == 3 and first[2] not in (1, 3):
        raise ValueError(f"images have {first[2]} channels; give 1 or 3")
    return pictures
