"""Every public name explains itself, and says by an example how it is used."""

import ast
import doctest
import inspect

import pytest

import samecam

NAMES = [name for name in samecam.__all__ if name != "__version__"]
CALLED = [name for name in NAMES if not inspect.ismodule(getattr(samecam, name))]
PLOTS = samecam.plots.__all__


def examples(value):
    """What its docstring shows, statement by statement."""
    parser = doctest.DocTestParser()
    return [one.source for one in parser.get_examples(inspect.getdoc(value) or "")]


@pytest.mark.parametrize("name", NAMES)
def test_it_has_a_docstring(name):
    text = inspect.getdoc(getattr(samecam, name))
    assert text
    assert text.strip()
    assert not text.startswith(f"{name}(")


@pytest.mark.parametrize("name", [*CALLED, "fingerprint.fingerprint_photo", *PLOTS])
def test_it_has_an_example_that_calls_it(name):
    value, last = samecam, name.rpartition(".")[2]
    for part in (f"plots.{name}" if name in PLOTS else name).split("."):
        value = getattr(value, part)
    if not callable(value):
        return
    sources = examples(value)
    assert sources, f"{name} shows no example"
    called = "fingerprint" if last == "fingerprint_photo" else last
    assert any(f".{called}" in source for source in sources)
    for source in sources:
        ast.parse(source)


@pytest.mark.parametrize("name", CALLED)
def test_names_in_examples_are_there(name):
    """`samecam.` and what follows, in every example."""
    for source in examples(getattr(samecam, name)):
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Attribute) and ast.unparse(node).startswith("samecam."):
                path, value = ast.unparse(node).split("("), samecam
                if len(path) > 1:
                    continue
                for part in path[0].split(".")[1:]:
                    value = getattr(value, part)


@pytest.mark.parametrize("name", CALLED)
def test_signatures_are_short_enough_to_read(name):
    """Names of types, not what they are made of."""
    try:
        text = str(inspect.signature(getattr(samecam, name)))
    except ValueError:
        return
    for word in ("os.PathLike[str] |", "collections.abc", "samecam.case.folder._", "Union["):
        assert word not in text, text


@pytest.mark.slow
def test_examples_run_one_after_another(tmp_path, monkeypatch):
    """As the docstrings have them: photos are made, grouped, scored, matched, checked, drawn."""
    monkeypatch.chdir(tmp_path)
    samecam.simulate_photos("photos", cameras=3, images=8, size=(320, 240), seed=2)
    (tmp_path / "photos" / "truth.csv").rename(tmp_path / "truth.csv")
    images = sorted((tmp_path / "photos" / "images").iterdir())
    for name, photo in zip(("a.jpg", "b.jpg", "c.jpg", "in question.jpg"), images, strict=False):
        (tmp_path / name).write_bytes(photo.read_bytes())
    for folder in ("new", "by this camera", "her phone", "more photos"):
        (tmp_path / folder).mkdir()
        for photo in images[:5]:
            (tmp_path / folder / photo.name).write_bytes(photo.read_bytes())
    (tmp_path / "leaked.jpg").write_bytes(images[6].read_bytes())
    order = (
        *("plan_extraction", "extract_photos", "cluster_photos", "open_case", "evaluate"),
        *("match", "match_photos", "match_reference", "match_pairs", "verify_case"),
        *("write_report", "write_matches", "export_case", "read_decided", "compare_methods"),
        *("SamecamError", "ExtractionSettings", "ClusteringSettings", "doctor", "add_photos"),
    )
    drawn = [samecam.plots.plot, *samecam.plots.KINDS.values()]
    for value in (*(getattr(samecam, name) for name in order), *drawn):
        space = {"samecam": samecam}
        for source in examples(value) if value is not samecam.plots.views else ():
            exec(source.replace("photos/truth.csv", "truth.csv"), space)
    assert (tmp_path / "correlations.png").stat().st_size > 10_000
