"""Claimed rates and likelihood ratios against counted ones, on simulated sets and photographs.

python -m benchmarks.calibration [--shared DIR]

Groups are the cameras as they are known; every photo is compared with every one of them, itself
left out, as `samecam cluster`, `match` and `validate` do. Nothing is measured on the sets that are
counted: the law of strangers is the one that is shipped (`samecam.evidence.STRANGERS`).
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.ndimage import gaussian_filter

from benchmarks import photographs
from benchmarks.record import folder_of, parser, write
from samecam import evidence
from samecam.arrays import Doubles, Floats, Labels, Mask, Pixels
from samecam.cluster import ConsolidatedSSC
from samecam.metrics import cllr, cllr_min, counted, elub, equal_error_rate
from samecam.photos import low_pass
from samecam.store import ByteRows, FingerprintStore, Frame, MemoryStore, Subset

CLAIMS = (0.1, 0.01, 0.001, 0.0001)
PICTURE = Path(__file__).parent.parent / "docs" / "img" / "calibration.png"
# Sizes of groups that likelihood ratios are counted for, and numbers of groups of small cases.
GROUPS = {"2 – 3": (2, 3), "5 – 10": (5, 10), "more than 10": (11, 10**6)}
CASES = (1, 2, 5, 10, 20, 60)
# Small groups are a matter of luck: how often they are drawn from the photographs.
SMALL, DRAWS = "2 – 3", 8
# A photo shows nothing of its camera if its score with all others of it is below this.
NOTHING = 3.0
MATCH = 0.01
SQUARES = (512,)
# Photographs that are looked at with --quick.
FEW = 24


class Set(NamedTuple):
    """Fingerprints of known cameras.

    Attributes
    ----------
    name : of it
    rows : the fingerprints
    cameras : (n,) from 0; −1: a stranger, with one photo
    models : (k,) of the cameras; those of one number are bodies of one model
    ratios : whether likelihood ratios of groups of several sizes are counted too
    colours : (n,) how smooth the rows are; None: small groups are drawn once
    """

    name: str
    rows: FingerprintStore
    cameras: Labels
    models: Labels
    ratios: bool = True
    colours: Doubles | None = None


class Size(NamedTuple):
    """Of simulated sets: cameras, photos of each, strangers, side of the frame."""

    cameras: int = 61
    photos: int = 12
    strangers: int = 300
    side: int = 256


QUICK = Size(4, 6, 10, 64)


def simulated(size: Size) -> Iterator[Set]:
    """Patterns in noise that is white, smooth, blocky, loud in places, or shared by two bodies."""
    for name, more in (
        ("white noise", {}),
        ("smooth noise", {"smooth": 0.8}),
        ("artefacts that repeat with 8 pixels", {"tile": 0.3}),
        ("noise that is loud in places", {"loud": 0.8}),
        ("bodies of one model that share 10 – 40 %", {"shared": 0.4}),
    ):
        yield _simulated(f"simulated, {name}", size, **more)


def _simulated(
    name: str,
    size: Size,
    *,
    smooth: float = 0.0,
    tile: float = 0.0,
    loud: float = 0.0,
    shared: float = 0.0,
) -> Set:
    rng = np.random.default_rng(5)
    shape = (size.side, size.side)

    def field() -> Doubles:
        values = rng.normal(size=shape)
        values = gaussian_filter(values, smooth) if smooth else values
        return np.asarray(values / values.std())

    patterns = [field() for _ in range(size.cameras)]
    models = np.arange(size.cameras)
    if shared:
        models = models // 2
        for k in range(1, size.cameras, 2):
            share = rng.uniform(0.1, shared)
            patterns[k] = share * patterns[k - 1] + np.sqrt(1 - share**2) * patterns[k]
    if tile:
        blocks = size.side // 8
        for k, pattern in enumerate(patterns):
            patterns[k] = pattern + tile * 8 * np.tile(
                rng.normal(size=(8, 8)) / 8, (blocks, blocks)
            )
    cameras = np.repeat(np.arange(size.cameras), size.photos)
    cameras = np.concatenate([cameras, np.full(size.strangers, -1)])
    rows = []
    for camera in cameras:
        noise = field()
        if loud:
            level = gaussian_filter(rng.normal(size=shape), size.side / 10)
            noise = noise * np.exp(loud * level / level.std())
        strength = np.exp(rng.normal(np.log(0.16), 0.3)) * 256 / size.side
        row = noise if camera < 0 else noise + strength * patterns[camera]
        rows.append((row - row.mean()).ravel())
    plain = not (smooth or tile or loud or shared)
    return Set(name, _bytes(np.array(rows), Frame(*shape)), cameras, models, plain)


def _bytes(rows: Doubles, frame: Frame) -> ByteRows:
    """Rows of a byte a pixel, as those of small frames are kept."""
    values = np.rint(rows * (32 / rows.std(axis=1, keepdims=True))).clip(-127, 127).astype(np.int8)
    return ByteRows(values, 1 / np.linalg.norm(values.astype(np.float64), axis=1), frame)


def real(folder: Path, squares: Sequence[int], most: int | None = None) -> Iterator[Set]:
    """The photographs, or some: whole frames, and squares in colour as with --size."""
    shots = photographs.load_judged(folder, most=most)
    names, cameras = np.unique([shot.camera for shot in shots], return_inverse=True)
    models = np.unique([_model(str(name)) for name in names], return_inverse=True)[1]
    made = photographs.whole_frames(shots)
    name, used = "photographs, whole frame (default)", cameras[made.used]
    yield Set(name, made.rows, used, models, colours=made.colours)
    for side in squares:
        rows = _stored(photographs.fingerprints(shots, side, "default"))
        yield Set(f"photographs, {side}²", rows, cameras, models)


def _model(camera: str) -> str:
    """Maker and model of a camera's name, maker_model_owner; one without an owner is its own."""
    return camera.rpartition("_")[0] if camera.count("_") > 1 else camera


def _stored(rows: Floats) -> MemoryStore:
    store = MemoryStore(rows.shape[1])
    for k, row in enumerate(rows):
        store.add(f"{k:06d}", row)
    store.commit()
    return store


def look(given: Set) -> dict[str, Any]:
    """All that is counted on one set."""
    every = evidence.every_comparison(given.rows, given.cameras)
    own, kin, other = relations(given)
    score, rate = every.score, every.p_value
    facts: dict[str, Any] = {
        "set": given.name,
        "pixels": given.rows.n_pixels,
        "cap": every.cap,
        "rates": [counts(rate[other], claim) for claim in CLAIMS],
        "same_model": [counts(evidence.SAME_MODEL.rate(score[kin]), claim) for claim in CLAIMS]
        if kin.any()
        else [],
        "fitted": fitted(score[other]),
        "fitted_same_model": fitted(score[kin]) if kin.any() else None,
        "matches": matches(rate, own | kin),
        "members": np.nanquantile(score[own], [0.01, 0.05, 0.5]).tolist(),
        "kin_ratio": float(np.nanmax(every.model_ratio[kin])) if kin.any() else None,
        "kin_misled": float((every.model_ratio[kin] > 1).mean()) if kin.any() else None,
        "ratios": [],
    }
    for name, (least, most) in GROUPS.items() if given.ratios else ():
        facts["ratios"].append({"group": name, **ratios(given, least, most)})
    if given.colours is not None:
        facts["draws"] = draws(given, np.where(own, score, -np.inf).max(axis=1) >= NOTHING)
    print(facts, flush=True)
    return facts


def relations(given: Set) -> tuple[Mask, Mask, Mask]:
    """(n, k) whether a photo is of the camera, of another body of its model, of another one."""
    count = len(given.models)
    own = given.cameras[:, np.newaxis] == np.arange(count)
    models = np.append(given.models, -1)[given.cameras]
    kin = (models[:, np.newaxis] == given.models) & ~own
    return own, kin, ~own & ~kin


def counts(rates: Doubles, claim: float) -> dict[str, Any]:
    """How often strangers are within a claimed rate."""
    (found,) = counted(rates[~np.isnan(rates)], [claim])
    return {**{name: getattr(found, name) for name in found.__slots__}, "rate": found.rate}


def fitted(scores: Doubles) -> dict[str, float]:
    """Student's t of scores of strangers."""
    from scipy.stats import t

    freedom, mean, scale = t.fit(scores[~np.isnan(scores)])
    return {"freedom": float(min(freedom, 1e6)), "mean": float(mean), "scale": float(scale)}


def matches(rate: Doubles, related: Mask) -> list[dict[str, Any]]:
    """Strangers that `match` calls a match at .01 in cases of some of the cameras."""
    rng, result = np.random.default_rng(0), []
    count = rate.shape[1]
    for groups in CASES:
        if groups >= count:
            continue
        photos = wrong = 0
        for _ in range(200 // groups + 10):
            some = rng.choice(count, groups, replace=False)
            strangers = ~related[:, some].any(axis=1)
            photos += int(strangers.sum())
            wrong += int((np.nanmin(rate[strangers][:, some], axis=1) * groups <= MATCH).sum())
        result.append({"groups": groups, "photos": photos, "matched": wrong})
    return result


def drawn(given: Set, least: int, most: int, seed: int = 1) -> tuple[Labels, list[int]]:
    """Groups of some size, −1 for photos in none, and their cameras: every camera gives one."""
    rng = np.random.default_rng(seed)
    labels, size = np.full(len(given.cameras), -1), list[int]()
    for camera in range(len(given.models)):
        mine = np.flatnonzero(given.cameras == camera)
        many = min(int(rng.integers(least, min(most, least + 5) + 1)), len(mine) - 1, most)
        if many >= least:
            labels[rng.permutation(mine)[:many]] = len(size)
            size.append(camera)
    return labels, size


def ratios(given: Set, least: int, most: int) -> dict[str, Any]:
    """Likelihood ratios of groups of some size: every camera gives one, of its first photos."""
    labels, size = drawn(given, least, most)
    if not size:
        return {"cameras": 0}
    every = evidence.every_comparison(given.rows, labels)
    own, kin, _ = relations(given)
    own, kin = own[:, size], kin[:, size]
    known = ~np.isnan(every.log_ratio)
    same, different = every.log_ratio[own & known], every.log_ratio[~own & ~kin & known]
    capped = [np.minimum(each, every.cap) for each in (same, different)]
    low, high = elub(same, different)
    return {
        "cameras": len(size),
        "same": len(same),
        "different": len(different),
        "cllr": cllr(*capped),
        "cllr_min": cllr_min(*capped),
        "eer": equal_error_rate(same, different),
        "elub": [low, high],
        "misleading": [float((same < 0).mean()), float((different > 0).mean())],
        "at_the_cap": float((same >= every.cap).mean()),
    }


def draws(given: Set, shows: Mask) -> list[dict[str, Any]]:
    """Likelihood ratios of small groups that are drawn several times, counted in several ways.

    Over all; over photos that `shows` says show anything with all others of their camera; over the
    groups that samecam forms of the photos that were drawn, with photos that are in none of these.
    """
    result = []
    for seed in range(1, DRAWS + 1):
        labels, size = drawn(given, *GROUPS[SMALL], seed)
        if not size:
            continue
        every = evidence.every_comparison(given.rows, labels)
        own, kin, _ = relations(given)
        own, kin = own[:, size], kin[:, size]
        known, inside = ~np.isnan(every.log_ratio), labels[:, np.newaxis] == np.arange(len(size))
        together = formed(given, labels, len(size))
        sound = ~(inside & ~shows[:, np.newaxis]).any(axis=0)
        ways = {
            "all": known,
            "shown": known & (~own | (shows[:, np.newaxis] & sound)),
            "formed": known & together & ~inside,
        }
        ratio = np.minimum(every.log_ratio, every.cap)
        facts: dict[str, Any] = {"groups": len(size), "groups_formed": int(together.sum())}
        for name, some in ways.items():
            same, different = ratio[own & some], ratio[~own & ~kin & some]
            if not len(same) or not len(different):
                continue
            facts[name] = {
                "same": len(same),
                "different": len(different),
                "cllr": cllr(same, different),
                "cllr_min": cllr_min(same, different),
            }
        result.append(facts)
    return result


def formed(given: Set, labels: Labels, count: int) -> Mask:
    """(count,) which groups samecam forms of the photos in any of them, as they are."""
    some = np.flatnonzero(labels >= 0)
    colour = None if given.colours is None else given.colours[some]
    found = ConsolidatedSSC().fit(Subset(given.rows, some), colour=colour).labels_
    members = [set(np.flatnonzero(found == k).tolist()) for k in range(found.max() + 1)]
    return np.array(
        [set(np.flatnonzero(labels[some] == group).tolist()) in members for group in range(count)]
    )


def scenes(folder: Path, most: int | None = None) -> dict[str, Any]:
    """Pairs of photographs that show one unmoving scene, by the threshold."""
    shots = photographs.load_judged(folder, most=most)
    cameras = np.unique([shot.camera for shot in shots], return_inverse=True)[1]
    small: list[Pixels] = [low_pass(shot.pixels[:512, :512]) for shot in shots]
    different = cameras[:, np.newaxis] != cameras
    alike = {}
    for threshold in (0.5, 0.6, 0.7, 0.8):
        pairs = evidence.still_scenes(np.stack(small), threshold)
        alike[str(threshold)] = {
            "one_camera": int((pairs & ~different).sum() // 2),
            "different_cameras": int((pairs & different).sum() // 2),
        }
    return {"alike_pairs": alike, "pairs_of_different_cameras": int(different.sum() // 2)}


def shipped() -> dict[str, Any]:
    """The law as it is in the program."""
    laws = {"strangers": evidence.STRANGERS, "same_model": evidence.SAME_MODEL}
    return {
        "version": evidence.LAW_VERSION,
        **{
            name: {"freedom": law.freedom, "scale": law.scale, "mean": law.mean}
            for name, law in laws.items()
        },
    }


def picture(sets: Sequence[dict[str, Any]], path: Path) -> None:
    """Counted rates over claimed ones, and the cost of likelihood ratios."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 4.8))
    left, right = figure.subplots(1, 2)
    left.plot([1e-6, 1], [1e-6, 1], color="0.6", linewidth=1)
    for one in sets:
        rows = [row for row in one["rates"] if row["count"]]
        x, y = ([row[name] for row in rows] for name in ("claimed", "rate"))
        low, high = ([abs(row[name] - row["rate"]) for row in rows] for name in ("low", "high"))
        style = {"marker": "o" if "photographs" in one["set"] else ".", "markersize": 4}
        left.errorbar(x, y, yerr=[low, high], linewidth=1, label=one["set"], **style)
        some = [row for row in one["ratios"] if row["cameras"]]
        right.plot([row["group"] for row in some], [row["cllr"] for row in some], **style)
    left.set(xscale="log", yscale="log", xlim=(5e-5, 0.2), ylim=(2e-5, 0.3))
    left.set_xlabel("claimed rate of one comparison")
    left.set_ylabel("counted among strangers, 95 % interval")
    right.set(
        xlabel="photos in the group", ylabel="cost of likelihood ratios, Cllr", ylim=(0, None)
    )
    left.legend(fontsize=7, loc="upper left")
    for axis in (left, right):
        axis.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(path, dpi=100)
    print(f"written: {path}")


def main(arguments: Sequence[str] | None = None) -> None:
    asked = parser(__doc__)
    asked.add_argument("--shared", type=Path, help="folder with photos/")
    options = asked.parse_args(arguments)
    sets = [look(each) for each in simulated(QUICK if options.quick else Size())]
    still = None
    if options.shared:
        folder = options.shared / "photos"
        few = ((256,), FEW) if options.quick else (SQUARES, None)
        sets += [look(each) for each in real(folder, *few)]
        still = scenes(folder, few[1])
    folder_out = folder_of(options)
    if folder_out is not None:
        folder_out.mkdir(parents=True, exist_ok=True)
        picture(sets, PICTURE if options.out is None else folder_out / PICTURE.name)
    write(
        "calibration",
        {"sets": sets, "scenes": still, "shipped": shipped()},
        folder=folder_out,
        photographs=options.shared is not None,
    )


if __name__ == "__main__":
    main()
