"""Every file is listed once under a stable name, whatever it is called."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samecam.errors import SamecamError
from samecam.photos import scan, would_find


def make(root, *names):
    for name in names:
        file = os.path.join(os.fsencode(root), os.fsencode(name))
        os.makedirs(os.path.dirname(file), exist_ok=True)
        with open(file, "wb") as stream:
            stream.write(b"x")


def paths(*arguments):
    return [f.path for f in scan(arguments)]


def test_folders_are_entered_and_sorted(tmp_path):
    make(tmp_path, "b.jpg", "a/z.jpg", "a/b/c.txt", ".hidden.jpg", "x.jpg/inside.jpg")
    files = scan([tmp_path])
    assert [f.path for f in files] == [
        ".hidden.jpg",
        "a/b/c.txt",
        "a/z.jpg",
        "b.jpg",
        "x.jpg/inside.jpg",
    ]
    assert all(os.path.isabs(f.file) and os.path.isfile(f.file) for f in files)


ODD = [
    "new\nline.jpg",
    "'quo\"te.jpg",
    "<script>.jpg",
    "a,b;c.jpg",
    "@at.jpg",
    "-o.jpg",
    "*[1].jpg",
]


def test_odd_names_are_ordinary(tmp_path):
    make(tmp_path, *ODD, b"not\xffutf8\xfe.jpg", "ä/ß.jpg")
    assert paths(tmp_path) == sorted([*ODD, os.fsdecode(b"not\xffutf8\xfe.jpg"), "ä/ß.jpg"])
    assert paths(tmp_path / "*[1].jpg") == ["*[1].jpg"]


def test_link_loops_end_and_real_folders_win(tmp_path):
    make(tmp_path, "real/one.jpg")
    (tmp_path / "real" / "up").symlink_to(tmp_path)
    (tmp_path / "a_link").symlink_to(tmp_path / "real")
    (tmp_path / "self").symlink_to(tmp_path / "self")
    (tmp_path / "dangling.jpg").symlink_to(tmp_path / "gone.jpg")
    assert paths(tmp_path) == ["dangling.jpg", "real/one.jpg", "self"]


def test_links_out_of_the_tree_are_followed(tmp_path):
    make(tmp_path, "in/a.jpg", "out/b.jpg")
    (tmp_path / "in" / "link").symlink_to(tmp_path / "out")
    (tmp_path / "in" / "file.jpg").symlink_to(tmp_path / "out" / "b.jpg")
    assert paths(tmp_path / "in") == ["a.jpg", "file.jpg", "link/b.jpg"]


def test_one_file_has_its_base_name(tmp_path):
    make(tmp_path, "a/b.jpg")
    assert paths(tmp_path / "a" / "b.jpg") == ["b.jpg"]


def test_several_arguments_are_prefixed_by_their_base_names(tmp_path):
    make(tmp_path, "p/one/x.jpg", "p/two/x.jpg", "lone.jpg")
    assert paths(tmp_path / "p/one", tmp_path / "p/two", tmp_path / "lone.jpg") == [
        "lone.jpg",
        "one/x.jpg",
        "two/x.jpg",
    ]


def test_equal_base_names_get_their_parents(tmp_path):
    make(tmp_path, "p/DCIM/x.jpg", "q/DCIM/x.jpg", "p/i.jpg", "q/i.jpg")
    assert paths(tmp_path / "p/DCIM", tmp_path / "q/DCIM") == ["p/DCIM/x.jpg", "q/DCIM/x.jpg"]
    assert paths(tmp_path / "p/i.jpg", tmp_path / "q/i.jpg") == ["p/i.jpg", "q/i.jpg"]
    assert paths(tmp_path / "p/DCIM", tmp_path / "p/DCIM") == ["DCIM/x.jpg"]


def test_patterns(tmp_path, monkeypatch):
    make(tmp_path, "a/1.jpg", "a/2.png", "a/b/3.jpg")
    assert paths(tmp_path / "a" / "*.jpg") == ["1.jpg"]
    assert paths(tmp_path / "**" / "*.jpg") == ["a/1.jpg", "a/b/3.jpg"]
    monkeypatch.chdir(tmp_path)
    assert paths("a/?.*") == ["1.jpg", "2.png"]
    with pytest.raises(SamecamError, match="No file matches"):
        paths(tmp_path / "*.tif")


def test_lists(tmp_path, monkeypatch):
    make(tmp_path, "a/1.jpg", "a/b/2.jpg", "a/b/c/3.jpg", b"a/\xff.jpg")
    names = [b"a/1.jpg", b"a/b/2.jpg", b"", b"a/gone.jpg", b"a/\xff.jpg"]
    (tmp_path / "list.txt").write_bytes(b"\r\n".join(names))
    monkeypatch.chdir(tmp_path)
    assert paths("@list.txt") == ["1.jpg", "b/2.jpg", "gone.jpg", "\udcff.jpg"]
    with pytest.raises(SamecamError, match="cannot be read"):
        paths("@nolist.txt")
    (tmp_path / "@list.txt").write_bytes(b"a photo with an odd name")
    assert paths("@list.txt") == ["@list.txt"]


def test_a_folder_in_a_list_is_entered(tmp_path, monkeypatch):
    make(tmp_path, "a/1.jpg", "b/2.jpg")
    (tmp_path / "list.txt").write_text("a\nb/2.jpg\n")
    monkeypatch.chdir(tmp_path)
    assert paths("@list.txt") == ["a/1.jpg", "b/2.jpg"]
    assert would_find(["@list.txt"], str(tmp_path / "a" / "case")) == "@list.txt"
    assert would_find(["@list.txt"], str(tmp_path / "b" / "case")) is None


def test_no_two_files_share_a_path(tmp_path):
    make(tmp_path, "x/a/b.jpg", "y/a/b.jpg", "z/b.jpg", "u/a/b/c.jpg", "v/b/c.jpg", "v/a/c.jpg")
    for names in (["x/a", "y/a/b.jpg", "z/b.jpg"], ["u/a", "v/b", "v/a", "u/a/b", "x/a"]):
        files = scan([tmp_path / name for name in names])
        assert {f.file for f in files} == {
            f.file for name in names for f in scan([tmp_path / name])
        }
        assert len({f.path for f in files}) == len(files)


def test_recursive_patterns_do_not_run_in_circles(tmp_path):
    make(tmp_path, "a.jpg", "s/b.jpg", "s/t/c.png", "s/t/u/d.jpg")
    (tmp_path / "s" / "loop").symlink_to(tmp_path)
    assert paths(tmp_path / "**") == ["a.jpg", "s/b.jpg", "s/t/c.png", "s/t/u/d.jpg"]
    assert paths(tmp_path / "**" / "*.jpg") == ["a.jpg", "s/b.jpg", "s/t/u/d.jpg"]
    assert paths(tmp_path / "s" / "**" / "u" / "?.jpg") == ["t/u/d.jpg"]


def test_of_two_links_the_first_by_name_is_entered(tmp_path):
    make(tmp_path, "out/x.jpg")
    (tmp_path / "in" / "c").mkdir(parents=True)
    for name in ("in/b", "in/a", "in/c/d"):
        (tmp_path / name).symlink_to(tmp_path / "out")
    assert paths(tmp_path / "in") == ["a/x.jpg"]


def test_would_find(tmp_path, monkeypatch):
    make(tmp_path, "g/a.jpg")
    monkeypatch.chdir(tmp_path)
    for argument in ("g", "g/*", "g/**", "**", "*", "g/c*/**"):
        assert would_find([argument], "g/case") == argument
    for argument in ("g/a.jpg", "g/*.jpg", "**/*.jpg", "g/a*"):
        assert would_find([argument], "g/case") is None
    assert would_find(["g/*"], "h") is None


def test_a_list_may_begin_with_a_byte_order_mark(tmp_path, monkeypatch):
    make(tmp_path, "a.jpg")
    (tmp_path / "list.txt").write_bytes(b"\xef\xbb\xbfa.jpg\n")
    monkeypatch.chdir(tmp_path)
    assert [os.path.exists(f.file) for f in scan(["@list.txt"])] == [True]


def test_missing_and_no_arguments_are_errors(tmp_path):
    with pytest.raises(SamecamError, match="is not there"):
        paths(tmp_path / "nothing")
    with pytest.raises(SamecamError, match="No photos were named"):
        scan([])


NAME = st.binary(min_size=1, max_size=12).filter(
    lambda b: not set(b) & {0, 0x2F} and b not in (b".", b"..")
)


@given(names=st.sets(NAME, max_size=12))
def test_any_names_come_back_whole(tmp_path_factory, names):
    root = tmp_path_factory.mktemp("names")
    make(root, *names)
    assert {os.fsencode(f.path) for f in scan([root])} == names


def test_ten_thousand_names_that_differ_by_a_letter_take_little_memory(tmp_path):
    """A million names must not take a gigabyte: what a list keeps, and its peak."""
    import tracemalloc

    names = [f"photo {chr(0x4E00 + k)}.jpg" for k in range(10_000)]
    for name in names:
        (tmp_path / name).touch()
    scan([tmp_path])
    tracemalloc.start()
    try:
        files = scan([tmp_path])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert [item.path for item in files] == sorted(names)
    assert peak / len(names) < 800
