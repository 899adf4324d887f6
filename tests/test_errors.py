import ast
import pickle
from pathlib import Path

import pytest

import samecam
from samecam.errors import (
    ParameterError,
    ParameterValueError,
    SamecamError,
    as_samecam_error,
)


@pytest.mark.parametrize("kind", [ParameterError, ParameterValueError])
def test_error_shows_its_parameter_by_any_name(kind):
    error = kind("join_rate", "{name} is 2; give a rate between 0 and 1")
    assert error.parameter == "join_rate"
    assert str(error) == "join_rate is 2; give a rate between 0 and 1"
    assert error.with_name("--join-rate") == "--join-rate is 2; give a rate between 0 and 1"


def test_value_with_braces_is_left_alone():
    error = ParameterError("solver", f"{{name}} is {'{name} {0}'!r}: choose another.")
    assert error.with_name("--solver") == "--solver is '{name} {0}': choose another."


@pytest.mark.parametrize("kind", [ParameterError, ParameterValueError])
def test_error_comes_back_from_another_process(kind):
    error = pickle.loads(pickle.dumps(kind("seed", "{name} is -1")))
    assert (type(error), error.parameter, str(error)) == (kind, "seed", "seed is -1")


@pytest.mark.parametrize("end", ["", ".", ".."])
def test_value_error_becomes_one_for_the_user_with_one_full_stop(end):
    error = as_samecam_error(ValueError(f"gram is not symmetric{end}"))
    assert type(error) is SamecamError
    assert str(error) == "gram is not symmetric."


def test_parameter_goes_along():
    error = as_samecam_error(ParameterValueError("gamma", "{name} is -1; give a positive number"))
    assert isinstance(error, ParameterError)
    assert error.with_name("--gamma") == "--gamma is -1; give a positive number."
    assert error.parameter == "gamma"


def test_messages_of_value_errors_carry_no_full_stop():
    """It is added where such an error is shown to the user, see `as_samecam_error`."""
    ending = []
    for path in sorted(Path(samecam.__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            match node:
                case ast.Raise(
                    exc=ast.Call(
                        func=ast.Name("ValueError" | "ParameterValueError"),
                        args=[*_, ast.Constant(last) | ast.JoinedStr([*_, ast.Constant(last)])],
                    )
                ) if last.endswith("."):
                    ending.append(f"{path.name}:{node.lineno}: {last}")
    assert not ending
