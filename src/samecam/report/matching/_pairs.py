"""Every two of some photos."""

from string import ascii_uppercase

from samecam import evidence
from samecam.case import PairMatches, PhotoPair
from samecam.frames import Frame
from samecam.report._names import marked, shown
from samecam.report.matching._chart import Chart, Kind, Score, score_chart
from samecam.report.matching._content import (
    Content,
    Part,
    Row,
    counted,
    figure,
    in_question,
    limits,
    software,
    text,
)

_WORDS = {
    "match": "one camera",
    "none": "not shown",
    "alike": "look alike",
    "same": "same bytes",
    "unusable": "not compared",
}


def pairs_content(result: PairMatches) -> Content:
    """The page of every two of some photos, which have letters for names."""
    tags = {p.path: tag for p, tag in zip(result.photos, ascii_uppercase, strict=False)}
    pictures = [
        in_question(tags[p.path], p.path, p.sha256, result.files.get(p.path), "", "none")
        for p in result.photos
    ]
    charts = (_chart(result, frame, tags) for frame in _frames(result))
    two = len(result.pairs) == 1
    return Content(
        question="Were these photos taken by one camera?",
        about=f"{counted(len(result.photos), 'photo')} · {counted(len(result.pairs), 'pair')}",
        summary=shown(result.pairs[0].sentence if two else f"{result.summary}."),
        parts=[Part("The photos", "", [chart for chart in charts if chart], pictures)],
        rows=[_row(pair, tags) for pair in result.pairs],
        hashes=[(tags[p.path], marked(p.path), p.status, p.sha256 or "–") for p in result.photos],
        sheets=[software(), ("Comparison", _comparison(result))],
        limits=limits(result.measured),
    )


def _tag(pair: PhotoPair, tags: dict[str, str]) -> str:
    return f"{tags[pair.first]}{tags[pair.second]}"


def _kind(pair: PhotoPair) -> Kind:
    if pair.verdict != "match":
        return "alike" if pair.verdict == "alike" else "none"
    return "match" if pair.seen is None else "view"


def _frames(result: PairMatches) -> list[str]:
    """Widths and heights on which pairs were compared; "" for those that only views are of."""
    return sorted({pair.frame or "" for pair in result.pairs if pair.score is not None})


def _chart(result: PairMatches, frame: str, tags: dict[str, str]) -> Chart | None:
    """Pairs over chance, and over what two photos of one camera usually show."""
    scores = [
        Score(
            _tag(pair, tags),
            shown(f"{pair.first} and {pair.second}"),
            pair.score,
            _kind(pair),
        )
        for pair in result.pairs
        if pair.score is not None and (pair.frame or "") == frame
    ]
    if not frame:
        return score_chart("Photos of different widths and heights, by views", scores)
    members = evidence.usual_members(Frame.named(frame).n_pixels)
    return score_chart(
        f"Pairs on {frame.replace('x', '×')} pixels",
        scores,
        members=members,
        label="two photos of one camera, as far as is known of cameras",
        needed=evidence.STRANGERS.score(result.rate / max(result.comparisons, 1)),
    )


def _row(pair: PhotoPair, tags: dict[str, str]) -> Row:
    best, ratio = pair.best, "–"
    if best is not None and pair.seen is None and pair.verdict != "alike":
        ratio = evidence.ratio_text(best.log10_lr, best.cap)
        ratio += " for another" if best.log10_lr < 0 else ""
    return Row(
        _tag(pair, tags),
        [marked(pair.first), marked(pair.second)],
        _WORDS[pair.verdict],
        _kind(pair),
        figure(pair.score),
        ratio,
        shown(pair.support),
        shown(pair.sentence),
    )


def _comparison(result: PairMatches) -> list[tuple[str, str]]:
    """What was asked for and done."""
    return [
        ("photos", str(len(result.photos))),
        ("pairs", str(len(result.pairs))),
        ("comparisons pixel by pixel", f"{result.comparisons:,}"),
        ("search for views", text(result.search)),
        ("chance of a false match, for all pairs", f"{result.rate:g}"),
    ]
