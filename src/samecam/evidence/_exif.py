"""What the files say of themselves, as warnings about a group: never proof, never grouping."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction

Record = Mapping[str, str]

_EDITORS = re.compile(
    r"photoshop|lightroom|gimp|snapseed|picasa|affinity|capture one|darktable|rawtherapee|"
    r"luminar|acdsee|paint|pixelmator|vsco|facetune|instagram|whatsapp|facebook|telegram|"
    r"imagemagick|irfanview|xnview|photoscape|polarr|canva|remini|preview|windows photo|"
    r"google photos|picsart|meitu|beauty",
    re.IGNORECASE,
)
# Longest sides that messengers and social networks bring photographs to.
_SHARED_SIDES = frozenset({720, 960, 1080, 1280, 1440, 1600, 2048})
# Modes in which cameras blur or merge by themselves, as `photos.Exif` names them.
_PROCESSED = frozenset({"portrait", "HDR", "portrait HDR", "panorama"})
_MOST_NAMED = 4
_DOUBT = {
    "group": "the group may hold more than one camera",
    "camera": "these may be views of more than one camera",
}


def exif_warnings(records: Sequence[Record]) -> list[str]:
    """Warnings about one group's files, from the columns of images.csv.

    Looks at make, model, serial, software, mode, width, height and orientation; columns that
    are missing count as empty. An empty list means that nothing was noticed, not that nothing
    is there: metadata are easily removed or changed.
    """
    if not records:
        return []
    warnings = [
        _models(records),
        _serials(records),
        one_model_note(records),
        _sizes(records),
        _editors(records),
        _shared_sizes(records),
        _turned(records),
        _modes(records),
    ]
    return [warning for warning in warnings if warning]


def view_warnings(records: Sequence[Record]) -> list[str]:
    """Warnings about the files of one camera that is seen in several ways: what they name."""
    warnings = [_models(records, "camera"), _serials(records, "camera")]
    return [warning for warning in warnings if warning]


def _camera(record: Record) -> str:
    make, model = _get(record, "make"), _get(record, "model")
    return model if model.lower().startswith(make.lower()) else f"{make} {model}".strip()


def _get(record: Record, column: str) -> str:
    return str(record.get(column) or "").strip()


def _size(record: Record) -> tuple[int, int] | None:
    width, height = _get(record, "width"), _get(record, "height")
    if not (width.isdecimal() and height.isdecimal() and int(width) and int(height)):
        return None
    return int(width), int(height)


def _named(counts: Mapping[str, int]) -> str:
    """The most frequent values with their numbers: "A (5), B (2) and 3 more"."""
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    text = ", ".join(f"{name} ({count})" for name, count in ordered[:_MOST_NAMED])
    more = len(ordered) - _MOST_NAMED
    return f"{text} and {more} more" if more > 0 else text


def _models(records: Sequence[Record], what: str = "group") -> str:
    stated = Counter(camera for camera in map(_camera, records) if camera)
    if len(stated) < 2:
        return ""
    return (
        f"The files name {len(stated)} camera models, {_named(stated)}: {_DOUBT[what]}, or "
        "metadata were changed."
    )


def _serials(records: Sequence[Record], what: str = "group") -> str:
    stated = Counter(s for s in (_get(r, "serial") for r in records) if s)
    if len(stated) < 2:
        return ""
    return (
        f"The files name {len(stated)} serial numbers, {_named(stated)}: {_DOUBT[what]}, or "
        "metadata were changed."
    )


def one_model_note(records: Sequence[Record]) -> str:
    """All of one model and software: what links them may be common to the model."""
    if len(records) < 2:
        return ""
    stated = {(_camera(record), _get(record, "software")) for record in records}
    (camera, software), *others = stated
    if others or not camera:
        return ""
    with_software = f" with software {software}" if software else ""
    return (
        f"All files name one model, {camera}{with_software}: an artefact that all devices of this "
        "model share cannot be excluded as the reason of the link."
    )


def _sizes(records: Sequence[Record]) -> str:
    """Different sizes, the two orientations of one size counted as one."""
    sizes = [size for size in map(_size, records) if size]
    upright = Counter((max(size), min(size)) for size in sizes)
    if len(upright) < 2:
        return ""
    ratios = {Fraction(long, short).limit_denominator(50) for long, short in upright}
    names = _named({f"{long}×{short}": count for (long, short), count in upright.items()})
    shape = (
        "aspect ratios differ too, so some were cropped or taken in another mode"
        if len(ratios) > 1
        else "some were resized or taken in another mode"
    )
    return (
        f"The pictures have {len(upright)} sizes, {names}; {shape}: a sensor's pattern only "
        "matches at the same scale and place."
    )


def _editors(records: Sequence[Record]) -> str:
    edited = Counter(s for s in (_get(r, "software") for r in records) if s and _EDITORS.search(s))
    if not edited:
        return ""
    total = sum(edited.values())
    return (
        f"{total} of {len(records)} files name editing or sharing software, {_named(edited)}: "
        "editing weakens the sensor's pattern and can add one of its own."
    )


def _shared_sizes(records: Sequence[Record]) -> str:
    """No camera named and a longest side that networks produce."""
    sized = [(record, size) for record in records if (size := _size(record))]
    count = sum(1 for record, size in sized if not _camera(record) and max(size) in _SHARED_SIDES)
    if count == 0:
        return ""
    return (
        f"{count} of {len(records)} files name no camera and have a longest side that messengers "
        "and social networks produce: they were probably resized and compressed again."
    )


def _turned(records: Sequence[Record]) -> str:
    """Both upright and lying pixels: some were turned, and the sensor's pattern with them."""
    sizes = [size for size in map(_size, records) if size and size[0] != size[1]]
    upright = sum(1 for width, height in sizes if height > width)
    if upright in (0, len(sizes)):
        return ""
    return (
        f"{upright} of {len(records)} pictures are stored upright and the others lying: some were "
        "turned after the exposure, or cropped."
    )


def _modes(records: Sequence[Record]) -> str:
    """Photos that the camera put together or blurred itself: that may leave a pattern in all."""
    made = Counter(mode for mode in (_get(r, "mode") for r in records) if mode in _PROCESSED)
    if not made:
        return ""
    return (
        f"{sum(made.values())} of {len(records)} files say that the camera processed them more "
        f"than usual, {_named(made)}: that weakens the sensor's pattern, and what it adds may be "
        "alike in photos of other devices."
    )
