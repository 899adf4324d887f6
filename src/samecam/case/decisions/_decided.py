"""What stands after the decisions: the machine's answer, and what persons made of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from samecam import notebook
from samecam.arrays import Labels, Rows
from samecam.case.decisions._decision import Decision, counted, in_force, read_decisions
from samecam.case.decisions._names import carry_names, labels_of_names, read_base
from samecam.case.decisions._standing import Standing, StandingCamera
from samecam.case.folder import CLUSTERS, DECIDED, CasePhoto, SavedCase, csv_text
from samecam.files import write_atomically

COLUMNS = ("path", "sha256", "camera", "cluster", "decision")


@dataclass(frozen=True, eq=False, repr=False)
class DecidedCamera:
    """A camera as it stands after the decisions.

    Attributes
    ----------
    name : that stays
    rows : numbers of its photos, sorted by path
    clusters : cameras of `clusters.csv` whose photos it holds, that with most first
    status : "ok", "check", "warning", or "" if nobody said
    confirmed : whether a person accepted all its photos
    named : whether a person gave the name
    notes : about it
    decisions : numbers of those in force that changed its members
    """

    name: str
    rows: Rows
    clusters: tuple[int, ...]
    status: str
    confirmed: bool
    named: bool
    notes: tuple[Decision, ...]
    decisions: tuple[int, ...]

    def __repr__(self) -> str:
        status = f", {self.status}" if self.status else ""
        confirmed = ", confirmed" if self.confirmed else ""
        photos = notebook.counted(self.size, "photo")
        return f"<DecidedCamera {self.name!r}: {photos}{status}{confirmed}>"

    @property
    def size(self) -> int:
        """How many photos."""
        return len(self.rows)


class Decided:
    """Where every used photo stands after the decisions.

    Attributes
    ----------
    photos : the used photos, in the order of `SavedCase.used`
    cameras : those with most photos first
    camera_of : (n,) number of each photo's camera in `cameras`; −1: none
    decision_of : (n,) number of the decision that put it there; 0: the machine did
    decisions : all of them
    in_force : numbers of those that count
    contradictions : decisions in force that could not be honoured
    void : numbers of decisions in force about photos that are not in the case
    stale : whether something was taken back since that the last run had honoured: what it did
        with that is set aside, and `samecam cluster` groups anew
    """

    def __init__(
        self,
        photos: list[CasePhoto],
        clusters: Labels,
        standing: Standing,
        decisions: Sequence[Decision],
        known: Mapping[int, tuple[StandingCamera, DecidedCamera]] | None = None,
        *,
        stale: bool,
    ) -> None:
        self.photos, self.decisions, self.stale = photos, list(decisions), stale
        self.in_force = in_force(decisions)
        self.contradictions = list(standing.contradictions)
        self.void = list(standing.void)
        self.decision_of: Labels = standing.decision.copy()
        order = sorted(
            standing.cameras,
            key=lambda k: (-len(standing.cameras[k].rows), int(standing.cameras[k].rows[0])),
        )
        self._clusters = clusters
        self.made: dict[int, tuple[StandingCamera, DecidedCamera]] = {}
        for key in order:
            camera = standing.cameras[key]
            before = (known or {}).get(key)
            if before is None or before[0] is not camera:
                before = camera, _decided_camera(camera, clusters)
            self.made[key] = before
        self.cameras = [self.made[key][1] for key in order]
        number = np.full(max(order, default=-1) + 2, -1, dtype=np.intp)
        number[order] = np.arange(len(order))
        self.camera_of: Labels = number[standing.camera]

    def __repr__(self) -> str:
        cameras = notebook.counted(len(self.cameras), "camera")
        return f"<Decided: {cameras} after {notebook.counted(len(self.decisions), 'decision')}>"

    def _repr_html_(self) -> str:
        """What a notebook shows: the cameras as they stand."""
        head = ("camera", "photos", "status", "confirmed", "found as")
        rows = [
            (
                c.name,
                c.size,
                c.status,
                "yes" if c.confirmed else "",
                ", ".join(map(str, c.clusters)),
            )
            for c in self.cameras
        ]
        notes = [found.words for found in self.contradictions]
        return notebook.table(repr(self)[1:-1], head, rows, notes=notes)

    @cached_property
    def names(self) -> dict[str, int]:
        """Numbers of the cameras by name."""
        return {camera.name: k for k, camera in enumerate(self.cameras)}

    @property
    def counts(self) -> bool:
        """Whether any decision counts."""
        return bool(counted(self.decisions))

    def name_of(self, photo: int) -> str:
        """Name of a photo's camera; "" if it has none."""
        camera = int(self.camera_of[photo])
        return self.cameras[camera].name if camera >= 0 else ""

    @cached_property
    def differs(self) -> list[int]:
        """Photos that stand elsewhere than the machine put them.

        A camera of the machine goes on in the camera that holds most of its photos.
        """
        shared = Counter(zip(self._clusters.tolist(), self.camera_of.tolist(), strict=True))
        home: dict[int, int] = {-1: -1}
        for (cluster, camera), _ in sorted(shared.items(), key=lambda item: (-item[1], item[0])):
            if cluster >= 0 and camera >= 0:
                home.setdefault(cluster, camera)
        most = Counter[int]()
        main: dict[int, int] = {}
        for (cluster, camera), count in shared.items():
            if cluster >= 0 and camera >= 0 and count > most[camera]:
                most[camera], main[camera] = count, cluster
        pairs = enumerate(zip(self._clusters.tolist(), self.camera_of.tolist(), strict=True))
        return [
            k
            for k, (cluster, camera) in pairs
            if home.get(cluster, -1) != camera or (camera >= 0 and main.get(camera) != cluster)
        ]

    def table(self) -> str:
        """Text of `decided.csv`."""
        rows = [
            [
                photo.path,
                photo.sha256,
                self.name_of(k) or None,
                photo.cluster,
                int(self.decision_of[k]) or None,
            ]
            for k, photo in enumerate(self.photos)
        ]
        return csv_text(COLUMNS, rows)


def _decided_camera(camera: StandingCamera, clusters: Labels) -> DecidedCamera:
    held = clusters[camera.rows]
    ranked = [(len(held), int(held[0]))]
    if (held != held[0]).any():
        values, sizes = np.unique(held, return_counts=True)
        pairs = zip((-sizes).tolist(), values.tolist(), strict=True)
        ranked = sorted(pairs)
    return DecidedCamera(
        camera.name,
        camera.rows,
        tuple(cluster for _, cluster in ranked if cluster >= 0),
        camera.status,
        camera.confirmed,
        bool(camera.given),
        tuple(camera.notes),
        tuple(sorted(camera.decisions)),
    )


def rows_by_hash(photos: Iterable[CasePhoto], used: Sequence[CasePhoto]) -> dict[str, int]:
    """Rows of used photos by SHA-256; what is a copy of one has its row."""
    by_path = {photo.path: k for k, photo in enumerate(used)}
    rows = {photo.sha256: k for k, photo in enumerate(used)}
    for photo in photos:
        if photo.original in by_path and photo.sha256:
            rows.setdefault(photo.sha256, by_path[photo.original])
    return rows


class Answered:
    """The answer of a case as decisions find it.

    Parameters
    ----------
    case : clustered

    Attributes
    ----------
    used : its used photos
    rows : their numbers by SHA-256
    base : what the last run left; None: cameras are named by their numbers
    """

    def __init__(self, case: SavedCase) -> None:
        self.used = case.used
        self.rows = rows_by_hash(case.photos, self.used)
        self.base = read_base(case.folder, case.info)
        self._machine = np.array([photo.cluster for photo in self.used], dtype=np.intp)
        self._current = self.base is not None and self.base.clusters == case.hashes[CLUSTERS]
        self._begun: dict[bool, Standing] = {}

    def is_stale(self, decisions: Sequence[Decision]) -> bool:
        """Whether something is taken back that the last run had honoured."""
        return self.base is not None and not self.base.honoured <= in_force(decisions)

    def stands(
        self, decisions: Sequence[Decision], last: Decided | None = None
    ) -> tuple[Standing, Decided]:
        """Where photos stand after decisions; `last`: what stood before, whose parts may serve."""
        stale = self.is_stale(decisions)
        if stale not in self._begun:
            self._begun[stale] = self._begin(stale=stale)
        standing = self._begun[stale].fresh()
        for decision in counted(decisions):
            standing.apply(decision)
        made = None if last is None else last.made
        return standing, Decided(self.used, self._machine, standing, decisions, made, stale=stale)

    def _begin(self, *, stale: bool) -> Standing:
        """Places before any decision, or those the last run left, if all it honoured counts."""
        base, machine = self.base, self._machine
        if base is not None and self._current and not stale:
            labels, names = labels_of_names([base.names.get(p.sha256, "") for p in self.used])
        else:
            had = ["" if base is None else base.machine.get(p.sha256, "") for p in self.used]
            labels, names = machine, carry_names(had, machine, 0 if base is None else base.next)
        return Standing(labels, names, self.rows)

    def goes_on(self, standing: Standing, decisions: Sequence[Decision], last: Decided) -> Decided:
        """The same after one more decision, which `standing` has taken in."""
        return Decided(self.used, self._machine, standing, decisions, last.made, stale=last.stale)


def read_decided(case: SavedCase) -> Decided:
    """What stands after the decisions of a clustered case.

    Examples
    --------
    >>> for camera in samecam.read_decided(samecam.open_case("CASE")).cameras:
    ...     print(camera.name, camera.size, camera.status)
    """
    return Answered(case).stands(read_decisions(case.folder))[1]


def write_decided(case: SavedCase) -> Decided:
    """Write `decided.csv` of a case that is held, if there are decisions; says what stands."""
    decided = read_decided(case)
    path = case.folder / DECIDED
    if decided.decisions:
        write_atomically(path, decided.table())
    return decided
