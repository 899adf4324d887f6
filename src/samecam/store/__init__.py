"""Fingerprints on disk or in memory: append, resume, read in blocks."""

from samecam.frames import Frame
from samecam.store._base import FingerprintStore, Record
from samecam.store._bits import BitRows, pack, pair_scales, unpack
from samecam.store._bytes import ByteRows
from samecam.store._codec import (
    BITS_FROM,
    DTYPES,
    TWO_BITS_FROM,
    Dtype,
    DtypeChoice,
    frame_dtype,
)
from samecam.store._disk import DiskStore
from samecam.store._memory import MemoryStore
from samecam.store._rows import StoredRows
from samecam.store._shard import (
    FrameWriters,
    Placement,
    ShardWriter,
    StoreFullError,
    record_bytes,
)
from samecam.store._subset import Subset
from samecam.store._without import RowsWithout

__all__ = [
    "BITS_FROM",
    "DTYPES",
    "TWO_BITS_FROM",
    "BitRows",
    "ByteRows",
    "DiskStore",
    "Dtype",
    "DtypeChoice",
    "FingerprintStore",
    "Frame",
    "FrameWriters",
    "MemoryStore",
    "Placement",
    "Record",
    "RowsWithout",
    "ShardWriter",
    "StoreFullError",
    "StoredRows",
    "Subset",
    "frame_dtype",
    "pack",
    "pair_scales",
    "record_bytes",
    "unpack",
]
