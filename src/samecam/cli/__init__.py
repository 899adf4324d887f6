"""The command line: words typed become one library call per command."""

import gc
import sys
import warnings
from typing import Any

import click

from samecam._version import __version__
from samecam.cli._add import add
from samecam.cli._benchmark import benchmark
from samecam.cli._cluster import cluster
from samecam.cli._command import Group
from samecam.cli._compare import compare
from samecam.cli._decide import decide
from samecam.cli._doctor import doctor
from samecam.cli._evaluate import evaluate
from samecam.cli._experiment import experiment
from samecam.cli._export import export
from samecam.cli._extract import extract
from samecam.cli._failures import lack, last_resort, system_error
from samecam.cli._match import match
from samecam.cli._output import error_lines, tell
from samecam.cli._report import report
from samecam.cli._review import review
from samecam.cli._simulate import simulate
from samecam.cli._text import cut
from samecam.cli._tune import tune
from samecam.cli._validate import validate
from samecam.cli._verify import verify
from samecam.errors import SamecamError

__all__ = ["cli", "main"]


@click.group(
    cls=Group,
    invoke_without_command=True,
    subcommand_metavar="COMMAND [ARGS]...",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="samecam")
@click.pass_context
def cli(ctx: click.Context, /) -> None:
    """Which of these photographs were taken by the same camera?

    Exit codes: 0 done, 1 an error that says what to do, 2 wrong usage, 3 done but some files
    were skipped, 4 a check saw a difference, 70 a fault of samecam itself, 130 interrupted.
    """
    if ctx.invoked_subcommand is None:  # nothing was typed
        tell(ctx.get_help().split("\n"))
        ctx.exit(2)


for _command in (
    *(cluster, extract, add, match, review, decide, verify, report, export),
    *(evaluate, validate, compare, benchmark, tune, simulate, experiment, doctor),
):
    cli.add_command(_command)


def main() -> None:
    """Run the command line; an error that a user can mend is one line."""
    warnings.showwarning = _show_warning
    # Records of all photos live to the end: looking for cycles among them took a fifth of the time.
    gc.set_threshold(100_000, 50, 100)
    try:
        code = cli.main(prog_name="samecam", standalone_mode=False)
        sys.exit(code if isinstance(code, int) else 0)
    except (click.exceptions.Abort, KeyboardInterrupt):
        tell("Interrupted.")
        sys.exit(130)
    except click.ClickException as error:
        tell(error_lines(error))
        sys.exit(error.exit_code)
    except SamecamError as error:
        tell(f"Error: {cut(str(error))}")
        sys.exit(1)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)
    except Exception as error:
        if sentence := lack(error) or system_error(error):
            tell(f"Error: {sentence}")
            sys.exit(1)
        tell(last_resort(error))  # a bug: never shown as Python does
        sys.exit(70)


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    tell(f"Warning: {message}")
