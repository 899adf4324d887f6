"""Random decisions about a case, by commands that are killed in between: none is lost."""

import random
import shutil
import signal

from samecam.case import check_log, open_case, read_decided
from tests.soak.kills import leftovers
from tests.soak.runs import end, hashes, start
from tests.soak.slots import Slot

MOMENTS = 20  # of a command that decides; one that is refused has fewer
KINDS = (
    *("merge", "split", "reject", "move", "same", "different", "cannot-tell", "confirm"),
    *("name", "note", "status", "undo", "undo", "undo"),
)


def words_of(decided, chance):
    """Words of any decision that can be typed now; some are refused for an earlier one."""
    kind = chance.choice(KINDS)
    cameras = [camera.name for camera in decided.cameras]
    photos = [photo.sha256 for photo in decided.photos]
    camera, given = chance.choice(cameras), f"{kind} {chance.randrange(10**6)}"
    own = [photos[row] for row in decided.cameras[decided.names[camera]].rows]
    if kind == "undo":
        numbers = [str(decision.number) for decision in decided.decisions]
        return (kind, chance.choice(numbers or ["1"]))
    if kind in ("different", "cannot-tell") and chance.random() < 0.5:
        return (kind, camera, chance.choice(cameras))
    return (
        kind,
        *{
            "merge": (camera, chance.choice(cameras)),
            "split": (camera, *chance.sample(own, chance.randint(1, len(own)))),
            "reject": (camera, chance.choice(own)),
            "move": (camera, chance.choice(photos)),
            "confirm": (camera,),
            "name": (camera, given),
            "note": (chance.choice([camera, chance.choice(photos)]), given),
            "status": (camera, chance.choice(["ok", "check", "warning"])),
        }.get(kind, (chance.choice(photos), chance.choice(photos))),
    )


def lines(case):
    """Lines of the decisions of a case."""
    path = case / "decisions.jsonl"
    return path.read_bytes().splitlines(keepends=True) if path.exists() else []


def asked(case, words):
    return ("decide", case, *words, "--examiner", "Ada", "--reason", "soak", "--quiet")


def decide(world, place, count, kills, seed):
    """Take random decisions; some commands are killed, at any moment of writing.

    What a command said it had done, and what stood before it was killed, stays; `verify` finds
    nothing; the same decisions in peace give the same table; another run of `cluster` keeps them.

    Raises `AssertionError` if it is otherwise; else gives figures.
    """
    chance, case = random.Random(f"{seed} decisions"), place / "case"
    shutil.copytree(world.case, case)
    photos = hashes(world.photos)
    killed_at = set(chance.sample(range(count), kills))
    figures = {"decisions": 0, "undone": 0, "refused": 0, "kills": 0, "kept": 0}
    counted = []
    with Slot(place) as slot:
        for k in range(count):
            words, before = words_of(read_decided(open_case(case)), chance), lines(case)
            if k in killed_at:
                at = chance.randint(1, MOMENTS)
                code, error = end(start(*asked(case, words), SOAK_KILL_AT=at))
            else:
                said = slot.run(*asked(case, words))
                code, error = said.code, said.error
            after = lines(case)
            if after and not after[-1].endswith(b"\n"):
                assert code == -signal.SIGKILL, (words, code, error)
                after.pop()  # killed while it was written: it does not count
            made = len(after) - len(before)
            assert after[: len(before)] == before, ("decisions were lost or changed", words, code)
            assert made in {0: (1,), 1: (0,), -signal.SIGKILL: (0, 1)}.get(code, ()), (
                *(words, code, made, error),
            )
            assert code != 1 or error.startswith("Error: "), (words, error)
            figures["refused"] += code == 1
            figures["decisions"] += made
            figures["undone"] += made and words[0] == "undo"
            figures["kills"] += code == -signal.SIGKILL
            figures["kept"] += made and code == -signal.SIGKILL
            counted += [words] * made
        last = ("note", read_decided(open_case(case)).cameras[0].name, "the last one")
        assert slot.run(*asked(case, last)).code == 0
        settled(slot, case)
        again = place / "again"
        shutil.copytree(world.case, again)
        for words in (*counted, last):
            said = slot.run(*asked(again, words))
            assert said.code == 0, (words, said.error)
        assert (again / "decided.csv").read_bytes() == (case / "decided.csv").read_bytes()
        before, said = lines(case), slot.run(*world.commands(case)["cluster"], seconds=600)
        assert said.code == 3, said.error
        assert lines(case) == before, "grouping anew changed decisions"
        settled(slot, case)
    assert hashes(world.photos) == photos, "photos are only read"
    return figures


def settled(slot, case):
    """Both chains hold, `verify` finds nothing, and nothing is left over."""
    assert check_log(case / "log.jsonl") is None
    assert check_log(case / "decisions.jsonl") is None
    assert slot.run("report", case, "--workers", 1, "--quiet", seconds=600).code == 0
    said = slot.run("verify", case, "--workers", 1, seconds=600)
    assert said.code == 0, (said.out, said.error)
    assert leftovers(case.parent) == []
