"""How fingerprints are made in a case: every parameter that changes them."""

from dataclasses import asdict, dataclass
from typing import Any, Literal, Protocol

from samecam.errors import ParameterError, SamecamError, as_samecam_error
from samecam.fingerprint import Preset
from samecam.photos import Portrait, check_crop
from samecam.store import Dtype

Size = int | Literal["auto"]


class StoreSettings(Protocol):
    """What a case must know of its fingerprints, wherever they come from."""

    @property
    def n_pixels(self) -> int:
        """Length of a fingerprint."""

    @property
    def dtype(self) -> Dtype:
        """Numbers on disk."""

    def as_dict(self) -> dict[str, Any]:
        """As it stands in `case.json`; fixed for the life of the case."""


@dataclass(frozen=True, slots=True)
class ExtractionSettings:
    """Parameters of extraction; they are fixed for the life of a case.

    Attributes
    ----------
    size, offset, portrait : the crop, see `samecam.photos.read_photo`; the size "auto" is
        chosen from the photos when the case is begun, see `samecam.case.choose_size`
    sigma, preset, grid, cfa, wiener, equalise : see `samecam.fingerprint.fingerprint`
    dtype : numbers on disk: float16, float32 or int8
    """

    size: Size = "auto"
    offset: tuple[int, int] = (0, 0)
    portrait: Portrait = "keep"
    sigma: float = 3.0
    preset: Preset = "default"
    grid: bool | None = None
    cfa: bool = False
    wiener: bool = False
    equalise: bool = False
    dtype: Dtype = "float16"

    def __post_init__(self) -> None:
        if isinstance(self.size, str) and self.size != "auto":
            raise ParameterError(
                "size", f"{{name}} is {self.size!r}; give a number of pixels, or 'auto'."
            )
        side = 512 if self.size == "auto" else self.size
        whole = (side, *self.offset)
        if not all(isinstance(number, int) for number in whole):
            raise SamecamError(f"size and offset are {whole}; give whole numbers of pixels.")
        try:
            check_crop(side, self.offset, self.portrait)
        except ValueError as error:
            raise as_samecam_error(error) from None
        if self.preset not in ("default", "paper"):
            raise ParameterError(
                "preset", f"{{name}} is {self.preset!r}; choose 'default' or 'paper'."
            )
        if not 0 < self.sigma < 256:
            raise ParameterError(
                "sigma", f"{{name}} is {self.sigma}; give gray levels, 3 is the default."
            )

    @property
    def side(self) -> int:
        """The size as a number: once it has been chosen."""
        if self.size == "auto":
            raise SamecamError("The size is 'auto' and not chosen yet: see choose_size.")
        return self.size

    @property
    def n_pixels(self) -> int:
        """Length of a fingerprint."""
        return self.side * self.side

    @property
    def steps(self) -> dict[str, Any]:
        """Arguments of `samecam.fingerprint.fingerprint`."""
        names = ("sigma", "preset", "grid", "cfa", "wiener", "equalise")
        return {name: getattr(self, name) for name in names}

    def as_dict(self) -> dict[str, Any]:
        """As it stands in `case.json`; `grid` as it takes effect."""
        effective = self.grid if self.grid is not None else self.preset == "default"
        return {**asdict(self), "offset": list(self.offset), "grid": effective}
