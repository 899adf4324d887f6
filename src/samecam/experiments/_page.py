"""docs/results.md, made from the files in results/ and from nothing else."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from samecam.experiments._experiment import RUNS
from samecam.experiments._list import EXPERIMENTS, experiment
from samecam.experiments._results import REAL, read_result
from samecam.pages import Page, table

COMMAND = "samecam experiment page"

_HEAD = """\
# Results: the paper's tables and figures, ours beside theirs

Made by `samecam experiment page` from `../results`, where every run stands with its seed, commit
and command: do not edit.

*Ours* is the default method, `consolidated`. *Twins* are simulated collections with the cameras and
images of the paper's ([twins](twins.md)); they say nothing about real photographs. The paper's
figures carry no numbers: beside ours stands what its tables and text print. Methods with chance in
them run ten times (quick: three): mean ± standard deviation. F, precision and recall are of pairs,
and a photo in no group counts as a group of its own. After a set of photographs: the first digits
of its list's SHA-256.
"""
# Digits of a SHA-256 that the page shows; the JSON has all.
_SHORT = 12
# Lines below the head of a table of twins that is shown beside one of photographs, at most.
_FEW = 4
_ON = {"twin": "simulated", "real": "photographs"}


def results_page(results: str | os.PathLike[str], docs: str | os.PathLike[str] = "docs") -> str:
    """Text of the page: a table of all experiments, then a section for each that was made.

    Parameters
    ----------
    results : folder with NAME.json and NAME.svg
    docs : folder that the page stands in; links are relative to it
    """
    folder = Path(results)
    link = Path(os.path.relpath(folder, docs)).as_posix()
    documents = {stem: read_result(path) for stem, path in _files(folder).items()}
    head = _HEAD.replace("`../results`", f"`{link}`")
    parts = [head, _overview(documents, link)]
    parts += [
        _section(name, made, link) for name in EXPERIMENTS if (made := _made(name, documents))
    ]
    return "\n".join(parts)


def write_page(results: str | os.PathLike[str], docs: str | os.PathLike[str] = "docs") -> Path:
    """Write `results.md` into `docs`."""
    page = Page(Path(docs) / "results.md", COMMAND, lambda _: results_page(results, docs))
    page.write()
    return page.path


def _files(folder: Path) -> dict[str, Path]:
    """Results that are there, in the order of the experiments, twins before real ones."""
    stems = [stem for name in EXPERIMENTS for stem in (name, name + REAL)]
    paths = {stem: folder / f"{stem}.json" for stem in stems}
    return {stem: path for stem, path in paths.items() if path.is_file()}


def _made(name: str, documents: Mapping[str, Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """Results of one experiment: on twins and on photographs."""
    return {stem: documents[stem] for stem in (name, name + REAL) if stem in documents}


def _overview(documents: Mapping[str, Mapping[str, Any]], link: str) -> str:
    rows = []
    for name, entry in EXPERIMENTS.items():
        first = [f"[{name}](#{name})", entry.summary]
        for stem, document in _made(name, documents).items():
            made_at = f"[{document['commit'] or 'unknown'}]({link}/{stem}.json)"
            rows.append([*first, _ON[document["kind"]], _how(document), made_at])
            first = ["", ""]  # said once
        if first[0]:
            rows.append([name, entry.summary, "not made yet", "", ""])
    return table(["experiment", "what it shows", "on", "runs", "made at"], rows) + "\n"


def _section(name: str, made: Mapping[str, Mapping[str, Any]], link: str) -> str:
    """An experiment: how it is read, a picture, a table, and what was found; photographs first.

    Of twins beside photographs a long table is left out.
    """
    shown = experiment(name)
    stems = sorted(made, key=lambda stem: made[stem]["kind"] == "twin")
    parts = [
        f"## {name}\n\n*{shown.title}.* {shown.about}",
        f"![{name}]({link}/{stems[0]}.svg)",
    ]
    for stem in stems:
        document = made[stem]
        told = shown.tell(document["result"])
        other = "" if stem == stems[0] else f" ([picture]({link}/{stem}.svg))"
        parts += [f"**{_ON[document['kind']].capitalize()}**{_photographs(document)}{other}:",
                  told.said]  # fmt: skip
        if stem == stems[0] or told.table.count("\n") <= _FEW:
            parts.append(told.table)
    return "\n\n".join(parts) + "\n"


def _how(document: Mapping[str, Any]) -> str:
    """Whether a result is the whole of it."""
    if document["quick"]:
        return "quick"
    return "full" if document["repeats"] == RUNS else f"full, but {document['repeats']} runs"


def _photographs(document: Mapping[str, Any]) -> str:
    """Which photographs a result is of, so that it can be made again of the same."""
    sets = document.get("photographs", [])
    if not sets:
        return ""
    names = [f"{one['photos'].partition(', ')[2]}, `{one['sha256'][:_SHORT]}`" for one in sets]
    return f" ({'; '.join(names)})"
