"""`samecam doctor`."""

from typing import Any

from samecam.cli._command import command
from samecam.cli._options import output_options
from samecam.cli._output import print_json, say
from samecam.cli._text import counted
from samecam.compute import format_bytes

_EXTRAS = {
    "gpu": ("torch", "GPU computing"),
    "dask": ("distributed", "several machines"),
    "vips": ("pyvips", "faster PNG and TIFF"),
    "heif": ("pillow_heif", "HEIC photos"),
    "raw": ("rawpy", "raw photos"),
    "plots": ("matplotlib", "plots"),
}


@command()
@output_options
def doctor(as_json: bool, quiet: bool) -> int:
    """Show what this machine offers: cores, memory, BLAS, bits, GPU, formats.

    Example:  samecam doctor
    """
    offers = examine()
    if as_json:
        print_json(offers)
    else:
        say(_summary(offers), quiet=quiet)
    return 0


def examine() -> dict[str, Any]:
    """Look at the machine; nothing is decided here."""
    from importlib.util import find_spec

    from PIL import features
    from threadpoolctl import threadpool_info

    from samecam import compute
    from samecam.case import words_per_second
    from samecam.provenance import versions

    here = compute.machine()
    __import__("numpy")
    blas = [
        {key: str(pool.get(key, "")) for key in ("internal_api", "version", "num_threads")}
        for pool in threadpool_info()
        if pool.get("user_api") == "blas"
    ]
    extras = {name: find_spec(module) is not None for name, (module, _) in _EXTRAS.items()}
    return {
        "versions": versions(),
        "cores": here.cores,
        "memory_bytes": here.memory,
        "available_bytes": here.available,
        "workers": compute.worker_count(None),
        "blas": blas,
        "words_per_second": words_per_second(),
        "gpus": _gpus() if extras["gpu"] else [],
        "formats": {
            "JPEG": bool(features.check("jpg")),
            "PNG": bool(features.check("zlib")),
            "TIFF": bool(features.check("libtiff")),
            "WebP": bool(features.check("webp")),
            "BMP": True,
            "HEIC": extras["heif"],
            "raw": extras["raw"],
        },
        "extras": extras,
        "extra_versions": {name: _version(module) for name, (module, _) in _EXTRAS.items()},
    }


def _gpus() -> list[dict[str, Any]]:
    """Name and memory of every GPU that PyTorch can use."""
    import torch

    if not torch.cuda.is_available():
        return []
    gpus = []
    for number in range(torch.cuda.device_count()):
        free, total = torch.cuda.mem_get_info(number)
        name = str(torch.cuda.get_device_name(number))
        gpus.append(
            {"device": f"cuda:{number}", "name": name, "memory_bytes": total, "free_bytes": free}
        )
    return gpus


def _gpu_text(gpu: dict[str, Any]) -> str:
    memory, free = (format_bytes(gpu[f"{key}_bytes"]) for key in ("memory", "free"))
    return f"{gpu['device']}: {gpu['name']}, {memory}, {free} free"


def _version(module: str) -> str | None:
    """Version of what an extra is for; None if it is not installed."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(module.replace("_", "-"))
    except PackageNotFoundError:
        return None


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
    module, purpose = _EXTRAS[name]
    number = offers["extra_versions"][name]
    state = f"{module} {number}" if number else "installed"
    if not offers["extras"][name]:
        state = f"not installed: pip install 'samecam[{name}]'"
    return f"{purpose}: {state}"
