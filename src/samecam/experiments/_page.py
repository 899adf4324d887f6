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

Made by `samecam experiment page` from the files in `../results`: do not edit. Every number
of ours below stands in the JSON named beside it, with each run, its seed, and the commit that
made it;
`samecam experiment NAME` makes it again.

*Ours* is the default method, `consolidated`. *Twins* are simulated collections with the cameras
and images of the paper's, on which LS-SSC was made to do about as well as in print
([twins](twins.md)); they say nothing about real photographs. The paper's figures
carry no numbers, so what stands beside ours is only what its tables and text print. Methods with
chance in them run ten times with seeds 0, 1, …, in a quick study three times, or as often as is
said: mean ± standard deviation. F, precision and recall are of pairs, and an unclustered photo
counts as a group of its own. L_g is the number of cameras, L_p that of groups found (L_p/L_g above
1: cameras are split), L_d that of cameras that are found: those of which some group holds more
photos than of all others together. "Level" is the same F to six digits. "1" is 1 to six digits;
what is nearly 1 has as many digits as it takes to see it.
"""
# Digits of a SHA-256 that the page shows; the JSON has all.
_SHORT = 12


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
    parts += [_section(stem, document, link) for stem, document in documents.items()]
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


def _overview(documents: Mapping[str, Mapping[str, Any]], link: str) -> str:
    rows = []
    for name, entry in EXPERIMENTS.items():
        made = [(stem, documents[stem]) for stem in (name, name + REAL) if stem in documents]
        if not made:
            rows.append([name, entry.summary, "not made yet", "", ""])
        for stem, document in made:
            kind = "twins" if document["kind"] == "twin" else "photographs"
            how = _how(document, short="quick")
            made_at = f"[{document['commit'] or 'unknown'}]({link}/{stem}.json)"
            rows.append([f"[{stem}](#{stem})", entry.summary, kind, how, made_at])
    return table(["experiment", "what it shows", "on", "runs", "made at"], rows) + "\n"


def _section(stem: str, document: Mapping[str, Any], link: str) -> str:
    shown = experiment(document["experiment"])
    how = _how(document, short="quick: fewer configurations and runs")
    # Where results are shown beside simulated ones, say which these are.
    on = "simulated" if document["kind"] == "twin" else "on photographs"
    return (
        f"## {stem}\n\n*{document['title']}* ({on}; {how}). `{document['command']}`, "
        f"[{stem}.json]({link}/{stem}.json).\n\n"
        f"{_photographs(document)}"
        f"![{shown.title}]({link}/{stem}.svg)\n\n"
        f"{shown.text(document['result']).strip()}\n"
    )


def _how(document: Mapping[str, Any], *, short: str) -> str:
    """Whether a result is the whole of it."""
    if document["quick"]:
        return short
    return "full" if document["repeats"] == RUNS else f"full, but {document['repeats']} runs"


def _photographs(document: Mapping[str, Any]) -> str:
    """Which photographs a result is of, so that it can be made again of the same."""
    sets = document.get("photographs", [])
    if not sets:
        return ""
    names = [f"{one['photos']} (`{one['sha256'][:_SHORT]}`)" for one in sets]
    return (
        f"Of {'; '.join(names)}. In brackets: the first {_SHORT} digits of the SHA-256 of the list "
        "of their names and cameras.\n\n"
    )
