"""Attraction: photos left over go to the group that they are like, if they are."""

import numpy as np

from samecam.arrays import AnyFloats, Doubles, Labels


def attract(
    products: Doubles, squares: Doubles, size: Doubles, gram: AnyFloats, least: float
) -> Labels:
    """Group of each photo left over, −1 for none.

    The photo and the group of the highest correlation ρ(x_u, s_c) are taken first, if it
    is above `least` (Q⁻¹(P_FA)·σ₀). The group's fingerprint then takes the photo in while
    it has at most 50 members.

    Parameters
    ----------
    products : (U, L) x_u·s_c of photos and sums of the groups
    squares, size : (L,) ‖s_c‖² and members
    gram : (U, U) correlations of the photos left over
    """
    from samecam.cluster.large_scale._kernels import attract_photos

    if 0 in products.shape:
        return np.full(len(products), -1, dtype=np.intp)
    return attract_photos(
        np.array(products, dtype=np.float64),
        np.array(squares, dtype=np.float64),
        np.array(size, dtype=np.float64),
        np.asarray(gram),
        least,
    )
