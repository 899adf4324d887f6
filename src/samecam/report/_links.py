"""How sure it is that two sources share a camera: parts of a group, weighed against each other."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from samecam.arrays import Doubles, Gram, Labels, Mask
from samecam.evidence import (
    MODEL_CAP,
    expected_scores,
    fingerprint_quality,
    largest_ratio,
    log_ratios,
    model_log_ratios,
    ratio_text,
    support,
)
from samecam.report._correlations import Correlations


@dataclass(frozen=True, slots=True)
class Link:
    """The photos of a camera from one source, and those from all others.

    Attributes
    ----------
    source : its name
    score : correlation of the two joint fingerprints, in units of chance
    log_ratio : log10 of the likelihood ratio of one camera and two; at most `cap`
    model_ratio : the same where the other camera is another body of the same model
    cap : the largest that is supported
    """

    source: str
    score: float
    log_ratio: float
    model_ratio: float
    cap: float

    @property
    def words(self) -> str:
        """What it says of the two propositions."""
        one, two = ("one camera took both", "two did")
        if self.log_ratio < 0:
            one, two = ("two cameras took them", "one did")
        return (
            f"a score of {self.score:.1f} (chance scatters by 1), "
            f"{ratio_text(self.log_ratio, self.cap)} more probable if {one} than if {two}: "
            f"{support(self.log_ratio, self.cap)}; against another body of the same model, "
            f"{support(self.model_ratio, min(self.cap, MODEL_CAP))} "
            f"({ratio_text(self.model_ratio, min(self.cap, MODEL_CAP))})"
        )


def weakest_link(
    given: Correlations, sources: Sequence[str], cameras: Labels, camera: int
) -> Link | None:
    """The source whose photos of a camera are least sure to be of the others' camera.

    The photos of each source in a group are compared with those of all other sources in it: their
    sums are two fingerprints, weighed as those of two groups are. A source that several groups
    compare counts by the strongest. None if a source is compared in none: its photos
    see the camera in a way of their own, or are not among those that are looked at.

    Parameters
    ----------
    given : correlations of the looked-at photos
    sources : of each used photo
    cameras : (n,) numbers of their cameras
    camera : the one that is looked at
    """
    inside = np.flatnonzero((cameras[given.chosen] == camera) & (given.labels >= 0))
    names = np.array([sources[k] for k in given.chosen[inside].tolist()], dtype=object)
    best: dict[str, Link] = {}
    for group in np.unique(given.labels[inside]).tolist():
        here = given.labels[inside] == group
        for link in _links(given, inside[here], names[here]):
            known = best.get(link.source)
            if known is None or link.log_ratio > known.log_ratio:
                best[link.source] = link
    wanted = {sources[k] for k in np.flatnonzero(cameras == camera).tolist()}
    if wanted - set(best):
        return None
    return min(best.values(), key=lambda link: (link.log_ratio, link.score, link.source))


def _links(given: Correlations, at: Labels, names: Doubles) -> list[Link]:
    """Each source of a group against the others in it."""
    known = sorted(set(names.tolist()))
    if len(known) < 2:
        return []
    pairs = np.asarray(given.gram[np.ix_(at, at)], dtype=np.float64)
    np.fill_diagonal(pairs, 0.0)
    same = names[:, np.newaxis] == names
    usual = _mean_pair(pairs, same)
    number = int(given.frames[at[0]])
    scale = list(given.scales.values())[number]
    cap = largest_ratio(given.pixels[number])
    result = []
    for name in known:
        correlation, expected = _between(pairs, names == name, usual)
        score = correlation / scale
        members = expected_scores(expected / scale)
        ratio, model = (float(law(score, members)) for law in (log_ratios, model_log_ratios))
        result.append(Link(name, score, min(ratio, cap), min(model, cap), cap))
    return result


def _mean_pair(pairs: Gram, same: Mask) -> float:
    """Mean correlation of two photos of one source; of any two where no source has two."""
    off = ~np.eye(len(pairs), dtype=bool)
    chosen = pairs[same & off] if (same & off).any() else pairs[off]
    return float(chosen.mean())


def _between(pairs: Gram, part: Mask, usual: float) -> tuple[float, float]:
    """Correlation of the joint fingerprints of a part and the rest, and what one camera shows."""
    parts = (part, ~part)
    sizes = np.array([each.sum() for each in parts], dtype=np.float64)
    squares = sizes + [pairs[np.ix_(each, each)].sum() for each in parts]
    norm = float(np.sqrt(np.maximum(squares, 1e-30).prod()))
    quality = fingerprint_quality(sizes, np.full(2, usual))
    return float(pairs[np.ix_(*parts)].sum()) / norm, float(quality.prod())
