"""Catalogues that somebody has changed: refused with a sentence, whatever is in them."""

import shutil

import pytest

from tests.case.worlds import WHOLE, change, copied, shared_world
from tests.processes import run


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return shared_world(tmp_path_factory, WHOLE)


@pytest.fixture
def case(world, tmp_path):
    """A copy of a clustered case: free to be spoilt."""
    return copied(world.case, tmp_path / "case")


ENDLESS = (
    "ALTER TABLE records RENAME TO old",
    "CREATE VIEW records AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
    "SELECT CAST(i AS BLOB), '', NULL, NULL, NULL, NULL, NULL, '{}' FROM n",
)


# Frames that are none.
FRAMES = (
    *("NULL", "''", "'512'", "'0x384'", "'0512x384'", "'512x-384'", "'1e9x1e9'", "'99999x99999'"),
    *("'../x384'", "'512x384/..'", "x'ff'", "7"),
)


@pytest.mark.parametrize(
    "statements",
    [
        ENDLESS,
        ("CREATE TRIGGER t AFTER INSERT ON records BEGIN DELETE FROM records; END",),
        ("CREATE TABLE more (x)",),
        ("CREATE INDEX i ON records (sha256)",),
        ("DROP TABLE records",),
        ("UPDATE records SET shard = -1",),
        *((f"UPDATE records SET frame = {frame}",) for frame in FRAMES),
        ("UPDATE records SET row = 1000000000000",),
        ("UPDATE records SET crc = 'x'",),
        ("UPDATE records SET crc = NULL",),
        ("UPDATE records SET scale = 9e999",),
        ("UPDATE records SET scale = 'x'",),
        ("UPDATE records SET meta = '{}'",),
        ("UPDATE records SET meta = '[]'",),
        ("UPDATE records SET meta = 'x'",),
        ("UPDATE records SET meta = x'ff'",),
        ("UPDATE records SET meta = replace(meta, '\"good\"', '\"best\"')",),
        ("UPDATE records SET meta = replace(meta, '\"bytes\": ', '\"bytes\": 1e999')",),
        ("UPDATE records SET meta = json_set(meta, '$.width', 'x')",),
        ("UPDATE records SET meta = json_remove(meta, '$.width')",),
        (f"UPDATE records SET meta = '{'[' * 100_000}'",),
        (f"UPDATE records SET meta = '{{\"status\": {'9' * 5000}}}'",),
        ('UPDATE records SET meta = \'{"status": "\\ud800"}\'',),
        ("UPDATE records SET sha256 = 'x'",),
        ("UPDATE records SET sha256 = x'ff'",),
        ("UPDATE records SET key = 'text' WHERE key = (SELECT min(key) FROM records)",),
    ],
)
def test_a_catalogue_that_was_changed_is_refused(world, case, statements):
    change(case, *statements)
    code, out, error = run("verify", case)
    assert code == 4, out + error
    assert "catalogue.sqlite' cannot be used" in out
    for words in (
        world.again(case),
        ("report", case, "--no-thumbnails"),
        ("match", case, next((world.root / "held").iterdir())),
    ):
        code, _, error = run(*words)
        assert (code, error.count("\n")) == (1, 1), (words, error)
        assert "catalogue.sqlite' cannot be used" in error


@pytest.mark.parametrize("frame", ["384x512", "64x64"])
def test_a_frame_that_is_not_that_of_the_photo_is_refused(world, case, frame):
    """Where its rows would be read and where they would not; they are long enough for both."""
    change(case, f"UPDATE records SET frame = '{frame}'")
    shards = case / "fingerprints" / "shards"
    for there, words in ((False, "is gone or cut short"), (True, "'frame', cannot be")):
        if there:
            shutil.copytree(shards / "512x384", shards / frame)
        code, out, error = run("verify", case)
        assert code == 4, error
        assert words in out
        code, _, error = run(*world.again(case))
        assert (code, error.count("\n")) == (1, 1)
        assert words in error
