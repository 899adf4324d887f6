"""Steps that runs share: taken once for the same arguments, and counted as if they were not."""

import threading
import time

import numpy as np
import pytest
from scipy import sparse

from samecam import compute


class Calls:
    """Steps that count how often they are taken."""

    def __init__(self):
        self.count = 0

    def step(self, *given, **named):
        self.count += 1
        return given, named


@pytest.fixture
def calls():
    return Calls()


def test_without_shared_steps_every_step_is_taken(calls):
    for _ in range(3):
        assert compute.once(calls.step, 1, two=2) == ((1,), {"two": 2})
    assert calls.count == 3


def test_the_same_arguments_are_computed_once(calls):
    gram = np.arange(6.0).reshape(2, 3)
    steps = compute.SharedSteps()
    for given in (gram, gram.copy(), np.asfortranarray(gram).copy(order="C")):
        with steps.used():
            compute.once(calls.step, given, sparse.csr_array(given), device="cpu")
    assert calls.count == 1


@pytest.mark.parametrize(
    "other",
    [
        np.arange(6.0)[::-1].reshape(2, 3),
        np.arange(6.0).reshape(3, 2),
        np.arange(6.0).reshape(2, 3).astype(np.float32),
        np.arange(6).reshape(2, 3),
        np.asfortranarray(np.arange(6.0).reshape(3, 2).T),
        sparse.csr_array(np.arange(6.0).reshape(2, 3)),
    ],
)
def test_other_arguments_are_not_taken_for_the_same(calls, other):
    with compute.SharedSteps().used():
        compute.once(calls.step, np.arange(6.0).reshape(2, 3))
        ((answer,), _) = compute.once(calls.step, other)
    assert calls.count == 2
    assert answer is other


def test_other_steps_and_options_are_not_taken_for_the_same(calls):
    with compute.SharedSteps().used():
        assert compute.once(len, [1, 2]) == 2
        assert compute.once(sum, [1, 2]) == 3
        compute.once(calls.step, 1)
        compute.once(calls.step, 2)
        compute.once(calls.step, gamma=1)
    assert calls.count == 3


def test_steps_are_shared_by_those_who_ask_alone(calls):
    first, second = compute.SharedSteps(), compute.SharedSteps()
    for steps in (first, second):
        with steps.used():
            compute.once(calls.step, 1)
    compute.once(calls.step, 1)
    assert calls.count == 3
    with first.used():
        thread = threading.Thread(target=compute.once, args=(calls.step, 1))
        thread.start()
        thread.join()
    assert calls.count == 4


def test_what_fails_is_tried_again():
    with compute.SharedSteps().used():
        for _ in range(2):
            with pytest.raises(ZeroDivisionError):
                compute.once(divmod, 1, 0)


def test_the_time_of_a_step_that_is_not_taken_is_known():
    steps = compute.SharedSteps()
    with steps.used():
        compute.once(time.sleep, 0.2)
        assert steps.spared.seconds <= 0  # nothing but looking for it
        compute.once(time.sleep, 0.2)
        compute.once(time.sleep, 0.2)
    assert steps.spared.seconds > 0.3
    assert steps.spared.processor < 0.2  # sleeping needs none
