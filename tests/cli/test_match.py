"""`samecam match`, `add` and `verify`: words, JSON, exit codes."""

import json
import os
import re
import shutil

import pytest
from click.testing import CliRunner

from samecam.cli import cli
from tests.case.worlds import copied, shared_world, tree
from tests.photos.pictures import encode, scene


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return shared_world(tmp_path_factory)


def run(*words):
    result = CliRunner().invoke(cli, [str(word) for word in words], standalone_mode=False)
    code = result.return_value if isinstance(result.return_value, int) else result.exit_code
    return code, result.stdout, result


def test_match_says_which_group_and_how_sure(world):
    code, out, _ = run("match", world.case, world.root / "held", world.root / "strangers")
    assert code == 0
    lines = out.splitlines()
    assert sum(": group " in line for line in lines) >= 7
    assert sum(": none. Most like group " in line for line in lines) >= 17
    assert "12 comparisons" in out
    assert "an image sensor, not a person" in out
    assert "Absence of a link is no evidence" in out
    assert re.search(r"^\d of 26 match: \d camera \d, \d camera \d, \d camera \d\.$", lines[-2])
    assert lines[-1].endswith("the same again with -o FILE.html")


def test_match_as_json(world):
    code, out, _ = run("match", world.case, world.root / "held", "--json", "-q")
    answer = json.loads(out)
    assert code == 0
    assert answer["cameras"] == 3
    assert answer["rate"] == 0.01
    photo = max(answer["photos"], key=lambda p: p["best"]["score"])
    assert photo["verdict"] == "match"
    assert photo["group"] == photo["best"]["group"]
    assert photo["comparisons"] == 12
    assert photo["frame"] == "256x256"
    assert set(photo["best"]) == {
        *(
            "group",
            "turned",
            "correlation",
            "score",
            "p_value",
            "log10_lr",
            "cap",
            "camera",
            "view",
            "shared_score",
        ),
    }
    assert photo["camera"] == photo["best"]["camera"] == photo["group"]
    assert answer["comparisons"] == sum(p["comparisons"] for p in answer["photos"])
    assert answer["summary"].split(": ")[0] == (
        f"{sum(p['verdict'] == 'match' for p in answer['photos'])} of 9 match"
    )
    assert (answer["search"], answer["page"]) == ("off", None)


def test_match_tells_of_a_file_that_is_there_and_of_one_that_is_no_photo(world, tmp_path):
    path = world.result.groups[1].paths[0]
    shutil.copy(world.root / "kept" / path, tmp_path / "copy.jpg")
    (tmp_path / "odd\x1b[31m.jpg").write_bytes(b"no photo")
    code, out, _ = run("match", world.case, tmp_path)
    assert code == 3
    assert f"The same file is there already ({path}, in group 1) and was left out." in out
    assert "skipped: not a picture" in out
    assert "\x1b" not in out


def test_match_says_that_no_group_has_photos_of_that_size(world, tmp_path):
    case = tmp_path / "case"
    words = ("cluster", world.root / "kept", "-o", case, "--no-report", "-q")
    assert run(*words, "--search", "off")[0] == 0
    (tmp_path / "wide.png").write_bytes(encode(scene(1, 600, 400), "PNG"))
    words = ("match", case, world.root / "held", tmp_path / "wide.png")
    code, out, _ = run(*words, "--search", "off")
    assert code == 0
    assert (
        "wide.png: none: no group has photos of 600×400 pixels, nor of 400×600: they have "
        "512×384.\n" in out
    )
    assert sum(" on 512×384 pixels: correlation " in line for line in out.splitlines()) == 9
    assert "in any of 6 comparisons" in out or "with 6 comparisons" in out


def test_match_with_a_reference(world, tmp_path):
    (tmp_path / "phone").mkdir()
    for path in world.result.groups[0].paths[:6]:
        shutil.copy(world.root / "kept" / path, tmp_path / "phone")
    (tmp_path / "phone" / "note.txt").write_text("by the analyst")
    own = world.root / "kept" / world.result.groups[0].paths[-1]
    other = world.root / "kept" / world.result.groups[1].paths[-1]
    (tmp_path / "wide.png").write_bytes(encode(scene(1, 600, 400), "PNG"))
    words = ("match", "--reference", tmp_path / "phone", own, other)
    code, out, _ = run(*words, tmp_path / "wide.png")
    assert code == 0
    assert out.startswith("Reference: 6 photos of 512×384 pixels.\n")
    assert "left out: note.txt: not a picture" in out
    assert "the reference on 512×384 pixels: correlation" in out
    assert "none. Most like the reference" in out
    assert (
        "wide.png: none: the reference has no photos of 600×400 pixels, nor of 400×600: its own "
        "have 512×384." in out
    )
    answer = json.loads(run(*words, "--json", "-q")[1])
    (frame,) = answer["reference"]["frames"]
    assert (frame["frame"], frame["agrees"], len(frame["used"])) == ("512x384", True, 6)
    assert answer["reference"]["size"] is None
    assert {p["group"] for p in answer["photos"]} == {None}
    assert {p["frame"] for p in answer["photos"]} == {"512x384"}
    code, out, _ = run(*words, "--size", 256)
    assert out.startswith("Reference: 6 photos, squares of 256 pixels.\n")
    assert "the reference on 256×256 pixels: correlation" in out
    code, out, _ = run("match", "--reference", own, other)
    assert "There is nothing to check it by: it is a single photo." in out


def test_match_of_two_photos_and_of_three(world):
    before = tree(world.case)
    one, two = (world.result.groups[k].paths[:2] for k in range(2))
    own = [world.root / "kept" / path for path in one]
    code, out, _ = run("match", *own, "--search", "off")
    lines = out.splitlines()
    assert code == 0
    assert lines[0] == "Were these two photos taken by one camera?"
    assert ("for one camera: such a score" in lines[1]) or lines[1].startswith("Not shown")
    assert "an image sensor, not a person" in out
    assert lines[-1].endswith("-o FILE.html")
    answer = json.loads(run("match", *own, "--search", "off", "--json", "-q")[1])
    assert answer["pairs"][0]["sentence"] == lines[1]
    assert f"{answer['summary'][0].upper()}{answer['summary'][1:]}." == lines[-2]
    code, out, _ = run("match", *own, world.root / "kept" / two[0], "--search", "off")
    assert code == 0
    assert out.startswith("Photos ")
    assert len([line for line in out.splitlines() if " – " in line]) >= 3
    assert " of 3 pairs match" in out
    assert tree(world.case) == before


def test_match_writes_a_page_where_it_is_told(world, tmp_path):
    page = tmp_path / "match.html"
    code, out, _ = run("match", world.case, world.root / "held", "-o", page)
    assert (code, out.splitlines()[-1]) == (0, f"Look further: {page}")
    assert "<h1>Which camera took these photos?</h1>" in page.read_text()
    words = ("match", "--reference", world.root / "held", world.root / "strangers")
    answer = json.loads(run(*words, "-o", page, "--json", "-q")[1])
    assert answer["page"] == str(page)
    assert "<h1>Did the camera at hand take these photos?</h1>" in page.read_text()
    for target in (world.case / "clusters.csv", world.root / "held" / "x.html"):
        before = tree(world.root)
        words = ("match", world.case, world.root / "held", "-o", target)
        result = CliRunner().invoke(cli, [str(word) for word in words], standalone_mode=False)
        assert "would be among the " in str(result.exception)
        assert tree(world.root) == before


def test_a_photo_that_is_not_there_is_said(world, tmp_path):
    own = world.root / "kept" / world.result.groups[0].paths[0]
    words = ["match", str(tmp_path / "gone.jpg"), str(own)]
    result = CliRunner().invoke(cli, words, standalone_mode=False)
    assert "gone.jpg' is not there: check the name" in str(result.exception)
    words[1] = str(tmp_path / "gone")
    result = CliRunner().invoke(cli, words, standalone_mode=False)
    assert "gone' is no case folder" in str(result.exception)


def test_a_name_in_a_pair_stays_text(world, tmp_path):
    own = world.root / "kept" / world.result.groups[0].paths[0]
    (tmp_path / "odd\x1b[31m.jpg").write_bytes(b"no photo")
    code, out, _ = run("match", own, tmp_path / "odd\x1b[31m.jpg")
    assert code == 3
    assert "Not compared: " in out
    assert "\x1b" not in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "Missing arguments 'CASE PHOTO...'"),
        (["CASE"], "Missing argument 'PHOTO...' after the case"),
        ([__file__], "is one photo alone, which can be compared with nothing: give a second"),
        ([__file__, os.path.dirname(__file__)], "If its photos are by one camera: samecam match"),
        (["--reference", "DIR"], "Missing argument 'PHOTO...'"),
        (["CASE", "x.jpg", "--size", "256"], "--size is for --reference"),
        (["CASE", "x.jpg", "--rate", "1"], "'1' is not a probability between 0 and 1"),
    ],
)
def test_wrong_usage_of_match(words, message):
    result = CliRunner().invoke(cli, ["match", *words])
    assert result.exit_code == 2
    assert message in result.output


def test_add_tells_what_changed_and_verify_agrees(world, tmp_path):
    case = copied(world.case, tmp_path / "case")
    code, out, _ = run("add", case, world.root / "strangers")
    assert code == 0
    assert "17 new photos used: " in out
    assert " of 1 new camera," in out
    assert "Cameras have new numbers: " in out
    code, out, _ = run("add", case, world.root / "strangers")
    assert code == 0
    assert "Nothing was to be done" in out
    answer = json.loads(run("add", case, world.root / "held", "--json", "-q")[1])
    assert answer["folder"] == "added 2"
    assert len(answer["new"]) == 9
    assert [camera["id"] for camera in answer["clusters"]] == [0, 1, 2, 3]
    assert sorted(camera["was"] for camera in answer["clusters"]) == [0, 1, 2, 3]
    assert (answer["cameras"], answer["groups"]) == (4, 4)
    code, out, _ = run("verify", case)
    assert (code, out.splitlines()[-1]) == (0, "The case agrees.")
    assert "The grouping was replayed and is the same." in out


def test_verify_exits_with_4_and_names_what_differs(world, tmp_path):
    case = copied(world.case, tmp_path / "case")
    with open(case / "images.csv", "a") as stream:
        stream.write("one more\n")
    code, out, _ = run("verify", case)
    assert code == 4
    assert "images.csv' is not what the catalogue says." in out
    assert out.splitlines()[-1] == "The case does not agree."
    code, out, _ = run("verify", case, "--json", "--quiet")
    answer = json.loads(out)
    assert code == 4
    assert answer["agrees"] is False
    assert answer["inputs"]["checked"] == 42
    assert len(answer["troubles"]) == 1
