"""A small clustered case with names, files and metadata that mean harm."""

import hashlib
import json
import os
import shutil
from pathlib import Path

import pytest
from PIL import Image

from samecam import cluster_photos
from samecam.report import write_report
from samecam.simulate import simulate_photos
from tests.once import made_once
from tests.report.pages import window

IMG = "<img src=x onerror=alert(1)>.jpg"
SCRIPT = "a</script><script>alert(2)</script>.jpg"
BYTES = os.fsdecode(b"b\xff\x80.jpg")
LINES = "c\nd\r\te.jpg"
BIDI = "e\u202egpj.exe\u2066.jpg"
QUOTES = "f\"'`&amp;{{7*7}}.jpg"
RTL = "ש\u05d1.jpg"
ODD = (IMG, SCRIPT, BYTES, LINES, BIDI, QUOTES, RTL)
MAKE = '"><svg onload=alert(3)>'


def _take_photos(folder):
    simulate_photos(folder, cameras=3, images=12, size=(640, 600), seed=3)


def _make_photos(root, taken):
    photos = root / "photos"
    shutil.copytree(taken / "images", photos)
    for name, old in zip(ODD, sorted(photos.iterdir()), strict=False):
        target = photos / name
        target.parent.mkdir(parents=True, exist_ok=True)
        old.rename(target)
    bright = Image.new("RGB", (640, 600), "white")
    bright.save(photos / "white.jpg")
    (photos / "<b>no photo.txt").write_text("not a picture")
    (photos / "copy of something.jpg").write_bytes((photos / IMG).read_bytes())
    named = sorted(photos.glob("IMG_*.jpg"))[0]
    exif = Image.Exif()
    exif[0x010F], exif[0x0110] = MAKE, "{{ 6*7 }}"
    Image.open(named).save(named, quality=95, exif=exif)
    return photos


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """The case and its photos; not to be changed."""
    root = tmp_path_factory.mktemp("report")
    photos = _make_photos(root, made_once(tmp_path_factory, "photos of a report", _take_photos))
    cluster_photos([photos], root / "case", search="off")
    return root / "case"


@pytest.fixture
def case(made, tmp_path):
    """A copy of the case that may be changed; its photos are where they were."""
    return Path(shutil.copytree(made, tmp_path / "case"))


def rewrite(case, change_json=None, change_csv=None):
    """Change the answer of a case and its hashes with it, as a later samecam might write it."""
    info = json.loads((case / "case.json").read_text())
    objects = json.loads((case / "clusters.json").read_text())
    table = (case / "clusters.csv").read_bytes()
    if change_csv is not None:
        table = change_csv(table)
    if change_json is not None:
        change_json(objects)
    (case / "clusters.csv").write_bytes(table)
    text = json.dumps(objects).encode()
    (case / "clusters.json").write_bytes(text)
    info["clustering"]["sha256"] = {
        "clusters.csv": hashlib.sha256(table).hexdigest(),
        "clusters.json": hashlib.sha256(text).hexdigest(),
    }
    (case / "case.json").write_text(json.dumps(info))


@pytest.fixture(scope="module")
def browser():
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    driver.set_page_load_timeout(60)
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def report(made, tmp_path_factory):
    case = tmp_path_factory.mktemp("browser") / "case"
    shutil.copytree(made, case)
    return write_report(case)


@pytest.fixture
def page(browser, report):
    window(browser)
    browser.get(report.as_uri())
    browser.execute_script("localStorage.clear()")
    browser.get_log("browser")
    browser.get_log("performance")
    browser.get(report.as_uri())
    yield browser
    # Selenium raises at the next word if a dialogue of a script has come up.
    assert browser.title
    assert browser.get_log("browser") == []
