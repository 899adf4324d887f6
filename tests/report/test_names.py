"""Any file name as text that can be seen, and as HTML that does nothing."""

import os
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samecam.report import shown
from samecam.report._names import marked


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("plain name-1.jpg", "plain name-1.jpg"),
        ("Grüße 写真 שב.jpg", "Grüße 写真 שב.jpg"),
        (os.fsdecode(b"\xff\x80.jpg"), "\\xff\\x80.jpg"),
        ("a\nb\r\t\x00\x1b[31m", "a\\nb\\r\\t\\x00\\x1b[31m"),
        ("x\u202egpj.exe", "x\\u202egpj.exe"),
        ("zero\u200bwidth\ufeff\u00ad", "zero\\u200bwidth\\ufeff\\xad"),
        ("no\u00a0break\u2028\u3000", "no\\xa0break\\u2028\\u3000"),
        ("lone \ud800", "lone \\ud800"),
    ],
)
def test_what_cannot_be_seen_is_written_out(name, text):
    assert shown(name) == text
    shown(name).encode("utf-8")


class _Texts(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.text = [], ""

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs).get("class")))

    def handle_data(self, data):
        self.text += data


@given(st.text(alphabet=st.characters(), max_size=30) | st.sampled_from(["<img src=x>", "&lt;&"]))
def test_as_html_it_is_the_same_text_and_no_other_element(name):
    parser = _Texts()
    parser.feed(str(marked(name)))
    parser.close()
    assert parser.text == shown(name)
    assert set(parser.tags) <= {("bdi", "name"), ("span", "odd")}
