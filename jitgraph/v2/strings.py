"""Strings, and records made of them."""
from __future__ import annotations

from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.graph import dtypes
from jitgraph.v2.calls import from_v1


@from_v1("strings.length")
def length(input, unit="BYTE", name=None):
    """How many bytes, or characters ("UTF8_CHAR"), each string has."""


@from_v1("strings.reduce_join")
def reduce_join(inputs, axis=None, keepdims=False, separator="", name=None):
    """Strings joined along `axis`, over all axes in order if none is given."""


@from_v1("strings.substr")
def substr(input, pos, len, unit="BYTE", name=None):
    """`len` bytes or characters of each string, from `pos` on."""


@from_v1("strings.to_hash_bucket")
def to_hash_bucket(input, num_buckets, name=None):
    """A number below `num_buckets` for each string."""


@from_v1("strings.to_number")
def to_number(input, out_type=dtypes.float32, name=None):
    """The number that each string spells."""


@from_v1("io.decode_csv")
def decode_csv(records, record_defaults, field_delim=",", use_quote_delim=True, na_value="", select_cols=None, name=None):
    """The fields of each record, a line of comma-separated values: a tensor for each column."""


def decode_raw(input_bytes: Any, out_type: Any, little_endian: bool = True, fixed_length: Any = None,
               name: str | None = None) -> Any:
    """The bytes of each string as numbers of `out_type`, along a new last dimension.

    `fixed_length`: so many bytes of each, zeros where it has fewer; without it all strings are of one length.
    """
    if fixed_length is None:
        return raw.DecodeRaw(input_bytes, out_type=out_type, little_endian=little_endian, name=name)
    return raw.DecodePaddedRaw(input_bytes, fixed_length, out_type=out_type, little_endian=little_endian, name=name)


@from_v1("io.parse_example")
def parse_example(serialized, features, example_names=None, name=None):
    """The features of a vector of serialized Examples: a dictionary of tensors, sparse for VarLenFeatures."""


@from_v1("io.parse_single_example")
def parse_single_example(serialized, features, example_names=None, name=None):
    """The features of one serialized Example, a string scalar."""
