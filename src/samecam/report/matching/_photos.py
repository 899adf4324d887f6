"""Photos in question as a page shows them: rows, pictures, and their scores over chance."""

from collections.abc import Sequence

from markupsafe import Markup

from samecam import evidence
from samecam.case import Match, Matches
from samecam.frames import Frame
from samecam.report._names import marked, shown
from samecam.report.matching._chart import Chart, Kind, Score, score_chart
from samecam.report.matching._content import (
    Part,
    Picture,
    Row,
    counted,
    few,
    figure,
    in_question,
    text,
)

Numbered = Sequence[tuple[int, Match]]


def kind_of(match: Match) -> Kind:
    """How a photo is marked: it matches, pixel by pixel or by a view, or not."""
    if match.verdict != "match":
        return "none"
    return "match" if match.seen is None else "view"


def photo_row(number: int, match: Match) -> Row:
    """A photo in the table of all."""
    best, ratio = match.best, "–"
    words: str = match.reason or match.verdict
    if match.seen is not None:
        words = f"one camera, by a view: {match.seen.words}"
    elif best is not None:
        ratio = evidence.ratio_text(best.log10_lr, best.cap)
        if best.log10_lr < 0:
            ratio += " for another"
        words = evidence.support(best.log10_lr, best.cap)
    return Row(
        str(number),
        [marked(match.path)],
        answer(match),
        kind_of(match),
        figure(match.score),
        ratio,
        shown(words),
        shown(match.sentence),
    )


def answer(match: Match) -> str:
    """The verdict in a word or two: "camera 3", "the reference", "none"."""
    if match.verdict != "match":
        return match.verdict
    return "the reference" if match.camera is None else f"camera {match.camera}"


def pictures(result: Matches, photos: Numbered) -> list[Picture]:
    """Photos in question, the highest score first."""
    ordered = sorted(photos, key=lambda each: (-(each[1].score or 0.0), each[0]))
    return [
        in_question(
            str(number),
            match.path,
            match.sha256,
            result.files.get(match.path),
            "" if match.score is None else f"score {match.score:z.1f}",
            kind_of(match),
        )
        for number, match in ordered
    ]


def hashes(photos: Numbered) -> list[tuple[str, Markup, str, str]]:
    """The photos in question with what became of the files, and SHA-256."""
    return [(str(k), marked(m.path), m.status, m.sha256 or "–") for k, m in photos]


def none_part(result: Matches, photos: Numbered, used: int, chart: Chart | None) -> list[Part]:
    """Photos that match no camera, if there are any; `used` pictures stand before them."""
    none = [(k, m) for k, m in photos if m.verdict == "none"]
    if not none:
        return []
    kept, left_out = few(pictures(result, none), used)
    about = (
        f"{counted(len(none), 'photo')} of {len(result.photos)} match none. That is no evidence "
        "of another camera."
    )
    charts = [] if chart is None else [chart]
    return [Part("No match", about, charts, kept, left_out=left_out)]


def none_chart(photos: Numbered, rate: float) -> Chart | None:
    """Photos that match none, over the law of strangers alone."""
    none = [(k, m) for k, m in photos if m.verdict == "none"]
    return photo_chart("Each with the camera that it is most like", none, rate)


def photo_chart(
    title: str,
    photos: Numbered,
    rate: float,
    *,
    frame: str | None = None,
    known: Sequence[float] = (),
) -> Chart | None:
    """Scores of photos over chance, and over what photos of the camera show.

    Parameters
    ----------
    title : of the picture
    photos : that are marked
    rate : chance of a false match that is allowed
    frame : width and height of the camera's photos; None: there is no one camera
    known : scores of its members; without, what two photos of one camera usually show is drawn
    """
    scores = [
        Score(str(k), shown(m.path), m.score, kind_of(m)) for k, m in photos if m.score is not None
    ]
    some, label = None, ""
    if frame is not None and known:
        some = evidence.known_members(known)
        label = f"photos of this camera, by the scores of {counted(len(known), 'member')}"
    elif frame is not None:
        some = evidence.usual_members(Frame.named(frame).n_pixels)
        label = "two photos of one camera, as far as is known of cameras"
    counts = {m.comparisons for _, m in photos if m.seen is None and m.comparisons}
    needed = evidence.STRANGERS.score(rate / counts.pop()) if len(counts) == 1 else None
    return score_chart(title, scores, members=some, label=label, known=known, needed=needed)


def comparison(result: Matches) -> list[tuple[str, str]]:
    """What was asked for and done."""
    return [
        ("photos in question", str(len(result.photos))),
        ("cameras", str(result.cameras)),
        ("comparisons pixel by pixel", f"{result.comparisons:,}"),
        ("search for views", text(result.search)),
        ("chance of a false match, for each photo", f"{result.rate:g}"),
    ]
