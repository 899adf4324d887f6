"""The command line as it is started by the shell, but in this process."""

import io
import sys
import warnings
from contextlib import redirect_stderr, redirect_stdout
from unittest import mock

from samecam.cli import main


def typed(*words):
    """Exit code, standard output and standard error of `samecam WORDS...`."""
    out, error = io.StringIO(), io.StringIO()
    arguments = ["samecam", *map(str, words)]
    with (
        warnings.catch_warnings(),
        mock.patch.object(sys, "argv", arguments),
        redirect_stdout(out),
        redirect_stderr(error),
    ):
        try:
            main()
        except SystemExit as end:
            return end.code, out.getvalue(), error.getvalue()
    raise AssertionError("it did not end")
