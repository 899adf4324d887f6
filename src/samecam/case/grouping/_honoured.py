"""Decisions honoured: grouping once more, with what persons said as constraints.

The machine's own answer stays as it is. Cameras that decisions are about stand as they stood before
this run; all other photos stand as the machine has them now. Photos of every frame that decisions
touch are then grouped again, those that a person put together in one group and those that a person
kept apart in none: new photos find a camera as it was decided. Decisions have the last word.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from samecam import compute, correlate
from samecam.arrays import Labels, Mask, Rows
from samecam.case.decisions import MEMBERSHIP, Decision, Standing, labels_of_names
from samecam.case.folder import ClusteringSettings, by_frame
from samecam.case.grouping._method import among, group_photos
from samecam.frames import Frame
from samecam.register import Cameras
from samecam.store import DiskStore, Record

PHASE = "Honouring decisions"
# Standard deviations of chance from which parts that a person put together share a fingerprint.
_AGREE = 3.0
# Photos of a part that are looked at for that.
_MOST = 200


@dataclass(frozen=True, slots=True)
class Machine:
    """The machine's own answer, and what decisions need to know of it.

    Attributes
    ----------
    store : fingerprints
    photos : the used ones
    cameras : theirs
    details : what was said of how they were formed
    """

    store: DiskStore
    photos: Sequence[Record]
    cameras: Cameras
    details: Mapping[str, Any]


def rows_of_hashes(machine: Machine) -> dict[str, int]:
    """Numbers of the used photos by SHA-256; a copy has that of its original."""
    rows = {photo.sha256: k for k, photo in enumerate(machine.photos)}
    paths = {photo.key: k for k, photo in enumerate(machine.photos)}
    for record in machine.store.records():
        original = record.meta.get("copy_of")
        if original in paths:
            rows.setdefault(record.sha256, paths[original])
    return rows


def honoured(
    machine: Machine,
    before: Sequence[str],
    decisions: Sequence[Decision],
    clustering: ClusteringSettings,
    resources: compute.Resources,
    progress: compute.Progress,
) -> Labels:
    """Cameras of the photos that honour decisions; −1: none.

    Parameters
    ----------
    before : (n,) names of the cameras as they stood before this run, decisions counted; "": none
    decisions : that count
    clustering : how photos are grouped; only the default method is asked again
    """
    rows = rows_of_hashes(machine)
    stood = Standing(*labels_of_names(before), rows)
    about = [d for d in decisions if d.kind in MEMBERSHIP]
    wishes = _Wishes(machine, stood, about)
    begun = _begun(machine, stood, wishes)
    if not wishes.touched.any():
        return begun
    progress(PHASE, 0, 1)
    groups = machine.cameras.groups
    if clustering.name == "consolidated":
        groups = _regrouped(machine, begun, wishes, clustering, resources)
    labels = _cameras_of_groups(machine, begun, wishes, groups)
    standing = Standing(labels, [str(k) for k in range(int(labels.max(initial=-1)) + 1)], rows)
    for decision in about:
        standing.keep(decision)
    progress(PHASE, 1, 1)
    return standing.camera


class _Wishes:
    """What decisions ask of grouping.

    Attributes
    ----------
    touched : (n,) photos that decisions name, and those of their cameras
    pinned : (n,) photos that stay where they are
    sent : (n,) those that a person sent there: it says nothing of photos that they are alike
    together : (n,) parts whose photos stay in one group; −1: free
    apart : photos, and others whose group they may not be in
    cameras : (n,) where touched photos stood
    """

    def __init__(self, machine: Machine, stood: Standing, decisions: Sequence[Decision]) -> None:
        n = len(machine.photos)
        named: Mask = np.zeros(n, dtype=bool)
        self.pinned: Mask = np.zeros(n, dtype=bool)
        self.sent: Mask = np.zeros(n, dtype=bool)
        self.apart: list[tuple[Rows, Rows]] = []
        for decision in decisions:
            photos, others = stood.rows(decision.photos), stood.rows(decision.others)
            named[photos] = named[others] = True
            self.sent[photos] |= decision.sends_photos
            if decision.kind != "reject":
                self.pinned[photos] = self.pinned[others] = True
            if decision.kind in ("reject", "different", "split"):
                self.apart.append((photos, others))
            if decision.kind in ("different", "split"):
                self.apart.append((others, photos))
        self.cameras = stood.camera
        inside = np.unique(self.cameras[named & (self.cameras >= 0)])
        self.touched: Mask = named | np.isin(self.cameras, inside)
        self.pinned &= self.cameras >= 0
        self.together = self._parts(machine)

    def _parts(self, machine: Machine) -> Labels:
        """Pinned photos of one camera and frame by parts that share a fingerprint."""
        together, count = np.full(len(self.pinned), -1, dtype=np.intp), 0
        for frame, at in by_frame(machine.photos).items():
            held = at[self.pinned[at]]
            for camera in np.unique(self.cameras[held]):
                rows = held[self.cameras[held] == camera]
                parts = _agreeing_parts(machine, frame, at, rows)
                together[rows] = parts + count
                count += int(parts.max(initial=-1)) + 1
        return together


def _begun(machine: Machine, stood: Standing, wishes: _Wishes) -> Labels:
    """Cameras to begin with: touched photos as they stood, others as the machine has them.

    Others that the machine puts with touched ones are free: −1; but not with those that a person
    sent elsewhere.
    """
    labels, touched = machine.cameras.labels, wishes.touched
    shared = np.isin(labels, np.unique(labels[touched & ~wishes.sent & (labels >= 0)]))
    first = int(stood.camera.max(initial=-1)) + 1
    own = np.where((labels >= 0) & ~shared, labels + first, -1)
    return np.where(touched, stood.camera, own).astype(np.intp)


def _agreeing_parts(machine: Machine, frame: Frame, at: Rows, rows: Rows) -> Labels:
    """Parts of the photos of a camera: the machine's groups, joined where they agree.

    A camera that a person put together may be seen in several ways, whose photos have nothing in
    common pixel by pixel: these stay groups of their own.
    """
    group = machine.cameras.groups[rows]
    alone = len(machine.photos) + np.arange(len(rows))
    units = np.unique(np.where(group >= 0, group, alone), return_inverse=True)[1].astype(np.intp)
    count = int(units.max(initial=-1)) + 1
    if count < 2:
        return units
    some = np.concatenate([np.flatnonzero(units == k)[:_MOST] for k in range(count)])
    store = machine.store.rows(frame)
    gram = correlate.gram(store, rows=np.searchsorted(at, rows[some]))
    store.close()
    facts = machine.details.get("frames", {}).get(frame.name, {})
    scale = facts.get("null_scale") or correlate.usual_scale(frame.n_pixels)
    member = np.eye(count)[units[some]]
    sums, sizes = member.T @ gram @ member, member.sum(axis=0)
    scores = sums / (scale * np.sqrt(np.outer(sizes, sizes)))
    root = np.arange(count)
    for a, b in sorted(zip(*np.nonzero(np.triu(scores > _AGREE, 1)), strict=True)):
        root[root == root[b]] = root[a]
    return np.unique(root[units], return_inverse=True)[1].astype(np.intp)


def _regrouped(
    machine: Machine,
    begun: Labels,
    wishes: _Wishes,
    clustering: ClusteringSettings,
    resources: compute.Resources,
) -> Labels:
    """Groups of the photos; of frames that no decision touches as they were."""
    from samecam.cluster import Constraints

    groups = machine.cameras.groups
    frames = {f: at for f, at in by_frame(machine.photos).items() if wishes.touched[at].any()}
    chosen = np.sort(np.concatenate(list(frames.values())))
    pairs = np.unique(np.stack([groups, begun]), axis=1, return_inverse=True)[1].ravel()
    start = np.where((groups >= 0) & (begun >= 0), pairs, -1).astype(np.intp)
    constraints = among(Constraints(wishes.together, tuple(wishes.apart)), chosen)
    new, _ = group_photos(
        machine.store,
        [machine.photos[k] for k in chosen.tolist()],
        clustering,
        resources,
        compute.no_progress,
        start=start[chosen],
        constraints=constraints,
        total=len(machine.photos),
    )
    result = groups.copy()
    result[chosen] = np.where(new >= 0, new + len(groups), -1)
    return result


def _cameras_of_groups(machine: Machine, begun: Labels, wishes: _Wishes, groups: Labels) -> Labels:
    """Cameras of the photos: of a group that of most of its pinned photos, or of all it has.

    Where a person sent photos to does not count, unless the group has no others. A photo in no
    group keeps its camera if it is pinned, or if the machine sees it there too: in a way of its
    own, or in a frame that was not grouped again.
    """
    from samecam.cluster import numbered

    machines = machine.cameras.labels
    labels = np.where(wishes.pinned | (wishes.touched & (machines >= 0)), begun, -1)
    told = np.where(wishes.sent, -1, begun).astype(np.intp)
    by_view = (machine.cameras.groups < 0) & (machines >= 0) & ~wishes.touched
    for row in np.flatnonzero(by_view):
        labels[row] = _home(told, np.array([row]), machines)
    for group in np.unique(groups[groups >= 0]):
        members = np.flatnonzero(groups == group)
        pinned = members[wishes.pinned[members]]
        telling = pinned[~wishes.sent[pinned]]
        home = _home(told, telling if len(telling) else members, machines)
        if home < 0:
            home = _home(begun, members, machines)
        labels[members] = begun.max(initial=-1) + 1 + group if home < 0 else home
        labels[pinned] = begun[pinned]
    return numbered(labels)


def _home(begun: Labels, members: Rows, machines: Labels) -> int:
    """The camera of most photos, or −1; of free ones that of what the machine has them with."""
    inside = begun[members][begun[members] >= 0]
    if not len(inside):
        own = np.unique(machines[members][machines[members] >= 0])
        inside = begun[np.isin(machines, own)]
        inside = inside[inside >= 0]
    return int(np.bincount(inside).argmax()) if len(inside) else -1
