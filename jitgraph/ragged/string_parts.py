"""``tf.string_split``, ``tf.strings.split``, ``tf.strings.bytes_split`` and ``tf.strings.ngrams``: parts and runs of strings."""
from __future__ import annotations

from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.declare.renamed_arguments import renamed
from jitgraph.graph import dtypes
from jitgraph.graph.composite import SparseTensor
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import name_scope
from jitgraph.ops.arrays.join import concat, stack
from jitgraph.ops.arrays.shape import reshape
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ragged.ragged_tensor import RaggedTensor, as_ragged


def string_split(source: Any, sep: Any = None, skip_empty: bool = True, delimiter: Any = None,
                 result_type: str = "SparseTensor", name: str | None = None) -> Any:
    """The parts of each string of the vector `source`, row by row in a sparse matrix.

    `sep` (or `delimiter`): the bytes at any of which strings are split (" "); empty: into single bytes.  `skip_empty`
    leaves out empty parts.  Raises ValueError if `source` is no vector.
    """
    _check_result_type(result_type)
    separators = renamed("sep", sep, "delimiter", delimiter)
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
    strings = renamed("input", input, "source", source)
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


def bytes_split(input: Any, name: str | None = None) -> Any:
    """The bytes of strings [...], ragged or not, each a string, along a new ragged last dimension; of a scalar a vector.

    Raises ValueError if the rank of `input` is not known.
    """
    with name_scope(name, "StringsByteSplit", [input]):
        strings = as_ragged(input, name="input")
        if isinstance(strings, RaggedTensor):
            return strings.with_flat_values(bytes_split(strings.flat_values))
        rank = strings.shape.ndims
        if rank is None:
            raise ValueError("bytes_split: input must have a statically-known rank (tf.ensure_shape states one).")
        if rank == 0:
            return bytes_split(stack([strings]))[0]
        if rank == 1:
            return _of_type(SparseTensor(*raw.StringSplit(strings, "", skip_empty=False)), "RaggedTensor")
        return bytes_split(RaggedTensor.from_tensor(strings))


# -- n-grams -----------------------------------------------------------------------------------------------------------

def ngrams(data: Any, ngram_width: Any, separator: str = " ", pad_values: Any = None, padding_width: int | None = None,
           preserve_short_sequences: bool = False, name: str | None = None) -> Any:
    """The n-grams along the last axis of strings [..., n], joined by `separator`: [..., number of n-grams].

    `ngram_width`: a number, or several, whose n-grams follow each other.  `pad_values`: a string, or one for the left and one
    for the right, which is put before and after each row `padding_width` times (at most, and by default, width - 1).
    `preserve_short_sequences`: a row that is too short gives itself.  Ragged if `data` is.  Raises TypeError or ValueError for
    other arguments.
    """
    with name_scope(name, "StringNGrams", [data]):
        given = pad_values if isinstance(pad_values, (list, tuple)) else ["" if pad_values is None else pad_values] * 2
        if not all(isinstance(one, (str, bytes)) for one in given[:2]):
            raise TypeError(f"ngrams: pad_values must be a string, tuple of strings, or None, not {pad_values!r}.")
        if padding_width is not None and padding_width < 1:
            raise ValueError(f"ngrams: padding_width must be greater than 0, not {padding_width}.")
        if padding_width is not None and pad_values is None:
            raise ValueError("ngrams: pad_values must be provided if padding_width is set.")
        widths = list(ngram_width) if isinstance(ngram_width, (list, tuple)) else [ngram_width]
        padding = 0 if pad_values is None else -1 if padding_width is None else padding_width

        def of_rows(rows: RaggedTensor) -> RaggedTensor:
            if rows.ragged_rank > 1:
                return rows.with_values(of_rows(rows.values))
            if any(width < 1 for width in widths):
                raise ValueError(f"All ngram_widths must be greater than 0. Got {ngram_width}")
            found = raw.StringNGrams(rows.flat_values, rows.row_splits, separator=separator, ngram_widths=widths, left_pad=given[0],
                                     right_pad=given[1], pad_width=padding, preserve_short_sequences=preserve_short_sequences)
            return RaggedTensor.from_row_splits(*found, validate=False)

        strings = as_ragged(data, dtypes.string, name="data")
        if isinstance(strings, RaggedTensor):
            return of_rows(strings)
        outer = concat([shape_of(strings)[:-1], [-1]], axis=0)
        rank = strings.shape.ndims
        if rank is None:
            raise ValueError("ngrams: Rank of data must be known (tf.ensure_shape states one).")
        if rank == 0:
            raise ValueError("ngrams: Data must have rank>0")
        if rank == 1:
            return of_rows(RaggedTensor.from_row_starts(strings, [0], validate=False))[0]
        return reshape(of_rows(RaggedTensor.from_tensor(strings, ragged_rank=rank - 1)).flat_values, outer)
