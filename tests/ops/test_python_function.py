"""py_func: arguments, results, errors, how long the function lives, how often it is called."""

import gc
import os

import numpy as np
import pytest


@pytest.fixture(params=["always", "off"], autouse=True)
def jit(request, monkeypatch):
    monkeypatch.setenv("JITGRAPH_JIT", request.param)
    return request.param


def test_arguments_are_scalars_arrays_and_bytes(tf, run):
    seen = []

    def function(*arguments):
        seen.extend(type(a) for a in arguments)
        return np.float32(1)

    run(tf.py_func(function, [1.0, [1, 2], "abc", ["a"], True], tf.float32))
    assert seen == [np.float32, np.ndarray, bytes, np.ndarray, np.bool_]


def test_arguments_may_be_kept_and_results_may_be_reused(tf):
    kept, buffer = [], np.zeros(3, np.float32)

    def function(x):
        kept.append(x)
        buffer[:] = x
        return buffer

    x = tf.placeholder(tf.float32, [3])
    y = tf.py_func(function, [x * 2.0], tf.float32)
    with tf.Session() as session:
        first = session.run(y, {x: [1, 2, 3]})
        session.run(y, {x: [4, 5, 6]})
    assert first.tolist() == [2, 4, 6]
    assert [k.tolist() for k in kept] == [[2, 4, 6], [8, 10, 12]]


@pytest.mark.parametrize("raised, code", [
    (ValueError, "InvalidArgumentError"), (TypeError, "InvalidArgumentError"), (StopIteration, "OutOfRangeError"),
    (MemoryError, "ResourceExhaustedError"), (NotImplementedError, "UnimplementedError"),
    (KeyError, "UnknownError"), (OSError, "UnknownError")])
def test_exceptions_become_the_classes_of_tensorflow(tf, run, raised, code):
    def function():
        raise raised("this broke")

    y = tf.py_func(function, [], tf.float32, name="breaking")
    with pytest.raises(getattr(tf.errors, code), match="this broke") as info:
        run(y)
    assert info.value.op is y.op and "in function" in info.value.message


@pytest.mark.parametrize("result, declared, message", [
    (1.0, "float32", "0-th value returned by pyfunc_.* is double, but expects float"),
    ((1.0, 2), "float64", "returns 2 values, but expects to see 1 values"),
    (None, "float64", "returns 0 values, but expects to see 1 values")])
def test_results_are_checked_against_the_declaration(tf, run, result, declared, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run(tf.py_func(lambda: result, [], tf.as_dtype(declared)))


def test_results_of_every_kind(tf, run):
    assert run(tf.py_func(lambda: "é", [], tf.string)) == "é".encode()
    assert run(tf.py_func(lambda: np.array([b"a", "b"], object), [], tf.string)).tolist() == [b"a", b"b"]
    assert run(tf.py_func(list, [], [])) is None
    assert run(tf.py_func(lambda x: x, [tf.constant([1, 2], tf.bfloat16)], tf.bfloat16)).tolist() == [1, 2]
    assert run(tf.py_func(lambda x: x, [tf.constant([1j], tf.complex64)], tf.complex64)).tolist() == [1j]
    with pytest.raises(tf.errors.InternalError, match="Unsupported object type dict"):
        run(tf.py_func(dict, [], tf.float32))
    with pytest.raises(tf.errors.InternalError, match="Unsupported numpy data type"):
        run(tf.py_func(lambda: np.array([], [("field", np.float32)]), [], tf.float32))


def test_the_graph_keeps_the_function_and_lets_it_go(tf):
    from jitgraph.ops.host import python_function

    graph = tf.Graph()
    with graph.as_default():
        y = tf.py_func(lambda: np.int64(4), [], tf.int64)
    gc.collect()
    with tf.Session(graph=graph) as session:
        assert session.run(y) == 4
    token = y.op.get_attr("token")
    assert token.decode() in python_function._functions
    del graph, y, session
    gc.collect()
    assert token.decode() not in python_function._functions


def test_a_static_shape_that_is_wrong_is_an_error(tf, run):
    y = tf.py_func(lambda: np.ones(4, np.float32), [], tf.float32)
    y.set_shape([3])
    with pytest.raises(tf.errors.InvalidArgumentError, match="set_shape"):
        run(y + 1.0)


def test_a_function_without_effects_is_called_only_when_its_node_runs(tf):
    calls = []
    y = tf.py_func(lambda x: calls.append(1) or x, [tf.constant(3)], tf.int32, stateful=False)
    z = y + 1
    assert y.op.type == "PyFuncStateless" and not calls
    with tf.Session() as session:
        assert session.run(z) == 4 and len(calls) == 1
        session.run(tf.constant(1))
    assert len(calls) == 1


def test_py_function_converts_its_results(tf, run):
    y = tf.py_function(lambda x: x.numpy() * 2, [3.0], tf.float32)
    assert y.op.type == "EagerPyFunc" and run(y) == 6.0
    assert run(tf.py_function(lambda: 1.5, [], tf.float32)) == 1.5
    with pytest.raises(tf.errors.InvalidArgumentError, match="compute with NumPy"):
        run(tf.py_function(lambda x: tf.constant(1.0), [1.0], tf.float32))


def test_what_is_not_callable_is_refused(tf):
    with pytest.raises(ValueError, match="callable"):
        tf.py_func(3, [], tf.float32)
    with pytest.raises(TypeError, match="Expected list"):
        tf.py_func(lambda x: x, tf.constant(1.0), tf.float32)


def test_an_interrupt_reaches_the_caller(tf, run):
    def function():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(tf.py_func(function, [], tf.float32))


def test_the_message_of_a_generator_that_fails_shows_the_lines_of_the_program_alone(tf):
    def numbers():
        yield 1
        raise KeyError("no more")

    following = tf.data.Dataset.from_generator(numbers, tf.int32).make_one_shot_iterator().get_next()
    with tf.Session() as session, pytest.raises(tf.errors.UnknownError, match="KeyError: 'no more'") as caught:
        assert session.run(following) == 1
        session.run(following)
    message = str(caught.value)
    assert 'raise KeyError("no more")' in message and f"{os.sep}jitgraph{os.sep}" not in message
