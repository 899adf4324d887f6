"""Fingerprints on disk or in memory: append, resume, read in blocks."""

from samecam.store._base import FingerprintStore, Record
from samecam.store._codec import DTYPES, Dtype
from samecam.store._disk import DiskStore
from samecam.store._memory import MemoryStore
from samecam.store._rows import StoredRows
from samecam.store._shard import Placement, ShardWriter, StoreFullError, record_bytes
from samecam.store._subset import Subset

__all__ = [
    "DTYPES",
    "DiskStore",
    "Dtype",
    "FingerprintStore",
    "MemoryStore",
    "Placement",
    "Record",
    "ShardWriter",
    "StoreFullError",
    "StoredRows",
    "Subset",
    "record_bytes",
]
