"""Sentences and names that exports share."""

import uuid

from samecam.report.export._content import ExportedFile

_SPACE = uuid.UUID("6f0a6a3b-6c1e-5f0e-9b1d-0c5a7f5d2a11")
MIME = {
    "JPEG": "image/jpeg", "MPO": "image/jpeg", "PNG": "image/png", "TIFF": "image/tiff",
    "WEBP": "image/webp", "BMP": "image/bmp", "HEIC": "image/heic",
}  # fmt: skip
_EVIDENCE = {
    "correlation": "correlation with the group's fingerprint",
    "margin": "margin over the nearest other group",
    "p_value": "rate of such a score among photos of other cameras",
}
_FIGURES = {"score": "score", "log10_lr": "likelihood ratio (log10)"}
LIMIT = "A link is to a sensor, not to a person."


def identity(*parts: object) -> str:
    """A UUID that is the same for the same parts."""
    return str(uuid.uuid5(_SPACE, "\0".join(map(plain, map(str, parts)))))


def plain(text: str) -> str:
    """Text that is valid Unicode: bytes of a path that are not UTF-8 as backslash, x, number."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def evidence_text(file: ExportedFile) -> str:
    """What is known of a photo's place in its group, as a sentence; "" if nothing."""
    parts = []
    view = file.photo.view
    if file.group == -1 and view is not None and view.score is not None:
        parts.append(f"correlation as {file.view}, a score of {view.score:.3g}")
    for name, meaning in _EVIDENCE.items():
        number = getattr(file.photo, name)
        if number is not None:
            parts.append(f"{meaning} {number:.4g}")
    for name, meaning in _FIGURES.items():
        if file.group not in (None, -1) and (figure := file.photo.figure(name)) is not None:
            parts.append(f"{meaning} {figure:.4g}")
    if file.photo.doubtful:
        parts.append("doubtful")
    return ", ".join(parts).capitalize() + "." if parts else ""
