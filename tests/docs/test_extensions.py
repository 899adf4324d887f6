"""What docs/extensions make of docstrings and commands; needs the extra `docs`."""

import importlib.util

import pytest

from samecam.cli import cli
from tests.docs.blocks import ROOT

pytest.importorskip("sphinx", reason="sphinx not installed: make docs")


def extension(name):
    path = ROOT / "docs" / "extensions" / f"{name}.py"
    module = importlib.util.module_from_spec(
        spec := importlib.util.spec_from_file_location(name, path)
    )
    spec.loader.exec_module(module)
    return module


def test_what_stands_after_the_colon_is_a_description_and_no_type():
    described = extension("docstrings").described
    text = [
        "Sum.",
        "",
        "Parameters",
        "----------",
        "x : rows, one",
        "    a photo",
        "y : int",
        "    A.",
    ]
    assert described(text)[4:] == ["x", "    rows, one", "    a photo", "y : int", "    A."]
    assert described(["x : y"]) == ["x : y"]


def test_only_code_is_marked_up():
    escaped = extension("docstrings").escaped
    assert escaped("|C| of 2*n, labels_ and `a|b`") == r"\|C\| of 2\*n, labels\_ and `a|b`"
    assert escaped("2`n`× in `x`.") == r"2\ `n`\ × in `x`."


def test_types_of_numpy_are_named():
    import numpy.typing as npt
    from sphinx.util.typing import stringify_annotation

    shorten = extension("docstrings").shorten
    text = stringify_annotation(npt.ArrayLike, "smart")
    assert shorten(None, "", "", None, None, f"(x: {text})", None) == ("(x: ArrayLike)", None)


@pytest.mark.parametrize("name", sorted(cli.commands))
def test_the_reference_is_what_help_prints(name):
    text = extension("command_reference").help_of(name, cli.commands[name])
    assert text.startswith(f"Usage: samecam {name} ")
    assert "Example:" in text
    assert "--help" in text
    assert max(map(len, text.splitlines())) <= 100
