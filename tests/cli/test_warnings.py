"""A warning is a sentence to a person: in no process does it come with a line of source."""

from pathlib import Path

import numpy as np
import pytest

from samecam.simulate import fingerprints
from tests.processes import run, run_apart

FAULTS = Path(__file__).parent / "faults"
SAID = "Warning: this library is about to change"


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """A file of fingerprints."""
    file = tmp_path_factory.mktemp("rows") / "rows.npy"
    np.save(file, fingerprints([12, 12], 0.3, 1024)[0])
    return file


def warned(*words):
    """What a command says as errors, while all its processes warn as often as they can."""
    code, _, error = run_apart(*words, module_path=FAULTS, variables={"PYTHONWARNINGS": "always"})
    assert code == 0, error
    return error.splitlines()


@pytest.mark.slow
@pytest.mark.parametrize("more", [[], ["--scheduler", "local"]])
def test_warnings_of_workers_are_no_lines_of_source(rows, tmp_path, more):
    if more:
        pytest.importorskip("distributed")
    words = ("cluster", "--fingerprints", rows, "-o", tmp_path / "case", "--no-report")
    lines = warned(*words, "--method", "ls-ssc", "--batch-size", 12, "--workers", 2, *more)
    assert SAID in lines
    assert [line for line in lines if line.startswith((" ", "/")) or ".py" in line] == []


@pytest.mark.slow
def test_warnings_of_compared_methods_are_no_lines_of_source(rows, tmp_path):
    assert run("cluster", "--fingerprints", rows, "-o", tmp_path / "case", "-q")[0] == 0
    lines = warned("compare", tmp_path / "case", "--methods", "consolidated,ssc-nc")
    assert [line for line in lines if line.startswith((" ", "/")) or ".py" in line] == []
