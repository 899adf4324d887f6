"""`samecam doctor`."""

from typing import Any

import click

from samecam.cli._output import output_options, print_json
from samecam.compute import format_bytes

_EXTRAS = {
    "gpu": ("torch", "GPU computing"),
    "dask": ("distributed", "several machines"),
    "vips": ("pyvips", "faster PNG and TIFF"),
    "heif": ("pillow_heif", "HEIC photos"),
    "raw": ("rawpy", "raw photos"),
    "plots": ("matplotlib", "plots"),
}


@click.command()
@output_options
def doctor(as_json: bool, quiet: bool) -> int:
    """Show what this machine offers: cores, memory, BLAS, GPU, formats."""
    found = examine()
    if as_json:
        print_json(found)
    elif not quiet:
        _print(found)
    return 0


def examine() -> dict[str, Any]:
    """Look at the machine; nothing is decided here."""
    from importlib.util import find_spec

    from PIL import features
    from threadpoolctl import threadpool_info

    from samecam import compute
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
    found = []
    for number in range(torch.cuda.device_count()):
        free, total = torch.cuda.mem_get_info(number)
        name = str(torch.cuda.get_device_name(number))
        found.append(
            {"device": f"cuda:{number}", "name": name, "memory_bytes": total, "free_bytes": free}
        )
    return found


def _gpu_words(gpu: dict[str, Any]) -> str:
    memory, free = (format_bytes(gpu[f"{key}_bytes"]) for key in ("memory", "free"))
    return f"{gpu['device']}: {gpu['name']}, {memory}, {free} free"


def _version(module: str) -> str | None:
    """Version of what an extra is for; None if it is not installed."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(module.replace("_", "-"))
    except PackageNotFoundError:
        return None


def _print(found: dict[str, Any]) -> None:
    versions = ", ".join(f"{name} {number}" for name, number in found["versions"].items())
    blas = ", ".join(
        f"{b['internal_api']} {b['version']} ({b['num_threads']} threads)" for b in found["blas"]
    )
    formats = ", ".join(name for name, there in found["formats"].items() if there)
    click.echo(f"versions   {versions}")
    click.echo(f"cores      {found['cores']} (extraction uses {found['workers']} workers)")
    memory, available = (format_bytes(found[f"{k}_bytes"]) for k in ("memory", "available"))
    click.echo(f"memory     {memory}, {available} available")
    click.echo(f"BLAS       {blas or 'none found'}")
    for gpu in found["gpus"]:
        click.echo(f"GPU        {_gpu_words(gpu)}")
    if not found["gpus"]:
        click.echo("GPU        none")
    click.echo(f"formats    {formats}")
    for name, there in found["extras"].items():
        number = found["extra_versions"][name]
        state = f"{_EXTRAS[name][0]} {number}" if number else "installed"
        state = state if there else f"not installed: pip install 'samecam[{name}]'"
        click.echo(f"{name:10} {_EXTRAS[name][1]}: {state}")
