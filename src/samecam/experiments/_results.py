"""Results on disk: NAME.json with everything needed to make it again, and NAME.svg."""

import io
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from samecam.errors import SamecamError
from samecam.experiments._experiment import Context, Experiment, Progress, silent
from samecam.experiments._list import experiment
from samecam.experiments._made import commit, processor
from samecam.experiments._study import Study, write_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMAT, VERSION = "samecam-result", 1
# Ending of results on real collections; those on twins have none.
REAL = "-real"


def conduct(
    name: str,
    *,
    data: str | os.PathLike[str] | None = None,
    quick: bool = False,
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
    study : folder of the runs; default studies/NAME, or studies/NAME-real with `data`
    results : folder for NAME.json and NAME.svg (NAME-real with `data`)
    progress, workers, memory, device : as for `Context`

    Returns
    -------
    dict
        What was written to the JSON.
    """
    found = experiment(name)
    if data is not None and not found.takes_data:
        raise SamecamError(f"{name} has no form for real collections: leave --data out.")
    stem = name if data is None else name + REAL
    context = Context(
        Study(Path("studies") / stem if study is None else study),
        quick=quick,
        data=None if data is None else Path(data),
        progress=progress,
        workers=workers,
        memory=memory,
        device=device,
    )
    found.run(context)
    document = _document(found, context)
    target = Path(results)
    # Written before it is drawn: a picture can be made again.
    write_text(target / f"{stem}.json", _text(document))
    read = read_result(target / f"{stem}.json")
    write_text(target / f"{stem}.svg", svg(found.plot(read["result"])))
    return read


def _document(found: Experiment, context: Context) -> dict[str, Any]:
    """A result with where it comes from; keys in the order in which people read."""
    from samecam import compute
    from samecam.case import versions

    result = found.score(context.study, context)
    options = " --data DIR" * (context.data is not None) + " --quick" * context.quick
    runs = result.get("runs", [])
    made = [context.study.provenance(key) for key in context.study.keys("")]
    return {
        "format": FORMAT,
        "version": VERSION,
        "experiment": found.name,
        "title": found.title,
        "command": f"samecam experiment {found.name}{options}",
        "kind": "twin" if context.data is None else "real",
        "quick": context.quick,
        "seeds": sorted({run["seed"] for run in runs if "seed" in run}),
        "commit": _each(made, "commit") or commit(),
        "scored_at": commit(),
        "versions": versions(),
        "device": _each(runs, "device") or compute.choose_device(context.device),
        "processor": _each(made, "processor") or processor(),
        "cores": os.cpu_count(),
        "result": result,
    }


def _each(runs: list[dict[str, Any]], name: str) -> str:
    """What the runs say of that name: they may be another day's, or another machine's."""
    return ", ".join(sorted({run[name] for run in runs if run.get(name)}))


def _text(document: dict[str, Any]) -> str:
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
    """What a NAME.json holds, or a sentence why not."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise SamecamError(f"{str(path)!r} is not there: run the experiment first.") from None
    except (OSError, ValueError) as error:
        raise SamecamError(f"{str(path)!r} cannot be read ({error}): make it again.") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise SamecamError(f"{str(path)!r} is no result of an experiment: move it away.")
    if document.get("version") != VERSION:
        raise SamecamError(f"{str(path)!r} is of another version of samecam: make it again.")
    return document


def svg(figure: "Figure") -> str:
    """A figure as SVG, the same bytes for the same figure: no date, names not by chance."""
    import matplotlib

    stream = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": "samecam", "svg.fonttype": "path"}):
        figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})
    lines = (line.rstrip() for line in stream.getvalue().splitlines())
    return "\n".join(lines) + "\n"
