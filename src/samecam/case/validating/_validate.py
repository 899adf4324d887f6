"""A laboratory's own labelled photos in, figures of performance out."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from samecam import compute
from samecam.case.extraction import (
    Estimate,
    Extraction,
    Photos,
    extract_photos,
    nothing_left_to_finish,
)
from samecam.case.folder import ExtractionSettings, open_case
from samecam.case.validating._comparisons import compare_labelled
from samecam.case.validating._criteria import Criteria
from samecam.case.validating._files import RESULT, TABLE, document, table, write_files
from samecam.case.validating._labelled import label, load_truth
from samecam.errors import SamecamError
from samecam.files import check_writable, sweep
from samecam.inputs import PathLike

# What lies in the folder, beside the page that is made of it.
CASE_FOLDER, VALIDATION_PAGE = "case", "validation.html"
PHASE = "Comparing"
_OURS = {CASE_FOLDER, RESULT, TABLE, VALIDATION_PAGE}


@dataclass(frozen=True, slots=True)
class Validation:
    """What was done and found.

    Attributes
    ----------
    output : the folder
    extraction : what became of the photos
    content : as it stands in `validation.json`; empty if the run was stopped before
    """

    output: Path
    extraction: Extraction
    content: dict[str, Any] = field(default_factory=dict)

    @property
    def interrupted(self) -> bool:
        """Whether it was asked to stop before the end."""
        return not self.content

    @property
    def verdict(self) -> str:
        """Whether the criteria are met: "passed", "failed" or "not decided"; "" if interrupted."""
        return str(self.content.get("verdict", ""))

    def __repr__(self) -> str:
        return f"<Validation in {str(self.output)!r}: {self.verdict or 'interrupted'}>"


def validate_photos(
    photos: Photos,
    truth: PathLike,
    output: PathLike,
    settings: ExtractionSettings | None = None,
    *,
    criteria: Criteria | None = None,
    resources: compute.Resources | None = None,
    progress: compute.Progress | None = None,
    stop: threading.Event | None = None,
    planned: Callable[[Estimate], None] | None = None,
) -> Validation:
    """Measure how good likelihood ratios are on photos whose cameras are known.

    Fingerprints are extracted into the case OUTPUT/case, see `extract_photos`; then each photo is
    compared with every true camera of its width and height, itself left out. Writes
    `validation.json` and `llr.csv` into OUTPUT; `samecam.report.write_validation` makes the page.
    Killed at any moment, the same call goes on and ends with the same files. Work is done in
    other processes: in a script, call this under ``if __name__ == "__main__":``.

    Parameters
    ----------
    photos, settings, resources, progress, stop, planned
        As for `extract_photos`.
    truth : CSV with the columns path and camera, and perhaps model; where that is not stated, make
        and model of EXIF tell which cameras are of one model
    output : folder for the result; made if needed, never inside a photo folder
    criteria : what is asked of the likelihood ratios

    Examples
    --------
    >>> result = samecam.validate_photos(["photos/"], "truth.csv", "validation")
    >>> print(result.verdict, samecam.write_validation(result))
    """
    known, folder = load_truth(truth), Path(output)
    criteria, progress = criteria or Criteria(), compute.shown_progress(progress)
    resources, stop = resources or compute.Resources(), stop or threading.Event()
    _check_output(folder, truth)
    case = folder / CASE_FOLDER
    extraction = extract_photos(
        photos, case, settings, resources=resources, progress=progress, stop=stop, planned=planned
    )
    if extraction.interrupted:
        return Validation(folder, extraction)
    nothing_left_to_finish(stop)
    check_writable(folder / RESULT, "name a folder elsewhere")
    saved = open_case(case)
    with saved.open_store() as store:
        labelled = label(store.records(), known)
        given = compare_labelled(
            store,
            labelled,
            memory=resources.memory_for("cpu"),
            progress=partial(progress, PHASE),
        )
    content = document(saved, known, labelled, given, criteria)
    sweep(folder)
    return Validation(folder, extraction, write_files(folder, content, table(given, labelled)))


def _check_output(folder: Path, truth: PathLike) -> None:
    """Refuse, before the work, a folder that is another's, or that the truth lies in."""
    if folder.exists() and not folder.is_dir():
        raise SamecamError(f"{str(folder)!r} is a file: name a folder for the result.")
    real = os.path.realpath(truth)
    if any(real == os.path.realpath(folder / name) for name in _OURS):
        raise SamecamError(
            f"The truth {os.fspath(truth)!r} would be written over: name another folder."
        )
    if not folder.exists() or (folder / CASE_FOLDER).is_dir():
        return
    names = {name for name in os.listdir(folder) if not name.startswith(".samecam-")}
    if names - _OURS:
        raise SamecamError(
            f"{str(folder)!r} is not empty and holds no validation: name an empty or a new folder."
        )
