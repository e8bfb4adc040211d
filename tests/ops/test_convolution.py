"""Convolution and pooling against plain loops, over strides, paddings, dilations and layouts."""
import itertools

import numpy as np
import pytest


def output_size(size, taps, stride, dilation, padding):
    extent = (taps - 1) * dilation + 1
    if padding == "SAME":
        out = -(-size // stride)
        return out, max((out - 1) * stride + extent - size, 0) // 2
    return (size - extent) // stride + 1, 0


def windows(x, ksize, strides, dilations, padding, reduce):
    """reduce(rows, columns inside the image, their tap numbers) for every output position of x [n, h, w, c]."""
    (oh, top), (ow, left) = (output_size(x.shape[1 + i], ksize[i], strides[i], dilations[i], padding) for i in (0, 1))
    out = []
    for i, j in itertools.product(range(oh), range(ow)):
        taps = [(a, b, i * strides[0] - top + a * dilations[0], j * strides[1] - left + b * dilations[1])
                for a in range(ksize[0]) for b in range(ksize[1])]
        out.append(reduce([t for t in taps if 0 <= t[2] < x.shape[1] and 0 <= t[3] < x.shape[2]]))
    return np.stack(out, 1).reshape(x.shape[0], oh, ow, -1)


GEOMETRY = [((1, 1), (1, 1)), ((2, 1), (1, 1)), ((3, 2), (1, 1)), ((1, 1), (2, 1)), ((1, 1), (1, 2))]


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("strides, dilations", GEOMETRY)
@pytest.mark.parametrize("layout", ["NHWC", "NCHW"])
def test_conv2d(tf, run, rng, padding, strides, dilations, layout):
    x, w = rng.randn(2, 7, 6, 3), rng.randn(3, 2, 3, 4)
    wanted = windows(x, (3, 2), strides, dilations, padding,
                     lambda taps: sum(x[:, r, c] @ w[a, b] for a, b, r, c in taps))
    order = (0, 3, 1, 2) if layout == "NCHW" else (0, 1, 2, 3)
    back = np.argsort(order)
    data = tf.constant(x.transpose(order))
    y = tf.nn.conv2d(data, tf.constant(w), strides, padding, data_format=layout, dilations=dilations)
    assert y.shape.as_list() == [wanted.shape[i] for i in order]
    np.testing.assert_allclose(run(y).transpose(back), wanted, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("strides, dilations", GEOMETRY)
def test_gradients_are_adjoint(tf, run, rng, padding, strides, dilations):
    """<grad, conv(x, w)> is linear in x and in w, so its gradients give it back."""
    x, w = tf.constant(rng.randn(2, 7, 6, 3)), tf.constant(rng.randn(3, 2, 3, 4))
    y = tf.nn.conv2d(x, w, strides, padding, dilations=dilations)
    grad = tf.constant(rng.randn(*y.shape.as_list()))
    dx, dw = tf.gradients(y, [x, w], grad)
    whole, from_x, from_w = run([tf.reduce_sum(y * grad), tf.reduce_sum(x * dx), tf.reduce_sum(w * dw)])
    assert from_x == pytest.approx(whole) and from_w == pytest.approx(whole)


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("strides", [(1, 1), (2, 3)])
@pytest.mark.parametrize("layout", ["NHWC", "NCHW"])
def test_pooling(tf, run, rng, padding, strides, layout):
    x = rng.randn(2, 7, 6, 3)
    order = (0, 3, 1, 2) if layout == "NCHW" else (0, 1, 2, 3)
    data = tf.constant(x.transpose(order))
    for function, combine in ((tf.nn.max_pool, np.max), (tf.nn.avg_pool, np.mean)):
        wanted = windows(x, (3, 2), strides, (1, 1), padding,
                         lambda taps, combine=combine: combine([x[:, r, c] for _, _, r, c in taps], 0))
        y = function(data, (3, 2), strides, padding, data_format=layout)
        np.testing.assert_allclose(run(y).transpose(np.argsort(order)), wanted)
        assert y.shape.as_list() == [wanted.shape[i] for i in order]


@pytest.mark.parametrize("jit", ["off", "always"])
@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_the_gradient_of_a_maximum_beside_nan(tf, rng, jit, padding):
    """The first element of a window stays its maximum if it is NaN, for no other is greater; any other NaN is passed over."""
    x = rng.randn(2, 7, 6, 3)
    x[rng.rand(*x.shape) < 0.3] = np.nan
    counted = np.zeros(x.shape)

    def count(taps):
        for n, c in np.ndindex(2, 3):
            best, *others = [(r, k) for _, _, r, k in taps]
            for place in others:
                best = place if x[(n, *place, c)] > x[(n, *best, c)] else best
            counted[(n, *best, c)] += 1
        return np.zeros((2, 3))

    windows(x, (3, 2), (1, 2), (1, 1), padding, count)
    data = tf.placeholder(tf.float64, x.shape)
    (gradient,) = tf.gradients(tf.nn.max_pool(data, (3, 2), (1, 2), padding), data)
    with tf.Session(jit=jit) as session:
        np.testing.assert_array_equal(session.run(gradient, {data: x}), counted)


def test_depthwise_is_a_convolution_per_channel(tf, run, rng):
    x, w = rng.randn(1, 5, 5, 3), rng.randn(2, 2, 3, 2)
    each = [tf.nn.conv2d(x[..., c:c + 1], w[:, :, c:c + 1], 1, "SAME") for c in range(3)]
    whole, parts = run([tf.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], "SAME"), tf.concat(each, 3)])
    np.testing.assert_allclose(whole, parts)


def test_grouped_convolution(tf, run, rng):
    x, w = rng.randn(1, 4, 4, 4), rng.randn(2, 2, 2, 6)
    first = tf.nn.conv2d(x[..., :2], w[..., :3], 1, "VALID")
    second = tf.nn.conv2d(x[..., 2:], w[..., 3:], 1, "VALID")
    whole, parts = run([tf.nn.conv2d(x, w, 1, "VALID"), tf.concat([first, second], 3)])
    np.testing.assert_allclose(whole, parts)


def test_explicit_padding(tf, run, rng):
    x, w = rng.randn(1, 4, 5, 2), rng.randn(2, 2, 2, 3)
    padded = np.pad(x, [(0, 0), (1, 2), (0, 3), (0, 0)])
    a, b = run([tf.nn.conv2d(x, w, 2, [[0, 0], [1, 2], [0, 3], [0, 0]]), tf.nn.conv2d(padded, w, 2, "VALID")])
    np.testing.assert_allclose(a, b)
    with pytest.raises(ValueError, match="not padded"):
        tf.nn.conv2d(x, w, 2, [[0, 0], [1, 2], [0, 3], [1, 0]])


def test_transpose_restores_the_shape(tf, rng):
    y = tf.nn.conv2d_transpose(tf.zeros([2, 4, 3, 5]), tf.zeros([3, 3, 2, 5]), [2, 8, 6, 2], 2, "SAME")
    assert y.shape.as_list() == [2, 8, 6, 2]


def test_bad_geometry(tf):
    x, w = tf.zeros([1, 2, 2, 3]), tf.zeros([3, 3, 3, 1])
    with pytest.raises(ValueError, match="Negative dimension size"):
        tf.nn.conv2d(x, w, 1, "VALID")
    with pytest.raises(ValueError, match="Depth of input"):
        tf.nn.conv2d(x, tf.zeros([1, 1, 2, 1]), 1, "VALID")
    with pytest.raises(ValueError, match="length"):
        tf.nn.conv2d(x, w, [1, 1, 1], "SAME")
    with pytest.raises(ValueError, match="ksize cannot be zero"):
        tf.nn.max_pool(x, 0, 1, "SAME")


def test_batch_norm_of_a_batch_and_of_moving_moments(tf, run, rng):
    x = rng.randn(4, 3, 2, 5).astype(np.float32)
    scale, offset = rng.rand(5).astype(np.float32), rng.rand(5).astype(np.float32)
    y, mean, variance = run(tf.nn.fused_batch_norm(x, scale, offset, epsilon=1e-3))
    np.testing.assert_allclose(mean, x.mean((0, 1, 2)), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(variance, x.var((0, 1, 2), ddof=1), rtol=1e-5)
    np.testing.assert_allclose(y, (x - x.mean((0, 1, 2))) / np.sqrt(x.var((0, 1, 2)) + 1e-3) * scale + offset, rtol=1e-4,
                               atol=1e-5)
    still = run(tf.nn.fused_batch_norm(x, scale, offset, scale, offset, epsilon=1e-3, is_training=False)[0])
    np.testing.assert_allclose(still, (x - scale) / np.sqrt(offset + 1e-3) * scale + offset, rtol=1e-4, atol=1e-5)
    with pytest.raises(ValueError, match="must be None"):
        tf.nn.fused_batch_norm(x, scale, offset, scale, offset)


@pytest.mark.parametrize("jit", ["off", "always"])
@pytest.mark.parametrize("sizes", ["known", "unknown"])
def test_gradients_of_a_convolution_of_groups(tf, rng, jit, sizes):
    """Each group of input channels has filters of its own: as many convolutions side by side."""
    x = tf.placeholder(tf.float64, [1, 5, 5, 4] if sizes == "known" else [None] * 4)
    w = tf.placeholder(tf.float64, [3, 3, 2, 6])
    grouped = tf.nn.conv2d(x, w, 1, "SAME")
    apart = tf.concat([tf.nn.conv2d(x[..., :2], w[..., :3], 1, "SAME"), tf.nn.conv2d(x[..., 2:], w[..., 3:], 1, "SAME")], 3)
    feeds = {x: rng.randn(1, 5, 5, 4), w: rng.randn(3, 3, 2, 6)}
    with tf.Session(jit=jit) as session:
        for got, wanted in zip(*session.run([[y, *tf.gradients(y * y, [x, w])] for y in (grouped, apart)], feeds)):
            np.testing.assert_allclose(got, wanted, rtol=1e-10)


# operands of a gradient, and the attributes beside them; the filter's sizes are known, the others come with the run
_STEP, _WINDOW = dict(strides=[1, 1, 1, 1], padding="SAME"), dict(ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME")
_WHOLE = dict(ksize=[1, 5, 5, 1], strides=[1, 1, 1, 1], padding="VALID")
_STEP3 = dict(strides=[1] * 5, padding="SAME")
_IMAGES, _VOLUME, _HALF = (2, 5, 5, 4), (2, 4, 5, 5, 4), (2, 3, 3, 4)
OF_WINDOWS = [
    ("Conv2DBackpropInput", dict(input_sizes=_IMAGES, **_STEP), dict(filter=(3, 3, 4, 6), out_backprop=(2, 5, 5, 6))),
    ("Conv2DBackpropFilter", dict(filter_sizes=(3, 3, 4, 6), **_STEP), dict(input=_IMAGES, out_backprop=(2, 5, 5, 6))),
    ("DepthwiseConv2dNativeBackpropInput", dict(input_sizes=_IMAGES, **_STEP),
     dict(filter=(3, 3, 4, 2), out_backprop=(2, 5, 5, 8))),
    ("DepthwiseConv2dNativeBackpropFilter", dict(filter_sizes=(3, 3, 4, 2), **_STEP),
     dict(input=_IMAGES, out_backprop=(2, 5, 5, 8))),
    ("MaxPoolGrad", _WINDOW, dict(orig_input=_IMAGES, orig_output=_HALF, grad=_HALF)),
    ("MaxPoolGradGrad", _WINDOW, dict(orig_input=_IMAGES, orig_output=_HALF, grad=_IMAGES)),
    ("AvgPoolGrad", dict(orig_input_shape=_IMAGES, **_WINDOW), dict(grad=_HALF)),
    ("AvgPoolGrad", dict(orig_input_shape=_IMAGES, **_WHOLE), dict(grad=(2, 1, 1, 4))),
    ("Conv3DBackpropInputV2", dict(input_sizes=_VOLUME, **_STEP3), dict(filter=(3, 3, 3, 4, 6), out_backprop=(2, 4, 5, 5, 6))),
    ("Conv3DBackpropFilterV2", dict(filter_sizes=(3, 3, 3, 4, 6), **_STEP3), dict(input=_VOLUME, out_backprop=(2, 4, 5, 5, 6))),
]


@pytest.mark.parametrize("jit", ["off", "always"])
@pytest.mark.parametrize("name, attrs, operands", OF_WINDOWS)
def test_operands_that_do_not_go_together_are_refused(tf, name, attrs, operands, jit):
    """A kernel that takes the sizes of one operand for those of another would read beyond it."""
    for which, shape in operands.items():
        for axis in range(len(shape)):
            tf.reset_default_graph()
            wrong = {k: tuple(d + (k == which and i == axis) for i, d in enumerate(s)) for k, s in operands.items()}
            feeds = {tf.placeholder(tf.float32, s if k == "filter" else [None] * len(s)): np.ones(s) for k, s in wrong.items()}
            with tf.Session(jit=jit) as session:
                try:
                    y = getattr(tf.raw_ops, name)(**dict(zip(operands, feeds)), **attrs)
                    result = session.run(y, feeds)
                except (ValueError, tf.errors.InvalidArgumentError):
                    continue
                # what remains goes together: a tap more, or a row more that is no further window
                spatial = {"filter": range(len(shape) - 2), "orig_input": range(1, len(shape) - 1)}
                assert axis in spatial.get(which, ()), (name, which, axis, result.shape)


@pytest.mark.parametrize("jit", ["off", "always"])
def test_a_depthwise_convolution_of_no_images(tf, jit):
    x, w = tf.placeholder(tf.float32, [None, 6, 9, 4]), tf.ones([2, 1, 4, 3])
    y = tf.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], "VALID")
    with tf.Session(jit=jit) as session:
        assert [a.shape for a in session.run([y, *tf.gradients(y, [x, w])], {x: np.zeros((0, 6, 9, 4))})] == \
            [(0, 5, 9, 12), (0, 6, 9, 4), (2, 1, 4, 3)]


@pytest.mark.parametrize("jit", ["off", "always"])
def test_maxima_that_tie(tf, jit):
    """Of an image the gradient goes to the first of a window's maxima, of a volume to all of them, as TensorFlow has it."""
    image, volume = tf.ones([1, 2, 2, 1]), tf.ones([1, 3, 2, 2, 1])
    ys = [tf.nn.max_pool(image, [1, 2, 2, 1], [1] * 4, "VALID"), tf.nn.max_pool3d(volume, [1, 2, 2, 2, 1], [1] * 5, "SAME")]
    with tf.Session(jit=jit) as session:
        first, all_ = session.run(tf.gradients(ys, [image, volume]))
    assert first.ravel().tolist() == [1, 0, 0, 0] and all_.ravel().tolist() == [1, 2, 2, 4, 2, 4, 4, 8, 2, 4, 4, 8]


@pytest.mark.parametrize("jit", ["off", "always"])
@pytest.mark.parametrize("kind, reduce", [("MAX", np.maximum.reduce), ("AVG", lambda rows: np.mean(rows, 0))])
@pytest.mark.parametrize("rates", [[2, 2], [2, 3], [1, 2]])
def test_pools_with_elements_apart(tf, jit, kind, reduce, rates):
    x = np.random.RandomState(0).rand(2, 9, 8, 3).astype(np.float32)
    known, opened = tf.constant(x), tf.placeholder_with_default(x, [None, None, None, 3])
    ys = [tf.nn.pool(value, [3, 2], kind, "VALID", dilation_rate=rates) for value in (known, opened)]
    high, wide = 9 - 2 * rates[0], 8 - rates[1]
    taps = [(i * rates[0], j * rates[1]) for i in range(3) for j in range(2)]
    expected = reduce([x[:, top:top + high, left:left + wide] for top, left in taps])
    assert ys[0].shape.as_list() == [2, high, wide, 3] and ys[1].shape.as_list() == [None, None, None, 3]
    with tf.Session(jit=jit) as session:
        for found in session.run(ys):
            np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_pools_with_elements_apart_over_one_and_three_dimensions(tf):
    x = np.random.RandomState(0).rand(2, 7, 3).astype(np.float32)
    line = tf.nn.pool(x, [2], "MAX", "VALID", dilation_rate=[3])
    volume = tf.nn.pool(x[:, :, None, None], [2, 1, 1], "MAX", "VALID", dilation_rate=[3, 1, 1])
    with tf.Session() as session:
        found, deep = session.run([line, volume])
    np.testing.assert_array_equal(found, np.maximum(x[:, :-3], x[:, 3:]))
    np.testing.assert_array_equal(deep[:, :, 0, 0], found)


def test_the_gradient_of_a_pool_with_elements_apart(tf):
    x = np.random.RandomState(0).rand(1, 5, 1).astype(np.float32)
    value = tf.constant(x)
    grad, = tf.gradients(tf.nn.pool(value, [2], "AVG", "VALID", dilation_rate=[2]) * [[[1.0], [2.0], [4.0]]], [value])
    with tf.Session() as session:
        np.testing.assert_allclose(session.run(grad)[0, :, 0], [0.5, 1, 2.5, 1, 2])


@pytest.mark.parametrize("arguments, message", [
    (([3, 2], "MAX", "SAME", [2, 2]), "SAME padding is not implemented for dilation_rate > 1"),
    (([3, 2], "MAX", "VALID", [2, 2], [2, 1]), "strides > 1 not supported in conjunction with dilation_rate > 1"),
    (([3, 2], "MAX", "VALID", [2]), r"len\(dilation_rate\)=1 but should be 2"),
    (([3, 2], "MAX", "VALID", [0, 1]), "all values of dilation_rate must be positive"),
    (([2, 2], "MAX", "VALID", None, [3, 1]), "strides > window_shape not supported")])
def test_pools_that_do_not_fit(tf, arguments, message):
    with pytest.raises(ValueError, match=message):
        tf.nn.pool(np.zeros([2, 9, 9, 3], np.float32), *arguments)


@pytest.mark.parametrize("channels, result, rate, message", [
    (3, [2, 9, 9, 5], 2, "value's input channels does not match filters' input channels, 3 != 4"),
    (3, [2, 9, 9, 5], 1, "value's input channels does not match filters' input channels, 3 != 4"),
    (4, [2, 9, 9, 6], 2, "output_shape does not match filter's output channels, 6 != 5"),
    (4, [2, 9, 9, 5], 0, "rate 0 cannot be less than one")])
def test_a_transposed_atrous_convolution_that_does_not_fit(tf, channels, result, rate, message):
    with pytest.raises(ValueError, match=message):
        tf.nn.atrous_conv2d_transpose(tf.zeros([2, 9, 9, channels]), tf.zeros([3, 3, 5, 4]), result, rate, "SAME")
