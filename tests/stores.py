"""Rows on disk, for tests that read them."""

from samecam.frames import Frame
from samecam.store import DiskStore, StoredRows


def written(folder, X, dtype="float16", *, digits=5, hashes=False) -> StoredRows:
    """The rows of an array in a store of their own, for reading; a context manager."""
    with DiskStore.create(folder, frame=Frame(X.shape[1], 1), dtype=dtype) as store:
        for k, x in enumerate(X):
            store.add(f"{k:0{digits}d}", x, sha256=f"h{k}" if hashes else "")
        store.commit()
        return store.rows()
