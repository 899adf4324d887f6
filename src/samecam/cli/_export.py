"""`samecam export`."""

import click

from samecam.cli._command import command, option
from samecam.cli._options import file_option, output_options
from samecam.cli._output import print_json, say
from samecam.cli._progress import Phases
from samecam.cli._text import counted

_SHOWN = 5


@command()
@click.argument("case", type=click.Path())
@option(
    "--format",
    "kind",
    type=click.Choice(["csv", "json", "vics", "case"]),
    required=True,
    help="vics is VICS 2.0 JSON, case is CASE/UCO JSON-LD.",
)
@file_option("--output", "CASE/export.*", "File to write.")
@option(
    "--hashes",
    default="",
    metavar="md5,sha1",
    help="Beside SHA-256: the photos are read again. vics has both anyway.",
)
@option("--bom", is_flag=True, help="Begin a CSV with the mark spreadsheets look for.")
@output_options
def export(
    case: str, kind: str, output: str | None, hashes: str, bom: bool, as_json: bool, quiet: bool
) -> int:
    """Write a clustered CASE in a format other tools read.

    Nothing is sent anywhere. Exit code 3: some files could not be hashed.

    Example:  samecam export CASE --format csv
    """
    from samecam.report.export import export_case

    names = [name.strip().lower() for name in hashes.split(",") if name.strip()]
    with Phases(quiet=quiet) as phases:
        made = export_case(case, kind, output=output, hashes=names, bom=bom, progress=phases)
    lost = made.without_hashes
    if as_json:
        print_json(
            {
                "file": str(made.file),
                "format": made.format,
                "files": made.files,
                "cameras": made.cameras,
                "groups": made.groups,
                "without_hashes": lost,
            }
        )
    else:
        counts = f"{counted(made.files, 'file')}, {counted(made.cameras, 'camera')}"
        lines = [f"{made.file}: {counts}."]
        if lost:
            lines.append(f"{counted(len(lost), 'file')} could not be hashed:")
            lines += [f"  {path}: {lost[path]}" for path in list(lost)[:_SHOWN]]
        say(lines, quiet=quiet)
    return 3 if lost else 0
