"""Poolings and depthwise convolutions in kernels, beside NumPy's."""
import numpy as np
import pytest

from jitgraph.compiler.emit import depthwise

RNG = np.random.RandomState(0)

POOLS = {
    "halves": ((2, 8, 8, 3), 2, 2, "VALID"), "odd": ((2, 9, 7, 5), 2, 2, "SAME"), "overlap": ((2, 9, 7, 5), 3, 2, "SAME"),
    "inside": ((2, 9, 7, 5), 3, 2, "VALID"), "every pixel": ((1, 9, 7, 33), 3, 1, "SAME"), "gaps": ((2, 9, 7, 5), 1, 2, "SAME"),
    "whole": ((2, 7, 7, 5), 7, 1, "VALID"), "large": ((1, 12, 12, 2), 6, 3, "SAME"),
    "large, at every pixel": ((1, 9, 11, 3), 6, 1, "SAME"), "many taps": ((1, 9, 11, 3), 5, 2, "SAME"),
    "many channels": ((1, 5, 4, 700), 3, 1, "SAME"),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", ["NHWC", "NCHW"])
@pytest.mark.parametrize("kind", ["max_pool", "avg_pool"])
@pytest.mark.parametrize("case", list(POOLS))
def test_pools_and_their_gradients(tf, agree, case, kind, layout, dtype):
    size, taps, step, padding = POOLS[case]
    x = np.round(RNG.standard_normal(size) * 2).astype(dtype)          # with ties, which go to the first
    if kind == "max_pool":
        x[RNG.random_sample(size) < 0.2] = np.nan
    x = x if layout == "NHWC" else np.ascontiguousarray(x.transpose(0, 3, 1, 2))
    ksize, steps = ([1, taps, taps, 1], [1, step, step, 1]) if layout == "NHWC" else ([1, 1, taps, taps], [1, 1, step, step])
    fed = tf.placeholder(dtype, [None, *x.shape[1:]])
    y = getattr(tf.nn, kind)(fed, ksize, steps, padding, data_format=layout)
    weights = tf.random.stateless_normal(tf.shape(y), [1, 2], dtype=dtype)
    agree([y, *tf.gradients(y * weights, [fed])], {fed: x}, dtype)


@pytest.mark.parametrize("size, multiplier, taps, step, padding, layout", [
    ((2, 8, 8, 3), 1, 3, 1, "SAME", "NHWC"), ((2, 8, 8, 16), 1, 3, 2, "SAME", "NHWC"), ((3, 9, 7, 4), 2, 3, 1, "VALID", "NHWC"),
    ((20, 9, 7, 4), 2, 3, 2, "SAME", "NCHW"), ((2, 11, 13, 5), 1, 2, 3, "VALID", "NHWC"),
    ((2, 11, 13, 17), 3, 5, 2, "SAME", "NHWC"), ((2, 9, 14, 17), 1, 6, 2, "SAME", "NHWC"), ((1, 9, 8, 3), 2, 7, 1, "VALID", "NHWC"),
])
def test_depthwise_and_its_gradients(tf, agree, size, multiplier, taps, step, padding, layout):
    x = RNG.standard_normal(size).astype(np.float32)
    x = x if layout == "NHWC" else np.ascontiguousarray(x.transpose(0, 3, 1, 2))
    w = RNG.standard_normal((taps, taps, size[3], multiplier)).astype(np.float32)
    fed, filters = tf.placeholder(tf.float32, [None, *x.shape[1:]]), tf.placeholder(tf.float32, w.shape)
    steps = [1, step, step, 1] if layout == "NHWC" else [1, 1, step, step]
    y = tf.nn.depthwise_conv2d(fed, filters, steps, padding, data_format=layout)
    weights = tf.random.stateless_normal(tf.shape(y), [1, 2])
    kernels = agree([y, *tf.gradients(y * weights, [fed, filters])], {fed: x, filters: w}, np.float32)
    assert {"depthwise_f32", "depthwise_input_f32", "depthwise_filter_f32"} <= set(kernels)


@pytest.mark.parametrize("taps, step, gap, padding", [
    ((7, 7), 1, 1, "SAME"), ((6, 9), 1, 1, "VALID"), ((1, 31), 1, 1, "SAME"), ((31, 2), 1, 1, "SAME"), ((3, 3), 1, 2, "SAME"),
    ((3, 3), 1, 3, "VALID"), ((5, 7), 1, 2, "SAME"), ((9, 9), 2, 1, "SAME"), ((2, 3), 2, 2, "SAME"), ((6, 5), 2, 3, "VALID"),
])
@pytest.mark.parametrize("multiplier", [1, 2])
@pytest.mark.parametrize("channels", [3, 40, 70])
def test_depthwise_with_large_filters_and_with_gaps(tf, agree, channels, multiplier, taps, step, gap, padding):
    """Whose rows are written out, or gone through by loops, and whose pixels lie apart."""
    x = RNG.standard_normal((2, 19, 33, channels)).astype(np.float32)
    w = RNG.standard_normal((*taps, channels, multiplier)).astype(np.float32)
    fed, filters = tf.placeholder(tf.float32, [None, *x.shape[1:]]), tf.placeholder(tf.float32, w.shape)
    y = tf.nn.depthwise_conv2d_native(fed, filters, [1, step, step, 1], padding, dilations=[1, gap, gap, 1])
    weights = tf.random.stateless_normal(tf.shape(y), [1, 2])
    kernels = agree([y, *tf.gradients(y * weights, [fed, filters])], {fed: x, filters: w}, np.float32)
    sent = "depthwise_f32" if multiplier == step == 1 else "depthwise_input_f32"
    assert {"depthwise_f32", sent, "depthwise_filter_f32"} <= set(kernels)


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("channels", [20, 70])
@pytest.mark.parametrize("width, taps", [(2, (2, 2)), (3, (3, 3)), (6, (3, 3)), (7, (3, 3)), (11, (3, 3)), (11, (5, 5))])
def test_windows_that_are_made_together_have_the_same_bits(tf, monkeypatch, width, taps, channels, padding):
    x = RNG.standard_normal((2, 5, width, channels)).astype(np.float32)
    w = RNG.standard_normal((*taps, channels, 1)).astype(np.float32)
    x[0, 0, 0, 0], w[0, 0, 0, 0] = np.inf, 0        # a tap outside must not be taken for one with weight 0
    found = []
    for shares in (lambda node: False, depthwise._shares):
        monkeypatch.setattr(depthwise, "_shares", shares)
        fed, filters = tf.placeholder(tf.float32, [None, 5, width, channels]), tf.placeholder(tf.float32, w.shape)
        y = tf.nn.depthwise_conv2d(fed, filters, [1, 1, 1, 1], padding)
        with tf.Session(jit="always") as session:
            found.append(session.run([y, *tf.gradients(y * y, [fed, filters])], {fed: x, filters: w}))
    (*alone, filter_alone), (*together, filter_together) = found
    for one, other in zip(alone, together):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_allclose(filter_alone, filter_together, rtol=1e-4, atol=1e-4)     # whose terms come in another order


@pytest.mark.parametrize("jit", ["off", "always"])
@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_nan_does_not_count_in_the_maximum_of_a_window(tf, jit, padding):
    """As in TensorFlow, and in a first run as in later ones."""
    nan = np.nan
    image = np.array([[nan, 1, 2, nan], [3, nan, nan, nan], [-1, nan, nan, -5], [nan, nan, nan, 4]], np.float32)
    x = tf.placeholder(tf.float32, [1, 4, 4, 3])
    windows = [1, 2, 2, 1], [1, 2, 2, 1]
    volume = tf.nn.max_pool3d(x[None], [1, 1, 2, 2, 1], [1, 1, 2, 2, 1], padding)[0]
    pools = [tf.nn.max_pool(x, *windows, padding), volume]
    with tf.Session(jit=jit) as session:
        for _ in range(2):
            for found in session.run(pools, {x: np.repeat(image[None, :, :, None], 3, 3)}):
                np.testing.assert_array_equal(found[0, ..., 2], [[3, 2], [-1, 4]])
