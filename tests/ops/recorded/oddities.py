"""Arguments that are seldom given: what they change, and which are refused."""
import numpy as np

F32 = np.float32


def draw(*shape, seed=0):
    return np.random.RandomState(seed).uniform(-2, 2, shape).astype(F32)


def means(tf):
    """Means of segments, also of integers and of none, and distances from means."""
    found = {}
    for dtype in ("int32", "int64", "float16", "float32", "float64"):
        for ids in ([0, 0, 2, 2, 5], [3, 1, 0, 0, 0], [-1, 0, 0, 1, 1]):
            def build(dtype=dtype, ids=ids):
                data = (draw(5, 2) * 9).astype(dtype)
                return [tf.unsorted_segment_mean(data, ids, 6), tf.unsorted_segment_mean(data[:, 0], ids, 6)]

            found[f"mean of segments {dtype} {ids}"] = build
    for dtype in ("int32", "int64", "uint8", "float16", "complex64"):
        for name in ("reduce_variance", "reduce_std"):
            for axis in (None, 0, [0, 1]):
                found[f"{name} {dtype} {axis}"] = lambda name=name, dtype=dtype, axis=axis: getattr(tf.math, name)(
                    (np.arange(6).reshape(2, 3) * 7 % 5).astype(dtype), axis)
    return found


def windows(tf):
    """Windows that are larger than the image."""
    found, image = {}, draw(1, 6, 7, 2)
    for size in ((6, 7), (7, 7), (8, 3), (9, 9), (12, 12)):
        for step in (1, 2, 8):
            def patches(k=size, s=step):
                return tf.image.extract_image_patches(image, [1, *k, 1], [1, s, s, 1], [1, 1, 1, 1], "VALID")

            def volumes(k=size, s=step):
                return tf.extract_volume_patches(image[:, :, :, None], [1, *k, 1, 1], [1, s, s, s, 1], "VALID")

            def dilation(k=size, s=step):
                return tf.nn.dilation2d(image, draw(*k, 2), [1, s, s, 1], [1, 1, 1, 1], "VALID")

            def pool(k=size, s=step):
                return tf.nn.max_pool(image, [1, *k, 1], [1, s, s, 1], "VALID")

            for build in (patches, volumes, dilation, pool):
                found[f"{build.__name__} {size} {step}"] = build
    return found


def losses(tf):
    """The loss of sequences without elements, or with fewer than labels."""
    found, logits = {}, draw(6, 3, 5)
    for rows in ([0, 1, 2], [0, 0, 1, 2], [0, 1, 1, 1, 2, 2]):
        for lengths in ([6, 6, 6], [6, 0, 6], [0, 6, 1], [1, 6, 6]):
            for ignore in (False, True):
                def build(rows=rows, lengths=lengths, ignore=ignore):
                    places = np.array([[row, rows[:k].count(row)] for k, row in enumerate(rows)], np.int64).reshape(-1, 2)
                    labels = tf.SparseTensor(places, np.arange(len(rows), dtype=np.int32) % 3, [3, 2])
                    return tf.nn.ctc_loss(labels, logits, lengths, ignore_longer_outputs_than_inputs=ignore)

                found[f"loss of {rows} {lengths} {ignore}"] = build
    return found


def cases(tf):
    found = {**means(tf), **windows(tf), **losses(tf)}
    for op in ("ResizeBilinear", "ResizeNearestNeighbor", "ResizeBicubic"):
        for corners in (False, True):
            for half in (False, True):
                found[f"{op} {corners} {half}"] = lambda op=op, corners=corners, half=half: getattr(tf.raw_ops, op)(
                    images=draw(1, 5, 4, 2), size=[3, 7], align_corners=corners, half_pixel_centers=half)
    for mode in ("MIN_COMBINED", "MIN_FIRST", "SCALED"):
        for rounding in ("HALF_AWAY_FROM_ZERO", "HALF_TO_EVEN"):
            def build(mode=mode, rounding=rounding):
                found = tf.quantize(draw(3, 4), -1.5, 2.5, tf.quint8 if mode != "SCALED" else tf.qint8, mode, rounding)
                return [tf.dequantize(found[0], found[1], found[2], mode), found[1], found[2]]

            found[f"quantize {mode} {rounding}"] = build
    for dtype in (tf.uint8, tf.int8, tf.int32, tf.float32):
        found[f"generated {dtype.name}"] = lambda dtype=dtype: tf.compat.v1.data.make_one_shot_iterator(
            tf.data.Dataset.from_generator(lambda: [5, 300, -1, -200, 1 << 40], dtype).batch(9)).get_next()
    for dims in (0, 1, -1):
        for axis in (None, 0, 1, 2, -1):
            found[f"gather {dims} {axis}"] = lambda dims=dims, axis=axis: tf.gather(
                draw(2, 3, 4), np.array([[0, 1], [1, 0]]), axis=axis, batch_dims=dims)
    for k in (-1, 0, 3, 4):
        found[f"top {k}"] = lambda k=k: tf.nn.top_k(draw(2, 3), k)
    return found
