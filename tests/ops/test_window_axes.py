"""Windows go over the spatial axes alone: a size, step or gap along the batch or the channels is refused, not left out."""
import numpy as np
import pytest

X, W = np.ones([2, 4, 4, 4], np.float32), np.ones([2, 2, 4, 3], np.float32)
V, U = np.ones([2, 4, 4, 4, 4], np.float32), np.ones([2, 2, 2, 4, 3], np.float32)
ONE, ONE_3D = [1] * 4, [1] * 5
BATCH, BATCH_3D, DEPTH, DEPTH_3D = [2, 1, 1, 1], [2, 1, 1, 1, 1], [1, 1, 1, 2], [1, 1, 1, 1, 2]

REFUSED = {
    "conv2d": lambda tf: [tf.nn.conv2d(X, W, steps, "VALID") for steps in (BATCH, DEPTH)],
    "conv2d, sizes not known": lambda tf: [tf.nn.conv2d(tf.placeholder_with_default(X, None), W, BATCH, "VALID")],
    "gaps": lambda tf: [tf.nn.conv2d(X, W, ONE, "VALID", dilations=gaps) for gaps in (BATCH, DEPTH)],
    "depthwise": lambda tf: [tf.nn.depthwise_conv2d_native(X, W, BATCH, "VALID")],
    "of the input": lambda tf: [tf.nn.conv2d_transpose(np.ones([2, 3, 3, 3], np.float32), W, X.shape, DEPTH, "VALID")],
    "of the filter": lambda tf: [tf.nn.conv2d_backprop_filter(X, W.shape, np.ones([2, 3, 3, 3], np.float32), BATCH, "VALID")],
    "conv3d": lambda tf: [tf.nn.conv3d(V, U, steps, "VALID") for steps in (BATCH_3D, DEPTH_3D)],
    "of the volume": lambda tf: [tf.nn.conv3d_transpose(np.ones([2, 3, 3, 3, 3], np.float32), U, V.shape, BATCH_3D, "VALID")],
}


@pytest.mark.parametrize("jit", ["off", "always"])
@pytest.mark.parametrize("name", REFUSED)
def test_convolutions(tf, name, jit):
    for y in REFUSED[name](tf):                 # the graph may say so; the run refuses it
        with tf.Session(jit=jit) as session, pytest.raises(tf.errors.InvalidArgumentError, match="in the batch and depth dim"):
            session.run(y)


UNIMPLEMENTED = {
    "batch": lambda tf: [(tf.nn.max_pool(X, BATCH, ONE, "VALID"), "batch dimension"),
                         (tf.nn.avg_pool(X, ONE, BATCH, "VALID"), "batch"),
                         (tf.nn.max_pool(X, [1, 4, 4, 1], BATCH, "VALID"), "batch"),       # of the whole image
                         (tf.nn.max_pool_with_argmax(X, BATCH, ONE, "VALID")[0], "batch")],
    "channels": lambda tf: [(tf.nn.max_pool(X, DEPTH, ONE, "VALID"), "to equal the depth stride"),
                            (tf.nn.max_pool(X, [1, 1, 1, 3], [1, 1, 1, 3], "VALID"), "evenly divide"),
                            (tf.nn.max_pool(X, [1, 2, 1, 2], DEPTH, "VALID"), "exactly one of")],
    "volumes": lambda tf: [(tf.nn.max_pool3d(V, BATCH_3D, ONE_3D, "VALID"), "batch dimension"),
                           (tf.nn.avg_pool3d(V, DEPTH_3D, DEPTH_3D, "VALID"), "depth dimension")],
    "patches": lambda tf: [(tf.extract_image_patches(X, *windows, "VALID"), "across space")
                           for windows in ((BATCH, ONE, ONE), (ONE, DEPTH, ONE), (ONE, ONE, BATCH))],
    "volume patches": lambda tf: [(tf.extract_volume_patches(V, *windows, "VALID"), "across space")
                                  for windows in ((BATCH_3D, ONE_3D), (ONE_3D, DEPTH_3D))],
    "dilation": lambda tf: [(tf.nn.dilation2d(X, W[..., 0], *windows, "VALID"), "across spatial")
                            for windows in ((BATCH, ONE), (ONE, DEPTH))],
}


@pytest.mark.parametrize("jit", ["off", "always"])
@pytest.mark.parametrize("name", UNIMPLEMENTED)
def test_poolings_and_patches(tf, name, jit):
    for y, message in UNIMPLEMENTED[name](tf):
        with tf.Session(jit=jit) as session, pytest.raises(tf.errors.UnimplementedError, match=message):
            session.run(y)


@pytest.mark.parametrize("jit", ["off", "always"])
def test_maxima_over_channels(tf, jit):
    x = np.arange(32, dtype=np.float32).reshape(1, 2, 4, 4)
    with tf.Session(jit=jit) as session:
        found = session.run(tf.nn.max_pool(x, DEPTH, DEPTH, "VALID"))
    np.testing.assert_array_equal(found, x.reshape(1, 2, 4, 2, 2).max(-1))


@pytest.mark.parametrize("padding, message", [
    ([[0, 0], [0, -1], [1, 2], [0, 0]], "must be nonnegative"), ([[1, 0], [0, 0], [0, 0], [0, 0]], "batch or depth"),
    ([[0, 0]] * 3, "of size 4"), ([[0]] * 4, "has size 1"), ([0] * 4, "is not a list/tuple")])
def test_stated_paddings(tf, padding, message):
    with pytest.raises(ValueError, match=message):
        tf.nn.conv2d(tf.placeholder(tf.float32), tf.placeholder(tf.float32), ONE, padding)


def test_lists_have_one_number_per_axis(tf):
    for make in (lambda: tf.raw_ops.Conv2D(input=X, filter=W, strides=[1, 1, 1], padding="SAME"),
                 lambda: tf.raw_ops.Conv2D(input=X, filter=W, strides=ONE, padding="SAME", dilations=[1, 1, 1]),
                 lambda: tf.nn.depthwise_conv2d_native(X, W, [1, 1, 1], "SAME")):
        with pytest.raises(ValueError, match="attribute to contain 4 values, but got: 3"):
            make()
