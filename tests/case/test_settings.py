"""Settings of a case: each takes effect, is recorded and kept; what cannot be is refused."""

import json

import numpy as np
import pytest

from samecam.case import ExtractionSettings, extract_photos, open_store
from samecam.case.folder import extraction_settings
from samecam.compute import Resources
from samecam.errors import SamecamError
from samecam.fingerprint import fingerprint, frame_row
from samecam.photos import read_frame, read_photo
from tests.case.conftest import SIZE, keys_of, row_of, write
from tests.photos.pictures import encode, scene
from tests.processes import run

SQUARE = ExtractionSettings(size=SIZE)
BITS = ExtractionSettings(dtype="bits")


def test_every_setting_takes_effect_and_is_recorded(tmp_path):
    photos = tmp_path / "photos"
    write(photos / "tall.png", encode(scene(1, 150, 220), "PNG"))
    settings = ExtractionSettings(
        size=80, offset=(7, 5), portrait="rotate", sigma=2.0, preset="paper", cfa=True,
        dtype="float32",
    )  # fmt: skip
    extract_photos([photos], tmp_path / "c", settings)
    data = (photos / "tall.png").read_bytes()
    pixels = read_photo(data, size=80, offset=(7, 5), portrait="rotate").pixels
    with open_store(tmp_path / "c") as store:
        expected = fingerprint(pixels, sigma=2.0, preset="paper", cfa=True)
        np.testing.assert_array_equal(store.rows().read()[0], expected)
        assert store.extractor == settings.as_dict()
    recorded = json.loads((tmp_path / "c" / "case.json").read_text())["extraction"]
    assert recorded == {**settings.as_dict(), "grid": False}


def test_a_square_in_the_centre(tmp_path):
    """Of pictures of several sizes, on blocks of 16 pixels."""
    photos, case = tmp_path / "photos", tmp_path / "case"
    write(photos / "wide.png", encode(scene(1, 211, 130), "PNG"))
    write(photos / "tall.png", encode(scene(2, 90, 200), "PNG"))
    write(photos / "just.png", encode(scene(3, 80, 80), "PNG"))
    write(photos / "less.png", encode(scene(4, 79, 300), "PNG"))
    words = ("extract", photos, "-o", case, "--size", 80)
    code, _, error = run(*words, "--at", "centre", "--offset", "0,0", "--quiet")
    assert code == 3, error
    assert json.loads((case / "case.json").read_text())["extraction"]["at"] == "centre"
    with open_store(case) as store:
        assert keys_of(store) == ["just.png", "tall.png", "wide.png"]
        for name, (x, y) in {"wide": (64, 16), "tall": (0, 48), "just": (0, 0)}.items():
            data = (photos / f"{name}.png").read_bytes()
            pixels = read_photo(data, size=80, offset=(x, y)).pixels
            wanted = fingerprint(pixels).astype(np.float16).astype(np.float32)
            np.testing.assert_array_equal(row_of(store, f"{name}.png"), wanted)
    code, _, error = run(*words, "--quiet")
    assert code == 1
    assert "was made with at 'centre', not 'corner'" in error
    assert run(*words[:-2], "--at", "centre", "--quiet")[0] == 1


def test_other_settings_photos_or_folders_get_a_sentence(own_pile, tmp_path):
    case = tmp_path / "c"
    extract_photos([own_pile], case)
    with pytest.raises(SamecamError, match="made with whole frames, not size 80"):
        extract_photos([own_pile], case, ExtractionSettings(size=80))
    with pytest.raises(SamecamError, match="made with dtype 'auto', not 'bits'"):
        extract_photos([own_pile], case, BITS)
    with pytest.raises(SamecamError, match="was made from"):
        extract_photos([own_pile / "b"], case)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").write_text("mine")
    with pytest.raises(SamecamError, match="not empty and not a case"):
        extract_photos([own_pile], tmp_path / "full")
    with pytest.raises(SamecamError, match="is a file"):
        extract_photos([own_pile], own_pile.parent / "full" / "thesis.tex")
    with pytest.raises(SamecamError, match="cannot be written"):
        extract_photos([own_pile], tmp_path / "full" / "thesis.tex" / "deeper")
    (case / "case.json").write_text('{"version": 2}')
    with pytest.raises(SamecamError, match="it has no 'format'"):
        extract_photos([own_pile], case)
    for bad in (
        {"size": 63},
        {"size": 100.5},
        {"sigma": 0.0},
        {"offset": (0, -1)},
        {"offset": (1.5, 0)},
        {"preset": "papper"},
    ):
        with pytest.raises(SamecamError, match=next(iter(bad))):
            ExtractionSettings(**bad)
    with pytest.raises(SamecamError, match="workers"):
        extract_photos([own_pile], tmp_path / "d", resources=Resources(workers=0))


def test_a_case_of_squares_is_no_case_of_whole_frames(own_pile, tmp_path):
    extract_photos([own_pile], tmp_path / "c", SQUARE)
    with pytest.raises(SamecamError, match="made with size 64, not whole frames"):
        extract_photos([own_pile], tmp_path / "c")
    with pytest.raises(SamecamError, match="made with size 64, not 80"):
        extract_photos([own_pile], tmp_path / "c", ExtractionSettings(size=80))


@pytest.mark.parametrize(
    "given",
    [
        *({"at": "centre"}, {"offset": (16, 0)}, {"portrait": "rotate"}, {"preset": "paper"}),
        *({"grid": False}, {"cfa": True}, {"wiener": True}, {"equalise": True}),
    ],
)
def test_what_is_for_squares_needs_a_size(given):
    (name,) = given
    with pytest.raises(SamecamError, match=f"{name} is for squares.*give a size too"):
        ExtractionSettings(**given)
    assert getattr(ExtractionSettings(size=256, **given), name) == given[name]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"dtype": "float16"}, "whole frames are kept as 'bits', '2bits' or 'int8'"),
        ({"size": 256, "dtype": "bits"}, "'bits', which is for whole frames"),
        ({"size": 256, "dtype": "2bits"}, "'2bits', which is for whole frames"),
        ({"size": 256, "at": "top"}, "at is 'top'; choose 'corner' or 'centre'"),
    ],
)
def test_kinds_of_rows_that_cannot_be(given, words):
    with pytest.raises(SamecamError, match=words):
        ExtractionSettings(**given)


def test_a_case_of_a_newer_version_is_refused(own_pile, tmp_path):
    extract_photos([own_pile], tmp_path / "c")
    info = json.loads((tmp_path / "c" / "case.json").read_text())
    (tmp_path / "c" / "case.json").write_text(json.dumps({**info, "version": 99}))
    with pytest.raises(SamecamError, match="newer samecam.*update"):
        extract_photos([own_pile], tmp_path / "c")


def test_an_older_case_did_not_weigh(tmp_path):
    photos, case = tmp_path / "photos", tmp_path / "case"
    write(photos / "a.png", encode(scene(1, 150, 220), "PNG"))
    assert ExtractionSettings().as_dict()["weigh"]
    assert not ExtractionSettings(size=80).as_dict()["weigh"]
    assert run("extract", photos, "-o", case, "--no-weigh", "-q")[0] == 0
    luma = read_frame((photos / "a.png").read_bytes()).pixels
    with open_store(case) as store:
        wanted = frame_row(luma, key="0" * 64, dtype="int8", weigh=False)
        np.testing.assert_allclose(store.rows().read()[0], wanted.values * wanted.scale, atol=1e-7)
    path = case / "case.json"
    document = json.loads(path.read_text())
    del document["extraction"]["weigh"]
    path.write_text(json.dumps(document))
    code, _, error = run("extract", photos, "-o", case, "-q")
    assert code == 1
    assert "was made with weigh False, not True" in error
    assert extraction_settings(path.parent, document).weigh is False


def test_spins_take_effect_and_older_cases_have_one(tmp_path):
    photos, case = tmp_path / "photos", tmp_path / "case"
    write(photos / "a.png", encode(scene(1, 150, 220), "PNG"))
    assert ExtractionSettings().as_dict()["spins"] == 2
    assert ExtractionSettings(size=80).as_dict()["spins"] == 1
    with pytest.raises(SamecamError, match="spins is 9"):
        ExtractionSettings(spins=9)
    rows = {}
    for spins in (1, 2):
        assert run("extract", photos, "-o", f"{case}{spins}", "--spins", spins, "-q")[0] == 0
        with open_store(f"{case}{spins}") as store:
            rows[spins] = store.rows().read()[0]
            luma = read_frame((photos / "a.png").read_bytes()).pixels
            wanted = frame_row(luma, key="0" * 64, dtype="int8", spins=spins)
            np.testing.assert_allclose(rows[spins], wanted.values * wanted.scale, atol=1e-7)
    assert not np.array_equal(rows[1], rows[2])
    path = tmp_path / "case1" / "case.json"
    document = json.loads(path.read_text())
    del document["extraction"]["spins"]
    path.write_text(json.dumps(document))
    code, _, error = run("extract", photos, "-o", f"{case}1", "-q")
    assert code == 1
    assert "was made with spins 1, not 2" in error
    assert extraction_settings(path.parent, document).spins == 1
