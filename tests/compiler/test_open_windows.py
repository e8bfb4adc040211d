"""Networks over images whose size only the run knows: no program for each size, or for odd and even ones."""
import numpy as np
import pytest

RNG = np.random.RandomState(0)
SIZES = [(2, 21, 34), (3, 28, 43), (5, 35, 22), (4, 44, 29), (2, 37, 40), (3, 26, 51)]      # odd and even, none equal by chance


def strides(tf, x):
    for filters in (4, 5, 6):
        x = tf.layers.conv2d(x, filters, 3, 2, "same")
    return x


def pooled(tf, x):
    return tf.layers.average_pooling2d(tf.layers.max_pooling2d(strides(tf, x), 3, 2, "same"), 2, 1, "same")


def depthwise(tf, x):
    return tf.layers.separable_conv2d(tf.layers.separable_conv2d(x, 4, 3, 2, "same"), 4, 7, 2, "same")


def back_again(tf, x):
    return tf.image.resize_bilinear(strides(tf, x), tf.shape(x)[1:3])


def volumes(tf, x):
    return tf.layers.conv3d(tf.layers.conv3d(x[..., None], 3, 3, 2, "same"), 3, 3, 2, "same")


def with_gaps(tf, x):
    return tf.layers.conv2d(tf.layers.conv2d(x, 32, 1), 32, 3, 1, "same", dilation_rate=2)


@pytest.mark.parametrize("network", [strides, pooled, depthwise, back_again, volumes, with_gaps])
def test_sizes_share_a_program(tf, network):
    x = tf.placeholder(tf.float32, [None, None, None, 3])
    y = network(tf, x)
    fetches = [y, *tf.gradients(tf.square(y), [x, *tf.trainable_variables()])]
    values = [RNG.standard_normal(v.shape.as_list()).astype(np.float32) for v in tf.global_variables()]
    results = []
    for jit in ("off", "always"):
        with tf.Session(jit=jit) as session:
            for variable, value in zip(tf.global_variables(), values):
                variable.load(value, session)
            results.append([session.run(fetches, {x: np.random.RandomState(n).standard_normal((*size, 3))})
                            for n, size in enumerate(SIZES)])
            if jit == "always":
                assert len(session.plans[-1].compiled) <= 2     # sums over many rows are made in parts
    for wanted, found in zip(*results):
        for a, b in zip(wanted, found):
            np.testing.assert_allclose(b, a, rtol=0, atol=3e-5 * np.abs(a).max())
