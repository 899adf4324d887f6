"""The Daubechies wavelet of length 8 ("db4"): filters of analysis, float32."""

import numpy as np

LOW = np.array(
    [
        -0.010597401784997278,
        0.032883011666982945,
        0.030841381835986965,
        -0.18703481171888114,
        -0.02798376941698385,
        0.6308807679295904,
        0.7148465705525415,
        0.23037781330885523,
    ]
).astype(np.float32)
# g[j] = (−1)^(j+1) h[7−j]; the filters of synthesis are these reversed.
HIGH = np.where(np.arange(8) % 2, LOW[::-1], -LOW[::-1])

LEVELS = 4

# Over how many grids of the wavelets residuals of whole frames are averaged, and may be.
SPINS, MOST_SPINS = 2, 8

# The period of JPEG's block grid: 8 for luma, 16 where chroma is subsampled.
PHASE = 16
