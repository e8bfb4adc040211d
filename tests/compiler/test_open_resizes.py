"""Resizes of images whose size only the run knows: one program for all, results as by NumPy."""
import numpy as np
import pytest

RNG = np.random.RandomState(0)
SIZES = [(2, 20, 35, 3), (4, 31, 25, 3), (6, 17, 40, 3), (2, 29, 50, 3), (5, 44, 23, 3)]      # none equal by chance
NEW = {"twice": lambda size: size * 2, "two thirds": lambda size: 2 * size // 3, "as tall": lambda size: [size[0], 21],
       "fixed": lambda size: [13, 7]}


@pytest.mark.parametrize("centers", [{}, {"align_corners": True}, {"half_pixel_centers": True}], ids=["plain", "corners", "half"])
@pytest.mark.parametrize("new", list(NEW))
@pytest.mark.parametrize("kind", ["bilinear", "nearest_neighbor", "bicubic"])
def test_one_program_resizes_images_of_all_sizes(tf, kind, new, centers):
    x = tf.placeholder(tf.float32, [None, None, None, 3])
    y = getattr(tf.image, f"resize_{kind}")(x, NEW[new](tf.shape(x)[1:3]), **centers)
    weights = tf.reshape(tf.cast(tf.range(tf.size(y)) % 7, tf.float32), tf.shape(y))
    fetches = [y, tf.gradients(y * weights, x)[0]]
    with tf.Session(jit="off") as reference, tf.Session(jit="always") as session:
        for size in SIZES:
            feeds = {x: RNG.standard_normal(size).astype(np.float32)}
            (wanted, gradient), (found, sent) = reference.run(fetches, feeds), session.run(fetches, feeds)
            np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-5)
            np.testing.assert_allclose(sent, gradient, rtol=0, atol=1e-5 * np.abs(gradient).max())
        assert len(session.plans[0].compiled) <= 2          # segments, where the new size is computed
