"""Photos of every supported format, and what may become of them on a bad disk."""

import importlib.util

import numpy as np
from PIL import Image

from tests.photos import extras
from tests.photos.pictures import encode, scene

MARKERS = (
    b"\xff\xd8", b"\xff\xd9", b"\xff\xc0\x00\x11\x08", b"\xff\xc2", b"\xff\xda", b"\xff\xc4",
    b"\xff\xdd\x00\x04\x00\x01", b"\xff\xe1\xff\xffExif\0\0", b"IEND\xaeB`\x82", b"\0\0\0\rIHDR",
    b"IDAT", b"eXIf", b"II*\0\x08\0\0\0", b"MM\0*", b"RIFF", b"VP8X", b"VP8L", b"BM",
    b"ftypheic", b"irot", b"\xff\xff\xff\xff", b"\0\0\0\0\0\0\0\0",
)  # fmt: skip


def seeds():
    """Bytes of one small good photo of every kind, by name."""
    pixels = scene(11, 104, 97)
    image = Image.fromarray(pixels)
    made = {
        "baseline.jpg": encode(image, quality=90),
        "progressive.jpg": encode(image, quality=85, progressive=True),
        "restart.jpg": encode(image, quality=80, restart_marker_rows=1, subsampling="4:2:0"),
        "gray.jpg": encode(image.convert("L")),
        "cmyk.jpg": encode(image.convert("CMYK")),
        "two.mpo": encode(image, "MPO", save_all=True, append_images=[image.resize((64, 64))]),
        "colour.png": encode(image, "PNG"),
        "palette.png": encode(image.convert("P"), "PNG"),
        "sixteen.png": encode(pixels[..., 0].astype(np.uint16) * 257, "PNG"),
        "plain.tif": encode(image, "TIFF"),
        "lzw.tif": encode(image, "TIFF", compression="tiff_lzw"),
        "deflate.tif": encode(image, "TIFF", compression="tiff_deflate"),
        "lossy.webp": encode(image, "WEBP", quality=90),
        "lossless.webp": encode(image, "WEBP", lossless=True),
        "plain.bmp": encode(image, "BMP"),
    }
    exif = Image.Exif()
    exif[0x010F], exif[0x0110], exif[0x0112] = "Maker", "Model", 6
    made["exif.jpg"] = encode(image, quality=90, exif=exif)
    if importlib.util.find_spec("pillow_heif"):
        made["lossless.heic"] = extras.heic(pixels)
        made["turned.heic"] = extras.heic(pixels, orientation=6, quality=80)
    if importlib.util.find_spec("rawpy"):
        made["bayer.dng"] = extras.dng(extras.mosaic_of(scene(12, 80, 76)))
    return made


def flip(data, rng):
    """Change one to twenty bits anywhere."""
    for at in rng.integers(0, len(data), 1 + rng.integers(20)):
        data[at] ^= 1 << rng.integers(8)
    return data


def flip_header(data, rng):
    """Change bits of the first 200 bytes, where sizes and offsets stand."""
    for at in rng.integers(0, min(200, len(data)), 1 + rng.integers(4)):
        data[at] ^= 1 << rng.integers(8)
    return data


def cut(data, rng):
    """Lose the end."""
    del data[rng.integers(len(data)) :]
    return data


def cut_and_close(data, rng):
    """Lose the end and get an end marker again."""
    return cut(data, rng) + b"\xff\xd9"


def splice(data, rng):
    """Insert a marker of some format, or put it over what is there."""
    for _ in range(1 + rng.integers(3)):
        at, marker = rng.integers(len(data)), MARKERS[rng.integers(len(MARKERS))]
        data[at : at + (len(marker) if rng.integers(2) else 0)] = marker
    return data


def blank(data, rng):
    """Lose a sector: zeros in its place."""
    at = rng.integers(len(data))
    length = min(512, len(data) - at)
    data[at : at + length] = bytes(length)
    return data


def repeat(data, rng):
    """Get a piece twice, or in another place."""
    at, length = rng.integers(len(data)), 1 + rng.integers(600)
    piece, to = data[at : at + length], rng.integers(len(data))
    if rng.integers(2):
        del data[at : at + length]
    data[to:to] = piece
    return data


def noise(data, rng):
    """Get random bytes for a stretch."""
    at, length = rng.integers(len(data)), 1 + rng.integers(300)
    data[at : at + length] = rng.integers(0, 256, length, dtype=np.uint8).tobytes()
    return data


def largest(data, rng):
    """Claim a huge size somewhere in the header."""
    at = rng.integers(min(300, len(data)))
    data[at : at + 4] = b"\xff\xff\xff\x7f" if rng.integers(2) else b"\x7f\xff\xff\xff"
    return data


MUTATIONS = (flip, flip_header, cut, cut_and_close, splice, blank, repeat, noise, largest)


def mutants(count, seed=0):
    """Yield (name, bytes, the seed's name, the mutation's name), the same for the same seed."""
    made = seeds()
    kinds = sorted(made)
    for k in range(count):
        rng = np.random.default_rng([seed, k])
        kind, mutation = kinds[k % len(kinds)], MUTATIONS[(k // len(kinds)) % len(MUTATIONS)]
        data = bytes(mutation(bytearray(made[kind]), rng))
        if rng.integers(8) == 0:  # twice unlucky
            again = MUTATIONS[rng.integers(len(MUTATIONS))]
            data = bytes(again(bytearray(data or b"\0"), rng))
        stem, _, ending = kind.partition(".")
        yield f"{k:06d}-{stem}-{mutation.__name__}.{ending}", data, kind, mutation.__name__
