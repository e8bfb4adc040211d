"""Images resized by every method, with both ways to align them, and the gradients."""
import numpy as np

SIZES = ((5, 7), (10, 14), (3, 4), (1, 1), (8, 3), (2, 13))


def resized(tf, method, images, size, attributes):
    def build():
        x = tf.constant(images)
        y = getattr(tf.image, "resize_" + method)(x, size, **attributes)
        if method == "area" or images.dtype == np.uint8:
            return y
        weights = np.cos(np.arange(2 * size[0] * size[1] * 3)).reshape(2, size[0], size[1], 3)
        return [y, tf.gradients(y, x, tf.constant(weights.astype(np.float32)))]

    return build


def not_finite(tf, method, depth, size):
    """A NaN and an infinity in the images and in what arrives: they reach the pixels beside them, and no others."""
    def build():
        x, arriving = (np.cos(np.arange(np.prod(shape))).reshape(shape).astype(np.float32)
                       for shape in ((2, 5, 7, depth), (2, *size, depth)))
        for array in (x, arriving):
            array[0, 2, 2, 1], array[1, 0, 0, 0] = np.nan, -np.inf
        x = tf.constant(x)
        y = getattr(tf.image, "resize_" + method)(x, size)
        return y if method == "area" else [y, tf.gradients(y, x, tf.constant(arriving))]

    return build


def cases(tf):
    rng = np.random.RandomState(0)
    found = {}
    for dtype in (np.float32, np.uint8):
        images = (rng.rand(2, 5, 7, 3) * 255).astype(dtype)
        for size in SIZES:
            for method in ("bilinear", "nearest_neighbor", "bicubic", "area"):
                for name, attributes in (("", {}), ("corners", {"align_corners": True}),
                                         ("half", {"half_pixel_centers": True})):
                    if method != "area" or name != "half":
                        found[f"{method} {dtype.__name__} {size} {name}"] = resized(
                            tf, method, images, size, attributes)
    for method in ("bilinear", "bicubic", "nearest_neighbor", "area"):
        for depth in (3, 20):
            for size in ((10, 4), (5, 7)):
                found[f"{method} of {depth} to {size}, not finite"] = not_finite(tf, method, depth, size)
    found["size of three"] = lambda: tf.image.resize_bilinear(images, [3, 3, 3])
    found["one image"] = lambda: tf.image.resize_bilinear(images[0], [3, 3])
    found["size 0"] = lambda: tf.image.resize_bilinear(images, [0, 3])
    return found
