"""Rows of ragged tensors, and parts of them, by numbers and by tensors, from either end and past it."""
import numpy as np


def parts(value):
    """A ragged tensor as its numbers and where its rows end."""
    return [value.flat_values, *value.nested_row_splits] if hasattr(value, "row_splits") else value


def cases(tf):
    found = {}

    def numbers(k):
        return {"int": k, "tensor": tf.constant(k), "long": tf.constant(k, tf.int64), "numpy": np.int64(k),
                "hidden": tf.compat.v1.placeholder_with_default(k, [])}

    keys = {"row": lambda k: k, "row from": lambda k: slice(k, None), "row to": lambda k: slice(None, k),
            "columns from": lambda k: (slice(None), slice(k, None)), "columns to": lambda k: (slice(None), slice(None, k)),
            "of the first row": lambda k: (0, k), "of a row": lambda k: (k, 0), "column": lambda k: (slice(None), k)}
    for rows in ([[1, 2], [5, 6, 7], [3]], [[[1], [2, 3]], [[4]]]):
        for name, key in keys.items():
            for k in (5, 2, 0, -1, -4):
                for kind in ("int", "tensor", "long", "numpy", "hidden"):
                    if kind == "numpy" and name.startswith("columns"):
                        continue                                        # TensorFlow refuses it there alone
                    if (kind, name, k) == ("int", "columns to", 0):
                        continue                                        # there TensorFlow gives all columns, which none are
                    found[f"{len(rows)} {name} {k} {kind}"] = lambda rows=rows, key=key, k=k, kind=kind: parts(
                        tf.ragged.constant(rows)[key(numbers(k)[kind])])
    for wrong in (1.5, "a", True):
        found[f"row {wrong}"] = lambda wrong=wrong: tf.ragged.constant([[1, 2], [3]])[wrong]
    return found
