"""Collections with known cameras, in every form that LS-SSC takes."""

import numpy as np

from samecam.store import DiskStore


def on_disk(folder, rows, dtype="float32"):
    """Write rows to a store on disk, closed again."""
    with DiskStore.create(folder, n_pixels=rows.shape[1], dtype=dtype) as store:
        for i, row in enumerate(rows):
            store.add(f"{i:05d}", row)
        store.commit()
    return folder


def as_sets(labels):
    labels = np.asarray(labels)
    return {frozenset(np.flatnonzero(labels == k).tolist()) for k in set(labels.tolist()) - {-1}}
