"""Patterns that cameras share: how often strangers reach a score, with them and without.

python -m benchmarks.artefacts [--shared DIR]

Groups are the cameras as they are known, of which some share a pattern: a part of all that is in
their pictures, or a logo in a corner. Every photo is compared with every camera, itself left out;
then what `samecam cluster` finds to be shared is taken out, told by the other cameras alone
(neither the photo's nor the one it is compared with). With --shared the same of photographs, as
they are and with patterns that are put into them before the fingerprints are made.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks import photographs
from benchmarks.calibration import counts
from benchmarks.record import folder_of, parser, timed, write
from samecam import evidence
from samecam.arrays import Doubles, Labels, Mask, Pixels
from samecam.store import ByteRows, Frame

CLAIMS = (0.1, 0.01, 0.001)
# Cameras, photos of each, those of them that share something, side of simulated frames; seeds.
SIZE, QUICK = (20, 12, 8, 512), (5, 4, 3, 256)
SEEDS = 3
# Of the photographs: which cameras share (the first so many), the gain of a pattern all over the
# frame, and how much a logo covers.
SHARING, GAIN, COVER = 8, 0.0004, 0.3
FEW = 60


class Set(NamedTuple):
    """Fingerprints of known cameras, the first `sharing` of which share a pattern."""

    name: str
    rows: ByteRows
    cameras: Labels
    sharing: int


def simulated(size: tuple[int, int, int, int], seeds: int) -> Iterator[list[Set]]:
    """Patterns in white noise, each kind of set drawn several times."""
    some, every = size[2], size[0]
    for name, sharing, share, logo in (
        ("nothing shared", 0, (0.0, 0.0), 0.0),
        ("10 – 40 % of the pattern shared by some", some, (0.1, 0.4), 0.0),
        ("10 – 40 % of the pattern shared by all", every, (0.1, 0.4), 0.0),
        ("a logo in a corner of some", some, (0.0, 0.0), 0.5),
        ("a logo in a corner of all", every, (0.0, 0.0), 0.5),
    ):
        yield [
            _simulated(f"simulated, {name}", size, sharing, share, logo, seed)
            for seed in range(seeds)
        ]


def _simulated(
    name: str,
    size: tuple[int, int, int, int],
    sharing: int,
    share: tuple[float, float],
    logo: float,
    seed: int,
) -> Set:
    cameras, photos, _, side = size
    rng = np.random.default_rng([11, seed])
    shape = (side, side)
    common, mark = rng.normal(size=shape), np.zeros(shape)
    mark[-side // 12 :, -side // 4 :] = np.sign(
        rng.normal(size=mark[-side // 12 :, -side // 4 :].shape)
    )
    values, labels = [], []
    for camera in range(cameras):
        pattern = rng.normal(size=shape)
        part = rng.uniform(*share) if camera < sharing else 0.0
        pattern = part * common + np.sqrt(1 - part**2) * pattern
        for _ in range(photos):
            strength = np.exp(rng.normal(np.log(0.16), 0.3)) * 256 / side
            row = rng.normal(size=shape) + strength * pattern
            row += logo * mark if camera < sharing else 0.0
            values.append(np.rint(32 * (row - row.mean())).clip(-127, 127).astype(np.int8).ravel())
            labels.append(camera)
    rows = np.array(values)
    scales = 1 / np.linalg.norm(rows.astype(np.float32), axis=1)
    return Set(name, ByteRows(rows, scales, Frame(side, side)), np.array(labels), sharing)


def real(folder: Path, most: int | None = None) -> Iterator[Set]:
    """The photographs as they are, and with a pattern or a logo put into some cameras' pictures."""
    shots = photographs.load_judged(folder, most=most)
    names, cameras = np.unique([shot.camera for shot in shots], return_inverse=True)
    sharing = min(SHARING, max(len(names) - 1, 3))
    rng = np.random.default_rng(12)
    shape = shots[0].luma.shape
    pattern = rng.normal(size=shape)
    logo = np.zeros(shape)
    logo[-72:-24, -280:-24] = 255 * (rng.random(size=(12, 64)) > 0.5).repeat(4, 0).repeat(4, 1)
    inside = np.zeros(shape)
    inside[-72:-24, -280:-24] = COVER
    for name, many in (("as they are", 0), ("a pattern put in", sharing), ("a logo", sharing)):
        changed = []
        for shot, camera in zip(shots, cameras, strict=True):
            luma: Pixels = shot.luma.astype(np.float32)
            if camera < many and name == "a logo":
                luma = np.rint((1 - inside) * luma + inside * logo)
            elif camera < many:
                luma = luma * (1 + GAIN * pattern)
            changed.append(replace(shot, luma=luma.clip(0, 255).astype(np.float32)))
        made = photographs.whole_frames(changed)
        yield Set(f"photographs, {name}", made.rows, cameras[made.used], many)


class Scores(NamedTuple):
    """(n, k) scores of photos with groups, with what is shared and without; who shares."""

    with_it: Doubles
    without: Doubles
    found: Mask
    seconds: float


def scored(given: Set) -> Scores:
    """Every photo against every group."""
    compared = evidence.comparisons_from_rows(given.rows, given.cameras)
    patterns, seconds = timed(evidence.shared_patterns, given.rows, compared)
    n, count = len(given.cameras), compared.n_groups
    with_it, without = np.full((n, count), np.nan), np.full((n, count), np.nan)
    for group, pattern in enumerate(patterns):
        chance = evidence.group_chance(given.rows, compared, np.full(n, group, dtype=np.intp))
        with_it[:, group] = chance.scores(compared.correlations.read(group, group + 1)[0])
        without[:, group] = with_it[:, group]
        if pattern is not None:
            left = evidence.correlations_without(given.rows, compared, group, pattern)
            without[:, group] = chance.scores(left)
    found = np.array([pattern is not None for pattern in patterns])
    return Scores(with_it, without, found, seconds)


def look(sets: Sequence[Set]) -> dict[str, Any]:
    """What is counted on sets of one kind, drawn several times."""
    name, many = sets[0].name, [given.sharing for given in sets]
    scores = [scored(given) for given in sets]
    facts: dict[str, Any] = {
        "set": name,
        "cameras": [one.with_it.shape[1] for one in scores],
        "sharing": many,
        "found": [int(one.found[:k].sum()) for one, k in zip(scores, many, strict=True)],
        "found_wrongly": [int(one.found[k:].sum()) for one, k in zip(scores, many, strict=True)],
        "seconds": [one.seconds for one in scores],
    }
    for way in ("with_it", "without"):
        strangers, members = [], []
        for given, one in zip(sets, scores, strict=True):
            score, groups = getattr(one, way), np.arange(one.with_it.shape[1])
            own = given.cameras[:, np.newaxis] == groups
            shares = (given.cameras[:, np.newaxis] < given.sharing) & (groups < given.sharing)
            some = shares if given.sharing else np.ones_like(own)
            strangers.append(score[some & ~own])
            members.append(score[some & own])
        other, own_scores = np.concatenate(strangers), np.concatenate(members)
        rates = evidence.STRANGERS.rate(other[~np.isnan(other)])
        facts[way] = {
            "rates": [counts(rates, claim) for claim in CLAIMS],
            "strangers": {"mean": float(np.nanmean(other)), "scale": float(np.nanstd(other))},
            "members": {
                "count": len(own_scores),
                "median": float(np.nanmedian(own_scores)),
                "doubtful": int((own_scores < evidence.DOUBTFUL).sum()),
            },
        }
    print(facts, flush=True)
    return facts


def main(arguments: Sequence[str] | None = None) -> None:
    asked = parser(__doc__)
    asked.add_argument("--shared", type=Path, help="folder with photos/")
    options = asked.parse_args(arguments)
    size, seeds = (QUICK, 1) if options.quick else (SIZE, SEEDS)
    result = [look(sets) for sets in simulated(size, seeds)]
    if options.shared:
        few = FEW if options.quick else None
        result += [look([given]) for given in real(options.shared / "photos", few)]
    write(
        "artefacts",
        {"sets": result},
        folder=folder_of(options),
        photographs=options.shared is not None,
        gain=GAIN,
        cover=COVER,
    )


if __name__ == "__main__":
    main()
