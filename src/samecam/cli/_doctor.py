"""`samecam doctor`."""

from typing import Any

from samecam.cli._command import command
from samecam.cli._options import output_options
from samecam.cli._output import print_json, say
from samecam.cli._text import counted
from samecam.compute import format_bytes


@command()
@output_options
def doctor(as_json: bool, quiet: bool) -> int:
    """Show what this machine offers: cores, memory, BLAS, bits, GPU, formats.

    Example:  samecam doctor
    """
    from samecam.case import doctor as examine

    offers = examine()
    if as_json:
        print_json(offers)
    else:
        say(_summary(offers), quiet=quiet)
    return 0


def _gpu_text(gpu: dict[str, Any]) -> str:
    memory, free = (format_bytes(gpu[f"{key}_bytes"]) for key in ("memory", "free"))
    return f"{gpu['device']}: {gpu['name']}, {memory}, {free} free"


def _summary(offers: dict[str, Any]) -> list[str]:
    versions = ", ".join(f"{name} {number}" for name, number in offers["versions"].items())
    blas = ", ".join(
        f"{b['internal_api']} {b['version']} ({counted(int(b['num_threads']), 'thread')})"
        for b in offers["blas"]
    )
    memory, available = (format_bytes(offers[f"{k}_bytes"]) for k in ("memory", "available"))
    formats = ", ".join(name for name, there in offers["formats"].items() if there)
    return [
        f"versions   {versions}",
        f"cores      {offers['cores']} (extraction uses {counted(offers['workers'], 'worker')})",
        f"memory     {memory}, {available} available",
        f"BLAS       {blas or 'none'}",
        f"bits       {offers['words_per_second'] / 1e9:.1f} billion words of 64 compared a second",
        *(f"GPU        {_gpu_text(gpu)}" for gpu in offers["gpus"]),
        *(["GPU        none"] if not offers["gpus"] else []),
        f"formats    {formats}",
        *(f"{name:10} {_extra_text(name, offers)}" for name in offers["extras"]),
    ]


def _extra_text(name: str, offers: dict[str, Any]) -> str:
    """What an extra is for, and whether it is there."""
    from samecam.case import EXTRAS

    module, purpose = EXTRAS[name]
    number = offers["extra_versions"][name]
    state = f"{module} {number}" if number else "installed"
    if not offers["extras"][name]:
        state = f"not installed: pip install 'samecam[{name}]'"
    return f"{purpose}: {state}"
