"""
Methods
=======

How do methods fare on photos whose cameras are known? Here on squares of 400 pixels by five
cameras. See :doc:`/comparing`.
"""

import samecam

compared = samecam.compare_methods(
    "../../build/gallery/squares",
    ["consolidated", "ls-ssc", "ssc-nc"],
    truth="../../build/gallery/collection/truth.csv",
)
figure = samecam.plots.comparison(compared)
