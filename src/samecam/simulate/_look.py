"""How a picture shows what its sensor saw: zoomed, corrected, cut, mirrored, turned."""

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from samecam.simulate._arguments import Size

__all__ = ["Look", "show"]

Pixels = NDArray[np.uint8]
Box = tuple[int, int, int, int]
_CELL = 32
"""Side of the cells in which a lens correction is taken as bilinear: within .01 of a pixel."""


@dataclass(frozen=True)
class Look:
    """How a picture shows the frame of its camera, as `samecam.register.View` but for `radial`.

    A point p of the picture, from its centre, shows the camera's q = U(p)/scale · (1 + radial ·
    |p|²/R²) + shift, where R is half the picture's diagonal; a View has its radial term the other
    way round, so that its sign is the other and its size about the same.

    Attributes
    ----------
    size : width and height of the picture, after turning
    turn : degrees by which it is turned clockwise: 0, 90, 180 or 270
    mirrored : whether left and right are exchanged, before turning
    scale : about the centre; 2 shows the middle at twice its size
    radial : what a lens correction adds at the corners of the picture
    shift : x and y of the picture's centre from the camera's, in pixels of the camera
    """

    size: Size
    turn: int = 0
    mirrored: bool = False
    scale: float = 1.0
    radial: float = 0.0
    shift: tuple[float, float] = (0.0, 0.0)

    @property
    def upright(self) -> Size:
        """Width and height before turning."""
        return self.size[::-1] if self.turn % 180 else self.size

    def zoomed(self, zoom: float) -> "Look":
        """The middle of the picture, enlarged to its size."""
        return replace(self, scale=self.scale * zoom, radial=self.radial / zoom**2)

    def turned(self, turn: int) -> "Look":
        """The picture turned clockwise by so many degrees."""
        size = self.size[::-1] if turn % 180 else self.size
        return replace(self, size=size, turn=(self.turn + turn) % 360)

    def resized(self, size: Size) -> "Look":
        """The whole of the picture, as wide and high as `size`."""
        return replace(self, size=size, scale=self.scale * size[0] / self.size[0])

    def cut(self, box: Box) -> "Look":
        """A part of the picture: left, top, right, bottom.

        Of a picture that was corrected for its lens and is cut off its centre this is only nearly
        right, for the correction goes about the centre of the whole.
        """
        left, top, right, bottom = box
        size = (right - left, bottom - top)
        x = (left + right - self.size[0]) / 2
        y = (top + bottom - self.size[1]) / 2
        for _ in range(self.turn // 90):
            x, y = y, -x
        x = -x if self.mirrored else x
        shift = (self.shift[0] + x / self.scale, self.shift[1] + y / self.scale)
        share = _reach(size) / _reach(self.size)
        return replace(self, size=size, radial=self.radial * share, shift=shift)


def _reach(size: Size) -> float:
    """Squared distance of the corners' pixels from the centre."""
    return max(((size[0] - 1) ** 2 + (size[1] - 1) ** 2) / 4, 1.0)


def show(pixels: Pixels, look: Look) -> Pixels:
    """The picture of that look, of what the sensor saw: resampled once, bicubically.

    Parameters
    ----------
    pixels : ndarray of shape (height, width, 3)
        What the sensor saw, with the camera's frame in its middle. Shifts are for cuts of
        finished pictures and are not applied here.
    look : how it is to be shown
    """
    picture = Image.fromarray(pixels)
    if look.radial:
        picture = _corrected(picture, look)
    else:
        spans = [length / look.scale for length in look.upright]
        left, top = ((a - b) / 2 for a, b in zip(picture.size, spans, strict=True))
        if look.scale == 1:
            left, top = round(left), round(top)
            picture = picture.crop((left, top, left + look.upright[0], top + look.upright[1]))
        else:
            box = (left, top, left + spans[0], top + spans[1])
            picture = picture.resize(look.upright, Image.Resampling.BICUBIC, box=box)
    result = np.asarray(picture)
    if look.mirrored:
        result = result[:, ::-1]
    return np.ascontiguousarray(np.rot90(result, -(look.turn // 90)))


def _corrected(picture: Image.Image, look: Look) -> Image.Image:
    """The picture resampled by scale and radial term, not yet mirrored or turned."""
    width, height = look.upright
    xs, ys = (sorted({*range(0, length, _CELL), length}) for length in (width, height))
    x, y = np.meshgrid(np.array(xs) - width / 2, np.array(ys) - height / 2)
    factor = (1 + look.radial * (x**2 + y**2) / _reach(look.size)) / look.scale
    points = np.stack([x * factor + picture.width / 2, y * factor + picture.height / 2], axis=2)
    mesh = []
    for row, (top, bottom) in enumerate(pairwise(ys)):
        for column, (left, right) in enumerate(pairwise(xs)):
            corners = points[row : row + 2, column : column + 2]
            quad = [*corners[0, 0], *corners[1, 0], *corners[1, 1], *corners[0, 1]]
            mesh.append(((left, top, right, bottom), tuple(map(float, quad))))
    return picture.transform((width, height), Image.Transform.MESH, mesh, Image.Resampling.BICUBIC)
