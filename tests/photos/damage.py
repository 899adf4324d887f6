"""Photos of every kind, damaged as disks and rescue programs do, and what is read of them."""

import importlib.util
import struct
from dataclasses import dataclass

import numpy as np
from PIL import Image

from samecam.photos import PhotoError, read_photo
from tests.photos import extras
from tests.photos.pictures import encode

SIZE = 128  # of the crop


def sky(seed, width, height):
    """A picture that is nearly flat above and exactly black below: long runs of equal codes."""
    y, x = np.mgrid[:height, :width]
    gray = 120 + 20 * np.cos(x / 90 + seed) + y / 9
    noise = np.random.default_rng(seed).normal(0, 0.8, (height, width))
    pixels = np.clip(np.stack([gray, gray + 10, gray + 40], axis=2) + noise[..., None], 0, 255)
    pixels[int(height * 0.8) :] = 0
    return pixels.astype(np.uint8)


def ycck(image, **options):
    """A CMYK JPEG that says its four planes are YCCK."""
    data = encode(image.convert("CMYK"), **options)
    at = data.index(b"Adobe") + 11
    return data[:at] + b"\x02" + data[at + 1 :]


def tiles(image, **options):
    """A TIFF in tiles of 64×64."""
    import pyvips

    picture = pyvips.Image.new_from_array(np.asarray(image))
    return picture.tiffsave_buffer(tile=True, tile_width=64, tile_height=64, **options)


def directory_first(data):
    """The same TIFF with its pixels behind its directory, so that damage leaves the latter."""
    order = "<" if data[:2] == b"II" else ">"
    (at,) = struct.unpack_from(order + "I", data, 4)
    entries = [at + 2 + 12 * k for k in range(struct.unpack_from(order + "H", data, at)[0])]
    where = {struct.unpack_from(order + "H", data, e)[0]: e for e in entries}
    values = []
    for tag in (273, 279) if 273 in where else (324, 325):
        entry = where[tag]
        kind, count = struct.unpack_from(order + "HI", data, entry + 2)
        code, size = ("H", 2) if kind == 3 else ("I", 4)
        place = entry + 8
        if count * size > 4:
            (place,) = struct.unpack_from(order + "I", data, place)
        values.append((place, struct.unpack_from(f"{order}{count}{code}", data, place), code))
    (place, starts, code), (_, lengths, _) = values
    moved = bytearray(data)
    new = []
    for start, length in zip(starts, lengths, strict=True):
        new.append(len(moved))
        moved += data[start : start + length]
        moved[start : start + length] = bytes(length)
    struct.pack_into(f"{order}{len(new)}{code}", moved, place, *new)
    return bytes(moved)


def jpeg(mode="RGB", quality=90, **options):
    """What makes a JPEG of an image."""
    return lambda image: encode(image.convert(mode), quality=quality, **options)


def tiff(mode="RGB", rows=48, **options):
    """What makes a TIFF in strips of so many rows."""
    return lambda image: encode(image.convert(mode), "TIFF", tiffinfo={278: rows}, **options)


MAKERS = {
    "JPEG 4:4:4": jpeg(quality=92, subsampling="4:4:4"),
    "JPEG 4:2:2": jpeg(subsampling="4:2:2"),
    "JPEG 4:2:0": jpeg(quality=85, subsampling="4:2:0"),
    "JPEG optimized": jpeg(quality=85, subsampling="4:2:0", optimize=True),
    "JPEG gray": jpeg("L"),
    "JPEG CMYK": jpeg("CMYK"),
    "JPEG YCCK": lambda image: ycck(image, quality=90),
    "JPEG progressive": jpeg(subsampling="4:4:4", progressive=True),
    "JPEG progressive 4:2:0": jpeg(quality=80, progressive=True),
    "JPEG restart": jpeg(restart_marker_blocks=5),
    "JPEG progressive restart": jpeg(quality=85, progressive=True, restart_marker_rows=1),
    "JPEG in TIFF": tiff(compression="jpeg", quality=90),
    "JPEG in TIFF, gray": tiff("L", rows=10**4, compression="jpeg", quality=90),
    "PNG": lambda image: encode(image, "PNG"),
    "TIFF": tiff(),
    "TIFF LZW": tiff(compression="tiff_lzw"),
    "TIFF deflate": tiff(compression="tiff_adobe_deflate"),
    "TIFF packbits": tiff(compression="packbits"),
    "WebP lossless": lambda image: encode(image, "WEBP", lossless=True),
    "WebP lossy": lambda image: encode(image, "WEBP", quality=90),
    "BMP": lambda image: encode(image, "BMP"),
}
if importlib.util.find_spec("pyvips"):
    MAKERS |= {
        "TIFF tiles": tiles,
        "TIFF tiles, deflate": lambda image: tiles(image, compression="deflate"),
        "JPEG in TIFF, tiles": lambda image: tiles(image, compression="jpeg", Q=90),
    }
if importlib.util.find_spec("pillow_heif"):
    MAKERS |= {
        "HEIC": lambda image: extras.heic(np.asarray(image), quality=80),
        "HEIC lossless": lambda image: extras.heic(np.asarray(image)),
    }


def photo(kind, pixels):
    """Bytes of a photo of these pixels; a TIFF has its directory before them."""
    data = MAKERS[kind](Image.fromarray(pixels))
    return directory_first(data) if "TIFF" in kind else data


def cut(data, at):
    """Lose the end."""
    return data[:at]


def closed(data, at):
    """Lose the end and get an end marker again."""
    return data[:at] + b"\xff\xd9"


def zeros(data, at):
    """Have the right length, and zeros from somewhere on."""
    return data[:at] + bytes(len(data) - at)


def padded(data, at):
    """Lose the end and be filled up to whole sectors and an end marker."""
    return data[:at] + bytes(-at % 512 + 2048) + b"\xff\xd9"


def rescued(data, at):
    """Have the right length, an end marker somewhere and zeros from there on."""
    return zeros(data[:at] + b"\xff\xd9" + data[at + 2 :], at + 2)


def blanked(data, at):
    """Lose a sector in the middle: zeros in its place."""
    at -= at % 512
    return data[:at] + bytes(512) + data[at + 512 :]


def flipped(data, at):
    """Have one bit changed."""
    return data[:at] + bytes([data[at] ^ 8]) + data[at + 1 :]


TAILS = (cut, closed, zeros, padded, rescued)


@dataclass
class Tally:
    """How many damaged files were refused, read rightly, and read wrongly."""

    refused: int = 0
    right: int = 0
    wrong: int = 0
    most: float = 0.0  # largest share of a crop that was wrong


def read(data, size=SIZE):
    """The crop, or None where the file is refused."""
    try:
        return read_photo(data, size=size).pixels
    except PhotoError:
        return None


def sweep(data, damage, count, size=SIZE):
    """Damage a photo at `count` places, of a TIFF among its pixels."""
    first = 64 if data[:2] not in (b"II", b"MM") else len(data) // 2
    right = read(data, size)
    assert right is not None, "the sound photo is refused"
    tally, known = Tally(), {}
    for at in np.sort(np.random.default_rng(count).integers(first, len(data) - 8, count)):
        damaged = damage(data, int(at))
        if damaged not in known:  # many places lie in one sector
            known[damaged] = read(damaged, size)
        pixels = known[damaged]
        share = 0.0 if pixels is None else float((pixels != right).any(axis=2).mean())
        if pixels is None or np.ptp(pixels) == 0:  # flat is unusable
            tally.refused += 1
        elif share == 0:
            tally.right += 1
        else:
            tally.wrong += 1
            tally.most = max(tally.most, share)
    return tally
