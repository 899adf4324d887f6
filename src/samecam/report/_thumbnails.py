"""Small pictures of the photos, made in other processes: any byte sequence may arrive."""

import base64
import hashlib
import io
import os
import stat
import warnings
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from samecam import compute
from samecam.errors import SamecamError
from samecam.inputs import open_input, read_some
from samecam.photos import looks_like_picture

if TYPE_CHECKING:
    from PIL import Image

PHASE = "Thumbnails"
_LARGEST_FILE = 2**30
_LARGEST = 178_956_970
_FORMATS = ("JPEG", "PNG", "TIFF", "WEBP", "BMP")
_QUALITY = 72
_HEAD = 32
# An embedded thumbnail of other proportions is of another picture, or has black bars.
_PROPORTION = 0.02
_OFFSET, _LENGTH, _ORIENTATION = 0x0201, 0x0202, 0x0112


class Shown(Protocol):
    """A photo that is shown: its name on the page, and the hash that its file must have."""

    @property
    def path(self) -> str:
        """Its name."""

    @property
    def sha256(self) -> str:
        """The hash."""


@dataclass(frozen=True, slots=True)
class ThumbnailTask:
    """A file, the hash it must have, and the longest side of what is made.

    `embedded` : whether the small picture in the file will do, where it has one
    """

    path: str
    file: str
    sha256: str
    side: int
    embedded: bool = True


@dataclass(frozen=True, slots=True)
class Thumbnail:
    """A picture as a data URI, or the reason why there is none ("" for the other)."""

    uri: str = ""
    reason: str = ""
    width: int = 0
    height: int = 0


def make_thumbnails(
    photos: Sequence[Shown],
    files: dict[str, str],
    *,
    side: int,
    resources: compute.Resources,
    timeout: float,
    progress: compute.Progress,
) -> dict[str, Thumbnail]:
    """Thumbnails by path. A file that is gone, changed, damaged or slow gets a reason instead.

    Parameters
    ----------
    photos : those that are shown
    files : where they are, by path
    side : longest side in pixels
    resources : whose workers make them
    timeout : seconds one photo may take
    """
    result = {p.path: Thumbnail(reason="not found") for p in photos}
    there = [p for p in photos if p.path in files]
    tasks = [ThumbnailTask(p.path, files[p.path], p.sha256, side) for p in there]
    if not tasks:
        return result
    pool = compute.LocalPool(
        min(resources.n_workers, len(tasks)),
        timeout=timeout,
        memory=compute.worker_memory(1024),
        preload="samecam._preload",
    )
    for done, (task, future) in enumerate(compute.completed(pool, thumbnail, tasks), start=1):
        result[task.path] = _outcome(future)
        progress(PHASE, done, len(tasks))
    return result


def _outcome(future: "Future[Thumbnail]") -> Thumbnail:
    try:
        return future.result()
    except compute.TaskTimeoutError:
        return Thumbnail(reason="took too long")
    except compute.WorkerDiedError:
        return Thumbnail(reason="decoder crashed")
    except SamecamError:
        raise
    except Exception as error:  # trouble with one file must not cost the others
        return Thumbnail(reason=f"cannot be drawn: {type(error).__name__}")


def thumbnail(task: ThumbnailTask) -> Thumbnail:
    """Make one, from the file's embedded one where it fits, else from the picture itself.

    It is encoded anew, so that no byte of the file, and none of its metadata, gets into the page.
    """
    try:
        data = _read(task)
    except OSError:
        return Thumbnail(reason="cannot be read")
    if data is None:
        return Thumbnail(reason="no photo")
    if hashlib.sha256(data).hexdigest() != task.sha256:
        return Thumbnail(reason="changed since")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            image = _turned(*_small(data, task.side, task.embedded))
            image.thumbnail((task.side, task.side))
            stream = io.BytesIO()
            image.save(stream, "JPEG", quality=_QUALITY, optimize=True)
    except Exception:  # any byte sequence may arrive
        return Thumbnail(reason="cannot be drawn")
    uri = "data:image/jpeg;base64," + base64.b64encode(stream.getvalue()).decode("ascii")
    return Thumbnail(uri, "", image.width, image.height)


def _read(task: ThumbnailTask) -> bytes | None:
    """Bytes of a regular file that may be a picture; opened for reading alone."""
    with open_input(task.file) as stream:
        status = os.fstat(stream.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_size > _LARGEST_FILE:
            return None
        head = read_some(stream, _HEAD)
        return head + read_some(stream) if looks_like_picture(head) else None


def _small(data: bytes, side: int, use_embedded: bool = True) -> "tuple[Image.Image, int]":
    """A picture of at least the wanted size if there is one, and how it is to be turned."""
    from PIL import Image, UnidentifiedImageError

    Image.MAX_IMAGE_PIXELS = None  # looked at below: a JPEG of any size is decoded reduced
    image: Image.Image
    try:
        image = Image.open(io.BytesIO(data), formats=_FORMATS)
    except UnidentifiedImageError:
        image = _by_other_decoders(data)
    turn = image.getexif().get(_ORIENTATION, 1)
    # Pillow turns a TIFF by itself, and so does the decoder of HEIF.
    turns = isinstance(turn, int) and image.format not in ("TIFF", None)
    if image.format in ("JPEG", "MPO"):
        embedded = _embedded(image) if use_embedded else None
        if embedded is not None:
            return embedded, turn if turns else 1
        image.draft("RGB", (side, side))
    if image.width * image.height > _LARGEST:
        raise ValueError("too large to decode whole")
    if image.mode.startswith("I;16"):
        image = Image.fromarray((np.asarray(image) >> 8).astype(np.uint8))
    return image.convert("RGB"), turn if turns else 1


def _by_other_decoders(data: bytes) -> "Image.Image":
    """A HEIF picture, or the preview in a raw file, where their decoders are installed."""
    from PIL import Image

    try:
        import pillow_heif

        return pillow_heif.open_heif(io.BytesIO(data)).to_pillow()
    except Exception:  # no decoder, or not its format
        import rawpy

        with rawpy.imread(io.BytesIO(data)) as raw:
            preview = raw.extract_thumb()
        return Image.open(io.BytesIO(bytes(preview.data)), formats=("JPEG",))


def _embedded(image: "Image.Image") -> "Image.Image | None":
    """The thumbnail in a JPEG's EXIF, if it can be read and has the picture's proportions."""
    from PIL import ExifTags, Image

    try:
        block = image.info["exif"]
        place = image.getexif().get_ifd(ExifTags.IFD.IFD1)
        start = 6 + int(place[_OFFSET])
        data = block[start : start + int(place[_LENGTH])]
        small = Image.open(io.BytesIO(data), formats=("JPEG",)).convert("RGB")
    except Exception:  # any byte sequence may arrive
        return None
    if min(small.size) < 2 or max(small.size) > 1024:
        return None
    wanted = image.width / image.height
    same = abs(small.width / small.height / wanted - 1) <= _PROPORTION
    return small if same else None


def _turned(image: "Image.Image", orientation: int) -> "Image.Image":
    """As EXIF says it is to be looked at."""
    from PIL import Image

    way = {
        2: Image.Transpose.FLIP_LEFT_RIGHT,
        3: Image.Transpose.ROTATE_180,
        4: Image.Transpose.FLIP_TOP_BOTTOM,
        5: Image.Transpose.TRANSPOSE,
        6: Image.Transpose.ROTATE_270,
        7: Image.Transpose.TRANSVERSE,
        8: Image.Transpose.ROTATE_90,
    }.get(orientation)
    return image if way is None else image.transpose(way)
