"""LS-SSC: split, partition, recycle, merge, attract."""

import sys
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import check_random_state

from samecam import compute, correlate
from samecam.cluster._gamma import null_gamma, paper_gamma
from samecam.cluster._input import FingerprintInput
from samecam.cluster._labels import numbered
from samecam.cluster.large_scale import _phases, _split
from samecam.cluster.large_scale._merge import THRESHOLDS, Threshold, known_threshold
from samecam.cluster.large_scale._partition import Rules
from samecam.cluster.large_scale._source import GramSource, RowSource, Source
from samecam.compute import Executor
from samecam.errors import ParameterValueError

Progress = Callable[[str, int, int], None]

_PAPER_BATCH = 4000
_SAMPLE = 500
_FEWEST_NEIGHBOURS = 3


class LargeScaleSSC(FingerprintInput, ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """LS-SSC: sparse subspace clustering of more photos than memory holds at a time.

    1. Split: the photos go at random into B batches of at most `batch_size`.
    2. Partition: in each batch, LASSO, random walk, nearest neighbours and DBSCAN find small
       pure groups.
    3. Recycle: what is left over makes new batches.
    4. Merge: groups whose fingerprints are those of one camera.
    5. Attract: photos still left over go to the group they are like, best first.
    6. Reassign (not in the paper): each photo once more to the group it is most like.

    Parameters
    ----------
    preset : "default", or "paper": the published constants (γ, 1/√d as the scale of chance,
        regressor, P_FA for each comparison, 4000 photos a batch), no test of groups against
        chance, K never lowered, no reassignment. Leaving out dark photos is the caller's.
    batch_size : photos a batch; None: as many as `memory` holds (paper: at most 4000)
    n_batches : number of batches of equal size instead; fewer where they would hold less
        than `n_neighbours` photos
    gamma : weight of the ℓ₁ norm: a number, "auto" (twice the scale of chance), "paper"
        (published); None: what the preset says
    n_neighbours : K, coefficients kept of each photo and MinPts of DBSCAN
    recycling : rounds; None: until one finds nothing (paper: ⌊B/2⌋ from three batches on)
    threshold : of merging: "half" (H₁/2), "min" (of both), "paper" (the regressor), or a
        regressor of one's own, three numbers (`fit_merge_regressor`); None: what the preset says
    false_alarm : P_FA, probability that a photo of another camera joins any group, that any
        two groups are joined by chance, or that noise holds any group (paper: per comparison)
    metric, null_scale, n_pixels : as for `SSC`
    memory : bytes for everything held at a time, beside an array or correlations given
    random_state : of splitting and recycling
    device : "cpu", "cuda", "cuda:1", … or "auto": correlations and representations of batches
        are computed there, in what memory it has free; labels agree to what rounding may move

    Attributes
    ----------
    labels_ : (n,) groups from 0, largest first; −1 is unclustered
    n_clusters_, null_scale_, gamma_ : as for `SSC`
    report_ : of the solver in the batch with the largest KKT violation
    trace_ : what each phase did, one entry each (partition and recycle: one a batch)
    """

    def __init__(
        self,
        *,
        preset: Literal["default", "paper"] = "default",
        batch_size: int | None = None,
        n_batches: int | None = None,
        gamma: float | Literal["auto", "paper"] | None = None,
        n_neighbours: int = 5,
        recycling: int | None = None,
        threshold: Threshold | None = None,
        false_alarm: float = 0.001,
        metric: Literal["correlation", "precomputed"] = "correlation",
        memory: int = correlate.DEFAULT_MEMORY,
        null_scale: float | None = None,
        n_pixels: int | None = None,
        random_state: int | np.random.RandomState | None = 0,
        device: str = "cpu",
    ) -> None:
        self.preset = preset
        self.batch_size = batch_size
        self.n_batches = n_batches
        self.gamma = gamma
        self.n_neighbours = n_neighbours
        self.recycling = recycling
        self.threshold = threshold
        self.false_alarm = false_alarm
        self.metric = metric
        self.memory = memory
        self.null_scale = null_scale
        self.n_pixels = n_pixels
        self.random_state = random_state
        self.device = device

    def fit(
        self,
        X: Any,
        y: object = None,  # noqa: ARG002 - the convention
        *,
        progress: Progress | None = None,
        executor: Executor | None = None,
    ) -> "LargeScaleSSC":
        """Group the rows of `X`: fingerprints (array or store), or their correlations.

        Parameters
        ----------
        progress : called with the phase, what of it is done, and of how much
        executor : clusters batches, several at a time; the result is the same
        """
        run = self.start_run(X, progress=progress, executor=executor)
        run.recycle()
        run.merge()
        run.attract()
        if self.preset == "default":
            run.reassign()
        self.labels_ = numbered(run.labels)
        self.n_clusters_ = int(self.labels_.max(initial=-1)) + 1
        self.trace_: list[dict[str, Any]] = run.trace
        self.report_ = max(run.reports, key=lambda report: report.kkt_violation)
        self._warn(self.report_)
        return self

    def start_run(
        self, X: Any, *, progress: Progress | None = None, executor: Executor | None = None
    ) -> _phases.Run:
        """Split the rows of `X` and cluster every batch, as `fit` begins."""
        self.check_parameters()
        device = compute.choose_device(self.device)
        source, n_pixels = self._reader(X, device)
        seed = check_random_state(self.random_state).randint(2**31)
        streams = np.random.SeedSequence(int(seed))
        split = np.random.default_rng(streams.spawn(1)[0])
        self.null_scale_ = self._chance(source, n_pixels, split)
        self.gamma_ = self._choose_gamma(n_pixels)
        run = _phases.Run(source, self._plan(source.n, device), progress, executor, streams)
        run.split(split)
        return run

    def check_parameters(self) -> None:
        """Raise an error for the first parameter out of range, before any work."""
        self._check_input_parameters()
        if self.preset not in ("default", "paper"):
            raise ParameterValueError(
                "preset", f"{{name}} is {self.preset!r}; choose 'default' or 'paper'"
            )
        for name, least in (("batch_size", 2), ("n_batches", 1), ("recycling", 0)):
            value = getattr(self, name)
            if value is not None and not (isinstance(value, Integral) and int(value) >= least):
                raise ParameterValueError(
                    name, f"{{name}} is {value!r}; give {least} or more, or leave it out"
                )
        if self.batch_size is not None and self.n_batches is not None:
            raise ParameterValueError(
                "batch_size",
                f"{{name}} is {self.batch_size} and n_batches is {self.n_batches}; give one",
            )
        if not (isinstance(self.n_neighbours, Integral) and self.n_neighbours >= 2):
            raise ParameterValueError(
                "n_neighbours", f"{{name}} is {self.n_neighbours!r}; give 2 or more, 5 is usual"
            )
        number = isinstance(self.gamma, Real) and 0 < self.gamma < sys.float_info.max
        if not number and self.gamma not in (None, "auto", "paper"):
            raise ParameterValueError(
                "gamma", f"{{name}} is {self.gamma!r}; give a positive number, 'auto' or 'paper'"
            )
        if self.threshold is not None and not known_threshold(self.threshold):
            raise ParameterValueError(
                "threshold",
                f"{{name}} is {self.threshold!r}; choose from {THRESHOLDS}, or give the three "
                "weights of a regressor",
            )
        if not 0 < self.false_alarm < 1:
            raise ParameterValueError(
                "false_alarm", f"{{name}} is {self.false_alarm}; give a rate between 0 and 1"
            )

    def _reader(self, X: Any, device: str) -> tuple[Source, int | None]:
        """Where correlations come from, and the length of a fingerprint if it is known."""
        rows, n_pixels = self._validated(X)
        if self.metric == "precomputed":
            return GramSource(np.asarray(rows)), n_pixels
        return RowSource(rows, self.memory, device), n_pixels

    def _chance(self, source: Source, n_pixels: int | None, rng: np.random.Generator) -> float:
        """The scale of chance: given, 1/√d in the paper, else measured on up to 500 photos."""
        if self.null_scale is not None:
            return self.null_scale
        if self.preset == "paper":
            return float(self._pixels(n_pixels) ** -0.5)
        sample = np.sort(rng.permutation(source.n)[:_SAMPLE])
        return correlate.null_scale(source.gram(sample), n_pixels)

    def _choose_gamma(self, n_pixels: int | None) -> float:
        wanted = self.gamma or ("paper" if self.preset == "paper" else "auto")
        if wanted == "auto":
            return null_gamma(self.null_scale_)
        if wanted == "paper":
            return paper_gamma(self._pixels(n_pixels))
        return float(wanted)

    def _pixels(self, n_pixels: int | None) -> int:
        if n_pixels is None:
            raise ValueError("the published constants depend on the size; give n_pixels")
        return n_pixels

    def _plan(self, n: int, device: str) -> "_phases.Plan":
        """Everything that the phases need to know."""
        paper = self.preset == "paper"
        size = self.batch_size or _split.largest_batch(self.memory)
        if paper and self.batch_size is None:
            size = min(size, _PAPER_BATCH)
        # A batch of fewer than K photos can hold no region.
        count = max(1, min(self.n_batches or -(-n // size), n // self.n_neighbours))
        rounds = self.recycling
        if rounds is None and paper and count > 2:
            rounds = count // 2
        threshold = self.threshold or ("paper" if paper else "half")
        rules = Rules(
            self.gamma_,
            self.n_neighbours,
            self.n_neighbours,
            self.null_scale_,
            0.0 if paper else self.false_alarm,
            n,
            threshold,
            device,
        )
        return _phases.Plan(
            n_batches=count,
            rules=rules,
            rounds=rounds,
            fewest=self.n_neighbours if paper else _FEWEST_NEIGHBOURS,
            threshold=threshold,
            false_alarm=self.false_alarm,
            shared=not paper,
            memory=self.memory,
        )
