"""Code on pages of markdown: fenced blocks with their language, and indented ones without."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
_FENCE = re.compile(r"^(`{3,}|:{3,})(\S*)[^\n]*\n(.*?)^\1\s*$", re.M | re.S)
_INDENTED = re.compile(r"(?:^|\n)\n((?:    [^\n]*\n|\n)+)")


@dataclass(frozen=True)
class Block:
    """Code of a page."""

    language: str
    text: str


def pages():
    """The README, CONTRIBUTING and all pages of docs/."""
    docs = (ROOT / "docs").rglob("*.md")
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(docs)]


def fenced(text):
    """Blocks between fences, in order."""
    return [Block(language, body) for _, language, body in _FENCE.findall(text)]


def indented(text):
    """Blocks of four spaces outside of fences and lists, in order."""
    plain = _FENCE.sub("", text)
    found = []
    for match in _INDENTED.finditer(plain):
        before = plain[: match.start() + 1].rstrip("\n").rpartition("\n")[2]
        body = re.sub(r"^    ", "", match[1], flags=re.M).strip("\n")
        if body and not re.match(r"\s*(?:[-*]|\d+\.) ", before):
            found.append(Block("", body))
    return found


def blocks(path):
    """All code of a page."""
    text = path.read_text(encoding="utf-8")
    return fenced(text) + indented(text)


def commands(block):
    """Lines of a block that run samecam, comments gone and lines that go on joined."""
    if block.language not in ("", "sh"):
        return []
    lines = re.sub(r"\\\n\s*", "", block.text).splitlines()
    lines = [re.sub(r"\s+#.*$", "", line).strip() for line in lines]
    return [line for line in lines if re.match(r"(?:\S*/)?samecam [a-z]", line)]
