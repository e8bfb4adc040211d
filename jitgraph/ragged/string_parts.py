"""``tf.string_split`` and ``tf.strings.split``: the parts of strings, as a sparse or a ragged tensor."""
from __future__ import annotations

from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.graph import dtypes
from jitgraph.graph.composite import SparseTensor
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import name_scope
from jitgraph.ops.arrays.join import stack
from jitgraph.ragged.ragged_tensor import RaggedTensor, as_ragged


def string_split(source: Any, sep: Any = None, skip_empty: bool = True, delimiter: Any = None,
                 result_type: str = "SparseTensor", name: str | None = None) -> Any:
    """The parts of each string of the vector `source`, row by row in a sparse matrix.

    `sep` (or `delimiter`): the bytes at any of which strings are split (" "); empty: into single bytes.  `skip_empty`
    leaves out empty parts.  Raises ValueError if `source` is no vector.
    """
    _check_result_type(result_type)
    separators = delimiter if sep is None else sep
    separators = " " if separators is None else separators
    with name_scope(name, "StringSplit", [source]):
        separators = convert_to_tensor(separators, dtypes.string)
        source = convert_to_tensor(source, dtypes.string)
        return _of_type(SparseTensor(*raw.StringSplit(source, separators, skip_empty=skip_empty)), result_type)


def split(input: Any = None, sep: Any = None, maxsplit: int = -1, result_type: str = "SparseTensor", source: Any = None,
          name: str | None = None) -> Any:
    """The parts of each string of `input` between `sep`, along a new last dimension, sparse or ragged.

    Without `sep`, white space of any length separates.  `maxsplit`: at most so many splits, -1 for all.  `source` is
    another name of `input`.  The parts of a scalar are a vector, and a ValueError if a sparse tensor is asked for.
    """
    _check_result_type(result_type)
    strings = input if source is None else source
    with name_scope(name, "StringSplit", [strings]):
        strings = as_ragged(strings, dtypes.string, name="input")
        if strings.shape.rank == 1 and not isinstance(strings, RaggedTensor):
            return _of_type(_parts(strings, sep, maxsplit), result_type)
        parts = split_v2(strings, sep, maxsplit)
        if result_type == "RaggedTensor":
            return parts
        if not isinstance(parts, RaggedTensor):
            raise ValueError("the parts of a scalar are no SparseTensor: give a tensor of rank 1 or more, or "
                             'result_type="RaggedTensor"')
        return parts.to_sparse()


def split_v2(input: Any, sep: Any = None, maxsplit: int = -1, name: str | None = None) -> Any:
    """As ``split``, ragged; the parts of a single string are a vector."""
    with name_scope(name, "StringSplit", [input]):
        strings = as_ragged(input, dtypes.string, name="input")
        if isinstance(strings, RaggedTensor):
            return strings.with_flat_values(split_v2(strings.flat_values, sep, maxsplit))
        if strings.shape.rank == 0:
            return split_v2(stack([strings]), sep, maxsplit)[0]
        if strings.shape.rank in (None, 1):
            return _of_type(_parts(strings, sep, maxsplit), "RaggedTensor")
        return split_v2(RaggedTensor.from_tensor(strings), sep, maxsplit)


def _parts(strings: Any, sep: Any, maxsplit: int) -> SparseTensor:
    separator = convert_to_tensor("" if sep is None else sep, dtypes.string)
    return SparseTensor(*raw.StringSplitV2(strings, separator, maxsplit=maxsplit))


def _check_result_type(result_type: str) -> None:
    if result_type not in ("SparseTensor", "RaggedTensor"):
        raise ValueError("result_type must be 'RaggedTensor' or 'SparseTensor'.")


def _of_type(parts: SparseTensor, result_type: str) -> Any:
    if result_type == "SparseTensor":
        return parts
    return RaggedTensor.from_value_rowids(parts.values, parts.indices[:, 0], parts.dense_shape[0], validate=False)
