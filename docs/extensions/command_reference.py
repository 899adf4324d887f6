"""The directive `commands`: every command of samecam with its help, as `--help` prints it.

A page that says ```{commands}``` has a section a command, so the reference is the program's own.
"""

import click
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

WIDTH = 100


def help_of(name: str, command: click.Command) -> str:
    """The text that ``samecam NAME --help`` prints."""
    parent = click.Context(click.Group("samecam"), info_name="samecam")
    context = click.Context(
        command,
        info_name=name,
        parent=parent,
        help_option_names=["-h", "--help"],
        terminal_width=WIDTH,
        max_content_width=WIDTH,
    )
    return command.get_help(context)


class Commands(SphinxDirective):
    """A section for each command."""

    def run(self) -> list[nodes.Node]:
        """The sections, in the order in which ``samecam --help`` has them."""
        from samecam.cli import cli

        self.env.note_reread()  # the program may have changed, though the page has not
        sections: list[nodes.Node] = []
        for name, command in cli.commands.items():
            identifier = f"samecam-{name}"
            section = nodes.section(ids=[identifier], names=[identifier])
            section += nodes.title("", f"samecam {name}")
            text = help_of(name, command)
            section += nodes.literal_block(text, text, language="none")
            sections.append(section)
        return sections


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx of the directive."""
    app.add_directive("commands", Commands)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
