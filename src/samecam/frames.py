"""Frame: width and height of a stored picture. Photos are compared pixel by pixel within one."""

from typing import NamedTuple

__all__ = ["Frame"]

_LONGEST = 2**31


class Frame(NamedTuple):
    """Width and height in pixels.

    Fingerprints that somebody brings have no known shape: they are frames of height 1.
    """

    width: int
    height: int

    @property
    def n_pixels(self) -> int:
        """Length of a fingerprint of the whole frame."""
        return self.width * self.height

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width, as of an array."""
        return self.height, self.width

    @property
    def name(self) -> str:
        """As in tables and names of folders: 4000x3000."""
        return f"{self.width}x{self.height}"

    def __str__(self) -> str:
        return f"{self.width}×{self.height}"

    @classmethod
    def named(cls, name: str) -> "Frame":
        """The frame of a name; `ValueError` for what is none."""
        width, _, height = name.partition("x")
        if not all(
            part.isascii() and part.isdigit() and len(part) < 11 for part in (width, height)
        ):
            raise ValueError(f"{name[:40]!r} is no width and height")
        frame = cls(int(width), int(height))
        if frame.name != name or not 0 < frame.n_pixels < _LONGEST:
            raise ValueError(f"{name[:40]!r} is no width and height")
        return frame
