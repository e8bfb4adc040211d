"""Strings, element by element: ``tf.as_string``, ``tf.string_to_number``, ``tf.substr``, ``tf.strings.lower`` ..."""
from __future__ import annotations

import base64
import binascii
import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph.declare import host_texts
from jitgraph.declare.host_code import contiguous
from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import NOT_DIFFERENTIABLE, op
from jitgraph.declare.renamed_arguments import renamed
from jitgraph.declare.samples import texts
from jitgraph.graph import dtypes, shape_rules
from jitgraph.graph.dtypes import TypeSet
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.strings import text_loops

_UNITS = 'unit: string {"BYTE", "UTF8_CHAR"} = "BYTE"'


def each(function: Callable[[Any], Any], array: np.ndarray, dtype: Any = object) -> np.ndarray:
    """`function` of each element, as an array of `dtype` of the same shape."""
    out = np.empty(array.size, dtype)
    out[:] = [function(item) for item in array.reshape(-1).tolist()]
    return out.reshape(array.shape)


# -- numbers -------------------------------------------------------------------------------------------------------

_WRITTEN = TypeSet(dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64, dtypes.complex64, dtypes.complex128,
                   dtypes.float32, dtypes.float64, dtypes.bool_)


@op('AsString(input: T; precision: int = -1, scientific: bool = false, shortest: bool = false, width: int = -1, '
    'fill: string = "") -> output: string', T=_WRITTEN, shape=shape_rules.same_as_input, host=True, each=True,
    grad=NOT_DIFFERENTIABLE)
def as_string(input, precision, scientific, shortest, width, fill):
    """Each element as text.

    `precision`: digits after the point of floats; `scientific`: with an exponent; `shortest`: whichever is shorter;
    `width`: at least so many characters; `fill`: "0" pads with zeros, "-" at the right, " " or "+" mark positive numbers.
    """
    kind = input.dtype.kind
    if scientific and shortest:
        raise invalid("Cannot select both scientific and shortest notation")
    if (scientific or shortest) and kind not in "fc":
        raise invalid(f"scientific and shortest format not supported for datatype {dtypes.as_dtype(input.dtype).name}")
    if len(fill) > 1:
        raise invalid("Fill string must be one or fewer characters")
    if fill and fill not in " +-0#":
        raise invalid(f'Fill argument not supported: "{fill}"')
    if precision >= 0 and kind not in "fc":
        raise invalid(f"precision not supported for datatype {dtypes.as_dtype(input.dtype).name}")
    if kind == "b":
        return each(lambda value: b"true" if value else b"false", input)
    letter = "d" if kind in "iu" else "e" if scientific else "g" if shortest else "f"
    form = f"%{fill}{width if width >= 0 else ''}{f'.{precision}' if precision >= 0 else ''}{letter}".encode()
    write = _with_spaces(form) if fill == "0" and kind in "fc" else form.__mod__
    if kind == "c":
        return each(lambda value: b"(%s,%s)" % (write(value.real), write(value.imag)), input)
    return each(write, input)               # 0.12 us each, of which Python's formatting takes all: TensorFlow's time


def _with_spaces(form: bytes) -> Callable[[float], bytes]:
    """Writes numbers by a form that fills up with zeros: as in C, only what is finite, before the rest stand spaces."""
    spaced = form.replace(b"0", b"", 1)
    return lambda value: (form if math.isfinite(value) else spaced) % value


_INTEGER = re.compile(rb"\s*-?[0-9]+\s*\Z")
_FLOAT = re.compile(rb"\s*[-+]?(?:(0[xX][0-9a-fA-F]+)|(?:inf|nan)|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)\s*\Z",
                    re.IGNORECASE)


def parsed_number(text: bytes, dtype: Any) -> Any:
    """The number that `text` writes, None if it writes none that the dtype holds."""
    if dtype.is_integer:
        if not _INTEGER.match(text):
            return None
        value = int(text)
        return value if dtype.min <= value <= dtype.max else None
    if len(text) > text_loops.LONGEST_FLOAT:
        return None
    match, plain = _FLOAT.match(text), text.strip()
    if not match:
        return 0.0 if text and not plain else None
    if match.group(1):
        return float(int(plain, 16))
    return _rounded_once(plain) if dtype is dtypes.float32 else float(plain)


def _rounded_once(text: bytes) -> float:
    """The number as that float64 which float32 rounds as it rounds the number itself."""
    value = float(text)
    if np.float64(value).view(np.int64) & 0x1FFFFFFF == 0x10000000:         # half-way between two of float32
        from fractions import Fraction

        exact = Fraction(text.decode())
        return value if exact == value else float(np.nextafter(value, np.inf if exact > value else -np.inf))
    return value


def _number_samples(rng, dtype):
    return [([texts(b"12", b"-3", b" 7 ")], {"out_type": one})
            for one in (dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64)]


@op("StringToNumber(string_tensor: string; out_type: type = float32) -> output: out_type",
    out_type=TypeSet(dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64), shape=shape_rules.same_as_input,
    host=True, grad=NOT_DIFFERENTIABLE, samples=_number_samples)
def _string_to_number(string_tensor, out_type):
    """The number that each string writes."""

    def number(text: bytes) -> Any:
        value = parsed_number(text, out_type)
        if value is None:
            raise invalid(f"StringToNumberOp could not correctly convert string: {text.decode('latin-1')}")
        return value

    dtype, strings = out_type.as_numpy_dtype, contiguous(string_tensor)
    stretches = host_texts.places(strings)
    found = None if stretches is None else text_loops.numbers(*stretches, dtype)
    if found is None:
        return each(number, string_tensor, dtype)
    out, left = found
    for k in left.tolist():
        out[k] = number(strings[k])
    return out.reshape(string_tensor.shape)


def string_to_number(string_tensor: Any = None, out_type: Any = dtypes.float32, name: str | None = None,
                     input: Any = None) -> Tensor:
    """The number that each string writes, as `out_type` (float32, float64, int32 or int64).

    A run raises InvalidArgumentError for text that is no such number.  `input` is another name of `string_tensor`.
    """
    return _string_to_number(renamed("input", input, "string_tensor", string_tensor), out_type=out_type, name=name)


# -- parts and properties ------------------------------------------------------------------------------------------

_CHARACTER = re.compile(rb"(?s:.)[\x80-\xbf]*")
_FOLLOWING = bytes(range(0x80, 0xC0))


def characters(text: bytes) -> list[bytes]:
    """The UTF-8 characters of a string: each is a byte and those of the following that can only continue a character."""
    return _CHARACTER.findall(text)


def _count(text: bytes) -> int:
    """How many characters begin in a string, which are fewer than ``characters`` where it begins within one."""
    return len(text.translate(None, _FOLLOWING))


def _substr_shape(c: Any) -> Any:
    strings, positions, lengths = c.shapes
    if positions is not None and lengths is not None:
        if len(positions) != len(lengths):
            raise ValueError(f"Shape must be rank {len(lengths)} but is rank {len(positions)}")
        shape_rules.merge(positions, lengths)
    return shape_rules.broadcast_shapes(strings, positions)


def _part_samples(rng, dtype):
    x = texts(b"hello", b"abc")
    return [[x, np.array(1, dtype), np.array(2, dtype)], [x, np.array([0, -2], dtype), np.array([9, 1], dtype)],
            ([texts("\u00e9\U0001f600x".encode()), np.array([1], dtype), np.array([1], dtype)], {"unit": "UTF8_CHAR"})]


def _same_part(strings: np.ndarray, start: int, count: int) -> np.ndarray | None:
    """The same bytes of each string; None where one is too short, and for what counts from the end."""
    texts = strings.reshape(-1).tolist()
    if start < 0 or count < 0 or start and texts and min(map(len, texts)) < start:
        return None
    out = np.empty(strings.size, object)
    out[:] = [text[start:start + count] for text in texts]
    return out.reshape(strings.shape)


@op(f"Substr(input: string, pos: T, len: T; {_UNITS}) -> output: string", T=TypeSet(dtypes.int32, dtypes.int64),
    shape=_substr_shape, host=True, samples=_part_samples)
def _substr(input, pos, len, unit):
    """`len` bytes (or characters) of each string from `pos` on; negative positions count from the end."""
    if unit == "BYTE" and np.size(pos) == np.size(len) == 1 and np.ndim(pos) <= np.ndim(input):
        found = _same_part(input, int(np.ravel(pos)[0]), int(np.ravel(len)[0]))
        if found is not None:
            return found
    strings, positions, counts = np.broadcast_arrays(input, pos, len)
    out = np.empty(strings.size, object)
    for k, (text, start, count) in enumerate(zip(strings.reshape(-1).tolist(), positions.reshape(-1).tolist(),
                                                 counts.reshape(-1).tolist())):
        parts: Any = text if unit == "BYTE" else characters(text)
        size = parts.__len__()
        in_bytes = unit == "BYTE"
        if not -size <= start <= size or start < 0 and count < 0 and not in_bytes:
            raise invalid(f"pos {start} out of range for string {text!r} at index {k}")
        start = start + size if start < 0 else start
        # less than no bytes are all bytes, less than no characters are none
        part = parts[start:start + count] if count >= 0 else parts[start:] if in_bytes else []
        out[k] = part if in_bytes else b"".join(part)
    return out.reshape(strings.shape)


def substr(input: Any, pos: Any, len: Any, name: str | None = None, unit: str = "BYTE") -> Tensor:
    """`len` bytes of each string of `input` from position `pos` on (or UTF-8 characters, `unit` "UTF8_CHAR").

    `pos` and `len` (of one shape) broadcast with `input`; negative positions count from the end.  A run raises
    InvalidArgumentError for positions outside of a string.
    """
    return _substr(input, pos, len, unit=unit, name=name)


def _length_samples(rng, dtype):
    return [([texts(b"", b"abc", "\u00e9\U0001f600".encode())], {"unit": unit}) for unit in ("BYTE", "UTF8_CHAR")]


@op(f"StringLength(input: string; {_UNITS}) -> output: int32", shape=shape_rules.same_as_input, host=True, samples=_length_samples)
def _string_length(input, unit):
    """The length of each string."""
    return each(len if unit == "BYTE" else _count, input, np.int32)


def string_length(input: Any, name: str | None = None, unit: str = "BYTE") -> Tensor:
    """The length of each string in bytes, or in UTF-8 characters (`unit` "UTF8_CHAR"): int32."""
    return _string_length(input, unit=unit, name=name)


def _checked_encoding(encoding: str) -> bool:
    """Whether letters beyond ASCII count."""
    if encoding not in ("", "utf-8"):
        raise invalid(f"only utf-8 or '' (no encoding) is supported, received {encoding}")
    return encoding == "utf-8"


def _word_samples(rng, dtype):
    x = texts(b" aB c\n", b"", "Caf\u00c9 \U0001f600".encode(), b"abc")
    return [[x], [x.reshape(2, 2)], [x[0]], [x[:0]], ([x], {"encoding": "utf-8"})]


@op('StringLower(input: string; encoding: string = "") -> output: string', shape=shape_rules.same_as_input, host=True,
    samples=_word_samples)
def string_lower(input, encoding):
    """Each string in lower case: ASCII letters, or all with `encoding` "utf-8"."""
    if _checked_encoding(encoding):
        return each(lambda text: text.decode("utf-8", "replace").lower().encode(), input)
    return each(bytes.lower, input)


@op('StringUpper(input: string; encoding: string = "") -> output: string', shape=shape_rules.same_as_input, host=True,
    samples=_word_samples)
def string_upper(input, encoding):
    """Each string in upper case: ASCII letters, or all with `encoding` "utf-8"."""
    if _checked_encoding(encoding):
        return each(lambda text: text.decode("utf-8", "replace").upper().encode(), input)
    return each(bytes.upper, input)


@op("StringStrip(input: string) -> output: string", shape=shape_rules.same_as_input, host=True,
    samples=lambda rng, dtype: [[texts(b" a\t", b"", b"\nb c")], [np.array(b" x ", object)]])
def string_strip(input):
    """Each string without white space at its ends."""
    return each(bytes.strip, input)


# -- encodings -----------------------------------------------------------------------------------------------------

@op("EncodeBase64(input: string; pad: bool = false) -> output: string", shape=shape_rules.same_as_input, host=True,
    grad=NOT_DIFFERENTIABLE,
    samples=lambda rng, dtype: [([texts(b"", b"a", b"\xff\xfe?", b"long one")], {"pad": pad}) for pad in (False, True)])
def encode_base64(input, pad):
    """Each string in web-safe base64 (with - and _), padded with = if `pad`."""
    encode = base64.urlsafe_b64encode
    return each(encode if pad else lambda text: encode(text).rstrip(b"="), input)


_BASE64 = re.compile(rb"[A-Za-z0-9_-]*\Z")


def _decoded(text: bytes) -> bytes:
    plain = text.rstrip(b"=")
    padding = len(text) - len(plain)
    if len(plain) % 4 == 1 or text == b"=":
        raise invalid("Base64 string length cannot be 1 modulo 4.")
    if not _BASE64.match(plain) or padding and (padding > 2 or len(text) % 4):
        raise invalid("Invalid character found in base64.")
    try:
        return base64.urlsafe_b64decode(plain + b"=" * (-len(plain) % 4))
    except binascii.Error as error:
        raise invalid(f"Invalid base64: {error}") from None


@op("DecodeBase64(input: string) -> output: string", shape=shape_rules.same_as_input, host=True, grad=NOT_DIFFERENTIABLE,
    samples=lambda rng, dtype: [[texts(b"", b"YQ", b"__4_", b"YQ==")]])
def decode_base64(input):
    """What each string holds in web-safe base64, padded or not."""
    return each(_decoded, input)


@op("Fact(; ) -> fact: string", shape=lambda c: [None], host=True, tested_in="tests/distribute: it has no inputs")
def fact():
    """The string "0! == 1"."""
    return np.array(b"0! == 1", object)


def my_fact() -> Any:
    """``tf.user_ops.my_fact``: the string "0! == 1"."""
    return fact()
