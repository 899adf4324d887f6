"""What the file says of its camera: recorded, never used for grouping."""

from dataclasses import dataclass

from PIL import Image

_MAKE, _MODEL, _ORIENTATION, _SOFTWARE, _DATE = 0x010F, 0x0110, 0x0112, 0x0131, 0x0132
_EXIF_FOLDER, _TAKEN, _SERIAL = 0x8769, 0x9003, 0xA431
_LONGEST = 200


@dataclass(frozen=True, slots=True)
class Exif:
    """Camera data of one file as text; empty where the file says nothing."""

    make: str = ""
    model: str = ""
    serial: str = ""
    software: str = ""
    taken: str = ""
    orientation: str = ""


def read_exif(image: Image.Image) -> Exif:
    """EXIF of an opened picture; damaged EXIF is as good as none.

    No pixel is decoded: PNG's own method would, and an error of decoding would be lost.
    """
    try:
        main = Image.Image.getexif(image)
    except Exception:  # any byte sequence may stand there
        return Exif()
    return _exif(main)


def parse_exif(data: bytes) -> Exif:
    """EXIF of a block of bytes, with or without its introduction; as good as none if damaged."""
    main = Image.Exif()
    try:
        main.load(data)
    except Exception:  # any byte sequence may stand there
        return Exif()
    return _exif(main)


def _exif(main: Image.Exif) -> Exif:
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
    )


def _text(value: object) -> str:
    """Return printable text of at most 200 characters from whatever the tag held."""
    if value is None:
        return ""
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    text = "".join(c if c.isprintable() else " " for c in str(value).split("\0")[0])
    return " ".join(text.split())[:_LONGEST]
