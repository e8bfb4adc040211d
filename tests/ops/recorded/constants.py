"""Constants whose values do not fit their shape or their dtype: none at all, more than none, integers of more than 64 bits."""
import numpy as np


def cases(tf):
    found = {}
    for shape in ([], [2], [2, 2], [0], [0, 3]):
        for dtype in ("float32", "int32", "string", "bool", "complex64"):
            found[f"of nothing {shape} {dtype}"] = lambda shape=shape, dtype=dtype: tf.constant([], dtype, shape)
        found[f"of an empty array {shape}"] = lambda shape=shape: tf.constant(np.zeros([0]), shape=shape)
        for value in (3, 1.5, [1.0], [1.0, 2.0], [], True):
            found[f"initializer {value} {shape}"] = lambda value=value, shape=shape: tf.compat.v1.constant_initializer(value)(shape)
    for dtype in ("float16", "float32", "float64", "complex64", "int32", "string", "bool"):
        found[f"empty array as {dtype}"] = lambda dtype=dtype: tf.constant(np.zeros([0, 3]), dtype)
        if dtype != "int32":
            for value in (2 ** 64, [2 ** 64, 1], [1.5, -2 ** 70], [2 ** 64, "a"]):
                found[f"{value} as {dtype}"] = lambda value=value, dtype=dtype: tf.constant(value, dtype)
    return found
