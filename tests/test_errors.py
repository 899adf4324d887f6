import pickle

import pytest

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
