"""Parts of tensors in checkpoints: how they are written in ops, in messages and in the keys of tables."""
from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from jitgraph.graph.errors import InvalidArgumentError
from jitgraph.protobuf import messages

WHOLE = -1                                  # as a length: all of the dimension

Extents = tuple[tuple[int, int], ...]       # (start, length) for each dimension


def parse(spec: str) -> tuple[tuple[int, ...], Extents]:
    """Full shape and extents of ``"10 4 0,5:-"``: rows 0 to 4 of a [10, 4] tensor, ``-`` being a whole dimension.

    Raises InvalidArgumentError, in TensorFlow's words, for other text.
    """
    *sizes, parts = spec.split(" ")
    try:
        shape = tuple(int(size) for size in sizes)
    except ValueError:
        raise _wrong(f"Non numerical dimension in shape_and_slice: {spec}") from None
    extents = tuple(_extent(part, spec) for part in parts.split(":")) if parts else ()
    if len(extents) != len(shape) or not shape:
        raise _wrong(f"Mismatching ranks: shape = {_brackets(shape)}, slice = {parts}")
    for dimension, ((start, length), size) in enumerate(zip(extents, shape)):
        if size < 0 or start < 0 or length < WHOLE or start + max(length, 0) > size:
            raise _wrong(f"Extent in dimension {dimension} out of bounds: shape = {_brackets(shape)}, slice = {parts}")
    return shape, extents


def _extent(part: str, spec: str) -> tuple[int, int]:
    if part == "-":
        return 0, WHOLE
    start, comma, length = part.partition(",")
    if not comma or not start.isdigit() or not length.isdigit():
        raise _wrong(f"Expected a pair of numbers or '-' but got '{part}' in shape_and_slice: {spec}")
    return int(start), int(length)


def _wrong(message: str) -> InvalidArgumentError:
    return InvalidArgumentError(None, None, message)


def _brackets(shape: Any) -> str:
    return "[" + ",".join(map(str, shape)) + "]"


def resolve(extents: Extents, shape: tuple[int, ...]) -> Extents:
    """The extents with the length of whole dimensions filled in.  Raises ValueError if they do not fit `shape`."""
    if len(extents) != len(shape):
        raise ValueError(f"a slice of {len(extents)} dimensions of a tensor of shape {_brackets(shape)}")
    full = tuple((start, size if length == WHOLE else length) for (start, length), size in zip(extents, shape))
    for (start, length), size in zip(full, shape):
        if start < 0 or length < 0 or start + length > size:
            raise ValueError(f"a slice {full} outside of shape {_brackets(shape)}")
    return full


def intersection(a: Extents, b: Extents) -> Extents | None:
    """What two resolved slices have in common, None if nothing (a scalar has itself in common)."""
    common = []
    for (start_a, length_a), (start_b, length_b) in zip(a, b):
        start, end = max(start_a, start_b), min(start_a + length_a, start_b + length_b)
        if start >= end:
            return None
        common.append((start, end - start))
    return tuple(common)


def within(inner: Extents, outer: Extents) -> tuple[slice, ...]:
    """The NumPy index of the slice `inner` in an array that holds the slice `outer`, both resolved."""
    return tuple(slice(start - base, start - base + length) for (start, length), (base, _) in zip(inner, outer))


def assemble(wanted: Extents, dtype: Any, stored: Iterable[tuple[Extents, Callable[[], np.ndarray]]]) -> np.ndarray:
    """The part `wanted` of a tensor, from the slices in which it is stored: pairs of extents and what reads them.

    All extents are resolved; slices that do not touch `wanted` are not read.  Raises ValueError if a slice has another
    shape than its extents say, or if the slices do not cover the part.
    """
    size = tuple(length for _, length in wanted)
    result, covered = np.empty(size, dtype), np.zeros(size, bool)
    for extents, load in stored:
        common = intersection(wanted, extents)
        if common is None:
            continue
        part = load()
        if part.shape != tuple(length for _, length in extents):
            raise ValueError(f"the slice {list(extents)} has shape {list(part.shape)}")
        index = within(common, wanted)
        result[index] = part[within(common, extents)]
        covered[index] = True
    if not covered.all():
        raise ValueError(f"what is stored does not cover the part {list(wanted)}")
    return result


def to_proto(extents: Extents) -> Any:
    """The TensorSliceProto."""
    proto = messages.TensorSliceProto()
    for start, length in extents:
        extent = proto.extent.add()
        if length != WHOLE:
            if start:
                extent.start = start
            extent.length = length
    return proto


def from_proto(proto: Any) -> Extents:
    """The extents of a TensorSliceProto."""
    return tuple((e.start, e.length if e.WhichOneof("has_length") else WHOLE) for e in proto.extent)


# -- keys of slices in tables: bytes that sort as the tuples they stand for --------------------------------------

def key(name: str, extents: Extents) -> bytes:
    """The key under which a table has this slice of the tensor `name`; it begins with a byte 0, names do not."""
    ends = (_signed(number) for extent in extents for number in extent)
    return _unsigned(0) + _string(name.encode()) + _unsigned(len(extents)) + b"".join(ends)


def _unsigned(number: int) -> bytes:
    digits = number.to_bytes((number.bit_length() + 7) // 8, "big")
    return bytes([len(digits)]) + digits


def _string(text: bytes) -> bytes:
    """Bytes 0 and 255, which would disturb the order, are followed by each other; 0 1 ends the string."""
    return re.sub(b"[\x00\xff]", lambda match: match[0] + bytes([255 - match[0][0]]), text) + b"\x00\x01"


def _signed(number: int) -> bytes:
    """A count of bytes in unary in the leading bits, then the number; negative ones complemented, so that they sort."""
    size = 1
    while not -(1 << 7 * size - 1) <= number < 1 << 7 * size - 1:
        size += 1
    bits = 8 * size
    leading = (1 << size) - 1 << bits - size
    return ((number & (1 << bits) - 1) ^ leading).to_bytes(size, "big")
