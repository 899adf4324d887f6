"""Whether the coded data of a WebP file were lost and zeros stand in their place."""

import io
from collections.abc import Iterator

from PIL import Image

_CODED = (b"VP8 ", b"VP8L")
_FRAME, _FRAME_HEADER = b"ANMF", 16
# Zeros that raise suspicion, and bytes at the end that every sound file needs. A lossless one may
# end with codes of pixels that cost nothing, and hold zeros for them.
_MANY = {b"VP8 ": 8, b"VP8L": 64}
_NEEDED = {b"VP8 ": 6, b"VP8L": 64}


def has_hole(data: bytes) -> bool:
    """Whether the coded data have zeros in them, and more bytes than the decoder needs.

    It makes a picture of zeros without an error, and rarely of as many bytes as were there. A
    sound file may have zeros too, but needs all it has: it does not decode without its end.
    """
    for kind, content in _parts(data):
        if kind in _CODED:
            return bytes(_MANY[kind]) in content and _decodes(kind, content[: -_NEEDED[kind]])
    return False


def _parts(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = 12
    while at + 8 <= len(data):
        kind, length = data[at : at + 4], int.from_bytes(data[at + 4 : at + 8], "little")
        yield kind, data[at + 8 : at + 8 + length]
        at += 8 + (_FRAME_HEADER if kind == _FRAME else length + length % 2)


def _decodes(kind: bytes, content: bytes) -> bool:
    even = content + bytes(len(content) % 2)
    body = b"WEBP" + kind + len(content).to_bytes(4, "little") + even
    file = io.BytesIO(b"RIFF" + len(body).to_bytes(4, "little") + body)
    try:
        Image.open(file, formats=("WEBP",)).load()
    except (OSError, ValueError, SyntaxError, EOFError):
        return False
    return True
