"""What a simulation is asked for: checked, and as `simulation.json` keeps it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from samecam._version import __version__
from samecam.errors import ParameterError
from samecam.simulate._views import Views

__all__ = ["Arguments", "Size", "as_sizes"]

Size = tuple[int, int]
_LEAST = {
    "cameras": 1,
    "images": 1,
    "models": 1,
    "outliers": 0,
    "thumbnails": 0,
    "bright_corners": 0,
    "letterbox": 0,
    "screenshots": 0,
    "odd_sizes": 0,
    "seed": 0,
}
_MOST_CROSSTALK = 3.0


@dataclass(frozen=True)
class Arguments:
    """Arguments of `simulate_photos` that decide which bytes are written."""

    cameras: int
    images: int
    models: int
    sizes: tuple[Size, ...]
    quality: tuple[int, int]
    outliers: int
    recompress: int | None
    thumbnails: int
    bright_corners: int
    letterbox: int
    screenshots: int
    odd_sizes: int
    seed: int
    views: Views = field(default_factory=Views)
    crosstalk: float = 0.0

    def size_of(self, model: int) -> Size:
        """Width and height of the photos of a model: models take the sizes in turn."""
        return self.sizes[model % len(self.sizes)]

    def check(self) -> None:
        """Raise a `ParameterError` for the first argument that cannot be used."""
        for name, least in _LEAST.items():
            if (value := getattr(self, name)) < least:
                raise ParameterError(name, f"{{name}} is {value}: give at least {least}.")
        if self.models > self.cameras:
            raise ParameterError(
                "models",
                f"{{name}} is {self.models}: give at most the number of cameras, {self.cameras}.",
            )
        if self.thumbnails > (most := self.cameras * self.images):
            raise ParameterError(
                "thumbnails", f"{{name}} is {self.thumbnails}: give at most one a photo, {most}."
            )
        self._check_sizes()
        self.views.check(self.sizes)
        if not 0 <= self.crosstalk <= _MOST_CROSSTALK:
            raise ParameterError(
                "crosstalk",
                f"{{name}} is {self.crosstalk:g}: give 0 to {_MOST_CROSSTALK:g} pixels.",
            )
        low, high = self.quality
        if not 1 <= low <= high <= 100:
            raise ParameterError(
                "quality",
                f"{{name}} is {low} to {high}: give two numbers from 1 to 100, "
                "the lower one first.",
            )
        if self.recompress is not None and not 1 <= self.recompress <= 100:
            raise ParameterError(
                "recompress", f"{{name}} is {self.recompress}: give a JPEG quality from 1 to 100."
            )

    def _check_sizes(self) -> None:
        if not self.sizes:
            raise ParameterError("size", "{name} is empty: give a width and a height.")
        for width, height in self.sizes:
            if min(width, height) < 64:
                raise ParameterError(
                    "size", f"{{name}} is {width}x{height}: give at least 64x64 pixels."
                )
        if len(self.sizes) > self.models:
            raise ParameterError(
                "size",
                f"{{name}} is given {len(self.sizes)} times for {self.models} "
                f"model{'s' if self.models > 1 else ''}: give at most one size a model, "
                "or more models.",
            )

    def as_json(self) -> dict[str, Any]:
        """Ready for JSON: one size as two numbers, several as a list of them."""
        sizes = [list(size) for size in self.sizes]
        return {
            "samecam": __version__,
            "cameras": self.cameras,
            "images": self.images,
            "models": self.models,
            "size": sizes[0] if len(sizes) == 1 else sizes,
            "quality": list(self.quality),
            "outliers": self.outliers,
            "recompress": self.recompress,
            "thumbnails": self.thumbnails,
            "bright_corners": self.bright_corners,
            "letterbox": self.letterbox,
            "screenshots": self.screenshots,
            "odd_sizes": self.odd_sizes,
            "seed": self.seed,
            **self.views.as_json(),
            **({"crosstalk": self.crosstalk} if self.crosstalk else {}),
        }


def as_sizes(size: Size | Sequence[Size]) -> tuple[Size, ...]:
    """One (width, height) or several, as a tuple of them."""
    if len(size) and not isinstance(size[0], Sequence):
        size = [cast(Size, size)]
    several = cast(Sequence[Size], size)
    return tuple((int(width), int(height)) for width, height in several)
