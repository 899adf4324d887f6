"""A newcomer's path of each tutorial: every command runs, and prints what the page shows."""

import pytest

from tests.docs.tutorials import TUTORIALS, not_said, shell_lines, work_through


@pytest.mark.slow
@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_a_tutorial_works(page, tmp_path):
    assert work_through(page, tmp_path) == []


def test_there_are_three():
    assert [page.stem for page in TUTORIALS] == ["analyst", "journalist", "researcher"]


def test_what_was_not_printed_is_seen():
    said = "one 1\ntwo\n  three\n"
    assert not_said("one …\n…\nthree\n", said) == []
    assert len(not_said("two\none …\n", said)) == 1
    assert len(not_said("one\n", said)) == 1
    assert shell_lines("a \\\n    b\nc\n") == ["a b", "c"]
