"""What cannot be done is refused with an error that names the argument."""

import numpy as np
import pytest

from samecam.cluster import SSC, SSCNC
from samecam.errors import SamecamError
from samecam.simulate import fingerprints, gram
from samecam.store import MemoryStore

pytestmark = pytest.mark.parametrize("Method", [SSC, SSCNC])


@pytest.fixture(scope="module")
def X():
    return fingerprints([10, 10], 0.3, 256).X


@pytest.fixture(scope="module")
def matrix():
    return gram([10, 10], 0.3).gram


def changed(array, at, value):
    result = array.copy()
    result[at] = value
    return result


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_not_finite(Method, X, matrix, value):
    with pytest.raises(ValueError, match="NaN|infinity"):
        Method().fit(changed(X, (3, 7), value))
    with pytest.raises(ValueError, match="NaN|infinity"):
        Method(metric="precomputed").fit(changed(matrix, (3, 7), value))


@pytest.mark.filterwarnings("ignore:invalid value encountered")
@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("n", [5, 20])
def test_not_finite_in_a_store(Method, X, value, n):
    store = MemoryStore(256)
    for i, row in enumerate(changed(X, (3, 7), value)[:n]):
        store.add(f"photo{i:02d}", row)
    store.commit()
    with pytest.raises(ValueError, match="'photo03' contains NaN or infinite values"):
        Method().fit(store)


@pytest.mark.parametrize("part", [np.s_[:, :12], np.s_[:12], np.s_[:3, :2]])
@pytest.mark.parametrize("gamma", ["auto", "cost", 0.004])
def test_not_square(Method, matrix, part, gamma):
    with pytest.raises(ValueError, match=r"X has shape .* give the \(n, n\) correlations"):
        Method(metric="precomputed", gamma=gamma).fit(matrix[part])


@pytest.mark.parametrize("gamma", ["auto", "cost", 0.004])
def test_not_symmetric(Method, matrix, gamma):
    with pytest.raises(ValueError, match="not symmetric"):
        Method(metric="precomputed", gamma=gamma).fit(changed(matrix, (0, 1), 0.9))


@pytest.mark.parametrize("gamma", ["auto", "cost", 0.004])
def test_not_of_unit_diagonal(Method, matrix, gamma):
    with pytest.raises(ValueError, match=r"gram\[4, 4\] is 2, not 1"):
        Method(metric="precomputed", gamma=gamma).fit(changed(matrix, (4, 4), 2))


def test_no_photo(Method, X, matrix):
    with pytest.raises(ValueError, match="0 sample"):
        Method().fit(X[:0])
    with pytest.raises(ValueError, match="0 sample"):
        Method(metric="precomputed").fit(matrix[:0, :0])
    with pytest.raises(ValueError, match="holds no fingerprint"):
        Method().fit(MemoryStore(256))


@pytest.mark.parametrize("gamma", [0, -0.001, np.nan, np.inf, "some", "", None, [0.1]])
def test_gamma(Method, X, gamma):
    with pytest.raises(ValueError, match="^gamma is .*give a positive number"):
        Method(gamma=gamma).fit(X)


def test_published_gamma_needs_the_size(Method, matrix):
    with pytest.raises(ValueError, match="give n_pixels"):
        Method(gamma="paper", metric="precomputed").fit(matrix)
    Method(gamma="paper", metric="precomputed", n_pixels=512**2).fit(matrix)


@pytest.mark.parametrize("count", [0, -2, 2.5, "3"])
def test_number_of_groups(Method, X, count):
    with pytest.raises(ValueError, match="n_clusters is .*choose 1 or more"):
        Method(n_clusters=count).fit(X)


def test_more_groups_than_images(Method, X):
    with pytest.raises(ValueError, match="n_clusters is 21 but there are 20 images"):
        Method(n_clusters=21).fit(X)
    assert Method(n_clusters=20, gamma=1e-3).fit(X).n_clusters_ == 20


@pytest.mark.parametrize("name", ["metric", "solver", "scaling", "eigengap"])
def test_unknown_word(Method, X, name):
    with pytest.raises(ValueError, match=f"^{name} is 'nonsense'; choose") as caught:
        Method(**{name: "nonsense"}).fit(X)
    assert caught.value.parameter == name


def test_device(Method, X):
    with pytest.raises(ValueError, match="^device is 'gpu': choose auto, cpu, .*[^.]$") as caught:
        Method(device="gpu").fit(X)
    assert caught.value.parameter == "device"


@pytest.mark.parametrize(
    ("name", "value"),
    [("null_scale", 0), ("null_scale", -1.0), ("null_scale", np.nan), ("n_pixels", 0)],
)
def test_number_out_of_range(Method, X, name, value):
    with pytest.raises(ValueError, match=f"^{name} is {value}; give") as caught:
        Method(**{name: value}).fit(X)
    assert caught.value.parameter == name


def test_too_little_memory(Method, X):
    with pytest.raises(SamecamError, match="20 photos take .* memory budget is 1000 B: raise it"):
        Method(memory=1000).fit(X)


def test_a_store_is_no_matrix(Method, X):
    store = MemoryStore(256)
    store.add("a", X[0])
    store.commit()
    with pytest.raises(ValueError, match="'precomputed' but X is a store"):
        Method(metric="precomputed").fit(store)


def test_parameters_are_looked_at_first(Method):
    """A wrong word is not found out after an hour of correlating."""
    with pytest.raises(ValueError, match="solver is"):
        Method(solver="nonsense").fit("never looked at")
