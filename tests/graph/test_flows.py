"""Loops over TensorArrays that programs build come out of a file as they went in."""
import numpy as np
import pytest


def _mapped(tf, x):
    return tf.map_fn(lambda row: row * 2.0 + 1.0, x)


def _recurrent(tf, x):
    cell = tf.nn.rnn_cell.BasicRNNCell(3)
    return tf.nn.dynamic_rnn(cell, x[None], dtype=tf.float32)[0]


def _nested(tf, x):
    return tf.map_fn(lambda row: tf.map_fn(lambda one: one * one, row), x)


@pytest.mark.parametrize("made", [_mapped, _recurrent, _nested])
def test_a_loop_gives_the_same_after_an_import(tf, made):
    tf.set_random_seed(1)
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    tf.identity(made(tf, x), name="y")
    tf.global_variables_initializer()
    rows = {"x:0": np.array([[1.0, 2.0], [3.0, -4.0]])}

    def run():
        with tf.Session() as session:
            graph = session.graph
            if "init" in {op.name for op in graph.get_operations()}:
                session.run("init")
            return session.run("y:0", rows)

    before, definition = run(), tf.get_default_graph().as_graph_def()
    tf.reset_default_graph()
    tf.import_graph_def(definition, name="")
    np.testing.assert_array_equal(run(), before)


def test_an_array_of_a_file_of_tensorflow_keeps_its_handle(tf):
    array = tf.TensorArray(tf.float32, size=2).write(0, 1.0).write(1, 2.0)
    array.stack(name="y")
    definition = tf.get_default_graph().as_graph_def()
    tf.reset_default_graph()
    tf.import_graph_def(definition, name="")
    flow = next(op for op in tf.get_default_graph().get_operations() if op.type == "TensorArrayV3").outputs[1]
    assert flow.dtype == tf.float32                # no loop says that it is a value, so it is a number as in TensorFlow
    y = next(t for op in tf.get_default_graph().get_operations() if op.type == "TensorArrayGatherV3" for t in op.outputs)
    with tf.Session() as session:
        assert session.run(y).tolist() == [1.0, 2.0]


def test_an_array_handed_on_outside_of_loops_comes_out_as_it_went_in(tf):
    array = tf.TensorArray(tf.float32, size=2).write(0, 3.0).identity()
    array.identity().write(1, 2.0).stack(name="y")
    definition = tf.get_default_graph().as_graph_def()
    assert {tf.as_dtype(node.attr["T"].type) for node in definition.node if node.op == "Identity"} == {tf.float32}
    tf.reset_default_graph()
    tf.import_graph_def(definition, name="")
    y = next(t for op in tf.get_default_graph().get_operations() if op.type == "TensorArrayGatherV3" for t in op.outputs)
    with tf.Session() as session:
        assert session.run(y).tolist() == [3.0, 2.0]


@pytest.mark.parametrize("made", [_mapped, _recurrent, _nested])
def test_a_file_says_that_flows_are_numbers_as_tensorflow_has_them(tf, made):
    made(tf, tf.placeholder(tf.float32, [None, 2]))
    definition = tf.get_default_graph().as_graph_def()
    nodes = [*definition.node, *(node for function in definition.library.function for node in function.node_def)]
    assert any(node.op.endswith("While") for node in nodes) and any(node.op == "TensorArrayWriteV3" for node in nodes)
    assert not [node.name for node in nodes for kind in node.attr["T"].list.type if kind == tf.variant.as_datatype_enum]
    assert not [argument.name for function in definition.library.function
                for argument in (*function.signature.input_arg, *function.signature.output_arg)
                if argument.type == tf.variant.as_datatype_enum]


def test_a_gradient_of_a_loop_keeps_values(tf):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    tf.identity(tf.gradients(_mapped(tf, x) ** 2, x)[0], name="dx")
    definition = tf.get_default_graph().as_graph_def()
    tf.reset_default_graph()
    tf.import_graph_def(definition, name="")
    with tf.Session() as session:
        assert session.run("dx:0").tolist() == [[12.0, 20.0], [28.0, 36.0]]
