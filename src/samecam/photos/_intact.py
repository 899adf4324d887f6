"""Damage that decoders overlook: they make a picture of it, without an error."""

import zlib

from samecam.photos import _blank, _jpeg, _jpeg_scans, _png, _tiff, _webp
from samecam.photos._photo import Box, PhotoError, PhotoInfo

_PLAIN, _JPEG, _DEFLATE = 1, 7, (8, 32946)
ENDS = "truncated: the picture ends inside the part that is used"


def is_jpeg(info: PhotoInfo) -> bool:
    """Whether a file is a JPEG, or begins with one."""
    return info.format in ("JPEG", "MPO")


def check(data: bytes, info: PhotoInfo, box: Box) -> bool:
    """Raise a `PhotoError` unless a part of a picture is as it was written.

    Returns
    -------
    whether that is sure for a JPEG's coded data; of some codings it cannot be told
    """
    if is_jpeg(info):
        if not _jpeg.holds_enough(data, box[3]):
            raise _damaged("too little data for the size the header claims")
        return _check_scans(data, box)
    if info.format == "PNG" and _png.has_changed_pixels(data):
        raise _damaged("the checksum of the pixels is wrong")
    if info.format == "TIFF":
        _check_tiff(data, box)
    if info.format == "WEBP" and _webp.has_hole(data):
        raise _damaged("zeros stand where coded pixels should")
    if info.format == "BMP":
        _check_rows(data, *_blank.bmp_spans(data))
    return True


def _check_scans(data: bytes, box: Box, tables: bytes = b"") -> bool:
    finding = _jpeg_scans.examine(data, box, tables)
    if finding == "ended":
        raise PhotoError("truncated", ENDS)
    if finding == "damaged":
        raise _damaged("the coded pixels are not what an encoder writes")
    return finding == "whole"


def _check_tiff(data: bytes, box: Box) -> None:
    if 43 in data[2:4]:  # a BigTIFF, whose directory is another one
        return
    tags = next(_tiff.folders(data), {})
    kind = tags.get(_tiff.COMPRESSION, (_PLAIN,))[0]
    pieces = _tiff.pieces(tags)
    if kind == _PLAIN and pieces:
        _check_rows(data, [(p.start, p.end) for p in pieces], _tiff.row_bytes(tags))
    tables = bytes(tags.get(_tiff.JPEG_TABLES, ()))
    for piece in pieces:
        left, top, right, bottom = piece.box
        part = (max(box[0], left), max(box[1], top), min(box[2], right), min(box[3], bottom))
        if part[0] >= part[2] or part[1] >= part[3]:
            continue
        if kind == _JPEG:
            inside = (part[0] - left, part[1] - top, part[2] - left, part[3] - top)
            _check_scans(data[piece.start : piece.end], inside, tables)
        elif kind in _DEFLATE:
            _check_sum(data[piece.start : piece.end])


def _check_rows(data: bytes, spans: list[_blank.Span], row: int) -> None:
    if _blank.has_hole(data, spans, row):
        raise _damaged("a hole of zeros in the pixels")


def _check_sum(packed: bytes) -> None:
    """Raise if the checksum at the end of a deflated strip or tile does not fit."""
    unpacking = zlib.decompressobj()
    try:
        while packed and not unpacking.eof:
            unpacking.decompress(packed, 2**20)
            packed = unpacking.unconsumed_tail
    except zlib.error:
        raise _damaged("the checksum of the pixels is wrong") from None


def _damaged(what: str) -> PhotoError:
    return PhotoError("damaged", f"damaged: {what}")
