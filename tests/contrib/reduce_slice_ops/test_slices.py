"""Slices along other axes, and between neighbours: TensorFlow 1.15.5 describes them, but its shapes refuse them."""
import numpy as np


def test_neighbours_and_other_axes(tf):
    R = tf.contrib.reduce_slice_ops
    cube = np.arange(24.0).reshape(2, 3, 4)
    with tf.Session() as session:
        sums, largest = session.run([R.reduce_slice_sum(cube, [[0, 2], [1, 9]], 2), R.reduce_slice_max(cube, [0, 1, 3], 1)])
    np.testing.assert_array_equal(sums, np.stack([cube[..., :2].sum(2), cube[..., 1:].sum(2)], 2))
    np.testing.assert_array_equal(largest, np.stack([cube[:, 0], cube[:, 1:].max(1)], 1))
    assert R.reduce_slice_sum(cube, [[0, 2], [1, 9]], 2).shape == [2, 3, 2]
