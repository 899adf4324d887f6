"""What is said of a photo in question, for people."""

from typing import TYPE_CHECKING

from samecam import evidence

if TYPE_CHECKING:
    from samecam.case.matching._result import Candidate, Match, SeenCamera

_SMALLEST = 1e-12  # smaller rates say no more to a reader


def match_sentence(photo: "Match") -> str:
    """Which camera took a photo, or none, and how sure that is."""
    if photo.seen is not None:
        return f"{_seen_text(photo.seen)}{_known_text(photo)}"
    if photo.best is None:
        return f"{photo.verdict}: {photo.reason}."
    best = photo.best
    camera = camera_words(best)
    start = camera if photo.verdict == "match" else f"none. Most like {camera}"
    turned = f" (turned by {best.turned}°)" if best.turned else ""
    frame = f" on {photo.frame.replace('x', '×')} pixels" if photo.frame else ""
    text = f"{start}{turned}{frame}: correlation {best.correlation:.4f}, "
    text += f"a score of {best.score:z.1f}{without_words(best)} (chance scatters by 1). "
    text += f"{_ratio_text(best)} "
    text += f"{_rate_text(photo)}."
    if photo.other is not None:
        text += f" Next is {camera_words(photo.other)}, score {photo.other.score:z.1f}."
    if photo.by_views:
        text += f" Compared with {counted(photo.by_views, 'camera')} by views, none fits."
    return text + _known_text(photo)


def without_words(best: "Candidate") -> str:
    """That the score is without what is no sensor's, if there is something."""
    if best.shared_score is None:
        return ""
    return f" without a pattern that is no sensor's, of {best.shared_score:z.1f} with it"


def camera_words(candidate: "Candidate") -> str:
    """The group that fits, and where there are views its camera and its own view of it."""
    if candidate.group is None:
        return "the reference"
    group = f"group {candidate.group}"
    return f"camera {candidate.camera} ({group}, {candidate.view})" if candidate.view else group


def counted(number: int, noun: str) -> str:
    """'1 photo', '2 photos'."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _known_text(photo: "Match") -> str:
    """Where the same bytes are."""
    if photo.known is None:
        return ""
    one = photo.seen or photo.best
    group = photo.known_group
    where = ""
    if one is not None and one.group is not None and group is not None:
        where = f", in group {group}" if group >= 0 else ", in no group"
    return f" The same file is there already ({photo.known}{where}) and was left out."


def _seen_text(seen: "SeenCamera") -> str:
    """The camera that a photo sees, how, and how sure that is."""
    view = seen.view
    how = f"{seen.words} ({view.scale:.2f}×)"
    rate = evidence.rate_text(max(view.rate or 0.0, _SMALLEST))
    return (
        f"camera {seen.camera}, group {seen.group}: {how}: a score of {view.score or 0.0:z.1f}; "
        f"chance does that anywhere in all that was searched in at most {rate} cases."
        + " The group has a pattern that is no sensor's, which was not taken out here."
        * seen.shares
    )


def _rate_text(photo: "Match") -> str:
    many = counted(photo.comparisons, "comparison")
    if photo.adjusted >= 0.5:
        return f"Chance does that in {many} more often than not"
    rate = evidence.rate_text(max(photo.adjusted, _SMALLEST))
    return f"Chance does that in any of {many} in {rate} cases"


def _ratio_text(best: "Candidate") -> str:
    group = "the reference" if best.group is None else f"group {best.group}"
    return evidence.ratio_sentence(best.log10_lr, best.cap, group)
