"""The container file: what it copies is there, and it ends as a user without rights."""

from pathlib import Path

from release.container import copy, steps

ROOT = Path(__file__).parents[2]
STEPS = steps((ROOT / "Containerfile").read_text(encoding="utf-8"))


def of(name):
    return [rest for given, rest in STEPS if given == name]


def test_lines_are_joined_and_comments_left_out():
    text = "# a\nFROM x\n\nRUN a \\\n    && b\n# c\nUSER u\n"
    assert steps(text) == [("FROM", "x"), ("RUN", "a && b"), ("USER", "u")]


def test_only_known_steps_and_no_rights_at_the_end():
    known = {"FROM", "RUN", "COPY", "ENV", "USER", "WORKDIR", "ENTRYPOINT", "CMD"}
    assert {name for name, _ in STEPS} <= known
    names = [name for name, _ in STEPS]
    assert names[0] == "FROM"
    assert of("USER") not in ([], ["root"])
    assert names.index("USER") > max(k for k, name in enumerate(names) if name == "RUN")


def test_copied_files_are_all_that_building_needs(tmp_path):
    for rest in of("COPY"):
        copy(rest.split(), tmp_path)
    found = sorted(path.name for path in (tmp_path / "source").iterdir())
    assert found == ["LICENSE", "README.md", "pyproject.toml", "src"]
    assert (tmp_path / "source" / "src" / "samecam" / "py.typed").is_file()
