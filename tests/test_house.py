"""The house: rooms show their names in `__init__`, and what begins with `_` is their own."""

import ast
import re
from pathlib import Path

import samecam

SOURCE = Path(samecam.__file__).parent
ROOT = Path(__file__).parent.parent
LONGEST = 400
# Files that open others themselves: of the machine, of the package, of a work folder or a study
# of ours. All else goes through `files` (our own) and `inputs` (what a user names).
OPENERS = {
    *("files.py", "inputs.py", "pages.py", "provenance.py", "cli/_failures.py"),
    *("compute/_alone.py", "compute/_machine.py", "compute/_pool.py", "compute/_quiet.py"),
    *("report/_parts.py", "datasets/_configurations.py", "datasets/_write_twins.py"),
    *("experiments/_photo_correlations.py", "experiments/_study.py"),
}


def modules():
    for path in sorted(SOURCE.rglob("*.py")):
        parts = ("samecam", *path.relative_to(SOURCE).with_suffix("").parts)
        yield path, parts[:-1] if parts[-1] == "__init__" else parts


def imports(path):
    """Dotted names that a file imports, each with the names taken from it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module, [alias.name for alias in node.names]
        elif isinstance(node, ast.Import):
            yield from ((alias.name, []) for alias in node.names)


def private_room(module, names):
    """The package that owns what is imported, if it is private to it."""
    parts = module.split(".")
    for k, part in enumerate(parts[1:], start=1):
        if part.startswith("_") and part != "_version":
            return ".".join(parts[:k])
    if any(name.startswith("_") and name != "__version__" for name in names):
        return module
    return None


def test_no_room_reaches_into_another():
    trespasses = []
    for path, parts in modules():
        here = ".".join(parts)
        for module, names in imports(path):
            owner = private_room(module, names) if module.startswith("samecam") else None
            if owner is not None and not f"{here}.".startswith(f"{owner}."):
                trespasses.append(f"{path.relative_to(SOURCE)}: {module} {names}")
    assert trespasses == []


def test_no_file_is_longer_than_a_reader_can_hold():
    root = Path(__file__).parent
    files = [
        *SOURCE.rglob("*.py"),
        *root.rglob("*.py"),
        *(root.parent / "benchmarks").rglob("*.py"),
        *(root.parent / "release").rglob("*.py"),
    ]
    long = {
        str(path): count
        for path in files
        if (count := len(path.read_text(encoding="utf-8").splitlines())) > LONGEST
    }
    assert long == {}


def test_the_map_names_what_is_there():
    """Files and folders that CONTRIBUTING's map and walk name exist, and no room is left out."""
    text = (Path(__file__).parent.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    text = text.split("## Rules")[0]
    named = set(re.findall(r"`([a-z_]+(?:/[a-z_]+)*(?:/|\.py))`", text))
    assert len(named) > 40
    top = {name for name in named if not name.startswith("tests/")}
    inside = {"folder/", "extraction/", "grouping/", "matching/", "studies/", "validating/"}
    inside |= {"verifying/", "decisions/", "consolidate/", "large_scale/", "rivals/"}
    missing = [name for name in top - inside if not (SOURCE / name).exists()]
    assert missing == []
    rooms = {path.parent.name + "/" for path in SOURCE.glob("*/__init__.py")}
    assert rooms <= named
    assert {path.parent.name + "/" for path in SOURCE.glob("case/*/__init__.py")} <= named


def test_every_test_that_a_page_of_the_docs_names_is_there():
    named = set()
    for page in (ROOT / "docs").glob("*.md"):
        named |= set(re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", page.read_text()))
    assert len(named) > 20
    gone = [
        (file, test)
        for file, test in sorted(named)
        if not (ROOT / file).exists() or (test and f"def {test}(" not in (ROOT / file).read_text())
    ]
    assert gone == []


def opens(path):
    """Calls by which a file opens another by its name."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            given = ast.unparse(node.args[0]) if node.args else ""
            by_name = name in ("open", "os.open", "io.open") and not given.startswith("open_own(")
            if by_name or name.split(".")[-1] in ("read_bytes", "read_text", "write_text"):
                yield f"{name}({given})"


def test_files_are_opened_in_two_places():
    """A pipe, a link or a hung mount is thought of there, and nowhere else."""
    found = {
        path.relative_to(SOURCE).as_posix(): calls
        for path, _ in modules()
        if (calls := list(opens(path)))
    }
    assert set(found) == OPENERS, found
