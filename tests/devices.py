"""The device on which tests run GPU code: a GPU if there is one, else PyTorch's processor."""

import pytest

from samecam.compute import TORCH_CPU

torch = pytest.importorskip("torch")

DEVICE = "cuda:0" if torch.cuda.is_available() else TORCH_CPU
WHERE = "cpu" if DEVICE == TORCH_CPU else DEVICE


def host(tensor):
    """A tensor as an array."""
    return tensor.cpu().numpy()


def there(array):
    """A copy of an array on the device."""
    return torch.tensor(array, device=WHERE)
