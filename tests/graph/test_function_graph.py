"""Graphs of functions: what they capture, how variables and scopes appear in them."""
import pytest

from jitgraph.graph.calls import bodies
from jitgraph.graph.function_graph import FunctionGraph, inputs_by_value, is_state


def test_tensors_are_captured_once(tf):
    x, n = tf.placeholder(tf.float32, [2, None]), tf.constant([4])
    graph = FunctionGraph("f")
    with graph.as_default():
        y = tf.reshape(x, n) + tf.reshape(x, n)
    assert list(graph.captures) == [x, n] and graph.inputs == [graph.captures[x], graph.captures[n]]
    assert graph.captures[x].shape.as_list() == [2, None] and y.graph is graph
    assert y.shape.as_list() == [4]         # what is known outside is known inside


def test_functions_in_functions_capture_through_each_other(tf):
    x = tf.constant(1.0)
    outer = FunctionGraph("outer")
    with outer.as_default():
        inner = FunctionGraph("inner")
        with inner.as_default():
            tf.identity(x)
    assert list(outer.captures) == [x] and list(inner.captures) == [outer.captures[x]]
    with pytest.raises(ValueError, match="must be from the same graph"):
        FunctionGraph("other", tf.Graph()).capture(x)


def test_variables_stand_for_themselves(tf):
    v, r = tf.Variable(1.0, name="v"), tf.get_variable("r", initializer=1.0, use_resource=True)
    graph = FunctionGraph("f")
    with graph.as_default():
        tf.assign(v, v * 2.0)
        r.assign_add(1.0)
    assert [t.op.type for t in graph.inputs] == ["VariableV2", "Identity", "VarHandleOp"]
    assert all(is_state(t) for t in graph.inputs) and graph.parameters == []
    assert [t.op.attrs["shared_name"] for t in graph.inputs if t.op.type != "Identity"] == ["v", "r"]


def test_scopes_go_on_inside(tf):
    with tf.name_scope("outside"), tf.device("/cpu:0"), tf.variable_scope("vars"):
        p = tf.constant(True)
        names = []
        tf.cond(p, lambda: tf.identity(1.0, name="here") if names.append(tf.get_variable("w", []).name) else
                tf.identity(1.0, name="there"), lambda: tf.constant(2.0))
    node, = [op for op in tf.get_default_graph().get_operations() if op.type.endswith("If")]
    inside = bodies(node)[0].get_operations()
    assert names == ["vars/w:0"]
    assert inside[-1].name.endswith("cond/there") and inside[-1].device == "/device:CPU:0"


def test_what_a_node_passes_by_value(tf):
    v, x = tf.Variable(1.0), tf.constant(2.0)
    tf.while_loop(lambda y: y < 9.0, lambda y: y * x + v, [x])
    node, = [op for op in tf.get_default_graph().get_operations() if op.type == "While"]
    assert [op.op.type for op in node.inputs] == ["Const", "Const", "VariableV2", "Identity"]
    assert inputs_by_value(node) == [0, 1]
    tf.while_loop(lambda y: y < 9.0, lambda y: y * x, [x])
    assert tf.get_default_graph().get_operations()[-2].type == "StatelessWhile"


def test_names_of_results_are_those_of_tensorflow(tf):
    x = tf.constant(1.0)
    outputs = tf.cond(x > 0, lambda: (x, x), lambda: (x, x))
    assert [t.name for t in outputs] == ["cond/Merge:0", "cond/Merge_1:0"]
    loop = tf.while_loop(lambda a, b: a < 3.0, lambda a, b: (a + 1.0, b), (x, x))
    assert [t.name for t in loop] == ["while/Exit:0", "while/Exit_1:0"]
