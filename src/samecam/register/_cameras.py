"""Cameras: groups of photos, and photos alone, that see one sensor in several ways."""

from dataclasses import dataclass, field

from samecam.arrays import Labels
from samecam.register._view import View


@dataclass(frozen=True)
class Cameras:
    """Which photos are of which camera, and how each sees it.

    Attributes
    ----------
    labels : camera of each photo, from 0; −1: none
    groups : group of each photo, from 0; −1: in no group. Photos of a group are of one camera.
    views : of each group, in the frame of its camera's first group, whose own view is View()
    alone : of each photo that is in no group and was placed at a camera, by the photo's number
    first : of each camera the group in whose frame all are seen, the one that sees most of it
    searched : groups and photos that were compared, and at how many places
    """

    labels: Labels
    groups: Labels
    views: tuple[View, ...]
    first: tuple[int, ...]
    alone: dict[int, View] = field(default_factory=dict)
    searched: dict[str, int] = field(default_factory=dict)
