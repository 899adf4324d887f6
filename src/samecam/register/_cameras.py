"""Cameras: groups of photos, and photos alone, that see one sensor in several ways."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from samecam.arrays import Labels
from samecam.frames import Frame
from samecam.register._links import Link
from samecam.register._view import View, centre

# Pixels at the corners by which two ways to the same place may differ.
_AGREE = 6.0
# Share of the widest view that counts as as wide.
_AS_WIDE = 0.95


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
    searched : pairs that were compared, places, and links that contradicted stronger ones
    """

    labels: Labels
    groups: Labels
    views: tuple[View, ...]
    first: tuple[int, ...]
    alone: dict[int, View] = field(default_factory=dict)
    searched: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Camera:
    """Groups that see one sensor: the first, and how each sees its frame."""

    first: int
    views: dict[int, View]


def cameras_of(
    frames: Mapping[int, Frame], photos: Mapping[int, int], links: Sequence[Link]
) -> tuple[list[Camera], int]:
    """Cameras out of groups and links: the strongest links that make no loop.

    Links that close a loop must agree with the way through stronger ones; those that do not are
    dropped and counted: in its loop each of them is the weakest.

    Parameters
    ----------
    frames, photos : frame and number of photos of every group
    links : between groups

    Returns
    -------
    cameras, in the order of their smallest group, and links that contradicted
    """
    views = {group: {group: View()} for group in frames}  # of all groups of a camera, from one
    root = {group: group for group in frames}
    dropped = 0
    for link in sorted(links, key=lambda link: (-(link.view.score or 0), link[:2])):
        a, b = root[link.camera], root[link.picture]
        way = views[a][link.camera].then(link.view, frames[link.camera], frames[a])
        if a == b:
            dropped += not agree(way, views[a][link.picture], frames[link.picture], frames[a])
            continue
        back = views[b][link.picture].inverse(frames[link.picture], frames[b])
        to_root = way.then(back, frames[link.picture], frames[a])
        for group, view in views.pop(b).items():
            joined = to_root.then(view, frames[b], frames[a])
            score = link.view if view.score is None or group == b else view
            views[a][group] = judged_as(joined, score)
            root[group] = a
    return [_seen_from_widest(some, frames, photos) for some in views.values()], dropped


def judged_as(view: View, other: View) -> View:
    """A view, with what speaks for another."""
    return replace(view, score=other.score, rate=other.rate, share=other.share, area=other.area)


def agree(view: View, other: View, picture: Frame, camera: Frame) -> bool:
    """Whether two views show the middle of a frame at the same place, but for some pixels."""
    half = centre(camera)
    points = half + np.array([[x, y] for x in (-0.4, 0, 0.4) for y in (-0.4, 0, 0.4)]) * half
    places = [some.seen(points, picture, camera) for some in (view, other)]
    return bool(np.abs(places[0] - places[1]).max() <= _AGREE * max(view.scale, 1.0))


def _seen_from_widest(
    views: dict[int, View], frames: Mapping[int, Frame], photos: Mapping[int, int]
) -> Camera:
    """The camera, seen from the group that sees most of the sensor, and that in most pixels."""
    seen = {g: frames[g].n_pixels / view.scale**2 for g, view in views.items()}
    wide = [g for g in views if seen[g] >= _AS_WIDE * max(seen.values())]
    first = max(wide, key=lambda g: (frames[g].n_pixels, photos[g], -g))
    base = next(g for g, view in views.items() if view == View())
    back = views[first].inverse(frames[first], frames[base])
    turned = {
        g: judged_as(back.then(view, frames[base], frames[first]), view)
        for g, view in views.items()
    }
    if first != base:  # what speaks for the first group speaks for the one it is linked to
        turned[base] = judged_as(turned[base], views[first])
    turned[first] = View()
    return Camera(first, turned)
