"""Read only the top rows of a JPEG: cut its declared height, in memory."""

from collections.abc import Iterator

# Start-of-frame markers of the codings libjpeg reads: baseline, extended, progressive.
_FRAMES = (0xC0, 0xC1, 0xC2)
_BARE = {0x01, *range(0xD0, 0xD8)}  # markers without a length
_SCAN, _END = 0xDA, 0xD9

# Rows decoded below those wanted, for the chroma context of the largest sampling factor.
MARGIN = 32


def cut_height(data: bytes, rows: int) -> bytes | None:
    """The same JPEG with its declared height lowered to `rows` + 32.

    libjpeg stops after the declared rows, so that a large photograph costs only what
    is used of it. Only the first frame header on the marker chain is touched, never an
    embedded thumbnail. None when there is nothing to gain or any doubt: not a plain
    JPEG, height 0 (given later by a DNL marker), already short enough.
    """
    position = frame_position(data)
    if position is None:
        return None
    height = int.from_bytes(data[position + 5 : position + 7], "big")
    if height == 0 or height <= rows + MARGIN:
        return None
    lowered = (rows + MARGIN).to_bytes(2, "big")
    return b"".join((data[: position + 5], lowered, data[position + 7 :]))


def frame_position(data: bytes) -> int | None:
    """Offset of the first start-of-frame marker, walking the chain of segments."""
    for position, marker in _segments(data):
        if marker in _FRAMES:
            return position if position + 9 <= len(data) else None
        if marker == _SCAN:
            return None
    return None


def holds_enough(data: bytes, rows: int) -> bool:
    """Whether the coded data can cover what the header claims.

    Every 8×8 block costs at least two bits (one in a progressive file). A file that
    has its end marker must cover its whole declared size, one cut short the `rows`
    that are used. libjpeg would fill what is missing with gray, without an error.
    """
    position = frame_position(data)
    if position is None:
        return True
    height = int.from_bytes(data[position + 5 : position + 7], "big")
    width = int.from_bytes(data[position + 7 : position + 9], "big")
    if not is_whole(data):
        height = min(height, rows)
    bits = 1 if data[position + 1] == 0xC2 else 2
    return -(-width // 8) * -(-height // 8) * bits <= 8 * (len(data) - position)


def is_whole(data: bytes) -> bool:
    """Whether an end-of-image marker follows the first scan (FF never stands bare inside)."""
    for position, marker in _segments(data):
        if marker == _SCAN:
            return data.find(b"\xff\xd9", position) >= 0
    return False


def _segments(data: bytes) -> Iterator[tuple[int, int]]:
    """(offset of the FF, marker) of each segment up to the first scan."""
    if data[:2] != b"\xff\xd8":
        return
    position = 2
    while position + 4 <= len(data):
        if data[position] != 0xFF:
            return
        marker = data[position + 1]
        if marker == 0xFF:  # fill byte
            position += 1
            continue
        yield position, marker
        if marker in (_SCAN, _END):
            return
        if marker in _BARE:
            position += 2
            continue
        length = int.from_bytes(data[position + 2 : position + 4], "big")
        if length < 2:
            return
        position += 2 + length
