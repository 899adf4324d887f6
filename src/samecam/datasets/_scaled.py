"""Configurations of a collection that has less than they ask for, in the same spirit."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from samecam.datasets._collection import Collection
from samecam.datasets._configurations import Configuration
from samecam.errors import SamecamError

# Ending of the name of a configuration that has less than in print.
SCALED = "-scaled"
# A camera counts with this share of the photos that each shall have, or with two.
_SHARE, _FEWEST = 0.1, 2


def scale(
    whole: Collection, wanted: Configuration, sizes: Sequence[int] = (), *, seed: int = 0
) -> Collection:
    """A configuration with as many cameras and photos as there are, up to those it asks for.

    Cameras with most photos come first: of one model where the configuration has such, else
    one of each model and then others. A symmetric one takes of each as many photos as the
    smallest of them has, an uneven one (`sizes`) sizes of the same proportions, an asymmetric
    one all there are. Cameras of which hardly a photo is there (less than a tenth of what each
    shall have, or one) are left out as long as two others remain. A note says what it became.

    Parameters
    ----------
    whole : what there is
    wanted : the configuration; its strangers and parts do not count
    sizes : photos of each camera, where they are uneven
    seed : which photos of a camera
    """
    there = whole.sizes()
    usable = _usable(there, max(sizes, default=wanted.each or 0))
    ordered = sorted(usable, key=lambda camera: (-there[camera], camera))
    chosen = _of_models(ordered, whole.models, wanted)[: len(sizes) or wanted.cameras]
    if len(chosen) < 2:
        kind = "of one model " * ((wanted.per_model or 1) > 1)
        raise SamecamError(
            f"Two cameras {kind}with two photos each are needed, which {whole.name} in "
            f"{str(whole.root)!r} has not: complete the collection."
        )
    counts = _counts([there[camera] for camera in chosen], wanted, sizes)
    drawn = whole.take(dict(zip(chosen, counts, strict=True)), seed=seed)
    alike = ", some of one model" * (wanted.per_model == 1 and _alike(chosen, whole.models))
    note = (
        f"{wanted.name} is scaled to {_described(counts)}{alike}; in print it has "
        f"{_asked(wanted, sizes)}."
    )
    if len(usable) < len(there) and len(chosen) < (len(sizes) or wanted.cameras):
        note += f" Of {len(there) - len(usable)} other cameras there is hardly a photo."
    return replace(drawn, name=wanted.name + SCALED, notes=(*whole.notes, note))


def _described(counts: Sequence[int]) -> str:
    """Cameras and photos in words: "7 cameras, 12 photos each"."""
    if len(set(counts)) == 1:
        return f"{len(counts)} cameras, {counts[0]} photos each"
    return f"{len(counts)} cameras, {sum(counts)} photos ({min(counts)} to {max(counts)} each)"


def _asked(wanted: Configuration, sizes: Sequence[int]) -> str:
    if sizes or wanted.each is None:
        return f"{wanted.cameras} cameras, {wanted.images} photos"
    return f"{wanted.cameras} cameras, {wanted.each} photos each"


def _usable(there: Mapping[str, int], each: int) -> list[str]:
    """Cameras with enough photos to count: two at least, more if two cameras have them."""
    for least in (max(int(_SHARE * each), _FEWEST), _FEWEST):
        usable = [camera for camera, count in there.items() if count >= least]
        if len(usable) >= 2:
            return usable
    return []


def _of_models(
    ordered: Sequence[str], models: Mapping[str, str], wanted: Configuration
) -> list[str]:
    """Cameras in the order in which they are taken, by their models.

    One of each model comes first where no model shall be there twice. Where several of each
    shall be there, as many are that most cameras are left, two of a model at least.
    """
    groups: dict[str, list[str]] = {}
    for camera in ordered:
        groups.setdefault(models[camera], []).append(camera)
    each = wanted.per_model
    if each is None:
        return list(ordered)
    if each == 1:
        firsts = [group[0] for group in groups.values()]
        return [*firsts, *(camera for camera in ordered if camera not in firsts)]
    held = Counter(len(group) for group in groups.values())
    most = wanted.models or len(groups)

    def cameras(number: int) -> int:
        return number * min(most, sum(n for size, n in held.items() if size >= number))

    each = max(range(2, each + 1), key=lambda number: (cameras(number), number))
    kept = [group[:each] for group in groups.values() if len(group) >= each]
    return [camera for group in kept for camera in group]


def _alike(cameras: Sequence[str], models: Mapping[str, str]) -> bool:
    """Whether two of them are of one model."""
    return len({models[camera] for camera in cameras}) < len(cameras)


def _counts(there: Sequence[int], wanted: Configuration, sizes: Sequence[int]) -> list[int]:
    """Photos of each chosen camera; `there` is what they have, the most first."""
    if sizes:
        asked = sorted(sizes, reverse=True)[: len(there)]
        factor = min(1.0, *(have / want for have, want in zip(there, asked, strict=True)))
        return [
            min(have, max(_FEWEST, int(factor * want)))
            for have, want in zip(there, asked, strict=True)
        ]
    if wanted.each is not None:
        return [min(wanted.each, *there)] * len(there)
    return list(there)
