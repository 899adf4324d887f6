"""What `samecam.<Tab>` shows: the public names, each loaded when it is asked for."""

import inspect
import pickle
import pkgutil
import pydoc
import subprocess
import sys

import numpy as np
import pytest

import samecam
from samecam.errors import SamecamError
from samecam.fingerprint import NoResidualError, fingerprint, fingerprint_photo
from samecam.photos import read_frame, read_photo
from tests.photos.pictures import encode, scene

INTERNAL = {
    *("arrays", "cli", "documents", "drawing", "files", "inputs", "notebook", "pages"),
    "provenance",
}
FUNCTIONS = {
    *("add_photos", "cluster_fingerprints", "cluster_photos", "extract_photos", "fingerprint"),
    *("match", "match_photos", "match_reference", "verify_case", "evaluate", "doctor"),
    *("compare_methods", "tune_case", "validate_photos", "simulate_photos", "plan_extraction"),
    *("write_report", "write_validation", "export_case"),
}


def python(code):
    """Run in a fresh interpreter; what it prints."""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


def test_dir_shows_the_public_names_and_nothing_else():
    assert dir(samecam) == sorted(samecam.__all__)
    assert len(set(samecam.__all__)) == len(samecam.__all__)
    assert set(samecam.__all__) >= FUNCTIONS | {"open_case", "Resources", "ExtractionSettings"}


def test_nothing_leaks():
    code = "import samecam; print(*(n for n in vars(samecam) if n[0] != '_'))"
    assert python(code) == ""
    for name in ("Any", "TYPE_CHECKING", "typing", "nothing"):
        with pytest.raises(AttributeError, match=f"has no attribute '{name}'"):
            getattr(samecam, name)


def test_every_name_is_there():
    """`open_case` is read from `samecam.case` as soon as that has one."""
    missing = [name for name in samecam.__all__ if not hasattr(samecam, name)]
    assert missing == [name for name in ("open_case",) if not hasattr(samecam.case, name)]
    for name in FUNCTIONS:
        assert callable(getattr(samecam, name))
    assert samecam.Resources is samecam.compute.Resources
    assert samecam.cluster_photos is samecam.case.cluster_photos


def test_every_room_is_public_or_known_not_to_be():
    rooms = {m.name for m in pkgutil.iter_modules(samecam.__path__) if m.name[0] != "_"}
    assert rooms - INTERNAL == {n for n in samecam.__all__ if inspect.ismodule(_value(n))}


def _value(name):
    return getattr(samecam, name, None)


def test_rooms_need_no_import_of_their_own():
    assert python("import samecam; print(samecam.cluster.SSCNC.__name__)") == "SSCNC"
    assert python("import samecam; print(samecam.metrics.scores.__name__)") == "scores"


def test_looking_loads_nothing_heavy():
    code = (
        "import sys, samecam\n"
        "dir(samecam), samecam.__version__, samecam.errors, samecam.SamecamError\n"
        "heavy = {'numba', 'sklearn', 'scipy', 'numpy', 'PIL', 'torch', 'click', 'asyncio'}\n"
        "print(*heavy & set(sys.modules))"
    )
    assert python(code) == ""


@pytest.fixture
def photo(tmp_path):
    (tmp_path / "photo.jpg").write_bytes(encode(scene(1, 130, 100)))
    return tmp_path / "photo.jpg"


def test_fingerprint_of_a_file_and_of_an_array(photo):
    pixels = read_photo(photo.read_bytes(), size=64, offset=(3, 5)).pixels
    wanted = fingerprint(pixels, sigma=2.0)
    for given in (photo, str(photo)):
        vector = samecam.fingerprint(given, size=64, offset=(3, 5), sigma=2.0)
        np.testing.assert_array_equal(vector, wanted)
    np.testing.assert_array_equal(samecam.fingerprint(pixels, sigma=2.0), wanted)
    np.testing.assert_array_equal(fingerprint_photo(pixels, sigma=2.0), wanted)
    assert np.isclose(wanted @ wanted, 1)
    whole = read_frame(photo.read_bytes()).pixels
    assert whole.shape == (100, 130)
    np.testing.assert_array_equal(
        samecam.fingerprint(photo), fingerprint(whole, spins=2, weigh=True)
    )


def test_errors_of_fingerprint_name_the_file(photo, tmp_path):
    with pytest.raises(SamecamError, match=r"photo.jpg' cannot be used: too small: 130×100, .*512"):
        samecam.fingerprint(photo, size=512)
    with pytest.raises(ValueError, match="are for squares"):
        samecam.fingerprint(photo, offset=(3, 5))
    for name, words in (("none.jpg", "No such file"), (".", "Is a directory")):
        with pytest.raises(SamecamError, match=f"cannot be read: {words}"):
            samecam.fingerprint(tmp_path / name)
    (tmp_path / "x").write_bytes(b"no photo")
    with pytest.raises(SamecamError, match="x' cannot be used: not a picture"):
        samecam.fingerprint(tmp_path / "x")
    with pytest.raises(NoResidualError):
        samecam.fingerprint(np.full((80, 80), 9.0))
    with pytest.raises(ValueError, match="are for files"):
        samecam.fingerprint(np.zeros((80, 80)), size=64)


@pytest.mark.parametrize(
    "first",
    [
        "import samecam",
        "import samecam.fingerprint",
        "from samecam.fingerprint import noise_residual",
        "import samecam.case",
        "from samecam import fingerprint; import samecam",
        "import samecam.fingerprint as room; import samecam",
    ],
)
def test_fingerprint_is_the_room_and_the_function_whatever_is_imported_first(first):
    code = (
        f"{first}\nimport pickle, samecam, types\n"
        "assert isinstance(samecam.fingerprint, types.ModuleType)\n"
        "assert samecam.fingerprint.fingerprint_photo and callable(samecam.fingerprint)\n"
        "assert pickle.loads(pickle.dumps(samecam.fingerprint)) is samecam.fingerprint\n"
        "print('fine')"
    )
    assert python(code) == "fine"


def test_fingerprint_travels_and_explains_itself():
    assert pickle.loads(pickle.dumps(samecam.fingerprint)) is samecam.fingerprint
    assert 'samecam.fingerprint("photo.jpg")' in pydoc.render_doc(samecam.fingerprint)
    called, function = map(inspect.signature, (samecam.fingerprint, fingerprint_photo))
    assert called == function
