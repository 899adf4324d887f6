"""Kinds of values that options take."""

import re
from typing import Any, NoReturn

import click

from samecam.errors import ParameterError, SamecamError


class Value(click.ParamType):  # type: ignore[type-arg]  # before click 8.4 it takes none
    """A value that options take; `name` is what the help shows."""

    def get_metavar(self, param: Any, ctx: Any = None) -> str:  # noqa: ARG002
        """What stands for the value in the help: as it is typed, not in capitals."""
        return self.name

    def refuse(self, value: object, why: str, param: Any, ctx: Any) -> NoReturn:
        """Say that it is wrong usage, and why."""
        self.fail(f"{value!r} {why}", param, ctx)


class Count(Value):
    """A whole number, from `least` to `most`."""

    def __init__(self, least: int = 1, most: int | None = None) -> None:
        self.name, self._least, self._most = "N", least, most

    def convert(self, value: Any, param: Any, ctx: Any) -> int:
        """Read the number."""
        try:
            number = int(str(value))
        except ValueError:
            number = self._least - 1
        if number < self._least or (self._most is not None and number > self._most):
            upper = "or more" if self._most is None else f"to {self._most}"
            self.refuse(value, f"is not a whole number, {self._least} {upper}", param, ctx)
        return number


class Rate(Value):
    """A probability strictly between 0 and 1."""

    name = "P"

    def convert(self, value: Any, param: Any, ctx: Any) -> float:
        """Read the number."""
        number = _number(value)
        if not 0 < number < 1:
            self.refuse(value, "is not a probability between 0 and 1", param, ctx)
        return number


class Share(Value):
    """A share from 0 to 1."""

    name = "SHARE"

    def convert(self, value: Any, param: Any, ctx: Any) -> float:
        """Read the number."""
        number = _number(value)
        if not 0 <= number <= 1:
            self.refuse(value, "is not a share from 0 to 1", param, ctx)
        return number


class Seconds(Value):
    """A time above 0."""

    name = "SECONDS"

    def convert(self, value: Any, param: Any, ctx: Any) -> float:
        """Read the number."""
        number = _number(value)
        if not number > 0:
            self.refuse(value, "is not a number of seconds above 0", param, ctx)
        return number


class Level(Value):
    """Any number; whether it can be used is asked later."""

    name = "X"

    def convert(self, value: Any, param: Any, ctx: Any) -> float:
        """Read the number."""
        try:
            return float(value)
        except ValueError:
            self.refuse(value, "is not a number", param, ctx)


class Gamma(Value):
    """A positive number, or the name of a way to choose one."""

    name = "NUMBER|auto|paper|cost"

    def convert(self, value: Any, param: Any, ctx: Any) -> float | str:
        """A name is kept, a number is read."""
        if value in ("auto", "paper", "cost"):
            return str(value)
        number = _number(value)
        if not 0 < number < float("inf"):
            why = "is neither a positive number nor auto, paper or cost"
            self.refuse(value, why, param, ctx)
        return number


class Memory(Value):
    """An amount of memory, like 8G."""

    name = "SIZE"

    def convert(self, value: Any, param: Any, ctx: Any) -> int:
        """Read the amount, in bytes."""
        from samecam.compute import parse_bytes

        try:
            return value if isinstance(value, int) else parse_bytes(str(value))
        except SamecamError as error:
            self.fail(str(error), param, ctx)


class Device(Value):
    """Name of a device."""

    name = "auto|cpu|cuda[:K]"

    def convert(self, value: Any, param: Any, ctx: Any) -> str:
        """A name; whether the device is there is asked when it is used."""
        from samecam.compute import check_device

        try:
            check_device(str(value))
        except ParameterError as error:
            raise click.UsageError(error.with_name(max(param.opts, key=len)), ctx) from None
        return str(value)


class Offset(Value):
    """X,Y in pixels."""

    name = "X,Y"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[int, int]:
        """Two whole numbers with a comma between."""
        if isinstance(value, tuple):
            return value
        try:
            x, y = (int(part) for part in str(value).split(","))
        except ValueError:
            self.refuse(value, "is not X,Y (two whole numbers, like 0,0)", param, ctx)
        return x, y


class Size(Value):
    """Pixels from 64 to 4096."""

    name = "64…4096"

    def convert(self, value: Any, param: Any, ctx: Any) -> int:
        """Read the number."""
        number = int(value) if str(value).isdecimal() else 0
        if not 64 <= number <= 4096:
            self.refuse(
                value,
                "is no number from 64 to 4096; without --size the whole frame is compared",
                param,
                ctx,
            )
        return number


class Names(Value):
    """Names of things of a kind between commas; which there are is asked later."""

    def __init__(self, kind: str, name: str = "NAME,…") -> None:
        self.name, self._kind = name, kind

    def convert(self, value: Any, param: Any, ctx: Any) -> list[str]:
        """Take the names apart."""
        if not isinstance(value, str):
            return list(value)
        names = [name.strip() for name in value.split(",") if name.strip()]
        if not names:
            self.fail(f"no {self._kind} is named", param, ctx)
        return names


class Pair(Value):
    """Two whole numbers with a sign between, or one for both."""

    def __init__(self, sign: str, name: str, *, single: bool) -> None:
        self.name, self._sign, self._single = name, sign, single

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[int, int]:
        """Read the two numbers."""
        if isinstance(value, tuple):
            return value
        match = re.fullmatch(rf"(\d+)(?:{self._sign}(\d+))?", str(value).lower())
        if not match or (match[2] is None and not self._single):
            self.refuse(value, f"is not {self.name}", param, ctx)
        return int(match[1]), int(match[2] or match[1])


def _number(value: object) -> float:
    """A number, or NaN, which no comparison holds for."""
    try:
        return float(str(value))
    except ValueError:
        return float("nan")
