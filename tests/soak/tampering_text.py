"""Changes inside JSON and CSV of a case."""

import csv
import hashlib
import io
import json

DIGITS, NESTED = "@digits@", "@nested@"
# Put in the place of any value; the last ones are written as no library would.
VALUES = {
    "null": None, "true": True, "list": [], "object": {}, "empty text": "", "text": "odd",
    "number": 7, "zero": 0, "negative": -1, "fraction": 0.5, "large": 10**30,
    "list of lists": [[1]], "NaN": float("nan"), "Infinity": float("inf"), "surrogate": "\ud800",
    "long text": "x" * 200_000,
    "text with NUL": "a\0b", "path outside": "../../outside/target", "5,000 digits": DIGITS,
    "100,000 brackets": NESTED,
}  # fmt: skip
VERSIONS = {"version 0": 0, "version -1": -1, "version 10**30": 10**30, 'version "1"': "1"}
FORMS = {"other dtype": "float99", "other byte order": "big", "int8": "int8"}
JSON = [
    *(
        "json: delete",
        "json: rename",
        "json: key twice",
        "json: only a list",
        "json: only a number",
    ),
    *("json: only null", "json: only brackets", "json: byte order mark", "json: UTF-16"),
    *(f"json: {name}" for name in (*VALUES, *VERSIONS, *FORMS)),
]
CELLS = {
    "odd text": "odd", "empty": "", "negative": "-1", "group 99": "99", "large": str(10**30),
    "5,000 digits": "9" * 5000, "NaN": "nan", "Infinity": "inf", "200 kB": "x" * 200_000,
    "NUL": "a\0b", "fraction": "0.5", "quote": '"', "formula": "=1+1", "carriage return": "a\rb",
    "Arabic digits": "١",
}  # fmt: skip
CSV = [
    *("csv: column missing", "csv: column twice", "csv: column renamed", "csv: columns swapped"),
    *("csv: rows dropped", "csv: all rows dropped", "csv: row twice", "csv: rows shuffled"),
    *("csv: row too short", "csv: row too long", "csv: not UTF-8", "csv: CRLF", "csv: open quote"),
    *("csv: group numbers shifted", "csv: groups swapped", "csv: byte order mark"),
    *(f"csv: cell {name}" for name in CELLS),
]


def change_json(data, change, rng):
    """Bytes of a JSON document, changed in one place."""
    name = change.removeprefix("json: ")
    whole = {
        "only a list": b"[]", "only a number": b"5", "only null": b"null",
        "only brackets": b"[" * 100_000 + b"]" * 100_000, "byte order mark": b"\xef\xbb\xbf" + data,
        "UTF-16": data.decode().encode("utf-16"),
    }  # fmt: skip
    if name in whole:
        return whole[name]
    document = json.loads(data)
    document = change_value(document, name, rng)
    return as_text(document).encode()


def change_lines(data, change, rng):
    """Bytes of lines of JSON, one of them changed."""
    lines = data.split(b"\n")
    at = rng.integers(len(lines) - 1)
    lines[at] = change_json(lines[at], change, rng)
    return b"\n".join(lines)


def change_value(document, name, rng):
    """A document with one entry changed, at any depth."""
    key = "version" if name in VERSIONS else "dtype" if name in FORMS else None
    if key is not None:
        key = "byte_order" if FORMS.get(name) == "big" else key
        document[key] = {**VERSIONS, **FORMS}[name]
        return document
    places = list(_places(document))
    if not places:
        return VALUES.get(name)
    near = [place for place in places if place[2] <= 2]
    choice = near if rng.integers(2) else places  # a long list has most of the entries
    inside, key, _ = choice[rng.integers(len(choice))]
    if name == "delete":
        del inside[key]
    elif name == "rename" and isinstance(inside, dict):
        inside[f"{key}x"] = inside.pop(key)
    elif name in ("rename", "key twice"):
        if isinstance(inside, dict):
            inside[f"{key}@twice@"] = "odd"
        else:
            inside.append(inside[key])
    else:
        inside[key] = VALUES[name]
    return document


def _places(document, depth=1):
    """Every (container, key, depth)."""
    if isinstance(document, dict | list):
        keys = list(document) if isinstance(document, dict) else range(len(document))
        for key in keys:
            yield document, key, depth
            yield from _places(document[key], depth + 1)


def as_text(document):
    text = json.dumps(document, indent=1)
    text = text.replace(f'"{DIGITS}"', "9" * 5000).replace("@twice@", "")
    return text.replace(f'"{NESTED}"', "[" * 100_000 + "]" * 100_000)


def change_csv(data, change, rng):
    """Bytes of a table, changed in one place."""
    name = change.removeprefix("csv: ")
    if name == "not UTF-8":
        at = rng.integers(len(data))
        return data[:at] + b"\xff\xfe\x80" + data[at:]
    if name == "CRLF":
        return data.replace(b"\n", b"\r\n")
    if name == "byte order mark":
        return b"\xef\xbb\xbf" + data
    if name == "open quote":
        return data.replace(b",", b',"', 1 + int(rng.integers(20)))
    rows = list(csv.reader(io.StringIO(data.decode(), newline="")))
    if name.startswith("cell "):
        value = CELLS[name.removeprefix("cell ")]
        cells = [(r, c) for r in rows[1:] for c, text in enumerate(r) if text != value]
        row, column = cells[rng.integers(len(cells))]
        row[column] = value
    else:
        rows = _change_rows(rows, name, rng)
    stream = io.StringIO(newline="")
    csv.writer(stream, lineterminator="\n").writerows(rows)
    return stream.getvalue().encode()


def _change_rows(rows, name, rng):
    head, body = rows[0], rows[1:]
    column, row = int(rng.integers(len(head))), int(rng.integers(len(body)))
    group = head.index("cluster" if "cluster" in head else "bytes")
    if name == "column missing":
        return [r[:column] + r[column + 1 :] for r in rows]
    if name == "column twice":
        return [[*r, r[column]] for r in rows]
    if name == "column renamed":
        return [[*head[:column], "odd", *head[column + 1 :]], *body]
    if name == "columns swapped":
        return [r[::-1] for r in rows]
    if name == "rows dropped":
        return [head, *body[:row]]
    if name == "all rows dropped":
        return [head]
    if name == "row twice":
        return [head, *body, body[row]]
    if name == "rows shuffled":
        return [head, *body[::-1]]
    if name == "row too short":
        return [head, *body[:row], body[row][:column], *body[row + 1 :]]
    if name == "row too long":
        return [head, *body[:row], [*body[row], "more"], *body[row + 1 :]]
    if name == "group numbers shifted":
        for r in body:
            r[group] = f"{int(r[group]) + 1}" if r[group].lstrip("-").isdigit() else r[group]
    elif name == "groups swapped":
        others = [r for r in body if r[group] != body[row][group]]
        body[row][group] = others[rng.integers(len(others))][group]
    else:
        raise ValueError(name)
    return [head, *body]


def labels_hash(data):
    """What `case.json` says of who stands in which group; "" of a table that cannot be read."""
    try:
        rows = list(csv.DictReader(io.StringIO(data.decode(), newline="")))
        about = [[row["path"], row["sha256"], int(row["cluster"])] for row in rows]
    except (ValueError, KeyError, TypeError, csv.Error):
        return ""
    return hashlib.sha256(json.dumps(about).encode()).hexdigest()
