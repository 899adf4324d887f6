"""Export as CASE/UCO JSON-LD, after the ontologies CASE 1.4 and UCO 1.4."""

import json
from typing import Any

from samecam._version import __version__
from samecam.case import Camera
from samecam.report.export._content import Content, ExportedFile
from samecam.report.export._text import LIMIT, MIME, evidence_text, identity, plain

_UCO = "https://ontology.unifiedcyberontology.org/uco/"
_CONTEXT = {
    "kb": "urn:samecam:kb:",
    "case-investigation": "https://ontology.caseontology.org/case/investigation/",
    **{f"uco-{name}": f"{_UCO}{name}/" for name in
       ("action", "analysis", "configuration", "core", "observable", "tool", "types")},
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}  # fmt: skip
_NAMED = 8
_METHODS = {"md5": "MD5", "sha1": "SHA1", "sha256": "SHA256"}

Node = dict[str, Any]


def uco_export(content: Content, ended: str | None) -> str:
    """A graph: files, unidentified cameras, their groups, the action, and its results.

    Where persons decided, the cameras that stand after it are sets and results beside those.

    There is no confidence in it: UCO's is a number from 0 to 100, and neither a correlation
    nor an error rate is one. What was measured stands in words, in `uco-core:statement`.

    Parameters
    ----------
    content : the case
    ended : when it was clustered, as XML's dateTime, if known
    """
    pictures = content.pictures()
    files = {f.photo.path: _file(content, f) for f in pictures}
    members: dict[int | None, list[ExportedFile]] = {}
    for file in pictures:
        members.setdefault(file.camera, []).append(file)
    graph = [*files.values()]
    results: list[Node] = []
    for camera in content.cameras:
        made = _camera(content, camera, members[camera.id], files)
        results.append(made[-1])
        graph += made
    if content.decided.counts:
        for made in _decided(content, pictures, files):
            results.append(made[-1])
            graph += made
    graph += _run(content, list(files.values()), results, ended)
    document = {"@context": _CONTEXT, "@graph": graph}
    return json.dumps(document, indent=1, ensure_ascii=True) + "\n"


def _id(content: Content, kind: str, *parts: object) -> str:
    return f"kb:{kind}-{identity('uco', content.mark, kind, *parts)}"


def _reference(node: Node) -> Node:
    return {"@id": node["@id"]}


def _typed(kind: str, value: object) -> Node:
    return {"@type": f"xsd:{kind}", "@value": str(value)}


def _file(content: Content, file: ExportedFile) -> Node:
    facet: Node = {
        "@id": _id(content, "file-facet", file.photo.path),
        "@type": "uco-observable:FileFacet",
        "uco-observable:fileName": plain(file.photo.name),
        "uco-observable:filePath": plain(file.photo.path),
    }
    if file.photo.size is not None:
        facet["uco-observable:sizeInBytes"] = _typed("integer", file.photo.size)
    data: Node = {
        "@id": _id(content, "content-facet", file.photo.path),
        "@type": "uco-observable:ContentDataFacet",
        "uco-observable:hash": [
            {
                "@id": _id(content, "hash", file.photo.path, name),
                "@type": "uco-types:Hash",
                "uco-types:hashMethod": _METHODS[name],
                "uco-types:hashValue": _typed("hexBinary", value),
            }
            for name, value in sorted(file.hashes.items())
        ],
    }
    if file.photo.image["format"] in MIME:
        data["uco-observable:mimeType"] = MIME[file.photo.image["format"]]
    return {
        "@id": _id(content, "file", file.photo.path),
        "@type": ["uco-observable:File", "uco-observable:RasterPicture"],
        "uco-core:hasFacet": [facet, data],
    }


def _camera(
    content: Content, camera: Camera, members: list[ExportedFile], files: dict[str, Node]
) -> list[Node]:
    """Camera, sets, one relationship a photo, and last the result that asserts them."""
    number = camera.id
    device: Node = {
        "@id": _id(content, "camera", number),
        "@type": "uco-observable:Device",
        "uco-core:name": f"Unidentified camera {number}",
    }
    nodes = [files[f.photo.path] for f in members]
    grouping: Node = {
        "@id": _id(content, "grouping", number),
        "@type": "uco-core:Grouping",
        "uco-core:context": ["same camera"],
        "uco-core:object": [_reference(node) for node in nodes],
    }
    links = []
    for file, node in zip(members, nodes, strict=True):
        link: Node = {
            "@id": _id(content, "link", file.photo.path),
            "@type": "uco-observable:ObservableRelationship",
            "uco-core:source": _reference(node),
            "uco-core:target": _reference(device),
            "uco-core:kindOfRelationship": "Created_By",
            "uco-core:isDirectional": True,
        }
        if words := evidence_text(file):
            link["uco-core:description"] = words
        links.append(link)
    result: Node = {
        "@id": _id(content, "result", number),
        "@type": "uco-analysis:AnalyticResult",
        "uco-core:name": f"Camera {number}",
        "uco-core:statement": _statement(camera),
    }
    return [device, grouping, *_views(content, camera, members, files), *links, result]


def _decided(
    content: Content, pictures: list[ExportedFile], files: dict[str, Node]
) -> list[list[Node]]:
    """A set and a result for each camera that stands after what persons decided."""
    made = []
    for number, camera in enumerate(content.decided.cameras):
        members = [files[f.photo.path] for f in pictures if f.decided == camera.name]
        grouping: Node = {
            "@id": _id(content, "decided-grouping", number),
            "@type": "uco-core:Grouping",
            "uco-core:name": plain(camera.name),
            "uco-core:context": ["same camera, after decisions by persons"],
            "uco-core:object": [_reference(node) for node in members],
        }
        names = {d.examiner for d in content.decided.decisions if d.number in camera.decisions}
        by = f", as decided by {', '.join(sorted(names))}" if names else ""
        result: Node = {
            "@id": _id(content, "decided-result", number),
            "@type": "uco-analysis:AnalyticResult",
            "uco-core:name": plain(f"Camera {camera.name} after decisions"),
            "uco-core:statement": plain(
                f"These {camera.size} photographs stand as taken by one camera{by}. {LIMIT}"
            ),
        }
        made.append([grouping, result])
    return made


def _views(
    content: Content, camera: Camera, members: list[ExportedFile], files: dict[str, Node]
) -> list[Node]:
    """A set for each group of a camera that is seen in several ways."""
    if len(camera.groups) + len(camera.placed) < 2:
        return []
    return [
        {
            "@id": _id(content, "view", group.id),
            "@type": "uco-core:Grouping",
            "uco-core:name": f"Group {group.id}: {group.words}",
            "uco-core:context": ["same camera, seen in the same way"],
            "uco-core:object": [
                _reference(files[f.photo.path]) for f in members if f.group == group.id
            ],
        }
        for group in camera.groups
    ]


def _statement(camera: Camera) -> str:
    group = camera.groups[0]
    words = f"These {camera.size} photographs were grouped as taken by one camera"
    if len(camera.views) > 1:
        words += f", seen in several ways ({'; '.join(camera.views[:_NAMED])})"
    if group.correlation is not None:
        words += f"; mean correlation of two of them {group.correlation:.4g}"
    if group.nearest is not None:
        words += (
            f"; nearest other group {group.nearest}, correlation of the two fingerprints "
            f"{group.nearest_correlation:.4g}"
        )
    return f"{words}. {LIMIT}"


def _run(content: Content, files: list[Node], results: list[Node], ended: str | None) -> list[Node]:
    """The tool, its parameters, and the action with what went in and came out."""
    info = content.info
    settings = {**info["extraction"], "seed": info.get("seed")}
    clustering = info["clustering"]
    named = ("method", "options", "preset", "search")
    settings.update({f"clustering {name}": clustering.get(name) for name in named})
    entries: list[Node] = [
        {
            "@id": _id(content, "entry", name),
            "@type": "uco-configuration:ConfigurationEntry",
            "uco-configuration:itemName": name,
            "uco-configuration:itemValue": json.dumps(value, ensure_ascii=True),
        }
        for name, value in sorted(settings.items())
    ]
    configuration: Node = {
        "@id": _id(content, "configuration"),
        "@type": "uco-configuration:Configuration",
        "uco-configuration:configurationEntry": entries,
    }
    tool: Node = {
        "@id": _id(content, "tool"),
        "@type": "uco-tool:AnalyticTool",
        "uco-core:name": "samecam",
        "uco-tool:version": info.get("samecam", __version__),
    }
    action: Node = {
        "@id": _id(content, "action"),
        "@type": ["case-investigation:InvestigativeAction", "uco-analysis:Analysis"],
        "uco-core:name": "Grouping of photographs by camera",
        "uco-action:startTime": _typed("dateTime", info["created"]),
        "uco-action:instrument": [_reference(tool), _reference(configuration)],
        "uco-action:object": [_reference(node) for node in files],
        "uco-action:result": [_reference(node) for node in results],
    }
    if ended is not None:
        action["uco-action:endTime"] = _typed("dateTime", ended)
    return [tool, configuration, action]
