"""Scenes: linear light in front of the lens, a different one for every photograph."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import cast

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from samecam.arrays import Floats

__all__ = ["fractal", "render_scene"]

Colour = tuple[float, float, float]

SKY: Colour = (0.42, 0.60, 0.95)
OVERCAST: Colour = (0.80, 0.84, 0.90)
GRASS: Colour = (0.16, 0.24, 0.07)
ROCK: Colour = (0.30, 0.27, 0.24)
BRICK: Colour = (0.42, 0.24, 0.17)
PLASTER: Colour = (0.60, 0.55, 0.47)
ASPHALT: Colour = (0.20, 0.20, 0.21)
WOOD: Colour = (0.38, 0.24, 0.13)
GLASS: Colour = (0.09, 0.11, 0.14)


@dataclass
class Canvas:
    """A map of materials that shapes are drawn on, later turned into light.

    Each material has a colour, the strength of its rough and of its smooth texture, and a
    gradient (logarithmic, from one side of the picture to the other).
    """

    height: int
    width: int
    rng: np.random.Generator
    colours: list[Colour] = field(default_factory=list)
    rough: list[float] = field(default_factory=list)
    smooth: list[float] = field(default_factory=list)
    slopes: list[tuple[float, float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.map = Image.new("L", (self.width, self.height), 0)
        self.pen = ImageDraw.Draw(self.map)

    def material(
        self,
        colour: Colour,
        *,
        rough: float,
        smooth: float = 0.1,
        vary: float = 0.15,
        slope: tuple[float, float] = (0.0, 0.0),
    ) -> int:
        """Mix a material near `colour` and return its number (the last of 255 is reused)."""
        if len(self.colours) == 255:
            return 254
        shade = self.rng.normal(0, vary)
        tint = self.rng.normal(0, vary / 2, 3)
        mixed = np.array(colour) * np.exp(shade + tint)
        self.colours.append((float(mixed[0]), float(mixed[1]), float(mixed[2])))
        self.rough.append(rough)
        self.smooth.append(smooth)
        self.slopes.append(slope)
        return len(self.colours) - 1

    def polygon(self, points: NDArray[np.float64], fill: int) -> None:
        """Fill the polygon with corners (x, y) as shares of width and height."""
        scaled = points * np.array([self.width, self.height])
        self.pen.polygon([(float(x), float(y)) for x, y in scaled], fill=fill)

    def rectangle(self, x0: float, y0: float, x1: float, y1: float, fill: int) -> None:
        """Fill an upright rectangle given as shares of width and height."""
        self.polygon(np.array([(x0, y0), (x1, y0), (x1, y1), (x0, y1)]), fill)

    def ellipse(self, x: float, y: float, rx: float, ry: float, turn: float, fill: int) -> None:
        """Fill an ellipse; radii are shares of the width, `turn` is in radians."""
        t = np.linspace(0, 2 * np.pi, 40, endpoint=False)
        u, v = rx * np.cos(t), ry * np.sin(t)
        aspect = self.width / self.height
        px = x + u * np.cos(turn) - v * np.sin(turn)
        py = y + (u * np.sin(turn) + v * np.cos(turn)) * aspect
        self.polygon(np.stack([px, py], axis=1), fill)

    def light(self) -> Floats:
        """Turn materials into linear light, shape (3, height, width).

        light = colour · exp(rough · R + smooth · S + gradient), R and S fractal textures.
        """
        labels = np.asarray(self.map)
        slopes = np.array(self.slopes, dtype=np.float32)
        y = np.linspace(-0.5, 0.5, self.height, dtype=np.float32)[:, None]
        x = np.linspace(-0.5, 0.5, self.width, dtype=np.float32)[None, :]
        log = fractal(self.rng, self.height, self.width, persistence=0.95, coarsest=24)
        log *= np.array(self.rough, dtype=np.float32)[labels]
        soft = fractal(self.rng, self.height, self.width, persistence=0.45, coarsest=512)
        log += soft * np.array(self.smooth, dtype=np.float32)[labels]
        log += slopes[:, 0][labels] * y + slopes[:, 1][labels] * x
        glow = np.exp(log, out=log)
        colours = np.array(self.colours, dtype=np.float32)
        return np.stack([colours[:, c][labels] * glow for c in range(3)])


def fractal(
    rng: np.random.Generator, height: int, width: int, *, persistence: float, coarsest: int
) -> Floats:
    """Sum of octaves of random bumps, unit variance, shape (height, width).

    Bumps of `coarsest` pixels have amplitude 1, of half that size `persistence`, and so on down
    to 2 pixels; persistence near 1 is 1/f noise, smaller values are smoother.
    """
    cell, amplitude = float(coarsest), 1.0
    total = rng.standard_normal(_grid(height, width, cell), dtype=np.float32)
    while cell > 2:
        cell, amplitude = cell / 2, amplitude * persistence
        shape = _grid(height, width, max(cell, 2))
        total = _enlarge(total, shape)
        total += np.float32(amplitude) * rng.standard_normal(shape, dtype=np.float32)
    total = _enlarge(total, (height, width))
    total -= total.mean()
    total /= max(float(total.std()), 1e-6)
    return total


def _grid(height: int, width: int, cell: float) -> tuple[int, int]:
    return max(3, round(height / cell) + 1), max(3, round(width / cell) + 1)


def _enlarge(values: Floats, shape: tuple[int, int]) -> Floats:
    resized = Image.fromarray(values).resize((shape[1], shape[0]), Image.Resampling.BICUBIC)
    return np.array(resized, dtype=np.float32)


def _soften(plane: Floats, share: float) -> Floats:
    """Blur by the lens: a 3-tap kernel (share, 1 − 2·share, share) along both axes."""
    side, middle = np.float32(share), np.float32(1 - 2 * share)
    padded = np.pad(plane, 1, mode="edge")
    rows = side * (padded[:-2] + padded[2:]) + middle * padded[1:-1]
    return cast(Floats, side * (rows[:, :-2] + rows[:, 2:]) + middle * rows[:, 1:-1])


def render_scene(rng: np.random.Generator, place: float, height: int, width: int) -> Floats:
    """One random scene as linear light on an arbitrary scale, shape (3, height, width).

    `place` in [0, 1) chooses what it shows: 34 % landscape, 22 % street, 16 % room, 14 % leaves,
    14 % wall.
    """
    canvas = Canvas(height, width, rng)
    painter = _PAINTERS[int(np.searchsorted(np.cumsum(_SHARES), place, side="right"))]
    painter(canvas)
    light = canvas.light()
    blur = float(rng.uniform(0.20, 0.27))
    return np.stack([_soften(plane, blur) for plane in light])


def _paint_sky(canvas: Canvas) -> None:
    rng = canvas.rng
    clear = rng.random() < 0.6
    canvas.material(
        SKY if clear else OVERCAST,
        rough=0.0,
        smooth=float(rng.uniform(0.02, 0.10) if clear else rng.uniform(0.08, 0.25)),
        vary=0.1,
        slope=(float(rng.uniform(0.2, 0.9)), float(rng.normal(0, 0.25))),
    )


def _ridge(rng: np.random.Generator, level: float, rise: float) -> NDArray[np.float64]:
    """Polygon below a jagged line around the height `level` (share of the picture)."""
    x = np.linspace(0, 1, 129)
    y = np.full(129, level)
    for octave in range(7):
        knots = np.linspace(0, 1, 2 ** (octave + 1) + 1)
        y += np.interp(x, knots, rng.normal(0, rise * 0.55**octave, knots.size))
    line = np.stack([x, y], axis=1)
    return np.concatenate([line, [(1.0, 1.2), (0.0, 1.2)]])


def _paint_landscape(canvas: Canvas) -> None:
    """Sky, a few ridges, a meadow with bushes."""
    rng = canvas.rng
    _paint_sky(canvas)
    horizon = float(rng.uniform(0.3, 0.75))
    layers = int(rng.integers(1, 4))
    for k in range(layers):
        depth = (k + 1) / layers
        far = np.array(SKY) * 0.45 * (1 - depth) + np.array(ROCK if k % 2 else GRASS) * depth
        tone = canvas.material(tuple(far), rough=0.06 + 0.18 * depth, smooth=0.2)
        canvas.polygon(_ridge(rng, horizon + 0.06 * k, 0.07), tone)
    slope = (float(rng.uniform(0.2, 0.8)), 0.0)
    meadow = canvas.material(GRASS, rough=float(rng.uniform(0.08, 0.28)), smooth=0.3, slope=slope)
    canvas.polygon(_ridge(rng, min(horizon + 0.18, 0.9), 0.02), meadow)
    for _ in range(int(rng.integers(0, 25))):
        bush = canvas.material(GRASS, rough=float(rng.uniform(0.15, 0.4)), vary=0.3)
        x, y = rng.uniform(0, 1), rng.uniform(min(horizon + 0.2, 0.92), 1)
        size = rng.uniform(0.01, 0.07)
        for _ in range(int(rng.integers(3, 9))):
            dx, dy = rng.normal(0, size, 2)
            canvas.ellipse(x + dx, y + dy, size * 0.7, size * 0.6, 0.0, bush)


def _paint_street(canvas: Canvas) -> None:
    """Sky, houses with windows, a street that narrows towards the horizon."""
    rng = canvas.rng
    _paint_sky(canvas)
    ground = float(rng.uniform(0.65, 0.85))
    pavement = canvas.material(PLASTER, rough=0.15, smooth=0.15)
    canvas.rectangle(0, ground - 0.02, 1, 1, pavement)
    left = float(rng.uniform(-0.1, 0.2))
    while left < 1:
        breadth = float(rng.uniform(0.08, 0.28))
        _paint_house(canvas, left, left + breadth, float(rng.uniform(0.1, 0.5)), ground)
        left += breadth + max(0.0, float(rng.normal(0, 0.05)))
    middle = float(rng.uniform(0.3, 0.7))
    asphalt = canvas.material(ASPHALT, rough=0.18, smooth=0.1, slope=(0.4, 0.0))
    road = [(middle - 0.05, ground), (middle + 0.05, ground), (middle + 0.6, 1), (middle - 0.6, 1)]
    canvas.polygon(np.array(road), asphalt)


def _paint_house(canvas: Canvas, x0: float, x1: float, top: float, ground: float) -> None:
    rng = canvas.rng
    base = (BRICK, PLASTER, ROCK, OVERCAST)[int(rng.integers(4))]
    wall = canvas.material(base, rough=float(rng.uniform(0.03, 0.2)), smooth=0.1, vary=0.25)
    canvas.rectangle(x0, top, x1, ground, wall)
    panes = [canvas.material(GLASS, rough=0.05, smooth=0.5, vary=0.4) for _ in range(3)]
    columns, rows = int(rng.integers(2, 6)), int(rng.integers(2, 9))
    dx, dy = (x1 - x0) / columns, (ground - top) / rows
    inset = float(rng.uniform(0.18, 0.35))
    for row in range(rows):
        for column in range(columns):
            x, y = x0 + column * dx, top + row * dy
            pane = panes[int(rng.integers(3))]
            canvas.rectangle(
                x + inset * dx, y + inset * dy, x + (1 - inset) * dx, y + (1 - inset) * dy, pane
            )


def _paint_room(canvas: Canvas) -> None:
    """A wall lit from one side, pictures on it, a table with round things."""
    rng = canvas.rng
    slope = (float(rng.normal(0, 0.5)), float(rng.normal(0, 0.8)))
    canvas.material(PLASTER, rough=0.02, smooth=0.06, vary=0.3, slope=slope)
    for _ in range(int(rng.integers(1, 6))):
        x, y, w, h = rng.uniform((0, 0, 0.08, 0.08), (0.9, 0.45, 0.3, 0.35))
        frame = canvas.material(WOOD, rough=0.05, vary=0.4)
        canvas.rectangle(x, y, x + w, y + h, frame)
        inside = canvas.material((0.4, 0.4, 0.4), rough=0.25, smooth=0.5, vary=0.5)
        canvas.rectangle(x + 0.1 * w, y + 0.1 * h, x + 0.9 * w, y + 0.9 * h, inside)
    edge = float(rng.uniform(0.6, 0.8))
    table = canvas.material(WOOD, rough=0.12, smooth=0.25, vary=0.3, slope=(0.5, 0.0))
    canvas.polygon(np.array([(0.0, edge), (1.0, edge), (1.2, 1.0), (-0.2, 1.0)]), table)
    for _ in range(int(rng.integers(3, 14))):
        colour = tuple(rng.uniform(0.08, 0.7, 3))
        thing = canvas.material(
            cast(Colour, colour), rough=float(rng.uniform(0, 0.12)), slope=(-0.5, 1.5)
        )
        radius = float(rng.uniform(0.02, 0.09))
        x, y = rng.uniform(0, 1), edge + rng.uniform(-0.05, 0.25)
        canvas.ellipse(x, y, radius, radius * rng.uniform(0.6, 1.4), 0.0, thing)


def _paint_leaves(canvas: Canvas) -> None:
    """A close-up: leaves of many sizes before a soft background."""
    rng = canvas.rng
    canvas.material(GRASS, rough=0.03, smooth=0.5, vary=0.4)
    base = (GRASS, (0.45, 0.30, 0.08), (0.30, 0.32, 0.10), BRICK)[int(rng.integers(4))]
    for size in np.sort(rng.uniform(0.02, 0.16, int(rng.integers(40, 180))))[::-1]:
        leaf = canvas.material(base, rough=float(rng.uniform(0.03, 0.22)), smooth=0.25, vary=0.35)
        x, y = rng.uniform(-0.1, 1.1, 2)
        canvas.ellipse(x, y, size, size * 0.35, float(rng.uniform(0, np.pi)), leaf)


def _paint_wall(canvas: Canvas) -> None:
    """A surface with a few posters: mostly smooth, sometimes rough like plaster or brick."""
    rng = canvas.rng
    base = (PLASTER, OVERCAST, BRICK, ROCK)[int(rng.integers(4))]
    slope = (float(rng.normal(0, 0.5)), float(rng.normal(0, 0.6)))
    canvas.material(base, rough=float(rng.uniform(0.0, 0.2)), smooth=0.15, vary=0.3, slope=slope)
    for _ in range(int(rng.integers(2, 12))):
        poster = canvas.material(cast(Colour, tuple(rng.uniform(0.1, 0.8, 3))), rough=0.05)
        corner, span = rng.uniform(0, 0.9, 2), rng.uniform(0.03, 0.3, 2)
        lean = rng.normal(0, 0.02, (4, 2))
        box = np.array([(0, 0), (1, 0), (1, 1), (0, 1)]) * span + corner + lean
        canvas.polygon(box, poster)


_PAINTERS: tuple[Callable[[Canvas], None], ...] = (
    _paint_landscape,
    _paint_street,
    _paint_room,
    _paint_leaves,
    _paint_wall,
)
_SHARES = (0.34, 0.22, 0.16, 0.14, 0.14)
