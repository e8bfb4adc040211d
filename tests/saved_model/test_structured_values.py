"""Structures of Python values as messages, as TensorFlow writes and reads them."""
import collections

import pytest

from jitgraph.protobuf import messages
from jitgraph.saved_model.structured_values import NotEncodableError, decoded, encoded, specs_of

Point = collections.namedtuple("Point", ["x", "y"])


def structures(tf):
    """One of each kind."""
    return [None, True, 3, -1, 2.5, "text", [1, (2, None)], {"a": [tf.float32], "b": {}}, (), tf.TensorShape([None, 2]),
            tf.TensorShape(None), tf.int64, tf.TensorSpec([None, 3], tf.string, "lines"), tf.TensorSpec(None, tf.bool),
            tf.SparseTensorSpec([2, None], tf.int32), tf.IndexedSlicesSpec([3], tf.float64),
            tf.RaggedTensorSpec([2, None], tf.int8), tf.TensorArraySpec([4], tf.float32, True, False)]


def test_what_is_written_is_read(tf):
    for value in structures(tf):
        message = messages.StructuredValue.FromString(encoded(value).SerializeToString())
        found = decoded(message)
        assert type(found) is type(value) and repr(found) == repr(value)


def test_a_named_tuple_gets_a_class_of_its_own():
    found = decoded(encoded(Point(1, [2])))
    assert type(found).__name__ == "Point" and found._asdict() == {"x": 1, "y": [2]}


def test_the_bytes_are_those_of_tensorflow(tf):
    # StructureCoder().encode_structure(...).SerializeToString() of TensorFlow 1.15.5 gives these
    assert encoded((-3, {"k": tf.TensorSpec([None], tf.float32, "k")})).SerializeToString() == bytes.fromhex(
        "a203270a0260050a21aa031e0a1c0a016b12178a02140a016b120d120b08ffffffffffffffffff011801")


def test_objects_are_refused():
    with pytest.raises(NotEncodableError, match=r"No encoder for object \[<object"):
        encoded([object()])


def test_a_spec_of_a_newer_tensorflow_is_refused():
    message = messages.StructuredValue()
    message.type_spec_value.type_spec_class_name = "NewSpec"
    with pytest.raises(ValueError, match="The type 'NewSpec' is not supported"):
        decoded(message)


def test_specs_have_the_names_of_their_places(tf):
    results = {"a": tf.zeros([2]), "b": [tf.constant(1), None]}
    assert specs_of(results) == {"a": tf.TensorSpec([2], tf.float32, "a"), "b": [tf.TensorSpec([], tf.int32, "b/0"), None]}
    assert specs_of(tf.constant("x")) == tf.TensorSpec([], tf.string, "")
