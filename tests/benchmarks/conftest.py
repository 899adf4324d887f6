"""Small photographs with known cameras, and one thread for small matrices."""

import pytest
from threadpoolctl import threadpool_limits

from samecam.simulate import simulate_photos


@pytest.fixture(scope="session", autouse=True)
def _one_thread():
    """Threads wait for each other longer than such small work takes."""
    with threadpool_limits(1):
        yield


@pytest.fixture(scope="module")
def one_torch_thread():
    """The same for PyTorch, for tests that have its mark."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(params=["cpu", pytest.param("torch-cpu", marks=pytest.mark.torch)])
def device(request):
    """Both ways to compute without a GPU."""
    if request.param != "cpu":
        request.getfixturevalue("one_torch_thread")
    return request.param


@pytest.fixture(scope="session")
def shared(tmp_path_factory):
    """A folder with photos/: four simulated cameras, eight photographs each."""
    root = tmp_path_factory.mktemp("shared")
    simulate_photos(root / "photos", cameras=4, images=8, size=(288, 272), workers=1)
    return root
