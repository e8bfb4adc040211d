"""Products of quantized numbers with bias, sum, relu and requantization in one node, beside the same of floats.

TensorFlow 1.15 has them in builds with MKL alone: what they stand for is that floats which levels stand for are multiplied.
"""
import numpy as np
import pytest

from jitgraph.ops.quantize.fused_products import CONVOLUTIONS, PRODUCTS

RNG = np.random.default_rng(0)
IMAGES = RNG.integers(0, 256, (2, 5, 4, 3)).astype(np.uint8)
TAPS = {False: RNG.integers(-127, 128, (3, 2, 3, 4)).astype(np.int8), True: RNG.integers(-127, 128, (3, 2, 3, 2)).astype(np.int8)}
TOP = {"quint8": 255, "qint8": 127}


def levels(tf, array):
    return tf.bitcast(array, {"uint8": tf.quint8, "int8": tf.qint8, "int32": tf.qint32}[array.dtype.name])


def plain(tf, x):
    return tf.bitcast(x, {"quint8": tf.uint8, "qint8": tf.int8, "qint32": tf.int32}[x.dtype.name])


def floats_of(values, kind, low, high):
    """What levels of a result stand for: sums by channel, others by the reach of the range."""
    if kind == "qint32":
        return values * (high / (2.0**31 - 1))
    return values * (max(-low, high) / TOP[kind])


@pytest.mark.parametrize("by_channel", [False, True])
@pytest.mark.parametrize("name", sorted(CONVOLUTIONS))
def test_convolutions_are_those_of_the_floats(tf, name, by_channel):
    depthwise, again, relu = "Depthwise" in name, "Requantize" in name, "Relu" in name
    taps = TAPS[depthwise]
    reach = np.linspace(0.5, 2.0, taps.shape[-1] * (taps.shape[-2] if depthwise else 1)).astype(np.float32)
    reach = reach if by_channel else np.float32(1.25)
    images = IMAGES * np.float32(4 / 255)
    if depthwise:
        weights = taps / 127 * (reach.reshape(3, 2) if by_channel else reach)
        wanted = tf.nn.depthwise_conv2d(images, weights.astype(np.float32), [1, 1, 1, 1], "SAME")
    else:
        wanted = tf.nn.conv2d(images, (taps / 127 * reach).astype(np.float32), strides=[1, 1, 1, 1], padding="SAME")
    inputs = {"input": levels(tf, IMAGES), "filter": levels(tf, taps), "min_input": 0.0, "max_input": 4.0, "min_filter": -reach,
              "max_filter": reach}
    channels = wanted.shape[-1].value
    if "Bias" in name:
        bias = np.linspace(-3, 3, channels).astype(np.float32)
        inputs["bias"] = bias
        wanted += bias
    if "Sum" in name:
        shape = wanted.shape.as_list()
        if again:
            summand = RNG.integers(-100, 100, shape).astype(np.int8) if "Signed" in name else RNG.integers(0, 200, shape).astype(
                np.uint8)
            inputs.update(summand=levels(tf, summand), min_summand=-3.0, max_summand=6.0)
            wanted += summand * np.float32(6 / (127 if "Signed" in name else 255))
        else:
            inputs["summand"] = RNG.normal(size=shape).astype(np.float32) * 4
            wanted += inputs["summand"]
    wanted = tf.nn.relu(wanted) if relu else wanted
    if again:
        inputs.update(min_freezed_output=-12.0, max_freezed_output=20.0)
        wanted = tf.clip_by_value(wanted, 0 if relu else -20, 20)
    found = getattr(tf.raw_ops, name)(**inputs, strides=[1, 1, 1, 1], padding="SAME")
    with tf.Session() as session:
        (values, low, high), right = session.run([(plain(tf, found[0]), *found[1:]), wanted])
    assert np.shape(low) == np.shape(high) == (() if again else np.shape(reach))
    got = floats_of(values, found[0].dtype.name, low, high)
    one = 20 / 127 if found[0].dtype.name == "qint8" else 20 / 255
    np.testing.assert_allclose(got, right, rtol=0, atol=0.51 * one if again else 1e-3)
    assert np.abs(right).max() > 5


@pytest.mark.parametrize("mode", ["MIN_FIRST", "SCALED"])
@pytest.mark.parametrize("name", sorted(PRODUCTS))
def test_products_are_those_of_the_floats(tf, name, mode):
    again, relu = "Requantize" in name, "Relu" in name
    a, b = IMAGES[0, :, :, 0], RNG.integers(-127, 128, (4, 3)).astype(np.int8)
    low, high = (-1.5, 2.5) if mode == "MIN_FIRST" else (0.0, 2.5)
    left = low + a * ((high - low) / 255) if mode == "MIN_FIRST" else a * (high / 255)
    bias = np.array([0.5, -1, 2], np.float32)
    right = left @ (b / 127 * 1.5) + bias
    right = np.maximum(right, 0) if relu else right
    frozen = {"min_freezed_output": 0.0, "max_freezed_output": 9.0} if again else {}
    right = np.clip(right, 0, 9) if again else right
    found = getattr(tf.raw_ops, name)(levels(tf, a), levels(tf, b), bias, min_a=low, max_a=high, min_b=-1.5, max_b=1.5,
                                      input_quant_mode=mode, **frozen)
    with tf.Session() as session:
        values, least, most = session.run((plain(tf, found[0]), *found[1:]))
    got = floats_of(values, found[0].dtype.name, least, most)
    # the level of min_a is rounded once for each column
    np.testing.assert_allclose(got, right, rtol=0, atol=0.51 * 9 / 255 if again else 1e-3)


@pytest.mark.parametrize("kind, top", [("quint8", 255), ("qint8", 127)])
def test_sums_of_channels_are_brought_to_one_range(tf, kind, top):
    sums = (RNG.normal(size=(4, 3)) * 2e8).astype(np.int32)
    sums = np.abs(sums) if kind == "quint8" else sums
    reach = np.array([1.0, 2.0, 8.0], np.float32)
    stands_for = sums * (reach / 2.0**31)
    bounds = tf.raw_ops.RequantizationRangePerChannel(levels(tf, sums), -reach, reach, clip_value_max=100.0)
    result = tf.raw_ops.RequantizePerChannel(levels(tf, sums), -reach, reach, *bounds, out_type=getattr(tf, kind))
    with tf.Session() as session:
        low, high, values = session.run([*bounds, plain(tf, result[0])])
        clipped = tf.raw_ops.RequantizationRangePerChannel(levels(tf, sums), -reach, reach, clip_value_max=0.25)
        assert session.run(clipped)[1] == 0.25
    assert high == pytest.approx(np.abs(stands_for).max()) and low == (0 if kind == "quint8" else -high)
    np.testing.assert_allclose(values * (high / top), stands_for, rtol=0, atol=0.51 * high / top)


def test_ranges_must_fit_the_channels(tf):
    message = "input_min has incorrect size, expected 3 was 2"
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=message):
        session.run(tf.raw_ops.RequantizationRangePerChannel(levels(tf, np.zeros((4, 3), np.int32)), [0.0, 0.0], [1.0, 1.0],
                                                             clip_value_max=1.0))


def test_equal_products_without_kernels_run_on_the_host(tf):
    """The second is not taken for the primitive that the first one had before it was found to have no kernel."""
    x = tf.placeholder(tf.int32, [3, 3])
    with tf.Session(jit="always") as session:
        for found in session.run([tf.matmul(x, x), tf.matmul(x, x)], {x: np.eye(3) * 2}):
            np.testing.assert_array_equal(found, np.eye(3) * 4)
