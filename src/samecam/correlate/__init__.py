"""Fingerprints to correlations: Gram matrix, groups, and the scale of chance."""

from samecam.correlate._cpu import DEFAULT_MEMORY, Source, cross, normalised, parts
from samecam.correlate._gram import gram, gram_on, gram_to, rows_on, strips_on
from samecam.correlate._groups import (
    centroid_correlations,
    centroid_correlations_from_rows,
    centroids,
    group_sums,
    left_out,
)
from samecam.correlate._null import null_scale, photo_scales, usual_scale

__all__ = [
    "DEFAULT_MEMORY",
    "Source",
    "centroid_correlations",
    "centroid_correlations_from_rows",
    "centroids",
    "cross",
    "gram",
    "gram_on",
    "gram_to",
    "group_sums",
    "left_out",
    "normalised",
    "null_scale",
    "parts",
    "photo_scales",
    "rows_on",
    "strips_on",
    "usual_scale",
]
