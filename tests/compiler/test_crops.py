"""Crops of images and their gradients: kernels that pick pixels, and add them up."""
import numpy as np
import pytest

RNG = np.random.default_rng(5)
BOXES = np.concatenate([RNG.uniform(-0.3, 1.3, (6, 4)), [[0, 0, 1, 1], [0.9, 0.8, 0.1, 0.2]]]).astype(np.float32)
IMAGES = np.array([0, 2, 1, 1, 0, 2, 0, 1], np.int32)


def crops(tf, images, size, method):
    boxes, box_ind = tf.placeholder(tf.float32, [None, 4]), tf.placeholder(tf.int32, [None])
    found = tf.image.crop_and_resize(images, boxes, box_ind, size, method=method, extrapolation_value=0.5)
    return found, {boxes: BOXES, box_ind: IMAGES}


@pytest.mark.parametrize("method", ["bilinear", "nearest"])
@pytest.mark.parametrize("size", [(3, 4), (1, 1), (1, 5)])
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.float64, np.uint8])
def test_crops_are_kernels(tf, agree, host_steps, dtype, size, method):
    images = tf.placeholder(dtype, [3, None, None, 2])
    found, feeds = crops(tf, images, size, method)
    fetches = [found]
    if dtype != np.uint8:
        fetches.append(tf.gradients(tf.square(found), images)[0])
    for shape in ((3, 6, 7, 2), (3, 1, 9, 2)):
        feeds[images] = RNG.uniform(0, 9, shape).astype(dtype)
        agree(fetches, feeds, dtype)
    if dtype != np.float16:                     # rows of halves are picked on the host
        assert host_steps(fetches[:1], feeds) == []


def test_the_gradient_of_images_of_known_size_is_a_kernel(tf, host_steps):
    images = tf.placeholder(tf.float32, [3, 6, 7, 2])
    found, feeds = crops(tf, images, (3, 4), "bilinear")
    gradient = tf.gradients(found, images)[0]
    assert host_steps([gradient], {images: np.ones((3, 6, 7, 2)), **feeds}) == []


@pytest.mark.parametrize("wrong", [-1, 3])
def test_a_box_of_an_image_that_is_not_there(tf, wrong):
    images = tf.placeholder(tf.float32, [None, 6, 7, 2])
    found, feeds = crops(tf, images, (2, 2), "bilinear")
    gradient = tf.gradients(found, images)[0]
    feeds = dict(zip(feeds, [BOXES[:2], [0, wrong]]))
    for fetch in (found, gradient):
        with tf.Session(jit="always") as session, pytest.raises(tf.errors.OutOfRangeError, match="outside"):
            session.run(fetch, {images: np.ones((3, 6, 7, 2)), **feeds})
