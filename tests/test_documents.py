"""JSON that a stranger may have written: an error that names the place, whatever it holds."""

import contextlib
import json
import os
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samecam.documents import HASH, Span, check_shape, parse, read_document, read_versioned
from samecam.errors import SamecamError

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        '{"a": ' * 100_000,
        "9" * 5000,
        "1e999",
        "-Infinity",
        "NaN",
        r'"\ud800"',
        r'{"\udfff": 1}',
        "",
        "{",
        b"\xff\xfe",
    ],
)
def test_what_is_made_to_do_harm_is_refused(text):
    with pytest.raises(ValueError, match="."):
        parse(text)


def test_odd_bytes_of_paths_survive():
    path = os.fsdecode(b"x\xff.jpg")
    assert parse(json.dumps({"path": path})) == {"path": path}
    assert parse(r'"\ud83d\ude00"') == "\N{GRINNING FACE}"


SHAPE = {
    "name": str,
    "state": {"new", "old"},
    "size": Span(int, 1, 100),
    "sigma?": (float, None),
    "hash?": HASH,
    "list?": [{"x": int}],
    "any?": {str: bool},
}
GOOD = {"name": "n", "state": "new", "size": 3}


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"sigma": None},
        {"sigma": 3},
        {"sigma": 2.5},
        {"hash": "0" * 64},
        {"list": [{"x": 1, "y": "else"}]},
        {"any": {"a": True}},
        {"unknown": [1]},
    ],
)
def test_what_fits_is_taken(more):
    check_shape({**GOOD, **more}, SHAPE)


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"name": 1}, "name is 1, not text"),
        ({"state": "x"}, "state is 'x'"),
        ({"state": []}, "state is a list"),
        ({"size": 0}, "size is 0"),
        ({"size": 1.0}, "size is 1.0, not a whole number"),
        ({"size": True}, "size is True, not a whole number"),
        ({"size": 10**5000}, "size is a number of thousands of digits"),
        ({"sigma": "3"}, "sigma is '3', not null"),
        ({"sigma": 10**400}, "sigma is 1"),
        ({"hash": "g" * 64}, "hash is 'g"),
        ({"list": [{"x": 1}, {}]}, re.escape("list[1] has no 'x'")),
        ({"any": {"a": 1}}, "any.a is 1, not true or false"),
    ],
)
def test_what_does_not_is_named(more, told):
    with pytest.raises(ValueError, match=told):
        check_shape({**GOOD, **more}, SHAPE)
    with pytest.raises(ValueError, match="has no 'name'"):
        check_shape({}, SHAPE)


@given(VALUES)
def test_any_value_is_taken_or_refused(value):
    """Nothing else is raised, and what fits without a name and a state is nothing."""
    with contextlib.suppress(ValueError):
        check_shape(value, SHAPE)
        assert value["state"] in ("new", "old")


def test_a_file_is_read_or_named(tmp_path):
    path = tmp_path / "a.json"
    with pytest.raises(FileNotFoundError):
        read_document(path, SHAPE)
    path.write_text(json.dumps(GOOD))
    assert read_document(path, SHAPE) == GOOD
    for content in (b"\xff", b"[]", b'{"name": 1}', b"[" * 100_000):
        path.write_bytes(content)
        with pytest.raises(SamecamError, match=r"a\.json' cannot be read \(.+\): restore it"):
            read_document(path, SHAPE)
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(SamecamError, match="no regular file"):
        read_document(path, SHAPE)


@pytest.mark.parametrize("version", [0, -1, "1", 1.5, None, 10**30, True])
def test_a_version_that_is_none(tmp_path, version):
    path = tmp_path / "a.json"
    path.write_text(json.dumps({**GOOD, "version": version}))
    with pytest.raises(SamecamError, match="cannot be read"):
        read_versioned(path, 1, "case", SHAPE)


def test_a_newer_version_is_told(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"version": 2}))
    with pytest.raises(SamecamError, match=r"newer .*case format 2, this one reads 1\): update"):
        read_versioned(path, 1, "case", SHAPE)


@pytest.mark.parametrize("by", [{"samecam": "0.9.1"}, {}])
def test_an_earlier_version_is_told_with_who_reads_it(tmp_path, by):
    """Whatever else it holds: its shape was another."""
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"version": 1, **by}))
    with pytest.raises(
        SamecamError, match=r"earlier .*format 1, this one reads 2\): begin"
    ) as told:
        read_versioned(path, 2, "case", SHAPE)
    assert f"samecam {by.get('samecam', 'of then')} for this one" in str(told.value)
    path.write_text(json.dumps({"version": 1, "samecam": ["x" * 500]}))
    with pytest.raises(SamecamError) as told:
        read_versioned(path, 2, "case", SHAPE)
    assert "x" * 50 not in str(told.value)
