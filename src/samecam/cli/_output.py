"""What is printed: everything goes through `show`, so that names of files cannot act on a terminal.

A name or a camera's EXIF may hold any character. Printed as they are, some of them move the
cursor, change colours, turn the direction of writing or end the line, and what is read is no
longer what was said.
"""

import json
from collections.abc import Iterable
from typing import Any

import click

from samecam.cli._text import printable

Lines = str | Iterable[str]


def show(lines: Lines, *, to_stderr: bool = False) -> None:
    """Print one line, or several; line breaks inside of one are shown escaped."""
    each = [lines] if isinstance(lines, str) else lines
    click.echo("\n".join(map(printable, each)), err=to_stderr)


def say(lines: Lines, *, quiet: bool) -> None:
    """Print for people, on standard output."""
    if not quiet:
        show(lines)


def tell(lines: Lines) -> None:
    """Print what goes on and what goes wrong, on standard error."""
    show(lines, to_stderr=True)


def print_json(value: Any) -> None:
    """Print for machines: one JSON object on standard output, in ASCII."""
    text = json.dumps(value, indent=2, ensure_ascii=True).replace("\x7f", "\\u007f")
    show(text.split("\n"))


def error_lines(error: click.ClickException) -> list[str]:
    """What is said of wrong usage: how it is used, and what is wrong."""
    message, context = error.format_message(), getattr(error, "ctx", None)
    if isinstance(error, click.MissingParameter):  # choices stand on lines of their own
        message = " ".join(message.split())
    if context is None:
        return [f"Error: {message}"]
    path = context.command_path
    return [
        *context.get_usage().split("\n"),
        f"Try '{path} {context.help_option_names[-1]}' for help.",
        "",
        f"Error: {message}",
    ]
