"""Kernels written by hand for CUDA, of tensors of which no size is known when graphs are made: fed one size after the other, each
run gives what the reference gives.  A size whose present number stood in a kernel's text would be wrong at the next one."""

import numpy as np
import pytest

from jitgraph.compiler import TARGETS, compile, sizes

from .test_cuda_gates import GRAPHS

WINDOWS = {
    "max_pool": lambda tf, x, w: tf.nn.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME"),
    "avg_pool": lambda tf, x, w: tf.nn.avg_pool(x, [1, 3, 3, 1], [1, 1, 1, 1], "VALID"),
    "depthwise": lambda tf, x, w: tf.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], "SAME"),
}


@pytest.mark.parametrize("name", WINDOWS)
def test_channels_that_only_a_run_tells(tf, monkeypatch, name):
    monkeypatch.setenv("JITGRAPH_TARGET", "cuda-simulator")
    x, w = tf.placeholder(tf.float32, [None] * 4), tf.placeholder(tf.float32, [3, 3, None, 2])
    y = WINDOWS[name](tf, x, w)
    fetches = [y, *(g for g in tf.gradients(tf.square(y), [x, w]) if g is not None)]
    with tf.Session(jit="always") as session, tf.Session(jit="off") as reference:
        for shape in [(2, 5, 4, 3), (2, 5, 4, 2), (1, 4, 5, 4), (2, 5, 4, 3), (1, 3, 3, 40)]:
            rng = np.random.RandomState(sum(shape))
            feeds = {x: rng.standard_normal(shape), w: rng.standard_normal((3, 3, shape[3], 2))}
            for one, other in zip(session.run(fetches, feeds), reference.run(fetches, feeds), strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)


def test_whole_rows_of_any_length_are_sorted(tf, monkeypatch):
    """Longer ones than a block sorts at once."""
    monkeypatch.setenv("JITGRAPH_TARGET", "cuda-simulator")
    x = tf.placeholder(tf.float32, [None, None])
    fetches = tf.nn.top_k(x, tf.shape(x)[1])
    with tf.Session(jit="always") as session:
        for count in (2051, 2100):
            value = np.random.RandomState(count).standard_normal((1, count)).astype(np.float32)
            values, places = session.run(fetches, {x: value})
            np.testing.assert_array_equal(values, -np.sort(-value))
            np.testing.assert_array_equal(np.take_along_axis(value, places, 1), values)


@pytest.mark.parametrize("build", GRAPHS)
def test_no_present_size_stands_in_a_text(tf, monkeypatch, build):
    """Nothing asks a size for its text, which is its present number, while kernels are written."""
    shapes, placeholder = {}, tf.placeholder

    def of_any_size(dtype, shape, name=None):
        made = placeholder(dtype, [None] * len(shape), name)
        shapes[made] = tuple(2 if d is None else d for d in shape)
        return made

    def refused(size):
        raise AssertionError(f"the present number of {size!r} was written out")

    monkeypatch.setattr(tf, "placeholder", of_any_size)
    fetches = build(tf)
    monkeypatch.setattr(sizes.Size, "__str__", refused)
    compile(tf.get_default_graph(), fetches, feeds=shapes, target=TARGETS["cuda"])
