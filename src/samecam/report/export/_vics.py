"""Export as VICS 2.0 JSON, which triage tools import."""

import json
from typing import Any

from samecam._version import __version__
from samecam.report.export._content import Content, ExportedFile
from samecam.report.export._text import LIMIT, MIME, evidence_text, identity, plain

_CONTEXT = "http://github.com/VICSDATAMODEL/ProjectVic/DataModels/2.0.xml/Default/$metadata#Cases"


def vics_export(content: Content) -> str:
    """One `Media` per picture (equal bytes are one), one `MediaFiles` entry per file.

    The camera is a tag `samecam:camera-0001` (its number) and a comment, which names the group;
    where persons decided, the one that stands after it is a second tag, `samecam:decided:NAME`.
    `Category` and `Series`, which have a meaning of their own in that community, are never
    written. Only pictures whose MD5 is known are in it: the model demands one.
    """
    media: dict[str, list[ExportedFile]] = {}
    for file in content.pictures():
        if "md5" in file.hashes:
            media.setdefault(file.photo.sha256, []).append(file)
    decided = content.decided.counts
    entries = [_media(k, files, decided=decided) for k, files in enumerate(media.values(), start=1)]
    case = {
        "CaseID": identity("vics", content.mark),
        "SourceApplicationName": "samecam",
        "SourceApplicationVersion": __version__,
        "Media": entries,
    }
    document = {"@odata.context": _CONTEXT, "value": [case]}
    return json.dumps(document, indent=1, ensure_ascii=True) + "\n"


def _media(number: int, files: list[ExportedFile], *, decided: bool) -> dict[str, Any]:
    first = next((f for f in files if f.photo.status != "duplicate"), files[0])
    entry: dict[str, Any] = {
        "MediaID": number,
        "MD5": first.hashes["md5"].upper(),
        "SHA1": first.hashes.get("sha1", "").upper(),
        "MediaSize": first.photo.size,
        "MimeType": MIME.get(first.photo.image["format"], "application/octet-stream"),
        "RelativeFilePath": plain(first.photo.path),
        "Comments": _comment(first, decided=decided),
        "MediaFiles": [_file(f) for f in files],
    }
    if not entry["SHA1"]:
        del entry["SHA1"]
    if first.camera is not None and first.camera >= 0:
        entry["Tags"] = f"samecam:camera-{first.camera:04d}"
    if decided and first.decided:
        tag = f"samecam:decided:{plain(first.decided).replace(',', ' ').replace(';', ' ')}"
        entry["Tags"] = ", ".join([*filter(None, [entry.get("Tags")]), tag])
    return entry


def _file(file: ExportedFile) -> dict[str, str]:
    folder = plain(file.photo.path.rpartition("/")[0])
    return {
        "MD5": file.hashes["md5"].upper(),
        "FileName": plain(file.photo.name),
        "FilePath": folder,
    }


def _comment(file: ExportedFile, *, decided: bool) -> str:
    if file.camera is None or file.group is None:
        return plain(f"samecam: not used ({file.photo.reason}).")
    after = plain(f" After decisions: {file.decided or 'of no camera'}.") if decided else ""
    if file.camera < 0:
        return f"samecam: of no camera.{after}"
    seen = f" ({file.view})" if file.view else ""
    group = f"group {file.group}" if file.group >= 0 else "no group"
    words = f"samecam: by camera {file.camera}, in {group}{seen}. {evidence_text(file)}"
    return f"{words.strip()} {LIMIT}{after}"
