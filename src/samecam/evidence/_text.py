"""Text for reports: bounded, about sensors, with the number of comparisons.

Nothing here says who took a photograph, or states a probability that the data do not support.
"""

import math

from samecam.evidence._groups import GroupEvidence, PairEvidence
from samecam.evidence._null import Null
from samecam.evidence._photos import PhotoEvidence

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
    "The rates are measured on the cameras of this collection. A pattern that all devices of a "
    "model or all pictures of one software share is not chance, and they do not speak of it."
)

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


def photo_sentence(evidence: PhotoEvidence, index: int) -> str:
    """Why this photo stands where it stands."""
    if evidence.group[index] < 0:
        return _alone(evidence, index)
    group, r = int(evidence.group[index]), float(evidence.correlation[index])
    text = (
        f"Correlates by {r:.4f} with the fingerprint of the other photos of group {group}, "
        f"{float(evidence.z[index]):.1f} times what chance scatters"
    )
    p = float(evidence.adjusted[index])
    if p >= 0.5:
        text += "; no bound on the rate of chance can be given for it."
    else:
        groups = int(evidence.comparisons[index])
        text += (
            f"; a photo of another camera reaches that with any of the {groups} groups compared in "
            f"at most {rate_text(p)} cases."
        )
    other = int(evidence.other[index])
    if other < 0:
        return text
    return f"{text} Next is group {other}, at {float(evidence.other_correlation[index]):.4f}."


def _alone(evidence: PhotoEvidence, index: int) -> str:
    other = int(evidence.other[index])
    if other < 0:
        return "In no group; there is none of its width and height to compare it with."
    p = float(evidence.other_p_value[index])
    z = float(evidence.other_z[index])
    text = (
        f"In no group. Nearest is group {other}, by {float(evidence.other_correlation[index]):.4f},"
        f" {z:.1f} times what chance scatters"
    )
    groups = int(evidence.comparisons[index])
    expected = p * groups
    if expected >= 0.5:
        reason = f"among {groups} groups chance does that"
    else:
        reason = (
            f"with {groups} groups chance does that in up to {rate_text(expected)} "
            "cases, and the clustering asked for more"
        )
    return f"{text}: {reason}. It may still be of that camera."


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
        f"Seen so, it correlates with the fingerprint of group {first} by {score:.1f} times what "
        "chance scatters"
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


def apart_sentence(evidence: GroupEvidence) -> str:
    """Why a group was not merged with the nearest other one."""
    if evidence.apart == "alone":
        return "There is no other group of its width and height."
    start = (
        f"The fingerprints of groups {evidence.group} and {evidence.nearest} correlate by "
        f"{evidence.nearest_correlation:.4f}; one camera would give about "
        f"{evidence.expected:.4f}, chance up to {evidence.chance:.4f}"
    )
    reasons = {
        "different": "they do not look like one camera",
        "unclear": "more than chance, less than half of what one camera shows: a common model, "
        "software or scene, or one camera in two modes, may be the reason",
        "near": "at least half of what one camera shows: they may well be one camera",
        "too weak": "too few or too weak photos to tell whether they are one camera",
    }
    return f"{start}: {reasons[evidence.apart]}."


def null_sentence(null: Null) -> str:
    """What the rates rest on."""
    if null.comparisons == 0:
        return (
            "No photo is known to be of another camera than a group's, so no error rate could be "
            "measured and none is stated."
        )
    text = (
        f"Error rates are upper 95 % limits, measured on {null.comparisons:,} comparisons of "
        "photos with groups that they do not belong to; no rate below "
        f"{rate_text(null.floor)} a comparison is stated."
    )
    if len(null.left_out):
        text += (
            f" {_counted(len(null.left_out), 'pair')} of groups that may be parts of one camera "
            "did not count."
        )
    return text


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
        f"correlation is {unlike.correlation:.4f} ({unlike.z:.1f} times chance), over all "
        f"{all_pairs.pairs} {all_pairs.correlation:.4f}."
    )


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
