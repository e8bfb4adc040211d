"""Images whose size only the run knows, resized, cut and padded: one program or few for all, results as by NumPy."""
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


@pytest.mark.parametrize("corners", [False, True])
@pytest.mark.parametrize("new", list(NEW))
def test_one_program_takes_means_of_areas_of_images_of_all_sizes(tf, new, corners):
    x = tf.placeholder(tf.float32, [None, None, None, 3])
    y = tf.image.resize_area(x, NEW[new](tf.shape(x)[1:3]), align_corners=corners)
    with tf.Session(jit="off") as reference, tf.Session(jit="always") as session:
        for size in SIZES:
            images = RNG.standard_normal(size).astype(np.float32)
            images[0, 3, 4] = np.inf, np.nan, 1e30           # of no weight for most new pixels
            np.testing.assert_allclose(session.run(y, {x: images}), reference.run(y, {x: images}), rtol=1e-5, atol=1e-5)
        assert len(session.plans[0].compiled) == 1


def _side(tf, x, which):
    return getattr(tf, which)(tf.shape(x)[1], tf.shape(x)[2])


CUTS = {    # what is done with images [n, height, width, 3], and how many programs all sizes may have
    "crop_or_pad": (lambda tf, x: tf.image.resize_image_with_crop_or_pad(x, 32, 40), 9),
    "crop_or_pad_to_a_square": (lambda tf, x: tf.image.resize_image_with_crop_or_pad(
        x, _side(tf, x, "maximum"), _side(tf, x, "maximum")), 16),
    "crop_to_halves": (lambda tf, x: tf.image.crop_to_bounding_box(x, 2, 3, 10, tf.shape(x)[2] // 2), 1),
    "crop_from_quarters": (lambda tf, x: tf.image.crop_to_bounding_box(x, tf.shape(x)[1] // 4, tf.shape(x)[2] // 4, 10, 12), 1),
    "pad_to_a_size": (lambda tf, x: tf.image.pad_to_bounding_box(x, 2, 3, 100, 120), 1),
    "pad_to_twice": (lambda tf, x: tf.image.pad_to_bounding_box(x, 2, 3, tf.shape(x)[1] + 7, tf.shape(x)[2] * 2), 1),
    "pad_to_blocks": (lambda tf, x: tf.pad(x, [[0, 0], [0, -tf.shape(x)[1] % 16], [0, -tf.shape(x)[2] % 16], [0, 0]]), 1),
    "central_crop": (lambda tf, x: tf.image.central_crop(x, 0.5), 5),
    "random_crop": (lambda tf, x: tf.random_crop(x, [2, tf.shape(x)[1] // 2, 10, 3], seed=1), 1),
    "with_pad": (lambda tf, x: tf.image.resize_image_with_pad(x, 32, 40), 16),
}


@pytest.mark.parametrize("name", list(CUTS))
def test_few_programs_cut_and_pad_images_of_seventy_sizes(tf, name):
    function, most = CUTS[name]
    x = tf.placeholder(tf.float32, [None, None, None, 3])
    y = function(tf, x)
    rng = np.random.RandomState(0)
    with tf.Session(jit="off") as reference, tf.Session(jit="always") as session:
        for size in rng.randint(20, 70, (70, 2)):
            feeds = {x: rng.standard_normal((2, *size, 3)).astype(np.float32)}
            np.testing.assert_allclose(session.run(y, feeds), reference.run(y, feeds), rtol=0, atol=1e-5)
        assert len(session.plans[0].compiled) <= most
