"""Nodes that call functions on the host."""
import pytest

from jitgraph.graph.function_graph import FunctionGraph


def function(tf, call, *types):
    graph = FunctionGraph("f")
    with graph.as_default():
        graph.outputs = call(*[graph.add_input(dtype, (), f"x{k}") for k, dtype in enumerate(types)])
    return graph


@pytest.mark.parametrize(("numbers", "expected"), [((0, 3, 1), 12.), ((5, 0, -2), 35.), ((0, 0, 1), 1.), ((3, 3, 0), 1.)])
def test_for_gives_what_tensorflow_1_15_5_gives(tf, run, numbers, expected):
    body = function(tf, lambda i, x: [x * 2. + tf.cast(i, tf.float32)], tf.int32, tf.float32)
    start, limit, delta = numbers
    found = tf.raw_ops.For(start=start, limit=limit, delta=delta, input=[1.], body=body)
    assert found[0].shape.ndims is None
    assert run(found) == [expected]


def test_for_that_would_not_end(tf, run):
    body = function(tf, lambda i, x: [x], tf.int32, tf.float32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid start/limit/delta: 0 3 -1"):
        run(tf.raw_ops.For(start=0, limit=3, delta=-1, input=[1.], body=body))


def product_and_sine(tf):
    return function(tf, lambda x, y: [x * y + tf.sin(x)], tf.float32, tf.float32)


def test_a_call_of_a_device(tf, run):
    found = tf.raw_ops.RemoteCall(target="/cpu:0", args=[1., 2.], Tout=[tf.float32], f=product_and_sine(tf))
    assert run(found) == [pytest.approx(2.841471)]


def test_the_gradient_of_a_function(tf, run):
    found = tf.raw_ops.SymbolicGradient(input=[1., 2., 3.], Tout=[tf.float32, tf.float32], f=product_and_sine(tf))
    assert [tensor.shape.as_list() for tensor in found] == [[], []]
    for _ in range(2):
        assert run(found) == pytest.approx([7.620907, 3.0])
