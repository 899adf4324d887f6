"""A tutorial, worked through: its blocks of shell and Python run one after another.

What stands in a block ```text after one is what that one prints; … stands for anything. What a page
quotes stands in the report that it makes.
"""

import html
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.docs.blocks import ROOT, fenced

TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
PATIENCE = 300


# Runs code that comes in lines of JSON, each where the one before it ended.
_LOOP = """
import json, sys, traceback
names = {"__name__": "__main__"}
for line in sys.stdin:
    try:
        exec(json.loads(line), names)
    except Exception:
        print(traceback.format_exc(), end="")
    print(END, flush=True)
"""
_END = "the block has ended"


def work_through(page, folder):
    """Run all blocks of a page in a folder; what they should have printed and did not."""
    said, missing, text = "", [], page.read_text(encoding="utf-8")
    with python(folder) as process:
        for block in fenced(text):
            if block.language == "sh":
                said = "".join(run_line(line, folder) for line in shell_lines(block.text))
            elif block.language == "python":
                said = run_python(block.text, process)
            elif block.language == "text" and not block.text.startswith("samecam "):
                missing += not_said(block.text, said)
    if quotes := re.findall(r"(?:^> .*\n)+", text, re.M):
        report = words_of(Path(folder, "case", "report.html").read_text(encoding="utf-8"))
        missing += [quote for quote in quotes if words_of(quote.replace("> ", "")) not in report]
    return missing


def words_of(page):
    """Text of a page without tags, one space between words."""
    return " ".join(html.unescape(re.sub("<[^>]+>", "", page)).split())


def python(folder):
    """An interpreter that waits for code."""
    return subprocess.Popen(
        [sys.executable, "-c", _LOOP.replace("END", repr(_END))],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def run_python(code, process):
    """What code prints."""
    print(json.dumps(code), file=process.stdin, flush=True)
    lines = "".join(iter(process.stdout.readline, f"{_END}\n"))
    assert "Traceback" not in lines, lines
    return lines


def shell_lines(text):
    """Commands of a block, those over several lines whole."""
    return re.sub(r"\\\n\s*", "", text).strip().splitlines()


def run_line(line, folder):
    """What a command prints; a review is looked at and ended."""
    if line.startswith("samecam review"):
        return run_review(line, folder)
    return run(["bash", "-c", line], folder)


def run(words, folder):
    """Standard output of a command that must succeed."""
    done = subprocess.run(
        words, cwd=folder, env=environment(), capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 0, f"{words[-1]}: {done.stderr}"
    return done.stdout


def run_review(line, folder):
    """Start a review, wait for its address, end it with Ctrl-C."""
    words = ["bash", "-c", f"exec {line} --no-browser"]
    with subprocess.Popen(
        words, cwd=folder, env=environment(), stdout=subprocess.PIPE, text=True
    ) as process:
        first = process.stdout.readline()
        assert first.startswith("Open http://127.0.0.1:"), first
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read()
        assert process.wait(PATIENCE) in (0, 130)
    return first + rest


def environment():
    """With the samecam of this interpreter first."""
    here = str(Path(sys.executable).parent)
    return os.environ | {"PATH": here + os.pathsep + os.environ["PATH"]}


def not_said(shown, said):
    """Lines that are shown and were not printed, in that order."""
    lines, at = [line.strip() for line in said.splitlines()], 0
    missing = []
    for line in filter(None, (line.strip() for line in shown.splitlines())):
        pattern = ".*".join(map(re.escape, line.split("…")))
        found = [k for k in range(at, len(lines)) if re.fullmatch(pattern, lines[k])]
        if line != "…" and not found:
            missing.append(f"{line!r} is not in {lines[at:]}")
        elif line != "…":
            at = found[0] + 1
    return missing
