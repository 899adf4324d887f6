"""Commands run in a process that stays, watched: a command that hangs costs the process."""

import json
import os
import select
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import samecam
from tests.processes import end, start

ROOT = Path(__file__).parents[2]
SECONDS = 20  # that a command on a tampered case may take
MEMORY = 2**30  # that it may take beside what is loaded; what it may claim is four times that
START = 300  # seconds until a process must have loaded everything


@dataclass
class Outcome:
    """What became of a command: its exit code ("hang", "crash"), what it said, what it took."""

    code: int | str
    out: str = ""
    error: str = ""
    length: int = 0
    seconds: float = 0.0
    memory: int = 0
    files: int = 0


class Slot:
    """Runs commands one after another in one process; made anew after a hang.

    Parameters
    ----------
    folder : for what is written to standard error, and for temporary files
    """

    def __init__(self, folder):
        self._log, self._temporary = Path(folder) / "slot.log", Path(folder) / "temporary"
        self._process = None
        self._log.write_bytes(b"")
        self._temporary.mkdir(exist_ok=True)

    def run(self, *words, seconds=SECONDS):
        """Run `samecam WORDS`."""
        if self._process is None:
            self._start()
        began, said = time.monotonic(), self._log.stat().st_size
        self._process.stdin.write(json.dumps([str(word) for word in words]).encode() + b"\n")
        self._process.stdin.flush()
        line = self._answer(seconds)
        if line:
            outcome = Outcome(**json.loads(line))
            outcome.error += self._beside(said) + self._unforeseen()
            return outcome
        code = "hang" if self._process.poll() is None else "crash"
        if code == "hang":
            with suppress(ProcessLookupError):
                os.kill(self._process.pid, signal.SIGUSR1)
            time.sleep(0.5)
        self.close()
        return Outcome(code, error=self._beside(said), seconds=time.monotonic() - began)

    def close(self):
        """End the process and all it has started."""
        if self._process is not None:
            end(self._process)
            self._process = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _start(self):
        environment = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", **os.environ}
        source = Path(samecam.__file__).parents[1]
        paths = (str(source), str(ROOT), environment.get("PYTHONPATH"))
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
        self._process = start(
            [
                *(sys.executable, "-m", "tests.soak.slot"),
                *map(str, (self._log, self._temporary, 4 * MEMORY)),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
        )
        self._process.stdin.write(b'["--version"]\n')
        self._process.stdin.flush()
        if not self._answer(START):
            raise RuntimeError(f"no process to run commands: {self._log.read_text()}")

    def _answer(self, seconds):
        """The next line, or b"" if it does not come."""
        stream, until, line = self._process.stdout, time.monotonic() + seconds, b""
        while not line.endswith(b"\n"):
            left = until - time.monotonic()
            if left <= 0 or not select.select([stream], [], [], left)[0]:
                return b""
            piece = os.read(stream.fileno(), 1 << 16)
            if not piece:
                self._process.wait()
                return b""
            line += piece
        return line

    def _beside(self, start):
        with open(self._log, "rb") as stream:
            stream.seek(start)
            return stream.read(20_000).decode(errors="replace")

    def _unforeseen(self):
        """What a command that failed as nobody foresaw has written down."""
        texts = []
        for path in self._temporary.glob("samecam-*.txt"):
            texts.append(path.read_text(errors="replace"))
            path.unlink()
        return "".join(texts)
