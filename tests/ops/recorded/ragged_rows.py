"""Rows of ragged tensors by their splits, and ragged tensors as tensors of one size."""
import numpy as np

X = np.arange(24, dtype=np.float32).reshape(6, 2, 2)


def cases(tf):
    raw = tf.raw_ops

    def gathered(splits, values, indices, rank=None, kind=np.int64):
        def build():
            x = tf.constant(values)
            given = [np.array(one, kind) for one in splits]
            rows = np.array(indices, np.int32)
            found = raw.RaggedGather(params_nested_splits=given, params_dense_values=x, indices=rows,
                                     OUTPUT_RAGGED_RANK=len(splits) + rows.ndim - 1 if rank is None else rank)
            y = found.output_dense_values
            return [found, tf.convert_to_tensor(tf.gradients(y * y, x)[0])] if values.dtype == np.float32 else [found]
        return build

    def dense(partitions, values, shape=(-1, -1), default=9.0, inner=()):
        return lambda: [raw.RaggedTensorToTensor(
            shape=np.array(shape, np.int64), values=values, default_value=np.array(default, values.dtype),
            row_partition_tensors=[np.array(one, np.int64) for _, one in partitions],
            row_partition_types=[name for name, _ in partitions])]

    ends, more, line = [0, 2, 2, 3], [0, 1, 4, 6], X[:, 0, 0]
    words = np.array([b"a", b"bc", b"d"], object)
    first, ids, splits = "FIRST_DIM_SIZE", "VALUE_ROWIDS", "ROW_SPLITS"
    found = {"rows": gathered([ends], line[:3], [2, 0, 0]), "none": gathered([ends], line[:3], []),
             "one": gathered([ends], line[:3], 1), "matrix": gathered([ends], X[:3], [[2, 0], [1, 1]]),
             "deep": gathered([ends, more], X, [2, 0]), "deeper": gathered([ends, more], line, [[[1], [0]]], kind=np.int32),
             "words": gathered([ends], words, [0, 2]), "outside": gathered([ends], line[:3], [3]),
             "negative": gathered([ends], line[:3], [-1]), "unsorted": gathered([[0, 2, 1]], line[:3], [0]),
             "past": gathered([[0, 2, 7]], line[:3], [0]), "no splits": gathered([[]], line[:3], []),
             "rank": gathered([ends], line[:3], [0], 2),
             "splits": dense([(splits, ends)], line[:3]), "whole": dense([(splits, ends)], line[:3], -1),
             "ids": dense([(first, 4), (ids, [0, 0, 2])], line[:3]), "wider": dense([(splits, ends)], line[:3], (5, 4)),
             "cut": dense([(splits, ends)], line[:3], (2, 1)), "rows cut": dense([(splits, ends)], line[:3], (-1, 1)),
             "two": dense([(splits, ends), (splits, more)], line, (-1, -1, -1)),
             "mixed": dense([(splits, ends), (ids, [0, 0, 2, 2, 2, 2])], line, (-1, 3, -1)),
             "inner": dense([(splits, ends)], X[:3], (-1, -1, 2, 2)), "fill": dense([(splits, ends)], X[:3], -1, [1.0, 2.0]),
             "strings": dense([(splits, ends)], words, -1, b"-"), "empty": dense([(splits, [0])], line[:0]),
             "scalar": dense([(splits, ends)], line[:3], 3), "ids first": dense([(ids, [0, 0, 2])], line[:3]),
             "ranks": dense([(splits, ends)], line[:3], (-1, -1, -1)),
             "another inner": dense([(splits, ends)], X[:3], (3, 2, 2, 3))}
    return found
