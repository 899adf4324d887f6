"""What a run does after grouping, on the processor whatever the device: evidence and the report.

evidence   sums of every photo with every group, the law of chance, PCE, photos and groups: what
           `samecam cluster` weighs, from the groups that consolidation found. Operations by
           formula: 2nLd of the sums, 5d log₂ d of the two transforms of a photo's PCE. The floor
           is these operations at the rate of products of matrices, or reading all fingerprints
           once if that takes longer.
report     `write_report` of a case of as many photos: without thumbnails, because the case is made
           of fingerprints and not of photographs, and of fingerprints of 64², because of these the
           report reads at most 2,000 rows. Operations are not counted, and it has no floor.
"""

import math
import tempfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.growth_counting import MEAN, Place, camera_sizes, timed
from samecam import compute, evidence
from samecam.arrays import Labels
from samecam.simulate import fingerprints
from samecam.store import FingerprintStore

REPORT_PIXELS = 64**2
# Cameras stand out of chance as much as with the fingerprints of 256² of the other phases.
REPORT_MEAN = MEAN * (65536 / REPORT_PIXELS) ** 0.5


def weigh_evidence(
    store: FingerprintStore, labels: Labels, null_scale: float, memory: int
) -> tuple[evidence.PhotoEvidence, list[evidence.GroupEvidence]]:
    """All that `samecam cluster` says of photos and groups, unmoving scenes left out."""
    given = evidence.comparisons_from_rows(store, labels, memory=memory)
    null = evidence.measured_null(given, null_scale=null_scale)
    own = evidence.group_chance(store, given, given.labels, memory=memory)
    scores = evidence.photo_scores(given, null, own, evidence.Chance.unknown(len(labels)))
    return (
        evidence.photo_evidence(given, scores, store.n_pixels),
        evidence.group_evidence(given, null, scores[0], store.n_pixels, own=own),
    )


def evidence_operations(n: int, groups: int, d: int) -> float:
    """2nLd of the sums, and two real transforms of 2.5·d·log₂ d for each photo."""
    return 2.0 * n * groups * d + 5.0 * n * d * math.log2(d)


def measure_evidence(
    place: Place,
    store: FingerprintStore,
    labels: Labels,
    null_scale: float,
    rates: Mapping[str, float],
) -> dict[str, Any]:
    """Seconds, operations and floor of the evidence."""
    n, d, groups = len(store), store.n_pixels, int(labels.max(initial=-1)) + 1
    memory = compute.default_memory("cpu")
    (photos, _), seconds = timed(partial(weigh_evidence, store, labels, null_scale, memory), place)
    operations = evidence_operations(n, groups, d)
    return {
        "seconds": seconds,
        "operations": operations,
        "floor": max(operations / rates["float32"], 4 * n * d / rates["bytes"]),
        "groups": groups,
        "comparisons": int(photos.comparisons.max()),
    }


def measure_report(place: Place, n: int) -> dict[str, Any]:
    """Seconds of the report of a case of n photos, and bytes of the page."""
    from samecam.case import cluster_fingerprints
    from samecam.report import write_report

    with tempfile.TemporaryDirectory() as scratch:
        file, case = Path(scratch) / "fingerprints.npy", Path(scratch) / "case"
        np.save(file, fingerprints(camera_sizes(n), REPORT_MEAN, REPORT_PIXELS).X)
        groups = cluster_fingerprints(file, case).groups
        page, seconds = timed(partial(write_report, case), place)
        return {"seconds": seconds, "bytes": page.stat().st_size, "groups": len(groups)}
