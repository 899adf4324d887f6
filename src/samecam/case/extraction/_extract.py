"""The run: files to fingerprints, in parallel, resumable at any moment."""

import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from samecam import compute
from samecam.case._means import Means
from samecam.case.extraction._dispatch import Dispatch, dispatch
from samecam.case.extraction._duplicates import likely_twins
from samecam.case.extraction._estimate import Estimate, disk_bytes, free_bytes
from samecam.case.extraction._ledger import Ledger
from samecam.case.extraction._prepare import Job, Photos, Progress, prepare
from samecam.case.extraction._reasons import count_reasons
from samecam.case.extraction._size import SizeChoice
from samecam.case.extraction._worker import Outcome, Task
from samecam.case.folder._case import STATUSES, Case
from samecam.case.folder._settings import ExtractionSettings
from samecam.errors import SamecamError
from samecam.photos import Found
from samecam.provenance import versions
from samecam.store import Record

COMMIT_SECONDS = 0.5
PHASE = "Extracting"


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
    reasons : for `unusable` and `skipped` files, why, in a word or two, and how many
    size : side of the crop; None if it was interrupted before that was chosen, or if the
        fingerprints were brought
    choice : how the size was chosen, if it was chosen in this run
    brought : whether the fingerprints come from a file, not from photos
    """

    case: Path
    counts: dict[str, int]
    done: int
    seconds: float
    work: dict[str, float] = field(default_factory=dict)
    interrupted: bool = False
    reasons: dict[str, dict[str, int]] = field(default_factory=dict)
    size: int | None = None
    choice: SizeChoice | None = None
    brought: bool = False


def extract_photos(
    photos: Photos,
    case: str | os.PathLike[str],
    settings: ExtractionSettings | None = None,
    *,
    workers: int | None = None,
    timeout: float = 60.0,
    device: str = "cpu",
    scheduler: str | None = None,
    progress: Progress | None = None,
    stop: threading.Event | None = None,
    planned: Callable[[Estimate], None] | None = None,
) -> Extraction:
    """Turn files into a case folder with a fingerprint for each usable photograph.

    Every file found gets a row in `images.csv`. Files done before, by size and time
    of change, are not done again. The result does not depend on the number of
    workers, on interruptions, or on the order in which the file system lists files.
    Work is done in other processes: in a script, call this under
    ``if __name__ == "__main__":``.

    Parameters
    ----------
    photos : files, folders, patterns, or ``@list.txt``
    case : folder for the result; made if needed, never inside a photo folder
    settings : how fingerprints are made
    workers : processes; default one a core
    timeout : seconds one file may take before it is given up
    device : that computes: "cpu", "cuda", "cuda:1", …, or "auto"
    scheduler : address of a dask scheduler whose workers do the work, or "local" for a dask
        cluster on this machine; they must see the case and the photos under the same paths
    progress : called as progress(phase, done, total) from time to time
    stop : set it to end after the files in hand; see `stop_on_signals`
    planned : called with what is to be done and its cost, before it is done
    """
    means = Means.chosen(workers, timeout, device, scheduler)
    at_a_time = means.at_a_time()
    progress, stop = progress or (lambda *_: None), stop or threading.Event()
    job = prepare(
        photos,
        case,
        settings or ExtractionSettings(),
        workers=means.workers,
        timeout=means.timeout,
        progress=progress,
        stop=stop,
    )
    if job.settings is None:
        return Extraction(job.case, dict.fromkeys(STATUSES, 0), 0, 0.0, interrupted=True)
    if planned is not None:
        planned(job.plan(at_a_time))
    with Case(job.case, job.settings, job.sources) as folder:
        run = _Run(folder, job, job.settings, means)
        run.progress, run.stop = progress, stop
        return run.execute()


class _Run:
    """One execution of `extract_photos` on an open case."""

    def __init__(self, case: Case, job: Job, settings: ExtractionSettings, means: Means) -> None:
        self._case, self._settings, self._found = case, settings, job.found
        self._choice, self._means = job.choice, means
        self.progress: Progress = lambda *_: None
        self.stop = threading.Event()
        self._ledger = Ledger(case.store.records(), job.found)
        self._groups = deque(map(deque, likely_twins(self._ledger.pending)))
        self._total = len(self._ledger.pending)
        self._done = 0
        self._work: dict[str, float] = {}

    def execute(self) -> Extraction:
        began = time.monotonic()
        self._check_space()
        self._case.log.add(
            "extract", files=self._total, settings=self._settings.as_dict(), versions=versions()
        )
        chosen = {} if self._choice is None else {"size_choice": self._choice.as_dict()}
        self._case.save(state="extracting", versions=versions(), **self._device(), **chosen)
        if self._total:
            self._work_through()
        if not self.stop.is_set():
            self._case.store.discard(self._ledger.passed())
        return self._finish(time.monotonic() - began)

    def _device(self) -> dict[str, str]:
        """What computes fingerprints, for `case.json`; it stays if there are none to make."""
        known, used = self._case.info.get("device", ""), compute.device_words(self._means.device)
        if known and (not self._total or used in known.split(", ")):
            return {}
        earlier = [known] if known and self._case.store.keys else []
        return {"device": ", ".join([*earlier, used])}

    def _check_space(self) -> None:
        free = free_bytes(self._case.folder)
        need = disk_bytes(self._ledger.pending, self._settings, free)
        if need > free:
            raise SamecamError(
                f"The fingerprints of up to {self._total} photos need "
                f"{compute.format_bytes(need)} and only {compute.format_bytes(free)} are free for "
                f"{str(self._case.folder)!r}: free some, name a folder on a larger disk, or store "
                "them as int8."
            )

    def _work_through(self) -> None:
        workers = dispatch(
            self._means, self._settings, self._case.store.folder, self._ledger.pending
        )
        try:
            self._drain(workers)
            while (again := self._ledger.orphans(self._found)) and not self.stop.is_set():
                self._total += len(again)
                self._groups = deque(map(deque, likely_twins(again)))
                self._drain(workers)
        except BaseException:
            workers.stop()
            raise
        workers.close()

    def _drain(self, workers: Dispatch) -> None:
        """Keep the workers busy, commit what they finish, until nothing is left."""
        rest: dict[str, deque[Found]] = {}
        committed = time.monotonic()
        self.progress(PHASE, self._done, self._total)
        while True:
            while self._groups and workers.wants() and not self.stop.is_set():
                group = self._groups.popleft()
                item = group.popleft()
                rest[item.path] = group
                workers.put(Task(item.path, item.file, self._ledger.twins(item)))
            if workers.idle():
                break
            more = bool(self._groups) and not self.stop.is_set()
            try:
                for outcome in workers.collect(COMMIT_SECONDS, more):
                    self._take(outcome, rest.pop(outcome.path))
            except SamecamError:
                self._commit()
                raise
            if time.monotonic() - committed > COMMIT_SECONDS:
                self._commit()
                committed = time.monotonic()
        self._commit()

    def _take(self, outcome: Outcome, group: deque[Found]) -> None:
        """Book one outcome and let the next of its group go."""
        meta = outcome.meta()
        if outcome.status == "duplicate":
            twin = self._ledger.owner(outcome.sha256)
            own = {name: meta[name] for name in ("status", "bytes", "modified", "passing")}
            meta = {**twin.meta, **own, "reason": f"same bytes as {twin.key}"}
        has_row = outcome.place is not None
        record = Record(outcome.path, outcome.sha256, meta, has_row=has_row)
        self._ledger.book(record)
        self._case.store.add_placed(record, outcome.place)
        self._case.log.add(
            "file",
            path=outcome.path,
            sha256=outcome.sha256,
            status=meta["status"],
            reason=meta["reason"],
        )
        for name, seconds in outcome.seconds.items():
            self._work[name] = self._work.get(name, 0.0) + seconds
        self._done += 1
        if group:
            self._groups.appendleft(group)

    def _commit(self) -> None:
        self._case.store.commit()
        self._case.log.flush()
        self.progress(PHASE, self._done, self._total)

    def _finish(self, seconds: float) -> Extraction:
        interrupted = self._done < self._total
        records = self._case.store.records()
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
            self._case.folder,
            counts,
            self._done,
            seconds,
            dict(self._work),
            interrupted,
            count_reasons(records),
            self._settings.side,
            self._choice,
        )


@contextmanager
def stop_on_signals() -> Iterator[threading.Event]:
    """An event that Ctrl-C and SIGTERM set; a second one of them is obeyed at once.

    Give it to `extract_photos` as `stop`. A signal that this process was started to ignore,
    as Ctrl-C in the background of a script, is ignored further.
    """
    stop = threading.Event()

    def ask(*_: Any) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()

    heeded = [
        number
        for number in (signal.SIGINT, signal.SIGTERM)
        if signal.getsignal(number) is not signal.SIG_IGN
    ]
    before = {number: signal.signal(number, ask) for number in heeded}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
