"""Imported once by the server that worker processes are forked from.

Loads the compiled kernels, so that each worker starts ready. Until that is done a thread
watches the process that wants it: should it be killed, so is this one, at once. The
thread has ended before the first worker is forked.
"""

import contextlib
import os
import threading


def _watch_parent() -> tuple[threading.Thread, threading.Event]:
    parent, done = os.getppid(), threading.Event()

    def watch() -> None:
        while not done.wait(0.1):
            if os.getppid() != parent:
                os._exit(1)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    return thread, done


def _load() -> None:
    import numpy as np

    import samecam.case.extraction  # noqa: F401
    from samecam.fingerprint import fingerprint, frame_row
    from samecam.photos import load_kernels

    picture = np.random.default_rng(0).integers(0, 256, (64, 64, 3), dtype=np.uint8)
    for pixels in (picture, picture.astype(np.float32)):
        fingerprint(pixels)
        luma = np.ascontiguousarray(pixels[..., 0])
        frame_row(luma, key="0" * 64, dtype="2bits")  # and one bit
        frame_row(luma, key="0" * 64, dtype="int8")
    load_kernels()


_thread, _done = _watch_parent()
with contextlib.suppress(Exception):  # a worker will meet it again, and say so
    _load()
_done.set()
_thread.join()
