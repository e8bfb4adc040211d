"""Fields of protocol buffers as tensors, and messages of tensors: ``tf.io.decode_proto`` and ``tf.io.encode_proto``.

Both work on the bytes of the wire (protobuf's encoding guide), since sizes count what is written, zeros too.
"""
from __future__ import annotations

import functools
import struct
from typing import Any

import numpy as np

from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import NOT_DIFFERENTIABLE, op
from jitgraph.declare.samples import texts
from jitgraph.graph.errors import DataLossError
from jitgraph.graph.texts import as_text
from jitgraph.protobuf import varint

_VARINT, _EIGHT, _SIZED, _GROUP, _END, _FOUR = 0, 1, 2, 3, 4, 5
_MASK = (1 << 64) - 1
# of each kind of field: how it stands on the wire, and the dtypes that it may become
_INT32, _UINT32 = ("int32", "int64"), ("uint32", "uint64")
_INT64, _UINT64 = ("int64",), ("uint64",)
_KINDS: dict[str, tuple[int, tuple]] = {
    "DOUBLE": (_EIGHT, ("float64",)), "FLOAT": (_FOUR, ("float32", "float64")), "INT64": (_VARINT, _INT64),
    "UINT64": (_VARINT, _UINT64), "INT32": (_VARINT, _INT32), "FIXED64": (_EIGHT, _UINT64), "FIXED32": (_FOUR, _UINT32),
    "BOOL": (_VARINT, ("bool",)), "STRING": (_SIZED, ("string",)), "GROUP": (_GROUP, ("string",)),
    "MESSAGE": (_SIZED, ("string",)), "BYTES": (_SIZED, ("string",)), "UINT32": (_VARINT, _UINT32), "ENUM": (_VARINT, ("int32",)),
    "SFIXED32": (_FOUR, _INT32), "SFIXED64": (_EIGHT, _INT64), "SINT32": (_VARINT, _INT32), "SINT64": (_VARINT, _INT64)}
_FORMATS = {"DOUBLE": "<d", "FLOAT": "<f", "FIXED64": "<Q", "FIXED32": "<I", "SFIXED64": "<q", "SFIXED32": "<i"}


@functools.lru_cache(16)
def _pools(source: bytes) -> tuple:
    """The pools in which message types are looked up.  Raises InvalidArgumentError for a source that is none."""
    from google.protobuf import descriptor_pb2, descriptor_pool

    if source in (b"", b"local://"):
        from jitgraph.protobuf.messages import POOL  # type: ignore[attr-defined]

        return descriptor_pool.Default(), POOL
    if source.startswith(b"bytes://"):
        data = source[len(b"bytes://"):]
    else:
        try:
            with open(source, "rb") as file:
                data = file.read()
        except OSError:
            raise invalid("Source does not represent serialized file descriptor set proto.") from None
    found = descriptor_pb2.FileDescriptorSet()
    try:
        found.ParseFromString(data)
    except Exception:
        raise invalid("Source does not represent serialized file descriptor set proto.") from None
    pool = descriptor_pool.DescriptorPool()
    for file in found.file:
        pool.AddSerializedFile(file.SerializeToString())
    return (pool,)


class _Field:
    """A field of a message type, to be read or written with a dtype.  Raises InvalidArgumentError if it is none."""

    def __init__(self, pools: tuple, message: Any, name: str, dtype: Any):
        found = message.fields_by_name.get(name)
        for pool in () if found else pools:
            try:
                found = pool.FindExtensionByName(name)
            except KeyError:
                continue
        if found is None:
            raise invalid(f"Unknown field: {name} in message type {message.full_name}")
        self.kind = next(key[len("TYPE_"):] for key in dir(type(found)) if key.startswith("TYPE_")
                         and getattr(found, key) == found.type)
        self.wire, allowed = _KINDS[self.kind]
        if dtype.name not in allowed:
            raise invalid(f"Unexpected output type for {message.full_name}.{name}: {self.kind.lower()} to {dtype.name}")
        self.name, self.number, self.dtype = name, found.number, np.dtype(dtype.as_numpy_dtype)
        # TensorFlow packs where the definition says so, not where proto3 would by itself
        self.repeated, self.packed = _is_repeated(found), found.GetOptions().packed
        self.default: Any = b"" if self.kind in ("MESSAGE", "GROUP") or self.repeated and self.wire == _SIZED else (
            0 if self.repeated else found.default_value)
        if isinstance(self.default, str):
            self.default = self.default.encode()

    def values(self, wire: int, payload: Any) -> list:
        """What stands under the field's number: one value, or those that are packed.  Raises ValueError if it is no value."""
        if wire == _SIZED and self.wire != _SIZED:
            place, found = 0, []
            while place < len(payload):
                value, place = _read(payload, place, self.wire)
                found.append(self._value(value))
            return found
        return [self._value(payload)]

    def _value(self, raw: Any) -> Any:
        if self.kind in _FORMATS:
            return struct.unpack(_FORMATS[self.kind], raw)[0]
        if self.kind.startswith("SINT"):
            return (raw >> 1) ^ -(raw & 1)
        if self.kind == "BOOL":
            return raw != 0
        if self.kind in ("INT32", "ENUM", "UINT32"):
            raw &= 0xFFFFFFFF
            return raw - (1 << 32) if self.kind != "UINT32" and raw >> 31 else raw
        return raw - (1 << 64) if self.kind == "INT64" and raw >> 63 else raw

    def written(self, values: np.ndarray) -> bytes:
        """The values as they stand on the wire, with their tags."""
        tag = varint.encode(self.number << 3 | self.wire)
        plain = [self._bytes(value) for value in values.tolist()]
        if self.packed:
            joined = b"".join(plain)
            return varint.encode(self.number << 3 | _SIZED) + varint.encode(len(joined)) + joined if plain else b""
        end = varint.encode(self.number << 3 | _END) if self.wire == _GROUP else b""
        return b"".join(tag + one + end for one in plain)

    def _bytes(self, value: Any) -> bytes:
        if self.wire == _SIZED:
            return varint.encode(len(value)) + value
        if self.wire == _GROUP:
            return value
        if self.kind in _FORMATS:
            form = _FORMATS[self.kind]
            size = struct.calcsize(form)
            return struct.pack(form, value) if form[1] in "df" else (int(value) & (1 << 8 * size) - 1).to_bytes(size, "little")
        if self.kind.startswith("SINT"):
            value = value << 1 ^ value >> 63
        if self.kind == "UINT32":
            value &= 0xFFFFFFFF
        return varint.encode(int(value) & _MASK)


def _is_repeated(field: Any) -> bool:
    found = getattr(field, "is_repeated", None)
    return bool(found() if callable(found) else found if found is not None else field.label == field.LABEL_REPEATED)


def _read(data: bytes, place: int, wire: int) -> tuple[Any, int]:
    """(what stands at a place, the place after it).  Raises ValueError where the data end before."""
    if wire == _VARINT:
        value = shift = 0
        while True:
            if place >= len(data) or shift > 63:
                raise ValueError("no number")
            byte, place = data[place], place + 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value & _MASK, place
    if wire == _SIZED:
        size, place = _read(data, place, _VARINT)
    elif wire in (_EIGHT, _FOUR):
        size = 8 if wire == _EIGHT else 4
    else:
        raise ValueError("an unknown kind")
    if place + size > len(data):
        raise ValueError("too short")
    return data[place:place + size], place + size


def _each(data: bytes) -> Any:
    """(number, wire, what stands there) of all fields of a message."""
    place = 0
    while place < len(data):
        tag, place = _read(data, place, _VARINT)
        if tag & 7 == _GROUP:
            begin, place, end = place, *_group_end(data, place, tag >> 3)
            yield tag >> 3, _GROUP, data[begin:end]
            continue
        value, place = _read(data, place, tag & 7)
        yield tag >> 3, tag & 7, value


def _group_end(data: bytes, place: int, number: int) -> tuple[int, int]:
    """(the place after a group, where its own fields end)"""
    while True:
        before = place
        tag, place = _read(data, place, _VARINT)
        if tag & 7 == _END and tag >> 3 == number:
            return place, before
        if tag & 7 == _GROUP:
            place = _group_end(data, place, tag >> 3)[0]
        else:
            place = _read(data, place, tag & 7)[1]


def _message(source: Any, name: Any) -> tuple:
    pools = _pools(source if isinstance(source, bytes) else source.encode())
    for pool in pools:
        try:
            return pools, pool.FindMessageTypeByName(as_text(name))
        except KeyError:
            continue
    raise invalid(f"No descriptor found for message type {as_text(name)}")


def _fields(source: Any, message_type: Any, names: Any, types: Any) -> tuple:
    pools, message = _message(source, message_type)
    return message, [_Field(pools, message, as_text(name), dtype) for name, dtype in zip(names, types)]


def _decoded_shapes(c: Any) -> list:
    batch, count = c.shapes[0], len(c.attrs["output_types"])
    return [None if batch is None else (*batch, count), *[None if batch is None else (*batch, None)] * count]


def _decode_samples(rng: Any, dtype: Any) -> list:
    from jitgraph.graph import dtypes

    return [([texts(b"\x08\x05\x1a\x02\x01\x02", b"")], {
        "message_type": "tensorflow.VersionDef", "field_names": ["producer", "bad_consumers"],
        "output_types": [dtypes.int32, dtypes.int32]})]


@op('DecodeProtoV2(bytes: string; message_type: string, field_names: list(string), output_types: list(type) >= 0, '
    'descriptor_source: string = "local://", message_format: string = "binary", sanitize: bool = False) -> sizes: int32, '
    "values: [output_types]", shape=_decoded_shapes, host=True, dynamic=True, grad=NOT_DIFFERENTIABLE, samples=_decode_samples)
def decode_proto(bytes, message_type, field_names, output_types, descriptor_source, message_format, sanitize):
    """(sizes, values) of fields of serialized messages, a tensor for each field.

    `bytes` of any shape; `sizes` int32 [..., fields] counts the values of each message, `values` have one dimension more,
    filled up with defaults.  `descriptor_source`: "local://" (TensorFlow's messages and those that Python has loaded), a file
    with a FileDescriptorSet, or "bytes://" and its bytes.  A run raises InvalidArgumentError for a type or field that is not
    there, DataLossError for bytes that are no message.
    """
    if as_text(message_format) not in ("binary", "text"):
        raise invalid("format must be one of binary or text")
    if len(field_names) != len(output_types):
        raise invalid("field_names and output_types attributes must have the same length")
    message, fields = _fields(descriptor_source, message_type, field_names, output_types)
    numbers = {field.number: k for k, field in enumerate(fields)}          # of a field asked for twice, the last has the values
    rows = [_row(_binary(data, message, as_text(message_format)), fields, numbers) for data in bytes.reshape(-1).tolist()]
    sizes = np.array([[len(values) for values in row] for row in rows], np.int32).reshape(*bytes.shape, len(fields))
    out = []
    for k, field in enumerate(fields):
        most = max((len(row[k]) for row in rows), default=0) or 1
        found = np.full((len(rows), most), field.default, field.dtype)
        for row, values in zip(rows, found):
            wide = np.array(row[k], object)
            if field.dtype.kind in "iu":
                bits = 8 * field.dtype.itemsize
                wide = np.array([v & (1 << bits) - 1 for v in row[k]], f"u{field.dtype.itemsize}").view(field.dtype)
            values[:len(wide)] = wide
        out.append(found.reshape(*bytes.shape, most))
    return sizes, out


def _binary(data: bytes, message: Any, form: str) -> bytes:
    if form == "binary":
        return data
    from google.protobuf import message_factory, text_format

    try:
        return text_format.Parse(data, message_factory.GetMessageClass(message)()).SerializeToString()
    except text_format.ParseError:
        raise DataLossError(None, None, "Unable to parse text protobuf") from None


def _row(data: bytes, fields: list, numbers: dict) -> list:
    """The values of each field in one message; of a field that is not repeated, the last."""
    found: list = [[] for _ in fields]
    try:
        for number, wire, payload in _each(data):
            k = numbers.get(number)
            if k is not None:
                values = fields[k].values(wire, payload)
                found[k] = found[k] + values if fields[k].repeated else values[-1:]
    except (ValueError, struct.error, TypeError):
        raise DataLossError(None, None, "Unable to parse binary protobuf") from None
    return found


def _encoded_shape(c: Any) -> Any:
    sizes = shape = c.shapes[0]
    if shape is not None and not shape:
        raise ValueError("Shape must be at least rank 1 but is rank 0")
    return None if sizes is None else sizes[:-1]


def _encode_samples(rng: Any, dtype: Any) -> list:
    return [([np.array([[1, 2], [0, 1]], np.int32), [np.array([[5], [0]], np.int32), np.array([[1, 2], [3, 0]], np.int32)]],
             {"message_type": "tensorflow.VersionDef", "field_names": ["producer", "bad_consumers"]})]


@op('EncodeProto(sizes: int32, values: [Tinput_types]; field_names: list(string), message_type: string, '
    'descriptor_source: string = "local://", Tinput_types: list(type) >= 1) -> bytes: string', shape=_encoded_shape, host=True,
    dynamic=True, grad=NOT_DIFFERENTIABLE, samples=_encode_samples)
def encode_proto(sizes, values, field_names, message_type, descriptor_source, Tinput_types):
    """Serialized messages from tensors: of field k the first ``sizes[..., k]`` of ``values[k][..., :]``.

    A run raises InvalidArgumentError for shapes that do not fit and for types and fields that are not there.
    """
    _, fields = _fields(descriptor_source, message_type, field_names, Tinput_types)
    batch = sizes.shape[:-1]
    if sizes.shape[-1] != len(fields):
        raise invalid(f"sizes should be batch_size + [len(field_names)].  Saw: {list(sizes.shape)} but expected: "
                      f"{[*batch, len(fields)]}")
    for given in values:
        if given.shape[:-1] != batch:
            raise invalid(f"sizes should be batch_size + [len(field_names)].  Saw: {list(sizes.shape)} but expected: "
                          f"{[*given.shape[:-1], len(fields)]}")
    counts = sizes.reshape(-1, len(fields))
    flat = [given.reshape(len(counts), -1) for given in values]
    for k, given in enumerate(flat):
        if counts[:, k].max(initial=0) > given.shape[1]:
            row = int(np.argmax(counts[:, k] > given.shape[1]))
            raise invalid(f"Size to write must not be larger than value tensor; but saw: {counts[row, k]} > {given.shape[1]} at "
                          f"message {row} field {k}")
    out = np.empty(len(counts), object)
    order = sorted(range(len(fields)), key=lambda k: fields[k].number)
    for row in range(len(counts)):
        out[row] = b"".join(fields[k].written(flat[k][row, :counts[row, k]]) for k in order)
    return out.reshape(batch)
