"""What several processes of one run of tests need, made by the first that asks for it."""

import fcntl
import os
import shutil


def made_once(tmp_path_factory, name, make):
    """The folder of that name, which `make(folder)` has filled; nobody changes it."""
    root = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        root = root.parent  # of all workers
    folder, unfinished = root / name, root / f"{name}.part"
    with open(root / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            shutil.rmtree(unfinished, ignore_errors=True)
            unfinished.mkdir()
            make(unfinished)
            unfinished.rename(folder)
    return folder
