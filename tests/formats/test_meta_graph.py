"""MetaGraphs: collections, scopes, and what else goes with a graph."""
import pytest

from jitgraph.formats import collection_protos, meta_graph
from jitgraph.protobuf import messages


@pytest.fixture
def model(tf):
    """A scope with a variable and a product with something outside of it."""
    with tf.variable_scope("part"):
        v = tf.Variable(2.0, name="v")
    x = tf.placeholder(tf.float32, [], name="x")
    with tf.device("/gpu:1"), tf.name_scope("part/"):
        y = tf.multiply(v, x, name="y")
    return y


def collections_of(tf, meta):
    with tf.Graph().as_default() as graph:
        tf.train.import_meta_graph(meta)
        return {key: graph.get_collection(key) for key in graph.get_all_collection_keys()}


def test_collections_of_every_kind(tf, model):
    graph = tf.get_default_graph()
    for key, members in {"ints": [1, True], "floats": [1.5], "bytes": [b"a", "b"], "nodes": [model, model.op],
                         "variable": tf.global_variables()}.items():
        for member in members:
            graph.add_to_collection(key, member)
    graph.get_collection_ref("empty")
    found = collections_of(tf, tf.train.export_meta_graph())
    assert found["ints"] == [1, 1] and found["floats"] == [1.5] and found["bytes"] == [b"a", b"b"]
    assert [member.name for member in found["nodes"]] == ["part/y:0", "part/y"]
    assert found["variable"][0].name == "part/v:0" and "empty" not in found
    assert found["variables"] == found["trainable_variables"] and found["variables"][0].trainable


def test_collections_that_cannot_be_written_are_left_out_with_a_warning(tf, model, caplog):
    tf.add_to_collection("objects", object())
    tf.add_to_collection("mixed", 1)
    tf.add_to_collection("mixed", "a")
    meta = tf.train.export_meta_graph()
    assert set(meta.collection_def) == {"variables", "trainable_variables"}
    assert "'objects' is not written" in caplog.text and "'mixed'" in caplog.text


def test_chosen_collections(tf, model):
    tf.add_to_collection("a", 1)
    tf.add_to_collection("b", 1)
    assert list(tf.train.export_meta_graph(collection_list=["a"]).collection_def) == ["a"]
    meta = tf.train.export_meta_graph()
    with tf.Graph().as_default():
        meta_graph.import_scoped_meta_graph(meta, restore_collections_predicate=lambda key: key == "b")
        assert tf.get_collection("a") == [] and tf.get_collection("b") == [1]


def test_objects_with_a_message_of_their_own(tf):
    class Thing:
        name = "t"

        def __init__(self, value):
            self.value = value

    collection_protos.register_proto_function(
        "things", messages.BytesList, lambda thing, export_scope: messages.BytesList(value=[thing.value]),
        lambda proto, import_scope: Thing(proto.value[0]))
    try:
        tf.add_to_collection("things", Thing(b"x"))
        tf.constant(1)
        assert collections_of(tf, tf.train.export_meta_graph())["things"][0].value == b"x"
    finally:
        del collection_protos._registered["things"]
    with pytest.raises(TypeError, match="must be callable"):
        collection_protos.register_proto_function("things", messages.BytesList, 3)


def test_files_of_both_kinds(tf, model, tmp_path):
    binary, text = str(tmp_path / "a.meta"), str(tmp_path / "b.meta")
    meta = tf.train.export_meta_graph(binary)
    assert tf.train.export_meta_graph(text, as_text=True) == meta
    assert meta_graph.read_meta_graph_file(binary) == meta_graph.read_meta_graph_file(text) == meta
    assert meta.meta_info_def.tensorflow_version == tf.VERSION
    assert {"Mul", "VariableV2"} <= {op.name for op in meta.meta_info_def.stripped_op_list.op}


@pytest.mark.parametrize("content", [b"\xff\xff\xff", b"meta_info_def { nonsense: 1 }", b"graph_def {"])
def test_files_that_are_none(tf, tmp_path, content):
    (tmp_path / "x.meta").write_bytes(content)
    with pytest.raises(OSError, match="Cannot parse file"):
        tf.train.import_meta_graph(str(tmp_path / "x.meta"))
    with pytest.raises(OSError, match="does not exist"):
        tf.train.import_meta_graph(str(tmp_path / "absent"))
    with pytest.raises(TypeError, match="Expected binary or unicode string"):
        tf.train.import_meta_graph(3)


def test_a_part_of_a_graph(tf, model):
    meta, variables = meta_graph.export_scoped_meta_graph(export_scope="part")
    assert list(variables) == ["v:0"] and [n.name for n in meta.graph_def.node][-1] == "y"
    assert list(meta.graph_def.node[-1].input) == ["v/read", "$unbound_inputs_x"]
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match=r"unbound inputs: \$unbound_inputs_x. Must provide"):
            tf.train.import_meta_graph(meta)
        seven = tf.constant(7.0)
        for scope in ("new", "new_1"):
            tf.train.import_meta_graph(meta, import_scope="new", input_map={"$unbound_inputs_x": seven})
            assert tf.get_default_graph().get_tensor_by_name(f"{scope}/y:0").op.inputs[1] is seven
        assert [v.name for v in tf.global_variables()] == ["new/v:0", "new_1/v:0"]
        with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as session:
            session.run(tf.global_variables_initializer())
            assert session.run("new_1/y:0") == 14.0


def test_devices_are_forgotten_on_demand(tf, model):
    meta = tf.train.export_meta_graph()
    assert meta.graph_def.node[-1].device == "/device:GPU:1"
    assert tf.train.export_meta_graph(clear_devices=True).graph_def.node[-1].device == ""
    with tf.Graph().as_default() as graph:
        tf.train.import_meta_graph(meta, clear_devices=True)
        assert graph.get_operation_by_name("part/y").device == ""
    assert meta.graph_def.node[-1].device == "/device:GPU:1"


def test_defaults_are_left_out_on_demand(tf, model):
    meta = tf.train.export_meta_graph(strip_default_attrs=True)
    variable = next(n for n in meta.graph_def.node if n.op == "VariableV2")
    assert meta.meta_info_def.stripped_default_attrs and "container" not in variable.attr and "dtype" in variable.attr
    with tf.Graph().as_default() as graph:
        tf.train.import_meta_graph(meta)
        assert graph.get_operation_by_name("part/v").get_attr("container") == b""


def test_other_savers_are_left_out_on_demand(tf, model):
    tf.train.Saver(name="mine")
    saver = tf.train.Saver()
    meta = saver.export_meta_graph(clear_extraneous_savers=True)
    nodes = {n.name for n in meta.graph_def.node}
    assert "save/restore_all" in nodes and not any(name.startswith("mine") for name in nodes) and "part/y" in nodes


def test_trainable_is_told_by_the_collection_in_older_files(tf, model):
    meta = tf.train.export_meta_graph()
    for collection in meta.collection_def.values():
        old = messages.VariableDef.FromString(collection.bytes_list.value[0])
        old.ClearField("trainable")
        collection.bytes_list.value[0] = old.SerializeToString()
    with tf.Graph().as_default():
        tf.train.import_meta_graph(meta)
        assert tf.global_variables()[0].trainable


def test_slices_and_resources_come_back(tf):
    tf.get_variable("p", [4], partitioner=tf.fixed_size_partitioner(2))
    tf.Variable(1, name="r", use_resource=True, trainable=False)
    meta = tf.train.export_meta_graph(saver_def=tf.train.Saver().as_saver_def())
    with tf.Graph().as_default():
        saver = tf.train.import_meta_graph(meta, import_scope="imp")
        first, second, resource = tf.global_variables()
        assert second._get_save_slice_info().spec == "4 2,2" and second._get_save_slice_info().full_name == "imp/p"
        assert resource.name == "imp/r:0" and hasattr(resource, "handle") and not resource.trainable
        assert saver.as_saver_def().filename_tensor_name == "imp/save/Const:0"
        assert tf.trainable_variables() == [first, second]


@pytest.mark.parametrize("argument, name", [("saver_def", "SaverDef"), ("graph_def", "GraphDef"),
                                            ("meta_info_def", "MetaInfoDef")])
def test_wrong_arguments(tf, argument, name):
    with pytest.raises(TypeError, match=f"{argument} must be of type {name}"):
        tf.train.export_meta_graph(**{argument: 3})
