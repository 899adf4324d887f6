"""Which device computes: the processor, or a GPU through PyTorch."""

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from samecam.errors import ParameterError, SamecamError

T = TypeVar("T")

# The GPU code on the processor, in PyTorch: for tests, and to look for a fault without a GPU.
TORCH_CPU = "torch-cpu"
_LEAST_MEMORY = 2**26
_NAMES = "auto, cpu, cuda or cuda:0, cuda:1, …"


def check_device(name: str) -> None:
    """Refuse what is no name of a device; whether it is there is not asked."""
    if not isinstance(name, str):
        raise ParameterError("device", f"{{name}} is {name!r:.40}: choose {_NAMES}.")
    if name not in ("auto", "cpu", TORCH_CPU) and not re.fullmatch(r"cuda(:\d+)?", name):
        raise ParameterError("device", f"{{name}} is {name!r}: choose {_NAMES}.")


def choose_device(name: str) -> str:
    """The device that is used for `name`: "cpu", "cuda:0", "cuda:1", … or "torch-cpu".

    "auto" is the first GPU that PyTorch can use, and the processor if there is none. A device
    that was asked for by name and is not there is an error.
    """
    check_device(name)
    if name in ("cpu", TORCH_CPU):
        if name == TORCH_CPU:
            _torch_there(name)
        return name
    if name == "auto":
        return "cuda:0" if _may_have_gpu() and _gpus() else "cpu"
    _torch_there(name)
    number, there = int(name.partition(":")[2] or 0), _gpus()
    if number >= there:
        have = f"this machine has {there}" if there else "PyTorch finds no GPU here"
        raise ParameterError("device", f"{{name}} is {name!r} but {have}: choose another, or cpu.")
    return f"cuda:{number}"


def torch_device(name: str) -> str:
    """What PyTorch calls a device that `choose_device` gave; not for "cpu"."""
    return "cpu" if name == TORCH_CPU else name


def device_memory(name: str) -> int:
    """Bytes free on a device that `choose_device` gave, PyTorch's own unused ones included."""
    if not name.startswith("cuda"):
        from samecam.compute._machine import machine

        return machine().available
    import torch

    free, _ = torch.cuda.mem_get_info(name)
    kept = torch.cuda.memory_reserved(name) - torch.cuda.memory_allocated(name)
    return int(free + kept)


def describe_device(name: str) -> str:
    """A device as a person would name it, for `case.json` and reports."""
    if not name.startswith("cuda"):
        return name
    import torch

    return f"{name} ({torch.cuda.get_device_name(name)})"


def _may_have_gpu() -> bool:
    """Whether it is worth loading PyTorch, which takes a second, to look for a GPU."""
    from glob import glob
    from importlib.util import find_spec

    driver = (
        sys.platform != "linux" or glob("/dev/nvidia[0-9]*") or glob("/dev/dxg") or glob("/dev/kfd")
    )
    return bool(driver) and find_spec("torch") is not None


def _gpus() -> int:
    import torch

    return int(torch.cuda.device_count()) if torch.cuda.is_available() else 0


def _torch_there(name: str) -> None:
    from importlib.util import find_spec

    if find_spec("torch") is None:
        raise ParameterError(
            "device",
            f"{{name}} is {name!r}, which needs PyTorch: pip install 'samecam[gpu]', or "
            "choose cpu.",
        )


def default_memory(device: str) -> int:
    """Bytes that work on a device may take if nothing is said: half of what is free.

    Of a GPU, which nobody else needs in the meantime, nine tenths.
    """
    share = 0.9 if device.startswith("cuda") else 0.5
    return int(share * device_memory(device))


@contextmanager
def full_precision() -> Iterator[None]:
    """Within this, matrix products of float32 are of float32 (no TF32), whatever was set.

    PyTorch keeps this for the whole process: for one thread at a time.
    """
    import torch

    known: Any = torch.backends
    backends: tuple[Any, ...] = (known.cuda.matmul, getattr(known.mkldnn, "matmul", None))
    if not all(hasattr(backend, "fp32_precision") for backend in backends):  # before 2.9
        old = torch.get_float32_matmul_precision()
        torch.set_float32_matmul_precision("highest")
        try:
            yield
        finally:
            torch.set_float32_matmul_precision(old)
        return
    before = [backend.fp32_precision for backend in backends]
    for backend in backends:
        backend.fp32_precision = "ieee"
    try:
        yield
    finally:
        for backend, precision in zip(backends, before, strict=True):
            backend.fp32_precision = precision


def retry_with_less_memory(work: Callable[[int], T], memory: int, device: str) -> T:
    """`work(memory)`, and with half as much whenever the device has no room for that.

    Somebody else may use a GPU too, and libraries take some of it for themselves.
    """
    if not device.startswith("cuda"):
        return work(memory)
    import torch

    while True:
        try:
            return work(memory)
        except RuntimeError as error:
            if not out_of_memory(error):
                raise
        torch.cuda.empty_cache()
        memory //= 2
        if memory < _LEAST_MEMORY:
            raise SamecamError(
                f"The device {device!r} has no room for the work: end what else uses it, or "
                "choose the device cpu."
            )


@contextmanager
def device_errors(device: str) -> Iterator[None]:
    """Turn a GPU's want of memory into an error for the user."""
    try:
        yield
    except RuntimeError as error:
        if not out_of_memory(error):
            raise
        raise SamecamError(
            f"The device {device!r} has no room for the work: end what else uses it, give less "
            "memory, or choose the device cpu."
        ) from None


def out_of_memory(error: RuntimeError) -> bool:
    """Whether a GPU, or a library on it, found no memory."""
    signs = ("ALLOC_FAILED", "out of memory")
    return type(error).__name__ == "OutOfMemoryError" or any(sign in str(error) for sign in signs)
