"""A search for cameras that knows what there is: for tests of what is made of its answer."""

import numpy as np

from samecam.register import Cameras, View

# The group of camera b sees that of camera a at 2× zoom, and a photo by x is a cut of it.
ZOOM = View(
    scale=1.9961234,
    radial=0.0123456,
    shift=(0.123, -1.456),
    score=45.6321,
    rate=1.234e-9,
    share=0.9312,
    area=1920,
)
CUT = View(turn=90, shift=(3.0, 40.0), score=9.87, rate=0.0021, share=0.71, area=5000)
SEARCHED = {"groups": 6, "alone": 3, "places": 12345}


def join_groups(one, other, view=ZOOM):
    """A search that joins two groups, by their numbers."""

    def find(frames, **_):
        groups = np.full(sum(len(each.photos) for each in frames), -1)
        for each in frames:
            groups[each.photos] = each.groups
        labels, views = groups.copy(), [View()] * (groups.max() + 1)
        labels[groups == other], views[other] = one, view
        known = sorted(set(labels.tolist()) - {-1})
        labels = np.array([known.index(k) if k >= 0 else -1 for k in labels.tolist()])
        return Cameras(labels, groups, tuple(views), tuple(known))

    return find


class Search:
    """Joins the groups of the cameras `one` and `other` of a pile, and places the photo `single`.

    Attributes
    ----------
    calls : what it was asked for, call by call
    """

    def __init__(self, pile, one="a", other="b", single="x"):
        self._pile, self._joined, self._single = pile, (one, other), single
        self.calls = []

    def __call__(self, frames, *, search, resources, progress):  # noqa: ARG002
        """As `samecam.register.find_cameras`."""
        self.calls.append((search, {each.frame.name: each.zoom.copy() for each in frames}))
        n = sum(len(each.photos) for each in frames)
        groups, cameras = np.full(n, -1), [""] * n
        for each in frames:
            groups[each.photos] = each.groups
            for k, key in zip(each.photos.tolist(), each.rows.keys, strict=True):
                cameras[k] = self._pile.camera[key.rpartition("/")[2]]
        labels, views = groups.copy(), [View()] * (groups.max() + 1)
        numbers = {camera: groups[cameras.index(camera)] for camera in self._joined}
        first, second = numbers.values()
        labels[groups == second], views[second] = first, ZOOM
        single = cameras.index(self._single)
        labels[single] = first
        known = sorted(set(labels.tolist()) - {-1})
        labels = np.array([known.index(k) if k >= 0 else -1 for k in labels.tolist()])
        progress(n, n)
        return Cameras(labels, groups, tuple(views), tuple(known), {single: CUT}, SEARCHED)
