"""Methods that take part: the project's by name, and anybody's as estimators."""

import hashlib
import importlib
import importlib.util
import inspect
import os
import re
import secrets
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from samecam.errors import SamecamError
from samecam.experiments._methods import METHODS, Method
from samecam.inputs import hash_input

ALL = "all"
# What the command line of other commands calls ours.
_ALSO = {"consolidated": "ours"}
_DIGITS = 8

Input = Literal["correlations", "fingerprints"]


@dataclass(frozen=True, slots=True)
class Entrant(Method):
    """An estimator that is not one of the project's.

    Attributes
    ----------
    input : what its `fit` is given
    spec : "module:Class" or "file.py:Class", from which any process makes it; or empty
    estimator : itself, where there is no `spec`: it is run in this process, without a limit
    source : SHA-256 of the file that defines it; empty: not known
    """

    input: Input = "fingerprints"
    spec: str = ""
    estimator: Any = field(default=None, compare=False)
    source: str = ""


def entrants(methods: Sequence[Any]) -> list[Method]:
    """Methods that are meant, each once, in the order given.

    Parameters
    ----------
    methods : names of the project's methods, "all" of them, "module:Class", "file.py:Class", or
        estimators; none: ours
    """
    chosen: dict[str, Method] = {}
    for given in methods or ("ours",):
        for method in _named(given) if isinstance(given, str) else [_given(given)]:
            chosen[method.key] = method
    return list(chosen.values())


def _named(name: str) -> list[Method]:
    known = _ALSO.get(name.lower(), name.lower())
    if known == ALL:
        return list(METHODS.values())
    if known in METHODS:
        return [METHODS[known]]
    if ":" not in name:
        raise SamecamError(
            f"{name!r} is no method: choose {ALL}, {', '.join(METHODS)}, or name an estimator as "
            "module:Class or file.py:Class."
        )
    place, _, attribute = name.rpartition(":")
    if place.endswith(".py"):
        name = f"{os.path.abspath(place)}:{attribute}"
    return [_entrant(load_spec(name), spec=name)]


def _given(estimator: Any) -> Method:
    """An estimator of whoever calls."""
    return _entrant(estimator() if isinstance(estimator, type) else estimator)


def _entrant(estimator: Any, *, spec: str = "") -> Entrant:
    label = type(estimator).__name__
    if not (hasattr(estimator, "fit_predict") or hasattr(estimator, "fit")):
        raise SamecamError(
            f"{spec or label!r} has neither fit_predict nor fit: give an estimator in the manner "
            "of scikit-learn."
        )
    known = parameters(estimator)
    source = _source(estimator, spec)
    options = {name: repr(value) for name, value in sorted(known.items())}
    # Of what is defined in a notebook nobody knows whether it is still the same.
    made_of = source or spec or secrets.token_hex()
    digest = hashlib.sha256(repr((label, made_of, options)).encode()).hexdigest()
    word = re.sub(r"[^A-Za-z0-9._=+-]", "", label).lstrip("._=+-") or "method"
    return Entrant(
        f"{word}-{digest[:_DIGITS]}",
        label,
        "",
        "yours",
        "random_state" in known,
        options,
        takes(estimator),
        spec,
        None if spec else estimator,
        source,
    )


def parameters(estimator: Any) -> Mapping[str, Any]:
    """Parameters by name: as scikit-learn has them, or plain attributes."""
    if hasattr(estimator, "get_params"):
        known: Mapping[str, Any] = estimator.get_params(deep=False)
        return known
    return dict(getattr(estimator, "__dict__", {}))


def takes(estimator: Any) -> Input:
    """Correlations where `metric` or `affinity` is "precomputed", else fingerprints."""
    known = parameters(estimator)
    ready = "precomputed" in (known.get("metric"), known.get("affinity"))
    return "correlations" if ready else "fingerprints"


def prepare(estimator: Any, seed: int, n_pixels: int) -> None:
    """Tell an estimator its seed and the length of a fingerprint, where it asks for them."""
    known = parameters(estimator)
    told: dict[str, Any] = {"random_state": seed} if "random_state" in known else {}
    if "n_pixels" in known and known["n_pixels"] is None:
        told["n_pixels"] = n_pixels
    if hasattr(estimator, "set_params"):
        estimator.set_params(**told)
    else:
        for name, value in told.items():
            setattr(estimator, name, value)


def load_spec(spec: str) -> Any:
    """The estimator that "module:Class" or "file.py:Class" names; an object is taken as it is."""
    place, _, name = spec.rpartition(":")
    try:
        value = getattr(_file(Path(place)) if place.endswith(".py") else _module(place), name)
        return value() if isinstance(value, type) or inspect.isfunction(value) else value
    except Exception as error:  # anything, of a file that nobody here wrote
        why = " ".join(str(error).split())
        raise SamecamError(
            f"{spec!r} cannot be loaded ({type(error).__name__}: {why}): name a class whose "
            "parameters all have defaults, as module:Class or file.py:Class."
        ) from None


def _module(name: str) -> ModuleType:
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())  # as python -m has it
    return importlib.import_module(name)


def _file(path: Path) -> ModuleType:
    """A file as a module; what lies beside it can be imported, as if it were run."""
    if str(path.parent) not in sys.path:
        sys.path.insert(0, str(path.parent))
    found = importlib.util.spec_from_file_location(f"benchmarked_{path.stem}", path)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    sys.modules[found.name] = module
    found.loader.exec_module(module)
    return module


def _source(estimator: Any, spec: str) -> str:
    """SHA-256 of the file that defines an estimator; empty where there is none."""
    place = spec.rpartition(":")[0]
    try:
        file = place if place.endswith(".py") else inspect.getsourcefile(type(estimator))
        return hash_input(file)["sha256"] if file else ""
    except (OSError, TypeError):  # in a notebook, or compiled
        return ""
