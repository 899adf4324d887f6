"""Decisions honoured: grouping once more, with what persons said as constraints.

The machine's own answer stays as it is. From it, decisions make places to begin with; photos of
every frame that decisions touch are grouped again, those that a person put together in one group
and those that a person kept apart in none, so that new photos find a camera as it was decided;
and decisions have the last word.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from samecam import compute, correlate
from samecam.arrays import Labels, Mask, Rows
from samecam.case.decisions import MEMBERSHIP, Decision, Standing, carry_names
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
    names: Sequence[str],
    following: int,
    decisions: Sequence[Decision],
    clustering: ClusteringSettings,
    resources: compute.Resources,
    progress: compute.Progress,
) -> Standing:
    """Where photos stand after decisions that grouping honours.

    Parameters
    ----------
    names : of the machine's cameras
    following : number of the next camera that has no name yet
    decisions : that count
    clustering : how photos are grouped; only the default method is asked again
    """
    rows = rows_of_hashes(machine)
    begun = _standing(machine.cameras.labels, names, rows, decisions)
    about = [d for d in decisions if d.kind in MEMBERSHIP and not _set_aside(begun, d)]
    if clustering.name != "consolidated" or not about:
        return begun
    wishes = _Wishes(machine, begun, about)
    if not wishes.touched.any():
        return begun
    progress(PHASE, 0, 1)
    groups = _regrouped(machine, begun, wishes, clustering, resources)
    labels = _cameras_of_groups(machine, begun, wishes, groups)
    before = [begun.cameras[k].own if k >= 0 else "" for k in begun.camera.tolist()]
    progress(PHASE, 1, 1)
    return _standing(labels, carry_names(before, labels, following), rows, decisions)


def _standing(
    labels: Labels, names: Sequence[str], rows: Mapping[str, int], decisions: Sequence[Decision]
) -> Standing:
    standing = Standing(labels, names, rows)
    for decision in decisions:
        standing.apply(decision)
    return standing


def _set_aside(standing: Standing, decision: Decision) -> bool:
    listed = {found.decision for found in standing.contradictions}
    return decision.number in listed or decision.number in standing.void


class _Wishes:
    """What decisions ask of grouping.

    Attributes
    ----------
    touched : (n,) photos that decisions name
    together : (n,) parts whose photos stay in one group; −1: free
    apart : photos, and others whose group they may not be in
    """

    def __init__(self, machine: Machine, begun: Standing, decisions: Sequence[Decision]) -> None:
        n = len(machine.photos)
        self.touched: Mask = np.zeros(n, dtype=bool)
        self.apart: list[tuple[Rows, Rows]] = []
        pinned: Mask = np.zeros(n, dtype=bool)
        for decision in decisions:
            photos, others = begun.rows(decision.photos), begun.rows(decision.others)
            self.touched[photos] = self.touched[others] = True
            if decision.kind in ("same", "merge", "move", "confirm", "split"):
                pinned[photos] = True
            if decision.kind in ("same", "merge", "move"):
                pinned[others] = True
            if decision.kind in ("reject", "different", "split"):
                self.apart.append((photos, others))
            if decision.kind in ("different", "split"):
                self.apart.append((others, photos))
        pinned &= begun.camera >= 0
        self.together = self._parts(machine, begun, pinned)

    def _parts(self, machine: Machine, begun: Standing, pinned: Mask) -> Labels:
        """Pinned photos of one camera and frame by parts that share a fingerprint."""
        together, count = np.full(len(pinned), -1, dtype=np.intp), 0
        for frame, at in by_frame(machine.photos).items():
            held = at[pinned[at]]
            for camera in np.unique(begun.camera[held]):
                rows = held[begun.camera[held] == camera]
                parts = _agreeing_parts(machine, frame, at, rows)
                together[rows] = parts + count
                count += int(parts.max(initial=-1)) + 1
        return together


def _agreeing_parts(machine: Machine, frame: Frame, at: Rows, rows: Rows) -> Labels:
    """Parts of the photos of a camera: the machine's groups, joined where they agree.

    A camera that a person put together may be seen in several ways, whose photos have nothing in
    common pixel by pixel: these stay groups of their own.
    """
    group = machine.cameras.groups[rows]
    units = np.unique(
        np.where(group >= 0, group, len(machine.photos) + np.arange(len(rows))), return_inverse=True
    )[1].astype(np.intp)
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
    begun: Standing,
    wishes: _Wishes,
    clustering: ClusteringSettings,
    resources: compute.Resources,
) -> Labels:
    """Groups of the photos; of frames that no decision touches as they were."""
    from samecam.cluster import Constraints

    groups = machine.cameras.groups
    frames = {f: at for f, at in by_frame(machine.photos).items() if wishes.touched[at].any()}
    chosen = np.sort(np.concatenate(list(frames.values())))
    cameras = begun.camera
    kept = (groups >= 0) & (cameras >= 0)
    pairs = np.unique(np.stack([groups, cameras]), axis=1, return_inverse=True)[1].ravel()
    start = np.where(kept, pairs, -1).astype(np.intp)
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


def _cameras_of_groups(
    machine: Machine, begun: Standing, wishes: _Wishes, groups: Labels
) -> Labels:
    """Cameras of the photos: of a group that of most of its photos.

    A photo in no group keeps the camera that it sees in a way of its own, or that a person gave it.
    """
    from samecam.cluster import numbered

    cameras = begun.camera
    by_view = (machine.cameras.groups < 0) & (machine.cameras.labels >= 0)
    labels = np.where(by_view | (begun.decision > 0) | (wishes.together >= 0), cameras, -1)
    following = int(cameras.max(initial=-1)) + 1
    for group in np.unique(groups[groups >= 0]):
        members = np.flatnonzero(groups == group)
        home = begun.home(members)
        if home < 0:
            home, following = following, following + 1
        labels[members] = home
    return numbered(labels)
