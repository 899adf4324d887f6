"""The exact solver's GPU code, run by PyTorch on the processor, against the CPU's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samecam.errors import SamecamError
from samecam.represent import kkt_violation, objective, represent
from tests.represent.grams import NULL, fingerprints, small_gram, weak_gram

torch = pytest.importorskip("torch")

from samecam.represent.gpu import _descent, _exact, _newton  # noqa: E402
from tests.devices import DEVICE  # noqa: E402

pytestmark = pytest.mark.torch


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Small tensors: threads would only wait for one another."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def both(G, gamma, **options):
    return represent(G, gamma, **options), represent(G, gamma, device=DEVICE, **options)


def agree(G, gamma, nonnegative=True, memory=None):
    """Solve on both; the certificate and the agreement that every Gram must give."""
    host = represent(G, gamma, nonnegative=nonnegative)
    C, report = represent(G, gamma, nonnegative=nonnegative, device=DEVICE, memory=memory)
    violation = kkt_violation(G, C, gamma, nonnegative).max(initial=0)
    limit = 1e-6 * np.abs(G).max(initial=0)
    rounding = 4e-7 if G.dtype == np.float32 else 1e-15
    assert report.converged
    assert violation <= limit + rounding
    assert report.kkt_violation == pytest.approx(violation, abs=rounding)
    assert report.objective == pytest.approx(objective(G, C, gamma), rel=1e-6)
    assert report.objective == pytest.approx(host.report.objective, rel=1e-6, abs=1e-12)
    assert C.dtype == G.dtype
    assert C.has_sorted_indices
    assert (C.data != 0).all()
    assert not C.diagonal().any()
    assert not nonnegative or (C.data > 0).all()
    return host.coefficients, C


@st.composite
def grams(draw):
    """Weak correlations, subspaces, copies of photos, and rows without a friend."""
    seed = draw(st.integers(0, 2**20))
    kind = draw(st.sampled_from(["weak", "cameras", "copies", "lonely"]))
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    n = draw(st.integers(2, 90))
    if kind == "cameras":
        return small_gram(dtype, n_cameras=4, per_camera=max(1, n // 4), seed=seed)
    G = weak_gram(n, mean=draw(st.sampled_from([0.01, 0.1])), seed=seed, dtype=dtype)
    if kind == "copies":
        X = fingerprints(3, 6, seed=seed)
        X = np.vstack([X, np.repeat(X[: draw(st.integers(1, 4))], 3, axis=0)])
        return (X @ X.T).astype(dtype)
    if kind == "lonely":
        G[n // 2] = G[:, n // 2] = 0
        G[n // 2, n // 2] = 1
    return G


@given(
    grams(),
    st.booleans(),
    st.floats(0.05, 1.2),
    st.sampled_from([None, 40_000, 2**20]),
)
def test_same_solution_as_on_the_cpu(G, nonnegative, share, memory):
    """Any Gram, γ from a twentieth of its largest correlation to above it, little memory."""
    off = np.abs(G - np.diag(np.diag(G))).max()
    gamma = max(share * off, 1e-3)
    host, device = agree(G, gamma, nonnegative, memory)
    if not np.isclose(off, 1):  # copies: which of them is taken is not determined
        assert abs(host - device).max() < 2e-4
    if gamma > off:
        assert device.nnz == 0


@pytest.mark.parametrize("nonnegative", [True, False])
@pytest.mark.parametrize(("n", "multiple"), [(300, 0.2), (500, 2), (700, 5)])
def test_supports_agree_up_to_tiny_coefficients(n, multiple, nonnegative):
    host, device = agree(weak_gram(n), multiple * NULL, nonnegative)
    off = abs(host - device)
    assert off.max() < 5e-6
    only = (host != 0).astype(np.int8) - (device != 0).astype(np.int8)
    rows, columns = only.nonzero()
    assert all(abs(off[i, j]) < 5e-6 for i, j in zip(rows, columns, strict=True))


@pytest.mark.parametrize("n", [0, 1, 2])
@pytest.mark.parametrize("solver", ["exact", "admm", "authors"])
def test_smallest_collections(n, solver):
    G = np.full((n, n), 0.5)
    np.fill_diagonal(G, 1)
    host, device = both(G, 0.1, solver=solver)
    assert device.coefficients.shape == (n, n)
    assert device.report.converged
    np.testing.assert_allclose(
        device.coefficients.toarray(), host.coefficients.toarray(), atol=1e-6
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("copies", [2, 20])
def test_duplicated_photos(copies, dtype):
    X = fingerprints(n_pixels=20_000, strength=0.05, per_camera=4)
    X = np.vstack([X, np.repeat(X[:1], copies - 1, axis=0)])
    _, C = agree((X @ X.T).astype(dtype), 0.05)
    same = np.r_[0, len(X) - copies + 1 : len(X)]
    own = C.toarray()[np.ix_(same, same)]
    np.testing.assert_allclose(own.sum(axis=1), 0.95, atol=1e-5)


def test_what_single_precision_cannot_is_done_in_double(monkeypatch):
    """Rows left over after the first rounds descend in float64, and are certified."""
    monkeypatch.setattr(_exact, "SINGLE", 0)
    seen = set()
    plain = _descent.descend

    def descend(grams, target, *rest):
        seen.add(target.dtype)
        return plain(grams, target, *rest)

    monkeypatch.setattr(_descent, "descend", descend)
    host, device = agree(weak_gram(120), NULL)
    assert seen == {torch.float64}
    assert abs(host - device).max() < 5e-6


def test_nearly_white_frames():
    rng = np.random.default_rng(0)
    X = 1 + 0.1 * rng.standard_normal((20, 500))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    agree((X @ X.T).astype(np.float32), 0.002)


def test_gathered_and_whole_grams_give_one_answer(monkeypatch):
    G = weak_gram(200, dtype=np.float64)
    kinds = []
    for share in (1, 10**6):  # all sets are gathered, none is
        monkeypatch.setattr(_exact, "LARGE", share)
        monkeypatch.setattr(_descent, "descend", _noting(kinds, _descent.descend))
        kinds.append(represent(G, NULL, device=DEVICE, tol=1e-10).coefficients)
        monkeypatch.undo()
    gathered, whole = (c for c in kinds if not isinstance(c, str))
    assert set(map(str, filter(lambda k: isinstance(k, str), kinds))) == {"Gathered", "Whole"}
    assert abs(gathered - whole).max() < 1e-9


def _noting(kinds, plain):
    def descend(grams, *rest):
        kinds.append(type(grams).__name__)
        return plain(grams, *rest)

    return descend


@pytest.mark.parametrize("memory", [60_000, 200_000, 3_000_000])
def test_blocks_do_not_show(memory):
    """Rows cut into blocks and batches by the memory: the same up to rounding."""
    G = weak_gram(150, dtype=np.float64)
    usual = represent(G, NULL, device=DEVICE).coefficients
    cut = represent(G, NULL, device=DEVICE, memory=memory).coefficients
    assert abs(usual - cut).max() < 1e-13
    again = represent(G, NULL, device=DEVICE, memory=memory).coefficients
    np.testing.assert_array_equal(cut.toarray(), again.toarray())


def test_batches_stay_within_the_memory(monkeypatch):
    """Every gathered Gram, and every batch on the whole one, fits into what is left."""
    G = weak_gram(400, mean=0.05)
    room = 2_000_000
    sizes = []
    plain = _descent.descend

    def descend(grams, target, *rest):
        own = grams.grams.nbytes if isinstance(grams, _descent.Gathered) else 0
        sizes.append(own + target.nbytes)
        return plain(grams, target, *rest)

    monkeypatch.setattr(_descent, "descend", descend)
    assert represent(G, NULL, device=DEVICE, memory=room).report.converged
    assert len(sizes) > 4
    assert max(sizes) <= room / 2


def test_too_little_memory_is_an_error():
    with pytest.raises(SamecamError, match=r"1000 B is too small .* 38 kB or more"):
        represent(weak_gram(100), NULL, device=DEVICE, memory=1000)


def test_gives_up_honestly():
    _, report = represent(weak_gram(60, mean=0.2), NULL, max_iter=1, tol=1e-14, device=DEVICE)
    assert not report.converged
    assert report.kkt_violation > 1e-14


def test_tighter_than_the_default():
    G = weak_gram(150, dtype=np.float64)
    report = represent(G, NULL, tol=1e-13, device=DEVICE).report
    assert report.converged
    assert report.kkt_violation < 1e-13


@pytest.mark.parametrize("nonnegative", [True, False])
def test_bound_of_the_largest_eigenvalue(nonnegative):
    rng = np.random.default_rng(0)
    A = rng.standard_normal((5, 12, 12))
    A = A @ A.transpose(0, 2, 1) if nonnegative else A + A.transpose(0, 2, 1)
    grams = _descent.Gathered(torch.from_numpy(A), 10_000)
    valid = torch.ones((5, 12), dtype=torch.float64)
    valid[2, 7:] = 0
    bound = _descent.largest_eigenvalue(grams, valid).numpy()
    for b in range(5):
        inside = valid[b].numpy() > 0
        part = A[b][np.ix_(inside, inside)]
        assert np.abs(np.linalg.eigvalsh(part)).max() <= bound[b]
        assert bound[b] <= np.abs(part).sum(axis=1).max() * 1.0001


def _problem(nonnegative, dtype=torch.float64):
    """All rows of a Gram, their solution, and the rule that it meets."""
    G = weak_gram(60, mean=0.1, dtype=np.float64)
    exact = represent(G, NULL, nonnegative=nonnegative, tol=1e-12).coefficients.toarray()
    valid = ~torch.eye(60, dtype=torch.bool)
    rule = _descent.Rule(NULL, nonnegative, 1e-6 if dtype == torch.float32 else 1e-9, 10)
    G, exact = torch.from_numpy(G).to(dtype), torch.from_numpy(exact).to(dtype)
    return _descent.Whole(G, dtype, 2**17), G, exact, valid, rule


@pytest.mark.parametrize("nonnegative", [True, False])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_newton_finishes_a_rough_guess(nonnegative, dtype):
    """Coefficients off by a tenth, small ones missing: the solution, at once."""
    whole, G, exact, valid, rule = _problem(nonnegative, dtype)
    noise = torch.from_numpy(np.random.default_rng(0).uniform(0.9, 1.1, G.shape)).to(dtype)
    rough = torch.where(exact.abs() > 0.002, exact * noise, 0.0)
    assert (
        _descent._violations(
            _descent._State(rough, rough, rough @ G, rough @ G, None, G, valid, None), rule
        ).min()
        > rule.tol
    )
    result, good = _newton.finish(whole, G, rough, valid, rule)
    assert good.all()
    assert (result - exact).abs().max() < (1e-5 if dtype == torch.float32 else 1e-8)


def test_newton_leaves_what_it_cannot_finish(monkeypatch):
    """One step from a support that is wrong finishes few rows, and changes no other."""
    whole, G, exact, valid, rule = _problem(True)
    monkeypatch.setattr(_newton, "_STEPS", 1)
    wrong = torch.where((exact == 0) & valid & (G > 2 * NULL), 0.01, exact)
    wrong[7] = exact[7]
    result, good = _newton.finish(whole, G, wrong, valid, rule)
    assert good[7]
    assert not good.all()
    torch.testing.assert_close(result[~good], wrong[~good], rtol=0, atol=0)


def test_newton_with_copies_of_photos():
    """A support whose Gram is singular is no obstacle, nor is one that is indefinite."""
    X = fingerprints(3, 4, strength=0.2)
    X = np.vstack([X, X[:3], X[:3]])
    G = torch.from_numpy(X @ X.T)
    valid = ~torch.eye(len(G), dtype=torch.bool)
    rule = _descent.Rule(0.01, True, 1e-7, 10)
    exact = represent(G.numpy(), 0.01, tol=1e-10).coefficients.toarray()
    start = torch.from_numpy(exact * 1.02)
    whole = _descent.Whole(G, torch.float64, 2**20)
    _, good = _newton.finish(whole, G, start, valid, rule)
    assert good.all()
    indefinite = _descent.Whole(G - 2 * torch.eye(len(G)), torch.float64, 2**20)
    result, good = _newton.finish(indefinite, G, start, valid, rule)
    assert not good.any()
    torch.testing.assert_close(result, start)


def test_slow_rows_are_finished_by_newton(monkeypatch):
    """White frames need hundreds of iterations without it, and the answer is the same."""
    rng = np.random.default_rng(0)
    X = 1 + 0.1 * rng.standard_normal((20, 500))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    G = torch.from_numpy(X @ X.T)
    valid = ~torch.eye(20, dtype=torch.bool)
    whole = _descent.Whole(G, torch.float64, 2**20)
    rule = _descent.Rule(0.002, True, 1e-9, 20_000)
    quick = _descent.descend(whole, G, torch.zeros_like(G), valid, rule)
    monkeypatch.setattr(
        _descent, "finish", lambda _g, _t, start, *_: (start, start[:, 0] > torch.inf)
    )
    slow = _descent.descend(whole, G, torch.zeros_like(G), valid, rule)
    assert quick.iterations.max() <= 80 < np.median(slow.iterations)
    torch.testing.assert_close(quick.values, slow.values, rtol=0, atol=1e-5)
