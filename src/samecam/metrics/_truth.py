"""Who took which photo: the truth and a grouping as CSV files, and which path means which."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence

from samecam.errors import SamecamError
from samecam.inputs import PathLike, read_input

_WHOLE = None  # stands in front of a path's parts, so that equal paths share one part more
_Parts = list[str | None]


def read_truth(path: PathLike) -> dict[str, str]:
    """Camera of every photo, from a CSV file with the columns path and camera.

    Read as `read_columns` does. A path may be named twice, with the same camera.

    Parameters
    ----------
    path : path of the file

    Returns
    -------
    dict of str to str
        Path to camera, in the file's order; never empty.
    """
    truth: dict[str, str] = {}
    for line, (photo, camera) in read_columns(path, ("path", "camera")):
        _check_filled(path, line, {"path": photo, "camera": camera})
        if truth.setdefault(photo, camera) != camera:
            raise SamecamError(
                f"{str(path)!r} gives {photo!r} two cameras, {truth[photo]!r} and {camera!r}: "
                "name every photo once."
            )
    if not truth:
        raise SamecamError(f"{str(path)!r} names no photo: write one line for every photo.")
    return truth


def read_models(path: PathLike) -> dict[str, str]:
    """Camera model of the photos of a truth that states one, in a column model that it may lack.

    Parameters
    ----------
    path : path of the file

    Returns
    -------
    dict of str to str
        Path to model, in the file's order, where it is filled in.
    """
    models: dict[str, str] = {}
    for _, (photo, model) in read_columns(path, ("path",), optional=("model",)):
        if model and models.setdefault(photo, model) != model:
            raise SamecamError(
                f"{str(path)!r} gives {photo!r} two models, {models[photo]!r} and {model!r}: "
                "name one."
            )
    return models


def read_clusters(path: PathLike) -> dict[str, int]:
    """Cluster of every photo, from a CSV file with the columns path and cluster.

    Read as `read_columns` does. A path may be named twice, with the same cluster.

    Parameters
    ----------
    path : path of the file

    Returns
    -------
    dict of str to int
        Path to cluster (−1: unclustered), in the file's order; empty if there is no photo.
    """
    clusters: dict[str, int] = {}
    for line, (photo, text) in read_columns(path, ("path", "cluster")):
        _check_filled(path, line, {"path": photo, "cluster": text})
        cluster = _cluster(path, line, text)
        if clusters.setdefault(photo, cluster) != cluster:
            raise SamecamError(
                f"{str(path)!r} puts {photo!r} into two clusters, {clusters[photo]} and "
                f"{cluster}: name every photo once."
            )
    return clusters


def read_columns(
    path: PathLike, names: Sequence[str], *, optional: Sequence[str] = ()
) -> list[tuple[int, list[str]]]:
    """Some columns of a CSV file, as text.

    The first line names the columns; others than the wanted ones are passed over, and so are
    empty lines. UTF-8, with or without byte order mark; bytes that are not UTF-8 are kept
    (surrogateescape), and so are line breaks in quoted fields.

    Parameters
    ----------
    path : path of the file
    names : columns wanted
    optional : columns that may be missing: "" stands for their fields then

    Returns
    -------
    list of (int, list of str)
        Number of the line a row ends on, and its fields in the order of `names`, then `optional`.
    """
    try:
        text = read_input(path).decode("utf-8-sig", "surrogateescape")
        reader = csv.reader(io.StringIO(text, newline=""), strict=True)
        rows = [(reader.line_num, row) for row in reader if row]
    except OSError as error:
        raise SamecamError(f"{str(path)!r} cannot be read: {error.strerror}.") from None
    except csv.Error as error:
        raise SamecamError(
            f"{str(path)!r} cannot be read as CSV: {error} (line {reader.line_num})."
        ) from None
    wanted = " and ".join(map(repr, names))
    if not rows:
        raise SamecamError(f"{str(path)!r} is empty: its first line must name {wanted}.")
    header = rows[0][1]
    for name in (*names, *(name for name in optional if name in header)):
        if header.count(name) != 1:
            count = "no column" if name not in header else "more than one column"
            raise SamecamError(
                f"{str(path)!r} has {count} {name!r} (its first line is {','.join(header)!r}): "
                f"the first line must name {wanted}, separated by a comma."
            )
    for line, row in rows[1:]:
        if len(row) != len(header):
            raise SamecamError(
                f"{str(path)!r} has {len(row)} fields in line {line} but {len(header)} columns: "
                "put a path that holds a comma in quotes."
            )
    places = [header.index(name) if name in header else -1 for name in (*names, *optional)]
    return [(line, [row[k] if k >= 0 else "" for k in places]) for line, row in rows[1:]]


def match_paths(paths: Iterable[str], truth_paths: Iterable[str]) -> dict[str, str]:
    """Find which path of the truth means which of the given paths.

    The common ending of two paths is the number of their last '/'-separated parts that
    agree; equal paths share more than any others. A path and a truth path belong together
    if they share at least the file name, and neither shares as much with any other.

    A path stays without partner if no truth path has its file name, or if every truth path
    it shares its longest ending with belongs to another path by a longer one. Whatever else
    has no single partner is ambiguous and an error: a path that shares its longest ending
    with several truth paths, one of them without partner (whether or not they have the same
    camera), and several paths that share their longest ending with one truth path.

    Parameters
    ----------
    paths, truth_paths : iterables of str
        A path given twice counts once.

    Returns
    -------
    dict of str to str
        Path to truth path, in the order of `paths`, without those that have no partner.
    """
    ours = {path: _parts(path) for path in paths}
    theirs = {path: _parts(path) for path in truth_paths}
    # Every ending shared by both sides, with the paths that end so; longer ones come later.
    endings = [(0, list(ours), list(theirs))]
    alone: list[list[str]] = []  # per ending, paths that share no longer one with the truth
    for depth, mine, truths in endings:
        if depth and len(mine) == len(truths) == 1:
            alone.append(mine)
            continue
        groups, others = _split(mine, ours, depth), _split(truths, theirs, depth)
        endings += [
            (depth + 1, group, others[part]) for part, group in groups.items() if part in others
        ]
        alone.append([p for part, group in groups.items() if part not in others for p in group])
    partner: dict[str, str] = {}
    taken: set[str] = set()
    for (depth, mine, truths), single in zip(reversed(endings), reversed(alone), strict=True):
        if not depth or not single or taken.issuperset(truths):
            continue
        if len(mine) > 1 or len(truths) > 1:
            raise _ambiguous(single, truths, taken)
        partner[mine[0]] = truths[0]
        taken.add(truths[0])
    return {path: partner[path] for path in ours if path in partner}


def _parts(path: str) -> _Parts:
    """File name first, then folder after folder, and the mark that the path ends."""
    return [*reversed(path.split("/")), _WHOLE]


def _split(paths: list[str], parts: dict[str, _Parts], depth: int) -> dict[str | None, list[str]]:
    groups: dict[str | None, list[str]] = {}
    for path in paths:
        groups.setdefault(parts[path][depth], []).append(path)
    return groups


def _ambiguous(paths: list[str], truths: list[str], taken: set[str]) -> SamecamError:
    if len(truths) == 1:
        return SamecamError(
            f"Both {paths[0]!r} and {paths[1]!r} may be {truths[0]!r} of the truth: write more "
            "of the folders in front of it in the truth."
        )
    first, second = sorted(truths, key=taken.__contains__)[:2]
    return SamecamError(
        f"{paths[0]!r} may be {first!r} or {second!r} of the truth: write paths into the truth "
        "as they stand in the case, and leave out photos that are not there."
    )


def _check_filled(path: PathLike, line: int, fields: Mapping[str, str]) -> None:
    for name, value in fields.items():
        if not value:
            raise SamecamError(f"{str(path)!r} has no {name} in line {line}: fill it in.")


def _cluster(path: PathLike, line: int, text: str) -> int:
    try:
        cluster = int(text)
    except ValueError:
        cluster = -2
    if not -1 <= cluster < 2**63:
        raise SamecamError(
            f"{str(path)!r} has the cluster {text!r} in line {line}: give a whole number from 0, "
            "or -1 for an unclustered photo."
        )
    return cluster
