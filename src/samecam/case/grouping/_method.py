"""Which method groups the photos, with which parameters, and how it is run."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from samecam import compute
from samecam.arrays import Labels
from samecam.case._means import Means
from samecam.case.extraction._prepare import Progress
from samecam.case.folder._tuned import Tuned
from samecam.case.grouping._executor import executor_for, fit_parameters
from samecam.errors import ParameterError, SamecamError, as_samecam_error
from samecam.photos import Exposure
from samecam.store import FingerprintStore, Record, Subset

# Parameters of the methods that the case itself sees to.
_OURS = ("metric", "memory", "n_pixels", "random_state", "device")
# Methods of the paper: with its preset they leave out dark photos, as it does.
_PAPERS = ("ssc", "ssc-nc", "ls-ssc")
# Methods without options of `fit` that want the fingerprints and not their correlations alone.
_READERS = ("lin-ls",)


@dataclass(frozen=True, slots=True)
class ClusteringSettings:
    """Parameters of clustering; with others the fingerprints of a case are used again.

    Attributes
    ----------
    method : name of the method, see `samecam.cluster.METHODS`; "auto" is "consolidated"
    options : parameters of the method by name (`gamma`, `n_clusters`, `join_rate`, …), see
        its class; what is not given has the method's default
    seed : of everything random
    preset : "paper" gives "ssc", "ssc-nc" and "ls-ssc" the published constants where
        `options` says nothing else, and leaves dark photos (more than 75 % of the crop in
        [0, 80]) without a group; other methods take no notice of it
    tuned : parameters that were chosen on labelled photos (`samecam.case.read_tuned`), which
        become `options` where these say nothing else; for "ls-ssc", and for fingerprints as
        long as those they were chosen on
    """

    method: str = "auto"
    options: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    preset: Literal["default", "paper"] = "default"
    tuned: Tuned | None = None

    def __post_init__(self) -> None:
        if self.preset not in ("default", "paper"):
            raise SamecamError(f"preset is {self.preset!r}; choose 'default' or 'paper'.")
        if self.tuned is not None:
            self.tuned.check_method(self.name)
            object.__setattr__(self, "options", {**self.tuned.options, **self.options})

    @property
    def name(self) -> str:
        """The method meant."""
        return "consolidated" if self.method == "auto" else self.method

    @property
    def leaves_out_dark(self) -> bool:
        """Whether dark photos get no group."""
        return self.preset == "paper" and self.name in _PAPERS

    def estimator(self, **more: Any) -> Any:
        """The estimator these settings mean, or a sentence which of them it does not know."""
        from samecam.cluster import METHODS

        if self.name not in METHODS:
            raise SamecamError(f"{self.name!r} is no method: choose auto, {', '.join(METHODS)}.")
        method: Callable[..., Any] = METHODS[self.name]
        known = method().get_params()
        for option in self.options:
            if option not in known or option in _OURS:
                raise ParameterError(
                    option, f"The method {self.name!r} has no option {{name}}: leave it out."
                )
        given = {**self._published(known), **self.options}
        if "random_state" in known:
            given["random_state"] = self.seed
        made = method(**given, **{name: more[name] for name in more if name in known})
        try:
            made.check_parameters()
        except ValueError as error:
            raise as_samecam_error(error) from None
        return made

    def _published(self, known: Mapping[str, Any]) -> dict[str, Any]:
        """What the paper's preset changes."""
        if self.preset != "paper" or self.name not in _PAPERS:
            return {}
        return {"preset": "paper"} if "preset" in known else {"gamma": "paper"}

    def as_dict(self) -> dict[str, Any]:
        """As it stands in `case.json`; parameters from a file stand there as options."""
        return {
            "method": self.method,
            "options": dict(self.options),
            "seed": self.seed,
            "preset": self.preset,
        }

    def check_length(self, n_pixels: int) -> None:
        """Refuse fingerprints of a length that the parameters were not chosen for."""
        if self.tuned is not None:
            self.tuned.check_length(n_pixels)


def default_memory(clustering: ClusteringSettings, device: str) -> int:
    """Bytes that grouping may take if nothing is said: of the machine, or of the GPU.

    Only the default method keeps all it makes on a GPU; the correlations of others come back.
    """
    there = compute.default_memory(device)
    if clustering.name == "consolidated":
        return there
    return min(there, compute.default_memory("cpu"))


def group_photos(
    store: FingerprintStore,
    photos: Sequence[Record],
    clustering: ClusteringSettings,
    *,
    memory: int,
    workers: int,
    progress: Progress,
    device: str = "cpu",
    scheduler: str | None = None,
    correlations: npt.NDArray[np.float32] | None = None,
) -> tuple[Labels, dict[str, Any]]:
    """Group of every photo, and what the method has to say.

    Methods whose `fit` takes `weak` get all fingerprints and a mask of those that may found
    no group; others get the good ones alone.

    Parameters
    ----------
    store : fingerprints of `photos`, in that order
    memory : bytes for everything held at a time
    workers, scheduler : processes or a cluster, for methods that can use them
    device : that computes, for methods that can use it
    correlations : (n, n) of the photos, if they are known; methods that want fingerprints
        read these all the same
    """
    if list(store.keys) != [photo.key for photo in photos]:
        raise RuntimeError("the store does not hold the fingerprints of the used photos")
    weak = np.array([photo.meta["status"] != "good" for photo in photos], dtype=bool)
    chosen = ~_dark(photos) if clustering.leaves_out_dark else np.ones(len(photos), dtype=bool)
    labels = np.full(len(photos), -1, dtype=np.intp)
    if not (chosen & ~weak).any():
        return labels, {}
    means = Means(workers, device=device, scheduler=scheduler)
    takes = fit_parameters(clustering.estimator())
    if "weak" not in takes:
        chosen &= ~weak
    rows = np.flatnonzero(chosen)
    known: dict[str, Any] = {"weak": weak[rows], "progress": progress}
    given = {name: value for name, value in known.items() if name in takes}
    source = store if len(rows) == len(store) else Subset(store, rows)
    known_gram = None if correlations is None or reads_fingerprints(clustering) else correlations
    if known_gram is not None and len(rows) < len(store):
        known_gram = known_gram[np.ix_(rows, rows)]
    if known_gram is None and not (takes or reads_fingerprints(clustering)):
        there = device if "device" in clustering.estimator().get_params() else "cpu"
        known_gram = _correlate(source, memory, progress, there)
    method = _made(source, clustering, memory, device, known_gram is not None)
    try:
        with (
            compute.device_sentences(device),
            executor_for(method, source, means, known_gram is not None) as executor,
        ):
            if executor is not None:
                given["executor"] = executor
            _fit(method, source, given, progress, known_gram)
    except ValueError as error:
        raise as_samecam_error(error) from None
    labels[rows] = method.labels_
    return labels, {**_details(method), "memory_bytes": getattr(method, "memory_", memory)}


def _dark(photos: Sequence[Record]) -> npt.NDArray[np.bool_]:
    shares = [Exposure(photo.meta.get("dark") or 0.0, 0.0) for photo in photos]
    return np.array([share.is_dark for share in shares], dtype=bool)


def reads_fingerprints(clustering: ClusteringSettings) -> bool:
    """Whether the method wants fingerprints even where their correlations are known."""
    return clustering.name in _READERS


def _correlate(
    source: FingerprintStore, memory: int, progress: Progress, device: str
) -> npt.NDArray[np.float32]:
    from samecam import correlate

    progress("Correlating", 0, len(source))
    gram = correlate.gram(source, memory=memory, device=device)
    progress("Correlating", len(source), len(source))
    return gram


def _made(
    source: FingerprintStore, clustering: ClusteringSettings, memory: int, device: str, gram: bool
) -> Any:
    """The estimator for the store itself, or for the correlations where they are given."""
    wanted: dict[str, Any] = {"metric": "correlation", "memory": memory, "device": device}
    if gram:
        wanted |= {"metric": "precomputed", "n_pixels": source.n_pixels}
    return clustering.estimator(**wanted)


def _fit(
    method: Any,
    source: FingerprintStore,
    given: dict[str, Any],
    progress: Progress,
    gram: npt.NDArray[np.float32] | None,
) -> None:
    if gram is None:
        method.fit(source, **given)
        return
    progress("Grouping", 0, len(source))
    method.fit(gram, **given)
    progress("Grouping", len(source), len(source))


def _details(method: Any) -> dict[str, Any]:
    """What the method chose and reports, for `case.json`."""
    ours = ("memory", "metric", "device")
    params = {k: v for k, v in method.get_params().items() if k not in ours}
    report = getattr(method, "report_", None)
    return {
        "parameters": params,
        "gamma": getattr(method, "gamma_", None),
        "null_scale": getattr(method, "null_scale_", None),
        "solver": None if report is None else report.as_dict(),
        "device": compute.device_words(getattr(method, "device", "cpu")),
    }
