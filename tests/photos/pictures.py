"""Small picture files of every kind, made on the spot."""

import io
import struct

import numpy as np
from PIL import Image


def scene(seed, width, height):
    """A textured (height, width, 3) uint8 picture."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:height, :width]
    base = 110 + 60 * np.sin(x / 29 + seed) + 50 * np.cos(y / 17)
    tint = np.array([1.0, 0.8, 1.2])
    return np.clip(base[..., None] * tint + rng.normal(0, 8, (height, width, 3)), 0, 255).astype(
        np.uint8
    )


def encode(pixels, kind="JPEG", **options):
    stream = io.BytesIO()
    image = pixels if isinstance(pixels, Image.Image) else Image.fromarray(pixels)
    image.save(stream, kind, **options)
    return stream.getvalue()


def set_jpeg_size(data, width, height):
    """The same JPEG claiming another size in its frame header."""
    at = data.index(b"\xff\xc0")
    return data[: at + 5] + struct.pack(">HH", height, width) + data[at + 9 :]


def jpeg_bomb(width=30000, height=30000):
    """A JPEG of 900 megapixels that weighs little: one flat colour."""
    return encode(Image.new("L", (width, height), 128), quality=30)
