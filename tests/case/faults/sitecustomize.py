"""Loaded by every Python process of a test: makes the decoder hang or crash on request.

A picture that holds the bytes HANG-HERE never ends to be opened; one with CRASH-HERE
ends the process; one with SLOW-HERE takes a while.
"""

import os
import signal
import time

import PIL.Image

_open = PIL.Image.open


def _faulty(stream, *args, **kwargs):
    data = stream.getvalue() if hasattr(stream, "getvalue") else b""
    if b"HANG-HERE" in data:
        time.sleep(3600)
    if b"CRASH-HERE" in data:
        os.kill(os.getpid(), signal.SIGSEGV)
    if b"SLOW-HERE" in data:
        time.sleep(0.2)
    return _open(stream, *args, **kwargs)


PIL.Image.open = _faulty
