"""Parts of GraphDefs, frozen graphs, and graphs in files."""
import os

import numpy as np
import pytest
from google.protobuf import text_format

from jitgraph.formats import graph_parts


def names(graph_def):
    return [node.name for node in graph_def.node]


def inputs(graph_def):
    return {node.name: list(node.input) for node in graph_def.node}


@pytest.fixture
def model(tf):
    """y = x w + gather(r): a reference and a resource variable, a control input, nodes that nobody needs."""
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    w = tf.Variable([[1.0], [2.0]], name="w")
    r = tf.get_variable("r", initializer=[3.0, 4.0], use_resource=True)
    c = tf.constant(2.0, name="c")
    with tf.control_dependencies([c]):
        y = tf.add(tf.matmul(x, w), tf.gather(r, [0]) + tf.identity(r)[1], name="y")
    tf.identity(y, name="z")
    tf.square(x, name="unused")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        yield session


def test_extract_sub_graph(tf, model):
    graph_def = model.graph.as_graph_def()
    part = tf.graph_util.extract_sub_graph(graph_def, ["z"])
    assert "unused" not in names(part) and "w/Assign" not in names(part) and "c" in names(part)
    assert names(tf.graph_util.extract_sub_graph(graph_def, ["c", "x"])) == ["x", "c"]
    assert part.versions == graph_def.versions


@pytest.mark.parametrize("destinations, error, message", [
    (["absent"], AssertionError, "absent is not in graph"), ("z", TypeError, "dest_nodes must be a list"),
    (["y:0"], AssertionError, "y:0 is not in graph")])
def test_nodes_that_are_not_there(tf, model, destinations, error, message):
    with pytest.raises(error, match=message):
        tf.graph_util.extract_sub_graph(model.graph.as_graph_def(), destinations)
    with pytest.raises(TypeError, match="graph_def must be a graph_pb2.GraphDef"):
        tf.graph_util.extract_sub_graph(3, ["z"])


def test_freezing(tf, model):
    expected = model.run("y:0", {"x:0": [[1.0, 1.0]]})
    frozen = tf.graph_util.convert_variables_to_constants(model, model.graph.as_graph_def(), ["z"])
    kinds = {node.name: node.op for node in frozen.node}
    assert kinds["w"] == kinds["r"] == "Const" and "unused" not in kinds
    assert not {"ReadVariableOp", "ResourceGather", "VarHandleOp", "VariableV2"} & set(kinds.values())
    with tf.Graph().as_default():
        z, = tf.import_graph_def(frozen, return_elements=["z:0"])
        with tf.Session() as session:
            np.testing.assert_allclose(session.run(z, {"import/x:0": [[1.0, 1.0]]}), expected)


def test_freezing_some_variables(tf, model):
    graph_def = model.graph.as_graph_def()
    freeze = tf.graph_util.convert_variables_to_constants
    kinds = {node.name: node.op for node in freeze(model, graph_def, ["z"], variable_names_blacklist=["r"]).node}
    assert kinds["w"] == "Const" and kinds["r"] == "VarHandleOp" and "ResourceGather" in kinds.values()
    kinds = {node.name: node.op for node in freeze(model, graph_def, ["z"], variable_names_whitelist=["r"]).node}
    assert kinds["w"] == "VariableV2" and kinds["r"] == "Const"


def test_freezing_without_values(tf):
    tf.identity(tf.Variable(1.0, name="v"), name="y")
    with tf.Session() as session, pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value v"):
        tf.graph_util.convert_variables_to_constants(session, session.graph.as_graph_def(), ["y"])


def test_remove_training_nodes(tf, model):
    frozen = tf.graph_util.convert_variables_to_constants(model, model.graph.as_graph_def(), ["z"])
    found = inputs(tf.graph_util.remove_training_nodes(frozen, protected_nodes=["z"]))
    assert found["MatMul"] == ["x", "w", "^c"] and "w/read" not in found and found["z"] == ["y"]
    assert any("^c" in listed for name, listed in found.items() if name.startswith("Identity"))     # it waits for c


def test_checks_are_spliced_out(tf):
    x = tf.placeholder(tf.float32, name="x")
    tf.square(tf.check_numerics(tf.identity(x), "bad", name="check"), name="y")
    assert inputs(tf.graph_util.remove_training_nodes(tf.get_default_graph().as_graph_def())) == {"x": [], "y": ["x"]}


def test_strip_unused(tf):
    a = tf.placeholder(tf.float32, [3], name="a")
    tf.square(tf.multiply(tf.add(a, 1.0, name="b"), 2.0, name="c"), name="d")
    graph_def = tf.get_default_graph().as_graph_def()
    part = graph_parts.strip_unused(graph_def, ["b"], ["c"], tf.float32.as_datatype_enum)
    assert names(part) == ["b", "c/y", "c"] and part.node[0].op == "Placeholder"
    with pytest.raises(KeyError, match="were not found"):
        graph_parts.strip_unused(graph_def, ["absent"], ["c"], 1)
    with pytest.raises(ValueError, match="appears to refer to a Tensor"):
        graph_parts.strip_unused(graph_def, ["b:0"], ["c"], 1)


def test_must_run_on_cpu(tf):
    must = tf.graph_util.must_run_on_cpu
    assert must(tf.constant("a").op) and must(tf.constant(1).op.node_def) and not must(tf.constant(1.0).op)
    variable = tf.Variable(1.0).op
    assert must(variable, pin_variables_on_cpu=True) and not must(variable)
    with pytest.raises(AssertionError):
        must("name")


def test_shapes_by_name(tf):
    tf.placeholder(tf.float32, [None, 2], name="x")
    assert tf.graph_util.tensor_shape_from_node_def_name(tf.get_default_graph(), "x").as_list() == [None, 2]


def test_write_graph(tf, tmp_path):
    tf.constant(4, name="four")
    graph = tf.get_default_graph()
    path = tf.train.write_graph(graph, str(tmp_path / "new" / "folder"), "g.pb", as_text=False)
    assert path == os.path.join(str(tmp_path), "new", "folder", "g.pb") and os.listdir(os.path.dirname(path)) == ["g.pb"]
    with open(path, "rb") as file:
        assert tf.GraphDef.FromString(file.read()) == graph.as_graph_def()
    with open(tf.train.write_graph(graph.as_graph_def(), str(tmp_path), "g.pbtxt")) as file:
        assert text_format.Parse(file.read(), tf.GraphDef()) == graph.as_graph_def()
