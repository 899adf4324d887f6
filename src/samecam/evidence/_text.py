"""Text for reports: bounded, about sensors, with the number of comparisons.

Nothing here says who took a photograph, or states a probability that the data do not support.
"""

import math
from collections.abc import Sequence

from samecam.evidence._division import Division
from samecam.evidence._groups import GroupEvidence, PairEvidence
from samecam.evidence._law import LAW_VERSION, STRANGERS, Law
from samecam.evidence._photos import DOUBTFUL, PhotoEvidence
from samecam.evidence._ratios import MODEL_CAP, support
from samecam.evidence._shared import SharedPattern
from samecam.frames import Frame

SENSOR = (
    "A link is between photographs and an image sensor, not a person: it says nothing of who "
    "held the camera, owned it, or made the file what it is."
)
ABSENCE = (
    "That two photographs are not linked means little: editing, resizing, zoom, stabilisation "
    "and compression by networks all weaken the pattern. Absence of a link is no evidence of "
    "different cameras."
)
MODEL = (
    "Rates speak of chance between cameras of different models. A pattern that all devices of a "
    "model or all pictures of one software share is not chance: against another body of the same "
    "model no likelihood ratio above 100 is stated, and none speaks of shared software."
)

# Groups that are named, at most.
_NAMED = 8
# The smallest rate that is put into words.
_SMALLEST = 1e-12


def rate_text(p: float) -> str:
    """A probability as "1 in N", rounded up to two digits so that the bound still holds."""
    if math.isnan(p):
        return "not known"
    if not 0 < p <= 1:
        raise ValueError(f"p is {p}; give a probability above 0")
    if p > 0.5:
        return "1 in 1"
    count = 1 / p
    digits = max(0, math.floor(math.log10(count)) - 1)
    rounded = int(count / 10**digits * (1 + 1e-9)) * 10**digits
    return f"1 in {rounded:,}"


def ratio_text(log_ratio: float, cap: float) -> str:
    """A likelihood ratio as a number: "300 times", "at least 10,000 times" where the scale ends."""
    if math.isnan(log_ratio):
        return "not known"
    end = log_ratio >= cap
    count = 10 ** min(abs(log_ratio), cap)
    digits = max(0, math.floor(math.log10(count)))
    rounded = round(count / 10**digits, 1 if digits < 1 else 0) * 10**digits
    shown = f"{rounded:,.1f}" if rounded < 10 and rounded % 1 else f"{rounded:,.0f}"
    return f"at least {shown} times" if end else f"{shown} times"


def ratio_sentence(log_ratio: float, cap: float, group: str, *, model: bool = False) -> str:
    """What a likelihood ratio says of the two propositions.

    Parameters
    ----------
    log_ratio, cap : log10 of the ratio, and the largest that is supported
    group : whose camera it is, "group 3"
    model : whether the other camera is another body of the same model
    """
    if math.isnan(log_ratio):
        return "No likelihood ratio can be given."
    other = "another body of the same model" if model else "another camera"
    one, two = f"the camera of {group} took the photo", f"{other} did"
    if log_ratio < 0:
        one, two = f"{other} took the photo", f"the camera of {group} did"
    end = "; larger values are not supported" if log_ratio >= cap else ""
    return (
        f"Such a score is {ratio_text(log_ratio, cap)} more probable if {one} than if {two}{end}: "
        f"{support(log_ratio, cap)}."
    )


def photo_sentence(evidence: PhotoEvidence, index: int, *, same_model: bool = False) -> str:
    """Why this photo stands where it stands.

    `same_model`: whether another group's files name the model that those of its own do; then only
    what holds against another body of that model is said.
    """
    if evidence.group[index] < 0:
        return _alone(evidence, index)
    group, score = f"group {int(evidence.group[index])}", float(evidence.score[index])
    text = (
        f"Its correlation with the fingerprint of the other photos of {group} is "
        f"{float(evidence.correlation[index]):.4f}, a score of {score:.1f} (chance scatters by 1)."
    )
    cap, model = float(evidence.cap[index]), float(evidence.model_ratio[index])
    if not same_model:
        text += f" {ratio_sentence(float(evidence.log_ratio[index]), cap, group)}"
    if same_model and not math.isnan(model):
        text += " Files of another group name the same model."
    if not math.isnan(model):
        text += f" {ratio_sentence(model, min(cap, MODEL_CAP), group, model=True)}"
    text += f" It was compared with {_counted(int(evidence.comparisons[index]), 'group')}."
    without = float(evidence.without[index])
    if not math.isnan(without):
        text += f" Without a pattern that is no sensor's the score is {without:.1f}."
    if evidence.doubtful[index]:
        text += f" Its place is doubtful: a score below {DOUBTFUL:.0f}."
    other = int(evidence.other[index])
    if other < 0:
        return text
    return f"{text} Next is group {other}, score {float(evidence.other_score[index]):.1f}."


def _alone(evidence: PhotoEvidence, index: int) -> str:
    other = int(evidence.other[index])
    if other < 0:
        return "In no group; there is none of its width and height to compare it with."
    score, group = float(evidence.other_score[index]), f"group {other}"
    text = (
        f"In no group. Nearest is {group}: a correlation of "
        f"{float(evidence.other_correlation[index]):.4f}, a score of {score:.1f} (chance scatters "
        f"by 1), the highest of {_counted(int(evidence.comparisons[index]), 'group')}."
    )
    ratio, cap = float(evidence.other_ratio[index]), float(evidence.cap[index])
    return f"{text} {ratio_sentence(ratio, cap, group)} It may still be of that camera."


def view_sentence(score: float, rate: float, share: float | None, first: int) -> str:
    """Why a group, or a photo alone, is of the camera that another group shows.

    Parameters
    ----------
    score : correlation over all that is common, in units of chance
    rate : probability that chance gives such a score anywhere in all that was searched
    share : of the correlation that one camera would show; None if that is not known
    first : the group in whose frame it is seen
    """
    text = (
        f"Seen so, it correlates with the fingerprint of group {first} with a score of "
        f"{score:.1f} (chance scatters by 1)"
    )
    if share is not None:
        text += f", {share:.0%} of what one camera would show"
    if rate >= 0.5:
        return f"{text}; no bound on the rate of chance can be given for it."
    return (
        f"{text}; chance does that anywhere in all that was searched in at most "
        f"{rate_text(max(rate, _SMALLEST))} cases."
    )


def joined_sentence(group: int, nearest: int) -> str:
    """Why there is nothing to say of two groups that are apart: they are of one camera."""
    return f"Group {group} and the nearest other one, {nearest}, are views of one camera."


def apart_sentence(evidence: GroupEvidence, *, same_mode: bool = True) -> str:
    """What can be said of a group and the nearest other one.

    `same_mode`: whether focal length, zoom and orientation agree as far as files tell; without,
    "different" is not said.
    """
    if evidence.apart == "alone":
        return "There is no other group of its width and height."
    start = (
        f"The fingerprints of groups {evidence.group} and {evidence.nearest} correlate by "
        f"{evidence.nearest_correlation:.4f}, a score of {evidence.nearest_score:.1f}; one camera "
        f"would give about {evidence.expected:.4f}, chance up to {evidence.chance:.4f}"
    )
    weight = f"{ratio_text(evidence.nearest_ratio, evidence.cap)} more probable for " + (
        "one camera than for two" if evidence.nearest_ratio > 0 else "two cameras than for one"
    )
    if evidence.apart == "may be one":
        return f"{start}: they may be one camera in two modes, or share processing ({weight})."
    if evidence.apart == "different" and same_mode:
        return (
            f"{start}: different in this mode. One camera would have shown it clearly, and nothing "
            f"was seen ({weight})."
        )
    return f"{start}: not shown to be one camera."


def division_sentence(size: int, division: Division) -> str:
    """What a group's best division in two says."""
    parts = f"{size - int(division.second.sum())} and {int(division.second.sum())} photos"
    return (
        f"It may be two cameras: divided into {parts}, the fingerprints of the two correlate by "
        f"{division.correlation:.4f}, a score of {division.score:.1f}, "
        f"{max(division.share, 0):.0%} of what one camera would show."
    )


def repeats_sentence(share: float) -> str:
    """What it means that a group's photos have something in common at shifts."""
    return (
        f"{share:.0%} of what its photos have in common is there at shifts by multiples of 8 "
        "pixels too: an artefact of processing or compression, not of a sensor. It was taken off "
        "the scores."
    )


def shared_place(pattern: SharedPattern, frame: Frame) -> str:
    """Where a shared pattern lies: "all over the frame", "in the lower right corner"."""
    if not pattern.boxes:
        return "all over the frame"
    tops, bottoms, lefts, rights = zip(*pattern.boxes, strict=True)
    down = _third(min(tops), max(bottoms), frame.height, ("upper", "lower"))
    across = _third(min(lefts), max(rights), frame.width, ("left", "right"))
    if down and across:
        place = f"in the {down} {across} corner"
    elif down or across:
        place = f"at the {down or across} edge"
    else:
        place = "in the middle, or in several places"
    return f"all over the frame, and most {place}" if pattern.everywhere else place


def _third(low: int, high: int, length: int, words: tuple[str, str]) -> str:
    """Whether a stretch lies near one end; "" in the middle, or if it is long."""
    if 2 * (high - low) > length:
        return ""
    middle = (low + high) / 2 / length
    return words[0] if middle < 1 / 3 else words[1] if middle > 2 / 3 else ""


def shared_sentence(
    place: str, groups: Sequence[int], scores: tuple[float, float], doubtful: int, size: int
) -> str:
    """What it means that a group has a pattern that is no sensor's.

    Parameters
    ----------
    place : where it lies, from `shared_place`
    groups : the other groups; none: it stands out in this one
    scores : median of its photos' scores, with the pattern and without
    doubtful, size : photos whose score without it is below 5, and all
    """
    named = ", ".join(map(str, groups[:_NAMED])) + (", …" if len(groups) > _NAMED else "")
    others = f"{_counted(len(groups), 'other group')} ({named})"
    stands_out = f"far more in common {place} than elsewhere"
    speaks = "processing, a stamp or a logo" if groups else "a stamp, a logo, dirt or one scene"
    speaks = f"which speaks of {speaks} and not of a sensor"
    median = f"the median score is {scores[1]:.1f}, and {scores[0]:.1f} with it"
    if 2 * doubtful >= size:
        what = f"a pattern {place} that {others} share" if groups else f"what it has {stands_out}"
        return (
            f"This group hangs on {what}, {speaks}: without it {doubtful} of "
            f"{_counted(size, 'photo')} have a score below {DOUBTFUL:.0f} ({median})."
        )
    rest = f", but for {_counted(doubtful, 'photo')}" if doubtful else ""
    shared = f"A pattern {place} is shared by {others}"
    what = shared if groups else f"The photos of this group have {stands_out}"
    return f"{what}, {speaks}. Without it this group holds{rest} ({median})."


def law_sentence(law: Law) -> str:
    """What scores and ratios rest on."""
    wider = law.scale / STRANGERS.scale
    text = (
        "A score is a correlation in units of what chance does with this very photo and "
        "fingerprint, measured by shifting them; rates and likelihood ratios are those of scores "
        "of photographs by other cameras, counted on cameras that are known (law "
        f"{LAW_VERSION})"
    )
    if wider > 1:
        return f"{text}, widened by a factor of {wider:.2f}, because this case has larger ones."
    return f"{text}."


def base_rate_sentence(photos: int, groups: int, rate: float) -> str:
    """How many false links to expect at a rate per comparison, over all comparisons made."""
    comparisons = photos * groups
    expected = comparisons * rate
    return (
        f"{photos:,} photos were compared with {groups:,} groups, {comparisons:,} comparisons: at "
        f"{rate_text(rate)} each, up to {expected:.2g} false links are to be expected by chance."
    )


def still_sentence(alike: int, size: int, all_pairs: PairEvidence, unlike: PairEvidence) -> str:
    """What an unmoving scene means for a group, with the evidence of unlike pictures alone."""
    start = (
        f"{alike} of {size} photos show an unmoving scene (a burst, or a tripod): there the "
        "picture itself, not the sensor, may correlate."
    )
    if unlike.pairs == 0:
        return f"{start} No pair of unlike pictures is left: the group is not evidence of a sensor."
    return (
        f"{start} Over the {_counted(unlike.pairs, 'pair')} of unlike pictures alone the mean "
        f"correlation is {unlike.correlation:.4f} (a score of {unlike.score:.1f}), over all "
        f"{all_pairs.pairs} {all_pairs.correlation:.4f}."
    )


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
