"""Read only the top rows of a JPEG: cut its declared height, in memory."""

from collections.abc import Iterator

from samecam.photos._jpeg_scans import MARKER

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
    for position, marker in segments(data):
        if marker in _FRAMES:
            return position if position + 9 <= len(data) else None
        if marker == _SCAN:
            return None
    return None


def frame_size(data: bytes) -> tuple[int, int] | None:
    """Width and height as the first frame header declares them."""
    position = frame_position(data)
    if position is None:
        return None
    height, width = data[position + 5 : position + 7], data[position + 7 : position + 9]
    return int.from_bytes(width, "big"), int.from_bytes(height, "big")


def holds_enough(data: bytes, rows: int) -> bool:
    """Whether the coded data can cover what the header claims.

    Every 8×8 block costs at least two bits (one in a progressive file). A file that
    has its end marker must cover its whole declared size, one cut short the `rows`
    that are used. A progressive file must hold every bit of every coefficient. libjpeg
    would fill what is missing with gray or leave it out, without an error.
    """
    position, size = frame_position(data), frame_size(data)
    if position is None or size is None:
        return True
    width, height = size
    progressive = data[position + 1] == 0xC2
    if not is_whole(data):
        height = min(height, rows)
    bits = 1 if progressive else 2
    if -(-width // 8) * -(-height // 8) * bits > 8 * (len(data) - position):
        return False
    return not progressive or _has_all_scans(data, position)


def _has_all_scans(data: bytes, frame: int) -> bool:
    """Whether the scans of a progressive file bring each coefficient to its last bit."""
    count = data[frame + 9]
    missing = {data[frame + 10 + 3 * k]: set(range(64)) for k in range(count)}
    at = data.find(b"\xff\xda", frame)
    while at >= 0:
        components = data[at + 4]
        header = data[at + 5 : at + 8 + 2 * components]
        if len(header) < 3 + 2 * components:
            break
        first, last, bits = header[-3:]
        if bits & 0x0F == 0:
            for k in range(components):
                missing.get(header[2 * k], set()).difference_update(range(first, last + 1))
        following = MARKER.search(data, at + 2)
        while following and following[0][1] not in (_SCAN, _END):
            following = MARKER.search(data, following.end())
        if following is None or following[0][1] == _END:
            break
        at = following.start()
    return not any(missing.values())


def is_whole(data: bytes) -> bool:
    """Whether an end-of-image marker follows the first scan (FF never stands bare inside)."""
    for position, marker in segments(data):
        if marker == _SCAN:
            return data.rfind(b"\xff\xd9") >= position  # from behind: there it is at once
    return False


def segments(data: bytes) -> Iterator[tuple[int, int]]:
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
