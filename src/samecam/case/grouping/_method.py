"""The method at work: fingerprints of a store to groups."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from samecam import compute, correlate, evidence
from samecam.arrays import Floats, Labels, Mask, Rows
from samecam.case.folder import ClusteringSettings, by_frame, colours
from samecam.case.grouping._executor import executor_for, fit_parameters
from samecam.case.grouping._strangers import without_strangers
from samecam.errors import ParameterError, as_samecam_error
from samecam.frames import Frame
from samecam.photos import Exposure
from samecam.store import DiskStore, FingerprintStore, Record, RowsWithout, Subset

if TYPE_CHECKING:
    from samecam.cluster import Constraints

# Photos of a frame from which its scale of chance is measured.
_ENOUGH = 8
# Rates that hold over all frames together; what a photo joins by is of that photo alone.
_SHARED_RATES = ("found_rate", "merge_rate")


def grouping_memory(clustering: ClusteringSettings, resources: compute.Resources) -> int:
    """Bytes that grouping may take: as asked, or of the machine, or of the GPU.

    Only the default method keeps all it makes on a GPU; the correlations of others come back.
    """
    if resources.memory is not None:
        return resources.memory
    there = compute.default_memory(resources.device)
    if clustering.name == "consolidated":
        return there
    return min(there, compute.default_memory("cpu"))


def group_photos(
    store: DiskStore,
    photos: Sequence[Record],
    clustering: ClusteringSettings,
    resources: compute.Resources,
    progress: compute.Progress,
    *,
    start: Labels | None = None,
    correlations: Mapping[Frame, Floats] | None = None,
    constraints: "Constraints | None" = None,
    total: int | None = None,
    kept: correlate.KeptGrams | None = None,
) -> tuple[Labels, dict[str, Any]]:
    """Group of every photo, and what the method has to say.

    Photos are grouped frame by frame, that with most photos first. Each frame has its share of
    the rates of error that hold over all of them, and where its photos are few, its scale of
    chance leans on that of the frames before.

    Parameters
    ----------
    store : fingerprints of `photos`
    photos : the used photos, sorted by path
    resources : resolved; a method takes of them what it can use
    start : groups to begin with, for methods that can
    correlations : (n, n) of the photos of each frame, if they are known; methods that want
        fingerprints read these all the same
    constraints : what persons decided, by the numbers of `photos`, for methods that can honour it
    total : photos that share the rates of error; default: these
    kept : takes the correlations of frames of bits, by their names, to weigh the evidence with
    """
    from samecam.cluster import numbered

    frames = by_frame(photos)
    if len(frames) > 1 and clustering.options.get("n_clusters") is not None:
        raise ParameterError(
            "n_clusters",
            f"{{name}} is for photos of one width and height, and these have {len(frames)}: leave "
            "it out, or give a size.",
        )
    labels, details, first = np.full(len(photos), -1, dtype=np.intp), dict[str, Any](), 0
    usual, told = _Usual(), _Progress(progress, len(photos))
    for frame, at in frames.items():
        rows, some = store.rows(frame), [photos[k] for k in at]
        if list(rows.keys) != [photo.key for photo in some]:
            raise RuntimeError("the store does not hold the fingerprints of the used photos")
        work = _FrameWork(
            rows,
            some,
            clustering,
            resources,
            told,
            share=len(some) / (total or len(photos)),
            usual_scale=usual.value,
            start=None if start is None else start[at],
            correlations=None if correlations is None else correlations[frame],
            constraints=None if constraints is None else among(constraints, at),
            keep=None if kept is None else partial(kept.put, frame.name),
        )
        groups, facts = work.grouped()
        rows.close()
        told.before += len(some)
        labels[at] = np.where(groups >= 0, groups + first, -1)
        first += int(groups.max(initial=-1)) + 1
        usual.add(facts.get("null_scale"), frame, len(some))
        details[frame.name] = facts
    rate = clustering.options.get("join_rate", 0.01)
    if clustering.name == "consolidated":
        labels = without_strangers(
            store,
            frames,
            labels,
            rate,
            grouping_memory(clustering, resources),
            left_out={frame: details[frame.name].get("left_out", ()) for frame in frames},
        )
    memory = [facts.pop("memory_bytes") for facts in details.values() if "memory_bytes" in facts]
    common = _common(clustering, resources)
    return numbered(labels), {
        **common,
        "memory_bytes": min(memory, default=None),
        "frames": details,
    }


def among(constraints: "Constraints", rows: Rows) -> "Constraints":
    """What constraints say of some photos, by their numbers among these."""
    number = np.full(len(constraints.together), -1, dtype=np.intp)
    number[rows] = np.arange(len(rows))
    apart = [tuple(number[side][number[side] >= 0] for side in pair) for pair in constraints.apart]
    there = tuple((photos, others) for photos, others in apart if len(photos) and len(others))
    return replace(constraints, together=constraints.together[rows], apart=there)


class _Progress:
    """Photos of all frames, counted on from one frame to the next."""

    def __init__(self, progress: compute.Progress, total: int) -> None:
        self._progress, self._total, self.before = progress, total, 0
        self.here = 0

    def __call__(self, phase: str, done: int, total: int) -> None:
        if total == self.here:  # of the photos of this frame
            done, total = done + self.before, self._total
        self._progress(phase, done, total)


class _Usual:
    """The scale of chance that frames showed, in units of 1/√d, weighed by pairs of photos."""

    def __init__(self) -> None:
        self._squares = self._pairs = 0.0

    def add(self, scale: float | None, frame: Frame, n: int) -> None:
        """Take in what a frame showed, if its photos are enough to show anything."""
        if scale is not None and n >= _ENOUGH:
            pairs = n * (n - 1) / 2
            self._squares += pairs * scale**2 * frame.n_pixels
            self._pairs += pairs

    @property
    def value(self) -> float | None:
        """None as long as nothing is known."""
        return float(np.sqrt(self._squares / self._pairs)) if self._pairs else None


@dataclass(frozen=True, slots=True)
class _FrameWork:
    """Photos of one frame, and all that decides on their groups."""

    rows: FingerprintStore
    photos: Sequence[Record]
    clustering: ClusteringSettings
    resources: compute.Resources
    progress: _Progress
    share: float
    usual_scale: float | None
    start: Labels | None
    correlations: Floats | None
    constraints: "Constraints | None"
    keep: Callable[[Any], None] | None

    def grouped(self) -> tuple[Labels, dict[str, Any]]:
        """Groups of the photos, and what the method says of them.

        Methods whose `fit` takes `weak` get all fingerprints and a mask of those that may found
        no group; others get the good ones alone.
        """
        photos, clustering, progress = self.photos, self.clustering, self.progress
        memory = grouping_memory(clustering, self.resources)
        weak = np.array([photo.meta["status"] != "good" for photo in photos], dtype=bool)
        dark = _dark(photos) if clustering.leaves_out_dark else np.zeros(len(photos), dtype=bool)
        labels, chosen = np.full(len(photos), -1, dtype=np.intp), ~dark
        if np.count_nonzero(chosen & ~weak) < 2:
            return labels, {}
        progress.here = len(photos)
        method = self._method(memory)
        takes = fit_parameters(method)
        if "weak" not in takes:
            chosen &= ~weak
        rows = np.flatnonzero(chosen)
        known: dict[str, Any] = {"weak": weak[rows], "progress": progress}
        if self.rows.is_bits and len(rows) == len(photos):
            known["keep"] = self.keep
        if (smooth := colours([photos[k] for k in rows.tolist()])) is not None:
            known["colour"] = smooth
        given = {name: value for name, value in known.items() if name in takes}
        if self.start is not None:
            given["start"] = self.start
        if self.constraints is not None:
            given["constraints"] = self.constraints
        source = self.rows if len(rows) == len(photos) else Subset(self.rows, rows)
        gram = self._gram(source, rows, takes, method, memory)
        if gram is not None:
            given_gram = {"metric": "precomputed", "n_pixels": source.n_pixels}
            method.set_params(**{k: v for k, v in given_gram.items() if k in method.get_params()})
        _fit(method, source, given, self.resources, progress, gram)
        boxes: list[evidence.Box] = []
        labels[rows] = method.labels_
        if clustering.name == "consolidated":
            method, boxes, labels[rows] = self._not_misled(method, source, given, memory)
        facts = {**_facts(method), "memory_bytes": getattr(method, "memory_", memory)}
        return labels, {**facts, "left_out": [list(box) for box in boxes]} if boxes else facts

    def _not_misled(
        self, method: Any, source: FingerprintStore, given: Mapping[str, Any], memory: int
    ) -> tuple[Any, list[evidence.Box], Labels]:
        """The method without places with logos and stamps, these, and groups not made by such."""
        room = min(memory, compute.default_memory("cpu"))
        boxes = evidence.left_out(source, method.labels_, memory=room)
        if boxes:
            method = self._without(source, boxes, given, memory)
        misled = evidence.misled(source, method.labels_, boxes, memory=room)
        return method, boxes, np.where(np.isin(method.labels_, misled), -1, method.labels_)

    def _without(
        self,
        source: FingerprintStore,
        boxes: Sequence[evidence.Box],
        given: Mapping[str, Any],
        memory: int,
    ) -> Any:
        """The method without some places of the frame."""
        left = RowsWithout(source, evidence.inside_boxes(source, boxes))
        method = self._method(memory)
        again = {name: value for name, value in given.items() if name != "keep"}
        _fit(method, left, again, self.resources, self.progress, None)
        # Chance scatters less over all of the frame than over what is left of it.
        method.null_scale_ *= float(np.sqrt(left.n_pixels / source.n_pixels))
        return method

    def _method(self, memory: int) -> Any:
        """The estimator, with this frame's share of the rates of error."""
        method = self.clustering.estimator(
            metric="correlation",
            memory=memory,
            device=self.resources.device,
            usual_scale=self.usual_scale,
        )
        params = method.get_params()
        shared = {name: self.share * params[name] for name in _SHARED_RATES if name in params}
        return method.set_params(**shared)

    def _gram(
        self,
        source: FingerprintStore,
        rows: Rows,
        takes: set[str],
        method: Any,
        memory: int,
    ) -> Floats | None:
        """Correlations for a method that wants them and not the fingerprints."""
        gram = None if self.clustering.reads_fingerprints else self.correlations
        if gram is not None:
            return gram if len(rows) == len(self.photos) else gram[np.ix_(rows, rows)]
        if takes or self.clustering.reads_fingerprints:
            return None
        there = self.resources.device if "device" in method.get_params() else "cpu"
        return _correlate(source, memory, self.progress, there)


def _dark(photos: Sequence[Record]) -> Mask:
    shares = [Exposure(photo.meta.get("dark") or 0.0, 0.0) for photo in photos]
    return np.array([share.is_dark for share in shares], dtype=bool)


def _correlate(
    source: FingerprintStore, memory: int, progress: compute.Progress, device: str
) -> Floats:
    progress("Correlating", 0, len(source))
    told = partial(progress, "Correlating")
    return correlate.gram(source, memory=memory, device=device, progress=told)


def _fit(
    method: Any,
    source: FingerprintStore,
    given: Mapping[str, Any],
    resources: compute.Resources,
    progress: compute.Progress,
    gram: Floats | None,
) -> None:
    """Run the method on the store, or on the correlations where they are given."""
    try:
        with (
            compute.device_errors(resources.device),
            executor_for(method, source, resources, gram is not None) as executor,
        ):
            more = {} if executor is None else {"executor": executor}
            if gram is None:
                method.fit(source, **given, **more)
                return
            progress("Grouping", 0, len(source))
            method.fit(gram, **given, **more)
            progress("Grouping", len(source), len(source))
    except ValueError as error:
        raise as_samecam_error(error) from None


def _facts(method: Any) -> dict[str, Any]:
    """What the method says of one frame, for `case.json`."""
    report = getattr(method, "report_", None)
    return {
        "gamma": getattr(method, "gamma_", None),
        "null_scale": getattr(method, "null_scale_", None),
        "solver": None if report is None else report.as_dict(),
    }


def _common(clustering: ClusteringSettings, resources: compute.Resources) -> dict[str, Any]:
    """What is the same for all frames, for `case.json`."""
    method = clustering.estimator()
    ours = ("memory", "metric", "device", "usual_scale")
    params = method.get_params()
    device = resources.device if "device" in params else "cpu"
    return {
        "parameters": {k: v for k, v in params.items() if k not in ours},
        "device": compute.describe_device(device),
    }
