"""while_loop: structures, shapes, errors, state, nesting, the ways a loop is executed."""
import collections

import numpy as np
import pytest

State = collections.namedtuple("State", "total parts")


def test_structures_of_loop_variables(tf, run):
    start = (0, State(tf.zeros([2]), {"last": 1.0, "ones": [tf.ones([3])]}))

    def body(i, s):
        return i + 1, State(s.total + 1.0, {"last": s.parts["last"] * 2.0, "ones": [s.parts["ones"][0] + 1.0]})

    i, s = run(tf.while_loop(lambda i, s: i < 3, body, start))
    assert i == 3 and isinstance(s, State) and s.parts["last"] == 8.0
    assert s.total.tolist() == [3, 3] and s.parts["ones"][0].tolist() == [4, 4, 4]


def test_one_variable_comes_back_alone_unless_asked_for(tf, run):
    assert run(tf.while_loop(lambda x: x < 10, lambda x: x * 2, [3])) == 12
    assert run(tf.while_loop(lambda x: x < 10, lambda x: x * 2, [3], return_same_structure=True)) == [12]
    assert run(tf.while_loop(lambda x: x < 10, lambda x: x * 2, [3], maximum_iterations=1)) == 6
    assert run(tf.while_loop(lambda x: x < 10, lambda x: x * 2, [3], maximum_iterations=tf.constant(0))) == 3


def test_sparse_tensors_as_loop_variables(tf, run):
    first = tf.SparseTensor([[0, 1], [1, 0]], [1.0, 2.0], [2, 2])
    _, found = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, tf.SparseTensor(s.indices, s.values * 2.0,
                                                                                    s.dense_shape)), (0, first))
    assert run(found).values.tolist() == [8, 16]


def test_how_many_elements_a_sparse_loop_variable_has_is_open(tf, run):
    first = tf.SparseTensor([[0, 1], [1, 0]], [1.0, 2.0], [2, 2])
    _, found = tf.while_loop(lambda i, s: i < 2, lambda i, s: (i + 1, tf.sparse.concat(0, [s, s])), [tf.constant(0), first])
    assert found.indices.shape.as_list() == [None, 2]
    assert run(tf.sparse.to_dense(found)).tolist() == [[0.0, 1.0], [2.0, 0.0]] * 4
    with pytest.raises(ValueError, match=r"enters the loop with shape \(\?, 2\), but has shape \(\?, 3\)"):
        tf.while_loop(lambda i, s: i < 2, lambda i, s: (i + 1, tf.sparse.expand_dims(s, 0)), [tf.constant(0), first])


@pytest.mark.parametrize("make, kind, text", [
    (lambda tf, c: tf.while_loop(lambda i, j: i < 3, lambda i, j: [i + 1], [c, c]), ValueError, "number of elements"),
    (lambda tf, c: tf.while_loop(lambda i: i < 3, lambda i: tf.cast(i, tf.float32), [c]), TypeError, "tf.cast"),
    (lambda tf, c: tf.while_loop(lambda i: i < 3, lambda i: None, [c]), ValueError, "None values not supported"),
    (lambda tf, c: tf.while_loop(lambda i: i, lambda i: i, [c]), TypeError, "expected type of bool"),
    (lambda tf, c: tf.while_loop(lambda i: [i < 3], lambda i: i, [c]), ValueError, "rank 0"),
    (lambda tf, c: tf.while_loop(lambda: True, lambda: 1, []), ValueError, "No loop variables"),
    (lambda tf, c: tf.while_loop(1, lambda i: i, [c]), TypeError, "cond must be callable"),
    (lambda tf, c: tf.while_loop(lambda i: i < 3, 1, [c]), TypeError, "body must be callable"),
    (lambda tf, c: tf.while_loop(lambda i: i < 3, lambda i: i, [c], parallel_iterations=0), TypeError, "positive"),
    (lambda tf, c: tf.while_loop(lambda i: i < 3, lambda i: i, [c], maximum_iterations=[1]), ValueError, "scalar"),
    (lambda tf, c: tf.while_loop(lambda i: i < 3, lambda i: i, c), TypeError, r"write \[x\]"),
    (lambda tf, c: tf.while_loop(lambda x: True, lambda x: tf.stack([x, x]), [c]), ValueError, "shape_invariants"),
    (lambda tf, c: tf.while_loop(lambda x: True, lambda x: x, [c], [tf.TensorShape([2])]), ValueError, "not compatible"),
    (lambda tf, c: tf.while_loop(lambda x: True, lambda x: x, [c], [tf.TensorShape([])] * 2), ValueError, "structure"),
])
def test_wrong_arguments(tf, make, kind, text):
    with pytest.raises(kind, match=text):
        make(tf, tf.constant(1))


def test_shape_invariants_open_sizes(tf, run):
    shape = tf.TensorShape
    _, y = tf.while_loop(lambda i, y: i < 70, lambda i, y: (i + 1, tf.concat([y, [i]], 0)),
                         (0, tf.zeros([1], tf.int32)), (shape([]), shape([None])))
    assert y.shape.as_list() == [None]
    assert run(y).tolist() == [0, *range(70)]


def test_sizes_that_depend_on_values(tf, run):
    x = tf.placeholder(tf.float32, [None])

    def body(i, kept, total):
        kept = tf.boolean_mask(x, x > tf.cast(i, tf.float32))
        return i + 1, kept, total + tf.reduce_sum(kept) + tf.reduce_sum(tf.cast(tf.range(i), tf.float32))

    shape = tf.TensorShape
    _, kept, total = tf.while_loop(lambda i, *_: i < 4, body, (0, x, 0.0), (shape([]), shape([None]), shape([])))
    kept, total = run([kept, total], {x: np.arange(6.0)})
    assert kept.tolist() == [4, 5] and total == sum(sum(range(i + 1, 6)) + sum(range(i)) for i in range(4))


def test_nested_loops_and_branches(tf, run):
    n = tf.placeholder(tf.int32, [])

    def outer(i, total):
        def inner(j, t):
            return j + 1, tf.cond(tf.equal(j % 2, 0), lambda: t + i * j, lambda: t - 1)

        return i + 1, tf.while_loop(lambda j, _: j < i, inner, (0, total))[1]

    expected = 0
    for i in range(7):
        for j in range(i):
            expected = expected + i * j if j % 2 == 0 else expected - 1
    assert run(tf.while_loop(lambda i, _: i < n, outer, (0, 0))[1], {n: 7}) == expected


@pytest.mark.parametrize("resource", [False, True])
def test_state_inside(tf, run, resource):
    v = tf.get_variable("v", initializer=1.0, use_resource=resource)

    def body(i, seen):
        with tf.control_dependencies([v.assign_add(2.0)]):
            return i + 1, seen + v.read_value()

    i, seen = tf.while_loop(lambda i, _: i < 4, body, (0, 0.0))
    with tf.control_dependencies([i]):
        after = v.read_value()
    assert run([seen, after]) == [3.0 + 5.0 + 7.0 + 9.0, 9.0]


def test_a_loop_variable_that_starts_as_a_variable_keeps_its_value(tf, run):
    v = tf.Variable([1.0, 2.0])

    def body(i, first, now):
        with tf.control_dependencies([tf.assign_add(v, [1.0, 1.0])]):
            return i + 1, first, now + first

    _, first, now = tf.while_loop(lambda i, *_: i < 3, body, (0, v, v))
    first, now = run([first, now])
    assert first.tolist() == [1, 2] and now.tolist() == [4, 8]


def test_random_numbers_differ_from_iteration_to_iteration(tf, run):
    ta = tf.TensorArray(tf.float32, 4)
    _, ta = tf.while_loop(lambda i, _: i < 4, lambda i, ta: (i + 1, ta.write(i, tf.random_uniform([], seed=1))), (0, ta))
    drawn = run(ta.stack())
    assert len(set(drawn.tolist())) == 4


def test_python_functions_run_once_per_iteration(tf, run):
    calls = []
    _, total = tf.while_loop(lambda i, _: i < 3, lambda i, t: (i + 1, t + tf.reshape(tf.py_func(
        lambda k: calls.append(int(k)) or np.float32(k), [i], tf.float32), [])), (0, 0.0))
    assert run(total) == 3.0 and calls == [0, 1, 2]


def test_constants_may_be_fed(tf, run):
    n = tf.constant(7)
    size = tf.placeholder_with_default([2], [1])
    y = tf.while_loop(lambda i, x: i < n, lambda i, x: (i + 1, tf.fill(size * n, i)), (0, tf.zeros([0], tf.int32)),
                      (tf.TensorShape([]), tf.TensorShape([None])))
    assert run(y)[1].tolist() == [6] * 14
    assert run(y, {n: 3})[1].tolist() == [2] * 6


def test_errors_in_an_iteration_name_the_node(tf, run):
    with pytest.raises(tf.errors.InvalidArgumentError, match="loop/floordiv"):
        run(tf.while_loop(lambda i, _: i < 5, lambda i, _: (i + 1, 6 // (3 - i)), (0, 0), name="loop"))


def test_an_interrupt_ends_a_loop(tf, interrupt):
    x = tf.constant([1.0, 2.0])
    endless = [tf.while_loop(lambda i: i >= 0, lambda i: (i + 1) % 1000, [0]),
               tf.while_loop(lambda y: tf.reduce_sum(y) < 1e9, lambda y: y * 1.0, [x])]
    with tf.Session(jit="always") as session:
        for loop in endless:
            interrupt(lambda loop=loop: session.run(loop))


def test_a_session_that_compiles_by_itself_gives_the_same(tf):
    x = tf.placeholder(tf.float32, [2])
    _, y = tf.while_loop(lambda i, _: i < 50, lambda i, y: (i + 1, tf.tanh(y) + x), (0, x))
    s = tf.while_loop(lambda i, s: i < 100000, lambda i, s: (i + 1, (s * 7 + i) % 1001), (0, 1))[1]
    found = {}
    for jit in ("off", "auto", "always"):
        with tf.Session(jit=jit) as session:
            found[jit] = [session.run(y, {x: [0.5, -1.0]}) for _ in range(3)]
            if jit != "off":
                found[jit].append(session.run(s))
    for jit in ("auto", "always"):
        for value in found[jit][:3]:
            np.testing.assert_allclose(value, found["off"][0], rtol=1e-5)
    total = 1
    for i in range(100000):
        total = (total * 7 + i) % 1001
    assert found["auto"][3] == found["always"][3] == total


def test_map_fn_fold_and_scan(tf, run):
    x = tf.placeholder(tf.float32, [None, 2])
    value = np.arange(6, dtype=np.float32).reshape(3, 2)
    found = run({"map": tf.map_fn(lambda row: tf.reduce_sum(row), x),
                 "pair": tf.map_fn(lambda rows: (rows[0] + 1.0, rows[1][0]), (x, x * 2.0)),
                 "kinds": tf.map_fn(lambda row: (tf.cast(row[0], tf.int32), row), x, dtype=(tf.int32, tf.float32)),
                 "foldl": tf.foldl(lambda a, row: a * 2.0 + row, x), "foldr": tf.foldr(lambda a, row: a - row, x),
                 "count": tf.foldl(lambda a, row: a + 1, x, initializer=10),
                 "scan": tf.scan(lambda a, row: a + row, x), "back": tf.scan(lambda a, row: a + row, x, reverse=True),
                 "start": tf.scan(lambda a, row: a + tf.reduce_sum(row), x, initializer=100.0)}, {x: value})
    assert found["map"].tolist() == [1, 5, 9]
    assert found["pair"][0].tolist() == (value + 1).tolist() and found["pair"][1].tolist() == [0, 4, 8]
    assert found["kinds"][0].tolist() == [0, 2, 4]
    assert found["foldl"].tolist() == [8, 15] and found["foldr"].tolist() == [2, 1] and found["count"] == 13
    assert found["scan"].tolist() == value.cumsum(0).tolist()
    assert found["back"].tolist() == value[::-1].cumsum(0)[::-1].tolist()
    assert found["start"].tolist() == [101, 106, 115]


def test_higher_order_functions_check_their_arguments(tf):
    x = tf.ones([3, 2])
    assert tf.map_fn(lambda t: t[0], x).shape.as_list() == [3]
    assert tf.scan(lambda a, t: a + t, tf.placeholder(tf.float32, [None, 2])).shape.as_list() == [None, 2]
    for function in (tf.map_fn, tf.foldl, tf.foldr, tf.scan):
        with pytest.raises(TypeError, match="fn must be callable"):
            function(1, x)
    with pytest.raises(ValueError, match="not a scalar"):
        tf.map_fn(lambda t: t, tf.constant(1.0))
    with pytest.raises(ValueError, match="not compatible|must be equal|incompatible"):
        tf.map_fn(lambda t: t[0], (x, tf.ones([2])), dtype=tf.float32)
    with pytest.raises(ValueError, match="structure"):
        tf.map_fn(lambda t: t[0], (x, x))


def test_without_control_dependencies_nodes_are_made_around_the_loop(tf):
    """As TensorFlow's leave all control flow: they may be fetched, and several loops may use them."""
    made = []

    def body(i):
        with tf.control_dependencies(None):
            made.append(tf.constant(3) * 2)
        return tf.cond(i > 3, lambda: i + made[0], lambda: i + 1)

    end = tf.while_loop(lambda i: i < 10, body, [0])
    assert made[0].graph is tf.get_default_graph() and made[0].op.name == "while/mul"
    with tf.Session() as session:
        assert session.run([end, made[0]]) == [10, 6]


def test_without_control_dependencies_nodes_stay_in_a_function(tf):
    @tf.function
    def twice(x):
        with tf.control_dependencies(None):
            return x * 2

    with tf.Session() as session:
        assert session.run(twice(tf.constant(4))) == 8


def test_a_number_beside_a_tensor_that_grows_is_what_the_iteration_before_gave(tf):
    """A body that meets ever more sizes takes its inputs from where they lie, of which a NumPy scalar has none."""
    x, steps = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.int32, [])

    def body(k, a, y):
        return k + 1, tf.tanh(a * 1.5) + tf.reduce_sum(y) * 0.01, tf.concat([y, [a]], 0)

    shapes = [tf.TensorShape([]), tf.TensorShape([]), tf.TensorShape([None])]
    _, last, grown = tf.while_loop(lambda k, *_: k < steps, body, [0, tf.reduce_sum(x), x], shapes)
    expected = [0.1, 0.2]
    a = np.float64(sum(expected))
    for _ in range(30):
        a, expected = np.tanh(a * 1.5) + sum(expected) * 0.01, [*expected, a]
    with tf.Session(jit="always") as session:
        for _ in range(3):
            found = session.run([last, grown], {x: [0.1, 0.2], steps: 30})
            np.testing.assert_allclose(found[0], a, rtol=1e-4)
            np.testing.assert_allclose(found[1], expected, rtol=1e-4)
