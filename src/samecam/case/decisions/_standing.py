"""Who stands where while decisions are taken in, one after the other.

Each decision is a demand, and a later one may not break an earlier one. Two are about cameras:

- *one*: the camera that holds most of `photos` is the camera that holds most of `others`
- *apart*: it is another one

and two about photos:

- *inside*: every one of `photos` is in the camera that holds most of `others`
- *outside*: none of `photos` is
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from samecam.arrays import Labels, Rows
from samecam.case.decisions._decision import MEMBERSHIP, Decision

# Decisions that can be taken back without going through all of them.
_KEPT = 32


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A decision in force that an earlier one forbids; it is set aside until one is taken back.

    Attributes
    ----------
    decision : its number
    against : number of the earlier one; 0: it is the photos themselves that it cannot be done with
    words : the same in a sentence
    """

    decision: int
    against: int
    words: str


@dataclass(frozen=True, slots=True)
class Demand:
    """What a decision asks of the places of photos, by their rows."""

    kind: Literal["one", "apart", "inside", "outside"]
    photos: Rows
    others: Rows
    number: int


@dataclass(slots=True)
class StandingCamera:
    """A camera as it stands: its photos, its names, and what was said of it.

    Attributes
    ----------
    own : the name it has by itself
    rows : its photos, sorted
    naming, marking : the decisions that gave it a name and a status; None: there is none
    accepted : photos that a person confirmed to be its own
    """

    own: str
    rows: Rows
    naming: Decision | None = None
    marking: Decision | None = None
    accepted: Rows = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    notes: list[Decision] = field(default_factory=list)
    decisions: set[int] = field(default_factory=set)

    @property
    def given(self) -> str:
        """The name a person gave it; "" if none."""
        return "" if self.naming is None else self.naming.camera

    @property
    def status(self) -> str:
        """What a person said of it; "" if nobody did."""
        return "" if self.marking is None else self.marking.status

    @property
    def name(self) -> str:
        """The name it goes by."""
        return self.given or self.own

    @property
    def confirmed(self) -> bool:
        """Whether all its photos were."""
        return len(self.accepted) > 0 and bool(np.isin(self.rows, self.accepted).all())

    def copy(self) -> "StandingCamera":
        """The same, to be changed."""
        return StandingCamera(
            self.own,
            self.rows,
            self.naming,
            self.marking,
            self.accepted,
            list(self.notes),
            set(self.decisions),
        )


class _Saved(NamedTuple):
    """Places that can be gone back to."""

    camera: Labels
    decision: Labels
    cameras: dict[int, StandingCamera]
    following: int
    contradictions: int
    void: int


class Standing:
    """Places of photos, to which decisions are applied in their order.

    Parameters
    ----------
    cameras : (n,) camera of each photo to begin with, −1 for none
    names : of these cameras
    rows : of each photo by SHA-256

    Attributes
    ----------
    camera : (n,) key of each photo's camera in `cameras`; −1: none
    decision : (n,) number of the decision that moved it last; 0: none did
    contradictions : decisions that were set aside
    void : numbers of decisions about photos that are not there
    """

    def __init__(self, cameras: Labels, names: Sequence[str], rows: Mapping[str, int]) -> None:
        self.camera = np.array(cameras, dtype=np.intp)
        self.decision = np.zeros(len(cameras), dtype=np.intp)
        self.contradictions: list[Contradiction] = []
        self.void: list[int] = []
        self._rows_of = rows
        order = np.argsort(self.camera, kind="stable")
        edges = np.searchsorted(self.camera[order], np.arange(len(names) + 1))
        self.cameras = {
            k: StandingCamera(name, order[edges[k] : edges[k + 1]]) for k, name in enumerate(names)
        }
        self._next = len(names)
        self._demands: dict[int, list[Demand]] = {}  # that a photo's place may break, by its row
        self._before: dict[int, _Saved] = {}  # places before each of the last decisions

    def fresh(self) -> "Standing":
        """The same, to go on from again."""
        again = Standing(np.zeros(0, dtype=np.intp), (), self._rows_of)
        again.camera, again.decision = self.camera.copy(), self.decision.copy()
        again.cameras, again._next = dict(self.cameras), self._next
        again.contradictions, again.void = list(self.contradictions), list(self.void)
        again._demands = {row: list(some) for row, some in self._demands.items()}
        return again

    def rows(self, hashes: Sequence[str]) -> Rows:
        """Rows of the photos that are there, sorted, each once."""
        there = {self._rows_of[each] for each in hashes if each in self._rows_of}
        return np.array(sorted(there), dtype=np.intp)

    def home(self, rows: Rows) -> int:
        """The camera that holds most of some photos; −1 if none holds any. Ties: the older one."""
        keys = self.camera[rows]
        keys = keys[keys >= 0]
        if not len(keys):
            return -1
        return int(np.bincount(keys).argmax())

    def holds(self, demand: Demand) -> bool:
        """Whether a demand is met now."""
        home = self.home(demand.others)
        if demand.kind in ("one", "apart"):
            own = self.home(demand.photos)
            return own == home >= 0 if demand.kind == "one" else own != home or home < 0
        if home < 0:
            return demand.kind == "outside"
        there = self.camera[demand.photos] == home
        return bool(there.all() if demand.kind == "inside" else not there.any())

    def apply(self, decision: Decision) -> None:
        """Take a decision in, or list it as contradicting an earlier one, and change nothing."""
        before = self._before[decision.number] = self._saved()
        if len(self._before) > _KEPT:
            del self._before[next(iter(self._before))]
        photos, others = self.rows(decision.photos), self.rows(decision.others)
        if not len(photos) or (decision.others and not len(others)):
            self.void.append(decision.number)
            return
        if decision.kind in ("name", "note", "status"):
            self._describe(decision, photos)
            return
        if decision.kind == "cannot tell":
            return
        demand = _demand(decision, photos, others)
        self._meet(demand, decision)
        if decision.kind == "split":
            self._gather(photos, decision)
        broken = self._broken(before.camera)
        if broken or not self.holds(demand):
            self._go_back(before)
            words = _contradiction_words(decision, broken)
            self.contradictions.append(Contradiction(decision.number, broken, words))
            return
        self._keep(demand, decision)

    def keep(self, decision: Decision) -> None:
        """Take in a decision that these places honour already: nothing moves.

        One that they do not honour is applied. What was said of cameras is left as it is.
        """
        photos, others = self.rows(decision.photos), self.rows(decision.others)
        if decision.kind not in MEMBERSHIP or not len(photos):
            return
        if decision.others and not len(others):
            return
        demand = _demand(decision, photos, others)
        if self.holds(demand):
            self._keep(demand, decision)
        else:
            self.apply(decision)

    def _keep(self, demand: Demand, decision: Decision) -> None:
        """Later decisions may not break this one."""
        for row in (*demand.photos.tolist(), *demand.others.tolist()):
            self._demands.setdefault(row, []).append(demand)
        if decision.kind == "confirm":
            camera = self._changing(self.home(demand.photos))
            camera.accepted = np.union1d(camera.accepted, demand.photos)

    def rewind(self, number: int) -> bool:
        """Go back to before a decision, if it is one of the last; what came later is forgotten."""
        before = self._before.get(number)
        if before is None:
            return False
        self._go_back(before)
        del self.contradictions[before.contradictions :]
        del self.void[before.void :]
        self._before = {k: saved for k, saved in self._before.items() if k <= number}
        for row, demands in list(self._demands.items()):
            if demands[-1].number >= number:
                self._demands[row] = [d for d in demands if d.number < number]
                if not self._demands[row]:
                    del self._demands[row]
        return True

    def _go_back(self, before: "_Saved") -> None:
        self.camera, self.decision = before.camera.copy(), before.decision.copy()
        self.cameras, self._next = dict(before.cameras), before.following

    def _saved(self) -> "_Saved":
        return _Saved(
            self.camera.copy(),
            self.decision.copy(),
            dict(self.cameras),
            self._next,
            len(self.contradictions),
            len(self.void),
        )

    def _broken(self, before: Labels) -> int:
        """Number of the first decision whose demand does not hold any more; 0 if all do."""
        moved = np.flatnonzero(self.camera != before).tolist()
        touched = {d.number: d for row in moved for d in self._demands.get(row, ())}
        return next((k for k in sorted(touched) if not self.holds(touched[k])), 0)

    def _gather(self, photos: Rows, decision: Decision) -> None:
        """Bring photos into the one camera that holds most of them; a single one stands alone."""
        if len(photos) < 2:
            return
        home = self.home(photos)
        target = self._found(decision) if home < 0 else home
        self._move(photos[self.camera[photos] != target], target, decision)

    def _changing(self, key: int) -> StandingCamera:
        """A camera, to be changed: nobody else holds this object."""
        self.cameras[key] = self.cameras[key].copy()
        return self.cameras[key]

    def _describe(self, decision: Decision, photos: Rows) -> None:
        """Name, status or note of a camera."""
        if decision.kind == "note" and not decision.camera:
            return  # of photos, not of a camera
        home = self.home(photos)
        if home < 0:
            self.void.append(decision.number)
            return
        if decision.kind == "name":
            taken = next(
                (k for k, c in self.cameras.items() if k != home and c.name == decision.camera),
                None,
            )
            if taken is not None:
                words = f"Another camera has the name {decision.camera!r} already."
                self.contradictions.append(Contradiction(decision.number, 0, words))
                return
        camera = self._changing(home)
        if decision.kind == "name":
            camera.naming = decision
        elif decision.kind == "status":
            camera.marking = decision
        else:
            camera.notes.append(decision)

    def _meet(self, demand: Demand, decision: Decision) -> None:
        """Move photos so that a demand is met."""
        home = self.home(demand.others)
        if demand.kind in ("outside", "apart"):
            there = self.camera[demand.photos] == home
            if home >= 0 and (demand.kind == "outside" or self.home(demand.photos) == home):
                out = demand.photos[there]
                several = demand.kind == "apart" and len(out) > 1
                self._move(out, self._found(decision) if several else -1, decision)
            return
        if demand.kind == "inside":
            target = self._found(decision) if home < 0 else home
            rows = demand.photos[self.camera[demand.photos] != target]
            if home < 0:
                self._move(demand.others, target, decision)
            self._move(rows, target, decision)
            return
        own = self.home(demand.photos)
        if own == home >= 0:
            return
        if own < 0 or home < 0:
            target = max(own, home)
            target = self._found(decision) if target < 0 else target
            for rows, key in ((demand.photos, own), (demand.others, home)):
                if key < 0:
                    self._move(rows[self.camera[rows] < 0], target, decision)
            return
        stays, goes = self._survivor(own, home, decision.camera)
        gone = self.cameras[goes]
        self._move(gone.rows, stays, decision)
        camera = self._changing(stays)
        camera.notes = sorted([*camera.notes, *gone.notes], key=lambda note: note.number)
        camera.accepted = np.union1d(camera.accepted, gone.accepted)

    def _survivor(self, first: int, second: int, wanted: str) -> tuple[int, int]:
        """Which of two cameras goes on: as was decided, or the named, the larger, the older one."""
        pair = (first, second)
        named = [key for key in pair if wanted in (self.cameras[key].own, self.cameras[key].given)]
        if not wanted or len(named) != 1:
            ranked = sorted(
                pair,
                key=lambda k: (not self.cameras[k].given, -len(self.cameras[k].rows), k),
            )
            return ranked[0], ranked[1]
        return named[0], pair[0] if named[0] == pair[1] else pair[1]

    def _found(self, decision: Decision) -> int:
        """A new camera without photos, named as was decided."""
        key, self._next = self._next, self._next + 1
        taken = {camera.name for camera in self.cameras.values()}
        name, more = decision.camera or f"camera of decision {decision.number}", 1
        while name in taken:
            name, more = f"camera of decision {decision.number}, {more}", more + 1
        self.cameras[key] = StandingCamera(name, np.zeros(0, dtype=np.intp))
        return key

    def _move(self, rows: Rows, target: int, decision: Decision) -> None:
        """Send photos to a camera, or to none; cameras left without photos are gone."""
        if not len(rows):
            return
        for key in np.unique(self.camera[rows]).tolist():
            if key >= 0 and key != target:
                camera = self._changing(key)
                camera.rows = np.setdiff1d(camera.rows, rows, assume_unique=True)
                camera.decisions.add(decision.number)
                if not len(camera.rows):
                    del self.cameras[key]
        self.camera[rows] = target
        self.decision[rows] = decision.number
        if target >= 0:
            camera = self._changing(target)
            camera.rows = np.union1d(camera.rows, rows)
            camera.decisions.add(decision.number)


def _demand(decision: Decision, photos: Rows, others: Rows) -> Demand:
    """What a decision asks for; about a single photo it is about that photo."""
    number, single = decision.number, len(decision.photos) == 1
    if decision.sends_photos:
        return Demand("inside", photos, others, number)
    if decision.kind in ("same", "merge"):
        return Demand("one", photos, others, number)
    if decision.kind == "confirm":
        return Demand("inside", photos, photos, number)
    strict = single or decision.kind == "reject"
    return Demand("outside" if strict else "apart", photos, others, number)


def _contradiction_words(decision: Decision, against: int) -> str:
    """Why a decision is set aside."""
    said = f"Decision {decision.number} ({decision.kind})"
    if against:
        return f"{said} cannot stand beside decision {against}: take one of them back."
    return f"{said} cannot be met with the photos as they stand: take it back."
