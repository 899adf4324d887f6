"""Fingerprints to correlations: Gram matrix, groups, and the scale of chance."""

from samecam.correlate._cpu import cross, gram_memory, normalised
from samecam.correlate._crosses import crosses
from samecam.correlate._gram import gram, gram_on, gram_to, rows_on
from samecam.correlate._group_sums import (
    centroid_correlations,
    centroids,
    gram_products,
    group_products,
    group_sums,
    other_group_products,
    other_products,
    row_products,
    squared_norms,
    sum_strips,
)
from samecam.correlate._halves import SIDE as HALF_TILE
from samecam.correlate._halves import HalfTiles, half_tiles, picture_tiles
from samecam.correlate._kept import KeptGram, KeptGrams
from samecam.correlate._matrix import DoubleMatrix
from samecam.correlate._membership import Membership, checked_labels, whole_weights
from samecam.correlate._null import null_scale, photo_scales, usual_scale
from samecam.correlate._photo_sums import LEAST_MEMORY, PhotoSums, photo_sums
from samecam.correlate._shifted import RowSum, shifted_correlations, shifted_products, sum_rows
from samecam.correlate._strips import DEFAULT_MEMORY, Source, are_bits, pixels
from samecam.correlate._tiles import Tiles, group_tiles

__all__ = [
    "DEFAULT_MEMORY",
    "HALF_TILE",
    "LEAST_MEMORY",
    "DoubleMatrix",
    "HalfTiles",
    "KeptGram",
    "KeptGrams",
    "Membership",
    "PhotoSums",
    "RowSum",
    "Source",
    "Tiles",
    "are_bits",
    "centroid_correlations",
    "centroids",
    "checked_labels",
    "cross",
    "crosses",
    "gram",
    "gram_memory",
    "gram_on",
    "gram_products",
    "gram_to",
    "group_products",
    "group_sums",
    "group_tiles",
    "half_tiles",
    "normalised",
    "null_scale",
    "other_group_products",
    "other_products",
    "photo_scales",
    "photo_sums",
    "picture_tiles",
    "pixels",
    "row_products",
    "rows_on",
    "shifted_correlations",
    "shifted_products",
    "squared_norms",
    "sum_rows",
    "sum_strips",
    "usual_scale",
    "whole_weights",
]
