"""Every committed result says what was measured, by which code, where and with which settings."""

import json

import pytest

from benchmarks import growth_page, record

FILES = sorted(record.RESULTS.glob("*.json"))
# Results of before there was one way to write them; measured anew they lack nothing.
OLDER = {
    "gpu.large": set(record.FIELDS),  # parts alone, each with its device and commit
    "growth": {"cores", "result"},  # of either run: figures stand beside the settings
}


def documents(path):
    """The document of a file; of growth, which joins two runs, both."""
    document = json.loads(path.read_text(encoding="utf-8"))
    if path.stem != "growth":
        return [document]
    assert document["benchmark"] == "growth"
    return [document[name] for name in growth_page.DEVICES if name in document]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_result_has_all_fields(path):
    for document in documents(path):
        assert set(record.missing(document)) <= OLDER.get(path.stem, set())
        if "command" in document:
            assert runs(document["command"], path.stem)


def runs(command, name):
    """Whether a command runs a module that is there and that a result has its name from."""
    module = command.removeprefix("python -m benchmarks.").split()[0]
    there = record.RESULTS.parent.joinpath(*module.split(".")).with_suffix(".py").is_file()
    return there and name.removeprefix("gpu.").startswith(module.removeprefix("gpu."))


def test_a_command_that_runs_nothing_is_seen():
    assert runs("python -m benchmarks.many_frames --device cuda", "gpu.many_frames")
    assert not runs("python -m benchmarks.gpu.many_frames", "gpu.many_frames")
    assert not runs("python -m benchmarks.many_frames.one_bit", "many_frames.one_bit")
    assert not runs("python -m benchmarks.bits", "views")


def test_older_results_tell_at_least_device_and_commit():
    parts = record.load("gpu.large")
    parts = parts.get("result", parts)
    assert all({"device", "commit", "result"} <= set(part) for part in parts.values())


def test_what_is_missing_is_named():
    document = {**record.about("gram", {"photos": 3}), "result": []}
    assert record.missing(document) == []
    assert record.missing({**document, "cores": "2", "result": None}) == ["cores", "result"]


def test_a_result_is_written_whole_or_not_at_all(tmp_path):
    record.write("gram", [1], folder=tmp_path / "new", photos=3)
    path = tmp_path / "new" / "gram.json"
    assert json.loads(path.read_text())["settings"] == {"photos": 3}
    with pytest.raises(TypeError):
        record.write("gram", [object()], folder=tmp_path / "new")
    assert json.loads(path.read_text())["result"] == [1]
    assert [p.name for p in path.parent.iterdir()] == ["gram.json"]


def test_changed_sources_are_marked(monkeypatch):
    """The commit alone would not be what was measured."""
    from samecam import provenance

    monkeypatch.setattr(provenance, "commit", lambda: "abc+")
    assert record.about("gram", {})["commit"] == "abc+"
    assert record.about("gram", {}, commit="def")["commit"] == "def"


def test_options_are_in_the_command():
    assert record.about("bits", {}, command="bits --few")["command"] == (
        "python -m benchmarks.bits --few"
    )
