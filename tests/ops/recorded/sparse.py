"""Sparse tensors: to dense and back, order, shape, parts, arithmetic, reductions, gradients, errors."""
import numpy as np


def sparse(tf, shape=(4, 5), count=7, dtype=np.float64, in_order=True, seed=0):
    """A random sparse tensor."""
    rng = np.random.RandomState(seed)
    places = rng.choice(int(np.prod(shape)), count, replace=False)
    if in_order:
        places = np.sort(places)
    indices = np.stack(np.unravel_index(places, shape), 1).astype(np.int64)
    return tf.SparseTensor(indices, tf.constant((rng.randn(count) * 3).astype(dtype)), list(shape))


def parts(tensor):
    return [tensor.indices, tensor.values, tensor.dense_shape]


def structure(tf):
    def new(**options):
        return sparse(tf, **options)

    found = {
        "strings": lambda: tf.sparse_tensor_to_dense(tf.SparseTensor([[0, 1], [2, 0]], ["a", "b"], [3, 2]),
                                                     default_value=""),
        "to dense": lambda: [tf.sparse_to_dense(2, [4], 1.5), tf.sparse_to_dense([1, 3], [4], [1.0, 2.0]),
                             tf.sparse_to_dense([1, 3], [4], 9, default_value=-1),
                             tf.sparse_to_dense([[0, 1], [1, 2]], [2, 3], 5)],
        "reorder": lambda: parts(tf.sparse_reorder(new(in_order=False))),
        "transpose": lambda: parts(tf.sparse_transpose(new())),
        "transpose 3": lambda: parts(tf.sparse_transpose(new(shape=(2, 3, 4), count=9), [2, 0, 1])),
        "retain": lambda: parts(tf.sparse_retain(new(), [True, False, True, True, False, False, True])),
        "reset shape": lambda: parts(tf.sparse_reset_shape(new(count=3))) + parts(tf.sparse_reset_shape(new(), [9, 9])),
        "fill": lambda: parts(tf.sparse_fill_empty_rows(new(shape=(8, 5), count=5), -1.0)[0]),
        "empty rows": lambda: tf.sparse_fill_empty_rows(new(shape=(8, 5), count=5), -1.0)[1],
        "merge": lambda: parts(tf.sparse_merge(
            tf.SparseTensor([[0, 0], [0, 1], [2, 0]], tf.constant([3, 1, 0], tf.int64), [3, 2]),
            tf.SparseTensor([[0, 0], [0, 1], [2, 0]], [1.0, 2.0, 3.0], [3, 2]), 5)),
        "indicator": lambda: tf.sparse_to_indicator(
            tf.SparseTensor([[0, 0], [0, 1], [2, 0]], tf.constant([3, 1, 0], tf.int64), [3, 2]), 5),
        "from dense": lambda: parts(tf.sparse.from_dense([[0, 1.0], [2, 0]])), "eye": lambda: parts(tf.sparse.eye(3, 4)),
        "expand": lambda: parts(tf.sparse.expand_dims(new(), 0)) + parts(tf.sparse.expand_dims(new())),
        "mask": lambda: tf.sparse_mask(tf.IndexedSlices(tf.constant([[1.0], [2.0], [3.0]]), tf.constant([3, 5, 7]),
                                                        [9, 1]), [5]).values,
    }
    for dtype in (np.float32, np.float64, np.int32, np.int64):
        found["dense " + dtype.__name__] = lambda d=dtype: [
            tf.sparse_tensor_to_dense(new(dtype=d)),
            tf.sparse_tensor_to_dense(new(dtype=d), default_value=np.asarray(7, d))]
    for shape in ((5, 4), (-1, 2), (20,), (2, 2, 5)):
        found[f"reshape {shape}"] = lambda s=shape: parts(tf.sparse_reshape(new(), s))
    for axis in (0, 1, -1):
        found[f"concat {axis}"] = lambda a=axis: parts(tf.sparse_concat(a, [new(seed=1), new(seed=2)]))
        found[f"concat larger {axis}"] = lambda a=axis: parts(tf.sparse_concat(
            a, [new(shape=(3, 4), count=5), new(shape=(5, 2), count=4)], expand_nonconcat_dim=True))
    for number, axis in ((2, 0), (3, 1), (2, 1), (4, 0)):
        found[f"split {number} {axis}"] = lambda n=number, a=axis: [
            parts(one) for one in tf.sparse_split(sp_input=new(), num_split=n, axis=a)]
    for start, size in (([0, 0], [2, 3]), ([1, 2], [9, 9]), ([3, 4], [1, 1]), ([2, 0], [0, 5])):
        found[f"slice {start} {size}"] = lambda b=start, n=size: parts(tf.sparse_slice(new(), b, n))
    return found


def arithmetic(tf):
    def new(**options):
        return sparse(tf, **options)

    def product(adjoint_a, adjoint_b):
        a = new()
        b = np.random.RandomState(3).randn(4 if adjoint_a else 5, 3)
        b = tf.constant(b.T.copy() if adjoint_b else b)
        y = tf.sparse_tensor_dense_matmul(a, b, adjoint_a=adjoint_a, adjoint_b=adjoint_b)
        return [y, tf.gradients(y * y, [a.values, b])]

    def elementwise(function, shape):
        a, b = new(), tf.constant(np.random.RandomState(4).rand(*shape) + 1)
        y = function(a, b)
        return parts(y) + tf.gradients(y.values * y.values, [a.values, b])

    def reduced(axis, keepdims):
        a = new()
        y = tf.sparse_reduce_sum(a, axis, keepdims=keepdims)
        return [y, tf.sparse_reduce_max(a, axis, keepdims=keepdims), tf.gradients(y * y, a.values),
                parts(tf.sparse_reduce_sum_sparse(a, axis, keepdims=keepdims)),
                parts(tf.sparse_reduce_max_sparse(a, axis, keepdims=keepdims))]

    found = {
        "add dense": lambda: [tf.sparse_add(new(), tf.ones([4, 5], tf.float64)), tf.sparse_add(np.ones([4, 5]), new())],
        "softmax": lambda: parts(tf.sparse_softmax(new())) + parts(tf.sparse_softmax(new(shape=(2, 3, 4), count=10))),
        "maximum": lambda: parts(tf.sparse_maximum(new(seed=1), new(seed=2))),
        "minimum": lambda: parts(tf.sparse_minimum(new(seed=1), new(seed=2))),
    }
    for threshold in (0, 1, 2.5):
        found[f"add {threshold}"] = lambda t=threshold: parts(tf.sparse_add(new(seed=1), new(seed=2), t))
    for a in (False, True):
        for b in (False, True):
            found[f"product {a} {b}"] = lambda a=a, b=b: product(a, b)
    for axis in (None, 0, 1, -1, [0, 1], [-1, 0]):
        for keepdims in (False, True):
            found[f"reduce {axis} {keepdims}"] = lambda a=axis, k=keepdims: reduced(a, k)
    for axis in ([1], [0, 2], [-1]):
        found[f"reduce rank 3 {axis}"] = lambda a=axis: tf.sparse_reduce_sum(new(shape=(2, 3, 4), count=9), a)
    for shape in ((4, 5), (5,), (4, 1)):
        found[f"times {shape}"] = lambda s=shape: elementwise(lambda a, b: a * b, s)
        found[f"over {shape}"] = lambda s=shape: elementwise(lambda a, b: a / b, s)
    return found


def derivatives(tf):
    functions = {
        "reorder": tf.sparse_reorder, "slice": lambda a: tf.sparse_slice(a, [0, 1], [3, 3]),
        "fill": lambda a: tf.sparse_fill_empty_rows(a, 2.0)[0], "add": lambda a: tf.sparse_add(a, sparse(tf, seed=9)),
        "add dense": lambda a: tf.sparse_add(a, tf.ones([4, 5], tf.float64)), "dense": tf.sparse_tensor_to_dense,
        "softmax": tf.sparse_softmax, "retain": lambda a: tf.sparse_retain(a, [True, False] * 3 + [True]),
        "transpose": tf.sparse_transpose, "reshape": lambda a: tf.sparse_reshape(a, [20]),
    }

    def gradient(function):
        a = sparse(tf)
        y = function(a)
        y = y.values if isinstance(y, tf.SparseTensor) else y
        return tf.gradients(y * y, a.values)

    return {"of " + name: lambda f=function: gradient(f) for name, function in functions.items()}


def failures(tf):
    def new(**options):
        return sparse(tf, **options)

    return {
        "outside": lambda: tf.sparse_to_dense([5], [4], 1), "out of order": lambda: tf.sparse_to_dense([3, 1], [4], [1, 2]),
        "repeated": lambda: tf.sparse_to_dense([1, 1], [4], [1, 2]),
        "outside unchecked": lambda: tf.sparse_to_dense([5], [4], 1, validate_indices=False),
        "rank": lambda: tf.sparse_to_dense([[1, 1]], [4], 1), "values": lambda: tf.sparse_to_dense([1, 2], [4], [1, 2, 3]),
        "not sparse": lambda: parts(tf.sparse_reorder(3)), "reshape": lambda: parts(tf.sparse_reshape(new(), [3, 3])),
        "reshape twice": lambda: parts(tf.sparse_reshape(new(), [-1, -1])),
        "concat": lambda: parts(tf.sparse_concat(0, [new(shape=(3, 4), count=5), new(shape=(5, 2), count=4)])),
        "add numbers": lambda: tf.sparse_add(1, 2),
        "add shapes": lambda: parts(tf.sparse_add(new(shape=(3, 4), count=5), new(shape=(4, 3), count=5))),
        "product": lambda: tf.sparse_tensor_dense_matmul(new(), tf.ones([3, 3], tf.float64)),
        "split by position": lambda: tf.sparse_split(0, new()),
        "split too often": lambda: parts(tf.sparse_split(sp_input=new(), num_split=9, axis=0)[0]),
        "reduce axis": lambda: tf.sparse_reduce_sum(new(), 5), "times": lambda: parts(new() * tf.ones([3], tf.float64)),
        "retain": lambda: parts(tf.sparse_retain(new(), [True])), "reset": lambda: parts(tf.sparse_reset_shape(new(), [2, 2])),
    }


def cases(tf):
    found = {}
    for part in (structure, arithmetic, derivatives):
        found.update(part(tf))
    found.update({name + " fails": build for name, build in failures(tf).items()})
    return found
