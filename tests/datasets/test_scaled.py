"""Configurations of collections that have less than they ask for."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samecam.datasets import SCALED, Collection, Photo, configuration, configurations, scale, twin
from samecam.errors import SamecamError


def collection(sizes, model=lambda number: f"model {number}"):
    """A collection with cameras of that many photos."""
    photos = [
        Photo(f"c{number:02d}/{k:03d}.jpg", f"c{number:02d}", model(number), "")
        for number, size in enumerate(sizes)
        for k in range(size)
    ]
    return Collection("some", Path("root"), tuple(photos), ("as it came",))


SEVEN = (12, 15, 20, 25, 30, 35, 40)


@pytest.mark.parametrize(
    ("name", "sizes", "words"),
    [
        ("Ds20", [12] * 7, "7 cameras, 12 photos each; in print it has 20 cameras, 100 photos each"),  # noqa: E501
        ("Ds5", [20] * 5, "5 cameras, 20 photos each; in print it has 5 cameras, 100 photos each"),
        ("Da20", list(SEVEN), "7 cameras, 177 photos (12 to 40 each); in print it has 20 cameras, 4186 photos"),  # noqa: E501
        ("Da5", [20, 25, 30, 35, 40], "5 cameras, 150 photos (20 to 40 each); in print it has 5 cameras, 1089 photos"),  # noqa: E501
        ("LDa74", list(SEVEN), "7 cameras, 177 photos (12 to 40 each); in print it has 74 cameras, 15677 photos"),  # noqa: E501
    ],
)  # fmt: skip
def test_what_is_there_is_taken_and_said(name, sizes, words):
    drawn = scale(collection(SEVEN), configuration(name))
    assert sorted(drawn.sizes().values()) == sizes
    assert drawn.name == name + SCALED
    assert drawn.notes == ("as it came", f"{name} is scaled to {words}.")


def test_uneven_sizes_keep_their_proportions():
    sizes = twin("phan-D4").sizes
    drawn = scale(collection([30] * 12), configuration("phan-D4"), sizes)
    factor = 30 / max(sizes)
    assert sorted(drawn.sizes().values()) == sorted(int(factor * size) for size in sizes)


def test_no_model_is_there_twice_as_long_as_there_are_others():
    whole = collection([50, 50, 20, 20], lambda number: "ab"[number // 2])
    two, all_four = (scale(whole, configuration(name)) for name in ("Ds5", "Ds20"))
    assert set(two.cameras) == set(all_four.cameras) == {"c00", "c01", "c02", "c03"}
    assert "4 cameras, 20 photos each, some of one model; in print" in two.notes[-1]
    six = collection([50, 50, 12, 12, 12, 12], lambda number: "aabcde"[number])
    assert set(scale(six, configuration("Ds5")).cameras) == {"c00", "c02", "c03", "c04", "c05"}


def test_as_many_of_one_model_as_leave_most_cameras():
    pairs = collection([20] * 8, lambda number: "aaabbccd"[number])
    assert scale(pairs, configuration("Dsm20")).sizes() == dict.fromkeys(
        ("c00", "c01", "c03", "c04", "c05", "c06"), 20
    )
    assert set(scale(pairs, configuration("Dsm5")).cameras) == {"c00", "c01", "c02"}
    with pytest.raises(SamecamError, match="Two cameras of one model with two photos each are"):
        scale(collection(SEVEN), configuration("Dsm20"))


def test_a_camera_with_hardly_a_photo_does_not_bring_all_down():
    drawn = scale(collection([*[100] * 19, 2]), configuration("Ds20"))
    assert set(drawn.sizes().values()) == {100}
    assert drawn.notes[-1].endswith("100 photos each. Of 1 other cameras there is hardly a photo.")
    assert sorted(scale(collection([3, 4, 1]), configuration("Ds20")).sizes().values()) == [3, 3]


@pytest.mark.parametrize("sizes", [[], [5], [5, 1], [1, 1, 1]])
def test_two_cameras_are_needed(sizes):
    with pytest.raises(SamecamError, match="which some in 'root' has not: complete the collection"):
        scale(collection(sizes), configuration("Ds5"))


@given(
    st.lists(st.integers(0, 30), max_size=12),
    st.integers(1, 4),
    st.sampled_from([name for name, one in configurations().items() if not one.parts]),
)
def test_any_collection_gives_what_it_has_or_an_error(sizes, alike, name):
    wanted, whole = configuration(name), collection(sizes, lambda number: f"m{number // alike}")
    try:
        drawn = scale(whole, wanted)
    except SamecamError:
        return
    counts = drawn.sizes()
    assert 2 <= len(counts) <= wanted.cameras
    assert set(drawn.photos) <= set(whole.photos)
    assert min(counts.values()) >= 2
    if wanted.each is not None:
        assert len(set(counts.values())) == 1
        assert max(counts.values()) <= wanted.each
