"""Deciding: a case held by one person, whose decisions are written before they count."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from types import TracebackType
from typing import Any

from samecam.case.decisions._decided import Answered
from samecam.case.decisions._decision import (
    STATUSES,
    Decision,
    check_decision,
    check_name,
    check_text,
    counted,
    read_decisions,
)
from samecam.case.decisions._names import next_number
from samecam.case.folder import (
    DECIDED,
    DECISIONS,
    LOG,
    AuditLog,
    FolderLock,
    SavedCase,
)
from samecam.errors import SamecamError
from samecam.files import write_atomically
from samecam.inputs import PathLike


class ContradictionError(SamecamError):
    """A decision that an earlier one forbids; `against` is the number of that one, or 0."""

    def __init__(self, message: str, against: int) -> None:
        super().__init__(message)
        self.against = against


class Deciding:
    """A clustered case, held for deciding; nobody else can write to it meanwhile.

    Every decision is written through to the disk before the call returns. One that an earlier
    decision forbids is refused: `ContradictionError`. Not for several threads at once.

    Parameters
    ----------
    case : the case folder
    examiner : who decides

    Attributes
    ----------
    saved : the case
    decided : what stands now

    Examples
    --------
    >>> with samecam.Deciding("CASE", "Ada") as deciding:
    ...     deciding.merge("camera-3", "camera-5", reason="the same scratch")
    """

    def __init__(self, case: PathLike, examiner: str) -> None:
        self._examiner = check_text(examiner, "examiner")
        if not self._examiner:
            raise SamecamError("Decisions need somebody who takes them: name the examiner.")
        self.saved = SavedCase(case)
        self._lock = FolderLock(self.saved.folder)
        try:
            self._begin()
        except BaseException:
            self._lock.release()
            raise

    def _begin(self) -> None:
        saved = self.saved = SavedCase(self.saved.folder)
        self._answered = Answered(saved)
        self._used, self._rows = self._answered.used, self._answered.rows
        self._paths: dict[str, str] | None = None
        self._decisions = read_decisions(saved.folder)
        self._standing, self.decided = self._answered.stands(self._decisions)
        with contextlib.ExitStack() as opened:
            self._file = AuditLog(saved.folder / DECISIONS)
            opened.callback(self._file.close)
            self._log = AuditLog(saved.folder / LOG)
            opened.callback(self._log.close)
            self._note_last()
            opened.pop_all()  # they stay open

    def _note_last(self) -> None:
        """Tell the log of a decision that was killed before it could: it counts all the same.

        At once: were the next one killed there too, the log would lack two, and of more than the
        last nobody can tell whether somebody else has put them there.
        """
        noted = {entry.get("head") for entry in self.saved.log_entries("decided")}
        if self._decisions and self._file.head not in noted:
            number = len(self._decisions)
            self._log.add("decided", number=number, head=self._file.head, found=True)
            self._log.flush()

    def __enter__(self) -> Deciding:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Write `decided.csv` and let go of the case."""
        with contextlib.ExitStack() as last:
            last.callback(self._lock.release)
            last.callback(self._log.close)
            last.callback(self._file.close)
            self.write_table()

    def write_table(self) -> None:
        """Write `decided.csv`, if there are decisions."""
        if self._decisions:
            write_atomically(self.saved.folder / DECIDED, self.decided.table())

    def same(self, photos: Sequence[str], others: Sequence[str], reason: str = "") -> Decision:
        """The camera of some photos is that of others; a single photo goes to their camera."""
        own, home = self._homes(photos, others)
        new = self._new_name() if home < 0 and (own < 0 or len(photos) == 1) else {}
        return self._decide("same", photos, others, reason=reason, **new)

    def different(self, photos: Sequence[str], others: Sequence[str], reason: str = "") -> Decision:
        """The camera of some photos is not that of others; if it was, they leave it."""
        own, home = self._homes(photos, others)
        new = self._new_name() if own == home >= 0 and len(photos) > 1 else {}
        return self._decide("different", photos, others, reason=reason, **new)

    def cannot_tell(
        self, photos: Sequence[str], others: Sequence[str], reason: str = ""
    ) -> Decision:
        """Nobody can tell whether these photos are of one camera: nothing changes."""
        return self._decide("cannot tell", photos, others, reason=reason)

    def merge(self, first: str, second: str, reason: str = "") -> Decision:
        """Two cameras, by name, are one; the named, or larger, or first one gives the name."""
        if first == second:
            raise SamecamError(f"{first!r} is one camera already: name two.")
        one, two = (self.decided.cameras[self.number(name)] for name in (first, second))
        stays = one if (one.named, one.size) >= (two.named, two.size) else two
        sides = self.hashes(first), self.hashes(second)
        return self._decide("merge", *sides, reason=reason, camera=stays.name)

    def split(self, camera: str, photos: Sequence[str], reason: str = "") -> Decision:
        """Photos of a camera are a camera of their own."""
        inside, rest = self._divided(camera, photos)
        new = self._new_name() if len(inside) > 1 else {}
        return self._decide("split", inside, rest, reason=reason, **new)

    def reject(self, camera: str, photos: Sequence[str], reason: str = "") -> Decision:
        """Photos are not of a camera: they leave it, and never come back."""
        inside, rest = self._divided(camera, photos)
        return self._decide("reject", inside, rest, reason=reason)

    def move(self, photos: Sequence[str], camera: str, reason: str = "") -> Decision:
        """Photos go to another camera."""
        chosen = set(photos)
        rest = [each for each in self.hashes(camera) if each not in chosen]
        return self._decide("move", photos, rest, reason=reason)

    def name(self, camera: str, name: str, reason: str = "") -> Decision:
        """Give a camera a name."""
        clean = check_name(name)
        if clean in self.decided.names and clean != camera:
            raise SamecamError(f"Another camera has the name {clean!r} already: give another.")
        return self._decide("name", self.hashes(camera), reason=reason, camera=clean)

    def note(self, subject: str | Sequence[str], text: str, reason: str = "") -> Decision:
        """Write something down about a camera, by its name, or about photos, by their hashes."""
        clean = check_text(text, "note")
        if not clean:
            raise SamecamError("The note is empty: say something.")
        of_camera = isinstance(subject, str)
        photos = self.hashes(subject) if isinstance(subject, str) else list(subject)
        about = {"camera": str(subject)} if of_camera else {}
        return self._decide("note", photos, reason=reason, text=clean, **about)

    def status(self, camera: str, status: str, reason: str = "") -> Decision:
        """Say how a camera stands: "ok", "check" or "warning"."""
        if status not in STATUSES:
            raise SamecamError(f"{status!r:.40} is no status: choose {', '.join(STATUSES)}.")
        return self._decide("status", self.hashes(camera), reason=reason, status=status)

    def confirm(self, camera: str, reason: str = "") -> Decision:
        """All photos of a camera are its own."""
        return self._decide("confirm", self.hashes(camera), reason=reason)

    def undo(self, number: int, reason: str = "") -> Decision:
        """Take a decision back; of an undo: restore what it took back."""
        if not 0 < number <= len(self._decisions):
            raise SamecamError(
                f"There is no decision {number}: they are numbered from 1 to "
                f"{len(self._decisions)}."
            )
        if number not in self.decided.in_force:
            raise SamecamError(f"Decision {number} is taken back already.")
        return self._decide("undo", reason=reason, of=number)

    def number(self, camera: str) -> int:
        """Number of a camera among those that stand, by its name, or an error."""
        if camera not in self.decided.names:
            raise SamecamError(
                f"There is no camera {camera!r:.80}: see decided.csv or cameras.csv."
            )
        return self.decided.names[camera]

    def hashes(self, camera: str) -> list[str]:
        """SHA-256 of the photos of a camera."""
        rows = self.decided.cameras[self.number(camera)].rows
        return [self._used[k].sha256 for k in rows.tolist()]

    def photos(self, names: Sequence[str]) -> list[str]:
        """SHA-256 of used photos by their paths in the case, or by SHA-256 itself; or an error."""
        if self._paths is None:
            self._paths = {photo.path: photo.sha256 for photo in self.saved.photos}
        result = []
        for name in names:
            sha256 = self._paths.get(name, name)
            if sha256 not in self._rows:
                raise SamecamError(
                    f"{name!r:.200} is no used photo of the case: give a path as in clusters.csv, "
                    "or a SHA-256."
                )
            result.append(sha256)
        return result

    def either(self, name: str) -> list[str]:
        """SHA-256 of the photos of a camera, by its name, or of one photo."""
        return self.hashes(name) if name in self.decided.names else self.photos([name])

    def _divided(self, camera: str, photos: Sequence[str]) -> tuple[list[str], list[str]]:
        """Some photos of a camera, which must be there, and the rest, which must not be empty."""
        chosen = {self._used[self._row(each)].sha256 for each in photos}
        members = self.hashes(camera)
        if absent := chosen - set(members):
            path = self._used[self._rows[min(absent)]].path
            raise SamecamError(f"{path!r} is not a photo of {camera!r}.")
        rest = [each for each in members if each not in chosen]
        if not rest:
            raise SamecamError(f"These are all photos of {camera!r}: leave some, or name others.")
        return [each for each in members if each in chosen], rest

    def _known(self, photos: Sequence[str]) -> tuple[str, ...]:
        """SHA-256 of used photos, each once; that of a copy is its original's."""
        return tuple(dict.fromkeys(self._used[self._row(each)].sha256 for each in photos))

    def _row(self, sha256: str) -> int:
        if sha256 not in self._rows:
            raise SamecamError(f"No used photo of the case has the SHA-256 {sha256!r:.80}.")
        return self._rows[sha256]

    def _homes(self, photos: Sequence[str], others: Sequence[str]) -> tuple[int, int]:
        """The cameras that hold most of the one and of the other photos; −1: none."""
        standing = self._standing
        return standing.home(standing.rows(photos)), standing.home(standing.rows(others))

    def _new_name(self) -> dict[str, str]:
        """A name that no camera has, or had."""
        base = self._answered.base
        names = [camera.own for camera in self._standing.cameras.values()]
        names += [decision.camera for decision in self._decisions]
        number = max(next_number(names), 0 if base is None else base.next)
        return {"camera": f"camera-{number}"}

    def _decide(
        self,
        kind: str,
        photos: Sequence[str] = (),
        others: Sequence[str] = (),
        *,
        reason: str = "",
        **more: Any,
    ) -> Decision:
        """Check a decision, write it, and let it count."""
        why, number = check_text(reason, "reason"), len(self._decisions) + 1
        first, second = self._known(photos), self._known(others)
        decision = Decision(number, "", self._examiner, why, kind, first, second, **more)
        try:
            check_decision(decision)
        except ValueError as error:
            raise SamecamError(f"This cannot be decided: {error}.") from None
        self._decisions.append(decision)
        try:
            self._try()
            self._decisions[-1] = replace(decision, time=self._write(decision))
        except BaseException:
            self._decisions.pop()
            self._standing, self.decided = self._answered.stands(self._decisions)
            raise
        self.decided = self._answered.goes_on(self._standing, self._decisions, self.decided)
        return self._decisions[-1]

    def _try(self) -> None:
        """Let the last decision count; an error if an earlier one forbids it."""
        decision, standing = self._decisions[-1], self._standing
        if decision.kind == "undo":
            self._take_back(decision)
            return
        standing.apply(decision)
        if standing.contradictions and standing.contradictions[-1].decision == decision.number:
            last = standing.contradictions[-1]
            words = last.words.replace(f"Decision {decision.number}", "This decision", 1)
            raise ContradictionError(words, last.against)

    def _take_back(self, undo: Decision) -> None:
        """Let an undo count: go back to before what it is about, and on from there."""
        about = undo
        while about.kind == "undo":
            about = self._decisions[about.of - 1]
        stale = self._answered.is_stale(self._decisions)
        if stale != self.decided.stale or not self._standing.rewind(about.number):
            last = self.decided
            self._standing, self.decided = self._answered.stands(self._decisions, last)
            return
        for decision in counted(self._decisions):
            if decision.number >= about.number:
                self._standing.apply(decision)

    def _write(self, decision: Decision) -> str:
        """Write a decision through to the disk, then that it was into the log; its time."""
        self._log.flush()  # what could not be written of the one before
        try:
            time = self._file.add(decision.kind, **decision.fields())
            self._file.flush()
        except BaseException:
            self._file.forget()
            raise
        self._log.add("decided", number=decision.number, head=self._file.head)
        with contextlib.suppress(SamecamError):  # it counts; the log's line waits for the next one
            self._log.flush()
        return time
