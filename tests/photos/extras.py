"""Files that only optional decoders read, made on the spot: a raw photo and a HEIC."""

import io
import struct

import numpy as np
from PIL import Image

_CODES = {1: "B", 3: "H", 4: "I"}
_UNIT = [(1, 1), (0, 1), (0, 1), (0, 1), (1, 1), (0, 1), (0, 1), (0, 1), (1, 1)]
RGGB, BGGR, GRBG = (0, 1, 1, 2), (2, 1, 1, 0), (1, 0, 2, 1)


def mosaic_of(pixels, pattern=RGGB, black=64, white=1023):
    """Photosites that see (h, w, 3) cells of 0–255 (as our policy scales them) exactly enough."""
    linear = (np.asarray(pixels, float) / 255) ** 2 * (white - black) + black
    height, width = linear.shape[:2]
    sites = np.empty((2 * height, 2 * width), np.uint16)
    for k, colour in enumerate(pattern):
        sites[k // 2 :: 2, k % 2 :: 2] = np.rint(linear[..., colour])
    return sites


def dng(sites, pattern=RGGB, black=64, white=1023, make="Maker", orientation=1, photometric=32803):
    """A DNG of 16-bit photosites, uncompressed, in one strip."""
    height, width = sites.shape
    body = sites.astype("<u2").tobytes()
    texts = {271: make, 272: "Model", 50708: "Maker Model"}
    tags = {
        254: (4, [0]), 256: (4, [width]), 257: (4, [height]), 258: (3, [16]), 259: (3, [1]),
        262: (3, [photometric]), 273: (4, [0]), 274: (3, [orientation]), 277: (3, [1]),
        278: (4, [height]), 279: (4, [len(body)]), 284: (3, [1]), 33421: (3, [2, 2]),
        33422: (1, pattern), 50706: (1, [1, 4, 0, 0]), 50707: (1, [1, 1, 0, 0]),
        50710: (1, [0, 1, 2]), 50711: (3, [1]), 50714: (3, [black]), 50717: (3, [white]),
        50721: (10, _UNIT), 50728: (5, [(1, 1)] * 3), 50778: (3, [21]),
    }  # fmt: skip
    values = {tag: (2, text.encode() + b"\0", len(text) + 1) for tag, text in texts.items()}
    for tag, (kind, numbers) in tags.items():
        pairs = kind in (5, 10)
        packed = [
            struct.pack("<ii", *n) if pairs else struct.pack("<" + _CODES[kind], n) for n in numbers
        ]
        values[tag] = (kind, b"".join(packed), len(numbers))
    start = 8 + 2 + 12 * len(values) + 4
    blob, entries = b"", b""
    end = start + sum(len(v[1]) + len(v[1]) % 2 for v in values.values() if len(v[1]) > 4)
    for tag in sorted(values):
        kind, packed, count = values[tag]
        if tag == 273:
            packed = struct.pack("<I", end)
        entries += struct.pack("<HHI", tag, kind, count)
        if len(packed) <= 4:
            entries += packed.ljust(4, b"\0")
        else:
            entries += struct.pack("<I", start + len(blob))
            blob += packed + b"\0" * (len(packed) % 2)
    head = b"II*\0" + struct.pack("<IH", 8, len(values))
    return head + entries + b"\0\0\0\0" + blob + body


def with_preview(raw, preview):
    """A TIFF whose first picture is a preview and whose second is the raw one, as makers write."""
    stream = io.BytesIO()
    Image.fromarray(preview).save(stream, "TIFF")
    data = stream.getvalue()
    (at,) = struct.unpack_from("<I", data, 4)
    (count,) = struct.unpack_from("<H", data, at)
    end = at + 2 + 12 * count
    shift = len(data) + len(data) % 2
    moved = bytearray(raw)
    (entries,) = struct.unpack_from("<H", moved, 8)
    for k in range(entries):
        place = 10 + 12 * k
        tag, kind, number = struct.unpack_from("<HHI", moved, place)
        size = number * {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 10: 8}[kind]
        if tag == 273 or size > 4:
            (old,) = struct.unpack_from("<I", moved, place + 8)
            struct.pack_into("<I", moved, place + 8, old + shift)
        if tag == 50706:  # no DNG by name: only its pattern tells
            struct.pack_into("<H", moved, place, 50705)
    return (
        data[:end]
        + struct.pack("<I", shift + 8)
        + data[end + 4 :].ljust(shift - end - 4)
        + bytes(moved)
    )


def heic(pixels, orientation=1, make="", **options):
    """A HEIC without loss; uint16 pixels are kept with 10 bits."""
    import pillow_heif

    exif = Image.Exif()
    exif[0x0112], exif[0x010F] = orientation, make or "Maker"
    if pixels.dtype == np.uint16:
        size = (pixels.shape[1], pixels.shape[0])
        image = pillow_heif.from_bytes("RGB;16", size, pixels.tobytes())
    else:
        image = pillow_heif.from_pillow(Image.fromarray(pixels))
    lossless = {"quality": -1, "chroma": 444, "matrix_coefficients": 0, **options}
    stream = io.BytesIO()
    image.save(stream, exif=exif.tobytes(), **lossless)
    return stream.getvalue()
