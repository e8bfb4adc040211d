"""Gradients at the points where there is a choice: ties, zeros, kinks, borders, duplicates, infinities and NaN."""
import functools

import numpy as np

INF, NAN = float("inf"), float("nan")
SPECIAL = [0.0, 1.0, -1.0, 0.5, 2.0, -2.0, 6.0, INF, -INF, NAN]


def gradients(tf, y, xs, grad_ys=None):
    """The gradients as dense tensors; the word "None" for those that are not there."""
    found = tf.gradients(y, xs, grad_ys)
    return [tf.constant("None") if g is None else tf.convert_to_tensor(g) for g in found]


def weights(tf, y):
    """1, 2, 3 ... in the shape of y."""
    return tf.cast(tf.reshape(tf.range(1, tf.size(y) + 1), tf.shape(y)), y.dtype)


def of_one(tf, function, x, dtype="float64", **attrs):
    x = tf.constant(x, dtype)
    y = function(x, **attrs)
    return gradients(tf, y, [x], weights(tf, y))


def of_pairs(tf, function, values, dtype="float64", others=None):
    a, b = (v.ravel() for v in np.meshgrid(values, values if others is None else others))
    x, y = tf.constant(a, dtype), tf.constant(b, dtype)
    z = function(x, y)
    return [z, *gradients(tf, z, [x, y])]


def element_by_element(tf, found):
    for name in ("abs", "sign", "sqrt", "rsqrt", "square", "exp", "log", "log1p", "expm1", "tanh", "sigmoid", "sin", "cos", "tan",
                 "asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh", "atanh", "erf", "erfc", "lgamma", "digamma",
                 "reciprocal", "negative", "floor", "ceil", "round", "rint"):
        values = SPECIAL[:7] if name == "digamma" else SPECIAL          # polygamma(1, inf) is NaN in TensorFlow
        found["math." + name] = lambda name=name, values=values: of_one(tf, getattr(tf.math, name), values)
    for name in ("relu", "relu6", "elu", "selu", "softplus", "softsign", "leaky_relu", "crelu", "swish"):
        for dtype in ("float32", "float64"):
            values = [v for v in SPECIAL if np.isfinite(v)] if name in ("swish", "softplus") else SPECIAL
            found["nn.%s_%s" % (name, dtype)] = lambda name=name, dtype=dtype, values=values: of_one(  # noqa: UP031
                tf, getattr(tf.nn, name), values, dtype)
    for name in ("add", "subtract", "multiply", "truediv", "maximum", "minimum", "pow", "atan2", "squared_difference",
                 "divide_no_nan", "floordiv", "floormod", "xlogy", "xdivy"):
        values = [v for v in SPECIAL if np.isfinite(v)] if name in ("pow", "floormod", "atan2") else SPECIAL
        found["math." + name] = lambda name=name, values=values: of_pairs(tf, getattr(tf.math, name), values)
    found["multiply_no_nan"] = lambda: of_pairs(tf, tf.math.multiply_no_nan, SPECIAL)
    found["relu_of_infinite_gradients"] = lambda: [gradients(
        tf, tf.nn.relu(x), [x], tf.constant([INF, -INF, NAN])) for x in (tf.constant([-1.0, 0.0, 1.0]), tf.zeros([3]))]
    found["clip_by_value"] = lambda: of_one(tf, lambda x: tf.clip_by_value(x, -1.0, 2.0), [-3, -1, 0, 2, 3, NAN, INF])
    found["where"] = lambda: of_one(tf, lambda x: tf.where(x > 0, tf.log(x), x), [0.0, 1.0, -1.0, 2.0])


ROWS = [[1.0, 3.0, 3.0], [2.0, 2.0, 2.0], [-1.0, 0.0, 0.0], [0.0, 5.0, 0.0]]


def reductions(tf, found):
    for name in ("max", "min", "sum", "mean", "prod", "logsumexp", "std", "variance"):
        for axis in (None, 0, 1, [0, 1]):
            for keep in (False, True):
                found["reduce_%s_%s_%s" % (name, axis, keep)] = lambda name=name, axis=axis, keep=keep: of_one(  # noqa: UP031
                    tf, getattr(tf.math, "reduce_" + name), ROWS, axis=axis, keepdims=keep)
    found["reduce_max_of_nan"] = lambda: of_one(tf, tf.reduce_max, [[1.0, NAN], [INF, INF]], axis=1)
    for name in ("max", "min", "sum", "mean", "prod"):
        found["reduce_%s_of_nan" % name] = lambda name=name: [  # noqa: UP031
            getattr(tf, "reduce_" + name)(tf.constant(x), axis) for x in ([[NAN, 1.0], [2.0, NAN]], [[NAN, NAN], [INF, -INF]])
            for axis in (None, 0, 1)]
    for name in ("argmax", "argmin"):
        found[name + "_of_nan"] = lambda name=name: [getattr(tf, name)(tf.constant([[NAN, 1.0, INF], [NAN] * 3, [2, NAN, 2]]), 1)]
    found["reduce_prod_int64_axis"] = lambda: of_one(tf, tf.reduce_prod, ROWS, axis=np.int64(1))
    found["reduce_prod_3d"] = lambda: of_one(tf, tf.reduce_prod, np.arange(-4.0, 8).reshape(2, 3, 2), axis=[0, 2])
    found["reduce_prod_of_nothing"] = lambda: of_one(tf, tf.reduce_prod, np.zeros((2, 0)), axis=1)
    for name in ("cumsum", "cumprod"):
        for options in ({}, {"exclusive": True}, {"reverse": True}, {"exclusive": True, "reverse": True}):
            key = "_".join([name, *sorted(options)])
            found[key] = lambda name=name, options=options: of_one(tf, getattr(tf, name), ROWS, axis=1, **options)
    for order in ("euclidean", 1, 2, 3, np.inf):
        found["norm_%s" % order] = lambda order=order: of_one(tf, tf.norm, [[3.0, -4.0], [0.0, 0.0], [2.0, 2.0]],  # noqa: UP031
                                                            ord=order, axis=1)
    found["norm_of_zero"] = lambda: of_one(tf, tf.norm, [0.0, 0.0])
    found["l2_normalize_of_zero"] = lambda: of_one(tf, tf.nn.l2_normalize, [[0.0, 0.0], [3.0, 4.0]], axis=1)
    found["l2_loss"] = lambda: of_one(tf, tf.nn.l2_loss, [0.0, INF, -2.0])
    found["clip_by_norm"] = lambda: of_one(tf, lambda x: tf.clip_by_norm(x, 5.0), [3.0, 4.0])
    found["clip_by_norm_of_zero"] = lambda: of_one(tf, lambda x: tf.clip_by_norm(x, 5.0), [0.0, 0.0])
    found["global_norm_of_zero"] = lambda: of_one(tf, lambda x: tf.global_norm([x, x]), [0.0, 0.0])
    found["moments"] = lambda: of_one(tf, lambda x: tf.stack(tf.nn.moments(x, [0])), ROWS)
    found["softmax_of_infinity"] = lambda: of_one(tf, tf.nn.softmax, [[0.0, -INF, 1.0], [0.0, 0.0, 0.0]])
    found["log_softmax"] = lambda: of_one(tf, tf.nn.log_softmax, [[0.0, -INF, 1.0], [0.0, 1e3, 0.0]])


def picking(tf, found):
    def of(function):
        return lambda: of_one(tf, function, ROWS)

    def vector(function):
        return lambda: of_one(tf, function, [1.0, 0.0, 0.0, 3.0, 3.0, -1.0])

    ids, holes = [0, 0, 0, 1, 1, 3], [0, 2, 0, -1, 2, 0]
    found["gather"] = of(lambda x: tf.gather(x, [0, 0, 2, 0]))
    found["gather_axis"] = of(lambda x: tf.gather(x, [2, 2, 0], axis=1))
    found["gather_nd"] = of(lambda x: tf.gather_nd(x, [[0, 0], [0, 0], [3, 1]]))
    found["gather_nd_rows"] = of(lambda x: tf.gather_nd(x, [[0], [0]]))
    found["batch_gather"] = of(lambda x: tf.batch_gather(x, [[0, 0], [1, 2], [2, 2], [0, 1]]))
    found["top_k"] = of(lambda x: tf.nn.top_k(x, 2)[0])
    found["segment_max"] = vector(lambda x: tf.segment_max(x, ids))
    found["segment_min"] = vector(lambda x: tf.segment_min(x, ids))
    found["segment_max_of_nan"] = lambda: [f(tf.constant([NAN, 1.0, NAN, NAN, INF]), [0, 0, 1, 1, 3]) for f in (
        tf.segment_max, tf.segment_min)]
    found["unsorted_segment_max_of_nan"] = lambda: [f(tf.constant([NAN, 1.0, NAN, 4.0, INF]), [0, 0, 1, 1, 3], 5) for f in (
        tf.math.unsorted_segment_max, tf.math.unsorted_segment_min)]
    found["segment_mean"] = vector(lambda x: tf.segment_mean(x, ids))
    for name in ("sum", "mean", "max", "min", "prod", "sqrt_n"):
        found["unsorted_segment_" + name] = vector(
            lambda x, name=name: getattr(tf.math, "unsorted_segment_" + name)(x, holes, 4))
    found["sparse_segment_mean"] = of(lambda x: tf.sparse_segment_mean(x, [0, 0, 3], [0, 0, 1]))
    found["sparse_segment_sqrt_n"] = of(lambda x: tf.sparse_segment_sqrt_n(x, [0, 0, 3], [0, 0, 1]))
    found["scatter_nd"] = vector(lambda x: tf.scatter_nd([[1], [1], [0], [3], [3], [2]], x, [5]))
    found["tensor_scatter_update"] = vector(lambda x: tf.tensor_scatter_update(x, [[1], [1]], tf.constant([5.0, 6.0],
                                                                                                       tf.float64)))
    found["dynamic_stitch"] = of(lambda x: tf.dynamic_stitch([[0, 1], [1, 2]], [x[:2], x[2:]]))
    found["dynamic_partition"] = of(lambda x: tf.concat([p[:1] for p in tf.dynamic_partition(x, [0, 1, 0, 1], 2)], 0))
    found["strided_slice"] = of(lambda x: x[::-2, None, 1])
    found["reverse_sequence"] = of(lambda x: tf.reverse_sequence(x, [1, 2, 3, 0], seq_axis=1))
    for name in ("MatrixDiagPart", "MatrixBandPart"):
        def part(x, name=name):
            return tf.matrix_diag_part(x) if name == "MatrixDiagPart" else tf.matrix_band_part(x, 0, -1)

        found[name] = of(part)
    for mode in ("CONSTANT", "REFLECT", "SYMMETRIC"):
        found["pad_" + mode] = of(lambda x, mode=mode: tf.pad(x, [[1, 2], [0, 1]], mode))


IMAGE = np.array([[1, 1, 2, 0], [1, 0, 2, 2], [3, 3, 3, 3], [-1, 3, 3, -1]], np.float32).reshape(1, 4, 4, 1)


def images(tf, found):
    for padding in ("SAME", "VALID"):
        for size, step in ((2, 2), (2, 1), (3, 2)):
            window = {"ksize": [1, size, size, 1], "strides": [1, step, step, 1], "padding": padding}
            for name in ("max_pool", "avg_pool"):
                found["%s_%d_%d_%s" % (name, size, step, padding)] = lambda name=name, window=window: of_one(  # noqa: UP031
                    tf, getattr(tf.nn, name), IMAGE, "float32", **window)
            found["max_pool_argmax_%d_%d_%s" % (size, step, padding)] = lambda window=window: of_one(  # noqa: UP031
                tf, lambda x: tf.nn.max_pool_with_argmax(x, **window)[0], IMAGE, "float32")
    found["max_pool_second"] = lambda: second(tf, IMAGE)
    found["dilation2d"] = lambda: of_one(tf, lambda x: tf.nn.dilation2d(
        x, tf.zeros([2, 2, 1]), [1, 1, 1, 1], [1, 1, 1, 1], "SAME"), IMAGE, "float32")
    found["resize_bilinear"] = lambda: of_one(tf, lambda x: tf.image.resize_bilinear(x, [6, 3]), IMAGE, "float32")
    found["resize_nearest"] = lambda: of_one(tf, lambda x: tf.image.resize_nearest_neighbor(x, [6, 3]), IMAGE, "float32")
    for training in (True, False):
        for name in ("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"):
            found["%s_%s" % (name, training)] = lambda name=name, training=training: batch_norm(tf, name, training)  # noqa: UP031


def second(tf, image):
    x = tf.constant(image)
    y = tf.nn.max_pool(x * x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    first = tf.gradients(y, x, weights(tf, y))[0]
    return gradients(tf, first, [x], weights(tf, first))


def batch_norm(tf, name, training):
    """First and second gradients."""
    random = np.random.RandomState(1)
    x = tf.constant(random.randn(2, 3, 2, 3), tf.float32)
    scale, offset = (tf.constant(random.rand(3) + 0.5, tf.float32) for _ in range(2))
    moments = [] if training else [0.1, -0.2, 0.3]
    y = getattr(tf.raw_ops, name)(x=x, scale=scale, offset=offset, mean=tf.constant(moments, tf.float32),
                                  variance=tf.constant([] if training else [1.0, 2.0, 3.0], tf.float32), epsilon=0.01,
                                  is_training=training)[0]
    first = tf.gradients(y, [x, scale, offset], tf.sin(weights(tf, y)))
    total = sum(tf.reduce_sum(g * tf.cos(weights(tf, g))) for g in first)
    return [*first, *gradients(tf, total, [x, scale])]


def products(tf, found):
    random = np.random.RandomState(0)
    square = random.randn(3, 3)
    positive = square.dot(square.T) + np.eye(3)
    for name, x in (("matrix_inverse", square), ("matrix_determinant", square), ("cholesky", positive), ("trace", square),
                    ("self_adjoint_eigvals", positive)):
        found[name] = lambda name=name, x=x: of_one(tf, getattr(tf, name), x)
    found["determinant_of_singular"] = lambda: of_one(tf, lambda x: tf.matrix_determinant(x) * 0.0 + tf.trace(x), np.eye(2))
    found["slogdet"] = lambda: of_one(tf, lambda x: tf.linalg.slogdet(x)[1], square)
    found["matmul_of_nan"] = lambda: of_one(tf, lambda x: tf.matmul(x, x), [[0.0, INF], [NAN, 1.0]])
    found["einsum"] = lambda: of_one(tf, lambda x: tf.einsum("ij,jk,il->kl", x, x, x), square)
    found["complex_abs_at_zero"] = lambda: gradients(tf, *(lambda z: (tf.abs(z), [z]))(tf.constant([0, 3 - 4j, 1j])))
    found["angle"] = lambda: gradients(tf, *(lambda z: (tf.angle(z), [z]))(tf.constant([1 + 1j, 3 - 4j, 1j])))
    for name in ("softmax_cross_entropy_with_logits_v2", "sigmoid_cross_entropy_with_logits"):
        found[name] = lambda name=name: losses(tf, name)
    found["weighted_cross_entropy"] = lambda: of_one(tf, lambda x: tf.nn.weighted_cross_entropy_with_logits(
        tf.zeros_like(x), x, 2.0), [0.0, 1.0, -1.0, 50.0])


def losses(tf, name):
    logits, labels = tf.constant([[0.0, 0.0, 100.0], [-100.0, 1.0, 1.0]]), tf.constant([[1.0, 0.0, 0.0], [0.0, 0.5, 0.5]])
    y = getattr(tf.nn, name)(labels=labels, logits=logits)
    return [y, *gradients(tf, y, [logits, labels])]


def with_fed_result(tf, function, *arrays):
    """The gradients where other values are fed for what the function computed: what of it they read."""
    xs = [tf.constant(a) for a in arrays]
    ys = function(*xs)
    ys = [y for y in (ys if isinstance(ys, (list, tuple)) else [ys]) if y.dtype == tf.float64]
    random = np.random.RandomState(3)
    return gradients(tf, ys, xs), {y: random.randn(*y.shape.as_list()) for y in ys}


def fed(tf, found):
    random = np.random.RandomState(0)
    square, other = random.randn(3, 3), random.randn(3, 2)
    positive = square.dot(square.T) + np.eye(3)
    for function, *arrays in (
            (tf.cholesky, positive), (tf.matrix_inverse, square), (tf.matrix_determinant, square),
            (tf.matrix_solve, square, other), (tf.matrix_triangular_solve, square, other), (tf.qr, square), (tf.svd, square),
            (tf.self_adjoint_eig, positive), (tf.matrix_solve_ls, square, other), (tf.cholesky_solve, square, other),
            *((getattr(tf.math, name), abs(square) + 1.1) for name in (
                "exp", "log", "sqrt", "rsqrt", "tanh", "sigmoid", "reciprocal", "acosh", "asinh", "expm1", "softplus")),
            *((getattr(tf.nn, name), square) for name in (
                "softmax", "log_softmax", "relu", "elu", "selu", "softsign", "relu6", "leaky_relu")),
            (tf.pow, abs(square), square), (tf.igamma, abs(square), abs(square)), (tf.div, square, square + 3)):
        found["with its result fed, " + function.__name__] = functools.partial(with_fed_result, tf, function, *arrays)
    for name, function in (
            ("reduce_max", lambda x: tf.reduce_max(x, 0)), ("reduce_prod", lambda x: tf.reduce_prod(x, 0)),
            ("reduce_logsumexp", lambda x: tf.reduce_logsumexp(x, 0)), ("cumprod", tf.cumprod), ("norm", tf.norm),
            ("slogdet", tf.linalg.slogdet),
            ("max_pool", lambda x: tf.nn.max_pool(tf.reshape(x, [1, 3, 3, 1]), 2, 1, "VALID")),
            ("unsorted_segment_max", lambda x: tf.unsorted_segment_max(x, [0, 0, 1], 2))):
        found["with its result fed, " + name] = functools.partial(with_fed_result, tf, function, square)


def cases(tf):
    found = {}
    for part in (element_by_element, reductions, picking, images, products, fed):
        part(tf, found)
    return {name.replace("|", "_"): build for name, build in found.items()}
