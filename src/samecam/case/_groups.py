"""`clusters.json`: what can be said of every group."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from samecam.store import FingerprintStore, Record

FORMAT = "samecam-clusters"
VERSION = 1
_DIGITS = 6
_WIDEST = 8192

Labels = npt.NDArray[np.intp]
Doubles = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Camera:
    """Make and model as EXIF has them ("" where it has none), and in how many photos."""

    make: str
    model: str
    photos: int


@dataclass(frozen=True, slots=True)
class Group:
    """The photos of one camera, and what holds them together.

    Attributes
    ----------
    id : its number, as in `clusters.csv`
    size : how many photos
    paths, hashes : of its photos, sorted by path
    correlation : mean correlation of two of its photos; None for a single one
    quality : expected correlation of the group's fingerprint with the camera's pattern,
        √(nρ/(1 + (n−1)ρ)) with n photos of mean correlation ρ
    cameras : what EXIF says took them, most frequent first
    nearest : the group whose fingerprint is most like this one's; None if it is the only one
    nearest_correlation : of the two fingerprints
    """

    id: int
    size: int
    paths: list[str]
    hashes: list[str]
    correlation: float | None
    quality: float | None
    cameras: list[Camera]
    nearest: int | None
    nearest_correlation: float | None

    def as_dict(self) -> dict[str, Any]:
        """As it stands in `clusters.json`."""
        values = asdict(self)
        values["members"] = _members(values.pop("paths"), values.pop("hashes"))
        return values


@dataclass(frozen=True, slots=True)
class GroupFacts:
    """Numbers of each group, in the order of their labels; see `Group`. NaN: there is none."""

    correlation: Doubles
    quality: Doubles
    nearest: Labels
    nearest_correlation: Doubles


def group_facts(store: FingerprintStore, labels: Labels, memory: int) -> GroupFacts:
    """Mean correlation, quality and nearest other group of every group, in one pass.

    With the sums s_c = Σ_{i∈c} x_i and t_cd = s_c·s_d, the mean correlation within a group
    of n photos is (t_cc − Σ‖x_i‖²)/(n(n − 1)), and the correlation of two groups'
    fingerprints t_cd/√(t_cc t_dd). Rows are read some pixels at a time.

    Parameters
    ----------
    store : the fingerprints
    labels : group of every row, from 0 without gaps; −1 is none
    memory : bytes for what is read at a time
    """
    sizes = np.bincount(labels[labels >= 0])
    products, own = _group_products(store, labels, sizes, memory)
    norms = np.sqrt(np.diag(products))
    pairs = sizes * (sizes - 1.0)
    inside = np.diag(products) - own
    mean = np.divide(inside, pairs, out=np.full(len(sizes), np.nan), where=pairs > 0)
    share = sizes * np.clip(mean, 0, 1)
    quality = np.sqrt(share / (1 + share - np.clip(mean, 0, 1)))
    scale = np.outer(norms, norms)
    between = np.divide(products, scale, out=np.zeros_like(products), where=scale > 0)
    np.fill_diagonal(between, -np.inf)
    if len(sizes) < 2:
        return GroupFacts(mean, quality, np.full(len(sizes), -1), np.full(len(sizes), np.nan))
    nearest = np.argmax(between, axis=1)
    return GroupFacts(mean, quality, nearest, between[np.arange(len(sizes)), nearest])


def _group_products(
    store: FingerprintStore, labels: Labels, sizes: Labels, memory: int
) -> tuple[Doubles, Doubles]:
    """Inner products of the groups' sums, and Σ‖x_i‖² of each group."""
    order = np.argsort(labels, kind="stable")
    order = order[np.count_nonzero(labels < 0) :]
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.intp)
    products, own = np.zeros((len(sizes), len(sizes))), np.zeros(len(sizes))
    if not len(sizes):
        return products, own
    # Two parts are held at a time, their sums and squares beside.
    width = max(1, min(_WIDEST, store.n_pixels, memory // (4 * (4 * len(order) + len(sizes)))))
    for _, part in store.columns(width, order):
        sums = np.add.reduceat(part, starts, axis=0)
        products += sums @ sums.T
        own += np.add.reduceat(np.einsum("ij,ij->i", part, part), starts)
    return products, own


def describe_groups(
    records: Sequence[Record], labels: Labels, facts: GroupFacts | None
) -> list[Group]:
    """Groups from 0 on; `records` are the used photos in the order of `labels`."""
    members: list[list[Record]] = [[] for _ in range(int(labels.max(initial=-1)) + 1)]
    for record, label in zip(records, labels.tolist(), strict=True):
        if label >= 0:
            members[label].append(record)
    return [_describe(k, rows, facts) for k, rows in enumerate(members)]


def _describe(k: int, rows: list[Record], facts: GroupFacts | None) -> Group:
    nearest = -1 if facts is None else int(facts.nearest[k])
    return Group(
        id=k,
        size=len(rows),
        paths=[row.key for row in rows],
        hashes=[row.sha256 for row in rows],
        correlation=None if facts is None else _number(facts.correlation[k]),
        quality=None if facts is None else _number(facts.quality[k]),
        cameras=_cameras(rows),
        nearest=nearest if nearest >= 0 else None,
        nearest_correlation=None if facts is None else _number(facts.nearest_correlation[k]),
    )


def _cameras(rows: Sequence[Record]) -> list[Camera]:
    """Make and model with counts, most frequent first."""
    seen = Counter((row.meta.get("make") or "", row.meta.get("model") or "") for row in rows)
    ordered = sorted(seen.items(), key=lambda item: (-item[1], item[0]))
    return [Camera(make, model, count) for (make, model), count in ordered]


def _number(value: float) -> float | None:
    """Rounded, so that it does not depend on the order of adding; None for NaN."""
    return None if np.isnan(value) else round(float(value), _DIGITS)


def _members(paths: Sequence[str], hashes: Sequence[str]) -> list[dict[str, str]]:
    return [{"path": p, "sha256": h} for p, h in zip(paths, hashes, strict=True)]


def clusters_json(groups: Sequence[Group], alone: Sequence[Record], csv_sha256: str) -> str:
    """Text of `clusters.json`; odd bytes of paths stand as escaped surrogates."""
    content = {
        "format": FORMAT,
        "version": VERSION,
        "clusters_csv_sha256": csv_sha256,
        "clusters": [group.as_dict() for group in groups],
        "unclustered": _members([r.key for r in alone], [r.sha256 for r in alone]),
    }
    return json.dumps(content, indent=1, ensure_ascii=True) + "\n"


def read_groups(content: Mapping[str, Any]) -> list[Group] | None:
    """Groups as they stand in `clusters.json`; None if it is of another version."""
    if content["version"] != VERSION:
        return None
    groups = []
    for entry in content["clusters"]:
        members = entry["members"]
        values = {name: value for name, value in entry.items() if name != "members"}
        values["cameras"] = [Camera(**camera) for camera in entry["cameras"]]
        values["paths"] = [member["path"] for member in members]
        values["hashes"] = [member["sha256"] for member in members]
        groups.append(Group(**values))
    return groups
