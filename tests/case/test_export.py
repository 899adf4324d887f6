"""A case in other tools' formats: complete, honest about what is not there, never outside it."""

import csv
import hashlib
import io
import json
import os
import shutil

import pytest
from PIL import Image

from samecam.case import cluster_photos
from samecam.compute import Resources
from samecam.errors import SamecamError
from samecam.report.export import export_case
from samecam.simulate import simulate_photos
from tests.photos.pictures import encode, scene

ODD = os.fsdecode(b'x\xff\n"odd.jpg')


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Photos by two cameras, a lone one, a twin, a text, and names and EXIF of every kind."""
    root = tmp_path_factory.mktemp("export")
    simulate_photos(root / "sim", cameras=2, images=6, size=(320, 300), seed=0, workers=1)
    photos = root / "photos"
    shutil.copytree(root / "sim" / "images", photos / "sim")
    exif = Image.Exif()
    exif[0x010F], exif[0x0110] = "=cmd|' /C calc'!A0", 'Model, "seven"'
    (photos / ODD).write_bytes(encode(scene(9, 300, 300), exif=exif))
    twin = sorted((photos / "sim").iterdir())[0]
    shutil.copy(twin, photos / "=twin.jpg")
    (photos / "text.txt").write_text("no photo")
    cluster_photos([photos], root / "case", resources=Resources(workers=1))
    return root


@pytest.fixture
def case(made, tmp_path):
    """A copy of the case that a test may change; its photos are those of `made`."""
    shutil.copytree(made / "case", tmp_path / "case")
    return tmp_path / "case"


def table(name):
    with open(name, encoding="utf-8", errors="surrogateescape", newline="") as stream:
        return list(csv.DictReader(stream))


def digest(path, name):
    return hashlib.new(name, path.read_bytes()).hexdigest()


def test_csv_has_a_row_for_every_file_with_its_group(made, case):
    export = export_case(case, "csv", hashes=["md5", "sha1"])
    assert export.file == case / "export.csv"
    rows = {row["path"].removeprefix("'"): row for row in table(export.file)}
    images = {row["path"]: row for row in table(case / "images.csv")}
    clusters = {row["path"]: row for row in table(case / "clusters.csv")}
    assert list(rows) == list(images)
    assert export.files == len(images) == 15
    for path, row in rows.items():
        image = images[path]
        assert row["status"] == image["status"]
        for name in ("md5", "sha1", "sha256"):
            assert row[name] == digest(made / "photos" / path, name)
        if path in clusters:
            answer = clusters[path]
            assert (row["group_id"], row["correlation"]) == (
                answer["cluster"], answer["correlation"],
            )  # fmt: skip
    (twin,) = [row for row in rows.values() if row["status"] == "duplicate"]
    assert twin["path"].startswith("sim/")
    assert twin["group_id"] == rows["=twin.jpg"]["group_id"] != "-1"
    assert twin["sha256"] == rows["=twin.jpg"]["sha256"]
    assert rows["text.txt"]["group_id"] == ""
    assert rows[ODD]["group_id"] == "-1"
    sizes = {
        g["id"]: g["size"] for g in json.loads((case / "clusters.json").read_text())["clusters"]
    }
    assert len(sizes) == 2, "the photos of two cameras"
    assert {int(r["group_size"]) for r in rows.values() if r["group_size"]} == set(sizes.values())


def test_no_cell_of_a_photo_begins_a_formula(case):
    export_case(case, "csv")
    cells = [c for row in table(case / "export.csv") for n, c in row.items() if n != "group_id"]
    assert not [c for c in cells if c.startswith(("=", "+", "@"))]
    assert "'=twin.jpg" in cells
    assert any(c.startswith("'=cmd|") for c in cells)


def test_the_mark_for_spreadsheets_is_there_on_demand(case, tmp_path):
    plain = export_case(case, "csv", output=tmp_path / "a.csv").file.read_bytes()
    marked = export_case(case, "csv", output=tmp_path / "b.csv", bom=True).file.read_bytes()
    assert marked == b"\xef\xbb\xbf" + plain


def test_without_hashes_no_photo_is_touched(case, monkeypatch):
    monkeypatch.setattr("samecam.case.folder._sources.scan", lambda _: pytest.fail("looked for"))
    for kind in ("csv", "json", "case"):
        assert not export_case(case, kind).without_hashes
    assert {row["md5"] for row in table(case / "export.csv")} == {""}


def test_json_holds_groups_and_files(case):
    export_case(case, "json", hashes=["sha1"])
    content = json.loads((case / "export.json").read_text())
    cameras = json.loads((case / "clusters.json").read_text())["clusters"]
    groups = [group for camera in cameras for group in camera["groups"]]
    assert content["groups"] == groups
    assert [camera["groups"] for camera in content["cameras"]] == [[0], [1]]
    assert content["hashes"] == ["sha1", "sha256"]
    files = {f["path"]: f for f in content["files"]}
    assert len(files) == 15
    for group in groups:
        own = [
            p for p, f in files.items() if f["group"] == group["id"] and f["status"] != "duplicate"
        ]
        assert own == [member["path"] for member in group["members"]]
    assert files[ODD]["make"] == "=cmd|' /C calc'!A0", "JSON is for programs: as it is"
    assert content["case"]["extraction"]["size"] is None


def test_vics_has_what_its_model_demands_and_nothing_it_reserves(made, case):
    export = export_case(case, "vics")
    content = json.loads(export.file.read_text("ascii"))
    (value,) = content["value"]
    assert value["SourceApplicationName"] == "samecam"
    assert content["@odata.context"].endswith("/$metadata#Cases")
    media = value["Media"]
    assert [m["MediaID"] for m in media] == list(range(1, 14))
    assert export.files == sum(len(m["MediaFiles"]) for m in media) == 14
    assert not any({"Category", "Series"} & set(m) for m in media)
    for entry in media:
        path = os.fsencode(entry["RelativeFilePath"]).replace(b"\\xff", b"\xff")
        file = made / "photos" / os.fsdecode(path)
        assert entry["MD5"] == digest(file, "md5").upper()
        assert entry["SHA1"] == digest(file, "sha1").upper()
        assert entry["MediaSize"] == file.stat().st_size
        assert all(f["MD5"] == entry["MD5"] for f in entry["MediaFiles"])
    twins = [m for m in media if len(m["MediaFiles"]) == 2]
    assert twins[0]["MediaFiles"][0]["FileName"] == "=twin.jpg"
    tags = {m["RelativeFilePath"]: m.get("Tags") for m in media}
    for row in table(case / "clusters.csv"):
        if row["path"] != ODD:
            wanted = f"samecam:camera-{int(row['cluster']):04d}" if row["cluster"] != "-1" else None
            assert tags[row["path"]] == wanted


def conforms(file):
    from case_utils.case_validate import validate

    return validate(str(file), case_version="case-1.4.0").conforms


@pytest.mark.validator
@pytest.mark.filterwarnings("ignore")
def test_case_conforms_to_its_ontology(case, tmp_path):
    export = export_case(case, "case", hashes=["md5"])
    assert conforms(export.file)
    content = json.loads(export.file.read_text("ascii"))
    kinds = [str(node["@type"]) for node in content["@graph"]]
    groups = json.loads((case / "clusters.json").read_text())["clusters"]
    assert kinds.count("uco-observable:Device") == len(groups)
    assert sum("RasterPicture" in kind for kind in kinds) == 14
    links = sum("Relationship" in kind for kind in kinds)
    assert links == sum(g["size"] for g in groups) + 1, "the twin is linked too"
    assert "Confidence" not in export.file.read_text()
    for node in content["@graph"]:
        if node["@type"] == "uco-observable:Device":
            node["uco-core:name"] = 7  # a name is a string
    (tmp_path / "wrong.jsonld").write_text(json.dumps(content))
    assert not conforms(tmp_path / "wrong.jsonld"), "the check must be able to say no"


@pytest.mark.parametrize("kind", ["csv", "json", "vics", "case"])
def test_the_same_case_gives_the_same_bytes(case, tmp_path, kind):
    one = export_case(case, kind, output=tmp_path / "one").file.read_bytes()
    shutil.copytree(case, tmp_path / "copy")
    other = export_case(tmp_path / "copy", kind).file.read_bytes()
    assert one == other


def test_photos_that_are_gone_or_changed_are_named_and_left_out(made, tmp_path):
    photos = tmp_path / "photos"
    shutil.copytree(made / "photos", photos)
    cluster_photos([photos], tmp_path / "case", resources=Resources(workers=1))
    names = sorted(p.name for p in (photos / "sim").iterdir())
    (photos / "sim" / names[3]).unlink()
    (photos / "sim" / names[4]).write_bytes(b"something else")
    (photos / "sim" / names[0]).unlink()  # its twin is still there
    export = export_case(tmp_path / "case", "vics")
    assert export.without_hashes == {
        f"sim/{names[3]}": "not found where the case was made from",
        f"sim/{names[4]}": "its bytes have changed",
    }
    text = export.file.read_text()
    assert names[3] not in text
    assert names[4] not in text
    assert names[0] in text
    assert export.files == 12
    shutil.rmtree(photos)
    with pytest.raises(SamecamError, match="None of the 14 files .* can be hashed"):
        export_case(tmp_path / "case", "vics")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda c: (c / "clusters.json").unlink(), "clusters.json' cannot be read"),
        (lambda c: (c / "case.json").unlink(), "no case folder"),
        (lambda c: (c / "clusters.csv").write_text("path\n"), "not as it was written"),
        (lambda c: (c / "images.csv").write_text("path,status\n"), "do not fit together"),
    ],
)
def test_an_unfinished_or_changed_case_is_refused_with_an_error(case, change, words):
    change(case)
    with pytest.raises(SamecamError, match=words):
        export_case(case, "csv")
    assert not (case / "export.csv").exists()


def test_wrong_words_get_an_error(case):
    with pytest.raises(SamecamError, match="format is 'xml': choose one of csv, json, vics, case"):
        export_case(case, "xml")
    with pytest.raises(SamecamError, match="hash is 'crc': choose of md5, sha1, sha256"):
        export_case(case, "csv", hashes=["crc"])


# Nothing outside the case, nothing among the photos


@pytest.mark.parametrize("evil", ["../secret.jpg", "sim/../../secret.jpg", "{secret}"])
def test_a_path_in_a_case_never_opens_a_file_outside(made, case, tmp_path, evil):
    secret = tmp_path / "secret.jpg"
    secret.write_bytes(b"private")
    shutil.copy(secret, made / "secret.jpg")
    evil = evil.format(secret=secret)
    rows = table(case / "images.csv")
    row = next(row for row in rows if row["path"] == "text.txt")
    row.update(path=evil, sha256=digest(secret, "sha256"), status="unusable")
    stream = io.StringIO(newline="")
    writer = csv.DictWriter(stream, rows[0], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    text = stream.getvalue()
    (case / "images.csv").write_text(text, encoding="utf-8", errors="surrogateescape")
    export = export_case(case, "vics")
    assert evil in export.without_hashes
    assert digest(secret, "md5").upper() not in export.file.read_text()


def test_an_export_leaves_a_planted_link_and_what_it_points_to(case, tmp_path):
    (tmp_path / "precious").write_text("mine")
    (case / "export.csv").symlink_to(tmp_path / "precious")
    with pytest.raises(SamecamError, match="among the case's own files|is a link"):
        export_case(case, "csv")
    (tmp_path / "link.csv").symlink_to(tmp_path / "precious")
    with pytest.raises(SamecamError, match="is a link"):
        export_case(case, "csv", output=tmp_path / "link.csv")
    assert (tmp_path / "precious").read_text() == "mine"


@pytest.mark.parametrize(
    "name", ["images.csv", "clusters.json", "fingerprints/x", "sub/../case.json"]
)
def test_the_cases_own_files_are_not_written_over(case, name):
    before = {p: p.read_bytes() for p in case.rglob("*") if p.is_file()}
    with pytest.raises(SamecamError, match="among the case's own files"):
        export_case(case, "csv", output=case / name)
    assert before == {p: p.read_bytes() for p in case.rglob("*") if p.is_file()}


def test_nothing_is_written_among_the_photos(made, case, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(made / "photos")
    for target in (made / "photos" / "a.csv", made / "photos" / "sim" / "a.csv", link / "a.csv"):
        with pytest.raises(SamecamError, match="would be among the photos"):
            export_case(case, "csv", output=target)
        assert not target.exists()
    with pytest.raises(SamecamError, match="is a folder"):
        export_case(case, "csv", output=tmp_path)
