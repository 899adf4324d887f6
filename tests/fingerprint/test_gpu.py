"""Fingerprints with PyTorch against those of the processor, one picture and another."""

import numpy as np
import pytest
import pywt
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from samecam.errors import SamecamError
from samecam.fingerprint import fingerprint, fingerprints, noise_residual
from tests.fingerprint.test_residual import picture
from tests.reference import residual as reference

torch = pytest.importorskip("torch")

from samecam.fingerprint import _gpu  # noqa: E402

pytestmark = pytest.mark.torch

DEVICES = ["torch-cpu", *(["cuda"] if torch.cuda.is_available() else [])]
# Most gray levels by which residuals of the two may differ; 1.1·10⁻⁴ over 2,000 such pictures.
LEVELS = 2.5e-4

devices = pytest.mark.parametrize("device", DEVICES)


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Small arrays are faster so, above all on a busy machine."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def gray(image, sigma):
    residual = noise_residual(image, sigma=sigma).astype(np.float64)
    if residual.ndim == 3:
        residual = residual @ ([0.2989, 0.5870, 0.1140] if residual.shape[2] == 3 else [1.0])
    return residual.ravel()


def without_turned(difference, shape):
    """Without its four largest frequencies: two real ones that stood on the edge of a peak."""
    spectrum = np.fft.fft2(difference.reshape(shape[:2])).ravel()
    spectrum[np.argsort(np.abs(spectrum))[-4:]] = 0
    return np.fft.ifft2(spectrum.reshape(shape[:2])).real


def assert_alike(result, expected, images, sigma=3.0, equalise=False):
    """Rows differ by few of the gray levels that were scaled to unit norm."""
    np.testing.assert_array_equal(result.flat, expected.flat)
    assert result.rows.dtype == np.float32
    assert result.rows.shape == expected.rows.shape
    for row, wanted, image in zip(result.rows, expected.rows, images, strict=True):
        length = abs(wanted @ gray(image, sigma))
        difference = row - wanted
        if equalise:  # a frequency is a peak or it is none: rounding may decide
            difference = without_turned(difference, image.shape)
        assert np.abs(difference).max() * length < LEVELS
        if length > 0.1 * np.sqrt(len(row)):  # of more than a tenth of a gray level a pixel
            assert row.astype(np.float64) @ wanted > 1 - (5e-3 if equalise else 1e-6)


def over_exposed(seed, shape):
    image = picture(seed, shape)
    image[: shape[0] // 2] = 255
    return image


def nearly_flat(seed, shape):
    image = np.full(shape, 40 + seed % 100, dtype=np.uint8)
    image[shape[0] // 2, shape[1] // 3] += 3
    return image


def fine_levels(seed, shape):
    return picture(seed, shape).astype(np.float32) + np.float32(0.37)


def constant(seed, shape):
    return np.full(shape, seed % 256, dtype=np.uint8)


KINDS = [picture, over_exposed, nearly_flat, fine_levels, constant]


@devices
@given(
    h=st.integers(16, 90),
    w=st.integers(16, 90),
    channels=st.sampled_from([None, 1, 3]),
    sigma=st.sampled_from([0.7, 3.0, 5.0]),
    kinds=st.lists(st.sampled_from(KINDS), min_size=1, max_size=3),
    steps=st.sampled_from(
        [
            {},
            {"preset": "paper"},
            {"cfa": True},
            {"spins": 2, "weigh": True},
            {"wiener": True},
            {"equalise": True, "grid": False},
            {"cfa": True, "wiener": True, "equalise": True},
        ]
    ),
    seed=st.integers(0, 2**31),
)
def test_agrees_with_the_processor(device, h, w, channels, sigma, kinds, steps, seed):
    shape = (h, w) if channels is None else (h, w, channels)
    images = [kind(seed + k, shape) for k, kind in enumerate(kinds)]
    result = fingerprints(images, device=device, sigma=sigma, **steps)
    expected = fingerprints(images, sigma=sigma, **steps)
    assert_alike(result, expected, images, sigma, steps.get("equalise", False))


@devices
@pytest.mark.parametrize("shape", [(3, 7, 3), (1, 1), (64, 8, 3), (300, 17)])
def test_agrees_on_odd_shapes(device, shape):
    images = [picture(k, shape) for k in range(2)]
    result = fingerprints(images, device=device, preset="paper")
    assert_alike(result, fingerprints(images, preset="paper"), images)


@devices
@pytest.mark.parametrize("grid", [True, False])
def test_agrees_with_the_reference(device, grid):
    images = [picture(k, (96, 113, 3)) for k in range(3)]
    result = fingerprints(images, device=device, grid=grid)
    expected = [reference.fingerprint(image, grid=grid) for image in images]
    np.testing.assert_allclose(result.rows, expected, atol=1e-6)


def test_the_processor_gives_the_very_rows_of_single_pictures():
    images = np.stack([picture(0, (64, 70, 3)), constant(9, (64, 70, 3)), picture(1, (64, 70, 3))])
    result = fingerprints(images, cfa=True)
    np.testing.assert_array_equal(result.flat, [False, True, False])
    for row, image in zip(result.rows[::2], images[::2], strict=True):
        np.testing.assert_array_equal(row, fingerprint(image, cfa=True))
    assert not result.rows[1].any()


@devices
def test_flat_pictures_are_reported_and_have_no_row(device):
    images = [constant(level, (64, 64, 3)) for level in (0, 17, 255)]
    images.insert(1, picture(0, (64, 64, 3)))
    for steps in ({}, {"wiener": True}, {"equalise": True}):
        result = fingerprints(images, device=device, **steps)
        np.testing.assert_array_equal(result.flat, [True, False, True, True])
        assert not result.rows[result.flat].any()
        assert abs(np.linalg.norm(result.rows[1].astype(np.float64)) - 1) < 1e-6


@devices
def test_pictures_beside_it_do_not_change_a_row(device):
    images = np.stack([picture(k, (48, 56, 3)) for k in range(2 * _gpu.GROUP + 3)])
    whole = fingerprints(images, device=device).rows
    order = np.random.default_rng(0).permutation(len(images))
    np.testing.assert_array_equal(fingerprints(images[order], device=device).rows, whole[order])
    for k in (0, 7, len(images) - 1):
        np.testing.assert_array_equal(
            fingerprints(images[k : k + 1], device=device).rows[0], whole[k]
        )


@devices
def test_lists_types_and_read_only_arrays(device):
    images = [picture(k, (40, 44, 3)) for k in range(4)]
    expected = fingerprints(np.stack(images), device=device).rows
    images[1] = images[1].astype(np.float32)
    images[2] = images[2].astype(np.int32)
    images[3].setflags(write=False)
    np.testing.assert_array_equal(fingerprints(images, device=device).rows, expected)
    made, flat = _gpu.rows(images, {}, "cuda:0" if device == "cuda" else device)
    np.testing.assert_array_equal(made.cpu().numpy(), expected)
    assert not flat.any()


@given(length=st.integers(1, 70), seed=st.integers(0, 99))
def test_matrices_are_the_transform_and_its_inverse(length, seed):
    analysis, synthesis = (m.numpy().astype(np.float64) for m in _gpu.matrices(length, "cpu"))
    x = np.random.default_rng(seed).normal(0, 50, length)
    low, high = pywt.dwt(x, "db4", mode="symmetric")
    np.testing.assert_allclose(analysis @ x, np.concatenate([low, high]), atol=2e-5)
    y = np.random.default_rng(seed).normal(0, 50, analysis.shape[0])
    expected = pywt.idwt(*np.split(y, 2), "db4", mode="symmetric")[:length]
    np.testing.assert_allclose(synthesis @ y, expected, atol=2e-5)


def test_the_wavelet_is_db4():
    from samecam.fingerprint import _wavelet

    known = pywt.Wavelet("db4")
    np.testing.assert_array_equal(_wavelet.LOW, np.float32(known.dec_lo))
    np.testing.assert_array_equal(_wavelet.HIGH, np.float32(known.dec_hi))
    assert _wavelet.HIGH.dtype == np.float32


class Peak(torch.utils._python_dispatch.TorchDispatchMode):
    """Most bytes that results of operations held at one time."""

    def __init__(self):
        super().__init__()
        self.most, self.alive = 0, {}

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        from torch.multiprocessing.reductions import StorageWeakRef

        given = {a.untyped_storage()._cdata for a in args if isinstance(a, torch.Tensor)}
        result = function(*args, **(kwargs or {}))
        for item in result if isinstance(result, tuple | list) else [result]:
            storage = item.untyped_storage() if isinstance(item, torch.Tensor) else None
            if storage is not None and storage._cdata not in given:  # else a view
                self.alive[storage._cdata] = StorageWeakRef(storage), storage.nbytes()
        self.alive = {k: v for k, v in self.alive.items() if not v[0].expired()}
        self.most = max(self.most, sum(size for _, size in self.alive.values()))
        return result


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize(
    "steps", [{}, {"spins": 2}, {"weigh": True}, {"wiener": True}, {"equalise": True}]
)
def test_work_arrays_stay_within_the_memory_given(channels, steps):
    images = [picture(k, (128, 144, channels)) for k in range(9)]
    expected = fingerprints(images, **steps)
    fingerprints(images, device="torch-cpu", **steps)  # the matrices are made and kept
    each = _gpu.picture_bytes(images[0].shape, _gpu.complete(steps))
    seen = []
    for group in (1, 4, 8):
        with Peak() as peak:
            result = fingerprints(images, device="torch-cpu", memory=group * each + 9, **steps)
        assert_alike(result, expected, images, equalise="equalise" in steps)
        work = peak.most - result.rows.nbytes
        assert 0.4 * group * each < work <= group * each
        seen.append(peak.most)
    assert seen == sorted(set(seen))


def test_less_room_than_thought_means_smaller_groups(monkeypatch):
    images = [picture(k, (40, 40, 3)) for k in range(11)]
    whole = fingerprints(images, device="torch-cpu")
    analyse, groups = _gpu.analyse, []

    def tight(planes, most):
        if len(planes) > most:
            raise torch.cuda.OutOfMemoryError("no room")
        groups.append(len(planes))
        return analyse(planes)

    monkeypatch.setattr(_gpu, "analyse", lambda planes: tight(planes, 5))
    assert_alike(fingerprints(images, device="torch-cpu"), whole, images)
    assert groups == [4, 4, 4]
    monkeypatch.setattr(_gpu, "analyse", lambda planes: tight(planes, 0))
    with pytest.raises(SamecamError, match="no room for one picture"):
        fingerprints(images, device="torch-cpu")


@devices
@pytest.mark.parametrize(
    ("images", "steps", "words"),
    [
        ([], {}, "no picture"),
        ([np.zeros((8, 8)), np.zeros((8, 9))], {}, r"picture 1 has shape \(8, 9\)"),
        ([np.zeros((8, 8, 2))], {}, "2 channels"),
        ([np.full((8, 8), np.nan)], {}, "NaN"),
        ([np.zeros((8, 8))], {"sigma": 0.0}, "sigma is 0.0"),
        ([np.zeros((8, 8))], {"preset": "papper"}, "papper"),
    ],
)
def test_bad_input_is_refused(device, images, steps, words):
    for name in ("cpu", device):
        with pytest.raises(ValueError, match=words):
            fingerprints(images, device=name, **steps)


def test_unknown_steps_and_devices():
    images = [picture(0, (16, 16))]
    for device in ("cpu", "torch-cpu"):
        with pytest.raises(TypeError, match="gird"):
            fingerprints(images, device=device, gird=True)
    with pytest.raises(SamecamError, match="tpu"):
        fingerprints(images, device="tpu")


@devices
def test_golden_residuals(device, golden_dir, photos_dir):
    golden = np.load(golden_dir / "residual_prnu_python.npz")
    name_on = "cuda" if device == "cuda" else "cpu"
    assert len(golden.files) == 2
    for key in golden.files:
        name, sigma = key.split("_sigma")
        image = np.asarray(Image.open(photos_dir / "images" / f"{name}.jpg"))[:512, :512]
        planes = _gpu.to_planes(next(_gpu.uploads([image], name_on, 1)))
        result = _gpu.residuals(planes.transpose(0, 1), float(sigma)).cpu().numpy()
        np.testing.assert_allclose(np.moveaxis(result, 0, 2), golden[key], atol=LEVELS)


@devices
def test_real_photographs_reproduce_the_stored_correlations(device, golden_dir, photos_dir):
    golden = np.load(golden_dir / "authors_ssc_nc.npz")
    paths, stored = golden["paths"][:8], golden["gram"][:8, :8]
    images = [np.asarray(Image.open(photos_dir / str(p)))[:512, :512] for p in paths]
    X = fingerprints(images, device=device, preset="paper").rows.astype(np.float64)
    np.testing.assert_allclose(X @ X.T, stored, atol=2e-6)
