"""What all tabs look at: a case, what stands in it now, and a version that grows with it."""

import contextlib
import os
import threading
from collections.abc import Callable
from functools import cached_property

from samecam import compute
from samecam.case import CLUSTERS, DECISIONS, Decided, Deciding, Decision, open_case, read_decided
from samecam.errors import SamecamError
from samecam.review._cameras import Cameras
from samecam.review._index import Index
from samecam.review._queue import Question, Queue

_IN_USE = "in use by"
PHASE = "Reading the case"


class Moment:
    """Everything as it stands at one version; nothing in it changes.

    Attributes
    ----------
    version : grows with every change
    decided : what the decisions made of the case
    cameras : the same as pages show it
    """

    def __init__(
        self, version: int, index: Index, queue: Queue, decided: Decided, before: Cameras | None
    ) -> None:
        self.version, self.index, self.decided = version, index, decided
        self.cameras = Cameras(index, decided, before)
        self._queue = queue

    @cached_property
    def questions(self) -> list[Question]:
        """What is to be decided, best first."""
        return self._queue.open(self.decided)

    def place(self, key: str) -> int:
        """Where a question stands among those that are open, or the one that comes after it."""
        places = self._queue.place_of
        wanted = places.get(key, 0)
        after = (k for k, q in enumerate(self.questions) if places[q.key] >= wanted)
        return next(after, 0)

    def camera_of(self, row: int) -> str:
        """Name of a photo's camera; "" if it has none."""
        number = int(self.decided.camera_of[row])
        return self.decided.cameras[number].name if number >= 0 else ""

    def home(self, rows: tuple[int, ...] | list[int]) -> str:
        """Name of the camera that holds most of some photos; "" if none does."""
        names = [name for row in rows[:5] if (name := self.camera_of(row))]
        return max(dict.fromkeys(names), key=names.count) if names else ""


class State:
    """A case under review: held for deciding, or looked at alone.

    Attributes
    ----------
    now : what stands
    looking : why nothing can be decided here; "" if it can
    examiner : who decides
    """

    def __init__(
        self,
        case: str | os.PathLike[str],
        examiner: str,
        *,
        read_only: bool = False,
        progress: compute.Progress = compute.no_progress,
    ) -> None:
        self.examiner, self._lock = examiner, threading.Lock()
        self._deciding: Deciding | None = None
        self.looking = "It was opened for reading (--read-only)." if read_only else ""
        progress(PHASE, 0, 4)
        if not read_only:
            self._deciding, self.looking = _hold(case, examiner)
        progress(PHASE, 1, 4)
        self._load(case)
        progress(PHASE, 3, 4)
        self._stamp = self._stamps()
        self.now.questions  # noqa: B018 (made at the start, not at the first request)
        progress(PHASE, 4, 4)

    def _load(self, case: str | os.PathLike[str], version: int = 1) -> None:
        saved = open_case(case) if self._deciding is None else self._deciding.saved
        decided = read_decided(saved) if self._deciding is None else self._deciding.decided
        self.index = Index(saved)
        self.queue = Queue(self.index)
        self.now = Moment(version, self.index, self.queue, decided, None)

    def decide(self, action: Callable[[Deciding, Moment], Decision]) -> Decision:
        """Take a decision; what stands is another moment afterwards."""
        with self._lock:
            if self._deciding is None:
                raise SamecamError(f"Nothing can be decided here. {self.looking}")
            decision = action(self._deciding, self.now)
            now = self.now
            self.now = Moment(
                now.version + 1, self.index, self.queue, self._deciding.decided, now.cameras
            )
            return decision

    def look_again(self) -> None:
        """Where nothing can be decided: take in what somebody else did meanwhile."""
        if self._deciding is not None:
            return
        with self._lock:
            stamp = self._stamps()
            if stamp == self._stamp:
                return
            now, saved = self.now, self.index.saved
            try:
                if stamp[0] == self._stamp[0]:
                    decided = read_decided(saved)
                    self.now = Moment(now.version + 1, self.index, self.queue, decided, now.cameras)
                else:
                    self._load(saved.folder, now.version + 1)
            except SamecamError:
                return  # it is being written: next time
            self._stamp = stamp

    def _stamps(self) -> tuple[object, object]:
        return tuple(map(self._changed, (CLUSTERS, DECISIONS)))  # type: ignore[return-value]

    def _changed(self, name: str) -> object:
        with contextlib.suppress(OSError):
            status = os.lstat(self.index.saved.folder / name)
            return status.st_mtime_ns, status.st_size
        return None

    def close(self) -> None:
        """Let go of the case."""
        with self._lock:
            if self._deciding is not None:
                self._deciding.close()
                self._deciding = None
                self.looking = "The review has ended."


def _hold(case: str | os.PathLike[str], examiner: str) -> tuple[Deciding | None, str]:
    """The case held for deciding, or the reason why it can only be looked at."""
    try:
        return Deciding(case, examiner), ""
    except SamecamError as error:
        if _IN_USE not in str(error):
            raise
        return None, str(error).partition(": wait until")[0] + "."
    except OSError as error:
        return None, f"{os.fspath(case)!r} cannot be written: {error.strerror}."
