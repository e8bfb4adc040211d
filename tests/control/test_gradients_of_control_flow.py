"""Gradients through If, While and TensorArray, against central differences and against each other."""
import numpy as np
import pytest

X = np.array([[0.3, -0.2], [0.5, 0.9], [-0.7, 0.4]])


def loop_power(tf, x):
    return tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x + tf.sin(x)), (0, tf.ones([3, 2], tf.float64)))[1]


def loop_matmul(tf, x):
    w = tf.constant(np.linspace(-1, 1, 4).reshape(2, 2))
    return tf.while_loop(lambda i, y: i < 4, lambda i, y: (i + 1, tf.tanh(tf.matmul(y, w) + x)), (0, x))[1]


def nested(tf, x):
    def outer(i, y):
        return i + 1, tf.while_loop(lambda j, z: j < i, lambda j, z: (j + 1, z * x + tf.cast(j, tf.float64)), (0, y))[1]

    return tf.while_loop(lambda i, y: i < 4, outer, (0, x))[1]


def branch_in_loop(tf, x):
    def body(i, y):
        return i + 1, tf.cond(tf.equal(i % 2, 0), lambda: y * x, lambda: tf.exp(y) - x)

    return tf.while_loop(lambda i, y: i < 4, body, (0, x))[1]


def loop_in_branch(tf, x):
    return tf.cond(tf.reduce_sum(x) > 0.0, lambda: loop_power(tf, x), lambda: x * 7.0)


def growing(tf, x):
    shape = tf.TensorShape
    return tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, tf.concat([y, y[-1:] * x[:1]], 0)), (0, x),
                         (shape([]), shape([None, 2])))[1]


def limited(tf, x):
    return tf.while_loop(lambda y: tf.reduce_sum(y) < 1e9, lambda y: y * x + 1.0, [x], maximum_iterations=3)


def arrays(tf, x):
    rows = tf.TensorArray(tf.float64, 3, clear_after_read=False).unstack(x)
    out = tf.TensorArray(tf.float64, 3)

    def body(i, state, out):
        state = tf.tanh(state + rows.read(i) * rows.read(2 - i))
        return i + 1, state, out.write(2 - i, state)

    _, state, out = tf.while_loop(lambda i, *_: i < 3, body, (0, tf.zeros([2], tf.float64), out))
    return tf.concat([out.stack(), [state]], 0)


def array_methods(tf, x):
    ta = tf.TensorArray(tf.float64, 3, clear_after_read=False).unstack(x)
    pieces = tf.TensorArray(tf.float64, 2, infer_shape=False, clear_after_read=False).split(x, [1, 2])
    scattered = tf.TensorArray(tf.float64, 3).scatter([2, 0, 1], x)
    grown = tf.TensorArray(tf.float64, 0, dynamic_size=True, element_shape=[2]).write(2, x[0])
    return tf.concat([ta.gather([2, 0]) ** 2, ta.stack() * x, tf.reshape(ta.concat() ** 2, [3, 2]),
                      tf.sin(pieces.read(1)), pieces.concat() ** 3, scattered.stack() * x, grown.stack() * 2.0,
                      [ta.read(1) * ta.read(1)]], 0)


def folds(tf, x):
    return tf.stack([tf.foldl(lambda a, r: a * r + r, x), tf.foldr(lambda a, r: a * r - r, x),
                     tf.reduce_sum(tf.scan(lambda a, r: a * r + r, x), 0),
                     tf.reduce_sum(tf.scan(lambda a, r: tf.sin(a + r), x, reverse=True), 0),
                     tf.reduce_sum(tf.map_fn(lambda r: r * r[0], x), 0)])


def masked(tf, x):
    def body(i, s):
        return i + 1, s + tf.reduce_sum(tf.boolean_mask(x, x > tf.cast(i, tf.float64) * 0.31)) ** 2

    return tf.while_loop(lambda i, s: i < 3, body, (0, tf.zeros([], tf.float64)))[1]


PROGRAMS = [loop_power, loop_matmul, nested, branch_in_loop, loop_in_branch, growing, limited, arrays, array_methods, folds,
            masked]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_first_derivatives(tf, run, numeric, program):
    x = tf.placeholder(tf.float64, [None, 2] if program is masked else [3, 2])
    y = tf.reduce_sum(program(tf, x) * 1.5)
    grad, = tf.gradients(y, [x])
    with tf.Session(jit="off") as session:
        expected = numeric(lambda value: session.run(y, {x: value}), X, 1e-5)
    np.testing.assert_allclose(run(grad, {x: X}, times=2), expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("program", [loop_power, branch_in_loop, loop_in_branch, nested, arrays], ids=lambda p: p.__name__)
def test_second_derivatives(tf, run, numeric, program):
    x = tf.placeholder(tf.float64, [3, 2])
    first, = tf.gradients(tf.reduce_sum(program(tf, x)), [x])
    y = tf.reduce_sum(tf.sin(first))
    grad, = tf.gradients(y, [x])
    with tf.Session(jit="off") as session:
        expected = numeric(lambda value: session.run(y, {x: value}), X, 1e-5)
    np.testing.assert_allclose(run(grad, {x: X}), expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("resource", [False, True])
def test_variables_that_are_read_inside(tf, run, resource):
    v = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=resource)
    x = tf.placeholder(tf.float32, [])
    _, y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * v + x), (0, tf.ones([2])))
    z = tf.cond(x > 0, lambda: v * x, lambda: v + x)
    found = run([*tf.gradients(y, [v, x]), *tf.gradients(z, [v, x])], {x: 0.5})
    np.testing.assert_allclose(found[0], [4.5, 14.5])
    assert found[1] == 10.0 and found[2].tolist() == [0.5, 0.5] and found[3] == 3.0


def test_rows_of_a_table_that_are_read_inside(tf, run):
    table = tf.Variable(np.arange(12, dtype=np.float32).reshape(4, 3))
    p = tf.placeholder(tf.bool, [])
    ids = tf.constant([1, 3, 1])
    _, y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y + tf.gather(table, ids[i]) * tf.cast(i, tf.float32)),
                         (0, tf.zeros([3])))
    z = tf.cond(p, lambda: tf.gather(table, [1, 1]), lambda: tf.zeros([2, 3]))
    sparse, = tf.gradients(z, [table])
    assert isinstance(sparse, tf.IndexedSlices)
    dense = [tf.convert_to_tensor(grad) for grad in (*tf.gradients(y, [table]), sparse)]
    loop, taken = run(dense, {p: True})
    assert loop[:, 0].tolist() == [0, 2, 0, 1] and taken[:, 0].tolist() == [0, 2, 0, 0]
    assert not run(dense[1], {p: False}).any()


def rows_in_loop(tf, use_resource, rounds=3):
    """A table, and the result of a loop that reads rows 1, 3 and 1 of it."""
    table = tf.get_variable("table", initializer=np.arange(10, dtype=np.float32).reshape(5, 2), use_resource=use_resource)
    ids = tf.constant([1, 3, 1])
    return table, tf.while_loop(lambda i, y: i < rounds, lambda i, y: (i + 1, y * 1.5 + tf.nn.embedding_lookup(table, ids[i])),
                                (0, tf.ones([2])))[1]


@pytest.mark.parametrize("use_resource", [False, True])
def test_rows_that_a_loop_reads_have_slices_for_their_gradient(tf, run, use_resource):
    """One behind the other, the last iteration first, behind a row of zeros: as TensorFlow has them."""
    table, y = rows_in_loop(tf, use_resource)
    found, = tf.gradients(y, [table])
    assert isinstance(found, tf.IndexedSlices) and found.values.shape.as_list() == [None, 2]
    values, indices, dense_shape = run([found.values, found.indices, found.dense_shape])
    assert values[:, 0].tolist() == [0, 1, 1.5, 2.25] and indices.tolist() == [0, 1, 3, 1] and dense_shape.tolist() == [5, 2]


def test_a_loop_that_never_runs_gives_the_row_of_zeros(tf, run):
    table, y = rows_in_loop(tf, True, rounds=0)
    found, = tf.gradients(y, [table])
    values, indices = run([found.values, found.indices])
    assert values.tolist() == [[0, 0]] and indices.tolist() == [0]


def test_slices_of_loops_inside_of_loops(tf, run):
    table = tf.get_variable("table", initializer=np.arange(10, dtype=np.float32).reshape(5, 2), use_resource=True)
    ids = tf.constant([1, 3, 1])
    inner = lambda i, y: tf.while_loop(lambda j, z: j < i, lambda j, z: (j + 1, z + tf.gather(table, ids[j]) * z), (0, y))[1]
    _, y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, inner(i, y)), (0, tf.ones([2])))
    found, = tf.gradients(y, [table])
    values, indices = run([found.values, found.indices])
    assert indices.tolist() == [0, 0, 3, 1, 0, 1, 0]
    np.testing.assert_allclose(values[:, 0], [0, 0, 9, 21, 0, 21, 0])       # of (1 + t1)(1 + t1)(1 + t3), t1 = 2, t3 = 6


@pytest.mark.parametrize("make, touched", [(lambda tf: tf.train.MomentumOptimizer(0.1, 0.9), [0, 1, 3]),
                                           (lambda tf: tf.train.AdagradOptimizer(0.1), [1, 3]),
                                           (lambda tf: tf.train.RMSPropOptimizer(0.1), [0, 1, 3]),
                                           (lambda tf: tf.contrib.opt.LazyAdamOptimizer(0.1), [0, 1, 3])])
def test_optimizers_touch_only_the_rows_that_a_loop_has_read(tf, make, touched):
    table, y = rows_in_loop(tf, True)
    optimizer = make(tf)
    train = optimizer.minimize(tf.reduce_sum(y))
    slot = optimizer.get_slot(table, {"RMSProp": "rms", "Momentum": "momentum", "Adagrad": "accumulator"}.get(
        optimizer.get_name(), "m"))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(tf.assign(slot, tf.ones_like(slot)))
        session.run(train)
        changed = session.run(slot)[:, 0] != 1
        assert np.flatnonzero(changed).tolist() == touched


@pytest.mark.parametrize("use_resource", [False, True])
def test_a_branch_without_slices_gives_zeros_for_all_rows(tf, run, use_resource):
    """So that what an optimizer keeps of each row decays, as in TensorFlow."""
    table = tf.get_variable("table", initializer=np.arange(10, dtype=np.float32).reshape(5, 2), use_resource=use_resource)
    chosen = tf.placeholder(tf.bool, [])
    found, = tf.gradients(tf.cond(chosen, lambda: tf.gather(table, [1, 1]), lambda: tf.ones([2, 2])), [table])
    values, indices = run([found.values, found.indices], {chosen: False})
    assert values.shape == (5, 2) and not values.any() and indices.tolist() == [0, 1, 2, 3, 4]
    assert run(found.indices, {chosen: True}).tolist() == [1, 1]


def dropped(tf, y):
    return y * (tf.floor(tf.random_uniform([4], seed=3) * 2.0) + 0.5)


def random_in_loop(tf, x):
    return tf.while_loop(lambda i, y: i < 5, lambda i, y: (i + 1, dropped(tf, y)), (0, x))[1]


def random_in_branch(tf, x):
    return tf.cond(tf.reduce_sum(x) > 0, lambda: dropped(tf, x), lambda: x)


def random_in_branch_in_loop(tf, x):
    def body(i, y):
        return i + 1, tf.cond(tf.equal(i % 2, 0), lambda: dropped(tf, y), lambda: y * 2.0)

    return tf.while_loop(lambda i, y: i < 5, body, (0, x))[1]


def random_in_nested_loops(tf, x):
    def body(i, y):
        return i + 1, tf.while_loop(lambda j, z: j < 2, lambda j, z: (j + 1, dropped(tf, z)), (0, y))[1]

    return tf.while_loop(lambda i, y: i < 3, body, (0, x))[1]


@pytest.mark.parametrize("program", [random_in_loop, random_in_branch, random_in_branch_in_loop, random_in_nested_loops],
                         ids=lambda p: p.__name__)
def test_a_gradient_knows_the_random_numbers_that_were_drawn(tf, run, program):
    x = tf.placeholder(tf.float32, [4])
    y = program(tf, x)
    grad, = tf.gradients(y, [x])
    value, grad = run([y, grad], {x: [1, 2, 3, 4]})
    np.testing.assert_allclose(grad * [1, 2, 3, 4], value, rtol=1e-6)


def test_effects_happen_once(tf, run, capfd):
    calls = []
    x = tf.placeholder(tf.float32, [])

    def body(i, y):
        y = tf.Print(y * x, [y], message="seen ")
        return i + 1, y + tf.reshape(tf.py_func(lambda k: calls.append(1) or np.float32(2), [i], tf.float32), [])

    _, y = tf.while_loop(lambda i, _: i < 3, body, (0, x))
    grad, = tf.gradients(y, [x])
    found = run([y, grad], {x: 1.5})
    np.testing.assert_allclose(found, [14.5625, 21.5])
    assert len(calls) == 3 and capfd.readouterr().err.count("seen") == 3


def test_what_has_no_gradient_and_what_stops_it(tf, run):
    x = tf.placeholder(tf.float32, [])
    loop = {"back_prop": False}
    assert tf.gradients(tf.while_loop(lambda y: y < 10.0, lambda y: y * x, [x], **loop), [x]) == [None]
    assert tf.gradients(tf.while_loop(lambda i: i < 10, lambda i: i + 1, [0]), [x]) == [None]
    _, y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, tf.stop_gradient(y) * x), (0, x))
    z = tf.cond(x > 0, lambda: x * 2.0, lambda: tf.constant(1.0))
    found = run([tf.gradients(y, [x])[0], tf.gradients(z, [x])[0]], {x: 1.5})
    assert found == [3.375, 2.0]
    assert run(tf.gradients(z, [x])[0], {x: -1.5}) == 0.0


def test_derivatives_taken_inside_of_values_outside(tf, run):
    w, x = tf.Variable(2.0), tf.placeholder(tf.float32, [])
    loss = w * w * x
    step = tf.train.GradientDescentOptimizer(0.1)
    done = tf.cond(x > 0, lambda: step.minimize(loss), lambda: tf.no_op())
    with tf.control_dependencies([done]):
        after = w.read_value()
    np.testing.assert_allclose(run(after, {x: 1.0}), 1.6)
    assert run(after, {x: -1.0}) == 2.0
    _, y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y - 0.1 * tf.gradients(y * y * x, [y])[0]), (0, x))
    np.testing.assert_allclose(run(y, {x: 1.5}), 1.5 * 0.7 ** 3, rtol=1e-6)


def test_custom_gradients_and_overrides_inside(tf, run):
    @tf.custom_gradient
    def doubled(a):
        e = tf.exp(a)
        return e, lambda dy: dy * e * 2.0

    x = tf.placeholder(tf.float32, [])
    _, y = tf.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, doubled(y * 0.5)), (0, x))
    grad, = tf.gradients(y, [x])
    first = np.exp(0.15)
    np.testing.assert_allclose(run(grad, {x: 0.3}), first * np.exp(first / 2), rtol=1e-5)


def test_several_gradients_of_one_loop(tf, run):
    x = tf.placeholder(tf.float32, [])
    _, a, b = tf.while_loop(lambda i, a, b: i < 3, lambda i, a, b: (i + 1, a * x, b + a), (0, x, x))
    with tf.Session() as session:
        assert session.run(a, {x: 1.5}) == 5.0625
        grads = [tf.gradients(a, [x])[0], tf.gradients(b, [x])[0], tf.gradients(a * b, [x])[0]]
        np.testing.assert_allclose(session.run(grads, {x: 1.5}), [13.5, 11.75, 175.921875], rtol=1e-5)
        assert session.run(a, {x: 1.5}) == 5.0625


def test_training_through_a_loop(tf, run):
    w, x = tf.Variable(np.eye(3, dtype=np.float32) * 0.5), tf.constant(np.arange(6).reshape(2, 3) / 5, tf.float32)
    _, y = tf.while_loop(lambda i, y: i < 4, lambda i, y: (i + 1, tf.tanh(tf.matmul(y, w) + x)), (0, x))
    loss = tf.reduce_sum(y * y)
    train = tf.train.AdamOptimizer(0.05).minimize(loss)
    before, = run([loss])
    with tf.control_dependencies([train]):
        after = tf.identity(w)
    assert np.abs(run(after, times=20) - np.eye(3) * 0.5).max() > 0.1
    assert before > 2


def test_third_gradients_of_a_loop(tf, run):
    """The values are TensorFlow 1.15's with its functional control flow; its v1 loops have no second gradients."""
    x, w = tf.constant(1.5), tf.constant(2.0)
    y = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * x * w + tf.sin(a)), (0, x))[1]
    first = tf.gradients(y, x)[0]
    second = tf.gradients(first, x)[0]
    third = tf.gradients(second, x)[0]
    np.testing.assert_allclose(run([y, first, second, third]), [47.27838, 98.66735, 343.69156, 38120.39], rtol=1e-5)


def _power_of(tf, value, base):
    return round(float(np.log(value) / np.log(base)))


def test_a_loop_is_repeated_as_often_as_its_random_condition_held(tf):
    tf.set_random_seed(3)
    x = tf.constant(1.1, tf.float64)

    def grow(i, a):
        return i + 1, tf.while_loop(lambda b: tf.random_uniform([]) < 0.8, lambda b: b * x, [a])

    y = tf.while_loop(lambda i, a: i < 3, grow, (0, tf.constant(1.0, tf.float64)))[1]
    chosen = tf.cond(tf.random_uniform([]) < 2.0,
                     lambda: tf.while_loop(lambda b: tf.random_uniform([]) < 0.8, lambda b: b * x, [x]), lambda: x)
    tensors = [[t, tf.gradients(t, x)[0]] for t in (y, chosen)]
    with tf.Session() as sess:
        powers = set()
        for _ in range(4):
            for value, gradient in sess.run(tensors):
                power = _power_of(tf, value, 1.1)
                np.testing.assert_allclose(gradient, power * value / 1.1, atol=1e-12)
                powers.add(power)
        assert len(powers) > 2


@pytest.mark.parametrize("use_resource", [False, True])
def test_a_loop_is_repeated_as_often_as_a_variable_that_it_writes_allowed(tf, run, use_resource):
    v, x = tf.Variable(0.0, use_resource=use_resource), tf.constant(1.1, tf.float64)

    def body(b):
        with tf.control_dependencies([v.assign_add(1.0)]):
            return b * x

    def until(limit, a):
        return tf.while_loop(lambda b: v.read_value() < limit, body, [a])

    y = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, until(5.0 * tf.to_float(i + 1), a)), (0, x))[1]
    value, gradient = run([y, tf.gradients(y, x)[0]])
    np.testing.assert_allclose([value, gradient], [1.1 ** 16, 16 * 1.1 ** 15])


def test_a_gradient_may_wait_for_the_loop(tf):
    x = tf.constant(2.0)
    y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), [0, 1.0])[1]
    with tf.control_dependencies([y]):
        gradient, = tf.gradients(y, x)
    with tf.Session() as session:
        assert session.run(gradient) == 12.0


def test_a_reference_that_a_loop_reads_and_writes_is_refused(tf, run):
    """The value that a reference had in an iteration cannot be found again; a resource's can, and that of an explicit read."""
    x = tf.constant(2.0)
    for use_resource, explicit in ((True, False), (True, True), (False, True), (False, False)):
        v = tf.Variable(1.0, use_resource=use_resource)

        def body(i, a, v=v, explicit=explicit):
            with tf.control_dependencies([v.assign_add(1.0)]):
                return i + 1, a * (v.read_value() if explicit else v) * x

        y = tf.while_loop(lambda i, a: i < 3, body, (0, tf.constant(1.0)))[1]
        if use_resource or explicit:
            np.testing.assert_allclose(run([y, tf.gradients(y, x)[0]]), [2 * 3 * 4 * 8, 2 * 3 * 4 * 12])
        else:
            with pytest.raises(TypeError, match="which the same loop or branch writes"):
                tf.gradients(y, x)


def test_a_variable_of_float64_that_no_gradient_reaches_by_one_way(tf):
    """The zeros that stand for its gradient by the other have its dtype."""
    v = tf.Variable(np.array([1.0, 2.0]), use_resource=True)
    last = tf.while_loop(lambda k, x: k < 2, lambda k, x: (k + 1, v * 3.0), [0, tf.tanh(v)])[1]
    gradient, = tf.gradients(last, v)
    with tf.Session() as session:
        session.run(v.initializer)
        np.testing.assert_array_equal(session.run(gradient), [3.0, 3.0])


def test_the_results_of_a_loop_that_are_not_used_have_zeros(tf, run):
    """As in TensorFlow: where the gradient of one result is built, so are zeros for the others."""
    x = tf.constant([1.0, 2.0])
    i, a, b = tf.while_loop(lambda i, *_: i < 3, lambda i, a, b: (i + 1, a * 2, b * 3), [0, x, x])
    loss = a * 3
    of_x, of_a, of_b, of_i = tf.gradients(loss, [x, a, b, i])
    assert of_i is None
    assert [g.tolist() for g in run([of_x, of_a, of_b])] == [[24, 24], [3, 3], [0, 0]]
    assert tf.gradients(loss, [b]) == [None] and tf.gradients(b, [a, i]) == [None, None]
    of_x, of_b = tf.gradients(loss, [x, b], stop_gradients=[a])
    assert of_x is None and run(of_b).tolist() == [0, 0]


def test_a_loop_passes_gradients_only_to_what_its_results_depend_on(tf):
    x = tf.placeholder(tf.float32, [3])
    assert tf.gradients(tf.scan(lambda a, e: tf.tanh(tf.constant(2.0)), x, initializer=0.0), x) == [None]
    y, z = tf.while_loop(lambda y, z: tf.reduce_sum(y) < 9, lambda y, z: (y + 1, z * 2), [x, x * 2])
    assert tf.gradients(z, y) == [None]
    before = len(tf.get_default_graph().get_operations())
    assert tf.gradients(z, tf.placeholder(tf.float32, [3])) == [None]
    assert len(tf.get_default_graph().get_operations()) < before + 8
