"""Messages: tensors, attributes, nodes."""
import ml_dtypes
import numpy as np
import pytest
from google.protobuf import text_format

from jitgraph.graph import dtypes
from jitgraph.graph.protos import attr_value, tensor_proto
from jitgraph.protobuf import messages

ARRAYS = [np.arange(6, dtype=d).reshape(2, 3) for d in
          (np.float32, np.float64, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64,
           np.float16, np.complex64, np.complex128, ml_dtypes.bfloat16)]
ARRAYS += [np.array([True, False]), np.array([[b"a", b"\xff"]], object)]


@pytest.mark.parametrize("array", ARRAYS, ids=lambda a: str(a.dtype))
@pytest.mark.parametrize("form", ["whole", "scalar", "empty", "repeated"])
def test_tensors_there_and_back(array, form):
    second = array.reshape(-1)[1:2]
    value = {"whole": array, "scalar": second.reshape(()), "empty": array[:0],
             "repeated": np.broadcast_to(second, (3, 2))}[form]
    proto = tensor_proto.from_array(value)
    back = tensor_proto.to_array(messages.TensorProto.FromString(proto.SerializeToString()))
    assert back.dtype == value.dtype and back.shape == value.shape and back.tolist() == value.tolist()
    if form == "empty":
        assert proto.ByteSize() < 16


def test_forms_of_writing():
    assert tensor_proto.from_array(np.float32(2)).float_val == [2.0]
    assert len(tensor_proto.from_array(np.zeros(3, np.float32)).tensor_content) == 12
    assert tensor_proto.from_array(np.broadcast_to(np.float32(2), (4, 4))).float_val == [2.0]
    assert tensor_proto.from_array(np.float16(1)).half_val == [15360]
    assert tensor_proto.from_array(np.array(1, ml_dtypes.bfloat16)).half_val == [16256]
    assert tensor_proto.from_array(np.array([1 + 2j], np.complex64)).scomplex_val == [1.0, 2.0]


def test_forms_of_reading():
    def read(text):
        return tensor_proto.to_array(text_format.Parse(text, messages.TensorProto()))

    assert read("dtype: DT_INT32 tensor_shape { dim { size: 4 } } int_val: 1 int_val: 7").tolist() == [1, 7, 7, 7]
    assert read("dtype: DT_FLOAT tensor_shape { dim { size: 2 } }").tolist() == [0, 0]
    assert read("dtype: DT_STRING tensor_shape { dim { size: 2 } }").tolist() == [b"", b""]
    assert read("dtype: DT_INT32 tensor_shape { dim { } }").shape == (0,)
    with pytest.raises(ValueError, match="holds 2 values"):
        read("dtype: DT_INT32 tensor_shape { } int_val: 1 int_val: 2")
    with pytest.raises(ValueError, match="bytes"):
        read('dtype: DT_INT32 tensor_shape { } tensor_content: "abc"')


@pytest.mark.parametrize("value, kind", [
    (True, "bool"), (-3, "int"), (1.5, "float"), ("text", "string"), (b"\xff", "string"), (dtypes.int32, "type"),
    ((2, None), "shape"), (None, "shape"), ([1, 2], "list(int)"), (["a"], "list(string)"), ([True], "list(bool)"),
    ([dtypes.int32, dtypes.string], "list(type)"), ([(1,), None], "list(shape)"), ([0.5], "list(float)"),
    ([], "list(int)")])
def test_attributes_there_and_back(value, kind):
    proto = attr_value.to_proto(value, kind)
    assert attr_value.from_proto(messages.AttrValue.FromString(proto.SerializeToString())) == value
    assert attr_value.to_proto(value) == proto


def test_nodes(tf):
    a = tf.constant(1.0, name="a")
    parts = tf.split(tf.constant([1, 2]), 2, name="s")
    with tf.control_dependencies([parts[0], a]), tf.device("/gpu:1"):
        b = tf.add(parts[1], parts[1], name="b")
    node = b.op.node_def
    assert (node.name, node.op, node.device) == ("b", "Add", "/device:GPU:1")
    assert list(node.input) == ["s:1", "s:1", "^a"]     # control inputs last, and not what is read anyway
    assert node.attr["T"].type == messages.DT_INT32
    assert str(b.op) == str(node) and b.op.op_def.name == "Add"


def test_graphs(tf):
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    version = tf.get_default_graph().version
    tf.square(x, name="y")
    graph_def = tf.get_default_graph().as_graph_def(add_shapes=True)
    assert graph_def.versions.producer == 134 and [n.name for n in graph_def.node] == ["x", "y"]
    assert [d.size for d in graph_def.node[1].attr["_output_shapes"].list.shape[0].dim] == [-1, 2]
    assert [n.name for n in tf.get_default_graph().as_graph_def(from_version=version).node] == ["y"]


def test_make_tensor_proto(tf):
    proto = tf.make_tensor_proto([1.0, 2.0], tf.float64, [2, 1])
    assert tf.make_ndarray(proto).tolist() == [[1.0], [2.0]] and proto.dtype == messages.DT_DOUBLE


def test_messages_do_not_meet_those_of_an_installed_tensorflow():
    from google.protobuf import descriptor_pool

    assert messages.GraphDef.DESCRIPTOR.full_name == "tensorflow.GraphDef"
    assert messages.GraphDef.DESCRIPTOR.file.pool is not descriptor_pool.Default()
    with pytest.raises(AttributeError, match="no protocol buffer message"):
        messages.Nonsense


def test_any_messages_name_their_type():
    packed = messages.Any()
    packed.Pack(messages.AssetFileDef(filename="vocab.txt"))
    assert packed.type_url == "type.googleapis.com/tensorflow.AssetFileDef"
