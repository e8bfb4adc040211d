"""``tf.train.SequenceExample`` messages taken apart: a context, and lists of features, one entry per step."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import op
from jitgraph.graph import shape_rules
from jitgraph.graph.dtypes import DType
from jitgraph.ops.files.example import (
    _C_NAMES,
    _TYPES,
    Where,
    _array,
    _brackets,
    dense_batch,
    dense_value,
    keys_of,
    message,
    sparse_batch,
    text_of,
    values_of,
)

_COUNTS = ", ".join(f"N{group}: int >= 0 = 0" for group in ("context_sparse", "context_dense", "feature_list_sparse",
                                                            "feature_list_dense"))
_KINDS = ("Tcontext_dense: list(type) >= 0 = [], "
          "context_sparse_types: list(type) >= 0 = [], feature_list_dense_types: list(type) >= 0 = [], "
          "context_dense_shapes: list(shape) >= 0 = [], feature_list_sparse_types: list(type) >= 0 = [], "
          "feature_list_dense_shapes: list(shape) >= 0 = []")
_OUTPUTS = ("context_sparse_indices: Ncontext_sparse*int64, context_sparse_values: [context_sparse_types], "
            "context_sparse_shapes: Ncontext_sparse*int64, context_dense_values: [Tcontext_dense], "
            "{lengths}feature_list_sparse_indices: Nfeature_list_sparse*int64, feature_list_sparse_values: "
            "[feature_list_sparse_types], feature_list_sparse_shapes: Nfeature_list_sparse*int64, "
            "feature_list_dense_values: [feature_list_dense_types]")


class _Keys:
    """What is asked for: (key, dtype) of sparse, (key, dtype, shape, default) of dense features."""

    def __init__(self, context_sparse: list, context_dense: list, list_sparse: list, list_dense: list, defaults: list,
                 attrs: dict[str, Any], may_be_missing: set[str]):
        self.context_sparse = list(zip(context_sparse, attrs["context_sparse_types"]))
        self.context_dense = list(zip(context_dense, attrs["Tcontext_dense"], attrs["context_dense_shapes"], defaults))
        self.list_sparse = list(zip(list_sparse, attrs["feature_list_sparse_types"]))
        self.list_dense = list(zip(list_dense, attrs["feature_list_dense_types"], attrs["feature_list_dense_shapes"]))
        self.may_be_missing = may_be_missing


def _one(data: bytes, keys: _Keys, name: str) -> tuple[list, list, list, list]:
    """(context sparse values, context dense values, per sparse list the values of each step, dense lists)."""
    example, where = message("SequenceExample", data), Where(name)
    context, lists = example.context.feature, example.feature_lists.feature_list
    sparse = [values_of(context.get(key), key, dtype, where) for key, dtype in
              keys.context_sparse]
    dense = []
    for key, dtype, shape, default in keys.context_dense:
        if key not in context and not default.size:
            raise invalid(f"Name: {name}, Context feature '{key}' is required but could not be found.")
        dense.append(dense_value(context.get(key), key, dtype, shape, default, where))
    sparse_lists = [[values_of(step, key, dtype, where) for step in (lists[key].feature if key in lists else ())]
                    for key, dtype in keys.list_sparse]
    dense_lists = []
    for key, dtype, shape in keys.list_dense:
        if key not in lists and key not in keys.may_be_missing:
            raise invalid(f"Name: {name}, Feature list '{key}' is required but could not be found.  Did you mean to "
                          "include it in feature_list_dense_missing_assumed_empty or feature_list_dense_defaults?")
        steps = [_step(feature, key, index, dtype, shape, name)
                 for index, feature in enumerate(lists[key].feature if key in lists else ())]
        dense_lists.append(dense_batch(steps, dtype, shape, _array((), dtype)))
    return sparse, dense, sparse_lists, dense_lists


def _step(feature: Any, key: str, index: int, dtype: DType, shape: tuple, name: str) -> np.ndarray:
    kind = feature.WhichOneof("kind")
    expected = _C_NAMES.get(dtype.name, dtype.name)
    if kind is not None and _C_NAMES[kind] != expected:
        raise invalid(f"Name: {name}, Feature list: {key}, Index: {index}.  Data types don't match. Expected type: "
                      f"{expected}  Feature is: {kind}")
    values = getattr(feature, kind).value if kind is not None else ()
    if len(values) != int(np.prod(shape)):
        raise invalid(f"Name: {name}, Key: {key}, Index: {index}.  Number of {dtype.name} values != expected.  values "
                      f"size: {len(values)} but output shape: {_brackets(shape)}")
    return _array(values, dtype).reshape(shape)


def _steps_sparse(sequences: list[list], dtype: DType) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(indices, values, shape) of a list of steps of any length, per example."""
    indices = [(row, step, k) for row, steps in enumerate(sequences) for step, values in enumerate(steps)
               for k in range(0 if values is None else len(values))]
    flat = [value for steps in sequences for values in steps if values is not None for value in values]
    longest = max((len(steps) for steps in sequences), default=0)
    widest = max((len(values) for steps in sequences for values in steps if values is not None), default=0)
    return (np.array(indices, np.int64).reshape(-1, 3), _array(flat, dtype),
            np.array([len(sequences), longest, widest], np.int64))


def _columns(parts: list[tuple]) -> tuple[list, list, list]:
    return [p[0] for p in parts], [p[1] for p in parts], [p[2] for p in parts]


# -- one sequence --------------------------------------------------------------------------------------------------

def _single_shapes(c: Any) -> list:
    shape_rules.with_rank(c.shapes[0], 0, "serialized")
    a = c.attrs
    sparse, lists = len(a["context_sparse_types"]), len(a["feature_list_sparse_types"])
    return ([(None, 1)] * sparse + [(None,)] * sparse + [(1,)] * sparse + [tuple(s) for s in a["context_dense_shapes"]]
            + [(None, 2)] * lists + [(None,)] * lists + [(2,)] * lists
            + [(None, *s) for s in a["feature_list_dense_shapes"]])


@op("ParseSingleSequenceExample(serialized: string, feature_list_dense_missing_assumed_empty: string, "
    "context_sparse_keys: Ncontext_sparse*string, context_dense_keys: Ncontext_dense*string, feature_list_sparse_keys: "
    "Nfeature_list_sparse*string, feature_list_dense_keys: Nfeature_list_dense*string, context_dense_defaults: "
    f"[Tcontext_dense], debug_name: string; {_COUNTS}, {_KINDS}) -> " + _OUTPUTS.format(lengths=""),
    context_sparse_types=_TYPES, Tcontext_dense=_TYPES, feature_list_dense_types=_TYPES, feature_list_sparse_types=_TYPES,
    shape=_single_shapes, host=True, tested_in="tests/ops/test_example.py: messages")
def parse_single_sequence_example(serialized, feature_list_dense_missing_assumed_empty, context_sparse_keys,
                                  context_dense_keys, feature_list_sparse_keys, feature_list_dense_keys,
                                  context_dense_defaults, debug_name, context_sparse_types, Tcontext_dense,
                                  feature_list_dense_types, context_dense_shapes, feature_list_sparse_types,
                                  feature_list_dense_shapes):
    """The context and the feature lists of one serialized SequenceExample."""
    keys = _Keys(keys_of(context_sparse_keys), keys_of(context_dense_keys), keys_of(feature_list_sparse_keys),
                 keys_of(feature_list_dense_keys), context_dense_defaults,
                 {"context_sparse_types": context_sparse_types, "Tcontext_dense": Tcontext_dense,
                  "context_dense_shapes": context_dense_shapes, "feature_list_sparse_types": feature_list_sparse_types,
                  "feature_list_dense_types": feature_list_dense_types,
                  "feature_list_dense_shapes": feature_list_dense_shapes},
                 set(keys_of(feature_list_dense_missing_assumed_empty)))
    sparse, dense, sparse_lists, dense_lists = _one(serialized[()], keys, text_of(debug_name[()]))
    context = [sparse_batch([values], dtype) for values, (_, dtype) in zip(sparse, keys.context_sparse)]
    steps = [_steps_sparse([values], dtype) for values, (_, dtype) in zip(sparse_lists, keys.list_sparse)]
    indices, values, shapes = _columns(context)
    step_indices, step_values, step_shapes = _columns(steps)
    return ([i[:, 1:] for i in indices], values, [s[1:] for s in shapes], dense, [i[:, 1:] for i in step_indices],
            step_values, [s[1:] for s in step_shapes], dense_lists)


# -- batches of sequences ------------------------------------------------------------------------------------------

def _batched_shapes(c: Any) -> list:
    rows, a = shape_rules.with_rank(c.shapes[0], 1, "serialized")[0], c.attrs
    sparse, lists = len(a["context_sparse_types"]), len(a["feature_list_sparse_types"])
    return ([(None, 2)] * sparse + [(None,)] * sparse + [(2,)] * sparse + [(rows, *s) for s in a["context_dense_shapes"]]
            + [(None, 3)] * lists + [(None,)] * lists + [(3,)] * lists
            + [(rows, None, *s) for s in a["feature_list_dense_shapes"]] + [(rows,)] * len(a["feature_list_dense_types"]))


_KEY_ATTRS = ", ".join(f"{name}: list(string) >= 0" for name in (
    "feature_list_dense_missing_assumed_empty", "context_sparse_keys", "context_dense_keys", "feature_list_sparse_keys",
    "feature_list_dense_keys"))


@op("ParseSequenceExample(serialized: string, debug_name: string, context_dense_defaults: [Tcontext_dense]; "
    f"{_KEY_ATTRS}, {_COUNTS}, {_KINDS}) -> {_OUTPUTS.format(lengths='')}, feature_list_dense_lengths: "
    "Nfeature_list_dense*int64", context_sparse_types=_TYPES, Tcontext_dense=_TYPES, feature_list_dense_types=_TYPES,
    feature_list_sparse_types=_TYPES, shape=_batched_shapes, host=True, tested_in="tests/ops/test_example.py: messages")
def parse_sequence_example(serialized, debug_name, context_dense_defaults, feature_list_dense_missing_assumed_empty,
                           context_sparse_keys, context_dense_keys, feature_list_sparse_keys, feature_list_dense_keys,
                           context_sparse_types, Tcontext_dense, feature_list_dense_types, context_dense_shapes,
                           feature_list_sparse_types, feature_list_dense_shapes):
    """The contexts and the feature lists of a vector of serialized SequenceExamples, and the lengths of dense lists."""
    keys = _Keys(context_sparse_keys, context_dense_keys, feature_list_sparse_keys, feature_list_dense_keys,
                 context_dense_defaults,
                 {"context_sparse_types": context_sparse_types, "Tcontext_dense": Tcontext_dense,
                  "context_dense_shapes": context_dense_shapes, "feature_list_sparse_types": feature_list_sparse_types,
                  "feature_list_dense_types": feature_list_dense_types,
                  "feature_list_dense_shapes": feature_list_dense_shapes},
                 set(feature_list_dense_missing_assumed_empty))
    examples = [_one(data, keys, text_of(debug_name[row]) if debug_name.size else "<unknown>")
                for row, data in enumerate(serialized.tolist())]
    context = _columns([sparse_batch([e[0][k] for e in examples], dtype) for k, (_, dtype) in
                        enumerate(keys.context_sparse)])
    dense = [dense_batch([e[1][k] for e in examples], dtype, shape, default)
             for k, (_, dtype, shape, default) in enumerate(keys.context_dense)]
    steps = _columns([_steps_sparse([e[2][k] for e in examples], dtype) for k, (_, dtype) in enumerate(keys.list_sparse)])
    empty = {dtype: _array((), dtype) for _, dtype, _ in keys.list_dense}
    lists = [dense_batch([e[3][k] for e in examples], dtype, (None, *shape), empty[dtype])
             for k, (_, dtype, shape) in enumerate(keys.list_dense)]
    lengths = [np.array([len(e[3][k]) for e in examples], np.int64) for k in range(len(keys.list_dense))]
    return (*context, dense, *steps, lists, lengths)
