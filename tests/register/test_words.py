"""Views in words."""

import pytest

from samecam.frames import Frame
from samecam.register import View, view_words

WHOLE, WIDE, SMALL = Frame(4000, 3000), Frame(4000, 2250), Frame(1600, 1200)
TALL = Frame(3000, 4000)

WORDS = [
    (View(), WHOLE, "4000×3000"),
    (View(scale=1.0002, shift=(0.2, -0.4)), WHOLE, "4000×3000"),
    (View(scale=1.996), WHOLE, "2.0× zoom"),
    (View(scale=1.1, shift=(0.2, -2.6)), WHOLE, "1.1× zoom"),
    (View(scale=2, shift=(90, 4)), WHOLE, "2.0× zoom, shifted by +90 and +4 pixels"),
    (View(scale=2.46, turn=180), WHOLE, "2.5× zoom, turned by 180°"),
    (View(), WIDE, "4000×2250, same centre"),
    (View(shift=(2, -3)), WIDE, "4000×2250, same centre"),
    (View(shift=(120, -40.4)), Frame(1000, 700), "1000×700, +120 and −40 pixels from the centre"),
    (View(turn=90), TALL, "turned by 90°"),
    (View(turn=270, mirrored=True), TALL, "mirrored and turned by 270°"),
    (View(mirrored=True), WHOLE, "mirrored"),
    (View(turn=90), Frame(2250, 4000), "2250×4000, same centre, turned by 90°"),
    (View(scale=0.4), SMALL, "1600-pixel copies"),
    (View(scale=0.4), Frame(1600, 900), "1600-pixel copies"),
    (View(scale=0.4, turn=90), Frame(1200, 1600), "1600-pixel copies, turned by 90°"),
    (View(scale=0.8), SMALL, "2.0× zoom, 1600-pixel copies"),
    (View(scale=0.994), WHOLE, "lens corrected (.994)"),
    (View(scale=1.004), WHOLE, "lens corrected (1.004)"),
    (View(radial=-0.012), WHOLE, "lens corrected (−1.2 % at the corners)"),
    (View(scale=0.9855, radial=0.02), WHOLE, "lens corrected (.986, +2.0 % at the corners)"),
    (View(shift=(2, 1)), WHOLE, "shifted by +2 and +1 pixels"),
    (View(shift=(0.1, -1)), WHOLE, "shifted by 0 and −1 pixels"),
    (View(scale=0.5), WHOLE, "2.0× wider"),
]


@pytest.mark.parametrize(("view", "picture", "words"), WORDS, ids=[words for *_, words in WORDS])
def test_a_view_is_put_into_words(view, picture, words):
    assert view_words(view, picture, WHOLE) == words
