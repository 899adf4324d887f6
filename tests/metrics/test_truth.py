"""The truth and a grouping as files, and which path means which."""

import csv
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samecam.errors import SamecamError
from samecam.metrics import match_paths, read_clusters, read_columns, read_models, read_truth

ODD = 'é/a\r\nb,"c" \udcff\'.jpg'


@pytest.fixture
def file(tmp_path):
    def write(content):
        path = tmp_path / "t.csv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def test_truth_is_read_in_order(file):
    path = file("path,camera\nb.jpg,two\na.jpg,one\nb.jpg,two\n")
    assert list(read_truth(path).items()) == [("b.jpg", "two"), ("a.jpg", "one")]


@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_any_line_end_byte_order_mark_and_further_columns(file, start, end):
    lines = [b"camera,note,path", b'one,"x, y",a.jpg', b"", b"two,,b.jpg"]
    assert read_truth(file(start + end.join(lines))) == {"a.jpg": "one", "b.jpg": "two"}


def test_odd_names_come_back_as_they_were(tmp_path):
    path = tmp_path / "t.csv"
    with open(path, "w", encoding="utf-8", errors="surrogateescape", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerows([["path", "camera"], [ODD, "c\udcfe\n"], [" x ", "y"]])
    assert b"\xff" in path.read_bytes()
    assert read_truth(path) == {ODD: "c\udcfe\n", " x ": "y"}


def test_models_may_be_missing(file):
    assert read_models(file("path,camera\na,one\n")) == {}
    path = file("model,path,camera\nX 1,a,one\n,b,one\nX 1,a,one\n")
    assert read_models(path) == {"a": "X 1"}
    with pytest.raises(SamecamError, match="gives 'a' two models, 'X' and 'Y': name one"):
        read_models(file("path,camera,model\na,one,X\na,one,Y\n"))
    with pytest.raises(SamecamError, match="more than one column 'model'"):
        read_models(file("path,model,model\na,X,Y\n"))


def test_clusters_are_whole_numbers(file):
    path = file("path,sha256,cluster\na,00,0\nb,01,-1\na,00,0\n")
    assert read_clusters(path) == {"a": 0, "b": -1}
    assert read_clusters(file("path,cluster\n")) == {}


def test_columns_are_given_with_their_lines(file):
    path = file('a,b,c\n1,2,3\n\n"4\n4",5,6\n')
    assert read_columns(path, ("c", "a")) == [(2, ["3", "1"]), (5, ["6", "4\n4"])]


BAD = [
    (read_truth, "", "is empty"),
    (read_truth, "\n\n", "is empty"),
    (read_truth, "path,camera\n", "names no photo"),
    (read_truth, "path;camera\na;b\n", "no column 'path'.*'path;camera'"),
    (read_truth, "path,model\na,b\n", "no column 'camera'"),
    (read_truth, "path,camera,path\na,b,c\n", "more than one column 'path'"),
    (read_truth, "path,camera\na,one\na,two\n", "'a' two cameras, 'one' and 'two'"),
    (read_truth, "path,camera\na,b.jpg,one\n", "3 fields in line 2 but 2 columns"),
    (read_truth, "path,camera\na\n", "1 fields in line 2"),
    (read_truth, "path,camera\na,\n", "no camera in line 2"),
    (read_truth, "path,camera\n,one\n", "no path in line 2"),
    (read_truth, 'path,camera\n"a,one\n', "as CSV"),
    (read_clusters, "path,camera\na,b\n", "no column 'cluster'"),
    (read_clusters, "path,cluster\na,1\na,2\n", "'a' into two clusters, 1 and 2"),
    (read_clusters, "path,cluster\na,1.0\n", "cluster '1.0' in line 2"),
    (read_clusters, "path,cluster\na,-2\n", "cluster '-2' in line 2"),
    (read_clusters, "path,cluster\na,9223372036854775808\n", "cluster '9223"),
    (read_clusters, "path,cluster\na,\n", "no cluster in line 2"),
]


@pytest.mark.parametrize(("read", "text", "words"), BAD)
def test_a_bad_file_gets_an_error_that_names_it(file, read, text, words):
    with pytest.raises(SamecamError, match=rf"(?s)t\.csv.*{words}.*\.$"):
        read(file(text))


def test_a_file_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(SamecamError, match=r"none\.csv' cannot be read: No such file"):
        read_truth(tmp_path / "none.csv")
    with pytest.raises(SamecamError, match=r"cannot be read: Is a directory"):
        read_clusters(tmp_path)


MATCHES = [
    # paths, truth, partners
    ("a/1 b/2", "a/1 b/2", {"a/1": "a/1", "b/2": "b/2"}),
    ("1 2", "images/1 images/2", {"1": "images/1", "2": "images/2"}),
    ("/home/x/a/1", "a/1 b/1", {"/home/x/a/1": "a/1"}),
    ("p/a/1 p/b/1", "q/a/1 q/b/1", {"p/a/1": "q/a/1", "p/b/1": "q/b/1"}),
    # whole parts only
    ("xa/1", "a/1 q/xa/1", {"xa/1": "q/xa/1"}),
    ("x1", "1", {}),
    ("1/a", "1/b", {}),
    # equal paths win over a longer path that ends alike
    ("a/1", "b/a/1 c/a/1 a/1", {"a/1": "a/1"}),
    ("a/1 b/a/1", "a/1", {"a/1": "a/1"}),
    ("1 x/1", "1", {"1": "1"}),
    # a longer ending takes the truth; the other path is not in it
    ("a/1 b/1", "q/a/1", {"a/1": "q/a/1"}),
    ("a/1 b/1 c/1", "q/a/1 q/b/1", {"a/1": "q/a/1", "b/1": "q/b/1"}),
    # a photo of the truth that is not there
    ("a/1", "q/a/1 q/b/1", {"a/1": "q/a/1"}),
    ("", "a", {}),
    ("a", "", {}),
]  # fmt: skip


@pytest.mark.parametrize(("paths", "truth", "partners"), MATCHES)
def test_the_longest_common_ending_decides(paths, truth, partners):
    for ours in itertools.permutations(paths.split()):
        for theirs in itertools.permutations(truth.split()):
            result = match_paths(ours, theirs)
            assert result == partners
            assert list(result) == [path for path in ours if path in partners]


AMBIGUOUS = [
    ("1", "a/1 b/1", ["'1'", "'a/1'", "'b/1'"]),
    ("c/1", "a/1 b/1", ["'c/1'", "'a/1'", "'b/1'"]),
    ("a/1", "p/a/1 q/a/1 b/1", ["'a/1'", "'p/a/1'", "'q/a/1'"]),
    ("a/1 b/1", "1", ["'a/1'", "'b/1'", "'1'"]),
    ("a/1 b/1", "c/1", ["'a/1'", "'b/1'", "'c/1'"]),
    # b/1 is either c/1 or not in the truth: not guessed
    ("a/1 b/1", "a/1 c/1", ["'b/1'", "'a/1'", "'c/1'"]),
    ("a/1 b/1", "p/a/1 q/a/1", ["'p/a/1'", "'q/a/1'"]),
]


@pytest.mark.parametrize(("paths", "truth", "named"), AMBIGUOUS)
def test_what_fits_equally_well_is_an_error_that_names_the_paths(paths, truth, named):
    for ours in itertools.permutations(paths.split()):
        for theirs in itertools.permutations(truth.split()):
            with pytest.raises(SamecamError) as error:
                match_paths(ours, theirs)
            assert all(name in str(error.value) for name in named)


def test_odd_names_and_a_path_given_twice():
    assert match_paths([ODD, ODD], [f"x/{ODD}", f"x/{ODD}"]) == {ODD: f"x/{ODD}"}
    deep = "d/" * 5000 + "1"
    assert match_paths([deep, "1"], [deep]) == {deep: deep}
    assert match_paths([f"a/{deep}", f"b/{deep}"], [f"q/b/{deep}"]) == {f"b/{deep}": f"q/b/{deep}"}


def common(one, other):
    """Parts shared from the end; equal paths share one more."""
    pairs = zip(reversed(one.split("/")), reversed(other.split("/")), strict=False)
    return len(list(itertools.takewhile(lambda p: p[0] == p[1], pairs))) + (one == other)


def slow_match(paths, truth):
    """The rule as it is written down, by comparing all with all; None: ambiguous."""
    share = {(p, t): common(p, t) for p in paths for t in truth}
    best_p = {p: max((share[p, t] for t in truth), default=0) for p in paths}
    best_t = {t: max((share[p, t] for p in paths), default=0) for t in truth}
    of_p = {p: [t for t in truth if share[p, t] == best_p[p] > 0] for p in paths}
    of_t = {t: [p for p in paths if share[p, t] == best_t[t] > 0] for t in truth}
    partner = {p: of_p[p][0] for p in paths if len(of_p[p]) == 1 and of_t[of_p[p][0]] == [p]}
    taken = {t: p for p, t in partner.items()}
    for p in paths:
        if p in partner or not best_p[p]:
            continue
        if not all(t in taken and share[taken[t], t] > share[p, t] for t in of_p[p]):
            return None
    return partner


part = st.sampled_from("ab")
some_paths = st.lists(
    st.lists(part, max_size=3).flatmap(lambda d: part.map(lambda n: "/".join([*d, n]))),
    max_size=6, unique=True,
)  # fmt: skip


@given(some_paths, some_paths)
def test_agrees_with_comparing_all_with_all(paths, truth):
    expected = slow_match(paths, truth)
    if expected is None:
        with pytest.raises(SamecamError):
            match_paths(paths, truth)
    else:
        assert match_paths(paths, truth) == expected


@pytest.mark.parametrize(
    "cameras", [300, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 100_000))]
)
def test_a_hundred_thousand_paths(cameras):
    paths = [f"cam{k % cameras}/DSC_{k // cameras}.jpg" for k in range(100_000)]
    truth = [f"photos/{path}" for path in reversed(paths)]
    partners = match_paths(paths, truth)
    assert len(partners) == 100_000
    assert all(partners[path] == f"photos/{path}" for path in paths)
