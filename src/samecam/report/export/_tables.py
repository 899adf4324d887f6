"""Export as CSV, the common denominator, and as JSON."""

import json
from collections.abc import Collection
from typing import Any

from samecam.case import Camera, csv_text
from samecam.report.export._content import Content, ExportedFile

COLUMNS = (
    *("camera_id", "camera_size", "group_id", "group_size", "view"),
    *("status", "path", "file_name", "size", "md5", "sha1", "sha256"),
    *("width", "height", "frame", "make", "model", "serial"),
    *("correlation", "score", "log10_lr", "doubtful", "margin", "p_value"),
    *("nearest_other_group", "copy_of", "service", "note"),
    *("decided_camera", "decision"),
)
FORMAT, VERSION = "samecam-export", 4
_CLUSTERING = ("method", "options", "seed", "preset", "search")
_SHARES = ("dark", "saturated", "flat", "even")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def csv_export(content: Content, *, bom: bool = False) -> str:
    """One row per file found. Text that a spreadsheet would take for a formula gets a `'`."""
    rows = [[_guarded(cell) for cell in _row(content, f)] for f in content.files]
    return ("\ufeff" if bom else "") + csv_text(COLUMNS, rows)


def _row(content: Content, file: ExportedFile) -> list[object]:
    photo, row = file.photo, file.photo.image
    own = None if file.group in (None, -1) else content.groups[file.group]
    camera = None if file.camera in (None, -1) else content.cameras[file.camera]
    return [
        *(file.camera, camera and camera.size, file.group, own and own.size, file.view or None),
        *(photo.status, photo.path, photo.name, photo.size),
        *(file.hashes.get(name) for name in ("md5", "sha1", "sha256")),
        *(_number(row["width"]), _number(row["height"]), photo.frame or None),
        *(row["make"], row["model"], row["serial"]),
        *(photo.correlation, photo.figure("score"), photo.figure("log10_lr")),
        *(photo.evidence.get("doubtful") or None, photo.margin, photo.p_value),
        *(own and own.nearest, photo.copy_of, row["service"], photo.reason),
        *(file.decided or None, file.decision),
    ]


def _guarded(cell: object) -> object:
    if isinstance(cell, str) and cell.startswith(_FORMULA):
        return "'" + cell
    return cell


def _number(text: str) -> int | None:
    return int(text) if text else None


def json_export(content: Content, hashes: Collection[str]) -> str:
    """The whole answer as one object: how it was made, groups, and every file."""
    info = content.info
    kept = ("samecam", "created", "sources", "extraction", "seed", "versions", "device", "counts")
    case = {name: info[name] for name in kept if name in info}
    clustering = info["clustering"]
    case["clustering"] = {n: clustering.get(n) for n in _CLUSTERING}
    document = {
        "format": FORMAT,
        "version": VERSION,
        "mark": content.mark,
        "hashes": sorted({"sha256", *hashes}),
        "case": case,
        "cameras": [_camera(camera) for camera in content.cameras],
        "groups": [group.as_dict() for group in content.groups],
        "decided": _decided(content),
        "files": [_object(file) for file in content.files],
    }
    return json.dumps(document, indent=1, ensure_ascii=True) + "\n"


def _camera(camera: Camera) -> dict[str, Any]:
    """A camera; its groups stand beside it, by their numbers."""
    return {**camera.as_dict(), "groups": [group.id for group in camera.groups]}


def _decided(content: Content) -> dict[str, Any]:
    """What persons decided, and the cameras that stand after it; `cameras` is the machine's."""
    decided = content.decided
    return {
        "cameras": [
            {
                "name": camera.name,
                "size": camera.size,
                "clusters": list(camera.clusters),
                "status": camera.status or None,
                "confirmed": camera.confirmed,
                "notes": [note.text for note in camera.notes],
            }
            for camera in decided.cameras
        ],
        "decisions": [
            {
                "number": d.number,
                "time": d.time,
                "decision": d.kind,
                "in_force": d.number in decided.in_force,
                **d.fields(),
            }
            for d in decided.decisions
        ],
        "differs": len(decided.differs),
        "contradictions": [found.words for found in decided.contradictions],
    }


def _object(file: ExportedFile) -> dict[str, Any]:
    texts = ("format", "make", "model", "serial", "software", "taken", "orientation")
    photo, row = file.photo, file.photo.image
    return {
        "path": photo.path,
        "status": photo.status,
        "note": photo.reason,
        "copy_of": photo.copy_of or None,
        "service": row["service"] or None,
        "camera": file.camera,
        "group": file.group,
        "view": file.view or None,
        "decided_camera": file.decided or None,
        "decision": file.decision,
        "size": photo.size,
        "hashes": dict(sorted(file.hashes.items())),
        "width": _number(row["width"]),
        "height": _number(row["height"]),
        "frame": photo.frame or None,
        **{name: row[name] for name in texts},
        "mode": row.get("mode", ""),
        **{name: float(row[name]) if row[name] else None for name in _SHARES},
        **{name: getattr(photo, name) for name in ("correlation", "margin", "p_value")},
        "score": photo.figure("score"),
        "log10_lr": photo.figure("log10_lr"),
        "doubtful": photo.doubtful,
    }
