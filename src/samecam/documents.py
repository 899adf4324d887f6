"""JSON of our own, read as if a stranger had written it: size, depth, types and ranges checked.

A *shape* says what is expected: a type (`str`, `int`, `float`, `bool`, `dict`, `list`), None, a
`Span` of numbers, a `Pattern` of text, a set of allowed values, `[shape]` for a list, `{"name":
shape}` for an object in which `"name?"` may be missing and other names may stand too, `{str:
shape}` for an object with any names, and a tuple of shapes of which one must fit.
"""

import contextlib
import json
import math
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from samecam.errors import SamecamError
from samecam.files import read_own

__all__ = ["HASH", "Shape", "Span", "check_shape", "parse", "read_document", "read_versioned"]

Shape = Any
# SHA-256 as text.
HASH = re.compile(r"[0-9a-f]{64}")
_NAMES = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    dict: "an object",
    list: "a list",
}
# What may be half of a character; the bytes of a path stand so too.
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_SHOWN = 40


class Span(NamedTuple):
    """Numbers of a kind (`int` or `float`) from `low` to `high`, both included."""

    kind: type
    low: float = -math.inf
    high: float = math.inf


def parse(data: bytes | str) -> Any:
    """A JSON value; `ValueError` for whatever is none, or is made to do harm.

    NaN and infinities are none, nor is text that cannot be written as the bytes of a path.
    """
    try:
        text = data if isinstance(data, str) else data.decode("utf-8")
        value = json.loads(text, parse_constant=_refuse, parse_float=_finite)
        if _SURROGATE.search(text):
            json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogateescape")
    except (RecursionError, MemoryError):
        raise ValueError("it is nested too deeply") from None
    except UnicodeError:
        raise ValueError("it holds text that is not Unicode") from None
    return value


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number")


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"{text[:_SHOWN]} is too large")
    return value


def check_shape(value: Any, shape: Shape, where: str = "it") -> None:
    """`ValueError` that names the place and what is wrong there, unless `value` has the shape."""
    if isinstance(shape, tuple) and not isinstance(shape, Span):
        _check_any(value, shape, where)
    elif isinstance(shape, dict):
        _check_object(value, shape, where)
    elif isinstance(shape, list):
        _check_type(value, list, where)
        for k, item in enumerate(value):
            check_shape(item, shape[0], f"{where}[{k}]")
    elif isinstance(shape, Span):
        _check_type(value, shape.kind, where)
        if not shape.low <= value <= shape.high:
            raise ValueError(f"{where} is {_show(value)}")
    elif isinstance(shape, re.Pattern):
        _check_type(value, str, where)
        if not shape.fullmatch(value):
            raise ValueError(f"{where} is {_show(value)}")
    elif isinstance(shape, set | frozenset):
        if not isinstance(value, str | int | None) or value not in shape:
            raise ValueError(f"{where} is {_show(value)}")
    elif shape is None:
        if value is not None:
            raise ValueError(f"{where} is {_show(value)}, not null")
    else:
        _check_type(value, shape, where)


def _check_any(value: Any, shapes: tuple[Shape, ...], where: str) -> None:
    for shape in shapes[:-1]:
        with contextlib.suppress(ValueError):
            check_shape(value, shape, where)
            return
    check_shape(value, shapes[-1], where)


def _check_object(value: Any, shape: Mapping[Any, Shape], where: str) -> None:
    _check_type(value, dict, where)
    if str in shape:
        for name, item in value.items():
            check_shape(item, shape[str], f"{where}.{name}"[:200])
        return
    for name, wanted in shape.items():
        key = name.removesuffix("?")
        if key in value:
            check_shape(value[key], wanted, key if where == "it" else f"{where}.{key}")
        elif key == name:
            raise ValueError(f"{where} has no {key!r}")


def _check_type(value: Any, kind: type, where: str) -> None:
    if kind is float:
        sound = isinstance(value, int | float) and not isinstance(value, bool)
        sound = sound and abs(value) <= sys.float_info.max
    elif kind is int:
        sound = isinstance(value, int) and not isinstance(value, bool)
    else:
        sound = isinstance(value, kind)
    if not sound:
        raise ValueError(f"{where} is {_show(value)}, not {_NAMES[kind]}")


def _show(value: Any) -> str:
    if isinstance(value, dict | list):
        return _NAMES[type(value)]
    try:
        text = repr(value)
    except ValueError:  # too many digits to be shown
        return "a number of thousands of digits"
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


def read_document(path: Path, shape: Shape, limit: int = 2**28) -> Any:
    """A JSON file of a case, checked; missing: `FileNotFoundError`, else an error that says why.

    Parameters
    ----------
    shape : see the module
    limit : bytes it is never longer than
    """
    try:
        value = parse(read_own(path, limit))
        check_shape(value, shape)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error)) from None
    except ValueError as error:
        raise _unreadable(path, error) from None
    return value


def read_versioned(path: Path, newest: int, what: str, shape: Shape) -> dict[str, Any]:
    """A JSON object of ours that states its format's `version`; missing: `FileNotFoundError`.

    Parameters
    ----------
    newest : version of the format that this samecam writes, the only one it reads
    what : the format, for the error about another one
    shape : of this version
    """
    shape_of_any = {"version": Span(int, 1, 2**31)}
    content: dict[str, Any] = read_document(path, shape_of_any, limit=2**26)
    if content["version"] > newest:
        raise SamecamError(
            f"{os.fspath(path.parent)!r} was written by a newer samecam ({what} format "
            f"{content['version']}, this one reads {newest}): update samecam."
        )
    if content["version"] < newest:
        raise SamecamError(
            f"{os.fspath(path.parent)!r} was made by an earlier samecam ({what} format "
            f"{content['version']}, this one reads {newest}): begin a new case in another folder, "
            f"or go on with samecam {content.get('samecam', 'of then')!s:.20} for this one."
        )
    try:
        check_shape(content, shape)
    except ValueError as error:
        raise _unreadable(path, error) from None
    return content


def _unreadable(path: Path, why: object) -> SamecamError:
    return SamecamError(
        f"{os.fspath(path)!r} cannot be read ({why}): restore it from a copy, or begin a new case."
    )
