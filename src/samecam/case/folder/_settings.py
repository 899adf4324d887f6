"""How fingerprints are made in a case: every parameter that changes them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Protocol, TypedDict

from samecam.errors import ParameterError, SamecamError, as_samecam_error
from samecam.fingerprint import MOST_SPINS, SPINS, Preset
from samecam.frames import Frame
from samecam.photos import At, Portrait, check_crop
from samecam.store import DtypeChoice

# Steps that are made of a square alone.
_OF_SQUARES = ("at", "offset", "portrait", "preset", "grid", "cfa", "wiener", "equalise")


class StoreSettings(Protocol):
    """What a case must know of its fingerprints, wherever they come from."""

    @property
    def frame(self) -> Frame | None:
        """The only frame that they have; None: any."""

    @property
    def rows(self) -> DtypeChoice:
        """Numbers on disk."""

    def as_dict(self) -> dict[str, Any]:
        """As it stands in `case.json`; fixed for the life of the case."""


class Filter(TypedDict):
    """Parameters of the residual."""

    sigma: float
    spins: int
    weigh: bool


@dataclass(frozen=True, slots=True)
class ExtractionSettings:
    """Parameters of extraction; they are fixed for the life of a case.

    Attributes
    ----------
    size : None: the whole frame of every photo, luma, compared with photos of the same width
        and height. A number: a square of so many pixels on a side, colour, as the paper has
        it; all else below but `sigma`, `spins` and `weigh` is for squares
    at, offset, portrait : where the square lies, see `samecam.photos.read_photo`
    sigma, preset, grid, cfa, wiener, equalise : see `samecam.fingerprint.fingerprint`
    spins : grids of the wavelets that a residual is the mean of, see
        `samecam.fingerprint.noise_residual`; None: two for whole frames, one for squares
    weigh : see `samecam.fingerprint.fingerprint`; None: whole frames, not squares
    dtype : numbers on disk: "auto", "bits", "2bits", "int8", "float16" or "float32". "auto" is
        float16 for squares; for whole frames int8 below 4 megapixels, two bits a pixel up to 20,
        and one bit above, and these three alone can be chosen

    Examples
    --------
    >>> samecam.ExtractionSettings()  # the whole frame of every photo
    >>> samecam.ExtractionSettings(size=512)  # the paper's square
    """

    size: int | None = None
    at: At = "corner"
    offset: tuple[int, int] = (0, 0)
    portrait: Portrait = "keep"
    sigma: float = 3.0
    spins: int | None = None
    weigh: bool | None = None
    preset: Preset = "default"
    grid: bool | None = None
    cfa: bool = False
    wiener: bool = False
    equalise: bool = False
    dtype: DtypeChoice = "auto"

    def __post_init__(self) -> None:
        if self.preset not in ("default", "paper"):
            raise ParameterError(
                "preset", f"{{name}} is {self.preset!r}; choose 'default' or 'paper'."
            )
        if not 0 < self.sigma < 256:
            raise ParameterError(
                "sigma", f"{{name}} is {self.sigma}; give gray levels, 3 is the default."
            )
        if self.spins is not None and not 1 <= self.spins <= MOST_SPINS:
            raise ParameterError(
                "spins", f"{{name}} is {self.spins}; give a whole number from 1 to {MOST_SPINS}."
            )
        if self.size is None:
            self._check_whole()
        else:
            self._check_square(self.size)

    def _check_whole(self) -> None:
        fields = ExtractionSettings.__dataclass_fields__
        for name in _OF_SQUARES:
            if getattr(self, name) != fields[name].default:
                raise ParameterError(
                    name,
                    "{name} is for squares, and the whole frame is used: give a size too, 1024 "
                    "for instance, or leave it out.",
                )
        if self.dtype not in ("auto", "bits", "2bits", "int8"):
            raise ParameterError(
                "dtype",
                f"{{name}} is {self.dtype!r}; whole frames are kept as 'bits', '2bits' or "
                "'int8', squares (give a size) as int8 or floats.",
            )

    def _check_square(self, size: int) -> None:
        whole = (size, *self.offset)
        if not all(isinstance(number, int) for number in whole):
            raise SamecamError(f"size and offset are {whole}; give whole numbers of pixels.")
        try:
            check_crop(size, self.offset, self.portrait, self.at)
        except ValueError as error:
            raise as_samecam_error(error) from None
        if self.dtype in ("bits", "2bits"):
            raise ParameterError(
                "dtype",
                f"{{name}} is {self.dtype!r}, which is for whole frames: choose 'float16' or "
                "'int8', or leave the size out.",
            )

    @property
    def frame(self) -> Frame | None:
        """The square; None: the whole of every photo."""
        return None if self.size is None else Frame(self.size, self.size)

    @property
    def rows(self) -> DtypeChoice:
        """Numbers on disk, as they take effect."""
        return "float16" if self.dtype == "auto" and self.size is not None else self.dtype

    @property
    def filter(self) -> Filter:
        """What a residual is made with, of whole frames and of squares."""
        whole = self.size is None
        usual = SPINS if whole else 1
        return {
            "sigma": self.sigma,
            "spins": usual if self.spins is None else self.spins,
            "weigh": whole if self.weigh is None else self.weigh,
        }

    @property
    def steps(self) -> dict[str, Any]:
        """Arguments of `samecam.fingerprint.fingerprint`, for squares."""
        names = ("preset", "grid", "cfa", "wiener", "equalise")
        return {**self.filter, **{name: getattr(self, name) for name in names}}

    def as_dict(self) -> dict[str, Any]:
        """As it stands in `case.json`; `spins`, `weigh`, `grid` and `dtype` as they take effect."""
        effective = self.grid if self.grid is not None else self.preset == "default"
        values = {**asdict(self), "offset": list(self.offset), "grid": effective}
        return {**values, **self.filter, "dtype": self.rows}
