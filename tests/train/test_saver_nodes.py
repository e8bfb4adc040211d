"""The nodes of savers are TensorFlow 1.15's: names, types, inputs, devices, attributes, and their order."""
import importlib.util
import json
from pathlib import Path

import pytest

_HERE = Path(__file__).parent
EXPECTED = json.loads((_HERE / "data" / "tf115_savers.json").read_text())
_spec = importlib.util.spec_from_file_location("saver_programs", _HERE / "saver_programs.py")
programs = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(programs)


@pytest.mark.parametrize("program", programs.PROGRAMS, ids=lambda p: p.__name__)
def test_nodes_equal_those_of_tensorflow(tf, program):
    found, expected = programs.nodes_of(tf, program), EXPECTED[program.__name__]
    assert [node[0] for node in found] == [node[0] for node in expected]
    for node, wanted in zip(found, expected):
        assert node == wanted


def test_a_saver_in_a_graph_that_holds_one_already(tf, tmp_path):
    """An imported graph brings the nodes of the saver that it was exported with; the new one's have other names."""
    first = tf.Variable([1.0, 2.0], name="first")
    saver = tf.train.Saver()
    exported = tf.get_default_graph().as_graph_def()
    tf.reset_default_graph()
    tf.import_graph_def(exported, name="")
    second = tf.Variable([3.0], name="second")
    saver = tf.train.Saver()
    assert saver.as_saver_def().restore_op_name == "save/restore_all_1"
    assert saver.as_saver_def().filename_tensor_name == "save/Const_1:0"
    with tf.Session() as session:
        session.run(second.initializer)
        path = saver.save(session, str(tmp_path / "model"))
        session.run(second.assign([0.0]))
        saver.restore(session, path)
        assert session.run(second).tolist() == [3.0]
    assert first.op.type == "VariableV2"
