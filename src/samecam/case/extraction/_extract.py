"""The run: files to fingerprints, in parallel, resumable at any moment."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path

from samecam import compute
from samecam.case.extraction._copies import mark_copies
from samecam.case.extraction._dispatch import Dispatch, dispatch
from samecam.case.extraction._duplicates import likely_duplicates
from samecam.case.extraction._estimate import Estimate, disk_bytes, free_bytes
from samecam.case.extraction._ledger import Ledger
from samecam.case.extraction._prepare import Job, Photos, prepare
from samecam.case.extraction._worker import ExtractionTask, Outcome
from samecam.case.folder import STATUSES, Case, ExtractionSettings
from samecam.errors import SamecamError
from samecam.frames import Frame
from samecam.inputs import PathLike
from samecam.notebook import table
from samecam.photos import PhotoFile
from samecam.provenance import versions
from samecam.store import Record

COMMIT_SECONDS = 0.5
PHASE = "Extracting"


@dataclass(frozen=True, slots=True, repr=False)
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
    frames : photos with a fingerprint, frame by frame, that with most first
    brought : whether the fingerprints come from a file, not from photos
    missing : files of the case that are no longer there; what was taken from them stays
    changed : files whose bytes are others than before; they were read again
    copies : photos that are copies, each with the photo it is a copy of
    """

    case: Path
    counts: dict[str, int]
    done: int
    seconds: float
    work: dict[str, float] = field(default_factory=dict)
    interrupted: bool = False
    reasons: dict[str, dict[str, int]] = field(default_factory=dict)
    frames: dict[Frame, int] = field(default_factory=dict)
    brought: bool = False
    missing: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    copies: dict[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        found = ", ".join(f"{number} {status}" for status, number in self.counts.items() if number)
        stopped = " (interrupted)" if self.interrupted else ""
        return f"<Extraction into {str(self.case)!r}: {found or 'no file'}{stopped}>"

    def __fspath__(self) -> str:
        return str(self.case)

    def _repr_html_(self) -> str:
        """What a notebook shows: files by status, and why some were not used."""
        why = {
            status: ", ".join(f"{reason} ({number})" for reason, number in reasons.items())
            for status, reasons in self.reasons.items()
        }
        rows = [(status, n, why.get(status, "")) for status, n in self.counts.items() if n]
        return table(repr(self)[1:-1], ("status", "files", "why"), rows)


def extract_photos(
    photos: Photos,
    case: PathLike,
    settings: ExtractionSettings | None = None,
    *,
    resources: compute.Resources | None = None,
    progress: compute.Progress | None = None,
    stop: threading.Event | None = None,
    planned: Callable[[Estimate], None] | None = None,
) -> Extraction:
    """Turn files into a case folder with a fingerprint for each usable photograph.

    Every file gets a row in `images.csv`. Files done before, by size and time of change, are
    not done again. The result does not depend on the number of workers, on interruptions, or
    on the order in which the file system lists files. Work is done in other processes: in a
    script, call this under ``if __name__ == "__main__":``.

    Parameters
    ----------
    photos : files, folders, patterns, or ``@list.txt``
    case : folder for the result; made if needed, never inside a photo folder
    settings : how fingerprints are made
    resources : what does the work; on a cluster its workers must see the case and the photos
        under the same paths
    progress : called as progress(phase, done, total) from time to time
    stop : set it to end after the files in hand; see `stop_on_signals`
    planned : called with what is to be done and its cost, before it is done

    Examples
    --------
    >>> extracted = samecam.extract_photos(["photos/"], "CASE")
    >>> print(extracted.counts)
    """
    resources = (resources or compute.Resources()).resolve()
    at_a_time = resources.at_a_time()  # a scheduler that is not there is told at once
    progress, stop = compute.shown_progress(progress), stop or threading.Event()
    job = prepare(photos, case, settings or ExtractionSettings(), resources, progress, stop)
    if job.interrupted:
        return interrupted_before(job)
    if planned is not None:
        planned(job.plan(at_a_time))
    with Case(job.case, job.settings, job.sources) as folder:
        return ExtractionRun(folder, job, resources, progress, stop).execute()


def interrupted_before(job: Job) -> Extraction:
    """What is told of a run that was stopped before it had begun."""
    return Extraction(job.case, dict.fromkeys(STATUSES, 0), 0, 0.0, interrupted=True)


def frames_with_rows(case: Case) -> dict[Frame, int]:
    """Photos with a fingerprint, frame by frame, that with most first."""
    counts = {frame: len(case.store.rows(frame)) for frame in case.store.frames}
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _copies(case: Case) -> dict[str, str]:
    given = ((record.key, record.meta.get("copy_of")) for record in case.store.records())
    return {key: of for key, of in given if of}


class ExtractionRun:
    """One run on an open case.

    Parameters
    ----------
    case : open for writing
    job : what is to be done
    resources : resolved
    keep_all : whether what the case has from elsewhere stays as it is
    settled : photos that are originals, whatever joins them; see `mark_copies`
    """

    def __init__(
        self,
        case: Case,
        job: Job,
        resources: compute.Resources,
        progress: compute.Progress,
        stop: threading.Event,
        *,
        keep_all: bool = False,
        settled: Collection[str] | None = None,
    ) -> None:
        self._case, self._job, self._resources = case, job, resources
        self._progress, self._stop, self._keep_all = progress, stop, keep_all
        self._ledger = Ledger(case.store.records(), job.files)
        self._queues = deque(map(deque, likely_duplicates(self._ledger.pending)))
        self._total = len(self._ledger.pending)
        self._done = 0
        self._work: dict[str, float] = {}
        self._changed: list[str] = []
        self._settled = settled

    def execute(self) -> Extraction:
        """Work through what is not done yet, and write `images.csv`."""
        began = time.monotonic()
        self._check_space()
        self._case.log.add(
            "extract", files=self._total, settings=self._job.settings.as_dict(), versions=versions()
        )
        self._case.save(state="extracting", versions=versions(), **self._device())
        if self._total:
            self._work_through()
        if not (self._stop.is_set() or self._keep_all):
            self._case.store.discard(self._ledger.never_read())
        return self._finish(time.monotonic() - began)

    def _device(self) -> dict[str, str]:
        """What computes fingerprints, for `case.json`; it stays if there are none to make."""
        known = self._case.info.get("device", "")
        used = compute.describe_device(self._resources.device)
        if known and (not self._total or used in known.split(", ")):
            return {}
        earlier = [known] if known and self._case.store.frames else []
        return {"device": ", ".join([*earlier, used])}

    def _check_space(self) -> None:
        free = free_bytes(self._case.folder)
        need = disk_bytes(self._ledger.pending, self._job.frames, self._job.settings, free)
        if need > free:
            raise SamecamError(
                f"The fingerprints of up to {self._total} photos need "
                f"{compute.format_bytes(need)} and only {compute.format_bytes(free)} are free for "
                f"{str(self._case.folder)!r}: free some, or name a folder on a larger disk."
            )

    def _work_through(self) -> None:
        workers = dispatch(
            self._resources,
            self._job.settings,
            self._case.store.folder,
            self._ledger.pending,
            self._job.largest,
        )
        try:
            self._drain(workers)
            while (again := self._ledger.orphans(self._job.files)) and not self._stop.is_set():
                self._total += len(again)
                self._queues = deque(map(deque, likely_duplicates(again)))
                self._drain(workers)
        except BaseException:
            workers.stop()
            raise
        workers.close()

    def _drain(self, workers: Dispatch) -> None:
        """Keep the workers busy, commit what they finish, until nothing is left."""
        rest: dict[str, deque[PhotoFile]] = {}
        committed = time.monotonic()
        self._progress(PHASE, self._done, self._total)
        while True:
            while self._queues and workers.wants() and not self._stop.is_set():
                queue = self._queues.popleft()
                item = queue.popleft()
                rest[item.path] = queue
                known = self._ledger.possible_duplicates(item)
                workers.put(ExtractionTask(item.path, item.file, known))
            if workers.idle():
                break
            more = bool(self._queues) and not self._stop.is_set()
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

    def _take(self, outcome: Outcome, queue: deque[PhotoFile]) -> None:
        """Record one outcome and let the next of its queue go."""
        meta = outcome.meta()
        if outcome.status == "duplicate":
            owner = self._ledger.owner(outcome.sha256)
            own = {name: meta[name] for name in ("status", "code", "bytes", "modified", "passing")}
            reason = f"same bytes as {owner.key}"
            rest = {k: v for k, v in owner.meta.items() if k not in ("copy_of", "aside")}
            meta = {**rest, **own, "reason": reason, "duplicate_of": owner.key}
        frame = None if outcome.place is None else outcome.place.frame
        record = Record(outcome.path, outcome.sha256, meta, frame)
        if self._ledger.replaces_other_bytes(record):
            self._changed.append(record.key)
        self._ledger.book(record)
        self._case.store.add_placed(outcome.path, outcome.place, sha256=outcome.sha256, meta=meta)
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
        if queue:
            self._queues.appendleft(queue)

    def _commit(self) -> None:
        self._case.store.commit()
        self._case.log.flush()
        self._progress(PHASE, self._done, self._total)

    def _finish(self, seconds: float) -> Extraction:
        interrupted = self._done < self._total
        if not interrupted and self._job.settings.size is None:
            marked = mark_copies(self._case, self._progress, self._stop, self._settled)
            interrupted = not marked
        counts, reasons = self._case.end_extraction(
            interrupted=interrupted, done=self._done, seconds=seconds, work=self._work
        )
        return Extraction(
            self._case.folder,
            counts,
            self._done,
            seconds,
            dict(self._work),
            interrupted,
            reasons,
            frames_with_rows(self._case),
            missing=[] if self._keep_all else self._ledger.missing(),
            changed=sorted(self._changed),
            copies=_copies(self._case),
        )
