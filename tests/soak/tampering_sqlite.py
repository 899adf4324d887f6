"""Changes inside the catalogue of a case: values of a wrong kind, tables that are none."""

import contextlib
import json
import sqlite3

from tests.soak.tampering_text import VALUES, as_text, change_value

COLUMNS = ("key", "sha256", "frame", "shard", "row", "crc", "scale", "meta")
FRAMES = {
    "another": "264x272", "squares": "64x64", "no shard": "268x268", "none": "0x0",
    "long": "1x1" * 999, "huge": "99999999x9999999", "outside": "../264x272",
    "digits": "0264x272", "sign": "-264x272",
}  # fmt: skip
NUMBERS = {
    "-1": -1, "10**12": 10**12, "2**62": 2**62, "text": "odd", "fraction": 0.5, "NULL": None,
    "blob": b"\xff\x00", "99": 99, "0": 0, "infinity": float("inf"), "1e308": 1e308,
}  # fmt: skip
TEXTS = {
    "NULL": None, "empty": "", "number": 5, "not UTF-8": b"\xff\xfe", "text": "odd",
    "path outside": "../../outside/target", "200 kB": "x" * 200_000, "NUL": "a\0b",
    "blob": b"odd", "surrogate": b"\xed\xa0\x80",
}  # fmt: skip
METAS = {
    "not JSON": "odd", "list": "[]", "null": "null", "number": "5", "empty object": "{}",
    "brackets": "[" * 100_000 + "]" * 100_000, "blob": b"\xff\xfe", "empty": "", "NaN": "NaN",
    "not UTF-8": b'{"status": "\xff"}', "digits": "9" * 5000,
}  # fmt: skip
NUMBERS_WITHOUT_END = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
ENDLESS = (
    f"{NUMBERS_WITHOUT_END} SELECT CAST('k' || i AS BLOB) AS key, 's' AS sha256, NULL AS frame, "
    "NULL AS shard, NULL AS row, NULL AS crc, NULL AS scale, '{}' AS meta FROM n"
)
SILENT = f"{ENDLESS} WHERE i < 0"


@contextlib.contextmanager
def opened(path):
    database = sqlite3.connect(path, isolation_level=None)
    try:
        yield database
    finally:
        database.close()


def _value(column, value):
    def change(path, rng):
        with opened(path) as database:
            rows = [row[0] for row in database.execute("SELECT rowid FROM records ORDER BY rowid")]
            _drop_rules(database)
            database.execute(
                f"UPDATE records SET {column} = ? WHERE rowid = ?",
                (value, rows[rng.integers(len(rows))]),
            )

    return change


def _drop_rules(database):
    """Make the table again without NOT NULL: whoever wrote the file need not have had that."""
    columns = ", ".join(COLUMNS)
    database.execute("ALTER TABLE records RENAME TO ruled")
    database.execute(f"CREATE TABLE records ({columns})")
    database.execute(f"INSERT INTO records SELECT {columns} FROM ruled ORDER BY rowid")
    database.execute("DROP TABLE ruled")


def _meta(name):
    def change(path, rng):
        with opened(path) as database:
            rows = list(database.execute("SELECT rowid, meta FROM records ORDER BY rowid"))
            at, meta = rows[rng.integers(len(rows))]
            text = as_text(change_value(json.loads(meta), name, rng))
            database.execute("UPDATE records SET meta = ? WHERE rowid = ?", (text, at))

    return change


def _script(*statements):
    def change(path, _):
        with opened(path) as database:
            for statement in statements:
                database.execute(statement)

    return change


def _view(select):
    return _script("ALTER TABLE records RENAME TO real", f"CREATE VIEW records AS {select}")


def _pages(path, rng):
    """Bytes of pages changed, but not of the header."""
    data = bytearray(path.read_bytes())
    for at in rng.integers(100, len(data), 20):
        data[at] ^= 1 + rng.integers(255)
    path.write_bytes(data)


def _text(path, _):
    path.write_text("key,sha256\n")


TRIGGERS = {
    "trigger that deletes": "DELETE FROM records",
    "trigger that refuses": "SELECT RAISE(ABORT, 'refused')",
    "trigger without end": f"INSERT INTO records SELECT * FROM ({ENDLESS})",
}
STRUCTURE = {
    "view": _view("SELECT * FROM real"),
    "endless view": _view(ENDLESS),
    "view that never gives a row": _view(SILENT),
    "no table": _script("DROP TABLE records"),
    "no rows": _script("DELETE FROM records"),
    "row less": _script("DELETE FROM records WHERE rowid = (SELECT min(rowid) FROM records)"),
    "key as text too": _script(
        "INSERT INTO records SELECT CAST(key AS TEXT), sha256, frame, shard, row, crc, scale, meta "
        "FROM records LIMIT 1"
    ),
    "row twice": _script(
        "CREATE TABLE other AS SELECT * FROM records", "DROP TABLE records",
        "ALTER TABLE other RENAME TO records",
        "INSERT INTO records SELECT * FROM records LIMIT 1",
    ),
    "two rows at one place": _script(
        "UPDATE records SET row = 0 WHERE shard = 0 AND row IN (0, 1)"
    ),
    "column more": _script("ALTER TABLE records ADD COLUMN more TEXT"),
    "column less": _script("ALTER TABLE records DROP COLUMN scale"),
    "column renamed": _script("ALTER TABLE records RENAME COLUMN meta TO other"),
    "generated column": _script(
        "ALTER TABLE records RENAME TO real",
        "CREATE TABLE records (key, sha256, frame, shard, row, crc, scale, "
        "meta TEXT GENERATED ALWAYS AS (printf('%.*c', 100000000, 'x')))",
        "INSERT INTO records SELECT key, sha256, frame, shard, row, crc, scale FROM real",
    ),
    "table more": _script("CREATE TABLE more (a)", "INSERT INTO more VALUES (1)"),
    "index": _script("CREATE INDEX more ON records (sha256)"),
    "user_version": _script("PRAGMA user_version = 2147483647"),
    "write-ahead": _script("PRAGMA journal_mode = WAL"),
    "large pages": _script("PRAGMA page_size = 65536", "VACUUM"),
    "pages": _pages,
    "only text": _text,
    **{
        name: _script(f"CREATE TRIGGER more AFTER INSERT ON records BEGIN {body}; END")
        for name, body in TRIGGERS.items()
    },
}  # fmt: skip

CHANGES = {
    f"sqlite: {name}": change
    for name, change in {
        **{f"{c} {n}": _value(c, v) for c in ("key", "sha256", "frame") for n, v in TEXTS.items()},
        **{f"frame of {n}": _value("frame", v) for n, v in FRAMES.items()},
        **{
            f"{c} {n}": _value(c, v)
            for c in ("shard", "row", "crc", "scale")
            for n, v in NUMBERS.items()
        },
        **{f"meta {n}": _value("meta", v) for n, v in METAS.items()},
        **{f"entry of meta {n}": _meta(n) for n in ("delete", "rename", "key twice", *VALUES)},
        **STRUCTURE,
    }.items()
}
