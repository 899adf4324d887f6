"""Copies of photographs that were compressed a second time."""

import io
import os
from collections.abc import Sequence
from concurrent.futures import as_completed
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from samecam import compute
from samecam.experiments._experiment import Context
from samecam.files import write_atomically
from samecam.inputs import read_input

_ORIENTATION = 0x0112
_BLOCK = 16  # pixels of a JPEG block with halved colour


def save_again(
    context: Context, files: Sequence[Path], folder: Path, quality: int, side: int
) -> int:
    """Copies of all photographs as JPEG of that quality, several at a time; how many there are."""
    copies_to_make = [
        (str(file), str(folder / f"{number:06d}.jpg"), quality, side)
        for number, file in enumerate(files)
    ]
    workers = min(compute.worker_count(context.workers), max(len(copies_to_make), 1))
    pool = compute.LocalPool(workers, preload=__name__)
    copies = 0
    try:
        waiting = [pool.submit(compress_again, copy) for copy in copies_to_make]
        for done, future in enumerate(as_completed(waiting), start=1):
            copies += future.result()
            context.progress(f"Compressing at {quality}", done, len(copies_to_make))
    except BaseException:
        pool.stop()
        raise
    pool.close()
    return copies


def compress_again(order: tuple[str, str, int, int]) -> bool:
    """Save the top-left part of a photograph as JPEG; whether there is a copy now.

    The part begins where the photograph begins, ends at the edge of a block and, where the
    photograph is larger, one block beyond the square that is used: inside of that, the copy
    is the same to the bit as a copy of the whole photograph. The pixels stay as they are
    stored; the tag of orientation is kept. Colour is halved, as is usual.

    Parameters
    ----------
    order : file, copy, JPEG quality, side of the largest square that is used
    """
    from PIL import Image

    file, copy, quality, side = order
    if os.path.exists(copy):
        return True
    part = _top_left(Path(file), side)
    if part is None:
        return False
    pixels, orientation = part
    exif = Image.Exif()
    if orientation.isdigit():
        exif[_ORIENTATION] = int(orientation)
    data = io.BytesIO()
    picture = Image.fromarray(np.clip(np.round(pixels), 0, 255).astype(np.uint8))
    picture.save(data, "JPEG", quality=quality, exif=exif)
    write_atomically(Path(copy), data.getvalue())
    return True


def _top_left(file: Path, side: int) -> tuple[npt.NDArray[Any], str] | None:
    """Pixels of the largest of these squares that can be read, and the orientation; or None."""
    from samecam.photos import PhotoError, read_photo

    try:
        data = read_input(file)
    except OSError:
        return None
    for wanted in (side + _BLOCK, side, 768, 512, 256):
        if wanted > side + _BLOCK:
            continue
        try:
            photo = read_photo(data, size=wanted)
        except PhotoError:
            continue
        return photo.pixels, photo.info.exif.orientation
    return None
