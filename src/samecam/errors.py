"""Errors a user can cause: what is wrong, and what to do about it.

Messages of a `SamecamError` end in a full stop. Functions of arrays and estimators raise
`ValueError`, as scikit-learn does, whose messages have none; `as_samecam_error` adds it.
"""

__all__ = ["ParameterError", "ParameterValueError", "SamecamError", "as_samecam_error"]

_PLACE = "{name}"


class SamecamError(Exception):
    """A problem the user can mend; the message says how.

    The command line prints the message and exits with 1; anything that is not
    a `SamecamError` is a bug, whose traceback goes to a file, and exits with 70.

    Examples
    --------
    >>> try:
    ...     samecam.open_case("not there")
    ... except samecam.SamecamError as error:
    ...     print(error)
    """


class _AboutParameter(Exception):  # noqa: N818 - what the two errors below have in common
    """An error about a parameter, which the command line may show as an option.

    Parameters
    ----------
    parameter : name of the parameter
    message : with {name} where the name is to stand, once
    """

    def __init__(self, parameter: str, message: str) -> None:
        super().__init__(parameter, message)  # both, so that it can be pickled
        self.parameter = parameter
        self.message = message

    def __str__(self) -> str:
        return self.with_name(self.parameter)

    def with_name(self, shown: str) -> str:
        """The message with the parameter's name as `shown`, `--join-rate` for instance."""
        return self.message.replace(_PLACE, shown, 1)


class ParameterError(_AboutParameter, SamecamError):
    """A parameter that the user gave cannot be used; `parameter` is its name."""


class ParameterValueError(_AboutParameter, ValueError):
    """A parameter of an estimator or a function of arrays cannot be used."""


def as_samecam_error(error: ValueError) -> SamecamError:
    """The same as an error for the user: one full stop, and the parameter if one is named."""
    if isinstance(error, ParameterValueError):
        return ParameterError(error.parameter, _stopped(error.message))
    return SamecamError(_stopped(str(error)))


def _stopped(message: str) -> str:
    return message.rstrip(".") + "."
