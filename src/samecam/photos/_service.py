"""Which messenger or network a JPEG looks like it went through: a fact, never evidence.

Services scale photos to few sizes and save them with few settings, and remove EXIF. What is
known of them (2026) stands in `RULES`; others may well save a file just so.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

from samecam.photos._jpeg import segments

# Base tables of libjpeg (ISO/IEC 10918-1, annex K) and of mozjpeg, number 3 (N. Robidoux), which
# is the same for colours; in rows.
_LUMA = (
    *(16, 11, 10, 16, 24, 40, 51, 61, 12, 12, 14, 19, 26, 58, 60, 55),
    *(14, 13, 16, 24, 40, 57, 69, 56, 14, 17, 22, 29, 51, 87, 80, 62),
    *(18, 22, 37, 56, 68, 109, 103, 77, 24, 35, 55, 64, 81, 104, 113, 92),
    *(49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99),
)
_MOZJPEG = (
    *(16, 16, 16, 18, 25, 37, 56, 85, 16, 17, 20, 27, 34, 40, 53, 75),
    *(16, 20, 24, 31, 43, 62, 91, 135, 18, 27, 31, 40, 53, 74, 106, 156),
    *(25, 34, 43, 53, 69, 94, 131, 189, 37, 40, 62, 74, 94, 124, 169, 238),
    *(56, 53, 91, 106, 131, 169, 226, 311, 85, 75, 135, 156, 189, 238, 311, 418),
)
_TABLES, _EXIF, _NOTES, _LARGEST = 0xDB, 0xE1, 0xED, 255
_FRAMES = {0xC0: False, 0xC1: False, 0xC2: True}  # whether they are progressive
_HALVED = 0x22  # colours are halved both ways, 4:2:0
_MARK = b"FBMD"  # of Meta, in what IPTC says


@dataclass(frozen=True, slots=True)
class JpegFacts:
    """What the header of a JPEG says of how it was saved.

    Attributes
    ----------
    width, height : in pixels
    luma : the first table of quantisation, in rows; empty if there is none
    progressive : whether it is coded in several passes
    halved : whether colours are halved both ways (4:2:0)
    exif : whether there is EXIF
    meta : whether it has the mark of Meta's services
    """

    width: int
    height: int
    luma: tuple[int, ...] = ()
    progressive: bool = False
    halved: bool = False
    exif: bool = False
    meta: bool = False


@dataclass(frozen=True, slots=True)
class Rule:
    """How a service saves photos: long edges, tables with qualities, and whether progressive."""

    service: str
    edges: frozenset[int]
    tables: Mapping[str, frozenset[int]] = field(default_factory=dict)
    progressive: bool | None = None

    def fits(self, facts: JpegFacts) -> bool:
        """Whether a file without EXIF and with halved colours may come from there."""
        if max(facts.width, facts.height) not in self.edges:
            return False
        if self.progressive not in (None, facts.progressive):
            return False
        return any(
            facts.luma == scaled(base, quality)
            for base, qualities in self.tables.items()
            for quality in qualities
        )


_ANY = frozenset(range(70, 91))
RULES = (
    Rule(
        "WhatsApp",
        frozenset({1600, 1599, 1280, 1024, 2048}),
        {"mozjpeg": frozenset({80}), "libjpeg": frozenset({75, 80})},
        progressive=True,
    ),
    Rule("Telegram", frozenset({1280}), {"libjpeg": frozenset({80})}),
    Rule("Signal", frozenset({1600}), {"libjpeg": frozenset({70})}),
    Rule("Signal", frozenset({2048, 4096}), {"libjpeg": frozenset({75})}),
    Rule("Facebook", frozenset({1920, 2048}), {"libjpeg": _ANY}, progressive=True),
    Rule("Instagram", frozenset({1080}), {"libjpeg": _ANY}, progressive=True),
    Rule("X", frozenset({4096}), {"libjpeg": _ANY}, progressive=True),
)


def likely_service(data: bytes) -> str:
    """Services whose copies a file looks like, "WhatsApp or Telegram"; "" if like none's."""
    facts = jpeg_facts(data)
    return "" if facts is None else " or ".join(services(facts))


def services(facts: JpegFacts) -> list[str]:
    """Services that would have saved a file like this."""
    if facts.meta:
        return ["Facebook", "Instagram"]
    if facts.exif or not facts.halved:
        return []
    return list(dict.fromkeys(rule.service for rule in RULES if rule.fits(facts)))


@cache
def scaled(base: str, quality: int) -> tuple[int, ...]:
    """A table of quantisation at some quality, as libjpeg makes it."""
    percent = 5000 // quality if quality < 50 else 200 - 2 * quality
    values = _MOZJPEG if base == "mozjpeg" else _LUMA
    return tuple(min(max((value * percent + 50) // 100, 1), _LARGEST) for value in values)


def jpeg_facts(data: bytes) -> JpegFacts | None:
    """What the header of a JPEG says; None if it is none, or has no frame."""
    luma: tuple[int, ...] = ()
    exif = meta = False
    for position, marker in segments(data):
        length = int.from_bytes(data[position + 2 : position + 4], "big")
        body = data[position + 4 : position + 2 + length]
        if marker == _TABLES and not luma:
            luma = _in_rows(body)
        exif |= marker == _EXIF and body.startswith(b"Exif\0")
        meta |= marker == _NOTES and _MARK in body
        if marker in _FRAMES and len(body) >= 8:
            height, width = (int.from_bytes(body[at : at + 2], "big") for at in (1, 3))
            halved = body[5] == 3 and body[7] == _HALVED
            # Tables and notes stand before the frame in all that services write.
            return JpegFacts(width, height, luma, _FRAMES[marker], halved, exif, meta)
    return None


def _in_rows(body: bytes) -> tuple[int, ...]:
    """The first table of a segment, if it has one byte a value; in rows."""
    if len(body) < 65 or body[0] != 0:  # table 0, eight bits
        return ()
    values = [0] * 64
    for value, (row, column) in zip(body[1:65], _zigzag(), strict=True):
        values[8 * row + column] = value
    return tuple(values)


@cache
def _zigzag() -> tuple[tuple[int, int], ...]:
    """Row and column of each value, in the order in which files have them."""
    places = [(row, column) for row in range(8) for column in range(8)]
    return tuple(sorted(places, key=lambda p: (sum(p), p[0] if sum(p) % 2 else p[1])))
