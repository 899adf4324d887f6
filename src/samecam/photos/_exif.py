"""What the file says of its camera: recorded, never used for grouping."""

import math
from dataclasses import dataclass

from PIL import Image

_MAKE, _MODEL, _ORIENTATION, _SOFTWARE, _DATE = 0x010F, 0x0110, 0x0112, 0x0131, 0x0132
_EXIF_FOLDER, _TAKEN, _SERIAL, _ZOOM, _FOCAL = 0x8769, 0x9003, 0xA431, 0xA404, 0x920A
_RENDERED, _SCENE = 0xA401, 0xA406
# How a picture was made: Apple's numbers beyond EXIF's, scene programmes, and what XMP says of
# pictures with artificial blur (Google's cameras and those that follow them).
_MODES = {2: "HDR", 3: "HDR", 6: "panorama", 7: "portrait HDR", 8: "portrait"}
_SCENES = {2: "portrait scene", 3: "night scene"}
_PORTRAITS = (b"SpecialType-PORTRAIT", b"GDepth:")
_LONGEST_XMP = 2**16
_LONGEST = 200
_LARGEST_ZOOM = 1000.0
_LONGEST_FOCAL = 10000.0


@dataclass(frozen=True, slots=True)
class Exif:
    """Camera data of one file as text; empty where the file says nothing.

    `mode` is how the picture was made: "portrait" (artificial blur), "HDR" (merged exposures),
    "portrait HDR", "panorama", "portrait scene" or "night scene" (programmes).
    `zoom` is the digital zoom, 1 for none, `focal` the focal length in millimetres; None where the
    file says nothing.
    """

    make: str = ""
    model: str = ""
    serial: str = ""
    software: str = ""
    taken: str = ""
    orientation: str = ""
    mode: str = ""
    zoom: float | None = None
    focal: float | None = None


def read_exif(image: Image.Image) -> Exif:
    """EXIF of an opened picture; damaged EXIF is as good as none.

    No pixel is decoded: PNG's own method would, and an error of decoding would be lost.
    """
    try:
        main = Image.Image.getexif(image)
    except Exception:  # any byte sequence may stand there
        return Exif()
    return _exif(main, image.info.get("xmp"))


def parse_exif(data: bytes) -> Exif:
    """EXIF of a block of bytes, with or without its introduction; as good as none if damaged."""
    main = Image.Exif()
    try:
        main.load(data)
    except Exception:  # any byte sequence may stand there
        return Exif()
    return _exif(main)


def _exif(main: Image.Exif, xmp: object = None) -> Exif:
    try:
        detail = dict(main.get_ifd(_EXIF_FOLDER))
    except Exception:
        detail = {}
    return Exif(
        make=_text(main.get(_MAKE)),
        model=_text(main.get(_MODEL)),
        serial=_text(detail.get(_SERIAL)),
        software=_text(main.get(_SOFTWARE)),
        taken=_text(detail.get(_TAKEN)) or _text(main.get(_DATE)),
        orientation=_text(main.get(_ORIENTATION)),
        mode=_mode(detail.get(_RENDERED), detail.get(_SCENE), xmp),
        zoom=_zoom(detail.get(_ZOOM)),
        focal=_focal(detail.get(_FOCAL)),
    )


def _mode(rendered: object, scene: object, xmp: object) -> str:
    """How a picture was made, as far as the file says so."""
    mode = _MODES.get(int(_number(rendered) or 0), "")
    if not mode and isinstance(xmp, bytes):
        head = xmp[:_LONGEST_XMP]
        mode = "portrait" if any(mark in head for mark in _PORTRAITS) else ""
    return mode or _SCENES.get(int(_number(scene) or 0), "")


def _zoom(value: object) -> float | None:
    """A digital zoom; 0 is EXIF's word for none. None for what can be no zoom."""
    number = _number(value)
    if number == 0:
        return 1.0
    if number is None or not 1 / _LARGEST_ZOOM <= number <= _LARGEST_ZOOM:
        return None
    return round(number, 4)


def _focal(value: object) -> float | None:
    """A focal length; 0 is EXIF's word for unknown."""
    number = _number(value)
    return round(number, 3) if number is not None and 0 < number <= _LONGEST_FOCAL else None


def _number(value: object) -> float | None:
    """A number that is finite, from whatever the tag held."""
    try:
        number = float(value)  # type: ignore[arg-type]  # any type may stand there
    except (TypeError, ValueError, ArithmeticError):
        return None
    return number if math.isfinite(number) else None


def _text(value: object) -> str:
    """Return printable text of at most 200 characters from whatever the tag held."""
    if value is None:
        return ""
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    text = "".join(c if c.isprintable() else " " for c in str(value).split("\0")[0])
    return " ".join(text.split())[:_LONGEST]
