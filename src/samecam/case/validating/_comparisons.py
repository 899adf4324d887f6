"""Every photo against every camera of its frame, as one long table."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from samecam.arrays import Doubles, Labels, Mask, Rows
from samecam.case.folder import by_frame
from samecam.case.validating._labelled import Labelled
from samecam.errors import SamecamError
from samecam.evidence import every_comparison, local_groups
from samecam.frames import Frame
from samecam.store import DiskStore, Subset

# How the camera of a photo and the camera that it is compared with are related.
RELATIONS = (
    "same camera",
    "another body of the same model",
    "another model",
    "another camera, model not known",
)
SAME, SAME_MODEL, OTHER_MODEL, UNKNOWN = range(4)


@dataclass(frozen=True, slots=True)
class Compared:
    """Comparisons, one entry each.

    Attributes
    ----------
    photo, camera : numbers in `Labelled`
    relation : place in RELATIONS
    reference : photos of the camera that the photo was compared with, itself left out
    score : in units of chance
    log_ratio : log10 likelihood ratio, uncapped
    p_value : that a photo of another camera reaches the score, as it is claimed
    cap : log10 of the largest ratio that is stated
    """

    photo: Labels
    camera: Labels
    relation: npt.NDArray[np.int8]
    reference: Labels
    score: Doubles
    log_ratio: Doubles
    p_value: Doubles
    cap: Doubles

    @property
    def stated(self) -> Doubles:
        """Log10 likelihood ratios as they are stated: capped."""
        return np.minimum(self.log_ratio, self.cap)

    @property
    def same(self) -> Mask:
        """Where the photo is of the camera."""
        return np.asarray(self.relation == SAME)

    def __len__(self) -> int:
        return len(self.photo)

    def __getitem__(self, chosen: Mask) -> "Compared":
        return Compared(*(getattr(self, field.name)[chosen] for field in fields(Compared)))


def compare_labelled(
    store: DiskStore,
    labelled: Labelled,
    *,
    memory: int,
    progress: Callable[[int, int], None] | None = None,
) -> Compared:
    """Compare each photo with each camera that has photos of its frame."""
    total, done = len(labelled.photos), 0
    parts: list[Compared] = []
    for frame, at in by_frame(labelled.photos).items():

        def told(count: int, _: int, before: int = done) -> None:
            if progress is not None:
                progress(before + count, total)

        if len(at) > 1:  # one photo alone has nothing to be compared with
            parts += _of_frame(store, labelled, frame, at, memory, told)
        done += len(at)
    if not parts or not any(part.same.any() for part in parts):
        raise SamecamError(
            "No camera has two photos of one width and height that can be used, so no photo can be "
            "compared with its own camera: add photos as the cameras stored them."
        )
    if all(part.same.all() for part in parts):
        raise SamecamError(
            "No two cameras have photos of one width and height, so no photo can be compared with "
            "another camera: add cameras of the same model or size, or give a size, 1024 for "
            "instance, of squares to compare."
        )
    columns = zip(
        *(tuple(getattr(p, f.name) for f in fields(Compared)) for p in parts), strict=True
    )
    return Compared(*(np.concatenate(column) for column in columns))


def _of_frame(
    store: DiskStore,
    labelled: Labelled,
    frame: Frame,
    at: Rows,
    memory: int,
    progress: Callable[[int, int], None],
) -> Iterator[Compared]:
    whole = store.rows(frame)
    place = {key: row for row, key in enumerate(whole.keys)}
    chosen = np.array([place[labelled.photos[k].key] for k in at], dtype=np.intp)
    numbers, labels = local_groups(labelled.of[at])
    every = every_comparison(Subset(whole, chosen), labels, memory=memory, progress=progress)
    whole.close()
    row, group = np.nonzero(~np.isnan(every.score) & ~np.isnan(every.log_ratio))
    if not len(row):
        return
    own = labels[row] == group
    yield Compared(
        photo=at[row],
        camera=numbers[group],
        relation=_relations(labelled, labelled.of[at[row]], numbers[group]),
        reference=(np.bincount(labels)[group] - own).astype(np.intp),
        score=every.score[row, group],
        log_ratio=every.log_ratio[row, group],
        p_value=every.p_value[row, group],
        cap=np.full(len(row), float(every.cap)),
    )


def _relations(labelled: Labelled, one: Labels, other: Labels) -> npt.NDArray[np.int8]:
    """Of the cameras `one` and `other`, entry by entry."""
    models = [" ".join(camera.model.casefold().split()) for camera in labelled.cameras]
    number = {model: k for k, model in enumerate(sorted(set(models) - {""}))}
    of = np.array([number.get(model, -1) for model in models])
    a, b = of[one], of[other]
    result = np.where(a == b, SAME_MODEL, OTHER_MODEL)
    result[(a < 0) | (b < 0)] = UNKNOWN
    result[one == other] = SAME
    return result.astype(np.int8)
