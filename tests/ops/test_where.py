"""The compiled loop over an array beside NumPy."""
import numpy as np
import pytest

from jitgraph.ops.arrays.true_loop import true_elements
from jitgraph.runtime import host_loops  # noqa: F401  (gives the loop its compiler)


@pytest.mark.parametrize("share", [0, 0.3, 1])
@pytest.mark.parametrize("shape", [(100, 100), (5000, 1), (1, 5000), (20, 30, 10), (8, 1, 32, 20), (2, 3, 4, 5, 6, 7)])
def test_it_finds_what_numpy_finds(shape, share):
    matrix = np.random.RandomState(0).rand(*shape) < share
    for one in (matrix, matrix.T, np.asfortranarray(matrix)):
        found = true_elements(one)
        assert found.dtype == np.int64 and np.array_equal(found, np.argwhere(one))


def test_what_it_does_not_take():
    assert true_elements(np.ones((3, 3), bool)) is None         # few: NumPy is as fast
    assert true_elements(np.ones((100, 100))) is None and true_elements(np.ones(10000, bool)) is None
    assert true_elements(np.ones((2,) * 13, bool)) is None
