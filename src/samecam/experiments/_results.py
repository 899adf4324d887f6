"""Results on disk: NAME.json with everything needed to make it again, and NAME.svg."""

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from samecam.errors import SamecamError
from samecam.experiments._experiment import Context, Experiment, Progress, silent
from samecam.experiments._list import experiment
from samecam.experiments._study import COMPUTED_WITH, Run, Study, write_file
from samecam.files import sweep
from samecam.pages import digest, read_json, svg
from samecam.provenance import commit, processor

FORMAT, VERSION = "samecam-result", 1
# Ending of results on real collections; those on twins have none.
REAL = "-real"
NOT_RECORDED = "not recorded"


class _Watched(Study):
    """A study that knows which of its runs were loaded: a folder may hold more than one result."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        super().__init__(folder)
        self.loaded: dict[str, int] = {}  # with the cameras of those that have a truth

    def load(self, key: str) -> Run:
        """See `Study.load`."""
        run = super().load(key)
        self.loaded[key] = len(set(run.arrays["truth"].tolist())) if "truth" in run.arrays else 0
        return run

    def documents(self) -> list[dict[str, Any]]:
        """Parameters, provenance and facts of all runs that were loaded, and their cameras."""
        return [{**self._document(key), "cameras": n} for key, n in self.loaded.items()]


def conduct(
    name: str,
    *,
    data: str | os.PathLike[str] | None = None,
    quick: bool = False,
    runs: int | None = None,
    study: str | os.PathLike[str] | None = None,
    results: str | os.PathLike[str] = "results",
    progress: Progress = silent,
    workers: int | None = None,
    memory: int | None = None,
    device: str = "auto",
) -> dict[str, Any]:
    """Run an experiment as far as it is not saved, score it, and write its result.

    Parameters
    ----------
    name : see `EXPERIMENTS`
    data : root of the real collection; None: simulated twins
    quick : fewer configurations and runs
    runs : of a method with chance in it; default 10, or 3 if quick
    study : folder of the runs; default studies/NAME, or studies/NAME-real with `data`
    results : folder for NAME.json and NAME.svg (NAME-real with `data`)
    progress, workers, memory, device : as for `Context`

    Returns
    -------
    dict
        What was written to the JSON.
    """
    wanted = experiment(name)
    if data is not None and not wanted.takes_data:
        raise SamecamError(f"{name} has no form for real collections: leave --data out.")
    stem = name if data is None else name + REAL
    watched = _Watched(Path("studies") / stem if study is None else study)
    context = Context(
        watched,
        quick=quick,
        data=None if data is None else Path(data),
        progress=progress,
        workers=workers,
        memory=memory,
        device=device,
        repeats=runs,
    )
    wanted.run(context)
    document = _document(wanted, context, watched)
    target = Path(results)
    # Written before it is drawn: a picture can be made again.
    write_file(target / f"{stem}.json", document_text(document))
    sweep(target)
    read = read_result(target / f"{stem}.json")
    write_file(target / f"{stem}.svg", svg(wanted.plot(read["result"]), digest(read["result"])))
    return read


def _document(wanted: Experiment, context: Context, watched: _Watched) -> dict[str, Any]:
    """A result with where it comes from; keys in the order in which people read."""
    from samecam import compute

    watched.loaded.clear()  # from here on, only what the scores rest on
    result = wanted.score(context.study, context)
    options = " --data DIR" * (context.data is not None) + " --quick" * context.quick
    options += f" --runs {context.repeats}" if context.repeats else ""
    runs = result.get("runs", [])
    documents = watched.documents()
    made = [document["made"] for document in documents]
    real = {"photographs": photographs(documents)} if context.data is not None else {}
    return {
        "format": FORMAT,
        "version": VERSION,
        "experiment": wanted.name,
        "title": wanted.title,
        "command": f"samecam experiment {wanted.name}{options}",
        "kind": "twin" if context.data is None else "real",
        "quick": context.quick,
        "repeats": context.runs,
        **real,
        "seeds": sorted({run["seed"] for run in runs if "seed" in run}),
        "commit": each(made, "commit") or commit(),
        "scored_at": commit(),
        "versions": each_version(one["versions"] for one in made),
        "device": each(runs, "device") or compute.choose_device(context.device),
        "processor": each(made, "processor") or processor(),
        "cores": os.cpu_count(),
        "result": result,
    }


def photographs(documents: Iterable[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Which photographs runs were made of, each set once: a description and a SHA-256.

    The SHA-256 is over the list of their names and cameras, not over the pixels.
    """
    sets: dict[tuple[str, str], None] = {}
    for document in documents:
        given = document["parameters"]
        if "sha256" not in given or not (document["cameras"] or "photos" in given):
            continue  # simulated, or a method that could not do them
        words = given.get("photos")
        if words is None:
            words = f"{given['collection']}, {document['cameras']} cameras, {given['images']} files"
        sets[words, given["sha256"]] = None
    return [{"photos": words, "sha256": value} for words, value in sets]


def each_version(runs: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """By library, all versions that runs were made with; they may be of several days.

    Where a run does not name a version, it is "not recorded".
    """
    recorded = list(runs)
    names = dict.fromkeys([*(name for one in recorded for name in one), *COMPUTED_WITH])
    return {
        name: ", ".join(sorted({one.get(name, NOT_RECORDED) for one in recorded})) or NOT_RECORDED
        for name in names
    }


def each(runs: list[dict[str, Any]], name: str) -> str:
    """What the runs say of that name: they may be another day's, or another machine's."""
    return ", ".join(sorted({run[name] for run in runs if run.get(name)}))


def document_text(document: dict[str, Any]) -> str:
    """JSON with one line a run, so that it can be read and compared."""
    runs = document["result"].get("runs", [])
    if not runs:
        return json.dumps(document, indent=1, ensure_ascii=False) + "\n"
    mark = "@@runs@@"
    whole = {**document, "result": {**document["result"], "runs": mark}}
    lines = ",\n   ".join(json.dumps(run, ensure_ascii=False) for run in runs)
    text = json.dumps(whole, indent=1, ensure_ascii=False)
    return text.replace(f'"{mark}"', f"[\n   {lines}\n  ]") + "\n"


def read_result(path: Path) -> dict[str, Any]:
    """What a NAME.json holds, or an error that says what is wrong with it."""
    document = read_json(path, "run the experiment first")
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise SamecamError(f"{str(path)!r} is no result of an experiment: move it away.")
    if document.get("version") != VERSION or "repeats" not in document:
        raise SamecamError(f"{str(path)!r} is of another version of samecam: make it again.")
    return document
