"""Ragged tensors as nodes of TensorFlow's kernels: ranges, and the places of the elements."""
import numpy as np

X = np.arange(24, dtype=np.float32).reshape(4, 3, 2)


def cases(tf):
    raw = tf.raw_ops

    def ranges(starts, limits, deltas, dtype=np.int32, **how):
        return lambda: list(raw.RaggedRange(starts=np.array(starts, dtype), limits=np.array(limits, dtype),
                                            deltas=np.array(deltas, dtype), **how))

    def sparse(splits, values, **how):
        def build():
            x = tf.constant(values)
            found = raw.RaggedTensorToSparse(rt_nested_splits=[np.array(one, np.int64) for one in splits], rt_dense_values=x)
            return [*found, tf.gradients(found.sparse_values * found.sparse_values, x)[0]]
        return build

    found = {"rows": ranges([2, 5, 8], [3, 5, 12], 1), "downward": ranges(0, [3, 0, -4], [1, 1, -2]), "scalars": ranges(3, 18, 3),
             "floats": ranges([0, 1], [4, 9], [1, 2], np.float32), "doubles": ranges(0, [3, -8], [2, -3], np.float64),
             "short": ranges([0, 1], [5, 6], 2, np.int64, Tsplits=tf.int32), "none": ranges([], [], []),
             "no step": ranges(0, 3, 0), "unlike": ranges([0, 1], [1, 2, 3], 1), "matrix": ranges([[0]], 1, 1),
             "one": sparse([[0, 2, 2, 4]], X[:, 0, 0]), "inner": sparse([[0, 1, 4]], X),
             "two": sparse([[0, 2, 3], [0, 1, 1, 4]], X[:, 0]),
             "empty": sparse([[0]], X[:0]), "first": sparse([[1, 4]], X), "last": sparse([[0, 3]], X)}
    return found
