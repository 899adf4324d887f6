"""Commands killed at every kind of moment: once more, and all is as if nobody had come."""

import json
import random
import shutil
import signal
import time
from contextlib import suppress
from dataclasses import dataclass

from tests.soak.jobs import JOBS
from tests.soak.runs import accounts_for, end, finish, hashes, kill_a_worker, kill_run, start

HOWS = ("steps", "random", "workers")
TRIES = 6  # for each kill that is wanted: a run may end before


@dataclass
class Calm:
    """What a command leaves behind that nobody disturbs, and its seconds."""

    made: dict
    names: set
    seconds: float
    moments: int


class Killing:
    """Kills one command again and again, in one folder.

    Parameters
    ----------
    world : what commands begin with
    name : of a job
    place : a folder of its own
    seed : of everything random
    """

    def __init__(self, world, name, place, seed=0):
        self.world, self.job, self.place = world, JOBS[name], place
        self.chance, self.rows = random.Random(f"{seed} {name}"), []
        self.photos = hashes(world.photos)
        self.calm = self._calm()

    def words(self, workers=2):
        return self.job.words(self.world, self.place, workers)

    def begin(self):
        shutil.rmtree(self.place, ignore_errors=True)
        self.place.mkdir(parents=True)
        self.job.prepare(self.world, self.place)

    def _calm(self):
        self.begin()
        count = self.place.with_name(f"{self.place.name}.moments")
        began = time.monotonic()
        code, error = finish(*self.words(1), SOAK_MOMENTS=count)
        seconds = time.monotonic() - began
        assert code in self.job.codes, (code, error)
        moments = int(count.read_text())
        count.unlink()
        names = {path.name for path in self.place.iterdir()}
        return Calm(self.job.made(self.place), names, min(seconds, 8.0), moments)

    def at_steps(self, count):
        """Killed before and after what lasts, at some of the moments of the run."""
        moments = self.calm.moments
        for at in self.chance.sample(range(1, moments + 1), min(TRIES * count, moments)):
            if self.kills("steps") >= count:
                break
            self.begin()
            wrong = []
            code = self._ended(start(*self.words(1), SOAK_KILL_AT=at), wrong)
            killed = code == -signal.SIGKILL
            # What is done is booked after some time: a run may have fewer moments than another.
            if not killed and code not in self.job.codes:
                wrong.append(f"not killed at moment {at} of {moments} but ended with {code}")
            self._note("steps", f"moment {at}", int(killed), wrong)
        return self.rows

    def at_random(self, count):
        """Killed after any time, one to three times before it may end."""
        for _ in range(TRIES * count):
            if self.kills("random") >= count:
                break
            self.begin()
            wrong, kills, waits = [], 0, []
            for _ in range(self.chance.randint(1, 3)):
                process = start(*self.words())
                time.sleep(wait := self.chance.uniform(0.05, 1.1 * self.calm.seconds))
                waits.append(f"{wait:.2f}")
                killed, said = _held(kill_run, process)
                kills += bool(killed)
                wrong += said
            self._note("random", f"after {', '.join(waits)} s", kills, wrong)
        return self.rows

    def of_workers(self, count):
        """Workers killed, or the server that forks them: the run goes on, or says why not."""
        for _ in range(TRIES * count):
            if self.kills("workers") >= count:
                break
            self.begin()
            wrong, killed = [], []
            process = start(*self.words())
            for _ in range(3):
                time.sleep(wait := self.chance.uniform(0.1, 0.5 * self.calm.seconds))
                if which := kill_a_worker(process, self.chance):
                    killed.append(f"{which} after {wait:.2f} s")
            answer, said = _held(end, process)
            wrong += said
            if answer is not None and answer[0] not in (*self.job.codes, 1, 3):
                wrong.append(f"ended with {answer[0]} after its workers were killed: {answer[1]}")
            elif answer is not None and answer[0] == 1 and not answer[1].startswith("Error: "):
                wrong.append(f"no sentence after its workers were killed: {answer[1][-300:]}")
            # A photo whose worker was killed is read by the next run, which then begins with
            # the groups of this one.
            may_differ = ("start.csv",) if answer is not None and answer[0] == 3 else ()
            self._note("workers", ", ".join(killed), len(killed), wrong, may_differ)
        return self.rows

    def kills(self, way):
        """How often it was killed so."""
        return sum(row["kills"] for row in self.rows if row["way"] == way)

    def _ended(self, process, wrong):
        answer, said = _held(end, process)
        wrong += said
        return None if answer is None else answer[0]

    def _note(self, way, how, kills, wrong, may_differ=()):
        stood = stage(self.place)
        if self.job.reads and self.job.made(self.place) != self.calm.made:
            wrong.append("the case was changed by a command that only reads")
        wrong += self.settle(may_differ)
        self.rows.append(
            {
                "command": self.job.name,
                "way": way,
                "how": how,
                "kills": kills,
                "stood": stood,
                "faults": [text.replace(str(self.place), "PLACE") for text in wrong],
            }
        )

    def settle(self, may_differ=()):
        """The same command once more; all that is not as after an undisturbed run."""
        answer, wrong = _held(finish, *self.words(1))
        if answer is None:
            return wrong
        code, error = answer
        if code not in self.job.codes:
            return [f"once more it ended with {code}: {error.strip()[-300:]}"]
        made, said = _held(self.job.made, self.place)
        wrong += said
        if made is not None and made != self.calm.made:
            differ = [k for k in {*made, *self.calm.made} if made.get(k) != self.calm.made.get(k)]
            if set(differ) - set(may_differ):
                wrong.append(f"not the same as undisturbed: {', '.join(sorted(map(str, differ)))}")
        if self.job.name in ("cluster", "extract"):
            wrong += _held(accounts_for, self.place / "case", self.photos)[1]
        if beside := {path.name for path in self.place.iterdir()} - self.calm.names:
            wrong.append(f"written beside: {', '.join(sorted(beside))}")
        if left := leftovers(self.place):
            wrong.append(f"left over: {', '.join(left)}")
        if hashes(self.world.photos) != self.photos:
            wrong.append("photos were changed")
        return wrong


def _held(function, *arguments):
    """What a check gives, and no fault; or None and the fault, if it does not hold."""
    try:
        return function(*arguments), []
    except (AssertionError, OSError, ValueError, KeyError) as error:
        return None, [f"{function.__name__}: {type(error).__name__}: {str(error)[-400:]}"]


def leftovers(place):
    """Files that are there for the time of writing alone, without the number of the process."""
    names = (path for path in place.rglob("*") if path.name.startswith("."))
    return sorted(
        {path.relative_to(place).as_posix().rstrip("0123456789") for path in names}
        | {p.relative_to(place).as_posix() for p in place.rglob("*.part")}
    )


def stage(place):
    """How far a run had come when it was killed, by what is on disk."""
    for folder in (place, place / "out"):
        with suppress(FileNotFoundError):
            return json.loads((folder / "case" / "case.json").read_text())["state"]
    return "before the case"
