"""A scheduler and its workers on loopback, and what they can be made to suffer."""

import csv
import json
import os
import sys
from pathlib import Path

import psutil

from tests.processes import PATIENCE, end, start, wait_for

# Loaded by every Python process of a cluster: pictures that hold certain bytes do harm.
FAULTS = """
import os, signal, time
import PIL.Image
real = PIL.Image.open

def faulty(stream, *args, **kwargs):
    data = stream.getvalue() if hasattr(stream, "getvalue") else b""
    if b"CRASH-HERE" in data:
        os.kill(os.getpid(), signal.SIGSEGV)
    if b"SLOW-HERE" in data:
        time.sleep(0.1)
    if b"HUGE-HERE" in data:
        bytearray(900 * 2**20)
    if os.environ.get("TEST_HANGS"):
        open(os.environ["TEST_HANGS"], "w").close()
        time.sleep(3600)
    if b"ENDS-THE-WORKER" in data:
        import psutil
        for process in psutil.Process().parents():
            if "_dask_worker" in " ".join(process.cmdline()):
                process.parent().kill()
        time.sleep(3600)
    return real(stream, *args, **kwargs)

PIL.Image.open = faulty
"""


class Cluster:
    """A scheduler and workers on loopback, each a process of its own, for a `with`."""

    def __init__(self, folder, port=0, **environment):
        self.folder, self.processes = folder, []
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "sitecustomize.py").write_text(FAULTS)
        paths = (str(folder), str(Path(__file__).parents[3]), os.environ.get("PYTHONPATH"))
        path = os.pathsep.join(filter(None, paths))
        self.environment = {**os.environ, "PYTHONPATH": path, **environment}
        contact = folder / "scheduler.json"
        contact.unlink(missing_ok=True)
        words = ("--host", "127.0.0.1", "--port", str(port), "--no-dashboard")
        self.scheduler = self.start("dask_scheduler", *words, "--scheduler-file", str(contact))
        if not wait_for(lambda: contact.exists() and contact.read_text().endswith("}")):
            self.close()
            raise TimeoutError((folder / "dask_scheduler.log").read_text())
        self.address = json.loads(contact.read_text())["address"]

    def start(self, module, *words, **environment):
        with open(self.folder / f"{module}.log", "a") as log:
            process = start(
                [sys.executable, "-m", f"distributed.cli.{module}", *words],
                cwd=self.folder,
                stdout=log,
                stderr=log,
                env={**self.environment, **environment},
            )
        self.processes.append(process)
        return process

    def worker(self, memory="4GB", **environment):
        """The nanny of a new worker of one thread."""
        words = ("--nthreads", "1", "--memory-limit", memory, "--no-dashboard", "--host")
        words = (*words, "127.0.0.1", "--local-directory", str(self.folder))
        return self.start("dask_worker", self.address, *words, **environment)

    def workers(self, *nannies):
        """Wait until these have their workers."""
        from distributed import Client

        with Client(self.address, set_as_default=False) as client:
            client.wait_for_workers(len(nannies), timeout=PATIENCE)
        return self

    def close(self):
        for process in self.processes:
            end(process)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def below(nanny):
    """The dask worker that a nanny looks after, once it has one."""
    workers = []

    def there():
        children = psutil.Process(nanny.pid).children()
        workers[:] = [p for p in children if "spawn_main" in " ".join(p.cmdline())]
        return workers

    assert wait_for(there)
    return workers[0]


def table(case):
    with open(case / "images.csv", encoding="utf-8", errors="surrogateescape", newline="") as f:
        return list(csv.DictReader(f))


def reasons(case):
    return {row["path"]: row["reason"] for row in table(case)}
