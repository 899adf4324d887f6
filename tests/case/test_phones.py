"""Real phones whose zoomed photos are other views of one sensor."""

import csv
from collections import defaultdict

import pytest

from samecam.case import cluster_photos


@pytest.mark.slow
def test_zoomed_and_unzoomed_photos_of_a_phone_are_one_camera(geometry_dir, tmp_path):
    with open(geometry_dir / "phones.csv", newline="", encoding="utf-8") as stream:
        phone = {row["path"]: row["camera"] for row in csv.DictReader(stream)}
    result = cluster_photos([geometry_dir / "phones"], tmp_path / "case")
    seen = defaultdict(set)
    together = defaultdict(list)
    for path, label in zip(result.paths, result.labels, strict=True):
        if label >= 0:
            camera = phone[f"phones/{path}"]
            seen[label].add(camera)
            together[camera].append(label)
    assert all(len(cameras) == 1 for cameras in seen.values())
    assert len(together["Pixel 5"]) == 15
    assert len(set(together["Pixel 5"])) == 1
    zoomed = together["iPhone 11 second"]
    assert max(zoomed.count(label) for label in set(zoomed)) >= 9
