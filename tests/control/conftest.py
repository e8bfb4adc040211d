"""Both ways to execute: every test that asks for `run` is done by the reference and compiled."""
import numpy as np
import pytest


@pytest.fixture(params=["off", "always"])
def run(tf, request):
    """run(fetches, feed_dict=None, times=1): variables initialised, evaluated in a new session, the last values."""

    def _run(fetches, feed_dict=None, times=1):
        with tf.Session(jit=request.param) as session:
            session.run(tf.global_variables_initializer())
            for _ in range(times):
                values = session.run(fetches, feed_dict)
        return values

    _run.jit = request.param
    return _run


@pytest.fixture
def numeric():
    """numeric(function, x): the gradient of the scalar `function` at the array x by central differences."""

    def _numeric(function, x, step=1e-3):
        x = np.asarray(x, np.float64)
        gradient = np.zeros_like(x)
        for position in np.ndindex(x.shape):
            move = np.zeros_like(x)
            move[position] = step
            gradient[position] = (function(x + move) - function(x - move)) / (2 * step)
        return gradient

    return _numeric
