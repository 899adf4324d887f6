"""Collections with known cameras, in every form that LS-SSC takes."""

import numpy as np

from samecam.frames import Frame
from samecam.store import DiskStore


def on_disk(folder, rows, dtype="float32"):
    """Rows of a store on disk, for reading; a context manager."""
    with DiskStore.create(folder, frame=Frame(rows.shape[1], 1), dtype=dtype) as store:
        for i, row in enumerate(rows):
            store.add(f"{i:05d}", row)
        store.commit()
        return store.rows()


def as_sets(labels):
    labels = np.asarray(labels)
    return {frozenset(np.flatnonzero(labels == k).tolist()) for k in set(labels.tolist()) - {-1}}
