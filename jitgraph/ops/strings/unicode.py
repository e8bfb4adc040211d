"""Unicode: strings to code points and back, and from one encoding to another."""
from __future__ import annotations

import codecs
import re
from typing import Any

import numpy as np

from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import op
from jitgraph.declare.samples import ints, texts
from jitgraph.graph import dtypes, shape_rules
from jitgraph.graph.dtypes import INDEX
from jitgraph.ops.strings.strings import each

_ERRORS = 'errors: string {"strict", "replace", "ignore"} = "replace", replacement_char: int = 65533'
_READING = f"{_ERRORS}, replace_control_characters: bool = false"
_OUTPUT = 'output_encoding: string {"UTF-8", "UTF-16-BE", "UTF-32-BE"}'
_NO_ENCODINGS = ("idna", "punycode", "unicode-escape", "raw-unicode-escape", "undefined")       # of Python alone
_HALF = re.compile("[\ud800-\udfff]")
_SPLITS = INDEX.with_default(dtypes.int64)


def _decoded(text: bytes, encoding: str, errors: str, replacement: int, controls: bool) -> list[tuple[int, int]]:
    """The (code point, byte offset) pairs of a string, as `errors` says about bytes that encode nothing."""
    encoding, begin = _without_mark(text, encoding)
    try:
        if codecs.lookup(encoding).name in _NO_ENCODINGS:
            raise LookupError
        decoder = codecs.getincrementaldecoder(encoding)()
    except LookupError:
        raise invalid(f"Could not create converter for input encoding: {encoding}") from None
    found: list[tuple[int, int]] = []
    position, size = begin, len(text)
    while position < size:
        length, code = _next(decoder, text, position)
        if code is None and errors == "strict":
            raise invalid("Invalid formatting on input string")
        if code is not None and not (controls and code < 0x20):
            found.append((code, position))
        elif errors != "ignore":
            found.append((replacement, position))
        position += length
    if begin and found:
        found[0] = (found[0][0], 0)                     # the mark belongs to the first character
    return found


def _without_mark(text: bytes, encoding: str) -> tuple[str, int]:
    """(the encoding with the order of its bytes, where the text begins) for UTF-16 and UTF-32, whose texts may begin with a mark of
    the order, or else have the large byte first."""
    name = encoding.upper().replace("_", "-")
    if name not in ("UTF-16", "UTF-32"):
        return encoding, 0
    size = int(name[-2:]) // 8
    mark = text[:size]
    if mark == b"\xff\xfe" + bytes(size - 2):
        return name + "-LE", size
    return name + "-BE", size if mark == bytes(size - 2) + b"\xfe\xff" else 0


def _next(decoder: Any, text: bytes, position: int) -> tuple[int, int | None]:
    """(bytes read, code point or None) of the character at `position`."""
    decoder.reset()
    for end in range(position + 1, min(position + 5, len(text) + 1)):
        try:
            character = decoder.decode(text[end - 1:end], end == len(text))
        except UnicodeDecodeError as error:
            return max(error.end - error.start, 1), None
        if character:
            return end - position, ord(character[0])
    return len(text) - position, None


def _encoded(codes: list[int], encoding: str, errors: str, replacement: int) -> bytes:
    """The string that code points spell; two halves of UTF-16 become one character, and a lone half is no error."""
    characters = []
    for code in codes:
        if 0 <= code < 0x110000:
            characters.append(chr(code))
        elif errors == "strict":
            raise invalid("Code point is out of range for Unicode, or a noncharacter.")
        elif errors == "replace":
            characters.append(chr(replacement))
    text = "".join(characters)
    if _HALF.search(text):
        text = text.encode("utf-16-be", "surrogatepass").decode("utf-16-be", "surrogatepass")
        if encoding == "UTF-8":
            text = _HALF.sub("\ufffd", text)
    return text.encode(encoding, "surrogatepass")


_TEXTS = texts(b"", "h\u00e9\U0001f600".encode(), b"a\xffb", b"ok")


def _transcode_samples(rng, dtype):
    return [([_TEXTS], {"input_encoding": "UTF-8", "output_encoding": to}) for to in ("UTF-8", "UTF-16-BE", "UTF-32-BE")]


@op(f"UnicodeTranscode(input: string; input_encoding: string, {_OUTPUT}, {_READING}) -> output: string",
    shape=shape_rules.same_as_input, host=True, samples=_transcode_samples)
def unicode_transcode(input, input_encoding, output_encoding, errors, replacement_char, replace_control_characters):
    """Each string in another encoding.

    `errors`: what becomes of bytes that encode nothing: "replace" (by `replacement_char`), "ignore", or "strict" (a run
    then raises InvalidArgumentError).
    """

    def one(text: bytes) -> bytes:
        controls = replace_control_characters
        pairs = _decoded(text, input_encoding, errors, replacement_char, controls and errors != "strict")
        if controls and errors == "strict" and any(code < 0x20 for code, _ in pairs):       # unlike where code points are asked for
            raise invalid("Invalid formatting on input string")
        return _encoded([code for code, _ in pairs], output_encoding, "replace", replacement_char)

    return each(one, input)


def _decoded_shapes(count: int) -> Any:
    def rule(c: Any) -> list:
        size = shape_rules.elements(c.shapes[0])
        return [(None if size is None else size + 1,)] + [(None,)] * count

    return rule


def _decode_all(strings: np.ndarray, *how: Any) -> tuple:
    rows = [_decoded(text, *how) for text in strings.reshape(-1).tolist()]
    splits = np.cumsum([0] + [len(row) for row in rows])
    codes = np.array([code for row in rows for code, _ in row], np.int32)
    return splits, codes, np.array([offset for row in rows for _, offset in row], np.int64)


def _decode_samples(rng, dtype):
    return [([_TEXTS], {"input_encoding": "UTF-8", "Tsplits": splits}) for splits in (dtypes.int32, dtypes.int64)]


@op(f"UnicodeDecode(input: string; input_encoding: string, {_READING}, Tsplits: type = int64) -> row_splits: Tsplits, "
    "char_values: int32", Tsplits=_SPLITS, shape=_decoded_shapes(1), host=True, dynamic=True, samples=_decode_samples)
def unicode_decode(input, input_encoding, errors, replacement_char, replace_control_characters, Tsplits):
    """The code points of all strings, and where those of each begin."""
    splits, codes, _ = _decode_all(input, input_encoding, errors, replacement_char, replace_control_characters)
    return splits.astype(Tsplits.as_numpy_dtype), codes


@op(f"UnicodeDecodeWithOffsets(input: string; input_encoding: string, {_READING}, Tsplits: type = int64) -> "
    "row_splits: Tsplits, char_values: int32, char_to_byte_starts: int64", Tsplits=_SPLITS, shape=_decoded_shapes(2),
    host=True, dynamic=True, samples=_decode_samples)
def unicode_decode_with_offsets(input, input_encoding, errors, replacement_char, replace_control_characters, Tsplits):
    """As UnicodeDecode, with the position of each character in its string."""
    splits, codes, offsets = _decode_all(input, input_encoding, errors, replacement_char, replace_control_characters)
    return splits.astype(Tsplits.as_numpy_dtype), codes, offsets


@op(f"UnicodeEncode(input_values: int32, input_splits: Tsplits; {_ERRORS}, {_OUTPUT}) -> output: string",
    Tsplits=_SPLITS, shape=lambda c: (None if not c.shapes[1] or c.shapes[1][0] is None else c.shapes[1][0] - 1,),
    host=True,
    samples=lambda rng, dtype: [([ints(104, 233, 128512), np.array([0, 1, 1, 3], dtype)], {"output_encoding": to})
                                for to in ("UTF-8", "UTF-16-BE")])
def unicode_encode(input_values, input_splits, errors, replacement_char, output_encoding):
    """The strings that rows of code points spell."""
    out = np.empty(len(input_splits) - 1, object)
    for row, (begin, end) in enumerate(zip(input_splits[:-1].tolist(), input_splits[1:].tolist())):
        out[row] = _encoded(input_values[begin:end].tolist(), output_encoding, errors, replacement_char)
    return out
