"""VALID windows over images that a run shows to be smaller: no output where TensorFlow's kernels give none, else its error."""
import numpy as np
import pytest

ONES = {(n, n): np.ones((n, n, 2, 4), np.float32) for n in (2, 3)}
OPS = {
    "conv2d": lambda tf, x, s: tf.nn.conv2d(x, ONES[3, 3], [1, s, s, 1], "VALID"),
    "dilated": lambda tf, x, s: tf.nn.conv2d(x, ONES[s + 1, s + 1], [1, s, s, 1], "VALID", dilations=[1, 3 - s, 3 - s, 1]),
    "depthwise": lambda tf, x, s: tf.nn.depthwise_conv2d(x, ONES[3, 3], [1, s, s, 1], "VALID"),
    "max_pool": lambda tf, x, s: tf.nn.max_pool(x, [1, 3, 3, 1], [1, s, s, 1], "VALID"),
    "avg_pool": lambda tf, x, s: tf.nn.avg_pool(x, [1, 3, 3, 1], [1, s, s, 1], "VALID"),
    "dilation2d": lambda tf, x, s: tf.nn.dilation2d(x, ONES[3, 3][..., 0], [1, s, s, 1], [1, 1, 1, 1], "VALID"),
    "patches": lambda tf, x, s: tf.image.extract_image_patches(x, [1, 3, 3, 1], [1, s, s, 1], [1, 1, 1, 1], "VALID")}


@pytest.mark.parametrize("jit", ["off", "always"])
@pytest.mark.parametrize("stride, sizes, wrong", [
    (1, {(9, 8): (7, 6), (2, 5): (0, 3), (2, 2): (0, 0), (6, 6): (4, 4)}, [(1, 5), (5, 1), (0, 4)]),
    (2, {(9, 8): (4, 3), (2, 5): (0, 2), (1, 1): (0, 0), (0, 5): (0, 2), (6, 6): (2, 2)}, [])])
@pytest.mark.parametrize("name", list(OPS))
def test_windows_that_no_image_fills_give_no_output(tf, monkeypatch, jit, name, stride, sizes, wrong):
    monkeypatch.setenv("JITGRAPH_JIT", jit)
    x = tf.placeholder(tf.float32, [None, None, None, 2])
    y = OPS[name](tf, x, stride)
    fetch = [y] if name == "patches" else [y, tf.gradients(y, x)[0]]
    with tf.Session() as session:
        for size, expected in sizes.items():
            found = session.run(fetch, {x: np.ones((1, *size, 2), np.float32)})
            assert found[0].shape[1:3] == expected
            assert [array.shape for array in found[1:]] == [(1, *size, 2)] * len(found[1:])
            assert found[0].size or not any(array.any() for array in found[1:])
        for size in wrong:
            with pytest.raises(tf.errors.InvalidArgumentError, match="Computed output size would be negative"):
                session.run(fetch, {x: np.ones((1, *size, 2), np.float32)})


def test_what_a_graph_states_is_refused_while_it_is_built(tf):
    with pytest.raises(ValueError, match="Negative dimension size caused by subtracting 3 from 2"):
        tf.nn.max_pool(tf.ones([1, 2, 5, 2]), [1, 3, 3, 1], [1, 1, 1, 1], "VALID")
    with pytest.raises(ValueError, match="Negative dimension size caused by subtracting 3 from 2"):
        tf.nn.conv2d(tf.ones([1, 5, 2, 2]), ONES[3, 3], [1, 2, 2, 1], "VALID")


@pytest.mark.parametrize("jit", ["off", "always"])
def test_images_without_rows_have_padded_windows_of_none(tf, monkeypatch, jit):
    monkeypatch.setenv("JITGRAPH_JIT", jit)
    x = tf.placeholder(tf.float32, [None, None, None, 2])
    y = tf.nn.conv2d(x, ONES[3, 3], [1, 1, 1, 1], "SAME")
    with tf.Session() as session:
        assert session.run(y, {x: np.ones((1, 0, 4, 2), np.float32)}).shape == (1, 0, 4, 4)
