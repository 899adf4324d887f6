"""The denoiser written the slow obvious way: PyWavelets and scipy.ndimage, float32."""

import warnings

import numpy as np
import pywt
from scipy.fft import dct
from scipy.ndimage import uniform_filter


def shrink(band, sigma):
    energy = band * band
    variance = np.min(
        [
            np.maximum(0, uniform_filter(energy, w, mode="constant") - sigma**2)
            for w in (3, 5, 7, 9)
        ],
        axis=0,
    )
    return band * (sigma**2 / (variance + sigma**2))


def residual_plane(plane, sigma=3.0):
    plane = np.asarray(plane, dtype=np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # four levels on a small picture
        approximation, *details = pywt.wavedec2(plane, "db4", mode="symmetric", level=4)
    noise = [np.zeros_like(approximation)]
    for level in details:
        noise.append(tuple(shrink(band, np.float32(sigma)) for band in level))
    h, w = plane.shape
    return pywt.waverec2(noise, "db4", mode="symmetric")[:h, :w]


def spun_plane(plane, sigma=3.0, spins=1):
    shifted = [np.pad(plane, ((k, 0), (k, 0)), mode="symmetric") for k in range(spins)]
    return np.mean([residual_plane(p, sigma)[k:, k:] for k, p in enumerate(shifted)], axis=0)


def noise_residual(image, sigma=3.0, spins=1):
    if image.ndim == 2:
        return spun_plane(image, sigma, spins)
    planes = [spun_plane(image[..., c], sigma, spins) for c in range(image.shape[2])]
    return np.stack(planes, axis=-1)


def weighed(residual, luma, power=1 / 8):
    """Times the root of the brightness, then the frequencies of 8×8 blocks evened out in part."""
    residual = residual * np.sqrt((np.maximum(luma - residual, 0) + 1) / 128)
    h, w = (side // 8 * 8 for side in residual.shape)
    C = dct(np.eye(8), axis=0, norm="ortho")
    step = max(1, min(11, (h // 8) * (w // 8) // 4096))
    blocks = [
        residual[8 * i : 8 * i + 8, 8 * j : 8 * j + 8]
        for i in range(h // 8)
        for j in range(w // 8)
        if (i + j) % step == 0
    ]
    mixers = []
    for some in (blocks, [block.T for block in blocks]):
        energy = np.sum([np.square(C @ block).sum(axis=1) for block in some], axis=0)
        mixers.append(C.T @ np.diag((energy / energy.mean() + 1e-3) ** -power) @ C)
    down, across = np.eye(residual.shape[0]), np.eye(residual.shape[1])
    for matrix, mixer, length in ((down, mixers[0], h), (across, mixers[1], w)):
        for first in range(0, length, 8):
            matrix[first : first + 8, first : first + 8] = mixer
    return down @ residual @ across.T


def fingerprint(image, sigma=3.0, grid=True, spins=1, weigh=False):
    residual = noise_residual(image, sigma, spins)
    weights = np.array([0.2989, 0.5870, 0.1140])
    gray = residual @ weights if image.ndim == 3 else residual
    if weigh:
        gray = weighed(gray, image @ weights if image.ndim == 3 else image)
    gray = gray - gray.mean(axis=1, keepdims=True)
    gray = gray - gray.mean(axis=0, keepdims=True)
    if grid:
        for a in range(16):
            for b in range(16):
                gray[a::16, b::16] -= gray[a::16, b::16].mean()
    gray = gray - gray.mean()
    return (gray / np.linalg.norm(gray)).ravel()
