"""What the GPU solvers take, and their ADMM: the same as on the processor."""

import numpy as np
import pytest

from samecam.errors import SamecamError
from samecam.represent import represent
from samecam.represent._lasso import LassoProblem
from tests.devices import DEVICE
from tests.represent.grams import NULL, weak_gram

torch = pytest.importorskip("torch")

from samecam.represent.gpu import _exact, _gram  # noqa: E402
from tests.represent.test_gpu import both  # noqa: E402

pytestmark = pytest.mark.torch


@pytest.mark.parametrize("nonnegative", [True, False])
@pytest.mark.parametrize("solver", ["admm", "authors"])
@pytest.mark.parametrize("relaxation", [1.0, 1.6])
def test_iterations_are_those_of_the_cpu(solver, nonnegative, relaxation):
    G = weak_gram(120, dtype=np.float64)
    options = {"solver": solver, "nonnegative": nonnegative, "relaxation": relaxation, "eta": 0.8}
    host, device = both(G, NULL, **options)
    assert device.report.iterations == host.report.iterations
    assert device.report.solver == solver
    assert abs(host.coefficients - device.coefficients).max() < 1e-9
    assert device.report.kkt_violation == pytest.approx(host.report.kkt_violation, abs=1e-9)
    assert device.report.objective == pytest.approx(host.report.objective, rel=1e-9)


def test_a_tensor_may_be_given():
    G = weak_gram(80)
    expected = represent(G, NULL, device=DEVICE).coefficients
    C, report = represent(torch.from_numpy(G), NULL, device=DEVICE)
    np.testing.assert_array_equal(C.toarray(), expected.toarray())
    assert report.solver == "exact"


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("solver", ["exact", "admm"])
def test_input_is_not_modified_and_may_be_read_only(order, solver, recwarn):
    G = np.asarray(weak_gram(60), order=order)
    before = G.copy()
    writable = represent(G, NULL, device=DEVICE, solver=solver).coefficients
    np.testing.assert_array_equal(G, before)
    G.flags.writeable = False
    represent(G, NULL, device=DEVICE, solver=solver)
    np.testing.assert_array_equal(G, before)
    assert writable.nnz
    assert not [w for w in recwarn if "writable" in str(w.message)]


def _with(i, j, value, mirror=True):
    G = weak_gram(30)
    G[i, j] = value
    if mirror:
        G[j, i] = value
    return torch.from_numpy(G)


@pytest.mark.parametrize(
    ("gram", "message"),
    [
        (torch.ones(3, 4), r"gram has shape \(3, 4\): give the square"),
        (torch.ones(3), r"gram has shape \(3,\)"),
        (_with(2, 5, np.nan), r"gram\[2, 5\] is nan: leave out"),
        (_with(2, 5, -np.inf), r"gram\[2, 5\] is -inf: leave out"),
        (_with(2, 5, 0.3, mirror=False), "gram is not symmetric, .* by up to 0.289"),
        (_with(4, 4, 2.0), r"gram\[4, 4\] is 2, not 1: scale"),
        (torch.eye(2, dtype=torch.complex64), "gram has dtype torch.complex64: give real"),
    ],
)
def test_bad_tensors_are_refused_as_on_the_cpu(gram, message):
    with pytest.raises(ValueError, match=message) as caught:
        represent(gram, 0.1, device=DEVICE)
    assert not str(caught.value).endswith(".")


def test_asymmetry_is_found_in_any_block(monkeypatch):
    monkeypatch.setattr(_gram, "ROWS", 16)
    for i, j in [(90, 3), (3, 90), (20, 18)]:
        G = torch.from_numpy(weak_gram(100))
        G[i, j] += 0.01
        with pytest.raises(ValueError, match="not symmetric"):
            _gram.check_gram(G)


def reduced(way):
    """Ask PyTorch for less precision, in one of the ways it has."""
    if way == "old":
        torch.set_float32_matmul_precision("high")
    else:
        torch.backends.cuda.matmul.fp32_precision = "tf32"


def precisions():
    backends = (torch.backends.cuda.matmul, torch.backends.mkldnn.matmul)
    return [backend.fp32_precision for backend in backends]


@pytest.mark.skipif(
    not hasattr(torch.backends.cuda.matmul, "fp32_precision"), reason="an older PyTorch"
)
@pytest.mark.parametrize("way", ["old", "new"])
@pytest.mark.parametrize("solver", ["exact", "admm"])
def test_matrix_products_are_of_full_precision(solver, way, monkeypatch):
    """Whatever was set before, which is there again afterwards."""
    seen = []
    for name in ("addmm", "matmul"):
        plain = getattr(torch, name)

        def noting(*args, plain=plain, **options):
            seen.append(set(precisions()))
            return plain(*args, **options)

        monkeypatch.setattr(torch, name, noting)
    before = precisions()
    reduced(way)
    asked = precisions()
    try:
        represent(weak_gram(20), NULL, device=DEVICE, solver=solver)
        assert precisions() == asked
        assert "tf32" in asked
    finally:
        torch.backends.cuda.matmul.fp32_precision, torch.backends.mkldnn.matmul.fp32_precision = (
            before
        )
    assert seen
    assert all(precision == {"ieee"} for precision in seen)


def test_a_missing_device_is_an_error():
    if torch.cuda.is_available():
        pytest.skip("has a GPU")
    with pytest.raises(SamecamError, match="device is 'cuda'"):
        represent(weak_gram(20), NULL, device="cuda")


def test_batches_hold_every_row_with_a_set_once():
    G = torch.from_numpy(weak_gram(100))
    desk = _exact.Workspace(LassoProblem(G, NULL, True, 1e-6, 10), G, 60_000)
    sizes = np.random.default_rng(0).integers(0, 60, 100)
    parts = _exact.batches(desk, sizes, torch.float32)
    taken = np.concatenate([part for part, _ in parts])
    assert sorted(taken) == list(np.flatnonzero(sizes))
    for part, gathered in parts:
        assert sizes[part[0]] == sizes[part].max()
        assert not gathered or 4 * (sizes[part].max() ** 2) * len(part) <= 60_000
