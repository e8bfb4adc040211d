"""What a function does besides giving its result is done, though nobody asks for what it gives there."""
import numpy as np
import pytest

from jitgraph.functions.defun import Defun

KINDS = {
    "tf.function": lambda tf, body: tf.function(body),
    "Defun": lambda tf, body: Defun(tf.int64, func_name="f")(body),
    "map": lambda tf, body: lambda x: tf.data.experimental.get_single_element(tf.data.Dataset.from_tensors(x).map(body)),
}


def an_iterator(tf):
    iterator = tf.data.Dataset.range(9).make_initializable_iterator()
    return iterator.initializer, iterator.get_next, iterator.get_next()


def an_optional(tf):
    iterator = tf.data.Dataset.range(9).make_initializable_iterator()
    return iterator.initializer, lambda: tf.data.experimental.get_next_as_optional(iterator), iterator.get_next()


def a_queue(tf):
    queue = tf.FIFOQueue(9, tf.int64, shapes=[[]])
    return queue.enqueue_many([np.arange(9)]), queue.dequeue, 9 - queue.size()


def a_single_element(tf):
    count = tf.get_variable("count", initializer=0, use_resource=True)
    dataset = tf.data.Dataset.from_tensors(0).map(lambda x: count.assign_add(1) + 0)
    return count.initializer, lambda: tf.data.experimental.get_single_element(dataset), count


def a_reduction(tf):
    count = tf.get_variable("count", initializer=0, use_resource=True)
    return count.initializer, lambda: tf.data.Dataset.range(1).reduce(0, lambda s, x: count.assign_add(1) + 0), count


def a_staging_area(tf):
    area = tf.contrib.staging.StagingArea([tf.int64], shapes=[[]])
    return [area.put([np.int64(k)]) for k in range(4)], area.get, 4 - area.size()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("thing", [an_iterator, an_optional, a_queue, a_single_element, a_reduction, a_staging_area])
def test_elements_that_nobody_looks_at_are_taken(tf, kind, thing):
    begin, take, taken = thing(tf)

    def body(x):
        take()
        return x + 1

    result = KINDS[kind](tf, body)(tf.constant(1, tf.int64))
    with tf.Session() as session:
        session.run(begin)
        assert [session.run(result), session.run(result), session.run(taken)] == [2, 2, 2]


def test_a_function_of_a_dataset_whose_element_nobody_looks_at(tf):
    calls = []
    dataset = tf.data.Dataset.range(3).map(lambda x: tf.py_func(lambda k: calls.append(int(k)) or k, [x], tf.int64))

    def body(x):
        tf.data.experimental.get_single_element(dataset.skip(x).take(1))
        return x

    get_next = tf.data.Dataset.range(1, 3).map(body).make_one_shot_iterator().get_next()
    with tf.Session() as session:
        assert [session.run(get_next), session.run(get_next)] == [1, 2]
    assert calls == [0, 1, 0, 1, 2]


GRADIENTS = {
    "nothing flows": (lambda tf, x, y: tf.stop_gradient(x), [0, 0]),
    "one of two": (lambda tf, x, y: 2 * x, [2, 0]),
    "a constant": (lambda tf, x, y: tf.constant(1.0), [0, 0]),
    "both": (lambda tf, x, y: x * tf.stop_gradient(y) + tf.floor(y), [5, 0]),
}


@pytest.mark.parametrize("name", GRADIENTS)
@pytest.mark.parametrize("jit", ["always", "off"])
def test_the_gradient_of_a_defun_answers_for_every_argument(tf, name, jit):
    """By zeros where nothing flows, as the node of TensorFlow does; None stays what tf.function gives."""
    body, expected = GRADIENTS[name]
    x, y = tf.constant(3.0), tf.constant(5.0)
    captured = tf.constant(7.0)
    found = Defun(tf.float32, tf.float32, func_name="f")(lambda x, y: body(tf, x, y))(x, y)
    around = Defun(tf.float32, tf.float32, func_name="g")(lambda x, y: body(tf, x, y) + tf.stop_gradient(captured))(x, y)
    with tf.Session(jit=jit) as session:
        assert session.run(tf.gradients(found, [x, y])) == expected
        assert session.run(tf.gradients(around, [x, y, captured])) == [*expected, 0]
