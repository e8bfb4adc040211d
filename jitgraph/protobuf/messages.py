"""The protocol buffer classes, ``messages.GraphDef``, and enum values, ``messages.DT_FLOAT``.

They are made from the table in ``formats.schema`` in a descriptor pool of their own, so that a process may import
TensorFlow too.
"""
from __future__ import annotations

import re
from typing import Any

from google.protobuf import any_pb2, descriptor_pb2, descriptor_pool, message_factory, wrappers_pb2
from google.protobuf.internal import enum_type_wrapper

from jitgraph.protobuf.schema import ENUMS, SCHEMA

_PACKAGE = "tensorflow"
_Field = descriptor_pb2.FieldDescriptorProto
_SCALARS = {name: getattr(_Field, "TYPE_" + name.upper()) for name in
            ("double", "float", "int64", "uint64", "int32", "sint64", "fixed64", "fixed32", "bool", "string", "bytes", "uint32")}
_IMPORTED = (any_pb2, wrappers_pb2)
_OF_GOOGLE = ("protobuf.Any", "protobuf.Int32Value", "protobuf.StringValue")
# messages whose definitions say of each repeated number that it is packed: ``tf.io.encode_proto`` packs none but these
_STATED_PACKED = ("AttrValue.ListValue", "TensorProto", "CollectionDef.Int64List", "CollectionDef.FloatList", "FloatList",
                  "Int64List", "HistogramProto")
_FIELD = re.compile(r"(\w+)=(\d+) (repeated )?(.+)$")
_MAP = re.compile(r"map<(\w+),([\w.]+)>$")


def _lines(text: str) -> list[tuple[str, str]]:
    joined = re.sub(r"\n +", " ", text.strip())
    return [tuple(line.split(":", 1)) for line in joined.splitlines()]   # type: ignore[misc]


class _File:
    """The FileDescriptorProto in the making."""

    def __init__(self) -> None:
        self.proto = descriptor_pb2.FileDescriptorProto(
            name="jitgraph/tensorflow.proto", package=_PACKAGE, syntax="proto3",
            dependency=[file.DESCRIPTOR.name for file in _IMPORTED])
        self._messages: dict[str, Any] = {}
        self._enums: set[str] = set()
        enums, messages = _lines(ENUMS), _lines(SCHEMA)
        for name, _ in messages:
            self._scope(name)
        for name, values in enums:
            self._add_enum(name, values)
        for name, fields in messages:
            self._add_fields(name, fields)

    def _scope(self, name: str) -> Any:
        """The DescriptorProto of a (nested) message."""
        if name not in self._messages:
            outer, _, last = name.rpartition(".")
            parent = self._scope(outer).nested_type if outer else self.proto.message_type
            self._messages[name] = parent.add(name=last)
        return self._messages[name]

    def _add_enum(self, name: str, values: str) -> None:
        outer, _, last = name.rpartition(".")
        enum = (self._scope(outer) if outer else self.proto).enum_type.add(name=last)
        pairs = [(key, int(number)) for key, number in (item.split("=") for item in values.split())]
        if name == "DataType":      # a reference type is its base plus 100
            pairs += [(key + "_REF", number + 100) for key, number in pairs if number]
        for key, number in pairs:
            enum.value.add(name=key, number=number)
        self._enums.add(name)

    def _add_fields(self, name: str, text: str) -> None:
        message = self._scope(name)
        plain, _, group = text.partition("|")
        for item in filter(None, (part.strip() for part in plain.split(";"))):
            self._add_field(message, name, item)
        if group:
            oneof, _, members = group.partition(":")
            message.oneof_decl.add(name=oneof.strip())
            for item in members.split(";"):
                self._add_field(message, name, item.strip()).oneof_index = 0

    def _add_field(self, message: Any, scope: str, text: str) -> Any:
        match = _FIELD.match(text)
        assert match, (scope, text)
        name, number, repeated, type_name = match.groups()
        field = message.field.add(name=name, number=int(number))
        entry = _MAP.match(type_name)
        field.label = _Field.LABEL_REPEATED if repeated or entry else _Field.LABEL_OPTIONAL
        if entry:
            nested = message.nested_type.add(name=_entry_name(name))
            nested.options.map_entry = True
            for key, kind in (("key=1", entry.group(1)), ("value=2", entry.group(2))):
                self._add_field(nested, scope, f"{key} {kind}")
            field.type = _Field.TYPE_MESSAGE
            field.type_name = f".{_PACKAGE}.{scope}.{nested.name}"
        else:
            self._set_type(field, type_name)
            is_number = field.type not in (_Field.TYPE_STRING, _Field.TYPE_BYTES, _Field.TYPE_MESSAGE)
            if repeated and is_number and scope in _STATED_PACKED:
                field.options.packed = True
        return field

    def _set_type(self, field: Any, type_name: str) -> None:
        if type_name in _SCALARS:
            field.type = _SCALARS[type_name]
        elif type_name in _OF_GOOGLE:
            field.type, field.type_name = _Field.TYPE_MESSAGE, f".google.{type_name}"
        else:
            assert type_name in self._enums or type_name in self._messages, type_name
            field.type = _Field.TYPE_ENUM if type_name in self._enums else _Field.TYPE_MESSAGE
            field.type_name = f".{_PACKAGE}.{type_name}"


def _entry_name(field: str) -> str:
    return "".join(part.capitalize() for part in field.split("_")) + "Entry"


def _text(message: Any) -> str:
    """What ``print(message)`` shows: attributes and other maps sorted by their keys, as TensorFlow's programs see them."""
    from google.protobuf import text_format

    return text_format.MessageToString(message)


def _class(descriptor: Any) -> Any:
    made = message_factory.GetMessageClass(descriptor)
    made.__str__ = made.__repr__ = _text        # the library's own order of maps changes from release to release
    for inner in descriptor.nested_types:
        if not inner.GetOptions().map_entry:
            setattr(made, inner.name, _class(inner))    # the library in pure Python does not do it itself
    return made


def _build() -> dict[str, Any]:
    pool = descriptor_pool.DescriptorPool()
    for imported in _IMPORTED:
        pool.AddSerializedFile(imported.DESCRIPTOR.serialized_pb)
    file = pool.AddSerializedFile(_File().proto.SerializeToString()) or pool.FindFileByName("jitgraph/tensorflow.proto")
    names: dict[str, Any] = {name: _class(descriptor)
                             for name, descriptor in file.message_types_by_name.items()}
    names["Any"] = message_factory.GetMessageClass(pool.FindMessageTypeByName("google.protobuf.Any"))
    for name, descriptor in file.enum_types_by_name.items():
        names[name] = enum_type_wrapper.EnumTypeWrapper(descriptor)
        names.update((value.name, value.number) for value in descriptor.values)
    names["POOL"] = pool
    return names


globals().update(_build())


def __getattr__(name: str) -> Any:
    raise AttributeError(f"there is no protocol buffer message or enum value {name!r} in the schema")
