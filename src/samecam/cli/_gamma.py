"""The type of `--gamma`."""

from typing import Any

import click


class Gamma(click.ParamType[float | str]):
    """A positive number, or the name of a way to choose one."""

    name = "auto|paper|cost|NUMBER"

    def convert(self, value: Any, param: Any, ctx: Any) -> float | str:
        """A name is kept, a number is read."""
        if value in ("auto", "paper", "cost"):
            return str(value)
        try:
            number = float(value)
        except ValueError:
            number = 0.0
        if not 0 < number < float("inf"):
            self.fail(f"{value!r} is neither a positive number nor auto, paper or cost", param, ctx)
        return number
