"""The functions of ``tensorflow.python.tools``."""
import numpy as np
import pytest

from jitgraph.tools import freeze_graph, inspect_checkpoint
from jitgraph.tools.optimize_for_inference import optimize_for_inference


@pytest.fixture
def model(tf, tmp_path):
    """y = x w + r in files: graph.pb, graph.pbtxt, a checkpoint with its MetaGraph, a SavedModel; the folder."""
    x = tf.placeholder(tf.float32, [None, 1], name="x")
    w = tf.Variable([[2.0]], name="w")
    r = tf.get_variable("r", initializer=[3.0], use_resource=True)
    y = tf.add(tf.matmul(x, w), r, name="y")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        graph_def = session.graph.as_graph_def()
        tf.train.Saver().save(session, str(tmp_path / "m"))
        tf.saved_model.simple_save(session, str(tmp_path / "saved"), {"x": x}, {"y": y})
    tf.train.write_graph(graph_def, str(tmp_path), "graph.pb", as_text=False)
    tf.train.write_graph(graph_def, str(tmp_path), "graph.pbtxt")
    tf.reset_default_graph()
    return tmp_path


def test_a_graph_for_inference_has_what_lies_between_its_inputs_and_outputs(tf):
    x = tf.identity(tf.sqrt(tf.placeholder(tf.float32, [2], name="raw")), name="x")
    y = tf.identity(tf.check_numerics(tf.identity(x * 2.0), "not a number"), name="y")
    tf.gradients(y, x, name="gradients")
    found = optimize_for_inference(tf.get_default_graph().as_graph_def(), ["x"], ["y"], tf.float32.as_datatype_enum)
    assert sorted((node.name, node.op) for node in found.node) == [
        ("mul", "Mul"), ("mul/y", "Const"), ("x", "Placeholder"), ("y", "Identity")]
    tf.reset_default_graph()
    given, result = tf.import_graph_def(found, return_elements=["x:0", "y:0"], name="")
    with tf.Session() as session:
        np.testing.assert_array_equal(session.run(result, {given: [1.0, 3.0]}), [2.0, 6.0])


@pytest.mark.parametrize("kind", ["binary", "text", "meta", "saved model"])
def test_freezing_files(tf, model, kind):
    output = model / "frozen.pb"
    name = {"binary": "graph.pb", "text": "graph.pbtxt"}.get(kind)
    freeze_graph.freeze_graph(
        str(model / name) if name else None, None, kind == "binary", str(model / "m"), "y", "", "", str(output), True, "",
        input_meta_graph=str(model / "m.meta") if kind == "meta" else None,
        input_saved_model_dir=str(model / "saved") if kind == "saved model" else None)
    frozen = tf.GraphDef.FromString(output.read_bytes())
    assert not [n for n in frozen.node if n.op in ("VariableV2", "VarHandleOp", "SaveV2")]
    y, = tf.import_graph_def(frozen, return_elements=["y:0"])
    with tf.Session() as session:
        np.testing.assert_array_equal(session.run(y, {"import/x:0": [[1.0], [2.0]]}), [[5.0], [7.0]])


def test_what_is_missing(model):
    with pytest.raises(ValueError, match="doesn't exist"):
        freeze_graph.freeze_graph(str(model / "graph.pb"), None, True, "absent", "y", "", "", None, True, "")
    with pytest.raises(ValueError, match="supply the name of a node"):
        freeze_graph.freeze_graph(str(model / "graph.pb"), None, True, str(model / "m"), "", "", "", None, True, "")


def test_printing_checkpoints(model, capsys):
    show = inspect_checkpoint.print_tensors_in_checkpoint_file
    show(str(model / "m"), None, False)
    assert capsys.readouterr().out == "r (DT_FLOAT) [1]\nw (DT_FLOAT) [1,1]\n\n# Total number of params: 2\n"
    show(str(model / "m"), "w", False, count_exclude_pattern="r")
    assert capsys.readouterr().out == "tensor_name:  w\n[[2.]]\n# Total number of params: 1\n"
    show(str(model / "m"), None, True)
    assert "tensor_name:  r\n[3.]\n" in capsys.readouterr().out
    show(str(model / "m"), None, False, all_tensor_names=True)
    assert capsys.readouterr().out.startswith("tensor_name:  r\ntensor_name:  w\n")
