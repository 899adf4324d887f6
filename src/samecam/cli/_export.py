"""`samecam export`."""

import click

from samecam.cli._output import Phases, output_options, print_json, printable, say

_SHOWN = 5


@click.command()
@click.argument("case", type=click.Path())
@click.option(
    "--format",
    "kind",
    type=click.Choice(["csv", "json", "vics", "case"]),
    required=True,
    help="csv, json, vics (VICS 2.0 JSON) or case (CASE/UCO JSON-LD).",
)
@click.option("--output", "-o", type=click.Path(), help="File to write.  [default: CASE/export.*]")
@click.option(
    "--hashes",
    default="",
    metavar="NAMES",
    help="Of md5, sha1, sha256, with commas. The last is always there; for others the photos "
    "are read again. vics has md5 and sha1 anyway.",
)
@click.option("--bom", is_flag=True, help="Begin a CSV with the mark spreadsheets look for.")
@output_options
def export(
    case: str, kind: str, output: str | None, hashes: str, bom: bool, as_json: bool, quiet: bool
) -> int:
    """Write a clustered CASE in a format other tools read.

    Nothing is sent anywhere. Exit code 3: some files could not be hashed.
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
                "groups": made.groups,
                "without_hashes": lost,
            }
        )
    else:
        say(f"{printable(str(made.file))}: {made.files} files, {made.groups} groups.", quiet=quiet)
        if lost:
            say(f"{len(lost)} files could not be hashed:", quiet=quiet)
            for path in list(lost)[:_SHOWN]:
                say(f"  {printable(path)}: {lost[path]}", quiet=quiet)
    return 3 if lost else 0
