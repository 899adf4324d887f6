"""Make report.png, the picture of a report in the README, from the demo's report.

make demo
python docs/img/make_report.py [REPORT.html]

Needs Debian's chromium and chromium-driver (make browser).
"""

import base64
import io
import shutil
import sys
from pathlib import Path

from PIL import Image
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

WIDTH, HEIGHT = 1400, 1170


def take(page: Path) -> bytes:
    """The top of a page as a picture."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"):
        options.add_argument(word)
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    try:
        size = {"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        light = {"features": [{"name": "prefers-color-scheme", "value": "light"}]}
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", light)
        driver.get(page.resolve().as_uri())
        return base64.b64decode(driver.execute_cdp_cmd("Page.captureScreenshot", {})["data"])
    finally:
        driver.quit()


def main() -> None:
    page = Path(sys.argv[1] if len(sys.argv) > 1 else "demo/case/report.html")
    image = Image.open(io.BytesIO(take(page))).convert("RGB")
    image.save(Path(__file__).with_name("report.png"), optimize=True)


if __name__ == "__main__":
    main()
