"""Normal numbers between bounds, with parameters for each row: the numbers of TensorFlow's generator."""
import numpy as np


def cases(tf):
    def drawn(shape, means, stdevs, minvals, maxvals, kind=np.float32, seed=3):
        return lambda: [tf.raw_ops.ParameterizedTruncatedNormal(
            shape=shape, means=np.array(means, kind), stdevs=np.array(stdevs, kind), minvals=np.array(minvals, kind),
            maxvals=np.array(maxvals, kind), seed=seed, seed2=5)]

    inf = np.inf
    found = {"invalid bounds": drawn([4], 0, 1, 2, 1), "no bounds": drawn([4], 0, 1, -inf, inf), "no width": drawn([4], 0, 0, 0, 1),
             "none": drawn([0], 0, 1, 0, 1), "two means": drawn([4, 2], [0, 0], 1, 0, 1),
             "a matrix": drawn([4, 2], [[0]], 1, 0, 1), "many": drawn([150], 1, 2, -1, 3),
             "rank 3": drawn([3, 2, 2], [1, 2, 3], 1, 0, 4)}
    for kind in (np.float32, np.float64):
        for name, bounds in (("both sides", (-2, 2)), ("near", (-0.5, 0.25)), ("far", (3, 9)), ("far below", (-9, -3)),
                             ("one side", (1.5, inf)), ("other side", (-inf, -1.5)), ("narrow and far", (4, 4.1)),
                             ("half", (0, inf))):
            found[f"{name} {np.dtype(kind)}"] = drawn([2, 7], 0.0, [1.0, 1.5], *bounds, kind)
    return found
