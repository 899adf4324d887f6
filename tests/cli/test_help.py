"""Help that can be read: options under headings, one line each, nothing cut."""

import re
import shlex
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import samecam.cli
from samecam.cli import cli
from samecam.cli._command import SECTIONS, Command

MOST_LINES = 66
FIRST = {
    *("--output", "--size", "--method", "--seed", "--device", "--memory", "--workers"),
    *("--no-report", "--json", "--quiet", "--help"),
}
RESEARCH = {
    *("--gamma", "--solver", "--clusters", "--batch-size", "--false-alarm", "--neighbours"),
    *("--recycling", "--tuned", "--preset"),
}


def lines(*words, width=100):
    result = CliRunner().invoke(cli, [*words, "--help"], terminal_width=width)
    assert result.exit_code == 0
    return result.output.splitlines()


def options(command):
    context = click.Context(command, help_option_names=["-h", "--help"])
    return [max(p.opts, key=len) for p in command.get_params(context) if p.opts[0][0] == "-"]


def denies(term, terms):
    """Whether it is the --no-… of another one."""
    return term.startswith("--no-") and f"--{term[5:]}" in terms


def under_headings(name):
    """Heading → options shown under it."""
    shown, heading = {}, ""
    for line in lines(name):
        if line.rstrip(":") in SECTIONS:
            heading = line.rstrip(":")
        elif heading and line.startswith("  -"):
            terms = line.split("  ")[1].replace(",", " ").replace("/", " ").split()
            shown.setdefault(heading, []).append(
                max((t for t in terms if t[0] == "-" and not denies(t, terms)), key=len)
            )
        elif line and not line.startswith(" "):
            heading = ""
    return shown


@pytest.mark.parametrize("name", sorted(cli.commands))
def test_every_option_stands_under_one_heading(name):
    command = cli.commands[name]
    assert isinstance(command, Command)
    shown = [option for heading in under_headings(name).values() for option in heading]
    assert sorted(shown) == sorted(options(command))


def test_what_people_use_first_stands_first():
    shown = under_headings("cluster")
    assert list(shown) == list(SECTIONS)
    assert set(shown["Options"]) == FIRST
    assert set(shown["Research methods"]) == RESEARCH
    assert set(shown["Grouping"]) == {
        *("--search", "--found-rate", "--join-rate", "--merge-rate"),
    }


@pytest.mark.parametrize("name", sorted(cli.commands))
def test_every_option_takes_one_line_of_a_hundred_columns(name):
    text = lines(name)
    start = text.index("Options:")
    rows = [line for line in text[start:] if line.startswith("  -")]
    assert len(rows) == len(options(cli.commands[name]))
    wrapped = [line for line in text[start:] if line.startswith(" " * 8)]
    assert not wrapped
    assert max(map(len, text)) <= 100
    assert len(text) <= MOST_LINES


@pytest.mark.parametrize("name", sorted(cli.commands))
def test_every_option_says_what_it_is_for(name):
    for parameter in cli.commands[name].params:
        if isinstance(parameter, click.Option):
            assert parameter.help, parameter.name
            assert parameter.help.endswith("."), parameter.name


@pytest.mark.parametrize("name", sorted(cli.commands))
def test_every_help_has_an_example_that_is_read(name):
    examples = re.findall(r"Example:\s+samecam ((?:.+\n)+)", "\n".join(lines(name)))
    assert examples
    for words in map(shlex.split, examples):
        assert words[0] == name
        try:
            cli.commands[name].make_context(name, words[1:])
        except click.exceptions.Exit:
            pytest.fail(f"samecam {words} only shows something")


@pytest.mark.parametrize("width", [80, 100])
def test_no_summary_is_cut(width):
    text = lines(width=width)
    assert not [line for line in text if line.endswith("...") and "Usage:" not in line]
    for name, command in cli.commands.items():
        summary = " ".join(command.help.split("\n\n")[0].split())
        assert f"{name} {summary}" in " ".join(" ".join(text).split())


def test_the_main_command_stands_first():
    text = lines()
    assert text[text.index("Commands:") + 1].startswith("  cluster ")


def test_no_type_of_click_is_subscripted():
    """click 8.1 to 8.3, which are allowed, have no generic types: nothing would start."""
    for file in Path(samecam.cli.__file__).parent.glob("*.py"):
        assert "ParamType[" not in file.read_text(), file


def test_ranges_and_defaults_are_said_where_they_are_wrong():
    for words, message in (
        (["--seed", "-1"], "'-1' is not a whole number, 0 to 4294967295"),
        (["--batch-size", "1"], "'1' is not a whole number, 2 or more"),
        (["--join-rate", "0"], "'0' is not a probability between 0 and 1"),
        (["--timeout", "nan"], "'nan' is not a number of seconds above 0"),
        (["--device", "gpu"], "--device is 'gpu': choose auto, cpu"),
        (["--memory", "much"], "'much' is not an amount of memory"),
    ):
        result = CliRunner().invoke(cli, ["cluster", "x", "-o", "c", *words])
        assert result.exit_code == 2
        assert message in result.output
