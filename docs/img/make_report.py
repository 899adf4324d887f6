"""Make report.png, the picture of a report in the README, from simulated photos of four accounts.

python docs/img/make_report.py

Needs Debian's chromium and chromium-driver (make browser).
"""

import base64
import csv
import io
import shutil
import tempfile
from pathlib import Path

from PIL import Image
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from samecam import cluster_photos
from samecam.report import write_report
from samecam.simulate import simulate_photos

WIDTH, HEIGHT = 1400, 2140
# Whose photos each camera took.
ACCOUNTS = (("alice",), ("alice", "bob"), ("bob",), ("carol", "dave"), ("dave",))
ABOUT = {
    "examiner": "A. Examiner",
    "organisation": "Example laboratory",
    "case_number": "2026-0017",
    "question": "Do the four accounts share a camera?",
}


def make_case(folder: Path) -> Path:
    """Photos in folders of accounts, grouped; the report of them."""
    simulate_photos(folder / "taken", cameras=len(ACCOUNTS), images=16, size=(1024, 768), seed=7)
    with open(folder / "taken" / "truth.csv", encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    names = sorted({row["camera"] for row in rows})
    for number, row in enumerate(rows):
        accounts = ACCOUNTS[names.index(row["camera"])]
        target = folder / "accounts" / accounts[number // len(names) % len(accounts)]
        target.mkdir(parents=True, exist_ok=True)
        shutil.copy(folder / "taken" / row["path"], target)
    cluster_photos([folder / "accounts"], folder / "case")
    return write_report(folder / "case", about=ABOUT)


def take(page: Path, height: int = HEIGHT) -> bytes:
    """The top of a page as a picture."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"):
        options.add_argument(word)
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    try:
        size = {"width": WIDTH, "height": height, "deviceScaleFactor": 1, "mobile": False}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        light = {"features": [{"name": "prefers-color-scheme", "value": "light"}]}
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", light)
        driver.get(page.resolve().as_uri())
        return base64.b64decode(driver.execute_cdp_cmd("Page.captureScreenshot", {})["data"])
    finally:
        driver.quit()


def small(picture: Image.Image) -> Image.Image:
    """The same in 256 colours, a third of the bytes."""
    return picture.convert("RGB").quantize(256)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        image = small(Image.open(io.BytesIO(take(make_case(Path(folder))))))
    image.save(Path(__file__).with_name("report.png"), optimize=True)


if __name__ == "__main__":
    main()
