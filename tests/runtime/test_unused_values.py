"""A run fails where one of its operations fails, though it may use no more than the shape of what that would give.

What a shape says before the run is not computed, and cannot fail: so it is in TensorFlow 1.15, which all expectations here
were compared with.
"""
import numpy as np
import pytest

import jitgraph as tf

MODES = ["off", "always", "auto"]

# of x [4, 3] of ones and i = [1, 9]
OPERATIONS = {
    "gather": lambda x, i: tf.gather(x, i),
    "gather of columns": lambda x, i: tf.gather(x, i, axis=1),
    "gather_nd": lambda x, i: tf.gather_nd(x, i[:, None]),
    "embedding_lookup": lambda x, i: tf.nn.embedding_lookup(x, i),
    "tensor_scatter_update": lambda x, i: tf.tensor_scatter_update(x, i[:, None], x[:2]),
    "unsorted_segment_sum": lambda x, i: tf.unsorted_segment_sum(x[:2], i, tf.size(i) + 3),
    "integer division": lambda x, i: i // (i - 1),
    "remainder": lambda x, i: i % (i - 9),
    "integer power": lambda x, i: i ** (i - 5),
    "cross entropy": lambda x, i: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=i, logits=x[:2]),
    "reverse_sequence": lambda x, i: tf.reverse_sequence(x[:2], i, 1),
    "invert_permutation": lambda x, i: tf.invert_permutation(i),
    "string_to_number": lambda x, i: tf.string_to_number(tf.as_string(x) + "q"),
    "matrix_inverse": lambda x, i: tf.matrix_inverse(x[:3]),
    "two of them": lambda x, i: tf.gather(x, i) + tf.gather(x, i),
}
FORMS = {
    "ones_like": tf.ones_like,
    "shape": tf.shape,
    "size": tf.size,
    "zeros": lambda y: tf.zeros(tf.shape(y)),
    "shape of another": lambda y: tf.shape(tf.transpose(y)),
}


def outcome(session, fetch, feeds):
    """What the run does, three times, since later runs may be compiled."""
    found = set()
    for _ in range(3):
        try:
            session.run(fetch, feeds)
            found.add("runs")
        except tf.errors.InvalidArgumentError:
            found.add("fails")
    (one,) = found
    return one


def inputs(known):
    x = tf.placeholder(tf.float32, [4, 3] if known else None)
    i = tf.placeholder(tf.int32, [2] if known else [None])
    return x, i, {x: np.ones((4, 3), np.float32), i: np.array([1, 9], np.int32)}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_an_operation_fails_though_only_its_shape_is_used(operation, form):
    x, i, feeds = inputs(known=False)
    fetch = FORMS[form](OPERATIONS[operation](x, i))
    for mode in MODES:
        with tf.Session(jit=mode) as session:
            assert outcome(session, fetch, feeds) == "fails", mode


@pytest.mark.parametrize("operation", ["gather", "integer division", "cross entropy", "invert_permutation"])
def test_a_shape_known_before_the_run_needs_no_value(operation):
    x, i, feeds = inputs(known=True)
    y = OPERATIONS[operation](x, i)
    for mode in MODES:
        with tf.Session(jit=mode) as session:
            assert outcome(session, y, feeds) == "fails", mode
            assert outcome(session, tf.ones_like(y), feeds) == "runs", mode


def of_a_loop(x, i):
    return tf.while_loop(lambda k, a: k < 3, lambda k, a: (k + 1, a + tf.reduce_sum(tf.ones_like(tf.gather(x, i + k)))), [0, 0.])[1]


def of_a_scalar_loop(x, i):
    return tf.while_loop(lambda k, a: k < 3, lambda k, a: (k + 1, a + tf.reduce_sum(tf.ones_like(i // (i - 1 - k)))), [0, 0])[1]


def of_map_fn(x, i):
    return tf.map_fn(lambda k: tf.reduce_sum(tf.ones_like(tf.gather(x, i[:k]))), i, dtype=tf.float32)


def of_a_branch(x, i):
    return tf.cond(tf.reduce_sum(x) > 0, lambda: tf.zeros_like(tf.gather(x, i)), lambda: tf.zeros_like(x))


def of_a_value_from_python(x, i):
    return tf.ones_like(tf.gather(tf.ensure_shape(tf.py_func(lambda v: v, [x], tf.float32), [None, 3]), i))


def of_an_output_that_nobody_asks_for(x, i):
    return tf.function(lambda x, i: (tf.gather(x, i), x + 1))(x, i)[1]


def of_a_loss_whose_gradient_alone_is_asked_for(x, i):
    z = x[:2]
    return tf.gradients(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=i, logits=z), z)[0]


@pytest.mark.parametrize("program", [
    of_a_loop, of_a_scalar_loop, of_map_fn, of_a_branch, of_a_value_from_python, of_an_output_that_nobody_asks_for,
    of_a_loss_whose_gradient_alone_is_asked_for])
def test_a_part_of_the_program_fails_though_only_its_shape_is_used(program):
    x, i, feeds = inputs(known=False)
    fetch = program(x, i)
    for mode in MODES:
        with tf.Session(jit=mode) as session:
            assert outcome(session, fetch, feeds) == "fails", mode


def test_the_branch_that_is_not_taken_does_not_fail():
    x, i, feeds = inputs(known=False)
    fetch = tf.cond(tf.reduce_sum(x) < 0, lambda: tf.zeros_like(tf.gather(x, i)), lambda: tf.zeros_like(x))
    for mode in MODES:
        with tf.Session(jit=mode) as session:
            assert outcome(session, fetch, feeds) == "runs", mode


def test_what_fails_leaves_variables_alone():
    x, i, feeds = inputs(known=False)
    v = tf.Variable(1.)
    add = tf.assign_add(v, tf.reduce_sum(tf.ones_like(tf.gather(x, i))))
    for mode in MODES:
        with tf.Session(jit=mode) as session:
            session.run(v.initializer)
            assert outcome(session, add, feeds) == "fails"
            assert session.run(v) == 1


def test_a_branch_that_a_constant_chooses_fails_for_the_other_as_well():
    x, i, feeds = inputs(known=False)
    fetch = tf.where(tf.constant(True), tf.zeros([]), tf.reduce_sum(tf.gather(x, i)))
    for mode in MODES:
        with tf.Session(jit=mode) as session:
            assert outcome(session, fetch, feeds) == "fails", mode


def test_division_by_a_constant_cannot_fail():
    from jitgraph import compiler

    i = tf.placeholder(tf.int32, [None])
    v = tf.Variable(tf.zeros([8], tf.int32))
    for fetch, kernels in ((tf.assign(v, i // 3), 1), (tf.assign(v, i // (i + 1)), 2)):
        program = compiler.compile(tf.get_default_graph(), [], [fetch.op], {i: (8,)})
        assert sum(isinstance(step, tuple) for step in program.layout.steps) == kernels


@pytest.mark.parametrize("values, index, outcomes", [
    (np.float32(3), 1, "runs"),             # what is looked at lies outside of every loop
    (np.arange(3, dtype=np.float32), 2, "runs"),
    (np.arange(3, dtype=np.float32), 3, "fails")])
def test_a_check_that_stands_alone_in_its_kernel(values, index, outcomes):
    x, i = tf.placeholder(tf.float32, None), tf.placeholder(tf.int64, [])
    one_hot = tf.one_hot(tf.cast(x, tf.int32), 3)
    fetch = tf.zeros_like(tf.gather(one_hot, i, axis=-1))
    for mode in MODES:
        with tf.Session(jit=mode) as session:
            assert outcome(session, fetch, {x: values, i: index}) == outcomes, mode


def test_the_gradient_of_boolean_mask_asks_for_a_shape():
    x = tf.placeholder(tf.float32, None)
    gradient, = tf.gradients(tf.boolean_mask(x, tf.constant([True, False, False])), x)
    for mode in MODES:
        with tf.Session(jit=mode) as session:
            for _ in range(3):
                np.testing.assert_array_equal(session.run(gradient, {x: [3., 2., 1.]}), [1, 0, 0])
