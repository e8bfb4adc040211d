"""Numbers in strings: ``tf.decode_raw``, ``tf.decode_csv``, ``tf.decode_compressed``, ``tf.parse_tensor``."""
from __future__ import annotations

import ctypes
import zlib
from typing import Any

import numpy as np

from jitgraph.declare import host_texts
from jitgraph.declare.host_code import contiguous
from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import NOT_DIFFERENTIABLE, op
from jitgraph.declare.samples import texts
from jitgraph.formats.inflating import decompressor
from jitgraph.graph import dtypes, errors, shape_rules
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.dtypes import TypeSet
from jitgraph.graph.errors import UnimplementedError
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.strings import text_loops
from jitgraph.ops.strings.strings import each, parsed_number

# -- bytes ---------------------------------------------------------------------------------------------------------

_RAW = TypeSet(dtypes.float16, dtypes.float32, dtypes.float64, dtypes.int32, dtypes.uint16, dtypes.uint8, dtypes.int16,
               dtypes.int8, dtypes.int64, dtypes.complex64, dtypes.complex128, dtypes.bool_)


def _one_more(c: Any) -> Any:
    return None if c.shapes[0] is None else (*c.shapes[0], None)


@op("DecodeRaw(bytes: string; out_type: type, little_endian: bool = true) -> output: out_type", out_type=_RAW,
    shape=_one_more, host=True, grad=NOT_DIFFERENTIABLE,
    samples=lambda rng, dtype: [([texts(bytes(range(16)), bytes(16))], {"out_type": one, "little_endian": little})
                                for one in (dtypes.uint8, dtypes.int32, dtypes.float64) for little in (True, False)], dynamic=True)
def _decode_raw(bytes, out_type, little_endian):
    """The bytes of each string as numbers, along a new last dimension."""
    dtype = np.dtype(out_type.as_numpy_dtype)
    flat = bytes.reshape(-1).tolist()
    size = len(flat[0]) if flat else 0
    for k, text in enumerate(flat):
        if len(text) != size:
            raise invalid(f"DecodeRaw requires input strings to all be the same size, but element {k} has size {size} != "
                          f"{len(text)}")
    if size % dtype.itemsize:
        raise invalid(f"Input to DecodeRaw has length {size} that is not a multiple of {dtype.itemsize}, the size of "
                      f"{out_type.name}")
    numbers = np.frombuffer(b"".join(flat), dtype)
    if not little_endian:                   # all bytes of a number in the other order, both parts of a complex one together
        numbers = numbers.view(np.uint8).reshape(-1, dtype.itemsize)[:, ::-1].copy().view(dtype)
    return numbers.reshape(*bytes.shape, size // dtype.itemsize)


def decode_raw(input_bytes: Any = None, out_type: Any = None, little_endian: bool = True, name: str | None = None,
               bytes: Any = None) -> Tensor:
    """The bytes of each string as numbers of `out_type`, along a new last dimension.

    A run raises InvalidArgumentError if the strings differ in length, or if that is no multiple of the size of a number.
    `bytes` is the older name of `input_bytes`.
    """
    return _decode_raw(input_bytes if bytes is None else bytes, out_type=out_type, little_endian=little_endian, name=name)


@op('DecodeCompressed(bytes: string; compression_type: string = "") -> output: string', shape=shape_rules.same_as_input,
    host=True,
    samples=lambda rng, dtype: [([texts(zlib.compress(b"abc"), zlib.compress(b""))], {"compression_type": "ZLIB"}),
                                [texts(b"as it is")]])
def decode_compressed(bytes, compression_type):
    """Each string uncompressed; `compression_type` is "", "ZLIB" or "GZIP"."""
    if compression_type not in ("", "ZLIB", "GZIP"):
        raise invalid(f"Only ZLIB, GZIP or NONE are supported compressions, got: {compression_type}")
    if not compression_type:
        return bytes

    def one(text: Any) -> Any:
        """What the first stream in `text` holds, or its beginning if it is cut off."""
        try:
            return decompressor(compression_type).decompress(text)
        except zlib.error as error:
            raise errors.DataLossError(None, None, f"inflate() failed: {error}") from None

    return each(one, bytes)


# -- tensors -------------------------------------------------------------------------------------------------------

def _serialized_samples(rng, dtype):
    examples = (np.ones((2, 3), np.float32), dtypes.float32), (np.array(7, np.int32), dtypes.int32), (texts(b"a", b""),
                                                                                                      dtypes.string)
    return [([np.asarray(serialize_tensor.opdef.value(array, one), object)], {"out_type": one}) for array, one in examples]


@op("ParseTensor(serialized: string; out_type: type) -> output: out_type", shape=lambda c: None, host=True, grad=NOT_DIFFERENTIABLE,
    samples=_serialized_samples, dynamic=True)
def parse_tensor(serialized, out_type):
    """The value of a serialized TensorProto, a string scalar; its dtype has to be `out_type`."""
    from google.protobuf.message import DecodeError

    from jitgraph.graph.protos.tensor_proto import to_array
    from jitgraph.protobuf.messages import TensorProto

    try:
        proto = TensorProto.FromString(serialized[()])
        array = to_array(proto)
    except (DecodeError, ValueError, TypeError):
        raise invalid(f"Could not parse `serialized` as TensorProto: '{serialized[()][:50]!r}'") from None
    found = dtypes.as_dtype(proto.dtype)
    if found != out_type:
        raise invalid(f"Type mismatch between parsed tensor ({found.name}) and dtype ({out_type.name})")
    return array


@op("SerializeTensor(tensor: T) -> serialized: string", shape=shape_rules.scalar, host=True, grad=NOT_DIFFERENTIABLE)
def serialize_tensor(tensor, T):
    """The value as a serialized TensorProto, a string scalar.

    A run raises UnimplementedError for values of dtype variant, which stand for things of the host such as datasets.
    """
    from jitgraph.graph.protos.tensor_proto import with_content

    if T is dtypes.variant:
        kinds = ", ".join(sorted({type(item).__name__ for item in tensor.ravel().tolist()})) or "nothing"
        raise UnimplementedError(None, None, f"A tensor of dtype variant that holds {kinds} has no serialized form: serialize "
                                             "the tensors that it was made of")

    return np.array(with_content(tensor, T).SerializeToString(deterministic=True), object)


# -- comma-separated values ----------------------------------------------------------------------------------------

_NAMES = {"float32": "float", "float64": "double"}      # as messages of TensorFlow call them
_CSV = TypeSet(dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64, dtypes.string)


def _column_shapes(c: Any) -> list:
    for default in c.shapes[1:]:
        if default is not None and (len(default) > 1 or (*default, 0)[0] not in (None, 0, 1)):
            raise ValueError("Shape of a default must be a length-0 or length-1 vector, or a scalar.")
    return [c.shapes[0]] * len(c.attrs["OUT_TYPE"])


def _csv_samples(rng, dtype):
    return [[texts(b'1,2.5,"a,b"', b"3,,"), [np.zeros(0, np.int64), np.array([0.5], np.float32), texts(b"")]]]


@op('DecodeCSV(records: string, record_defaults: [OUT_TYPE]; OUT_TYPE: list(type) >= 1, field_delim: string = ",", '
    'use_quote_delim: bool = true, '
    'na_value: string = "", select_cols: list(int) = []) -> output: [OUT_TYPE]', OUT_TYPE=_CSV, shape=_column_shapes,
    host=True, samples=_csv_samples)
def _decode_csv(records, record_defaults, field_delim, use_quote_delim, na_value, select_cols, OUT_TYPE):
    """The fields of each record, a tensor per column; empty ones become the default of their column."""
    if len(field_delim) != 1:
        raise invalid("field_delim should be only 1 char")
    if not na_value:
        found = _columns(contiguous(records), record_defaults, field_delim.encode(), use_quote_delim, select_cols, OUT_TYPE)
        if found is not None:
            return [column.reshape(records.shape) for column in found]
    out = [np.empty(records.size, dtype.as_numpy_dtype) for dtype in OUT_TYPE]
    missing = na_value.encode() if isinstance(na_value, str) else na_value
    for row, record in enumerate(records.reshape(-1).tolist()):
        fields = _fields(record, field_delim.encode(), use_quote_delim, select_cols)
        if len(fields) != len(out):
            raise invalid(f"Expect {len(out)} fields but have {len(fields)} in record {row}")
        for column, field in enumerate(fields):
            out[column][row] = _value(field, column, row, record_defaults[column], OUT_TYPE[column], missing)
    return [column.reshape(records.shape) for column in out]


def _columns(records: np.ndarray, defaults: list[np.ndarray], delimiter: bytes, quotes: bool, columns: list[int],
             types: list) -> list[np.ndarray] | None:
    """The columns of plain records, by loops that are compiled; None where they do not know one, or where one is wrong."""
    stretches = host_texts.places(records) if len(delimiter) == 1 else None
    found = None if stretches is None else text_loops.fields(*stretches, delimiter[0], quotes, columns, len(types))
    if found is None:
        return None
    out = []
    for starts, ends, default, dtype in zip(*found, defaults, types):
        empty = starts == ends
        if dtype is dtypes.string:
            column = host_texts.texts(starts, ends)
            if column is None:
                return None
        else:
            read = text_loops.numbers(starts, ends, dtype.as_numpy_dtype)
            if read is None:
                return None
            column, left = read
            for k in left[~empty[left]].tolist():
                value = parsed_number(ctypes.string_at(int(starts[k]), int(ends[k] - starts[k])), dtype)
                if value is None:
                    return None
                column[k] = value
        if empty.any():
            if not default.size:
                return None
            column[empty] = default.reshape(-1)[0]
        out.append(column)
    return out


def _value(field: bytes, column: int, row: int, default: np.ndarray, dtype: Any, missing: bytes) -> Any:
    if field == b"" or field == missing:
        if not default.size:
            raise invalid(f"Field {column} is required but missing in record {row}!")
        return default.reshape(-1)[0]
    if dtype is dtypes.string:
        return field
    value = parsed_number(field, dtype)
    if value is None:
        raise invalid(f"Field {column} in record {row} is not a valid {_NAMES.get(dtype.name, dtype.name)}: "
                      f"{field.decode('latin-1')}")
    return value


def _fields(record: bytes, delimiter: bytes, quotes: bool, columns: list[int]) -> list[bytes]:
    """The fields of a record, or those of `columns`, behind whose last one it is not read.

    In quotes a delimiter is text, and two quotes are one; line ends in front of a field are skipped.
    """
    found: list[bytes] = []
    position, count = 0, 0

    def wanted() -> bool:
        return not columns or columns[len(found)] == count

    while position < len(record):
        if record[position] in b"\r\n":
            position += 1
            continue
        if quotes and record[position:position + 1] == b'"':
            field, position = _quoted(record, position + 1, delimiter)
        else:
            end = record.find(delimiter, position)
            end = len(record) if end < 0 else end
            field, position = record[position:end], end
            if quotes and b'"' in field or b"\n" in field or b"\r" in field:
                raise invalid("Unquoted fields cannot have quotes/CRLFs inside")
        position += 1
        if wanted():
            found.append(field)
            if len(found) == len(columns):
                return found
        count += 1
    if record.endswith(delimiter) and wanted():
        found.append(b"")
    return found


def _quoted(record: bytes, start: int, delimiter: bytes) -> tuple[bytes, int]:
    """(text of a field in quotes, position after it)."""
    pieces, position = [], start
    while True:
        end = record.find(b'"', position)
        if end < 0:
            raise invalid("Quoted field has to end with quote followed by delim or end")
        pieces.append(record[position:end])
        following = record[end + 1:end + 2]
        if following in (b"", delimiter):
            return b"".join(pieces), end + 1
        if following != b'"':
            raise invalid("Quote inside a string has to be escaped by another quote")
        pieces.append(b'"')
        position = end + 2


def decode_csv(records: Any, record_defaults: Any, field_delim: str = ",", use_quote_delim: bool = True,
               name: str | None = None, na_value: str = "", select_cols: Any = None) -> list:
    """The fields of each record (a line of comma-separated values), a tensor per column of the shape of `records`.

    `record_defaults`: a list with a tensor per column; its dtype is that of the column, its value (a scalar, or a vector
    of one) stands for empty fields, and an empty vector makes the field required.  `na_value`: another text for empty;
    `select_cols`: which columns, in increasing order.  Raises ValueError for columns that are not.
    """
    if select_cols is not None and list(select_cols) != sorted(set(select_cols)):
        raise ValueError("select_cols is not strictly increasing.")
    if select_cols is not None and len(select_cols) and min(select_cols) < 0:
        raise ValueError("select_cols contains negative values.")
    if select_cols is not None and len(select_cols) != len(record_defaults):
        raise ValueError("Length of select_cols and record_defaults do not match.")
    defaults = [value if isinstance(value, Tensor) else convert_to_tensor(value) for value in record_defaults]
    return _decode_csv(records, defaults, field_delim=field_delim, use_quote_delim=use_quote_delim, na_value=na_value,
                       select_cols=list(select_cols or ()), name=name)
