"""Every command that may be killed: what it begins with, its words, and what it leaves behind."""

import hashlib
import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from samecam.case import open_store

TABLES = ("images.csv", "clusters.csv", "clusters.json", "evidence.csv", "start.csv")
STUDY = "rivals-table"
# Runs that are taken out of the finished study, so that there is something to do.
RUNS = ("phan-D3/ccc", "phan-D3/average-linkage", "phan-D4/hdbscan", "phan-D4/ours")
# Entries that are never twice the same.
FLEETING = ("seconds", "peak_memory", "correlating_seconds", "memory")


@dataclass(frozen=True)
class Job:
    """A command, begun in a folder `place` with what `prepare` puts there.

    Attributes
    ----------
    words : of (world, place, number of workers)
    made : what it leaves behind, by name, as it must be after any kill; of `place`
    codes : with which it ends
    reads : whether it only reads the case
    kills : how many in a round, before and after steps of writing, at random, and of workers
    """

    name: str
    words: Callable[..., tuple]
    made: Callable[[Path], dict]
    prepare: Callable = field(default=lambda *_: None)
    codes: tuple = (0,)
    reads: bool = False
    kills: tuple[int, int, int] = (0, 0, 0)


def digest(data):
    return hashlib.sha256(data).hexdigest()


def tables(place):
    """Tables and fingerprints of a case."""
    case = place / "case"
    made = {n: digest((case / n).read_bytes()) for n in TABLES if (case / n).exists()}
    with open_store(case) as store:
        for frame in store.frames:
            rows = store.rows(frame)
            keys = json.dumps(list(rows.keys)).encode()
            made[f"fingerprints {frame.name}"] = digest(keys + rows.read().tobytes())
        made["damaged"] = store.verify()
    made["counts"] = json.loads((case / "case.json").read_text())["counts"]
    return made


def answer(place):
    """Tables, fingerprints, and that the case is finished, with a report."""
    state = json.loads((place / "case" / "case.json").read_text())["state"]
    return tables(place) | {"state": state, "report": (place / "case" / "report.html").exists()}


def everything(folder):
    """Hash of every file below a folder."""
    return {
        path.relative_to(folder).as_posix(): digest(path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def lasting(value):
    """A JSON document without times and the like."""
    if isinstance(value, dict):
        return {k: lasting(v) for k, v in value.items() if k not in FLEETING}
    return [lasting(v) for v in value] if isinstance(value, list) else value


def documents(*names):
    """JSON files of a place, without times."""
    return lambda place: {n: lasting(json.loads((place / n).read_text())) for n in names}


def study(place):
    """Results of an experiment, and the labels of every run."""
    runs = place / "study" / "runs"
    made = documents(f"results/{STUDY}.json")(place)
    return made | {f"{p.relative_to(runs)}": digest(p.read_bytes()) for p in runs.rglob("*.npz")}


def copy_case(world, place):
    shutil.copytree(world.case, place / "case")


def copy_square(world, place):
    """The case of squares, on which parameters are tuned."""
    shutil.copytree(world.root / "square", place / "case")


def copy_without_report(world, place):
    copy_case(world, place)
    (place / "case" / "report.html").unlink()


def copy_study(world, place):
    shutil.copytree(world.root / "study", place / "study")
    for run in RUNS:
        shutil.rmtree(place / "study" / "runs" / run)


def experiment(folder, workers=1):
    """Words of the experiment, with its study and results in a folder."""
    where = ("-o", folder / "study", "--results", folder / "results")
    given = ("--quick", "--runs", 1, "--workers", workers, "--quiet")
    return ("experiment", STUDY, *given, *where)


def _photos(command, made, kills):
    def words(world, place, workers):
        return (
            *(command, world.photos, "-o", place / "case"),
            *("--workers", workers, "--quiet"),
        )

    return Job(command, words, made, codes=(3,), kills=kills)


def _on_case(name, *more, workers=False, **about):
    def words(world, place, count):
        given = [world.root / word[1:] if str(word).startswith("@") else word for word in more]
        threads = ("--workers", count) if workers else ()
        return (name.split()[0], place / "case", *given, *threads, "--quiet")

    return Job(name, words, **{"prepare": copy_case, **about})


def _export(kind, ending):
    def made(place):
        return {"export": digest((place / "case" / f"export.{ending}").read_bytes())}

    return _on_case(f"export {kind}", "--format", kind, made=made, kills=(1, 1, 0))


def _simulate(_, place, workers):
    wanted = ("--cameras", 2, "--images", 4, "--size", "96x64")
    return ("simulate", "-o", place / "out", *wanted, "--workers", workers, "--quiet")


def _validate(world, place, workers):
    given = ("--truth", world.root / "labelled" / "truth.csv", "--workers", workers, "--quiet")
    return ("validate", world.root / "labelled" / "images", "-o", place / "out", *given)


def validation(place):
    """Figures, comparisons and page of a validation, and the fingerprints below it."""
    out = place / "out"
    made = {path.name: digest(path.read_bytes()) for path in out.iterdir() if path.is_file()}
    return made | tables(out)


_READS = {"made": lambda place: everything(place / "case"), "reads": True}
_TRUTH = ("--truth", "@sim/truth.csv")
JOBS = {
    job.name: job
    for job in (
        _photos("cluster", answer, (6, 4, 3)),
        _photos("extract", tables, (4, 2, 2)),
        _on_case("add", "@new", made=answer, codes=(3,), workers=True, kills=(5, 2, 2)),
        _on_case("match", "@more", workers=True, kills=(0, 2, 2), **_READS),
        _on_case("verify", kills=(0, 2, 0), **_READS),
        _on_case(
            "report",
            made=lambda place: {"page": digest((place / "case" / "report.html").read_bytes())},
            prepare=copy_without_report,
            workers=True,
            kills=(2, 2, 1),
        ),
        _export("csv", "csv"),
        _export("json", "json"),
        _export("vics", "vics.json"),
        _export("case", "case.jsonld"),
        _on_case(
            *("compare", "--methods", "consolidated", *_TRUTH),
            made=documents("case/compare.json"),
            kills=(1, 1, 1),
        ),
        _on_case(
            *("tune", "--runs", 1, *_TRUTH),
            prepare=copy_square,
            made=lambda place: {"tune": digest((place / "case" / "tune.json").read_bytes())},
            kills=(1, 1, 0),
        ),
        Job(
            "experiment",
            lambda _, place, workers: experiment(place, workers),
            study,
            copy_study,
            kills=(2, 2, 0),
        ),
        Job("validate", _validate, validation, kills=(4, 2, 2)),
        Job("simulate", _simulate, lambda place: everything(place / "out"), kills=(3, 2, 2)),
    )
}
