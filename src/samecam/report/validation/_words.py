"""What a validation found, in sentences: conclusion, scope and limits."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from samecam.evidence import ABSENCE, SENSOR

_LIMITS = (
    "The figures hold for photos like these: the same kinds of cameras, settings, sizes and "
    "processing. Photos that were resized, sent by messengers, edited or taken in other modes must "
    "be validated on their own.",
    "Comparisons that share a photo or a camera are not independent, and intervals take them to "
    "be: true intervals are wider, above all with few cameras.",
    "Each photo was compared with cameras of the same width and height alone, and with the photos "
    "of a known camera, not with groups that were found.",
    "Cameras are those that the laboratory has named. A wrong name counts as misleading evidence.",
    "A likelihood ratio is no probability that a camera took a photo: that depends on all other "
    "evidence as well.",
)


def conclusion(content: Mapping[str, Any]) -> Iterator[str]:
    """The answer in plain sentences, the verdict first."""
    checks = content["checks"]
    failed = [each for each in checks if each["passed"] is False]
    open_ = [each for each in checks if each["passed"] is None]
    if content["verdict"] == "passed":
        yield f"On these photos the likelihood ratios meet all {len(checks)} criteria."
    elif failed:
        names = ", ".join(dict.fromkeys(each["characteristic"] for each in failed))
        yield (
            f"On these photos the likelihood ratios fail {len(failed)} of {len(checks)} criteria "
            f"({names}): the method is not validated for photos like these."
        )
    else:
        yield (
            f"{len(open_)} of {len(checks)} criteria cannot be decided, for want of photos or "
            "cameras: the method is neither validated nor refuted for photos like these."
        )
    yield from _overall(content["overall"])
    yield _support(content)


def _overall(overall: Mapping[str, Any]) -> Iterator[str]:
    same, different = overall["n_same"], overall["n_different"]
    yield (
        f"{same:,} comparisons of a photo with its own camera and {different:,} with another one "
        f"were made. Of the former, {overall['misleading_same']:.2%} gave a likelihood ratio below "
        f"1; of the latter, {overall['misleading_different']:.2%} gave one above 1."
    )
    cost = overall["cllr"]
    yield (
        f"Cllr is {'infinite' if cost is None else f'{cost:.3f}'}, of which "
        f"{overall['cllr_min']:.3f} is for want of discrimination; 0 is perfect, and 1 is what a "
        f"method costs that says nothing. The equal-error rate is {overall['eer']:.2%}."
    )


def _support(content: Mapping[str, Any]) -> str:
    lower, upper = content["overall"]["elub"]
    return (
        f"These photos support likelihood ratios from {ratio(lower)} to {ratio(upper)}; the "
        f"largest that is stated is {ratio(content['cap'])}."
    )


def limits() -> list[str]:
    """What the figures do not say."""
    return [*_LIMITS, SENSOR, ABSENCE]


def ratio(log_ratio: float | None) -> str:
    """A likelihood ratio to two figures; below 1 as 1/N."""
    if log_ratio is None or math.isnan(log_ratio):
        return "–"
    if log_ratio < 0:
        return f"1/{ratio(-log_ratio)}"
    value = 10**log_ratio
    digits = max(0, math.floor(log_ratio) - 1)
    return f"{round(value / 10**digits) * 10**digits:,}" if value >= 10 else f"{value:.2g}"
