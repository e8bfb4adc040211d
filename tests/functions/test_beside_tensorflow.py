"""Functions of the graph are in TensorFlow what they are here: names, results, gradients, errors."""
import importlib
import sys
from pathlib import Path

import pytest

from ..recorded import check, texts

HERE = Path(__file__).parent


@pytest.mark.parametrize("program", texts(HERE)[1])
def test_the_program_does_what_it_does_in_tensorflow(tf, program):
    importlib.import_module("jitgraph.compat").install()
    check(tf, HERE, program)


def test_variables_that_a_function_makes_are_those_of_the_program(tf):
    kept = []

    @tf.function
    def scaled(x):
        if not kept:
            kept.append(tf.Variable(3.0, name="made"))
        return kept[0] * x

    y = scaled(tf.constant(2.0))
    z = scaled(tf.constant(5.0))
    assert tf.global_variables() == kept and kept[0].op.type == "VarHandleOp" and y.op.type == "StatefulPartitionedCall"
    # TensorFlow 1.15 has it trainable, and yet not among those that an optimizer finds by itself
    assert kept[0].trainable and tf.trainable_variables() == []
    train = tf.train.GradientDescentOptimizer(0.5).minimize(y + z, var_list=kept)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run([y, z]) == [6.0, 15.0]
        session.run(train)
        assert session.run(y) == -1.0


def test_a_concrete_function_says_what_it_takes(tf):
    concrete = tf.function(lambda x, y: x + y).get_concrete_function(tf.TensorSpec([2]), tf.TensorSpec([2], name="other"))
    assert concrete.structured_input_signature == ((tf.TensorSpec([2], name="x"), tf.TensorSpec([2], name="other")), {})
    assert concrete.name == b"__inference_<lambda>" and concrete.captured_inputs == []
    with pytest.raises(TypeError, match="Missing"):
        concrete(tf.ones([2]))
    with pytest.raises(TypeError, match="at most 2"):
        concrete(tf.ones([2]), tf.ones([2]), tf.ones([2]))


def test_without_autograph_an_if_over_a_tensor_says_what_to_write(tf):
    with pytest.raises(TypeError, match="tf.cond"):
        tf.function(lambda x: 1.0 if x > 0 else 2.0, autograph=False)(tf.constant(1.0))


def test_a_print_and_an_assert_run_though_nobody_asks_for_them(tf, capfd):
    @tf.function
    def f(x):
        tf.print("seen", x, output_stream=sys.stderr)
        tf.Assert(x < 3, [x])
        return x

    small, large = f(tf.constant(1)), f(tf.constant(5))
    with tf.Session() as session:
        assert session.run(small) == 1 and "seen 1" in capfd.readouterr().err
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(large)


def test_defined_functions_say_what_is_in_them(tf):
    from jitgraph.functions.defun import Defun

    v = tf.Variable(1.0)
    grad = Defun(tf.float32, tf.float32, func_name="G")(lambda x, dy: dy)
    f = Defun(tf.float32, func_name="F")(lambda x: x * v + tf.random_normal([]))
    f.set_grad_func(grad)
    f.add_to_graph(tf.get_default_graph())
    assert f.grad_func_name == "G" and ("RandomStandardNormal" in {kind for _, kind in f.stateful_ops})
    assert v.op.name in {tensor.op.name for tensor in f.captured_inputs}
    with pytest.raises(ValueError, match="has a gradient"):
        f.set_grad_func(grad)


def test_a_defined_function_calls_python_once_and_makes_its_variables_once(tf):
    """The values are those of TensorFlow 1.15.5."""
    from jitgraph.functions.defun import Defun

    calls = []

    @Defun(tf.float32, func_name="F")
    def f(x):
        calls.append(tf.get_default_graph())
        return x * tf.get_variable("v", [], initializer=tf.constant_initializer(3.0))

    x = tf.constant(2.0)
    with tf.variable_scope("a"):
        once = f(x)
    with tf.variable_scope("b"):
        twice = f(once)
        inside = Defun(tf.float32, func_name="G")(lambda x: f(x) + 1.0)(x)
    assert [v.op.name for v in tf.global_variables()] == ["a/v"] and len(calls) == 1
    v, = tf.global_variables()
    gradients = tf.gradients(twice, [x, v]) + tf.gradients(once, x) + tf.gradients(inside, [x, v])
    with tf.Session() as session:
        session.run(v.initializer)
        assert session.run([once, twice, inside]) == [6.0, 18.0, 7.0]
        assert session.run(gradients) == [9.0, 12.0, 3.0, 3.0, 2.0]
    with tf.Graph().as_default():
        other = f(tf.constant(1.0))     # in another graph, it makes others
        assert len(calls) == 2 and tf.global_variables()[0].graph is other.graph
    assert f.definition.signature.name == "F" and len(calls) == 3


def test_what_a_defined_function_refuses(tf):
    from jitgraph.functions.defun import Defun

    with pytest.raises(ValueError, match="Expected number of arguments: 0, received: 1"):
        Defun()(lambda: tf.constant(1))(1)
    with pytest.raises(ValueError, match="defaults or keywords arguments are not supported"):
        Defun(tf.float32)(lambda a=1: a)
    with pytest.raises(ValueError, match="Function nothing can not return None"):
        Defun(tf.float32, func_name="nothing")(lambda a: (a, None))(1.0)
    assert Defun(tf.float32, func_name="nothing")(lambda a: None)(1.0).type == "PartitionedCall"
    with pytest.raises(tf.errors.InvalidArgumentError, match="output names size = 2 outputs size = 1"):
        Defun(tf.float32, func_name="one", out_names=["a", "b"])(lambda a: a)(1.0)


def test_a_gradient_comes_to_a_variable_that_the_function_writes(tf):
    """The values are those of TensorFlow 1.15.5."""
    v, u = (tf.Variable(value, use_resource=True) for value in (2.0, 3.0))

    @tf.function
    def f(x):
        a = v * x
        v.assign_add(1.0)
        return a * a + x * v * u

    branching = tf.function(lambda x: tf.cond(x > 0.0, lambda: v.assign_add(1.0) * x, lambda: x * v))
    nested = tf.function(lambda x: f(x) * v)
    x = tf.constant(4.0)
    for function, expected in ((f, [41.0, 76.0, 12.0]), (nested, [123.0, 328.0, 36.0]), (branching, [3.0, 4.0, None])):
        found = tf.gradients(function(x), [x, v, u])
        assert [one is None for one in found] == [one is None for one in expected]
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            assert session.run([one for one in found if one is not None]) == [one for one in expected if one is not None]


def test_a_gradient_comes_to_a_variable_that_a_loop_writes(tf):
    """The values are those of TensorFlow 1.15.5."""
    v, x = tf.Variable(2.0, use_resource=True), tf.constant(4.0)

    def body(k, y):
        with tf.control_dependencies([y]):
            value = v.read_value()
        with tf.control_dependencies([value]):
            more = v.assign_add(1.0)
        with tf.control_dependencies([more]):
            return k + 1, y * value

    y = tf.while_loop(lambda k, y: k < 3, body, (0, x))[1]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run([y, *tf.gradients(y, [x, v])]) == [96.0, 24.0, 104.0]


def test_a_gradient_comes_to_the_rows_of_a_variable_that_the_function_writes(tf):
    """The values are those of TensorFlow 1.15.5."""
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], use_resource=True)

    @tf.function
    def f(rows):
        before = tf.gather(v, rows)
        v.assign_add(tf.ones([3, 2]))
        return tf.reduce_sum(before * before) + tf.reduce_sum(tf.nn.embedding_lookup(v, rows))

    gradient = tf.gradients(tf.function(lambda rows: f(rows))(tf.constant([0, 2, 0])), v)[0]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(tf.convert_to_tensor(gradient)).tolist() == [[6.0, 10.0], [0.0, 0.0], [11.0, 13.0]]


def test_arguments_that_cannot_be_told_apart_are_refused(tf):
    with pytest.raises(ValueError, match="hashable"):
        tf.function(lambda x, s: x)(tf.constant(1.0), {1})


def test_a_function_in_a_branch_takes_what_the_branch_has(tf, run):
    calls = []

    @tf.function
    def f(x):
        calls.append(1)
        return x * y

    y = tf.constant(2.0)
    first = tf.cond(y > 0.0, lambda: f(y), lambda: y)
    assert run([first, f(tf.constant(3.0))]) == [4.0, 6.0] and len(calls) == 1

    held = []
    g = tf.function(lambda x: x * held[-1])

    def inner(scale):
        held.append(y * scale)                  # a tensor of one branch, which the other cannot take
        return g(y)

    for predicate, wanted in ((y > 0.0, 8.0), (y < 0.0, 12.0)):
        assert run(tf.cond(predicate, lambda: inner(2.0), lambda: inner(3.0))) == wanted
