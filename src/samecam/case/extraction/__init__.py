"""Files to fingerprints, in parallel, resumable at any moment."""

from samecam.case.extraction._copies import is_copy, noise_in_common, numbered_moments
from samecam.case.extraction._dispatch import failure
from samecam.case.extraction._doctor import EXTRAS, doctor
from samecam.case.extraction._estimate import (
    Estimate,
    FrameCost,
    products_per_second,
    transform_seconds,
    words_per_second,
)
from samecam.case.extraction._extract import (
    Extraction,
    ExtractionRun,
    extract_photos,
    interrupted_before,
)
from samecam.case.extraction._measure import measure_photos
from samecam.case.extraction._prepare import (
    Job,
    Photos,
    added_job,
    arguments,
    check_apart,
    plan_extraction,
    prepare,
    source,
)
from samecam.case.extraction._scene import kept_scene
from samecam.case.extraction._stop import (
    Stop,
    nothing_begun_yet,
    nothing_left_to_finish,
    stop_on_signals,
)
from samecam.case.extraction._vectors import VectorSettings, ingest, open_vectors
from samecam.case.extraction._worker import (
    Outcome,
    check_machine,
    frame_kind,
    header_size,
    read_file,
    refuse_exposure,
    refuse_flat,
    refuse_for_memory,
    refuse_unreadable,
    take_row,
)

__all__ = [
    "EXTRAS",
    "Estimate",
    "Extraction",
    "ExtractionRun",
    "FrameCost",
    "Job",
    "Outcome",
    "Photos",
    "Stop",
    "VectorSettings",
    "added_job",
    "arguments",
    "check_apart",
    "check_machine",
    "doctor",
    "extract_photos",
    "failure",
    "frame_kind",
    "header_size",
    "ingest",
    "interrupted_before",
    "is_copy",
    "kept_scene",
    "measure_photos",
    "noise_in_common",
    "nothing_begun_yet",
    "nothing_left_to_finish",
    "numbered_moments",
    "open_vectors",
    "plan_extraction",
    "prepare",
    "products_per_second",
    "read_file",
    "refuse_exposure",
    "refuse_flat",
    "refuse_for_memory",
    "refuse_unreadable",
    "source",
    "stop_on_signals",
    "take_row",
    "transform_seconds",
    "words_per_second",
]
