"""A call and its processor time, in a module that workers load in no time."""

import time
from collections.abc import Callable
from typing import Any


def timed(call: tuple[Callable[[Any], Any], Any]) -> tuple[Any, float]:
    """What a function gives, and the processor's seconds that it took (on a worker)."""
    function, argument = call
    began = time.process_time()
    return function(argument), time.process_time() - began
