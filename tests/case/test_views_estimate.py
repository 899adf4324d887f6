"""How long looking for views will take: said before the work."""

import pytest

from samecam.case import ClusteringSettings, ExtractionSettings
from samecam.case.extraction import Estimate
from samecam.case.extraction._estimate import FrameCost
from samecam.case.grouping._estimate import with_grouping
from samecam.compute import Resources, machine
from samecam.frames import Frame
from samecam.register import search_seconds


def parts(search, settings=None, frame=None, photos=200):
    cost = FrameCost(frame or Frame(1600, 1200), photos, photos, 1, 1.0)
    plan = Estimate(photos, photos, 1, 1, 10**9, 2, (cost,))
    chosen = ClusteringSettings(search=search)
    cpu = Resources(device="cpu").resolve()
    return with_grouping(plan, settings or ExtractionSettings(), chosen, cpu).parts


def test_the_further_the_search_the_longer():
    quick, normal, deep = (parts(s, photos=20)["views"] for s in ("quick", "normal", "deep"))
    assert 0 < quick < normal < deep


def test_no_more_is_said_than_the_search_takes_at_most():
    most = search_seconds({Frame(1600, 1200): 5000}) / machine().cores
    for search in ("quick", "normal"):
        assert parts(search, photos=5000)["views"] == pytest.approx(most)
    assert parts("deep", photos=5000)["views"] > most


@pytest.mark.parametrize(
    "given",
    [
        {"search": "off"},
        {"search": "normal", "settings": ExtractionSettings(size=512)},
        {"search": "normal", "frame": Frame(240, 180)},
    ],
)
def test_where_no_views_are_sought_none_are_counted(given):
    assert "views" not in parts(**given)
