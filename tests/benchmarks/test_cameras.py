"""What views add, as docs/views.md and docs/method.md tell it."""

from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks import cameras, method_page, views_page


def run(search, f, seconds):
    score = {"F": f, "P": 1.0, "R": 0.5, "n_images": 9, "n_cameras": 3, "n_unclustered": 1}
    return {"search": search, "groups": 4, "cameras": 2, "used": score, "unusable": 1,
            "all": score | {"n_images": 10, "F": f / 2}, "seconds": seconds}  # fmt: skip


DOCUMENT = {"result": {"runs": [run("off", 0.9, 7.4), run("normal", 0.96, 50.6)]}}


def test_both_searches_are_rows_and_one_is_the_default():
    lines = views_page.photographs(DOCUMENT).splitlines()
    assert "9 used photos" in lines[0]
    assert "10 listed photos" in lines[0]
    assert lines[2] == "| `off` | 4, 2 | .900 (1, .500) | .450 (1, .500) | 7 |"
    assert lines[3].startswith("| `normal` (default) | 4, 2 | .960 (1, .500) | .480 ")


def test_photos_without_fingerprint_are_counted():
    assert "10 photographs of 3 cameras, of which 1 (10.0%)" in views_page.unusable(DOCUMENT)


def test_used_photos_alone_are_scored():
    result = SimpleNamespace(paths=["a/1.jpg", "a/2.jpg"], labels=np.array([0, 0]))
    score = cameras.used_score(result, {"1.jpg": "x", "2.jpg": "x", "3.jpg": "x"})
    assert (score.n_images, score.recall) == (2, 1.0)


def row(name, join_rate=0.01, f=0.5):
    return {"set": name, "join_rate": join_rate, "F": f, "P": 1.0, "R": 0.25, "clusters": 24,
            "cameras": 22}  # fmt: skip


def test_the_default_is_named_and_other_rates_are_left_out():
    rows = [row("photographs, whole frame", 0.02, 0.1), row("photographs, whole frame")]
    rows += [row(f"photographs, whole frame, half, {k}", f=k / 4) for k in (1, 2)]
    rows += [row("photographs, whole frame, none weak", f=0.1)]
    whole, half = method_page.photographs(rows)
    assert "(default;" in whole[0]
    assert whole[1:] == [".500 (1.000, .250)", "24 of 22"]
    assert half == ["photographs, whole frame, half", ".375 (1.000, .250)", "24 – 24"]


@pytest.mark.parametrize(("value", "text"), [(1.0, "1.000"), (0.96549, ".965")])
def test_numbers(value, text):
    assert method_page.number(value) == text
