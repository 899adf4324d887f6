"""`validation.json` and `llr.csv`: all that was found, and every comparison."""

import hashlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from samecam._version import __version__
from samecam.case.folder import IMAGES, SavedCase, by_frame, csv_text, frame_name
from samecam.case.validating._comparisons import RELATIONS, Compared
from samecam.case.validating._criteria import Criteria, check, verdict
from samecam.case.validating._figures import all_figures, curves, figures
from samecam.case.validating._labelled import Labelled, Truth
from samecam.files import file_hash, write_atomically
from samecam.inputs import hash_input
from samecam.provenance import commit, library_versions, versions

RESULT, TABLE = "validation.json", "llr.csv"
FORMAT, VERSION = "samecam-validation", 1
COLUMNS = (
    *("path", "camera", "hypothesis", "label", "llr", "llr_uncapped", "score", "p_value"),
    *("relation", "true_camera", "true_model", "camera_model", "camera_photos", "frame"),
)
PROPOSITIONS = {
    "H1": "The photo was taken by the camera that took the reference photos.",
    "H2": "The photo was taken by another camera, of the same model or of another one.",
}


def table(given: Compared, labelled: Labelled) -> str:
    """Text of `llr.csv`, sorted by photo and camera; UTF-8 whatever bytes a path has."""
    order = sorted(range(len(given)), key=lambda k: (given.photo[k], given.camera[k]))
    stated, rows = given.stated, []
    for k in order:
        photo, camera = labelled.photos[given.photo[k]], labelled.cameras[given.camera[k]]
        own = labelled.cameras[labelled.of[given.photo[k]]]
        same = own is camera
        row = (
            *(photo.key, camera.name, "H1" if same else "H2", int(same)),
            *(float(stated[k]), float(given.log_ratio[k]), float(given.score[k])),
            *(float(given.p_value[k]), RELATIONS[given.relation[k]], own.name, own.model),
            *(camera.model, int(given.reference[k]), frame_name(photo)),
        )
        rows.append([_utf8(cell) if isinstance(cell, str) else cell for cell in row])
    return csv_text(COLUMNS, rows)


def _utf8(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def document(
    saved: SavedCase, truth: Truth, labelled: Labelled, given: Compared, criteria: Criteria
) -> dict[str, Any]:
    """Content of `validation.json`; the same photos, truth and versions give the same."""
    overall, cap = figures(given), float(given.cap.max())
    checks = check(overall, cap, criteria)
    return {
        "format": FORMAT,
        "version": VERSION,
        "samecam": __version__,
        "verdict": verdict(checks),
        "checks": [asdict(each) for each in checks],
        "propositions": PROPOSITIONS,
        "criteria": asdict(criteria),
        "cap": cap,
        "overall": overall.as_dict(),
        "by": [each.as_dict() for each in all_figures(given, labelled)],
        "frames": _frames(given, labelled),
        "cameras": _cameras(labelled),
        "photos": {
            "compared": len(labelled.photos),
            "not_used": [asdict(each) for each in labelled.not_used],
            "not_in_truth": labelled.not_in_truth,
            "not_found": labelled.not_found,
        },
        "curves": curves(given),
        "truth": {"file": truth.file, "sha256": hash_input(truth.file)["sha256"]},
        "sources": saved.info["sources"],
        "extraction": saved.info["extraction"],
        "device": saved.info.get("device", ""),
        "images_sha256": file_hash(saved.folder / IMAGES),
        "commit": commit(),
        "versions": {**versions(), **library_versions("scipy", "scikit-learn")},
    }


def write_files(output: Path, content: dict[str, Any], llrs: str) -> dict[str, Any]:
    """Write both; the JSON, with the hash of the table, last. Gives what it holds."""
    write_atomically(output / TABLE, llrs)
    content = {**content, "sha256": {TABLE: hashlib.sha256(llrs.encode()).hexdigest()}}
    write_atomically(output / RESULT, json.dumps(content, indent=1, ensure_ascii=True) + "\n")
    return content


def _frames(given: Compared, labelled: Labelled) -> list[dict[str, Any]]:
    return [
        {
            "frame": frame.name,
            "photos": len(at),
            "cameras": len(np.unique(labelled.of[at])),
            "comparisons": int(np.isin(given.photo, at).sum()),
        }
        for frame, at in by_frame(labelled.photos).items()
    ]


def _cameras(labelled: Labelled) -> list[dict[str, Any]]:
    """Each camera with its photos frame by frame."""
    result = []
    for number, camera in enumerate(labelled.cameras):
        mine = [p for p, k in zip(labelled.photos, labelled.of, strict=True) if k == number]
        frames = {frame.name: len(at) for frame, at in by_frame(mine).items()}
        result.append({**asdict(camera), "frames": frames})
    return result
