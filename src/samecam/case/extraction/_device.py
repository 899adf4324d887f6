"""Photos that workers have decoded become rows on a device, many at a time."""

import time
from collections import deque
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy.typing as npt

from samecam import compute
from samecam.case.extraction._worker import Outcome, refuse_flat
from samecam.case.folder import ExtractionSettings
from samecam.fingerprint import fingerprints
from samecam.store import ShardWriter

BATCH = 64
HELD = 256

T = TypeVar("T")


class DeviceStage(Generic[T]):
    """Collects the crops of decoded photos, makes their fingerprints in batches, writes them.

    Which photos share a batch makes no difference to their rows. A tag comes back with
    its outcome, whatever it is.

    Parameters
    ----------
    settings : of the case, its size chosen
    store : folder of the store, of which a shard is claimed; None makes rows and drops them
    device : as `samecam.compute.choose_device` names it
    """

    def __init__(self, settings: ExtractionSettings, store: Path | None, device: str) -> None:
        self._steps, self._device = settings.steps, device
        self._shape = (settings.side, settings.side, 3)
        self._writer = (
            None if store is None else ShardWriter(store, settings.n_pixels, settings.dtype)
        )
        self._waiting: deque[tuple[Outcome, npt.NDArray[Any], T]] = deque()
        self._ready: list[tuple[Outcome, T]] = []

    @property
    def waiting(self) -> int:
        """Photos put and not worked on."""
        return len(self._waiting)

    @property
    def full(self) -> bool:
        """Whether as many photos wait as may be held: call `finish` before the next `put`."""
        return len(self._waiting) >= HELD

    def put(self, outcome: Outcome, pixels: npt.NDArray[Any] | None, tag: T) -> None:
        """Take one photo; without pixels nothing is left to do and it is only handed on."""
        if pixels is None:
            self._ready.append((outcome, tag))
            return
        if pixels.shape != self._shape:
            raise ValueError(f"the crop has shape {pixels.shape}; the case's have {self._shape}")
        if self.full:
            raise ValueError(f"{HELD} photos wait already; call finish first")
        self._waiting.append((outcome, pixels, tag))

    def finish(self, force: bool = False) -> list[tuple[Outcome, T]]:
        """Work through whole batches, with `force` through all, and give back what is done.

        An outcome gets its place in the store, or "unusable" if the crop is flat, and
        its share of the seconds of its batch. What is raised is trouble with the store
        or the device and ends the run.
        """
        while len(self._waiting) >= BATCH or (force and self._waiting):
            count = min(BATCH, len(self._waiting))
            self._work([self._waiting.popleft() for _ in range(count)])
        done, self._ready = self._ready, []
        return done

    def close(self) -> None:
        """Let go of the shard."""
        if self._writer is not None:
            self._writer.close()

    def _work(self, batch: list[tuple[Outcome, npt.NDArray[Any], T]]) -> None:
        began = time.perf_counter()
        pictures = [pixels for _, pixels, _ in batch]
        with compute.device_errors(self._device):
            made = fingerprints(pictures, device=self._device, **self._steps)
        share = (time.perf_counter() - began) / len(batch)
        for (outcome, _, tag), row, flat in zip(batch, made.rows, made.flat, strict=True):
            if flat:
                refuse_flat(outcome)
            else:
                outcome.seconds["residual"] = share
                began = time.perf_counter()
                if self._writer is not None:
                    outcome.place = self._writer.append(row)
                outcome.seconds["write"] = time.perf_counter() - began
            self._ready.append((outcome, tag))
