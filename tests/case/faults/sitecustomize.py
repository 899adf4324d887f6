"""Loaded by every Python process of a test: makes the decoder hang, wait or crash on request.

A picture that holds the bytes HANG-HERE never ends to be opened; one with CRASH-HERE
ends the process; one with SLOW-HERE takes a while; one that ends with WAIT-FOR and a path
makes the file PATH.reached, then waits for PATH. A folder HUNG is never listed, as on a mount
that does not answer; beside it the file HUNG.reached is made.
"""

import os
import signal
import time

import PIL.Image

_open = PIL.Image.open
_scandir = os.scandir


def _faulty(stream, *args, **kwargs):
    data = stream.getvalue() if hasattr(stream, "getvalue") else b""
    if b"HANG-HERE" in data:
        time.sleep(3600)
    if b"CRASH-HERE" in data:
        os.kill(os.getpid(), signal.SIGSEGV)
    if b"SLOW-HERE" in data:
        time.sleep(0.2)
    if b"WAIT-FOR" in data:
        _wait(os.fsdecode(data.rpartition(b"WAIT-FOR")[2]))
    return _open(stream, *args, **kwargs)


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
os.scandir = _hung
