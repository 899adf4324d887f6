"""Photos in question against a camera at hand."""

from samecam.case import ReferenceFrame, ReferenceMatches
from samecam.report._names import shown
from samecam.report.matching import _photos
from samecam.report.matching._chart import Chart
from samecam.report.matching._content import Content, Part, counted, few, limits, members, software


def reference_content(result: ReferenceMatches) -> Content:
    """The page of photos and a reference."""
    matches = result.matches
    numbered = list(enumerate(matches.photos, start=1))
    part = _camera(result, numbered)
    total = counted(len(result.used), "photo")
    return Content(
        question="Did the camera at hand take these photos?",
        about=f"{counted(len(matches.photos), 'photo')} · a reference of {total}",
        summary=f"{matches.summary}.",
        parts=[part, *_photos.none_part(matches, numbered, len(part.pictures), None)],
        rows=[_photos.photo_row(k, match) for k, match in numbered],
        hashes=_photos.hashes(numbered),
        sheets=[software(), ("Comparison", _photos.comparison(matches)), *_sheets(result)],
        limits=limits(matches.measured),
    )


def _camera(result: ReferenceMatches, numbered: _photos.Numbered) -> Part:
    """The reference: what photos show with it, those that match, and its own."""
    matches = result.matches
    matched = [(k, m) for k, m in numbered if m.verdict == "match"]
    scored = [
        (path, digest, score)
        for frame in result.frames
        for path, digest, score in zip(
            frame.used, frame.hashes, frame.scores or [float("nan")] * len(frame.used), strict=True
        )
    ]
    strongest, total = members(scored, result.files)
    kept, left_out = few(_photos.pictures(matches, matched), 0)
    charts = (_frame_chart(result, frame, numbered) for frame in _compared(numbered))
    return Part(
        title="The reference",
        about=f"{counted(len(matched), 'photo')} of {len(matches.photos)} match it.",
        charts=[chart for chart in charts if chart is not None],
        pictures=kept,
        members=strongest,
        of_members=f"The strongest of its {counted(total, 'photo')}",
        left_out=left_out,
        remarks=[_doubt(frame) for frame in result.frames if not frame.agrees],
    )


def _compared(numbered: _photos.Numbered) -> list[str]:
    """Widths and heights on which photos were compared."""
    return sorted({m.frame for _, m in numbered if m.frame is not None})


def _frame_chart(result: ReferenceMatches, frame: str, numbered: _photos.Numbered) -> Chart | None:
    """All photos that were compared on one frame."""
    some = [(k, m) for k, m in numbered if m.frame == frame]
    known = next((each.scores for each in result.frames if each.frame == frame), [])
    title = f"On {frame.replace('x', '×')} pixels"
    return _photos.photo_chart(title, some, result.matches.rate, frame=frame, known=known)


def _doubt(frame: ReferenceFrame) -> str:
    size = frame.frame.replace("x", "×")
    if len(frame.used) == 1:
        return f"Of {size} pixels there is a single photo: there is nothing to check it by."
    return (
        f"The photos of {size} pixels show no common pattern beyond chance: that nothing matches "
        "them would mean nothing at all."
    )


def _sheets(result: ReferenceMatches) -> list[tuple[str, list[tuple[str, str]]]]:
    """The photos of the reference with their SHA-256, and those that were left out."""
    used = [
        (shown(path), digest)
        for frame in result.frames
        for path, digest in zip(frame.used, frame.hashes, strict=True)
    ]
    size = "the whole frame" if result.size is None else f"squares of {result.size} pixels"
    sheets = [("Reference", [("compared", size)]), ("Photos of the reference, SHA-256", used)]
    left = [(shown(outlier.path), shown(outlier.reason)) for outlier in result.outliers]
    return [*sheets, ("Left out of the reference", left)] if left else sheets
