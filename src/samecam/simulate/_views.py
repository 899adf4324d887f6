"""Views: in how many ways the photos of one sensor are to show it."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from samecam.errors import ParameterError

__all__ = ["LEAST_ZOOM", "Views", "wide_size"]

LEAST_ZOOM, _MOST_ZOOM = 1.3, 6.0
_SHARES = ("zoom", "wide", "turned", "mirrored", "messenger", "cropped")


@dataclass(frozen=True)
class Views:
    """Shares of the photos that do not show their sensor pixel by pixel.

    The pattern enters at the sensor; then the picture is developed, resampled once (zoom and lens
    together, bicubically), cut, mirrored, turned, and only then saved as JPEG. Copies and crops
    are made of that JPEG, turned upright.

    Attributes
    ----------
    zoom : share of the photos whose middle is enlarged to the full frame (`DigitalZoomRatio`):
        every second 2×, the others 1.3× to `max_zoom`×
    max_zoom : up to 6
    wide : share in 16:9: the full width, less height, the same centre; never zoomed
    turned : share whose pixels are turned by 90, 180 or 270 degrees, with the normal orientation
    mirrored : share with left and right exchanged, as front cameras do
    lens : correct the lens in all photos: a scale of .985 to 1.004 about the centre and a term in
        r², both by focal length, of which every model has three (`FocalLength`)
    messenger : share that is there only as a messenger's copy; see `MESSENGERS`
    cropped : share of which only a crop is there, off the centre, saved once more at quality 95;
        every second keeps its EXIF
    beside : keep the originals of copies and crops beside them
    exif : write EXIF at all
    """

    zoom: float = 0.0
    max_zoom: float = 4.0
    wide: float = 0.0
    turned: float = 0.0
    mirrored: float = 0.0
    lens: bool = False
    messenger: float = 0.0
    cropped: float = 0.0
    beside: bool = False
    exif: bool = True

    def __bool__(self) -> bool:
        """Whether anything else than plain photos is asked for."""
        return self != Views()

    def check(self, sizes: Iterable[tuple[int, int]]) -> None:
        """Raise a `ParameterError` for the first that cannot be used on frames of these sizes."""
        for name in _SHARES:
            if not 0 <= (value := getattr(self, name)) <= 1:
                raise ParameterError(name, f"{{name}} is {value:g}: give a share from 0 to 1.")
        for first, second in (("wide", "zoom"), ("cropped", "messenger")):
            value, other = getattr(self, first), getattr(self, second)
            if value + other > 1 + 1e-9:
                raise ParameterError(
                    first,
                    f"{{name}} is {value:g}: give at most {1 - other:g}, for {second} has the "
                    "rest of the photos.",
                )
        if not LEAST_ZOOM <= self.max_zoom <= _MOST_ZOOM:
            raise ParameterError(
                "max_zoom",
                f"{{name}} is {self.max_zoom:g}: give {LEAST_ZOOM:g} to {_MOST_ZOOM:g}.",
            )
        for size in sizes if self.wide else ():
            if wide_size(size) == size:
                raise ParameterError(
                    "wide",
                    f"{{name}} is {self.wide:g}: give 0, for photos of {size[0]}x{size[1]} pixels "
                    "are no higher than 16:9.",
                )

    def as_json(self) -> dict[str, Any]:
        """Ready for JSON; empty for plain photos."""
        return {"views": asdict(self)} if self else {}


def wide_size(size: tuple[int, int]) -> tuple[int, int]:
    """The part of a frame in 16:9 with its centre on the frame's; the frame if it has no more."""
    long, short = max(size), min(size)
    high = round(long * 9 / 16)
    high += (short - high) % 2
    high = min(high, short)
    return (long, high) if size[0] >= size[1] else (high, long)
