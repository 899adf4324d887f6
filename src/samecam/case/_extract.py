"""The run: files to fingerprints, in parallel, resumable at any moment."""

import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from samecam import compute
from samecam.case import _worker
from samecam.case._estimate import Estimate, disk_bytes, estimate, free_bytes
from samecam.case._folder import Case
from samecam.case._settings import ExtractionSettings
from samecam.case._twins import likely_twins
from samecam.case._versions import versions
from samecam.case._worker import Outcome, Task
from samecam.errors import SamecamError
from samecam.photos import Found, scan, would_find
from samecam.store import Record

COMMIT_SECONDS = 0.5

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Extraction:
    """What a run did.

    Attributes
    ----------
    case : the case folder
    counts : files by status, all of them
    done : files worked on in this run
    seconds : wall-clock time of this run
    work : seconds of work by kind, added over workers (this run)
    interrupted : whether it was asked to stop before the end
    """

    case: Path
    counts: dict[str, int]
    done: int
    seconds: float
    work: dict[str, float] = field(default_factory=dict)
    interrupted: bool = False


def plan_extraction(
    photos: Sequence[str | os.PathLike[str]],
    case: str | os.PathLike[str],
    settings: ExtractionSettings | None = None,
    *,
    workers: int | None = None,
) -> Estimate:
    """What `extract_photos` would do and cost; nothing is written."""
    settings = settings or ExtractionSettings()
    found = scan(photos)
    _check_apart(Path(case), photos, found)
    return estimate(found, Path(case), settings, compute.worker_count(workers))


def extract_photos(
    photos: Sequence[str | os.PathLike[str]],
    case: str | os.PathLike[str],
    settings: ExtractionSettings | None = None,
    *,
    workers: int | None = None,
    timeout: float = 60.0,
    progress: Progress | None = None,
) -> Extraction:
    """Turn files into a case folder with a fingerprint for each usable photograph.

    Every file found gets a row in `images.csv`. Files done before, by size and time
    of change, are not done again. The result does not depend on the number of
    workers, on interruptions, or on the order in which the file system lists files.

    Parameters
    ----------
    photos : files, folders, patterns, or ``@list.txt``
    case : folder for the result; made if needed, never inside a photo folder
    settings : how fingerprints are made
    workers : processes; default one a core
    timeout : seconds one file may take before it is given up
    progress : called as progress(done, total) from time to time
    """
    settings = settings or ExtractionSettings()
    if timeout <= 0:
        raise SamecamError(f"timeout is {timeout}; give seconds a file may take, 60 is usual.")
    n_workers = compute.worker_count(workers)
    found = scan(photos)
    target = Path(case)
    _check_apart(target, photos, found)
    with Case(target, settings, [_source(p) for p in photos]) as folder:
        run = _Run(folder, settings, found, n_workers, timeout, progress)
        return run.execute()


def _source(argument: str | os.PathLike[str]) -> str:
    """An argument as it is remembered: absolute, so that it means the same elsewhere."""
    text = os.fspath(argument)
    if text.startswith("@") and not os.path.lexists(text):
        return "@" + os.path.abspath(text[1:])
    return os.path.abspath(text)


def _check_apart(
    case: Path, photos: Sequence[str | os.PathLike[str]], found: Sequence[Found]
) -> None:
    """Refuse to write among the evidence."""
    inside = would_find(photos, os.fspath(case))
    real = os.path.realpath(case)
    if inside is None and any(os.path.realpath(f.file).startswith(real + os.sep) for f in found):
        inside = real
    if inside is not None:
        raise SamecamError(
            f"The case folder {str(case)!r} lies among the photos ({inside!r}): "
            "name a folder outside of them."
        )


class _Run:
    """One execution of `extract_photos` on an open case."""

    def __init__(
        self,
        case: Case,
        settings: ExtractionSettings,
        found: Sequence[Found],
        workers: int,
        timeout: float,
        progress: Progress | None,
    ) -> None:
        self._case, self._settings = case, settings
        self._workers, self._timeout = workers, timeout
        self._progress = progress or (lambda *_: None)
        self._records = {r.key: r for r in case.store.records()}
        self._first: dict[str, str] = {}
        for record in self._records.values():
            if record.sha256 and record.meta["status"] != "duplicate":
                self._first.setdefault(record.sha256, record.key)
        groups = [deque(group) for group in likely_twins(found)]
        self._twins = {id(group): set[str]() for group in groups}
        self._groups = deque(g for group in groups if (g := self._without_done(group)))
        self._total = sum(map(len, self._groups))
        self._done = 0
        self._work: dict[str, float] = {}
        self._stop = threading.Event()

    def execute(self) -> Extraction:
        began = time.monotonic()
        self._check_space()
        self._case.log.add(
            "extract", files=self._total, settings=self._settings.as_dict(), versions=versions()
        )
        self._case.save(state="extracting", versions=versions(), device="cpu")
        if self._total:
            with _stop_on_signal(self._stop):
                self._work_through()
        return self._finish(time.monotonic() - began)

    def _without_done(self, group: deque[Found]) -> deque[Found]:
        """The files of a group that are still to be done; hashes of the others are noted."""
        left: deque[Found] = deque()
        for item in group:
            record = self._records.get(item.path)
            if record is not None and _is_current(record, item):
                if record.sha256:
                    self._twins[id(group)].add(record.sha256)
            else:
                left.append(item)
        self._twins[id(left)] = self._twins.pop(id(group))
        return left

    def _check_space(self) -> None:
        need = disk_bytes(self._total, self._settings)
        free = free_bytes(self._case.folder)
        if need > free:
            raise SamecamError(
                f"{self._total} fingerprints may need {compute.format_bytes(need)} and only "
                f"{compute.format_bytes(free)} are free for {str(self._case.folder)!r}: free some, "
                "name a folder on a larger disk, or store them as int8."
            )

    def _work_through(self) -> None:
        store = self._case.store.folder
        pool = compute.LocalPool(
            self._workers,
            timeout=self._timeout,
            memory=compute.worker_memory(self._settings.size),
            preload="samecam.case._preload",
            initializer=_worker.start,
            initargs=(self._settings, store),
        )
        try:
            self._drain(pool)
        except BaseException:
            pool.stop()
            raise
        pool.close()

    def _drain(self, pool: compute.Executor) -> None:
        """Keep the workers busy, commit what they finish, until nothing is left."""
        running: dict[Future[Outcome], tuple[Task, deque[Found]]] = {}
        committed = time.monotonic()
        self._progress(0, self._total)
        while True:
            while self._groups and len(running) < 2 * self._workers and not self._stop.is_set():
                group = self._groups.popleft()
                item = group.popleft()
                task = Task(item.path, item.file, frozenset(self._twins[id(group)]))
                running[pool.submit(_worker.extract, task)] = task, group
            if not running:
                break
            ready = wait(running, timeout=COMMIT_SECONDS, return_when=FIRST_COMPLETED).done
            for future in ready:
                task, group = running.pop(future)
                outcome = self._outcome(future, task)
                self._take(outcome, group)
            if time.monotonic() - committed > COMMIT_SECONDS:
                self._commit()
                committed = time.monotonic()
        self._commit()

    def _outcome(self, future: Future[Outcome], task: Task) -> Outcome:
        try:
            return future.result()
        except compute.TaskTimeoutError:
            reason = f"took longer than {self._timeout:g} s"
        except compute.WorkerDiedError as error:
            reason = f"its decoder crashed ({_exit_words(error.exit_code)})"
        except SamecamError:
            self._commit()
            raise
        except Exception as error:  # a bug met by one file must not cost the others
            reason = f"internal error: {type(error).__name__}: {' '.join(str(error).split())}"
        outcome = Outcome(task.path, reason=reason, passing=True)
        try:
            status = os.stat(task.file)
            outcome.bytes, outcome.modified = status.st_size, status.st_mtime_ns
        except OSError:
            pass
        return outcome

    def _take(self, outcome: Outcome, group: deque[Found]) -> None:
        """Book one outcome and let the next of its group go."""
        if outcome.status == "duplicate":
            outcome.reason = f"same bytes as {self._first[outcome.sha256]}"
        elif outcome.sha256:
            self._first.setdefault(outcome.sha256, outcome.path)
            self._twins[id(group)].add(outcome.sha256)
        record = Record(
            outcome.path, outcome.sha256, outcome.meta(), has_row=outcome.place is not None
        )
        self._case.store.add_placed(record, outcome.place)
        self._case.log.add(
            "file",
            path=outcome.path,
            sha256=outcome.sha256,
            status=outcome.status,
            reason=outcome.reason,
        )
        for name, seconds in outcome.seconds.items():
            self._work[name] = self._work.get(name, 0.0) + seconds
        self._done += 1
        if group:
            self._groups.appendleft(group)

    def _commit(self) -> None:
        self._case.store.commit()
        self._case.log.flush()
        self._progress(self._done, self._total)

    def _finish(self, seconds: float) -> Extraction:
        interrupted = self._done < self._total
        counts = self._case.counts()
        state = "interrupted" if interrupted else "extracted"
        if not interrupted:
            self._case.write_images()
        timings = self._case.info.get("timings", {})
        if self._done:
            work = {name: round(value, 3) for name, value in sorted(self._work.items())}
            timings = {**timings, "extract": {"seconds": round(seconds, 3), **work}}
        self._case.save(state=state, counts=counts, timings=timings)
        self._case.log.add(state, counts=counts)
        return Extraction(
            self._case.folder, counts, self._done, seconds, dict(self._work), interrupted
        )


def _is_current(record: Record, item: Found) -> bool:
    """Whether a file is as it was when its record was made, and need not be tried again."""
    if record.meta["passing"]:
        return False
    try:
        status = os.stat(item.file)
    except OSError:
        return bool(record.sha256)  # gone since: what was taken from it stays
    return (status.st_size, status.st_mtime_ns) == (record.meta["bytes"], record.meta["modified"])


def _exit_words(code: int | None) -> str:
    if code is not None and code < 0:
        try:
            return signal.Signals(-code).name
        except ValueError:
            pass
    return f"exit code {code}"


@contextmanager
def _stop_on_signal(stop: threading.Event) -> Iterator[None]:
    """Let Ctrl-C and SIGTERM ask for an orderly end; a second Ctrl-C is obeyed at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def ask(number: int, _: Any) -> None:
        if stop.is_set() and number == signal.SIGINT:
            raise KeyboardInterrupt
        stop.set()

    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
