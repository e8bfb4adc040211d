"""``tf.strings.unicode_decode``, ``unicode_encode`` and ``unicode_split``: strings as rows of characters, and back."""
from __future__ import annotations

from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.graph import dtypes
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.join import stack
from jitgraph.ops.arrays.shape import reshape
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ragged.functions import expand_dims
from jitgraph.ragged.ragged_tensor import RaggedTensor, as_ragged


def unicode_decode(input: Any, input_encoding: str, errors: str = "replace", replacement_char: int = 0xFFFD,
                   replace_control_characters: bool = False, name: str | None = None) -> Any:
    """The code points of strings [...], ragged or not: int32 along a new ragged last dimension; of a scalar a vector.

    See ``unicode_transcode`` for `errors`.  Raises ValueError if the rank of `input` is not known.
    """
    with name_scope(name, "UnicodeDecode", [input]):
        return _decoded(raw.UnicodeDecode, input, input_encoding, errors, replacement_char, replace_control_characters)[0]


def unicode_decode_with_offsets(input: Any, input_encoding: str, errors: str = "replace",
                                replacement_char: int = 0xFFFD, replace_control_characters: bool = False,
                                name: str | None = None) -> tuple[Any, Any]:
    """(code points int32, byte positions int64) of the characters of strings, each as ``unicode_decode`` gives them."""
    with name_scope(name, "UnicodeDecodeWithOffsets", [input]):
        found = _decoded(raw.UnicodeDecodeWithOffsets, input, input_encoding, errors, replacement_char, replace_control_characters)
        return found[0], found[1]


def unicode_split(input: Any, input_encoding: str, errors: str = "replace", replacement_char: int = 0xFFFD,
                  name: str | None = None) -> Any:
    """The characters of strings [...], each a string in `input_encoding`, along a new ragged last dimension; of a scalar a
    vector."""
    with name_scope(name, "UnicodeSplit", [input]):
        codes, = _decoded(raw.UnicodeDecode, input, input_encoding, errors, replacement_char, False)
        return unicode_encode(expand_dims(codes, -1), input_encoding, errors, replacement_char)


def unicode_split_with_offsets(input: Any, input_encoding: str, errors: str = "replace", replacement_char: int = 0xFFFD,
                               name: str | None = None) -> tuple[Any, Any]:
    """(characters, byte positions int64) of strings, each as ``unicode_split`` gives them."""
    with name_scope(name, "UnicodeSplitWithOffsets", [input]):
        codes, offsets = _decoded(raw.UnicodeDecodeWithOffsets, input, input_encoding, errors, replacement_char, False)
        return unicode_encode(expand_dims(codes, -1), input_encoding, errors, replacement_char), offsets


def _decoded(decode: Any, input: Any, input_encoding: str, errors: str, replacement_char: int, controls: bool) -> list:
    """What `decode` gives for each string, in the rows of the strings."""
    strings = as_ragged(input, name="input")
    rank = strings.shape.ndims
    if rank is None:
        raise ValueError("Rank of `input` must be statically known (tf.ensure_shape states one).")
    if rank > 1:
        if not isinstance(strings, RaggedTensor):
            strings = RaggedTensor.from_tensor(strings, ragged_rank=rank - 1)
        elif strings.ragged_rank < rank - 1:
            strings = strings.with_flat_values(
                RaggedTensor.from_tensor(strings.flat_values, ragged_rank=rank - strings.ragged_rank - 1))
    flat = reshape(strings.flat_values if isinstance(strings, RaggedTensor) else strings, [-1])
    splits, *found = decode(flat, input_encoding=input_encoding, errors=errors, replacement_char=replacement_char,
                            replace_control_characters=controls)
    if rank == 0:
        return found
    rows = [RaggedTensor.from_row_splits(one, splits, validate=False) for one in found]
    return rows if rank == 1 else [strings.with_flat_values(one) for one in rows]


def unicode_encode(input: Any, output_encoding: str, errors: str = "replace", replacement_char: int = 65533,
                   name: str | None = None) -> Any:
    """The strings [...] that code points [..., characters], ragged or not, spell along the last dimension.

    `errors`: what becomes of numbers that are no code points, see ``unicode_transcode``.  Raises ValueError if the rank of
    `input` is not known or 0.
    """
    with name_scope(name, "UnicodeEncode", [input]):
        codes = as_ragged(input)
        rank = codes.shape.ndims
        if rank is None:
            raise ValueError("unicode_encode: Rank of input_tensor must be statically known (tf.ensure_shape states one).")
        if rank == 0:
            raise ValueError("unicode_encode: input_tensor's rank must be at least 1.")
        how = output_encoding, errors, replacement_char
        if isinstance(codes, RaggedTensor):
            if (codes.flat_values.shape.ndims or 1) > 1:
                return codes.with_flat_values(unicode_encode(codes.flat_values, *how))
            if codes.ragged_rank > 1:
                return codes.with_values(unicode_encode(codes.values, *how))
            return raw.UnicodeEncode(codes.values, codes.row_splits, output_encoding=output_encoding, errors=errors,
                                     replacement_char=replacement_char)
        return _encoded_dense(codes, rank, how)


def _encoded_dense(codes: Tensor, rank: int, how: tuple[str, str, int]) -> Tensor:
    if rank == 1:
        one_row = RaggedTensor.from_row_splits(codes, stack([0, shape_of(codes, out_type=dtypes.int32)[0]]), validate=False)
        return reshape(unicode_encode(one_row, *how), [])
    if rank == 2:
        return unicode_encode(RaggedTensor.from_tensor(codes), *how)
    rows = reshape(codes, stack([-1, shape_of(codes)[-1]]))
    return reshape(unicode_encode(rows, *how), codes.shape[:-1])
