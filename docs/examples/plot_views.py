"""
Views
=====

Which part of its sensor did a camera use? Frames of its groups and photos, in pixels of its full
frame; the mark is the top left corner. See :doc:`/views`.
"""

import samecam

figure = samecam.plots.views("../../build/gallery/case", camera=0)
