"""What this machine offers to a run."""

from typing import Any

from samecam import compute
from samecam.case.extraction._estimate import words_per_second
from samecam.provenance import versions

# Extras, the module of each, and what it is for.
EXTRAS = {
    "gpu": ("torch", "GPU computing"),
    "dask": ("distributed", "several machines"),
    "vips": ("pyvips", "faster PNG and TIFF"),
    "heif": ("pillow_heif", "HEIC photos"),
    "raw": ("rawpy", "raw photos"),
    "plots": ("matplotlib", "plots"),
    "tables": ("pandas", "data frames"),
}


def doctor() -> dict[str, Any]:
    """What this machine offers: cores, memory, BLAS, GPUs, formats, extras; nothing is decided.

    Examples
    --------
    >>> offers = samecam.doctor()
    >>> print(offers["cores"], offers["gpus"], offers["extras"])
    """
    from importlib.util import find_spec

    from PIL import features
    from threadpoolctl import threadpool_info

    here = compute.machine()
    __import__("numpy")
    blas = [
        {key: str(pool.get(key, "")) for key in ("internal_api", "version", "num_threads")}
        for pool in threadpool_info()
        if pool.get("user_api") == "blas"
    ]
    extras = {name: find_spec(module) is not None for name, (module, _) in EXTRAS.items()}
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
        "extra_versions": {name: _version(module) for name, (module, _) in EXTRAS.items()},
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


def _version(module: str) -> str | None:
    """Version of what an extra is for; None if it is not installed."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(module.replace("_", "-"))
    except PackageNotFoundError:
        return None
