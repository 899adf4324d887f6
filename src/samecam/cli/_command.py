"""What a command of ours is: options under headings, one line each, and errors that name them."""

from collections.abc import Callable
from typing import Any, Literal, TypeVar, get_args

import click

from samecam.cli._environment import check_environment
from samecam.errors import ParameterError, SamecamError

F = TypeVar("F", bound=Callable[..., Any])

# Headings, in the order they are shown; the first is for what most people use.
Section = Literal[
    "Options", "Fingerprints", "Squares, with --size", "Grouping", "Running", "Research methods"
]
SECTIONS: tuple[Section, ...] = get_args(Section)


class Option(click.Option):
    """An option under a heading; `show_default` may be the text that is shown."""

    def __init__(self, *given: Any, section: Section = "Options", **attributes: Any) -> None:
        super().__init__(*given, **attributes)
        self.section = section

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Names with the kind of value, and one line of help with the default."""
        record = super().get_help_record(ctx)
        if record is None:
            return None
        default = self.show_default
        shown = default if isinstance(default, str) else str(self.default) if default else ""
        extra = f"  [default: {shown}]" if shown else "  [required]" if self.required else ""
        return record[0], f"{self.help or ''}{extra}"


class Command(click.Command):
    """A command whose help has sections, and whose errors name the options that were typed."""

    def sections(self, ctx: click.Context) -> dict[Section, list[click.Parameter]]:
        """Options by heading."""
        under: dict[Section, list[click.Parameter]] = {name: [] for name in SECTIONS}
        for parameter in self.get_params(ctx):
            if not isinstance(parameter, click.Argument):
                under[getattr(parameter, "section", SECTIONS[0])].append(parameter)
        return under

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write all options, aligned over the sections."""
        tables = {
            name: [row for option in options if (row := option.get_help_record(ctx)) is not None]
            for name, options in self.sections(ctx).items()
        }
        wide = max((len(row[0]) for rows in tables.values() for row in rows), default=0)
        for name, rows in tables.items():
            if rows:
                with formatter.section(name):
                    formatter.write_dl([(row[0].ljust(wide), row[1]) for row in rows], wide)

    def get_short_help_str(self, limit: int = 45) -> str:  # noqa: ARG002  # never cut
        """The first paragraph of the help, whole."""
        return " ".join((self.help or "").split("\n\n")[0].split())

    def invoke(self, ctx: click.Context) -> Any:
        """Run it, where any can run; an error about a parameter names the option that gave it."""
        check_environment()
        try:
            return super().invoke(ctx)
        except ParameterError as error:
            raise SamecamError(error.with_name(self.typed(error.parameter))) from None

    def typed(self, parameter: str) -> str:
        """A parameter as it is typed: '--clusters' for n_clusters; its own name if it is none."""
        for known in self.params:
            if known.name == parameter:
                return max(known.opts, key=len) if isinstance(known, click.Option) else parameter
        return parameter


class Group(click.Group):
    """Commands in the order they are added, not in that of the alphabet."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Names of all commands."""
        return list(self.commands)


def command(**attributes: Any) -> Callable[[Callable[..., Any]], Command]:
    """Make a function a command."""
    return click.command(cls=Command, **attributes)


def option(*names: str, section: Section = "Options", **attributes: Any) -> Callable[[F], F]:
    """Add an option under a heading."""
    return click.option(*names, cls=Option, section=section, **attributes)


def choice(
    name: str, *values: str, help: str, section: Section = "Options", metavar: str | None = None
) -> Callable[[F], F]:
    """Add an option that takes one of some words, the first if none is given.

    `metavar` stands in the help in place of words that are too many for a line.
    """
    return option(
        name,
        type=click.Choice(values),
        default=values[0],
        show_default=True,
        help=help,
        section=section,
        metavar=metavar,
    )


def together(*options: Callable[[Any], Any]) -> Callable[[F], F]:
    """Several options as one decorator, the first one first."""

    def decorate(function: F) -> F:
        for each in reversed(options):
            function = each(function)
        return function

    return decorate
