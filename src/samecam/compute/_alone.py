"""A function in a process of its own, with a time-out: what it told, its memory, why it failed."""

import importlib
import json
import os
import re
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from samecam.errors import SamecamError

_ANSWER, _SAID = "answer.json", "said.txt"
_LAST, _LONGEST = 300, 1000
_NO_MEMORY = "There is not enough memory."


@dataclass(frozen=True, slots=True)
class Told:
    """What the function returned, or why there is nothing.

    Attributes
    ----------
    facts : what it returned
    failure : a sentence; empty: it did not fail
    peak_memory : in bytes; 0: not known
    timed_out : whether its time was over
    """

    facts: Mapping[str, Any] = field(default_factory=dict)
    failure: str = ""
    peak_memory: int = 0
    timed_out: bool = False


def run_alone(
    function: str, task: Mapping[str, Any], folder: Path, *, timeout: float | None = None
) -> Told:
    """Call a function in a process of its own, to its end or to its time-out.

    Whatever becomes of that process, this one goes on; if this one ends, so does that.

    Parameters
    ----------
    function : "module:name"; takes the task, leaves files where the task says, returns what
        can be written as JSON
    task : ready for JSON
    folder : for what passes between the two
    timeout : seconds; None: any time
    """
    (folder / _ANSWER).unlink(missing_ok=True)
    given = {"function": function, "task": dict(task), "folder": str(folder)}
    code = "from samecam.compute._alone import child; child()"
    with open(folder / _SAID, "wb") as said:
        process = subprocess.Popen(
            [sys.executable, "-P", "-c", code, json.dumps(given)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            stdin=subprocess.PIPE,  # its end tells the child that we are gone
            stdout=said,
            stderr=said,
            start_new_session=True,
        )
        failure = _wait(process, timeout)
    if failure:
        return Told(failure=failure, timed_out=True)
    try:
        return Told(**json.loads((folder / _ANSWER).read_text(encoding="utf-8")))
    except FileNotFoundError:
        return Told(failure=_ended(process.returncode, folder / _SAID))


def _wait(process: "subprocess.Popen[bytes]", timeout: float | None) -> str:
    """Wait for the end; a sentence if it had to be brought about."""
    try:
        process.wait(timeout)
    except subprocess.TimeoutExpired:
        return f"It took longer than {timeout:g} seconds."
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        if process.stdin is not None:
            process.stdin.close()
    return ""


def _ended(code: int, said: Path) -> str:
    if code < 0:
        memory = ", perhaps for want of memory" if -code == signal.SIGKILL else ""
        return f"Its process was ended by {signal.Signals(-code).name}{memory}."
    lines = said.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return f"Its process failed: {lines[-1][:_LAST]}" if lines else "Its process failed."


def child() -> None:
    """What the process does: read the task, work, leave the answer."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    given = json.loads(sys.argv[1])
    module, _, name = given["function"].partition(":")
    try:
        facts = getattr(importlib.import_module(module), name)(given["task"])
        told = Told(facts, peak_memory=_peak())
    except MemoryError:
        told = Told(failure=_NO_MEMORY, peak_memory=_peak())
    except (SamecamError, ValueError) as error:
        told = Told(failure=_message(error), peak_memory=_peak())
    except Exception as error:  # not meant for people: say of which kind it is
        failure = f"{type(error).__name__}: {_message(error)}"
        told = Told(failure=failure, peak_memory=_peak())
    folder = Path(given["folder"])
    beside = folder / f".{_ANSWER}"
    beside.write_text(json.dumps(asdict(told)), encoding="utf-8")
    beside.rename(folder / _ANSWER)


def _end_with_parent() -> None:
    # Not by `sys.stdin`, whose lock the end of the interpreter would wait for in vain.
    while os.read(0, 4096):
        pass
    os._exit(1)


def _peak() -> int:
    """Most bytes this process has held.

    (The kernel's count by `getrusage` begins with what the parent held.)
    """
    try:
        with open("/proc/self/status", encoding="ascii") as stream:
            match = re.search(r"VmHWM:\s+(\d+) kB", stream.read())
        if match:
            return int(match[1]) * 1024
    except OSError:
        pass
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _message(error: Exception) -> str:
    text = " ".join(str(error).split())[:_LONGEST] or type(error).__name__
    return text if text.endswith((".", "!", "?")) else text + "."
