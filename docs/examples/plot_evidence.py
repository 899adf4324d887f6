"""
Evidence
========

How sure is the place of each photo? A blue mark right of the gray band is where photos by other
cameras hardly ever come; hollow ones are doubtful. See :doc:`/calibration`.
"""

import samecam

figure = samecam.plots.evidence("../../build/gallery/case")
