"""On paper: marked on every page, numbered, nothing folded, nothing cut; and who prints it."""

import base64
import re
import stat
import time

import pytest
from click.testing import CliRunner

from samecam.cli import cli
from samecam.errors import SamecamError
from samecam.report import _pdf, write_report
from tests.report.pages import find, visible, window
from tests.report.pdfs import page_texts


def squeezed(text):
    return re.sub(r"\s", "", text)


def printer(folder, script):
    path = folder / "chromium"
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


WRITES = 'for a in "$@"; do case $a in --print-to-pdf=*) echo %PDF-1.4 > "${a#*=}";; esac; done'


def test_without_a_browser_it_says_what_to_do(case, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        SamecamError, match=r"no browser to print with .*install Chromium.*print it"
    ):
        write_report(case, thumbnails=False, pdf=tmp_path / "a.pdf")
    assert not (case / "report.html").exists(), "refused before the work"


def test_the_browser_has_no_network_and_no_profile(tmp_path):
    record = tmp_path / "said"
    browser = printer(tmp_path, f'printf "%s\\n" "$@" > {record}\n{WRITES}')
    target = tmp_path / "out" / "a.pdf"
    target.parent.mkdir()
    _pdf.print_page(str(browser), "<p>page", target, timeout=30)
    assert target.read_bytes().startswith(b"%PDF")
    words = record.read_text(encoding="utf-8").splitlines()
    assert "--host-resolver-rules=MAP * ~NOTFOUND" in words
    assert any(re.match(r"--user-data-dir=.*/\.samecam-\w+\.work/profile", word) for word in words)
    assert words[-1].startswith("file:///")
    assert [path.name for path in target.parent.iterdir()] == ["a.pdf"], "nothing is left"


def test_only_root_goes_without_a_sandbox(tmp_path, monkeypatch):
    record = tmp_path / "said"
    browser = printer(tmp_path, f'printf "%s\\n" "$@" > {record}\n{WRITES}')
    for user, without in ((0, True), (1000, False)):
        monkeypatch.setattr("os.geteuid", lambda user=user: user)
        _pdf.print_page(str(browser), "<p>page", tmp_path / "a.pdf", timeout=30)
        assert ("--no-sandbox" in record.read_text(encoding="utf-8").split()) == without


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("echo no display >&2; exit 1", "did not print the report .no display.: open report.html"),
        ("true", "it said nothing"),
        ("sleep 600 & sleep 600", "did not print the report in 0.5 s"),
    ],
)
def test_a_browser_that_fails(tmp_path, script, said):
    browser = printer(tmp_path, script)
    began = time.monotonic()
    with pytest.raises(SamecamError, match=said):
        _pdf.print_page(str(browser), "<p>page", tmp_path / "a.pdf", timeout=0.5)
    assert time.monotonic() - began < 300, "what it had started is ended with it"
    assert not (tmp_path / "a.pdf").exists()


def test_the_command_prints_beside_the_page_or_elsewhere(case, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    printer(tmp_path, WRITES)
    run = CliRunner().invoke(cli, ["report", str(case), "--no-thumbnails", "--pdf"])
    assert run.exit_code == 0, run.exception
    assert run.stdout.splitlines() == [str(case / "report.html"), str(case / "report.pdf")]
    assert (case / "report.pdf").exists()
    elsewhere = tmp_path / "b.pdf"
    words = ["--no-thumbnails", "--pdf", str(elsewhere), "--paper", "letter"]
    run = CliRunner().invoke(cli, ["report", str(case), *words])
    assert elsewhere.exists()
    run = CliRunner().invoke(cli, ["report", str(case), "--pdf", str(case / "clusters.csv")])
    assert "among the case's own files" in str(run.exception)


@pytest.mark.browser
@pytest.mark.parametrize(("paper", "width"), [("a4", 595), ("letter", 612)])
def test_every_page_is_marked_and_numbered(case, tmp_path, paper, width):
    (case / "about.toml").write_text('case_number = "7/26 \u201codd\u201d"', encoding="utf-8")
    target = tmp_path / "report.pdf"
    write_report(case, pdf=target, paper=paper)
    data = target.read_bytes()
    texts = [squeezed(text) for text in page_texts(data)]
    assert len(texts) > 3
    for number, text in enumerate(texts, 1):
        assert "Draft,notsigned" in text
        assert f"Page{number}of{len(texts)}" in text
        assert "7/26\u201codd\u201d" in text
    boxes = re.findall(rb"/MediaBox \[0 0 ([\d.]+)", data)
    assert {round(float(box)) for box in boxes} == {width}
    headed = [text for text in texts if "SHA-256StatusCamera" in text]
    assert len(headed) >= 1
    assert b"clusters.csv)" not in data, "no link to a file that was beside the page"


@pytest.mark.browser
def test_a_signed_report_says_so_on_every_page(case, tmp_path):
    target = tmp_path / "report.pdf"
    signed = {"signed": {"name": "A. Examiner", "date": "2026-01-31"}}
    write_report(case, thumbnails=False, pdf=target, about=signed)
    texts = [squeezed(text) for text in page_texts(target.read_bytes())]
    assert all("SignedbyA.Examiner,2026-01-31" in text and "Draft" not in text for text in texts)


@pytest.mark.browser
def test_nothing_is_folded_or_filtered_on_paper(page):
    photos = len(page.find_elements("css selector", ".photo"))
    files = len(page.find_elements("css selector", ".hashes tbody tr"))
    find(page, "no such thing")
    assert visible(page, ".photo") == []
    window(page, scheme="dark", media="print")
    assert len(visible(page, ".photo")) == photos
    assert len(visible(page, ".hashes tbody tr")) == files
    assert len(visible(page, ".card")) == len(page.find_elements("css selector", ".card"))
    for gone in (".bar", ".fold", ".more", "#nothing", "dialog"):
        assert visible(page, gone) == []
    assert page.execute_script("return getComputedStyle(document.body).color") == "rgb(0, 0, 0)"


@pytest.mark.browser
@pytest.mark.parametrize("width", [643, 665])  # what A4 and Letter leave between the margins
def test_no_table_is_wider_than_paper(page, width):
    window(page, width, media="print")
    wide = page.execute_script(
        "return [...document.querySelectorAll('main table')]"
        ".filter(t => t.getBoundingClientRect().right > innerWidth + 1).map(t => t.className)"
    )
    assert wide == []
    assert page.execute_script("return document.documentElement.scrollWidth") <= width
    style = "return getComputedStyle(document.querySelector('.hashes thead')).display"
    assert page.execute_script(style) == "table-header-group"


@pytest.mark.browser
def test_headings_are_repeated(page):
    """Of a table over many pages, printed as people do it."""
    data = base64.b64decode(page.execute_cdp_cmd("Page.printToPDF", {})["data"])
    assert all("Draft" in text for text in map(squeezed, page_texts(data)))
    page.execute_script(
        "const body = document.querySelector('.hashes tbody');"
        "const rows = [...body.rows];"
        "for (let k = 0; k < 4; k++) body.append(...rows.map(r => r.cloneNode(true)));"
    )
    longer = base64.b64decode(page.execute_cdp_cmd("Page.printToPDF", {})["data"])
    headed = [text for text in map(squeezed, page_texts(longer)) if "FileSHA-256Status" in text]
    assert len(headed) >= 2
