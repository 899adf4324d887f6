"""What a disk holds beside plain photographs: bright corners, bars, thumbnails, screenshots."""

import io
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from samecam.arrays import Floats

__all__ = [
    "Addition",
    "draw_screenshot",
    "paint_bars",
    "screen_size",
    "thumbnail",
    "whiten_corner",
]

_WHITE = 8.0
"""Light that fills every photosite, whatever its colour; 1 is white."""
_THIRD, _LARGE, _MOST = 1 / 3, 1040, 0.6
_EDGES = (160, 200, 240, 256, 320)
_SCREENS = (
    *((1170, 2532), (1280, 720), (1080, 2340), (1920, 1080), (750, 1334), (1440, 900)),
    *((828, 1792), (1366, 768), (1536, 2048), (2560, 1440), (640, 1136), (1600, 900)),
)
_SCREEN_SCALE = 2
_LETTERS, _LETTER = 26, (7, 5)


class Addition(IntEnum):
    """What is added to the ordinary photos of a collection; the number keys random streams."""

    NONE = 0
    THUMBNAIL = 1
    BRIGHT_CORNER = 2
    LETTERBOX = 3
    SCREENSHOT = 4
    ODD_SIZE = 5


def whiten_corner(light: Floats) -> None:
    """Put a bright light into the top-left corner of exposed light (3, height, width)."""
    height, width = light.shape[1:]
    light[:, : _corner(height), : _corner(width)] = _WHITE


def _corner(length: int) -> int:
    """How much of a side the bright corner takes: a third, or more than 1,024 pixels."""
    third = round(length * _THIRD)
    return max(third, _LARGE) if length * _MOST >= _LARGE else third


def paint_bars(pixels: NDArray[np.uint8]) -> None:
    """Paint an eighth of the height black, above and below, in pixels (height, width, 3)."""
    height = len(pixels)
    bar = height // 8
    pixels[:bar] = 0
    pixels[height - bar :] = 0


def thumbnail(data: bytes, rng: np.random.Generator) -> bytes:
    """Make a JPEG of at most 320 pixels of a JPEG; at most half as large, and without EXIF."""
    with Image.open(io.BytesIO(data)) as picture:
        longest = max(picture.size)
        edge = min(int(rng.choice(_EDGES)), longest // 2)
        size = [max(1, round(length * edge / longest)) for length in picture.size]
        small = picture.resize((size[0], size[1]), Image.Resampling.LANCZOS)
    buffer = io.BytesIO()
    small.save(buffer, "JPEG", quality=int(rng.integers(75, 86)))
    return buffer.getvalue()


def screen_size(number: int) -> tuple[int, int]:
    """Width and height of a screenshot: of screens that are sold, half as wide and high."""
    width, height = _SCREENS[number % len(_SCREENS)]
    return width // _SCREEN_SCALE, height // _SCREEN_SCALE


def draw_screenshot(rng: np.random.Generator, width: int, height: int) -> bytes:
    """Draw a PNG of flat areas, a gradient and lines of marks like letters, without any noise."""
    dark = rng.random() < 0.3
    paper, ink = (rng.integers(10, 40, 3), 225) if dark else (rng.integers(225, 256, 3), 30)
    pixels = np.empty((height, width, 3), dtype=np.uint8)
    pixels[:] = paper
    for _ in range(int(rng.integers(2, 6))):
        _area(rng, pixels)[:] = rng.integers(0, 256, 3)
    part = _area(rng, pixels)
    ends = rng.integers(0, 256, (2, 1, 3))
    steps = np.linspace(0, 1, part.shape[1])[:, None]
    part[:] = np.rint(ends[0] + steps * (ends[1] - ends[0]))
    _write_lines(rng, pixels, ink)
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "PNG")
    return buffer.getvalue()


def _area(rng: np.random.Generator, pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """A rectangle of the picture, an eighth to a half of it wide and high."""
    sides = [int(length * rng.uniform(0.125, 0.5)) for length in pixels.shape[:2]]
    top, left = (
        int(rng.integers(0, length - side + 1))
        for length, side in zip(pixels.shape[:2], sides, strict=True)
    )
    return pixels[top : top + sides[0], left : left + sides[1]]


def _write_lines(rng: np.random.Generator, pixels: NDArray[np.uint8], ink: int) -> None:
    """Write lines of words over the middle of the picture, in letters of an alphabet of its own."""
    alphabet = rng.random((_LETTERS, *_LETTER)) < 0.45
    height, width = pixels.shape[:2]
    letters = (width * 3 // 4) // (_LETTER[1] + 1)
    top = int(rng.integers(8, 20))
    while top + 2 * _LETTER[0] < height:
        for place in range(int(letters * rng.uniform(0.4, 1))):
            letter = int(rng.integers(_LETTERS + 5))
            if letter < _LETTERS:
                left = width // 8 + place * (_LETTER[1] + 1)
                box = pixels[top : top + _LETTER[0], left : left + _LETTER[1]]
                box[alphabet[letter]] = ink
        top += int(rng.choice((11, 11, 11, 30)))
