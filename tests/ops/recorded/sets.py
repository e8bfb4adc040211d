"""Set operations on rows, and the edit distance of sequences."""
import numpy as np

FIRST = np.array([[[1, 2, 2], [3, 9, 9]], [[4, 5, 4], [7, 7, 7]]])
SECOND = np.array([[[2, 1, 8], [3, 3, 3]], [[0, 0, 0], [7, 8, 9]]])


def parts(tensor):
    return [tensor.indices, tensor.values, tensor.dense_shape]


def some(tf, array, seed=0, share=0.6):
    """Some of the elements, as a sparse tensor."""
    kept = np.argwhere(np.random.RandomState(seed).rand(*array.shape) < share)
    return tf.SparseTensor(kept.astype(np.int64), tf.constant(array[tuple(kept.T)], tf.int64), list(array.shape))


def cases(tf):
    sets = tf.sets
    operations = {"intersection": sets.set_intersection, "union": sets.set_union, "difference": sets.set_difference,
                  "reverse": lambda a, b: sets.set_difference(a, b, aminusb=False)}
    found = {}
    for name, f in operations.items():
        found[name + " dense dense"] = lambda f=f: parts(f(FIRST, SECOND))
        found[name + " dense sparse"] = lambda f=f: parts(f(FIRST, some(tf, SECOND)))
        found[name + " sparse dense"] = lambda f=f: parts(f(some(tf, FIRST), tf.constant(SECOND, tf.int64)))
        found[name + " sparse sparse"] = lambda f=f: parts(f(some(tf, FIRST, 1), some(tf, SECOND, 2)))

    def guess():
        return tf.SparseTensor([[0, 0, 0], [1, 0, 0], [1, 0, 1], [1, 1, 0]], tf.constant([1, 2, 3, 4]), [2, 2, 3])

    def truth():
        return tf.SparseTensor([[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 0, 1], [1, 0, 2], [1, 0, 3]],
                               tf.constant([1, 2, 3, 3, 5, 1]), [2, 2, 4])

    found.update({
        "strings": lambda: parts(sets.set_union(tf.constant([["a", "b"], ["c", "d"]]), tf.constant([["b"], ["x"]]))),
        "size": lambda: [sets.set_size(some(tf, FIRST)), sets.set_size(some(tf, SECOND, 3, 0.3))],
        "edit distance": lambda: [tf.edit_distance(guess(), truth(), normalize=n) for n in (True, False)],
        "edit distance of strings": lambda: tf.edit_distance(
            tf.SparseTensor([[0, 0], [0, 1], [1, 0]], ["a", "b", "c"], [3, 2]),
            tf.SparseTensor([[0, 0], [1, 0], [2, 0]], ["b", "c", "d"], [3, 1])),
        "size of dense": lambda: sets.set_size(FIRST),
        "floats": lambda: parts(sets.set_union(FIRST.astype(float), SECOND.astype(float))),
        "other groups": lambda: parts(sets.set_union(FIRST, SECOND[:1])),
        "vectors": lambda: parts(sets.set_union(FIRST[0, 0], SECOND[0, 0])),
        "distance of numbers": lambda: tf.edit_distance(1, 2),
    })
    return found
