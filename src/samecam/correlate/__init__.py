"""Fingerprints to correlations: Gram matrix, groups, and the scale of chance."""

from samecam.correlate._cpu import cross, normalised
from samecam.correlate._gram import gram, gram_on, gram_to, rows_on, strips_on
from samecam.correlate._groups import centroid_correlations, centroids, group_sums
from samecam.correlate._matrix import DoubleMatrix
from samecam.correlate._membership import Membership, checked_labels
from samecam.correlate._null import null_scale, photo_scales, usual_scale
from samecam.correlate._photo_sums import PhotoSums, photo_sums
from samecam.correlate._strips import DEFAULT_MEMORY, Source, pixels, strip_width, strips

__all__ = [
    "DEFAULT_MEMORY",
    "DoubleMatrix",
    "Membership",
    "PhotoSums",
    "Source",
    "centroid_correlations",
    "centroids",
    "checked_labels",
    "cross",
    "gram",
    "gram_on",
    "gram_to",
    "group_sums",
    "normalised",
    "null_scale",
    "photo_scales",
    "photo_sums",
    "pixels",
    "rows_on",
    "strip_width",
    "strips",
    "strips_on",
    "usual_scale",
]
