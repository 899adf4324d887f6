"""The methods that experiments compare, each as its publication has it."""

import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from samecam import compute
from samecam.datasets import Configuration
from samecam.errors import SamecamError
from samecam.experiments._study import Run

Whose = Literal["ours", "paper", "rival", "yours"]

_LARGE_BATCH = 4000


@dataclass(frozen=True, slots=True)
class Method:
    """One method as it is compared.

    Attributes
    ----------
    key : in keys of runs and in JSON
    label : for people
    name : in `samecam.cluster.METHODS`
    whose : ours, the paper's, a rival's, or that of who runs it
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
    steps: compute.SharedSteps,
    device: str = "cpu",
) -> Run:
    """Group correlations by a method, unscored: arrays `labels` and `truth`.

    A method that cannot do these photos leaves the reason in `facts["failed"]`. Of `steps`, what
    runs with other seeds did is not done again; its time counts as if it had been done here, and
    is in `facts["shared"]`.
    """
    options = method.settings(wanted)
    estimator = make_estimator(
        method.name, options, seed, metric="precomputed", n_pixels=n_pixels, device=device
    )
    used = estimator.get_params().get("device", "cpu")
    facts = {"method": method.key, "options": options, "seed": seed, "device": used}
    before = steps.spared
    try:
        with steps.used():
            labels, told = fit_labels(estimator, gram)
    except (SamecamError, ValueError) as error:
        return Run({}, {**facts, "failed": " ".join(str(error).split())})
    spared = steps.spared - before
    told["seconds"] += spared.seconds
    told["processor"] += spared.processor
    told["shared"] = max(spared.seconds, 0.0)
    arrays = {"labels": labels.astype(np.int32), "truth": truth.astype(np.int32)}
    return Run(arrays, {**facts, **told})


def fit_labels(
    estimator: Any, given: npt.NDArray[np.floating]
) -> tuple[npt.NDArray[np.integer], dict[str, Any]]:
    """Labels by an estimator in the manner of scikit-learn, with its times and warnings.

    Parameters
    ----------
    estimator : has `fit_predict`, or `fit` and then `labels_`
    given : what it takes, fingerprints or correlations
    """
    began, cpu = time.perf_counter(), time.process_time()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if hasattr(estimator, "fit_predict"):
            labels = estimator.fit_predict(given)
        else:
            estimator.fit(given)
            labels = estimator.labels_
    facts: dict[str, Any] = {
        "seconds": time.perf_counter() - began,
        "processor": time.process_time() - cpu,
        "warnings": sorted({" ".join(str(w.message).split()) for w in caught}),
    }
    if hasattr(estimator, "null_scale_"):
        facts["null_scale"] = float(estimator.null_scale_)
    return _checked(labels, len(given)), facts


def _checked(labels: Any, n: int) -> npt.NDArray[np.integer]:
    """Labels as they must be: a whole number for each photo, any below 0 for no group."""
    given = np.asarray(labels)
    if given.shape != (n,) or not np.issubdtype(given.dtype, np.integer):
        raise ValueError(
            f"labels are {given.dtype} of shape {given.shape}: give {n} whole numbers, one a "
            "photo, -1 for no group"
        )
    whole: npt.NDArray[np.integer] = np.maximum(given, -1)
    return whole


def make_estimator(name: str, options: Mapping[str, Any], seed: int, **more: Any) -> Any:
    """The estimator of a method, with its seed where it takes one."""
    from samecam.cluster import METHODS as KNOWN

    maker: Any = KNOWN[name]
    known = maker().get_params()
    given = {key: value for key, value in {"random_state": seed, **more}.items() if key in known}
    return maker(**options, **given)
