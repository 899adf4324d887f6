"""Hierarchical clustering with a silhouette stop (Caldelli 2010; García Villalba 2015)."""

import numpy as np

from samecam.arrays import Gram, Labels
from samecam.cluster.rivals._base import Rival
from samecam.cluster.rivals._silhouette import average_linkage, cut_after, silhouettes


class Hierarchical(Rival):
    """Average linkage on correlations, cut where the mean silhouette is smallest.

    Caldelli, Amerini, Picchioni, Innocenti, "Fast image clustering of unknown source
    images", 2010; García Villalba and others, "Smartphone image clustering", 2015. With a_i
    the mean correlation of a photo with its own group and b_i that with the nearest other
    one, s_i = b_i − a_i is averaged over all photos after every merge.

    Not published, and chosen: the print takes the *least* b_i over the other groups; as
    everywhere else we take the nearest, that is the largest. A photo alone has s_i = 0
    (left out, the very first merge would be best). With one group b_i = 0, so that one camera
    can be found.

    Parameters
    ----------
    metric, memory, n_pixels : as for `Rival`

    Attributes
    ----------
    silhouettes_ : mean silhouette after 0, 1, … n − 1 merges; not there for a single photo
    """

    def _group(self, gram: Gram) -> Labels:
        tree = average_linkage(gram)
        self.silhouettes_ = silhouettes(gram, tree)
        return cut_after(tree, int(np.argmin(self.silhouettes_)))
