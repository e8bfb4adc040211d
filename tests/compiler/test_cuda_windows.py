"""Poolings and depthwise convolutions for CUDA, and their gradients, run by the simulator beside the reference."""

import numpy as np
import pytest

RNG = np.random.RandomState(0)
POOLS = {
    "halves": ((2, 4, 6, 3), 2, 2, "VALID"), "odd": ((2, 5, 7, 5), 2, 2, "SAME"), "overlap": ((1, 7, 6, 5), 3, 2, "SAME"),
    "every pixel": ((1, 5, 4, 33), 3, 1, "SAME"), "gaps": ((2, 6, 5, 3), 1, 2, "SAME"),
    "more elements than the grid has threads": ((3, 14, 8, 5), 2, 2, "SAME"),
    "large": ((1, 8, 9, 2), 4, 3, "SAME"),
}


@pytest.mark.parametrize("kind", ["max_pool", "avg_pool"])
@pytest.mark.parametrize("case", list(POOLS))
def test_pools_and_their_gradients(tf, on_the_grid, case, kind):
    size, taps, step, padding = POOLS[case]
    fed = tf.placeholder(tf.float32, [None, *size[1:]])
    y = getattr(tf.nn, kind)(fed, [1, taps, taps, 1], [1, step, step, 1], padding)
    weights = tf.constant(RNG.standard_normal([size[0], *y.shape.as_list()[1:]]).astype(np.float32))
    x = np.round(RNG.standard_normal(size) * 2).astype(np.float32)      # with ties, which go to the first
    if kind == "max_pool":
        x[RNG.random_sample(size) < 0.2] = np.nan
    names = {kernel.name for kernel in on_the_grid([y, *tf.gradients(y * weights, [fed])], {fed: x})}
    op = {"max_pool": "max", "avg_pool": "mean"}[kind]
    assert {f"{op}_pool_f32", f"{op}_pool_gradient_f32"} <= names


def test_the_maxima_of_volumes(tf, on_the_grid):
    """Whose gradient goes to all elements that are the maximum."""
    x = tf.placeholder(tf.float32, [None, 4, 5, 4, 2])
    y = tf.nn.max_pool3d(x, [1, 2, 2, 2, 1], [1, 2, 2, 2, 1], "SAME")
    value = np.round(RNG.standard_normal((2, 4, 5, 4, 2))).astype(np.float32)
    on_the_grid([y, *tf.gradients(tf.square(y), [x])], {x: value})


@pytest.mark.parametrize("size, multiplier, taps, step, padding", [
    ((2, 5, 6, 3), 1, 3, 1, "SAME"), ((2, 6, 5, 33), 1, 3, 2, "SAME"), ((3, 6, 4, 4), 2, 3, 1, "VALID"),
    ((18, 3, 4, 2), 2, 3, 2, "SAME"), ((1, 8, 7, 5), 1, 2, 3, "VALID"), ((1, 5, 6, 5), 3, 5, 2, "SAME"),
    ((1, 13, 11, 2), 1, 3, 1, "SAME")])         # whose windows are shared out within an image
def test_depthwise_and_its_gradients(tf, on_the_grid, size, multiplier, taps, step, padding):
    x, w = tf.placeholder(tf.float32, [None, *size[1:]]), tf.placeholder(tf.float32, [taps, taps, size[3], multiplier])
    y = tf.nn.depthwise_conv2d(x, w, [1, step, step, 1], padding)
    feeds = {x: RNG.standard_normal(size).astype(np.float32), w: RNG.standard_normal(w.shape.as_list()).astype(np.float32)}
    names = {kernel.name for kernel in on_the_grid([y, *tf.gradients(tf.square(y), [x, w])], feeds)}
    assert {"depthwise_f32", "depthwise_input_f32", "depthwise_filter_f32"} <= names


@pytest.mark.parametrize("taps, step, gap, multiplier", [(7, 1, 1, 1), (6, 2, 1, 2), (3, 1, 2, 1), (3, 2, 2, 2)])
def test_depthwise_with_large_filters_and_with_gaps(tf, on_the_grid, taps, step, gap, multiplier):
    x, w = tf.placeholder(tf.float32, [None, 9, 8, 5]), tf.placeholder(tf.float32, [taps, taps, 5, multiplier])
    y = tf.nn.depthwise_conv2d_native(x, w, [1, step, step, 1], "SAME", dilations=[1, gap, gap, 1])
    feeds = {x: RNG.standard_normal((2, 9, 8, 5)).astype(np.float32), w: RNG.standard_normal(w.shape.as_list()).astype(np.float32)}
    names = {kernel.name for kernel in on_the_grid([y, *tf.gradients(tf.square(y), [x, w])], feeds)}
    sent = "depthwise_f32" if multiplier == step == 1 else "depthwise_input_f32"
    assert {"depthwise_f32", sent, "depthwise_filter_f32"} <= names


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("target, jit", [("cpu", "off"), ("cpu", "always"), ("cuda-simulator", "always")])
def test_the_maximum_of_a_window_begins_with_the_lowest_finite_number(tf, monkeypatch, target, jit, dtype):
    """As TensorFlow 1.15's, of images; that of volumes begins with -inf.  Where nothing is larger than the first pixel, that gets
    the gradient."""
    monkeypatch.setenv("JITGRAPH_TARGET", target)
    nan, low = np.nan, np.finfo(dtype).min
    image = np.array([[nan, 1, 2, nan], [3, nan, nan, nan], [-np.inf, nan, nan, nan], [-np.inf, nan, nan, nan]], dtype)
    x = tf.placeholder(dtype, [1, 4, 4, 1])
    feeds = {x: image[None, :, :, None]}
    pools = [tf.nn.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "VALID"), tf.nn.max_pool(x, [1, 3, 3, 1], [1, 3, 3, 1], "SAME"),
             tf.nn.max_pool(x[:, 2:, 2:], [1, 2, 2, 1], [1, 2, 2, 1], "VALID")]
    volumes = [] if dtype == "float64" else [tf.nn.max_pool3d(x[None], [1, 1, 2, 2, 1], [1, 1, 2, 2, 1], "VALID")[0]]
    with tf.Session(jit=jit) as session:
        for _ in range(2):
            small, large, whole, gradient = session.run([*pools, tf.gradients(pools[0], x)[0]], feeds)
            np.testing.assert_array_equal(small[0, ..., 0], [[3, 2], [low, low]])
            np.testing.assert_array_equal(large[0, ..., 0], [[3, 2], [low, low]])
            np.testing.assert_array_equal(whole[0, ..., 0], [[low]])
            np.testing.assert_array_equal(gradient[0, ..., 0], [[1, 0, 1, 0], [0, 0, 0, 0], [1, 0, 1, 0], [0, 0, 0, 0]])
            for volume in volumes:
                np.testing.assert_array_equal(session.run(volume, feeds)[0, ..., 0], [[3, 2], [-np.inf, -np.inf]])
