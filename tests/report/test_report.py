"""The page as text: complete, safe, the same again, and for large cases short."""

import csv
import io
import json
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import pytest
from click.testing import CliRunner

from samecam import __version__, cluster_fingerprints
from samecam.case import open_case
from samecam.cli import cli
from samecam.compute import Resources
from samecam.errors import SamecamError
from samecam.evidence import one_model_note
from samecam.report import _correlations, _page, shown, write_report
from samecam.report._method import REFERENCES
from tests.report.conftest import IMG, MAKE, ODD, rewrite

ROOT = Path(__file__).parent.parent.parent
VOID = {"meta", "img", "input", "br", "hr", "link"}


class Parsed(HTMLParser):
    """Elements and texts of a page, and whether it is well nested."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.open, self.texts, self.scripts = [], [], [], []
        self.ids = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if "id" in dict(attrs):
            self.ids.append(dict(attrs)["id"])
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] in ("script", "style"):
            self.scripts.append(data)
        else:
            self.texts.append(data)

    def all(self, tag, cls=""):
        attributes = [a for t, a in self.elements if t == tag]
        return [a for a in attributes if not cls or cls in (a.get("class") or "").split()]


def written(case, **options):
    return write_report(case, **options).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page(made, tmp_path_factory):
    case = tmp_path_factory.mktemp("page") / "case"
    shutil.copytree(made, case)
    return written(case)


def test_it_is_well_formed_and_names_everything(page, made):
    parsed = Parsed(page)
    assert len(parsed.ids) == len(set(parsed.ids))
    text = "".join(parsed.texts)
    content = open_case(made)
    assert len(parsed.all("article", "card")) == len(content.cameras) + 1
    assert len(parsed.all("figure", "photo")) == len(content.used)
    for photo in content.photos:
        if photo.status != "good":
            assert shown(photo.path) in text
            assert shown(photo.reason) in text
    for digest in content.hashes.values():
        assert digest in text
    for value in (__version__, "numpy", "join_rate", "seed", "chain"):
        assert value in text
    assert "not a person" in text
    targets = {a["href"][1:] for a in parsed.all("a") if a["href"].startswith("#")}
    assert targets <= set(parsed.ids)


def test_the_numbers_of_one_page_agree(page, made):
    content = open_case(made)
    text = " ".join("".join(Parsed(page).texts).split())
    used, alone = len(content.used), len(content.alone)
    assert f"{used} photos of {len(content.photos)} files could be used" in text
    assert f"In {used - alone} of them" in text
    assert f"{used - alone} photos of a camera of {used} used" in text
    counts = {name: int(n) for n, name in re.findall(r"<li><b>(\d+)</b> (\w+)", page)}
    assert sum(counts[name] for name in ("unusable", "duplicate", "skipped")) == (
        len(content.photos) - used
    )
    rows = re.findall(r'<tr data-camera="\d+">.*?<td class="n">(\d+)</td>', page)
    assert sum(map(int, rows)) == used - alone
    (total,) = re.findall(r"<tfoot>(.*?)</tfoot>", page, re.S)
    *each, files = map(int, re.findall(r"<td[^>]*>(\d+)</td>", total))
    assert sum(each) == files == len(content.photos)
    assert each[-2:] == [alone, len(content.photos) - used]
    assert all(photo.sha256 in text for photo in content.photos if photo.sha256)
    assert page.count("<td><code>") == len(content.photos)


def test_references_stand_in_the_docs_too():
    text = (ROOT / "docs" / "method.md").read_text(encoding="utf-8")
    assert all(reference in text for reference in REFERENCES)


def test_nothing_in_a_name_becomes_markup(page):
    parsed = Parsed(page)
    assert len(parsed.all("script")) == 2
    assert not any(name.startswith("on") for _, attrs in parsed.elements for name in attrs)
    assert not any("style" in attrs for _, attrs in parsed.elements)
    assert {a["src"][:10] for a in parsed.all("img")} == {"data:image"}
    assert "alert(3)" in page
    assert MAKE not in page
    details = json.loads(parsed.scripts[1])
    paths = {path for path, _ in details}
    assert {shown(name) for name in ODD} <= paths
    assert "<" not in parsed.scripts[1]
    page.encode("utf-8")
    assert not re.search("[\u202a-\u202e\u2066-\u2069\ud800-\udfff]", page)


def test_nothing_comes_from_elsewhere(page):
    parsed = Parsed(page)
    (policy,) = (a["content"] for a in parsed.all("meta") if "http-equiv" in a)
    assert policy.startswith("default-src 'none'; img-src data:; style-src 'sha256-")
    assert "unsafe" not in policy
    assert "http" not in policy
    links = {a["href"] for a in parsed.all("a")}
    assert all(link.startswith("#") or re.fullmatch(r"\w+\.(csv|jsonl?)", link) for link in links)
    assert not parsed.all("link")
    assert not re.findall(r"url\((?!#)", page)


def test_the_same_case_gives_the_same_page(case):
    first = write_report(case, resources=Resources(workers=1)).read_bytes()
    assert write_report(case, resources=Resources(workers=2)).read_bytes() == first


def test_members_stand_from_the_strongest_to_the_weakest(page, made):
    with open(made / "clusters.csv", encoding="utf-8", errors="surrogateescape", newline="") as f:
        rows = {row["path"]: row for row in csv.DictReader(f)}
    parsed = Parsed(page)
    details = json.loads(parsed.scripts[1])
    order = [row for row in details if dict(row[1])["Group"] == "0"]
    values = [
        float(dict(rows_)["Correlation with the rest of its group (r)"]) for _, rows_ in order
    ]
    assert len(values) > 5
    assert values == sorted(values, reverse=True)
    known = {shown(path): row for path, row in rows.items()}
    for path, said in order:
        stated = float(known[path]["correlation"])
        assert float(dict(said)["Correlation with the rest of its group (r)"]) == pytest.approx(
            stated, abs=6e-5
        )


def test_without_evidence_members_are_compared_here(case):
    """A case whose evidence is empty is laid out in the same order."""
    expected = json.loads(Parsed(written(case)).scripts[1])

    def emptied(table):
        rows = list(csv.reader(io.StringIO(table.decode("utf-8", "surrogateescape"), newline="")))
        stream = io.StringIO()
        csv.writer(stream, lineterminator="\n").writerows(
            row if k == 0 else [*row[:-4], "", "", "", ""] for k, row in enumerate(rows)
        )
        return stream.getvalue().encode("utf-8", "surrogateescape")

    rewrite(case, change_csv=emptied)
    text = written(case)
    lists = json.loads(Parsed(text).scripts[1])
    assert [path for path, _ in lists] == [path for path, _ in expected]
    rates = [
        label
        for _, rows in lists
        for label, _ in rows
        if "another camera has such a score" in label
    ]
    assert rates == []
    for (_, rows), (_, wanted) in zip(lists, expected, strict=True):
        r, stated = dict(rows), dict(wanted)
        for label in ("Correlation with the rest of its group (r)", "Lead over that group"):
            assert float(r.get(label, 0)) == pytest.approx(float(stated.get(label, 0)), abs=2e-4)


def test_remarks_are_said_and_what_all_groups_have_is_none(case):
    def told(objects):
        content = open_case(case)
        note = one_model_note([dict(p.image) for p in content.members(content.groups[0])])
        assert note.startswith("All files name one model")
        groups = [camera["groups"][0] for camera in objects["clusters"]]
        groups[0]["warnings"] = [note, "Look <here>!"]
        groups[1].update(apart="near", why_apart="They may well be one camera.")
        groups[2].update(apart="different", why_apart="They are two.", warnings=[])

    rewrite(case, told)
    parsed = Parsed(written(case))
    remarks = [a.get("data-remarks") for a in parsed.all("article", "card")]
    assert remarks[0] == "1"
    assert remarks[2] is None
    text = "".join(parsed.texts)
    for sentence in ("Look <here>!", "They may well be one camera.", "They are two."):
        assert sentence in text


def test_photos_that_are_gone_or_hidden(case):
    info = json.loads((case / "case.json").read_text())
    info["sources"] = [str(case / "nowhere")]
    (case / "case.json").write_text(json.dumps(info))
    text = written(case)
    assert "<img" not in text
    assert text.count("<small>not found</small>") == len(open_case(case).used)
    plain = written(case, thumbnails=False)
    assert '<html lang="en" class="plain">' in plain
    assert 'id="blur"' not in plain
    assert 'class=" blur"' in written(case, blur=True)


def test_large_cases_show_the_ends_of_groups(case, monkeypatch):
    monkeypatch.setattr(_page, "LIMIT", 15)
    monkeypatch.setattr(_page, "_LONG", 2)
    monkeypatch.setattr(_correlations, "MOST", 20)
    content = open_case(case)
    parsed = Parsed(written(case))
    full = json.loads(parsed.scripts[1])
    text = " ".join("".join(parsed.texts).split())
    assert len(parsed.all("figure", "photo")) == 15 + 2
    assert f"A sample of 20 of {len(content.used)} photos" in text
    assert "clusters.csv" in text
    assert "are not shown" in text
    group = [path for path, rows in full if dict(rows)["Group"] == "0"]
    strong = sorted(content.members(content.groups[0]), key=lambda p: -p.correlation)
    assert group == [shown(p.path) for p in strong[:4] + strong[-1:]]


def test_a_page_lists_no_more_files_than_a_browser_shows(case, monkeypatch):
    count = len(open_case(case).photos)
    assert written(case).count("<td><code>") == count > 7
    monkeypatch.setattr(_page, "LISTED", 7)
    few = written(case)
    assert few.count("<td><code>") == 7
    text = " ".join("".join(Parsed(few).texts).split())
    assert f"The first 7 of {count} files" in text
    assert "images.csv and clusters.csv list all" in text


def test_no_group_at_all(tmp_path):
    import numpy as np

    rows = np.random.default_rng(0).normal(size=(9, 400))
    np.save(tmp_path / "rows.npy", rows)
    cluster_fingerprints(tmp_path / "rows.npy", tmp_path / "case")
    text = written(tmp_path / "case")
    assert "No camera was found" in text
    Parsed(text)


def test_refusals(case, tmp_path):
    with pytest.raises(SamecamError, match="no case folder"):
        write_report(tmp_path)
    with pytest.raises(SamecamError, match="timeout is 0"):
        write_report(case, timeout=0)
    table = (case / "clusters.csv").read_bytes()
    (case / "clusters.csv").write_bytes(table.replace(b",0,", b",1,", 1))
    with pytest.raises(SamecamError, match=r"clusters.csv. is not as it was written: .*run"):
        write_report(case)
    (case / "clusters.csv").unlink()
    with pytest.raises(SamecamError, match=r"clusters.csv. cannot be read"):
        write_report(case)


def test_tables_that_do_not_fit_together(case):
    def swapped(objects):
        first, second, *_ = objects["clusters"]
        first["groups"][0]["members"] = second["groups"][0]["members"]

    rewrite(case, swapped)
    with pytest.raises(SamecamError, match="do not fit together"):
        write_report(case)


def test_a_case_without_groups_yet(case):
    info = json.loads((case / "case.json").read_text())
    (case / "case.json").write_text(json.dumps({**info, "state": "extracted"}))
    with pytest.raises(SamecamError, match="is not finished .extracted.: give its last command"):
        write_report(case)
    assert not (case / "report.html").exists()


def test_the_command(case):
    run = CliRunner().invoke(cli, ["report", str(case), "--no-thumbnails", "--json", "--quiet"])
    assert run.exit_code == 0, run.output
    said = json.loads(run.stdout)
    assert said["report"] == str(case / "report.html")
    assert said["bytes"] == (case / "report.html").stat().st_size
    assert IMG.replace("<", "&lt;").replace(">", "&gt;") in (case / "report.html").read_text()
    run = CliRunner().invoke(cli, ["report", str(case), "--no-thumbnails"])
    assert run.stdout.endswith("report.html\n")
