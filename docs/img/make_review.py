"""Make the pictures of docs/review.md: a case of simulated photos, reviewed in a browser.

python docs/img/make_review.py [FOLDER]

Photos and case are kept in FOLDER (demo/review) and used again. Needs Debian's chromium and
chromium-driver (make browser).
"""

import base64
import io
import shutil
import sys
import threading
import time
from pathlib import Path

from PIL import Image
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from samecam.case import cluster_photos
from samecam.review import Review
from samecam.simulate import simulate_photos

WIDTH, HEIGHT = 1400, 1000
FOLDERS = ("Phone of A", "Laptop of B", "Chat")


def make_case(folder: Path) -> Path:
    """Photos so small that some of them are in doubt, in three folders, grouped."""
    case = folder / "case"
    if not case.exists():
        simulate_photos(folder / "simulated", cameras=8, images=16, size=(512, 384), seed=0)
        for k, file in enumerate(sorted((folder / "simulated" / "images").iterdir())):
            target = folder / "photos" / FOLDERS[(k % 8 + k // 40) % len(FOLDERS)]
            target.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, target)
        cluster_photos([folder / "photos"], case)
    return case


def open_browser() -> webdriver.Chrome:
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"):
        options.add_argument(word)
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    size = {"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    light = {"features": [{"name": "prefers-color-scheme", "value": "light"}]}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", light)
    return driver


def main() -> None:
    case = make_case(Path(sys.argv[1] if len(sys.argv) > 1 else "demo/review"))
    driver = open_browser()
    with Review(case, "A. Example") as review:
        thread = threading.Thread(target=review.serve)
        thread.start()
        driver.get(review.address)
        weak = next(q.key for q in review.state.now.questions if q.kind == "weak")
        for name, path in {
            "review.png": f"/?item={weak}",
            "review-camera.png": "/camera?name=camera-0",
        }.items():
            driver.get(f"http://127.0.0.1:{review.port}{path}")
            time.sleep(4)
            shot = base64.b64decode(driver.execute_cdp_cmd("Page.captureScreenshot", {})["data"])
            image = Image.open(io.BytesIO(shot)).convert("RGB").quantize(256)  # few bytes
            image.save(Path(__file__).with_name(name), optimize=True)
        driver.quit()
        review.stop()
        thread.join()


if __name__ == "__main__":
    main()
