"""A view fitted on all that two patterns have in common."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from samecam.arrays import Doubles, Floats, Table
from samecam.compute import thread_count
from samecam.frames import Frame
from samecam.register._resample import Pattern, upright
from samecam.register._view import View, centre, square_radius

TILE, REACH = 128, 3
_OTHERS = (2 * REACH + 1) ** 2 - 9  # shifts of two pixels and more
_GROWTH = 1.35
# Steps at the first radius and at others at most, and pixels that no tile moves by when nothing is
# left to gain.
_FIRST_STEPS, _STEPS, _STILL = 2, 4, 0.15
# Tiles that are enough to see that there is no view, and to find one; the score is of all.
_FIRST_TILES, _MOST_TILES = 64, 140
# Score under which a fit ends, the power of the area with which it must grow, and up to which.
_LEAST, _GROWS, _SURE = 3.0, 0.25, 5.5
# Share of the score from which the plainer of two views is taken.
_PLAIN = 0.97
# Steps a pixel between whole shifts.
_FINE = 8
# Radius in pixels from which lens corrections are looked for, and what one must add to the sum.
_BENT, _GAIN = 300, 1.5


class Fitted(NamedTuple):
    """A view and what speaks for it.

    Attributes
    ----------
    view : with score and area
    correlation : over the common area
    spread : of the sum of products by chance
    scores : (n,) of tiles, in units of chance
    """

    view: View
    correlation: float
    spread: float
    scores: Doubles


def fit_view(
    picture: Pattern, camera: Pattern, start: View, *, radius: float = 512.0
) -> Fitted | None:
    """Fit scale, radial term and shift, from the middle outwards.

    Tiles within a radius are compared at shifts of up to 3 pixels; the view under which their
    correlations add up to most is taken to a larger radius, until all that is common is seen.

    Parameters
    ----------
    picture, camera : patterns; a pixel of the picture is no larger than one of the camera
    start : a view that holds within `radius` pixels of the centre, but for a pixel or two

    Returns
    -------
    None if the score does not grow with what is seen: that of one sensor grows with the root of
    the area, that of chance falls
    """
    frame = Frame(camera.shape[1], camera.shape[0])
    flat, zoom = upright(picture, start)
    flat = np.ascontiguousarray(flat)
    view, far = start, float(np.hypot(*centre(frame)))
    began: tuple[float, float] | None = None
    while True:
        tiles = _tiles(frame, flat.shape, view, zoom, radius)
        if not len(tiles.corners):
            return None
        fewer = tiles.some(_MOST_TILES if began else _FIRST_TILES)
        steps = _STEPS if began else _FIRST_STEPS
        result = _settled(flat, camera, fewer, view, zoom, steps)
        area = float(len(fewer.corners))
        began = began or (_score(result), area)
        grown = min(began[0] * (area / began[1]) ** _GROWS, _SURE)
        if _score(result) < max(_LEAST, grown):
            return None
        if len(fewer.corners) < min(len(tiles.corners), _MOST_TILES):
            view = result.view
            continue
        if radius >= min(far, tiles.farthest + TILE):
            if fewer is not tiles:
                result = _settled(flat, camera, tiles, result.view, zoom, 2)
            result = _plainest(flat, camera, tiles, result, zoom)
            return result if _score(result) >= _LEAST else None
        view = result.view
        radius *= _GROWTH


def fixed_view(picture: Pattern, camera: Pattern, view: View) -> Fitted | None:
    """What a view gives as it is, over all that is common; None where that is too little."""
    flat, zoom = upright(picture, view)
    frame = Frame(camera.shape[1], camera.shape[0])
    tiles = _tiles(frame, flat.shape, view, zoom, float("inf"))
    if not len(tiles.corners):
        return None
    return _compared(np.ascontiguousarray(flat), camera, tiles, view, zoom)[0]


def _plainest(
    flat: Pattern, camera: Pattern, tiles: "_Tiles", result: Fitted, zoom: float
) -> Fitted:
    """The view without any scale, or the one given, if that is plainly better.

    Interpolation smooths noise away, so that a view which needs some looks a little better.
    """
    view = result.view
    if zoom != 1 or abs(view.scale - 1) * tiles.farthest > 1 or view.radial:
        return result
    whole = (float(round(view.shift[0])), float(round(view.shift[1])))
    plain, _ = _compared(flat, camera, tiles, replace(view, scale=1.0, shift=whole), zoom)
    return plain if _score(plain) > _PLAIN * _score(result) else result


def _settled(
    flat: Pattern, camera: Pattern, tiles: "_Tiles", view: View, zoom: float, steps: int
) -> Fitted:
    """The best of some steps, of which each begins where the one before ended."""
    best, maps = _compared(flat, camera, tiles, view, zoom)
    here = best
    for _ in range(1, steps):
        view, moved = _improved(maps, tiles, here)
        if moved < _STILL:
            break
        here, maps = _compared(flat, camera, tiles, view, zoom)
        if _score(here) > _score(best):
            best = here
    return best


def _score(fitted: Fitted) -> float:
    return fitted.view.score or 0.0


class _Tiles(NamedTuple):
    corners: Table
    places: Floats
    farthest: float

    def some(self, most: int) -> "_Tiles":
        """Not more than so many of them, evenly."""
        if len(self.corners) <= most:
            return self
        at = np.linspace(0, len(self.corners) - 1, most).astype(np.intp)
        return _Tiles(self.corners[at], self.places[at], self.farthest)


def _tiles(frame: Frame, shape: tuple[int, int], view: View, zoom: float, radius: float) -> _Tiles:
    """Tiles of the camera's frame that the picture covers, within a radius of the centre."""
    half = centre(frame)
    scale = view.scale / zoom
    reach = np.array([shape[1], shape[0]]) / 2 / scale - 4
    low = np.maximum(np.ceil(half + view.shift - reach), REACH).astype(np.int64)
    high = np.floor(half + view.shift + reach)
    size = np.array([frame.width, frame.height])
    high = np.minimum(high, size - REACH).astype(np.int64)
    counts = (high - low) // TILE
    if (counts < 1).any():
        return _Tiles(np.empty((0, 2), np.int64), np.empty((0, 3), np.float32), 0.0)
    first = low + (high - low - counts * TILE) // 2
    columns, rows = (first[k] + TILE * np.arange(counts[k]) for k in range(2))
    corners = np.stack(np.meshgrid(rows, columns, indexing="ij"), axis=-1).reshape(-1, 2)
    q = corners[:, ::-1] + (TILE - 1) / 2 - half - np.array(view.shift)
    distance = np.hypot(*q.T)
    near = distance <= max(radius, float(distance.min()))
    square = distance**2 / square_radius(frame)
    places = np.column_stack([q, square])[near].astype(np.float32)
    return _Tiles(corners[near].astype(np.int64), places, float(distance.max()))


def _compared(
    flat: Pattern, camera: Pattern, tiles: _Tiles, view: View, zoom: float
) -> tuple[Fitted, Floats]:
    """What a view gives, and the sums of products of every tile at small shifts."""
    from samecam.register._kernels import tile_maps

    side, radius = 2 * REACH + 1, square_radius(Frame(camera.shape[1], camera.shape[0]))
    maps = np.empty((len(tiles.corners), side, side), dtype=np.float32)
    energy = np.empty((len(maps), 2))
    x, y = map(float, view.shift)
    given = (view.scale / zoom, view.radial / radius, x, y)

    def compare(part: slice) -> None:
        tile_maps(flat, camera, tiles.corners[part], TILE, REACH, given, maps[part], energy[part])

    step = max(1, -(-len(maps) // (2 * thread_count())))
    parts = [slice(start, start + step) for start in range(0, len(maps), step)]
    with ThreadPoolExecutor(thread_count()) as pool:
        for _ in pool.map(compare, parts):
            pass
    return _scored(maps, energy, view)


def _improved(maps: Floats, tiles: _Tiles, here: Fitted) -> tuple[View, float]:
    """The view under which the maps add up to most, and how far a tile moves at most.

    The radial term is moved only where that adds more than chance would.
    """
    far = float(np.hypot(*tiles.places[:, :2].T).max())
    share = max(float(tiles.places[:, 2].max()), 1e-9)
    unit = np.array([1 / max(far, 1.0), 1 / max(far, 1.0) / share, 1.0, 1.0])
    maps = _finer(maps)
    best, total = _peak(maps, tiles, unit, bend=False)
    if far > _BENT:
        bent, more = _peak(maps, tiles, unit, bend=True)
        if more - total > _GAIN * here.spread:
            best = bent
    moved = tiles.places[:, :2] * (best[0] + best[1] * tiles.places[:, 2:]) + best[2:]
    a, b, x, y = map(float, best)
    view = here.view
    shift = (view.shift[0] + x, view.shift[1] + y)
    better = replace(view, scale=view.scale * (1 - a), radial=view.radial - b, shift=shift)
    return better, float(np.abs(moved).max())


def _finer(maps: Floats) -> Floats:
    """Maps between whole shifts, by Lanczos interpolation."""
    side = 2 * REACH + 1
    at = np.arange((side - 1) * _FINE + 1) / _FINE
    t = at[:, np.newaxis] - np.arange(side)
    weights = np.where(np.abs(t) < 3, np.sinc(t) * np.sinc(t / 3), 0.0)
    weights = (weights / weights.sum(axis=1, keepdims=True)).astype(np.float32)
    finer: Floats = np.einsum("yj,tji,xi->tyx", weights, maps, weights, optimize=True)
    return np.ascontiguousarray(finer)


def _peak(maps: Floats, tiles: _Tiles, unit: Doubles, *, bend: bool) -> tuple[Doubles, float]:
    """Shift model with the largest sum, and the sum; from coarse steps to fine ones."""
    from samecam.register._kernels import total_at

    best, total = np.zeros(4), 0.0
    for step, many in ((1.0, 3), (0.5, 2), (0.25, 1), (0.125, 1)):
        line = step * np.arange(-many, many + 1)
        bends = line if bend else np.zeros(1)
        shifts = line if step < 1 else np.arange(-2.0, 2.5)
        offsets = np.stack(np.meshgrid(line, bends, shifts, shifts, indexing="ij"), axis=-1)
        grid = best + offsets.reshape(-1, 4) * unit
        sums = total_at(maps, _FINE, tiles.places, grid)
        best, total = grid[int(np.argmax(sums))], float(sums.max())
    return best, total


def _scored(maps: Floats, energy: Doubles, view: View) -> tuple[Fitted, Floats]:
    """Score of what lies at no shift, against shifts of two pixels and more; maps less those."""
    off: npt.NDArray[np.bool_] = np.ones(maps.shape[1:], dtype=bool)
    off[REACH - 1 : REACH + 2, REACH - 1 : REACH + 2] = False
    others = maps[:, off].astype(np.float64)
    usual = others.mean(axis=1)
    variance = others.var(axis=1) * _OTHERS / (_OTHERS - 1)
    centres = maps[:, REACH, REACH] - usual
    total, spread = float(centres.sum()), max(float(np.sqrt(variance.sum())), 1e-30)
    norm = max(float(np.sqrt(energy[:, 0].sum() * energy[:, 1].sum())), 1e-30)
    scored = replace(view, score=total / spread, area=len(maps) * TILE**2)
    tiles = centres / np.maximum(np.sqrt(variance), 1e-30)
    left: Floats = (maps - usual[:, np.newaxis, np.newaxis]).astype(np.float32)
    return Fitted(scored, total / norm, spread, tiles), left
