"""Groups to evidence: how sure each link is, measured on the collection itself."""

from samecam.evidence._comparisons import (
    Comparisons,
    comparisons_from_gram,
    comparisons_from_rows,
    fingerprint_quality,
    intra_correlations,
)
from samecam.evidence._copies import (
    Alike,
    alike_pictures,
    common_look,
    common_noise,
    picture_hashes,
    seen,
)
from samecam.evidence._exif import exif_warnings, one_model_note, view_warnings
from samecam.evidence._frame_pce import frame_pce, shifts
from samecam.evidence._frames import compare_frames, local_groups
from samecam.evidence._groups import GroupEvidence, PairEvidence, group_evidence, pair_evidence
from samecam.evidence._null import Null, false_alarm, measured_null, measured_nulls
from samecam.evidence._pce import least_memory, pce, photo_pce
from samecam.evidence._photos import PhotoEvidence, joined_evidence, photo_evidence
from samecam.evidence._places import place_scores
from samecam.evidence._scenes import scenes, still_scenes
from samecam.evidence._text import (
    ABSENCE,
    MODEL,
    SENSOR,
    apart_sentence,
    base_rate_sentence,
    joined_sentence,
    null_sentence,
    photo_sentence,
    rate_text,
    still_sentence,
    view_sentence,
)

__all__ = [
    "ABSENCE",
    "MODEL",
    "SENSOR",
    "Alike",
    "Comparisons",
    "GroupEvidence",
    "Null",
    "PairEvidence",
    "PhotoEvidence",
    "alike_pictures",
    "apart_sentence",
    "base_rate_sentence",
    "common_look",
    "common_noise",
    "compare_frames",
    "comparisons_from_gram",
    "comparisons_from_rows",
    "exif_warnings",
    "false_alarm",
    "fingerprint_quality",
    "frame_pce",
    "group_evidence",
    "intra_correlations",
    "joined_evidence",
    "joined_sentence",
    "least_memory",
    "local_groups",
    "measured_null",
    "measured_nulls",
    "null_sentence",
    "one_model_note",
    "pair_evidence",
    "pce",
    "photo_evidence",
    "photo_pce",
    "photo_sentence",
    "picture_hashes",
    "place_scores",
    "rate_text",
    "scenes",
    "seen",
    "shifts",
    "still_scenes",
    "still_sentence",
    "view_sentence",
    "view_warnings",
]
