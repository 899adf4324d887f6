"""`samecam` as a user runs it: in this process where that will do, else in one of its own.

A process takes a second to load what it needs, so `run` calls the command's `main` here, with
its words and streams; workers are processes of their own all the same. What is killed, limited
or loads faults gets a process: `command` and `run_apart`. Whatever a test leaves behind, the
fixture `no_process_is_left` ends when the test does.
"""

import io
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from unittest import mock

import pytest

# Seconds until something that must happen is taken not to happen: for a busy machine.
PATIENCE = 120

_commands: list[subprocess.Popen] = []


def run(*words):
    """Run `samecam WORDS` here; (exit code, standard output, standard error)."""
    from samecam.cli import main

    streams = [io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2)]
    argv = ["samecam", *map(str, words)]
    with (
        mock.patch.object(sys, "argv", argv),
        redirect_stdout(streams[0]),
        redirect_stderr(streams[1]),
        pytest.raises(SystemExit) as ended,
    ):
        main()
    out, error = (stream.buffer.getvalue().decode() for stream in streams)
    return ended.value.code, out, error


def command(*words, module_path=None, variables=None, **options):
    """Start `python -m samecam WORDS`; see `start` for its other options.

    Parameters
    ----------
    module_path : looked at first for modules
    variables : of the environment, beside those of this process
    """
    environment = {**os.environ, **{name: str(v) for name, v in (variables or {}).items()}}
    if module_path is not None:
        paths = (str(module_path), environment.get("PYTHONPATH"))
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    process = start(
        [sys.executable, "-m", "samecam", *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        **options,
    )
    _commands.append(process)
    return process


def start(arguments, *, deaf=False, **options):
    """Start a process in a group of its own; who calls this must `end` it.

    Parameters
    ----------
    deaf : whether it ignores Ctrl-C, as one in the background of a script; else it does not,
        even if this process does
    """
    with _sigint(signal.SIG_IGN if deaf else signal.default_int_handler):
        return subprocess.Popen(arguments, start_new_session=True, **options)


def end(process):
    """End a process and all of its group, and close its pipes."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()


def end_commands():
    """End every process that `command` has started."""
    while _commands:
        end(_commands.pop())


def run_apart(*words, **options):
    """Run `samecam WORDS` in a process of its own; see `run` and `command`."""
    process = command(*words, **options)
    out, error = process.communicate(timeout=PATIENCE)
    return process.returncode, out.decode(), error.decode()


def ctrl_c(process):
    """Interrupt a process as a terminal does: with its whole group."""
    os.killpg(process.pid, signal.SIGINT)


def wait_for(condition, seconds=PATIENCE):
    """Whether a condition comes to hold."""
    end = time.monotonic() + seconds
    while not (holds := condition()) and time.monotonic() < end:
        time.sleep(0.02)
    return bool(holds)


@contextmanager
def _sigint(handler):
    """Handles Ctrl-C so; a process started meanwhile ignores it if it is ignored here."""
    before = signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
