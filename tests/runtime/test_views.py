"""Parts of arrays that the host is given."""
from __future__ import annotations

import numpy as np
import pytest


@pytest.mark.parametrize("kept", ["", "result_reuse"])
def test_what_the_host_is_given_is_that_of_the_present_run(tf, monkeypatch, kept):
    """The transposed temporary and the widened constant are parts of arrays; runs of other sizes move the temporaries."""
    monkeypatch.setenv("JITGRAPH_WITHOUT", kept)
    x = tf.placeholder(tf.float32, [None, None])
    seen = []

    def look(turned, wide):
        seen.append((turned.copy(), wide.copy()))
        return np.float32(turned.sum() + wide.sum())

    result = tf.py_func(look, [tf.transpose(x * 2.0), tf.fill([2, 3], 7.0)], tf.float32)
    with tf.Session(jit="always") as session:
        for rows, columns in [(3, 5), (3, 5), (400, 300), (3, 5), (400, 300)]:
            given = np.random.default_rng(rows).random((rows, columns), np.float32)
            for scale in (1, 2):
                total = session.run(result, {x: scale * given})
                turned, wide = seen[-1]
                np.testing.assert_array_equal(turned, 2 * scale * given.T)
                np.testing.assert_array_equal(wide, np.full((2, 3), 7.0))
                assert total == np.float32(turned.sum() + wide.sum())
