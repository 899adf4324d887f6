"""Loaded by every Python process of a test: makes the decoder hang, wait or crash on request.

A picture that holds the bytes HANG-HERE never ends to be opened; one with CRASH-HERE
ends the process; one with SLOW-HERE takes a while to be decoded; one that ends with WAIT-FOR
and a path makes the file PATH.reached when it is opened, then waits for PATH; one with
LOADS-AFTER does so when it is decoded. A folder HUNG is never listed, as on a mount
that does not answer; beside it the file HUNG.reached is made.
"""

import os
import signal
import time

import PIL.Image
import PIL.ImageFile

_open = PIL.Image.open
_load = PIL.ImageFile.ImageFile.load
_scandir = os.scandir


def _faulty(stream, *args, **kwargs):
    data = stream.getvalue() if hasattr(stream, "getvalue") else b""
    if b"HANG-HERE" in data:
        time.sleep(3600)
    if b"CRASH-HERE" in data:
        os.kill(os.getpid(), signal.SIGSEGV)
    if b"WAIT-FOR" in data:
        _wait(os.fsdecode(data.rpartition(b"WAIT-FOR")[2]))
    image = _open(stream, *args, **kwargs)
    if b"SLOW-HERE" in data:
        image.before_loading = lambda: time.sleep(0.2)
    if b"LOADS-AFTER" in data:
        image.before_loading = lambda: _wait(os.fsdecode(data.rpartition(b"LOADS-AFTER")[2]))
    return image


def _slow(image):
    """Decode a picture, after what was asked for, once."""
    vars(image).pop("before_loading", lambda: None)()
    return _load(image)


def _wait(path):
    open(path + ".reached", "w").close()
    while not os.path.exists(path):
        time.sleep(0.05)


def _hung(path="."):
    if os.path.basename(os.fspath(path)) == "HUNG":
        open(os.fspath(path) + ".reached", "w").close()
        time.sleep(3600)
    return _scandir(path)


PIL.Image.open = _faulty
PIL.ImageFile.ImageFile.load = _slow
os.scandir = _hung
