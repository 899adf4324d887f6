"""Pictures by hash: small ones made once and kept in the case, large ones when they are looked at.

Files are decoded in other processes, under limits, and encoded anew; this one touches none.
"""

import asyncio
import base64
import contextlib
import os
import threading
from collections import OrderedDict
from collections.abc import Iterable
from concurrent.futures import Future
from pathlib import Path

from samecam import compute
from samecam.case import THUMBNAILS
from samecam.errors import SamecamError
from samecam.files import check_single, read_own, refuse_link, write_atomically
from samecam.report import Thumbnail, ThumbnailTask, thumbnail
from samecam.review._index import Index

SMALL, LARGE = 256, 1600
_TIMEOUT = 20.0
_SQUARE = 1024  # pixels of no fingerprint: none is made here
_LOOK = 0.5  # seconds between two looks whether all is to end
_WAITING = 2  # requests that wait for pictures
_HELD = 2**26  # bytes of pictures held in memory, of those that are not kept in the case
_LONGEST = 2**20
_JPEG = b"\xff\xd8\xff"


class BusyError(Exception):
    """A picture is being made: ask again in a moment."""


class Pictures:
    """Pictures of the photos of a case.

    Parameters
    ----------
    index : of the case
    keep : whether small ones are kept in the case
    resources : whose workers make them
    """

    def __init__(self, index: Index, *, keep: bool, resources: compute.Resources) -> None:
        self._index, self._keep = index, keep
        self._folder = index.saved.folder / THUMBNAILS
        self._workers = resources.n_workers
        self._pool: compute.LocalPool | None = None
        self._lock = threading.Lock()
        self._files: dict[str, str] | None = None
        self._coming: dict[tuple[str, int], Future[None]] = {}
        self._held: OrderedDict[tuple[str, int], bytes] = OrderedDict()
        self._waiting = 0
        self.reasons: dict[str, str] = {}
        self._closed = threading.Event()
        if keep:
            _begin(self._folder)

    async def get(self, sha256: str, side: int) -> bytes | None:
        """A JPEG with this longest side; None: there is none, and `reasons` says why.

        `BusyError` if others wait already: a browser has few connections, and pages need some.
        """
        data = await asyncio.to_thread(self._known, sha256, side)
        if data is not None or sha256 in self.reasons:
            return data
        if self._files is not None:
            await asyncio.to_thread(self._ask, sha256, side)
        if self._waiting >= _WAITING and sha256 not in self.reasons:
            raise BusyError
        self._waiting += 1
        try:
            future = await asyncio.to_thread(self._ask, sha256, side)
            if future is not None:
                await asyncio.wrap_future(future)
        finally:
            self._waiting -= 1
        return await asyncio.to_thread(self._known, sha256, side)

    def _known(self, sha256: str, side: int) -> bytes | None:
        """What was made before."""
        with self._lock:
            if (sha256, side) in self._held:
                self._held.move_to_end((sha256, side))
                return self._held[sha256, side]
        if side != SMALL:
            return None
        with contextlib.suppress(OSError, SamecamError):
            data = read_own(self._folder / f"{sha256}.jpg", _LONGEST)
            if data.startswith(_JPEG):
                return data
        return None

    def _ask(self, sha256: str, side: int) -> "Future[None] | None":
        """Let a worker make one, if it is not being made already; done once it is kept."""
        photo = self._index.files.get(sha256)
        file = self.files.get(photo.path) if photo is not None else None
        if photo is None or file is None:
            self.reasons[sha256] = "not found"
            return None
        with self._lock:
            if self._closed.is_set():
                return None
            if known := self._coming.get((sha256, side)):
                return known
            try:
                pool = self._started()
                task = ThumbnailTask(photo.path, file, sha256, side, embedded=False)
                made = pool.submit(thumbnail, task)
            except SamecamError:  # workers cannot be had: pages go without pictures
                self.reasons[sha256] = "cannot be drawn"
                return None
            kept = self._coming[sha256, side] = Future()
        made.add_done_callback(lambda done: self._arrived(sha256, side, done, kept))
        return kept

    def _started(self) -> compute.LocalPool:
        if self._pool is None:
            self._pool = compute.LocalPool(
                self._workers,
                timeout=_TIMEOUT,
                memory=compute.worker_memory(_SQUARE),
                preload="samecam._preload",
            )
        return self._pool

    def _arrived(
        self, sha256: str, side: int, done: "Future[Thumbnail]", kept: "Future[None]"
    ) -> None:
        try:
            made = done.result()
        except compute.TaskTimeoutError:
            made = Thumbnail(reason="took too long")
        except compute.WorkerDiedError:
            made = Thumbnail(reason="decoder crashed")
        except BaseException:  # trouble with one file must not cost the others
            made = Thumbnail(reason="cannot be drawn")
        if made.reason:
            self.reasons[sha256] = made.reason
        else:
            self._hold(sha256, side, base64.b64decode(made.uri.partition(",")[2]))
        with self._lock:
            self._coming.pop((sha256, side), None)
        kept.set_result(None)

    def _hold(self, sha256: str, side: int, data: bytes) -> None:
        if side == SMALL and self._keep:
            with contextlib.suppress(SamecamError):  # a full disk: held in memory instead
                write_atomically(self._folder / f"{sha256}.jpg", data)
                return
        with self._lock:
            self._held[sha256, side] = data
            while sum(map(len, self._held.values())) > _HELD and len(self._held) > 1:
                self._held.popitem(last=False)

    @property
    def files(self) -> dict[str, str]:
        """Where the photos are now, by path; looked up once."""
        if self._files is None:
            self._files = self._index.saved.sources().files
        return self._files

    def make_all(self, rows: Iterable[int]) -> None:
        """Make all small pictures that are not there, in this order, a few at a time."""
        if not self._keep:
            return
        there = {name[:-4] for name in os.listdir(self._folder)}
        photos = self._index.photos
        waiting = [photos[row].sha256 for row in rows if photos[row].sha256 not in there]
        for sha256 in waiting:
            if self._closed.is_set():
                return
            future = self._ask(sha256, SMALL)
            while future is not None and not self._closed.is_set():
                with contextlib.suppress(TimeoutError):
                    future.result(_LOOK)
                    break

    def close(self) -> None:
        """End the workers."""
        self._closed.set()
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.stop()


def _begin(folder: Path) -> None:
    """Make the folder of small pictures, or refuse what stands in its place."""
    refuse_link(folder)
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise SamecamError(f"{str(folder)!r} cannot be made: {error.strerror}.") from None
    check_single(folder, folders=True)
