"""The configurations as printed, and the twins: sizes, distributions, what LS-SSC reaches."""

import hashlib
from dataclasses import replace

import numpy as np
import pytest

from samecam import datasets
from samecam.cluster import LargeScaleSSC
from samecam.errors import SamecamError
from samecam.metrics import read_truth, scores

TWINS = datasets.twins()


def test_tables_one_and_two():
    known = datasets.configurations()
    for name, cameras, models, images in [
        ("Ds5", 5, 5, 500), ("Ds20", 20, 20, 2000), ("Da5", 5, 5, 1089), ("Da10", 10, 10, 1954),
        ("Da15", 15, 15, 3031), ("Da20", 20, 20, 4186), ("Va5", 5, 5, 1041),
        ("Va10", 10, 10, 2110), ("Va15", 15, 15, 3208), ("Va20", 20, 20, 4435),
        ("Dsm10", 10, 2, 1000), ("Dam5", 5, 1, 855), ("Dam10", 10, 2, 2663),
        ("Dam15", 15, 3, 3558), ("Dam20", 20, 4, 4540), ("LDa30", 30, None, 6596),
        ("LDa50", 50, None, 10765), ("LDa74", 74, None, 15677), ("LVa21", 21, None, 4397),
        ("LVa33", 33, None, 7070), ("dev", 3, 3, 750), ("Vs15", 15, 15, 1500),
    ]:  # fmt: skip
        result = known[name]
        assert (result.cameras, result.models, result.images) == (cameras, models, images), name
    medium = [f"{kind}{c}" for kind in ("Ds", "Da", "Dsm", "Dam", "Vs", "Va") for c in (5, 10, 15, 20)]  # noqa: E501  # fmt: skip
    large = [f"LDa{c}" for c in (30, 35, 40, 45, 50, 55, 60, 65, 70, 74)]
    large += [f"LVa{c}" for c in (21, 24, 27, 30, 33)]
    assert {*medium, *large, "dev"} <= set(known)
    assert all(known[name].batches == 2 for name in medium)
    assert all(known[name].batches is None for name in large)
    assert known["Dam20"].per_model == 5
    assert sum(known["dev"].parts.values()) == 750
    with pytest.raises(SamecamError, match="'D5' is no configuration: choose from Ds5"):
        datasets.configuration("D5")


def test_the_twins_are_fixed():
    """What methods are compared on does not change unnoticed; figures about it may."""
    fixed = [(t.name, replace(t, ls_ssc={})) for t in TWINS.values()]
    assert hashlib.sha256(repr(fixed).encode()).hexdigest()[:16] == "54fae457fe24d98b"


def test_every_configuration_has_its_twin():
    assert list(TWINS) == list(datasets.configurations())
    for name, result in TWINS.items():
        wanted = result.configuration
        assert result.n_images == wanted.images + wanted.strangers, name
        assert len(result.sizes) == wanted.cameras + wanted.strangers, name
        assert result.n_pixels == wanted.side**2
        if wanted.each:
            assert set(result.sizes) == {wanted.each}
        if wanted.per_model == 5:
            assert np.bincount(result.models).tolist() == [5] * wanted.models
        assert result.null_scale >= result.n_pixels**-0.5
        assert result.kind == "twin"


@pytest.mark.parametrize("name", TWINS)
def test_twins_reach_what_is_printed(name):
    """What the data file says of LS-SSC is near to what the paper says of the real collection."""
    reached, printed = TWINS[name].ls_ssc, TWINS[name].configuration.printed
    if "f" in printed:
        assert abs(reached["f"] - printed["f"]) <= 0.03
    if "f_above" in printed:
        assert printed["f_above"] <= reached["f"] <= printed["f_above"] + 0.06


def fitted(result, seed):
    wanted = result.configuration
    batches = {"n_batches": wanted.batches} if wanted.batches else {"batch_size": 4000}
    G, labels = result.gram()
    method = LargeScaleSSC(
        preset="paper", metric="precomputed", n_pixels=result.n_pixels, random_state=seed, **batches
    )
    return scores(labels, method.fit(G).labels_)


@pytest.mark.parametrize("name", ["Ds5", "Dsm5", "Vs5", "dev"])
def test_the_data_file_says_what_ls_ssc_does(name):
    result = TWINS[name]
    F = [fitted(result, seed).f for seed in range(int(result.ls_ssc["runs"]))]
    assert np.mean(F) == pytest.approx(result.ls_ssc["f"], abs=2e-3)


@pytest.mark.long
def test_ls_ssc_on_the_twin_of_twenty_cameras():
    result = TWINS["Va20"]
    F = [fitted(result, seed).f for seed in range(3)]
    assert abs(np.mean(F) - result.configuration.printed["f"]) <= 0.03


def apart(result, G, labels):
    """Correlations of one camera, of two of one model, of two models."""
    model = np.array(result.models) if result.models else np.arange(len(result.sizes))
    above = np.triu(np.ones(G.shape, dtype=bool), 1)
    camera = labels[:, None] == labels
    kin = (model[labels][:, None] == model[labels]) & ~camera
    return G[above & camera], G[above & kin], G[above & ~camera & ~kin]


def test_correlations_are_distributed_as_said():
    result = replace(TWINS["Dsm10"], camera_spread=0.0)
    G, labels = result.gram()
    again, _ = result.gram()
    np.testing.assert_array_equal(G, again)
    np.testing.assert_array_equal(G, G.T)
    np.testing.assert_array_equal(G.diagonal(), 1)
    same, kin, strangers = apart(result, G, labels)
    assert strangers.std() == pytest.approx(result.null_scale, rel=0.02)
    assert abs(strangers.mean()) < 5 * result.null_scale / strangers.size**0.5
    assert kin.mean() == pytest.approx(result.model_mean, rel=0.1)
    assert same.mean() == pytest.approx(result.mean + result.model_mean, rel=0.05)


def test_fingerprints_have_these_correlations():
    result = replace(
        TWINS["Dsm10"], sizes=(30,) * 4, models=(0, 0, 1, 1), mean=0.2, model_mean=0.05,
        camera_spread=0.0,
    )  # fmt: skip
    X, labels = result.fingerprints(4096)
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1, rtol=1e-5)
    np.testing.assert_array_equal(labels, result.gram().labels)
    same, kin, strangers = apart(result, X @ X.T, labels)
    wanted = result.null_scale * (result.n_pixels / 4096) ** 0.5
    assert strangers.std() == pytest.approx(wanted, rel=0.1)
    assert wanted > 1.2 * 4096**-0.5  # coloured: not what white noise would give
    # Adding the model's part lengthens a row by about its own square.
    assert kin.mean() == pytest.approx(0.05, rel=0.25)
    assert same.mean() == pytest.approx(0.25, rel=0.15)


def test_white_noise_stays_white():
    result = replace(TWINS["Vs5"], null_scale=1 / 512, sizes=(10, 10))
    X, labels = result.fingerprints(4096)
    strangers = (X @ X.T)[labels[:, None] != labels]
    assert strangers.std() == pytest.approx(1 / 64, rel=0.15)


def test_written_twins_can_be_grouped(tmp_path):
    from samecam.case import cluster_fingerprints

    outcome = replace(TWINS["Vs5"], sizes=(12, 12, 12), mean=0.2)
    truth = datasets.write_twin(outcome, tmp_path / "twin", n_pixels=4096)
    cameras = read_truth(truth)
    assert len(cameras) == 36
    result = cluster_fingerprints(
        tmp_path / "twin" / "fingerprints.npy",
        tmp_path / "case",
        names=tmp_path / "twin" / "names.txt",
    )
    assert scores([cameras[path] for path in result.paths], result.labels).f > 0.8
    with pytest.raises(SamecamError, match="is not empty: name a new folder"):
        datasets.write_twin(outcome, tmp_path / "twin", n_pixels=64)


def test_photographs_of_a_twin(tmp_path):
    result = replace(TWINS["Va5"], sizes=(4, 2, 3, 2, 5))
    truth = datasets.photograph_twin(result, tmp_path / "photos", size=(64, 64), workers=1)
    cameras = list(read_truth(truth).values())
    assert sorted(cameras.count(camera) for camera in set(cameras)) == [2, 2, 3, 4, 5]
    files = sorted(p.name for p in (tmp_path / "photos" / "images").iterdir())
    assert files == sorted(path.split("/")[1] for path in read_truth(truth))


def test_unknown_twin():
    with pytest.raises(SamecamError, match="'x' is no configuration"):
        datasets.twin("x")
    assert datasets.twin("Va20").name == "Va20"
