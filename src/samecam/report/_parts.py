"""What pages are put together from: files of the package, and what a browser may load for them."""

import base64
import hashlib
from importlib import resources


def part(name: str) -> str:
    """Text of a file beside the code of pages, like "page.css"."""
    return resources.files("samecam.report").joinpath(name).read_text(encoding="utf-8")


def style() -> str:
    """The style sheet of the report, which other pages of ours share."""
    return part("page.css")


def policy(style: str, script: str | None = None) -> str:
    """A content security policy: pictures of the page itself, this style, this script."""

    def source(text: str) -> str:
        digest = hashlib.sha256(text.encode()).digest()
        return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"

    scripts = "" if script is None else f"script-src {source(script)}; "
    return (
        f"default-src 'none'; img-src data:; style-src {source(style)}; {scripts}"
        "base-uri 'none'; form-action 'none'"
    )
