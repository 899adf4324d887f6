"""What every process that tests fork has loaded before: what a worker needs, with its kernels.

A server that begins with less makes each worker of each pool load and link it anew, a second
or two every time.
"""

import samecam._preload  # noqa: F401
from samecam.cluster import LargeScaleSSC
from samecam.simulate import fingerprints

LargeScaleSSC().fit(fingerprints([6, 6], 0.2, 256)[0])
