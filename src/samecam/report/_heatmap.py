"""Correlations in the order of groups as a small picture."""

import base64
import io
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from samecam.arrays import Doubles, Labels
from samecam.report._correlations import Correlations

SIDE = 600
_LEVELS = 64
_COLOUR = (37, 99, 235)
_LEAST = 6.0
# Labels beside the map: height of a line, how many stand on one side, and how many there are.
_LINE, _ONE_SIDE, _MOST = 2.8, 34, 160


@dataclass(frozen=True, slots=True)
class Block:
    """A group's square on the diagonal, in hundredths of the picture's side.

    `label` : height of its label; None: it has none
    `right` : whether that stands on the right
    """

    group: int
    start: float
    side: float
    label: float | None = None
    right: bool = False

    @property
    def middle(self) -> float:
        """Where its label would stand if there were no others."""
        return round(self.start + self.side / 2, 3)


@dataclass(frozen=True, slots=True)
class HeatMap:
    """A picture, how strong its full colour is, and where groups lie in it.

    `line` : height of a label's line
    `in_units` : whether that is in units of what chance scatters by, not a correlation
    """

    uri: str
    full: float
    pixels: int
    blocks: list[Block]
    line: float = _LINE
    in_units: bool = False

    @property
    def unlabelled(self) -> int:
        """Groups without a label."""
        return sum(block.label is None for block in self.blocks)

    @property
    def both_sides(self) -> bool:
        """Whether labels stand on the right too."""
        return any(block.right for block in self.blocks)

    @property
    def full_text(self) -> str:
        """What its full colour stands for."""
        return f"{self.full:.1f} times chance" if self.in_units else f"{self.full:.3f}"


def heat_map(given: Correlations) -> HeatMap | None:
    """Draw it; None if there is no pair. Colour is opacity, so it suits any background.

    Chance of small pictures is larger than what a camera shows in large ones: with several
    frames, colours are in units of chance.
    """
    n = len(given.labels)
    if n < 2:
        return None
    side, several = min(n, SIDE), len(given.scales) > 1
    values = averaged(given.in_units_of_chance() if several else given.gram, side)
    chance = (1 if several else given.scale) * side / n
    full = _full_colour(values, given.labels[_edges(n, side)], chance)
    blocks, line = _labelled(_blocks(given))
    return HeatMap(_png(values, full), full, side, blocks, line, several)


def _full_colour(values: Doubles, labels: Labels, scale: float) -> float:
    """Correlation of the strongest colour: reached by a fifth of what lies within groups."""
    same = (labels[:, np.newaxis] == labels) & (labels >= 0)[:, np.newaxis]
    np.fill_diagonal(same, False)
    strong = float(np.quantile(values[same], 0.8)) if same.any() else 0.0
    return max(_LEAST * scale, strong)


def _edges(n: int, side: int) -> Labels:
    """First photo of each of `side` blocks."""
    return np.linspace(0, n, side, endpoint=False).astype(np.intp)


def averaged(gram: npt.NDArray[np.float32], side: int) -> Doubles:
    """Means over side × side blocks of photos; a photo with itself does not count.

    Blocks that hold nothing else (single photos) are 0.
    """
    n = len(gram)
    edges = _edges(n, side)
    sizes = np.diff(np.append(edges, n)).astype(np.float64)
    without = gram - np.diag(np.diag(gram))
    rows = np.add.reduceat(without, edges, axis=0, dtype=np.float64)
    sums = np.add.reduceat(rows, edges, axis=1)
    counts = np.outer(sizes, sizes) - np.diag(sizes)
    return np.divide(sums, counts, out=np.zeros_like(sums), where=counts > 0)


def _png(values: Doubles, full: float) -> str:
    """As a data URI."""
    data = heat_picture(values, full)
    return "data:image/png;base64," + base64.b64encode(data).decode("ascii")


def heat_picture(values: Doubles, full: float) -> bytes:
    """A PNG of numbers: one colour, its opacity growing from 0 to that of `full`."""
    from PIL import Image

    level = np.clip(values / full, 0, 1) * (_LEVELS - 1)
    indices = level.round().astype(np.uint8)
    image = Image.frombytes("P", indices.shape[::-1], indices.tobytes())
    image.putpalette(list(_COLOUR) * _LEVELS)
    opacity = bytes(round(255 * k / (_LEVELS - 1)) for k in range(_LEVELS))
    stream = io.BytesIO()
    image.save(stream, "PNG", transparency=opacity, optimize=True)
    return stream.getvalue()


def _blocks(given: Correlations) -> list[Block]:
    n = len(given.labels)
    blocks = []
    for group in np.unique(given.labels[given.labels >= 0]).tolist():
        at = np.flatnonzero(given.labels == group)
        blocks.append(Block(group, round(100 * int(at[0]) / n, 3), round(100 * len(at) / n, 3)))
    return blocks


def _labelled(blocks: list[Block]) -> tuple[list[Block], float]:
    """Blocks with their labels, on one side or two, apart from each other; and their height.

    Where there are very many groups, the largest have one.
    """
    order = sorted(range(len(blocks)), key=lambda k: (-blocks[k].side, k))
    chosen = sorted(order[:_MOST])
    sides = 1 if len(chosen) <= _ONE_SIDE else 2
    line = min(_LINE, 100 * sides / max(len(chosen), 1))
    result = list(blocks)
    for right in range(sides):
        some = chosen[right::sides]
        places = spread([blocks[k].middle for k in some], line, 100.0)
        for k, place in zip(some, places, strict=True):
            result[k] = replace(blocks[k], label=round(place, 3), right=bool(right))
    return result, round(line, 3)


def spread(wanted: Sequence[float], apart: float, end: float) -> list[float]:
    """Rising places as near to those wanted as going down and then up once makes them.

    Parameters
    ----------
    wanted : places, rising
    apart : least distance of two; half of it from the ends
    end : of the line that begins at 0; there is room for all
    """
    places: list[float] = []
    for place in wanted:
        places.append(max(place, places[-1] + apart if places else apart / 2))
    last = end - apart / 2
    for k in reversed(range(len(places))):
        places[k] = min(places[k], last)
        last = places[k] - apart
    return places
