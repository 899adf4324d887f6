"""What benchmarks take for the default is what a case has."""

from pathlib import Path

import numpy as np

from benchmarks import photographs
from samecam.case import extract_photos
from samecam.case.folder import STORE, colours, used_photos
from samecam.compute import Resources
from samecam.store import DiskStore


def test_whole_frames_are_the_fingerprints_of_a_case(shared, tmp_path):
    extract_photos([shared / "photos"], tmp_path / "case", resources=Resources(workers=1))
    shots = photographs.load(shared / "photos", 64, 64)
    with open(shared / "photos" / "truth.csv", encoding="utf-8") as stream:
        names = [Path(line.split(",")[0]).name for line in stream][1:]
    made = photographs.whole_frames(shots)
    with DiskStore.open(tmp_path / "case" / STORE) as store:
        used = used_photos(store)
        assert [Path(record.key).name for record in used] == [names[k] for k in made.used]
        assert made.rows.frame == used[0].frame
        np.testing.assert_array_equal(made.rows.read(), store.rows(used[0].frame).read())
        np.testing.assert_array_equal(made.colours, colours(used))
        assert made.weak.tolist() == [record.meta["status"] == "weak" for record in used]
    assert made.weak.any()
