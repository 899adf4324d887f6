"""Collections whose correlations do not fit in memory: groups in batches, then all together.

Each batch is grouped as if it were the whole, but nothing is dissolved. Its groups are
candidates; those of all batches meet in one merging, the ones that chance could have made
dissolve, and every photo of the collection is refined against what is left. Photos in no
group go into new batches until none holds a new group.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from samecam import compute, correlate
from samecam.arrays import Doubles, Labels, Mask
from samecam.cluster._remote import BatchData
from samecam.cluster.consolidate import _steps
from samecam.cluster.consolidate._constraints import Bonds
from samecam.cluster.consolidate._loop import Loop, Rates
from samecam.cluster.consolidate._start import BatchResult, Rules, group_batch
from samecam.cluster.consolidate._sums import FingerprintSums
from samecam.errors import ParameterError
from samecam.store import FingerprintStore

# Bytes a pair of photos takes: its correlation, the solver's room, sums over the first groups.
_PAIR_BYTES, _DEVICE_PAIR_BYTES = 6, 8
# Bytes a photo takes: some pixels of it, twice.
_PIXEL_BYTES = 1024
# Bytes a pair of candidates takes: the sums between them, and room to make them.
_CANDIDATE_BYTES = 32
_CANDIDATES_BYTES = 2**36
_FEWEST = 16
_ROUNDS = 4


def largest_batch(memory: int, device: str = "cpu") -> int:
    """Photos whose correlations, with all that is made of them, fit into `memory` bytes."""
    pair = _PAIR_BYTES if device == "cpu" else _DEVICE_PAIR_BYTES
    pixels = _PIXEL_BYTES / 2 / pair
    return max(_FEWEST, int((memory / pair + pixels**2) ** 0.5 - pixels))


def names_of(source: correlate.Source) -> list[bytes]:
    """What the rows are called wherever they stand: hash of the photo, its key, or of the row."""
    if isinstance(source, FingerprintStore):
        pairs = zip(source.hashes, source.keys, strict=True)
        return [(h or key).encode(errors="surrogateescape") for h, key in pairs]
    return [hashlib.blake2b(row.tobytes()).digest() for row in source]


def shuffled(names: Sequence[bytes], salt: int) -> Labels:
    """Row numbers in an order that depends on what the rows are, not on where they stand."""
    salted = [hashlib.blake2b(name, salt=bytes([salt])).digest() for name in names]
    return np.array(sorted(range(len(names)), key=salted.__getitem__), dtype=np.intp)


def split(order: Labels, largest: int) -> list[Labels]:
    """As few equal batches as hold them all, each in the order of the collection."""
    many = -(-len(order) // largest)
    return [np.sort(order[k::many]) for k in range(many)]


@dataclass(frozen=True, slots=True)
class CollectionResult:
    """What became of all photos; `batches` in the order in which they were grouped."""

    labels: Labels
    scales: Doubles
    batches: list[BatchResult]
    trace: list[dict[str, int]]


@dataclass(frozen=True, slots=True)
class RemoteBatch:
    """One batch to be grouped by another process."""

    data: BatchData
    good: Mask
    rules: Rules
    colour: Doubles | None = None
    bonds: Bonds | None = None


def group_remote_batch(batch: RemoteBatch) -> BatchResult:
    """Group a batch; what an executor calls."""
    gram = batch.data.correlations(batch.rules.memory)
    return group_batch(gram, batch.good, batch.rules, batch.colour, batch.bonds)


def candidates(batches: list[Labels], results: list[BatchResult], n: int, most: int) -> Labels:
    """Groups of all batches as one numbering; of more than `most` groups the largest stay."""
    labels = np.full(n, -1, dtype=np.intp)
    first = 0
    for rows, batch in zip(batches, results, strict=True):
        labels[rows] = np.where(batch.labels >= 0, batch.labels + first, -1)
        first += int(batch.labels.max(initial=-1)) + 1
    if first > most:
        sizes = np.bincount(labels[labels >= 0], minlength=first)
        labels[np.isin(labels, np.argsort(-sizes, kind="stable")[most:])] = -1
    return _steps.compact(labels)


def _check_room(count: int) -> None:
    """Raise an error if the sums between so many candidates do not fit into this machine."""
    need, free = _CANDIDATE_BYTES * count * count, compute.machine().available
    if need > free:
        raise ParameterError(
            "batch_size",
            f"The batches make {count} groups, whose sums take {compute.format_bytes(need)}, and "
            f"{compute.format_bytes(free)} are free: set a larger {{name}}, or less memory.",
        )


def merge_candidates(
    sums: FingerprintSums, labels: Labels, rates: Rates, n_images: int, bonds: Bonds | None = None
) -> Labels:
    """Merge candidates of one camera, then dissolve those that chance could have made."""
    count = int(labels.max(initial=-1)) + 1
    if count == 0:
        return labels
    size = np.bincount(labels[labels >= 0], minlength=count).astype(np.float64)
    counts = None if bonds is None else bonds.counts(labels, count)
    root, inner = _steps.merged(sums.between(labels, count), size, rates.merge, counts)
    whole = np.bincount(root, weights=size, minlength=count).astype(np.float64)
    stands = _steps.stands(inner, whole, rates.found, n_images)
    labels = np.where(labels >= 0, root[labels], -1)
    if bonds is not None:
        stands |= bonds.stays(labels, count)
    return _steps.compact(np.where((labels >= 0) & stands[labels], labels, -1))


def group_in_batches(
    source: correlate.Source,
    names: Sequence[bytes],
    rules: Rules,
    good: Mask,
    decided: Bonds | None,
    largest: int,
    run: Callable[[list[Labels]], Iterator[BatchResult]],
    progress: Callable[[str, int, int], None],
    *,
    bounded: bool = False,
) -> CollectionResult:
    """Group all rows of `source`, called `names`.

    `run` makes candidates of batches of at most `largest`; `bounded` : see `Sums`. What persons
    `decided` about photos of several batches is honoured where candidates meet.
    """
    n, n_images = len(source), int((good if decided is None else good | decided.pinned).sum())
    loop = Loop(rules.rates, n_images, partial(progress, "Grouping"))
    labels, scales = np.full(n, -1, dtype=np.intp), np.ones(n)
    history: list[BatchResult] = []
    waiting = np.ones(n, dtype=bool)
    most = int((min(rules.memory, _CANDIDATES_BYTES) / _CANDIDATE_BYTES) ** 0.5)
    for turn in range(_ROUNDS):
        order = shuffled(names, turn)
        batches = split(order[waiting[order]], largest)
        results: list[BatchResult] = []
        phase = f"Batches, round {turn + 1}"
        progress(phase, 0, len(batches))
        for rows, batch in zip(batches, run(batches), strict=True):
            results.append(batch)
            progress(phase, len(results), len(batches))
            if turn == 0:
                scales[rows] = batch.scales
        history += results
        progress("Grouping", 0, n)
        sums = FingerprintSums(source, scales, rules.memory, rules.device, bounded=bounded)
        labels_met = candidates(batches, results, n, most)
        if decided is not None and turn == 0:
            labels_met = _steps.compact(decided.begun(labels_met))
        _check_room(int(labels_met.max(initial=-1)) + 1)
        new = merge_candidates(sums, labels_met, rules.rates, n_images, decided)
        if turn and (new < 0).all():
            break
        known = int(labels.max(initial=-1)) + 1
        groups = _steps.Groups.make(sums, np.where(new >= 0, new + known, labels), decided)
        loop.run(groups, good)
        labels = groups.labels
        waiting = good & (labels < 0)
        if np.count_nonzero(waiting) < 2 or (turn and len(batches) == 1):
            break
    loop.let_late(groups, good)
    labels = groups.labels if good.all() else _steps.let_in(groups, rules.rates.join, ~good)
    return CollectionResult(labels, scales, history, loop.trace)
