"""Fields of messages as tensors, and messages of tensors."""
import numpy as np

KINDS = ("double", "float", "int64", "uint64", "int32", "fixed64", "fixed32", "bool", "string", "bytes", "uint32", "sfixed32",
         "sfixed64", "sint32", "sint64")


def _source():
    from google.protobuf import descriptor_pb2

    numbers = descriptor_pb2.FieldDescriptorProto
    files = descriptor_pb2.FileDescriptorSet()
    file = files.file.add(name="fields.proto", package="t", syntax="proto2")
    inner = file.message_type.add(name="Inner")
    inner.field.add(name="x", number=1, label=1, type=numbers.TYPE_INT32)
    message = file.message_type.add(name="All")
    for i, kind in enumerate(KINDS):
        code = getattr(numbers, "TYPE_" + kind.upper())
        message.field.add(name=kind, number=i + 1, label=1, type=code)
        many = message.field.add(name="many_" + kind, number=i + 51, label=3, type=code)
        many.options.packed = kind in ("int32", "double")
    message.field.add(name="with_default", number=40, label=1, type=numbers.TYPE_INT32, default_value="7")
    message.field.add(name="inner", number=41, label=3, type=numbers.TYPE_MESSAGE, type_name=".t.Inner")
    return b"bytes://" + files.SerializeToString()


NUMBERS = {"double": 1.5, "float": -2.5, "bool": True, "string": b"word", "bytes": b"\x00\xff"}
DTYPES = {"double": "float64", "float": "float32", "bool": "bool", "string": "string", "bytes": "string", "int32": "int32",
          "sint32": "int32", "sfixed32": "int32", "uint32": "uint32", "fixed32": "uint64", "uint64": "uint64",
          "fixed64": "uint64"}


def cases(tf):
    source = _source()

    def array(kind, rows):
        name = DTYPES.get(kind, "int64")
        return np.array(rows, object if name == "string" else name)

    def encoded(names, sizes, values, **how):
        how = dict({"message_type": "t.All", "descriptor_source": source}, **how)
        return tf.raw_ops.EncodeProto(sizes=np.array(sizes, np.int32), values=values, field_names=names, **how)

    def decoded(data, names, kinds, **how):
        how = dict({"message_type": "t.All", "descriptor_source": source}, **how)
        return list(tf.io.decode_proto(data, field_names=names, output_types=[getattr(tf, kind) for kind in kinds], **how))

    def there_and_back(kind):
        one = NUMBERS.get(kind, -3 if kind[0] in "is" else 3)
        zero = {bool: False, bytes: b"", float: 0.0, int: 0}[type(one)]
        names = [kind, "many_" + kind]
        values = [array(kind, [[one], [zero], [one]]), array(kind, [[one, zero], [one, one], [zero, one]])]

        def build():
            data = encoded(names, [[1, 2], [1, 0], [0, 1]], values)
            return [tf.io.encode_base64(data), *decoded(data, names, [DTYPES.get(kind, "int64")] * 2)]
        return build

    def refused(make):
        return lambda: [make()]

    version = b"\x08\x05\x1a\x02\x01\x02"
    found = {kind: there_and_back(kind) for kind in KINDS}
    found.update({
        "default": lambda: decoded([b"", b"\xc0\x02\x01"], ["with_default", "inner"], ["int32", "string"]),
        "inner": lambda: decoded([b"\xca\x02\x02\x08\x03\xca\x02\x00"], ["inner"], ["string"]),
        "twice": lambda: decoded([b"\x28\x01\x28\x02"], ["int32", "int32"], ["int32", "int64"]),
        "not packed": lambda: decoded([b"\xb8\x03\x01\xba\x03\x02\x02\x03"], ["many_int32"], ["int32"]),
        "unknown fields": lambda: decoded([b"\x98\x06\x01\xa2\x06\x01a\x28\x02"], ["int32"], ["int32"]),
        "matrix": lambda: decoded(np.array([[b"", b"\x28\x02"]], object), ["int32"], ["int32"]),
        "text": lambda: decoded([b"int32: 4 many_string: 'a' many_string: 'b'"], ["int32", "many_string"], ["int32", "string"],
                                message_format="text"),
        "wide": lambda: decoded([b"\x58\xff\xff\xff\xff\x0f"], ["uint32", "uint32"], ["uint32", "uint64"]),
        "local": lambda: decoded([version], ["producer", "bad_consumers"], ["int32"] * 2, message_type="tensorflow.VersionDef",
                                 descriptor_source="local://"),
        "no text": lambda: decoded([b"int32 4"], ["int32"], ["int32"], message_format="text"),
        "signed": lambda: decoded([b""], ["uint64"], ["int64"]),
        "another format": lambda: decoded([b""], ["int32"], ["int32"], message_format="json"),
        "no message": lambda: decoded([b"\x28"], ["int32"], ["int32"]),
        "too short": lambda: decoded([b"\x4a\x09a"], ["string"], ["string"]),
        "no such field": lambda: decoded([b""], ["nothing"], ["int32"]),
        "no such type": lambda: decoded([b""], ["int32"], ["int32"], message_type="t.None"),
        "no such file": lambda: decoded([b""], ["int32"], ["int32"], descriptor_source="/nowhere/at/all"),
        "another dtype": lambda: decoded([b""], ["int32"], ["float32"]),
        "one dtype": lambda: decoded([b""], ["int32", "bool"], ["int32"]),
        "sizes": refused(lambda: encoded(["int32"], [[2]], [np.array([[1]], np.int32)])),
        "fields": refused(lambda: encoded(["int32"], [[1, 1]], [np.array([[1]], np.int32)])),
        "batches": refused(lambda: encoded(["int32"], [[1]], [np.array([[1], [2]], np.int32)])),
        "kinds": refused(lambda: encoded(["int32"], [[1]], [np.array([[1]], np.float32)])),
        "order": refused(lambda: encoded(["bool", "int32"], [[1, 1]], [np.array([[True]]), np.array([[1]], np.int32)])),
    })
    return found
