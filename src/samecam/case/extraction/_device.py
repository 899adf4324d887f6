"""Photos that workers have decoded become rows on a device, many at a time."""

import time
from collections import deque
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy.typing as npt

from samecam import compute
from samecam.case.extraction._worker import Outcome, frame_kind, refuse_flat, take_row
from samecam.case.folder import ExtractionSettings
from samecam.fingerprint import fingerprints, frame_rows
from samecam.frames import Frame
from samecam.store import FrameWriters

BATCH = 64
HELD = 256
# Bytes of pictures that are worked on at a time, and that may wait, beside one picture.
_BATCH_BYTES, _HELD_BYTES = 2**28, 2**30

T = TypeVar("T")
Waiting = tuple[Outcome, npt.NDArray[Any], T]


class DeviceStage(Generic[T]):
    """Collects decoded photos, makes their fingerprints in batches, writes them.

    Which photos share a batch makes no difference to their rows. A tag comes back with
    its outcome, whatever it is.

    Parameters
    ----------
    settings : of the case
    store : folder of the store, of which shards are claimed; None makes rows and drops them
    device : as `samecam.compute.choose_device` names it
    """

    def __init__(self, settings: ExtractionSettings, store: Path | None, device: str) -> None:
        self._settings, self._device = settings, device
        self._writers = None if store is None else FrameWriters(store, settings.rows)
        self._waiting: dict[tuple[int, ...], deque[Waiting[T]]] = {}
        self._ready: list[tuple[Outcome, T]] = []

    @property
    def waiting(self) -> int:
        """Photos put and not worked on."""
        return sum(map(len, self._waiting.values()))

    @property
    def full(self) -> bool:
        """Whether as many photos wait as may be held: call `finish` before the next `put`."""
        held = sum(len(some) * some[0][1].nbytes for some in self._waiting.values() if some)
        return self.waiting >= HELD or held >= _HELD_BYTES

    def put(self, outcome: Outcome, pixels: npt.NDArray[Any] | None, tag: T) -> None:
        """Take one photo; without pixels nothing is left to do and it is only handed on."""
        if pixels is None:
            self._ready.append((outcome, tag))
            return
        size = self._settings.size
        if size is not None and pixels.shape != (size, size, 3):
            raise ValueError(f"the square has shape {pixels.shape}; the case's have {size} a side")
        if self.waiting >= HELD:
            raise ValueError(f"{HELD} photos wait already; call finish first")
        self._waiting.setdefault(pixels.shape, deque()).append((outcome, pixels, tag))

    def finish(self, force: bool = False) -> list[tuple[Outcome, T]]:
        """Work through whole batches, with `force` through all, and give back what is done.

        An outcome gets its place in the store, or "unusable" if the picture is flat, and
        its share of the seconds of its batch. What is raised is trouble with the store
        or the device and ends the run.
        """
        for some in self._waiting.values():
            while some and (force or self.full or len(some) >= _batch(some)):
                count = min(_batch(some), len(some))
                self._work([some.popleft() for _ in range(count)])
        self._waiting = {shape: some for shape, some in self._waiting.items() if some}
        done, self._ready = self._ready, []
        return done

    def close(self) -> None:
        """Let go of the shards."""
        if self._writers is not None:
            self._writers.close()

    def _work(self, batch: list[Waiting[T]]) -> None:
        began = time.perf_counter()
        with compute.device_errors(self._device):
            rows = self._rows(batch)
        share = (time.perf_counter() - began) / len(batch)
        for (outcome, pixels, tag), row in zip(batch, rows, strict=True):
            if row is None:
                refuse_flat(outcome)
            else:
                outcome.seconds["residual"] = share
                began = time.perf_counter()
                take_row(outcome, Frame(pixels.shape[1], pixels.shape[0]), row, self._writers)
                outcome.seconds["write"] = time.perf_counter() - began
            self._ready.append((outcome, tag))

    def _rows(self, batch: list[Waiting[T]]) -> list[Any]:
        """Rows of pictures of one shape; None for flat ones."""
        pictures = [pixels for _, pixels, _ in batch]
        if self._settings.size is not None:
            made = fingerprints(pictures, device=self._device, **self._settings.steps)
            pairs = zip(made.rows, made.flat, strict=True)
            return [None if flat else row for row, flat in pairs]
        height, width = pictures[0].shape
        return list(
            frame_rows(
                pictures,
                [outcome.sha256 for outcome, _, _ in batch],
                dtype=frame_kind(Frame(width, height), self._settings),
                device=self._device,
                **self._settings.filter,
            )
        )


def _batch(waiting: "deque[Waiting[Any]]") -> int:
    """Photos of one shape that are worked on at a time."""
    return max(1, min(BATCH, _BATCH_BYTES // waiting[0][1].nbytes))
