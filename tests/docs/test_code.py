"""Code on the pages: commands and options that there are, Python that can be read, links."""

import ast
import importlib
import inspect
import re
import shlex

import click
import pytest

import samecam
from samecam.cli import cli
from tests.docs.blocks import ROOT, Block, blocks, commands, fenced, indented, pages

PAGES = {str(path.relative_to(ROOT)): path for path in pages()}


def wrong(line):
    """What samecam would say to a line, "" if nothing; brackets and … are of the synopsis."""
    words = shlex.split(re.sub(r"[\[\]…]|\.\.\.", " ", line.split(" | ")[0]))
    name, *given = words[1:]
    if name not in cli.commands:
        return f"no command {name!r}"
    command = cli.commands[name]
    known = {option: p.type for p in command.params for option in (*p.opts, *p.secondary_opts)}
    for number, word in enumerate(given):
        if not re.match("--?[a-z]", word) or word in ("-h", "--help"):
            continue
        if word not in known:
            return f"no option {word!r}"
        values = set(" ".join(given[number + 1 : number + 2]).split("|"))
        kind = known[word]
        if isinstance(kind, click.Choice) and not {v for v in values if v.islower()} <= {
            *kind.choices
        }:
            return f"{word} has no {'|'.join(sorted(values))!r}"
    return ""


@pytest.mark.parametrize("name", PAGES)
def test_commands_and_options_on_pages_are_there(name):
    lines = [line for block in blocks(PAGES[name]) for line in commands(block)]
    bad = {line: said for line in lines if (said := wrong(line))}
    assert bad == {}


def test_what_is_wrong_is_seen():
    assert wrong("samecam clusters x") == "no command 'clusters'"
    assert wrong("samecam cluster x --no-such 3") == "no option '--no-such'"
    assert wrong("samecam cluster x -o c --search nowhere") == "--search has no 'nowhere'"
    assert wrong("samecam cluster PHOTOS... -o CASE [--search quick|off]") == ""
    text = "a\n\n    samecam x  # y\n\n```sh\nsamecam y \\\n    -o z\n```\n"
    assert indented(text) == [Block("", "samecam x  # y")]
    assert commands(fenced(text)[0]) == ["samecam y -o z"]


@pytest.mark.parametrize("name", PAGES)
def test_python_on_pages_can_be_read_and_its_imports_are_there(name):
    for block in blocks(PAGES[name]):
        python = block.language == "python" or re.search(
            r"^(?:import|from) samecam", block.text, re.M
        )
        if block.language not in ("", "python") or not python:
            continue
        for node in ast.walk(ast.parse(block.text)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("samecam"):
                room = importlib.import_module(node.module)
                assert [a.name for a in node.names if not hasattr(room, a.name)] == []


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_outside_of_the_site_lead_somewhere(name):
    """Those of docs/ are checked by `make docs`."""
    text = (ROOT / name).read_text(encoding="utf-8")
    targets = [t for t in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text) if "://" not in t]
    assert [target for target in targets if not (ROOT / target).exists()] == []


@pytest.mark.parametrize("name", PAGES)
def test_addresses_elsewhere_can_be_read(name):
    """Nobody is asked whether they are there: tests have no network."""
    text = PAGES[name].read_text(encoding="utf-8")
    for address in re.findall(r"\]\((https?:[^)]*)\)", text):
        assert re.fullmatch(r"https?://[\w-]+(\.[\w-]+)+(:\d+)?(/[^\s<>]*)?", address), address


def test_every_name_every_room_and_every_page_is_on_the_site():
    rooms = {name for name in samecam.__all__ if inspect.ismodule(getattr(samecam, name))}
    assert {path.stem for path in (ROOT / "docs/python").glob("*.md")} == {*rooms, "index"}
    text = (ROOT / "docs/python/index.md").read_text(encoding="utf-8")
    shown = set(re.findall(r"^(?:\.\. auto\w+:: samecam\.)?(\w+)$", text, re.M))
    assert shown == {*samecam.__all__} - {"__version__"}
    listed = (ROOT / "docs/index.md").read_text(encoding="utf-8")
    names = {str(p.relative_to(ROOT / "docs").with_suffix("")) for p in pages()[2:]}
    missing = {n for n in names if f"<{n}>\n" not in listed}
    assert {n for n in missing if not n.startswith("python/")} == {"index"}


def test_every_kind_of_picture_has_an_example_in_the_gallery():
    """`make docs` runs them: one that fails ends it."""
    code = [path.read_text(encoding="utf-8") for path in (ROOT / "docs/examples").glob("plot_*.py")]
    drawn = [re.findall(r"^figure = samecam\.plots\.(\w+)\(", text, re.M) for text in code]
    assert sorted(drawn) == sorted([kind] for kind in samecam.plots.KINDS)


def test_pictures_are_modest():
    pictures = [p for p in (ROOT / "docs/img").iterdir() if p.suffix in (".png", ".svg")]
    assert pictures
    assert {p.name for p in pictures if p.stat().st_size > 300_000} == set()
