"""How fingerprints are made in a case: every parameter that changes them."""

from dataclasses import asdict, dataclass
from typing import Any

from samecam.errors import SamecamError
from samecam.fingerprint import Preset
from samecam.photos import Portrait, check_crop
from samecam.store import Dtype


@dataclass(frozen=True, slots=True)
class ExtractionSettings:
    """Parameters of extraction; they are fixed for the life of a case.

    Attributes
    ----------
    size, offset, portrait : the crop, see `samecam.photos.read_photo`
    sigma, preset, grid, cfa, wiener, equalise : see `samecam.fingerprint.fingerprint`
    dtype : numbers on disk: float16, float32 or int8
    """

    size: int = 512
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
        whole = (self.size, *self.offset)
        if not all(isinstance(number, int) for number in whole):
            raise SamecamError(f"size and offset are {whole}; give whole numbers of pixels.")
        try:
            check_crop(self.size, self.offset, self.portrait)
        except ValueError as error:
            raise SamecamError(f"{error}.") from None
        if self.preset not in ("default", "paper"):
            raise SamecamError(f"preset is {self.preset!r}; choose 'default' or 'paper'.")
        if not 0 < self.sigma < 256:
            raise SamecamError(f"sigma is {self.sigma}; give gray levels, 3 is the default.")

    @property
    def n_pixels(self) -> int:
        """Length of a fingerprint."""
        return self.size * self.size

    @property
    def steps(self) -> dict[str, Any]:
        """Arguments of `samecam.fingerprint.fingerprint`."""
        names = ("sigma", "preset", "grid", "cfa", "wiener", "equalise")
        return {name: getattr(self, name) for name in names}

    def as_dict(self) -> dict[str, Any]:
        """As it stands in `case.json`; `grid` as it takes effect."""
        effective = self.grid if self.grid is not None else self.preset == "default"
        return {**asdict(self), "offset": list(self.offset), "grid": effective}
