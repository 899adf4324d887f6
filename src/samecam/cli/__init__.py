"""The command line: words typed become one library call per command."""

import sys

import click

from samecam._version import __version__
from samecam.cli._add import add
from samecam.cli._cluster import cluster
from samecam.cli._compare import compare
from samecam.cli._doctor import doctor
from samecam.cli._evaluate import evaluate
from samecam.cli._experiment import experiment
from samecam.cli._export import export
from samecam.cli._extract import extract
from samecam.cli._match import match
from samecam.cli._output import printable
from samecam.cli._report import report
from samecam.cli._simulate import simulate
from samecam.cli._tune import tune
from samecam.cli._verify import verify
from samecam.errors import SamecamError

__all__ = ["cli", "main"]


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="samecam")
def cli() -> None:
    """Which of these photographs were taken by the same camera?

    Exit codes: 0 done, 1 an error (one sentence says what to do), 2 wrong usage,
    3 done but some files were skipped, 4 a check found a difference, 130 interrupted.
    """


cli.add_command(cluster)
cli.add_command(extract)
cli.add_command(add)
cli.add_command(match)
cli.add_command(verify)
cli.add_command(report)
cli.add_command(export)
cli.add_command(evaluate)
cli.add_command(compare)
cli.add_command(tune)
cli.add_command(simulate)
cli.add_command(experiment)
cli.add_command(doctor)


def main() -> None:
    """Run the command line; errors a user can mend are one sentence."""
    try:
        code = cli.main(standalone_mode=False)
        sys.exit(code if isinstance(code, int) else 0)
    except click.exceptions.Abort:
        click.echo("Interrupted.", err=True)
        sys.exit(130)
    except KeyboardInterrupt:
        click.echo("Interrupted.", err=True)
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except SamecamError as error:
        click.echo(f"Error: {printable(str(error))}", err=True)
        sys.exit(1)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)
