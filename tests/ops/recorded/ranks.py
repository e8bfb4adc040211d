"""What is refused because of its rank or its size: vectors that are none, elements out of order, values without keys."""
import numpy as np


def hidden(tf, value):
    """A tensor whose shape is only known in the run."""
    return tf.compat.v1.placeholder_with_default(np.array(value), None)


def matrices(tf):
    """Sparse matrices that are in order, out of order, repeated, out of bounds; and a sparse vector."""
    return {"in order": tf.SparseTensor([[0, 1], [1, 0]], [1.0, 2.0], [2, 3]),
            "out of order": tf.SparseTensor([[1, 0], [0, 0]], [1.0, 2.0], [2, 3]),
            "repeated": tf.SparseTensor([[1, 0], [1, 0]], [1.0, 2.0], [2, 3]),
            "out of bounds": tf.SparseTensor([[0, 3]], [1.0], [2, 3]),
            "vector": tf.SparseTensor([[1]], [1.0], [3])}


def cases(tf):
    found = {}
    for x, y in (([1, 2, 3], [2]), ([[1]], [1]), ([1], [[1]]), (1, [1]), ([1], 1), ([], [1])):
        x, y = np.array(x, np.int32), np.array(y, np.int32)
        found[f"setdiff1d {x.tolist()} {y.tolist()}"] = lambda x=x, y=y: list(tf.compat.v1.setdiff1d(x, y))
        found[f"hidden setdiff1d {x.tolist()} {y.tolist()}"] = lambda x=x, y=y: list(
            tf.compat.v1.setdiff1d(hidden(tf, x), hidden(tf, y)))
    for name in ("segment_sum", "segment_mean", "segment_sqrt_n"):
        for indices, ids in (([0, 2], [0, 0]), ([0], [0, 1]), ([[0]], [0]), ([0], [[0]]), ([[0]], [[0]])):
            for segments in (None, 3):
                def build(hide, name=name, indices=indices, ids=ids, segments=segments):
                    given = [hidden(tf, np.array(one, np.int32)) if hide else one for one in (indices, ids)]
                    return getattr(tf.sparse, name)(np.ones([3, 2], np.float32), *given, num_segments=segments)

                for hide in (False, True):
                    found[f"{name} {indices} {ids} {segments} {hide}"] = lambda build=build, hide=hide: build(hide)
    for name in ("in order", "out of order", "repeated", "out of bounds", "vector"):
        found[f"serialize_many {name}"] = lambda name=name: tf.strings.length(
            tf.compat.v1.serialize_many_sparse(matrices(tf)[name]))
        found[f"serialize {name}"] = lambda name=name: tf.strings.length(
            tf.compat.v1.serialize_sparse(matrices(tf)[name]))
    found["cross of vectors"] = lambda: tf.sparse.cross([matrices(tf)["vector"]] * 2).values
    for perm in ([1, 0], [0, 1], [0]):
        found[f"transpose {perm}"] = lambda perm=perm: tf.sparse.transpose(matrices(tf)["in order"], perm).indices
    return found
