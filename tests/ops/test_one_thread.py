"""Small matrices are worked on by one thread; afterwards NumPy has as many as before."""

import numpy as np
import pytest

from jitgraph.ops.linalg.one_thread import LARGE, _threads_of, on_one_thread


@pytest.mark.skipif(_threads_of("numpy") is None or _threads_of("numpy")[0]() < 2, reason="a BLAS of one thread")
def test_threads_are_counted_as_before():
    get, _ = _threads_of("numpy")
    before, seen = get(), []

    @on_one_thread
    def meaning(x):
        seen.append(get())
        if not x.size:
            raise ValueError

    meaning(np.zeros((3, 3)))
    meaning(np.zeros((LARGE, 2)))
    with pytest.raises(ValueError):
        meaning(np.zeros((0, 2)))
    assert seen == [1, before, 1] and get() == before
