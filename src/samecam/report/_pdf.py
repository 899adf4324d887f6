"""The page on paper: printed to PDF by a browser of this machine, which sees nothing else."""

import contextlib
import os
import shutil
import signal
import subprocess
from pathlib import Path

from samecam.errors import SamecamError
from samecam.files import read_own, work_folder, write_atomically

BROWSERS = (
    *("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"),
    *("microsoft-edge", "microsoft-edge-stable"),
)
_OPTIONS = (
    *("--headless", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"),
    *("--no-first-run", "--no-default-browser-check", "--disable-extensions", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--disable-default-apps"),
    *("--disable-breakpad", "--no-pings", "--host-resolver-rules=MAP * ~NOTFOUND"),
    "--no-pdf-header-footer",
)
_SHOWN = 200


def find_browser() -> str:
    """A browser that prints, or an error that says what to do without one."""
    for name in BROWSERS:
        if found := shutil.which(name):
            return found
    raise SamecamError(
        f"There is no browser to print with ({', '.join(BROWSERS)}): install Chromium, Chrome or "
        "Edge, or open report.html and print it to a PDF there."
    )


def print_page(browser: str, page: str, target: Path, *, timeout: float) -> None:
    """Print a page to a PDF.

    The browser begins with a profile of its own, which is gone afterwards, and has no network.

    Parameters
    ----------
    browser : its file
    page : HTML
    target : file to write
    timeout : seconds that it may take
    """
    with work_folder(target.parent) as folder:
        write_atomically(folder / "page.html", page)
        made = folder / "page.pdf"
        command = [
            browser,
            *_OPTIONS,
            *(["--no-sandbox"] if os.geteuid() == 0 else []),
            f"--user-data-dir={folder.absolute() / 'profile'}",
            f"--print-to-pdf={made.absolute()}",
            (folder.absolute() / "page.html").as_uri(),
        ]
        said = _run(browser, command, timeout)
        try:
            data = read_own(made)
        except OSError:
            data = b""
        if not data.startswith(b"%PDF"):
            raise SamecamError(
                f"{browser!r} did not print the report ({said or 'it said nothing'}): open "
                "report.html and print it to a PDF there."
            )
        write_atomically(target, data)


def _run(browser: str, command: list[str], timeout: float) -> str:
    """Run the browser and all that it starts; the last line it says."""
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        raise SamecamError(f"{browser!r} cannot be started: {error.strerror}.") from None
    try:
        said = process.communicate(timeout=timeout)[1]
    except subprocess.TimeoutExpired:
        _end(process)
        raise SamecamError(
            f"{browser!r} did not print the report in {timeout:g} s: open report.html and print it "
            "to a PDF there."
        ) from None
    except BaseException:
        _end(process)
        raise
    lines = said.decode("utf-8", "replace").strip().splitlines()
    return lines[-1][-_SHOWN:] if lines else ""


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a browser that still runs, and all that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
