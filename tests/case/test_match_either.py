"""`samecam.match`: one call that knows what is meant."""

import pytest

import samecam
from samecam.case.matching import _either
from samecam.errors import ParameterError


@pytest.fixture
def meant(monkeypatch):
    """Which function was meant, with what."""
    calls = []
    for name in ("match_photos", "match_reference", "match_pairs"):

        def called(*given, name=name, **options):
            calls.append((name, given, options))

        monkeypatch.setattr(_either, name, called)
    return calls


def test_the_first_argument_says_what_is_meant(meant, tmp_path):
    case, folder = tmp_path / "case", tmp_path / "photos"
    case.mkdir()
    folder.mkdir()
    (case / "case.json").write_text("{}")
    one, two = folder / "a.jpg", folder / "b.jpg"
    one.touch()
    two.touch()
    samecam.match(case, one, rate=0.1)
    samecam.match(folder, one)
    samecam.match([one, two], one, size=64)
    samecam.match(one, two)
    samecam.match([one, two])
    samecam.match("*.jpg", one)
    assert meant == [
        ("match_photos", (str(case), one), {"rate": 0.1}),
        ("match_reference", (folder, one), {}),
        ("match_reference", ([one, two], one), {"size": 64}),
        ("match_pairs", ([one, two],), {}),
        ("match_pairs", ([one, two],), {}),
        ("match_reference", ("*.jpg", one), {}),
    ]
    with pytest.raises(ParameterError, match="photos are missing"):
        samecam.match(case)
