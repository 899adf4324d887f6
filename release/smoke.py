"""An installed samecam does its work, from photos to decisions, away from its sources.

    python release/smoke.py SAMECAM

SAMECAM is the command, such as venv/bin/samecam. Needs nothing but Python, so that any Python and
any machine can be tried. Exit code: 0 if all is well, 1 with a sentence otherwise.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

CAMERAS, PHOTOS = 2, 6


class SmokeError(Exception):
    """A command failed, or said something else than it should."""


def run(samecam: Path, folder: Path, *words: str) -> str:
    """What a command prints; run in `folder`, without this Python's paths."""
    unwanted = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
    environment = {k: v for k, v in os.environ.items() if k not in unwanted}
    done = subprocess.run(
        [str(samecam), *words], cwd=folder, env=environment, capture_output=True, text=True
    )
    if done.returncode:
        raise SmokeError(
            f"samecam {' '.join(words)}: exit {done.returncode}\n{done.stdout}{done.stderr}"
        )
    return done.stdout


def smoke(samecam: Path, folder: Path) -> str:
    """Try the commands in an empty folder; the version."""
    version = run(samecam, folder, "--version").split()[-1]
    for line in ("--help", "doctor", "review --help"):
        _expect(bool(run(samecam, folder, *line.split())), f"samecam {line} prints nothing")
    kinds = ("--cameras", str(CAMERAS), "--images", str(PHOTOS), "--size", "800x600")
    run(samecam, folder, "simulate", "-o", "sim", *kinds, "--quiet")
    later = max((folder / "sim" / "images").iterdir())
    later = later.rename(folder / "later.jpg")
    told = json.loads(run(samecam, folder, "cluster", "sim/images", "-o", "case", "--json"))
    _expect(told["extraction"]["counts"]["skipped"] == 0, f"photos were skipped: {told}")
    words = ("evaluate", "case", "--truth", "sim/truth.csv", "--json")
    scores = json.loads(run(samecam, folder, *words))["scores"]
    good = scores["precision"] == 1 and scores["n_discovered"] == CAMERAS
    _expect(good, f"the groups are not the cameras: {scores}")
    run(samecam, folder, "decide", "case", "confirm", "camera-0", "--examiner", "nobody", "--quiet")
    _expect((folder / "case" / "decided.csv").is_file(), "a decision left no table")
    run(samecam, folder, "report", "case", "--quiet")
    page = (folder / "case" / "report.html").read_text(encoding="utf-8")
    _expect("</html>" in page, "the report is not whole")
    match = json.loads(run(samecam, folder, "match", "case", str(later), "--json"))
    _expect(match["photos"][0]["verdict"] == "match", f"a photo finds no camera: {match}")
    run(samecam, folder, "verify", "case", "--quiet")
    return version


def _expect(holds: bool, otherwise: str) -> None:
    if not holds:
        raise SmokeError(otherwise)


def main(words: Sequence[str]) -> int:
    """Try the command that is named."""
    if len(words) != 1:
        print("Usage: python release/smoke.py SAMECAM", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        try:
            version = smoke(Path(words[0]).absolute(), Path(folder))
        except SmokeError as error:
            print(error, file=sys.stderr)
            return 1
    print(f"samecam {version} works.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
