"""The solvers on a GPU, in PyTorch: same problem, same certificate as on the processor."""

from samecam.represent.gpu._admm import certificate, iterate
from samecam.represent.gpu._candidates import solve_candidates
from samecam.represent.gpu._exact import solve
from samecam.represent.gpu._gram import check_gram, on_device

__all__ = ["certificate", "check_gram", "iterate", "on_device", "solve", "solve_candidates"]
