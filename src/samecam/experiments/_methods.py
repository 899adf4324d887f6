"""The methods that experiments compare, each as its publication has it."""

import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from samecam.datasets import Configuration
from samecam.errors import SamecamError
from samecam.experiments._study import Run

Whose = Literal["ours", "paper", "rival"]

_LARGE_BATCH = 4000


@dataclass(frozen=True, slots=True)
class Method:
    """One method as it is compared.

    Attributes
    ----------
    key : in keys of runs and in JSON
    label : for people
    name : in `samecam.cluster.METHODS`
    whose : ours, the paper's, or a rival's
    random : whether chance is in it; then it runs several times
    options : what differs from its defaults
    """

    key: str
    label: str
    name: str
    whose: Whose
    random: bool
    options: Mapping[str, Any] = field(default_factory=dict)

    def seeds(self, runs: int) -> range:
        """Seeds of its runs: one is enough where there is no chance."""
        return range(runs if self.random else 1)

    def settings(self, wanted: Configuration | None) -> dict[str, Any]:
        """Its options for a configuration: LS-SSC splits as the paper does."""
        given = dict(self.options)
        if self.name == "ls-ssc" and wanted is not None and wanted.batches is not None:
            given["n_batches"] = wanted.batches
        elif self.name == "ls-ssc":
            given["batch_size"] = _LARGE_BATCH
        return given


def _table(*methods: Method) -> Mapping[str, Method]:
    return MappingProxyType({method.key: method for method in methods})


# Ours first, then the paper's, then the rivals with their published settings; one of them also
# with the scale of chance measured, which is the form that came nearest to ours.
METHODS = _table(
    Method("ours", "ours", "consolidated", "ours", random=False),
    Method("ls-ssc", "LS-SSC", "ls-ssc", "paper", True, {"preset": "paper"}),
    Method("ssc-nc", "SSC-NC", "ssc-nc", "paper", True, {"gamma": "paper"}),
    Method("ssc", "SSC", "ssc", "rival", True, {"gamma": "paper"}),
    Method("lin-ls", "Lin-LS", "lin-ls", "rival", True),
    Method(
        "lin-ls-measured", "Lin-LS (σ₀ measured)", "lin-ls", "rival", True, {"null": "measured"}
    ),
    Method("msc", "MSC", "msc", "rival", True),
    Method("ccc", "CCC", "ccc", "rival", True),
    Method("mrf", "MRF", "mrf", "rival", True),
    Method("hierarchical", "hierarchical", "hierarchical", "rival", random=False),
    Method("ncuts", "NCuts", "ncuts", "rival", random=False),
    Method("bloy", "Bloy", "bloy", "rival", True),
    Method("hdbscan", "HDBSCAN", "hdbscan", "rival", random=False),
    Method("average-linkage", "average linkage", "average-linkage", "rival", random=False),
)

# As Phan 2017 compares it, whose threshold for squares of 512 pixels is not its authors' .037.
NCUTS_PHAN = Method(
    "ncuts-032", "NCuts (threshold .032)", "ncuts", "rival", False, {"threshold": 0.032}
)


def run_method(
    method: Method,
    gram: npt.NDArray[np.floating],
    truth: npt.NDArray[np.integer],
    *,
    n_pixels: int,
    wanted: Configuration | None,
    seed: int,
    device: str = "cpu",
) -> Run:
    """Group correlations by a method, unscored: arrays `labels` and `truth`.

    A method that cannot do these photos leaves the reason in `facts["failed"]`.
    """
    options = method.settings(wanted)
    estimator = make_estimator(
        method.name, options, seed, metric="precomputed", n_pixels=n_pixels, device=device
    )
    used = estimator.get_params().get("device", "cpu")
    facts: dict[str, Any] = {
        "method": method.key,
        "options": options,
        "seed": seed,
        "device": used,
    }
    began, cpu = time.perf_counter(), time.process_time()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            estimator.fit(gram)
        except (SamecamError, ValueError) as error:
            return Run({}, {**facts, "failed": " ".join(str(error).split())})
    facts["seconds"] = time.perf_counter() - began
    facts["processor"] = time.process_time() - cpu
    facts["null_scale"] = float(estimator.null_scale_)
    facts["warnings"] = sorted({" ".join(str(w.message).split()) for w in caught})
    arrays = {"labels": estimator.labels_.astype(np.int32), "truth": truth.astype(np.int32)}
    return Run(arrays, facts)


def make_estimator(name: str, options: Mapping[str, Any], seed: int, **more: Any) -> Any:
    """The estimator of a method, with its seed where it takes one."""
    from samecam.cluster import METHODS as KNOWN

    maker: Any = KNOWN[name]
    known = maker().get_params()
    given = {key: value for key, value in {"random_state": seed, **more}.items() if key in known}
    return maker(**options, **given)
