"""
Correlations
============

How alike are the noise patterns of every two photos? Groups are squares on the diagonal. A camera
has two of them where it was zoomed: its pattern then lies on other pixels.
"""

import samecam

figure = samecam.plots.correlations("../../build/gallery/case")
