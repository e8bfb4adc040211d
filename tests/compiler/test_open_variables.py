"""Variables that change their shape: read, written, differentiated and saved as in TensorFlow 1.15."""
import numpy as np
import pytest

pytestmark = pytest.mark.parametrize("jit", ["off", "always", "auto"])

VALUES = [[1.0], [1.0, 2.0, 3.0], [[1.0, 2.0], [3.0, 4.0]], [], 5.0, [4.0, 3.0], [4.0, 3.0]]


def test_an_assignment_without_validation_gives_a_variable_another_shape(tf, jit):
    v, x = tf.Variable([1.0, 2.0]), tf.placeholder(tf.float32)
    assign = tf.assign(v, x, validate_shape=False)
    assert (assign.shape.ndims, v.shape.as_list()) == (None, [2])
    assert tf.assign(v, [1.0, 2.0, 3.0], validate_shape=False).shape.as_list() == [3]
    plus, shapes = v + 1.0, [tf.shape(v), tf.shape_n([v])[0]]
    with tf.Session(jit=jit) as session:
        session.run(v.initializer)
        assert session.run(plus).tolist() == [2.0, 3.0]
        for value in VALUES:
            written = session.run(assign, {x: value})
            assert session.run(v).tolist() == written.tolist() == value
            assert session.run(plus).tolist() == (written + 1.0).tolist()
            # of the static shape tf.shape makes a constant
            assert [s.tolist() for s in session.run(shapes)] == [[2], list(written.shape)]


def test_reads_after_a_reshaping_write_see_the_new_shape_in_the_same_run(tf, jit):
    v, x = tf.Variable([1.0, 2.0]), tf.placeholder(tf.float32)
    before = v * 1.0
    assign = tf.assign(v, x, validate_shape=False)
    added = tf.assign_add(assign, x)
    with tf.control_dependencies([added]):
        after, size = v.read_value() * 2.0, tf.shape_n([v.read_value()])[0]
    with tf.Session(jit=jit) as session:
        session.run(v.initializer)
        last = [1.0, 2.0]
        for value in VALUES:
            was, now, shape, sums = session.run([before, after, size, added], {x: value})
            assert was.tolist() == last
            assert (now / 4.0).tolist() == (sums / 2.0).tolist() == value
            assert tuple(shape) == now.shape
            last = sums.tolist()


def test_an_assignment_made_after_a_first_run_counts_too(tf, jit):
    v, x = tf.Variable([1.0, 2.0]), tf.placeholder(tf.float32, [None])
    plus = v + 1.0
    inside = tf.cond(tf.constant(True), lambda: v * 2.0, lambda: v)
    with tf.Session(jit=jit) as session:
        session.run(v.initializer)
        for _ in range(3):
            assert session.run([plus, inside])[1].tolist() == [2.0, 4.0]
        assign = tf.assign(v, x, validate_shape=False)
        for value in ([1.0, 2.0, 3.0], [7.0], [1.0, 2.0]):
            session.run(assign.op, {x: value})
            for _ in range(3):
                assert [a.tolist() for a in session.run([plus, inside])] == [[y + 1 for y in value], [y * 2 for y in value]]


def test_a_reshaping_write_inside_of_a_branch(tf, jit):
    v, x = tf.Variable([1.0, 2.0]), tf.placeholder(tf.float32, [None])
    replace = tf.placeholder(tf.bool, [])
    written = tf.cond(replace, lambda: tf.assign(v, x, validate_shape=False) + 0.0, lambda: v + 10.0)
    with tf.control_dependencies([written]):
        after = v.read_value() + 0.0
    with tf.Session(jit=jit) as session:
        session.run(v.initializer)
        for choice, value, expected in ((False, [0.0], [1.0, 2.0]), (True, [1.0, 2.0, 3.0], [1.0, 2.0, 3.0]),
                                        (False, [0.0], [1.0, 2.0, 3.0]), (True, [5.0], [5.0])):
            assert session.run(after, {replace: choice, x: value}).tolist() == expected
            assert session.run(v).tolist() == expected


def test_validated_writes_compare_with_the_present_shape(tf, jit):
    v, x = tf.Variable([1.0, 2.0]), tf.placeholder(tf.float32)
    grow, plain, add = tf.assign(v, x, validate_shape=False), tf.assign(v, x), tf.assign_add(v, x)
    scatter, rows = tf.scatter_add(v, [2], [1.0]), tf.gather(v, [2])
    with tf.Session(jit=jit) as session:
        session.run(v.initializer)
        session.run(grow, {x: [1.0, 2.0, 3.0]})
        assert session.run(scatter).tolist() == [1.0, 2.0, 4.0] and session.run(rows).tolist() == [4.0]
        for op, feed in ((v.initializer, {}), (plain, {x: [1.0, 2.0]}), (add, {x: [1.0, 2.0]}), (add, {x: [1.0]})):
            with pytest.raises(tf.errors.InvalidArgumentError):
                session.run(op, feed)
            assert session.run(v).tolist() == [1.0, 2.0, 4.0]
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"lhs shape= \[3\] rhs shape= \[2\]"):
            session.run(plain, {x: [1.0, 2.0]})
        assert session.run(plain, {x: [3.0, 2.0, 1.0]}).tolist() == [3.0, 2.0, 1.0]
        session.run(grow, {x: [1.0]})
        for op in (scatter, rows):
            with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[0\] = 2 is not in \[0, 1\)"):
                session.run(op)


@pytest.mark.parametrize("getter", [False, True])
def test_variables_of_unknown_shape(tf, jit, getter, tmp_path):
    x = tf.placeholder(tf.float32)
    v = tf.get_variable("v", initializer=x, validate_shape=False) if getter else \
        tf.Variable(x, validate_shape=False, name="v")
    assert v.shape.ndims is None and v.assign([1.0]).shape.as_list() == [1]
    assign, grow = v.assign(x), tf.assign(v, x, validate_shape=False)
    loss = tf.reduce_sum(v * v)
    gradient, shape = tf.gradients(loss, v)[0], tf.shape(v)
    train = tf.train.GradientDescentOptimizer(0.25).minimize(loss)
    saver = tf.train.Saver([v])
    with tf.Session(jit=jit) as session:
        for op in (v, loss, tf.matmul(v, v), shape, train):
            with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value v"):
                session.run(op)
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"lhs shape= \[\] rhs shape= \[2\]"):
            session.run(assign, {x: [1.0, 2.0]})
        session.run(v.initializer, {x: [1.0, 2.0]})
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"lhs shape= \[2\] rhs shape= \[1\]"):
            session.run(assign, {x: [3.0]})
        assert session.run(assign, {x: [3.0, 4.0]}).tolist() == [3.0, 4.0]
        for value, doubled, halved in (([3.0], [6.0], [1.5]), ([[1.0, 2.0]], [[2.0, 4.0]], [[0.5, 1.0]]),
                                       ([2.0, 4.0, 6.0], [4.0, 8.0, 12.0], [1.0, 2.0, 3.0])):
            session.run(grow, {x: value})
            found, sizes = session.run([gradient, shape])
            assert found.tolist() == doubled and sizes.tolist() == list(found.shape)
            session.run(train)
            assert session.run(v).tolist() == halved
        path = saver.save(session, str(tmp_path / "model"))
        session.run(grow, {x: 0.0})
        saver.restore(session, path)
        assert session.run(v).tolist() == [1.0, 2.0, 3.0]


def test_a_resource_variable_of_partly_unknown_shape(tf, jit, tmp_path):
    v = tf.Variable([[1.0, 2.0]], use_resource=True, shape=tf.TensorShape([None, 2]))
    x, y = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.float32)
    assert v.shape.as_list() == [None, 2] and v.read_value().shape.as_list() == [None, 2]
    with pytest.raises(ValueError, match=r"\(\?, 2\) and \(3,\) are incompatible"):
        v.assign([1.0, 2.0, 3.0])
    assign, add, loss = v.assign(x), v.assign_add(y), tf.reduce_sum(v * v)
    with tf.control_dependencies([v.assign(x)]):
        after = v.read_value() + 1.0
    gradient, first, shape = tf.gradients(loss, v)[0], tf.gather(v, [0]), tf.shape(v)
    step = tf.train.GradientDescentOptimizer(0.25).apply_gradients([(gradient, v)])
    saver = tf.train.Saver([v])
    with tf.Session(jit=jit) as session:
        for op in (v, loss, shape, step):
            with pytest.raises(tf.errors.FailedPreconditionError):
                session.run(op)
        with pytest.raises(tf.errors.NotFoundError):
            session.run(first)
        session.run(v.initializer)
        for value in ([[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0]], [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]):
            assert session.run(assign, {x: value}).tolist() == value
            assert session.run(shape).tolist() == [len(value), 2]
            assert session.run(gradient).tolist() == [[2 * a, 2 * b] for a, b in value]
            assert session.run(first).tolist() == value[:1]
            session.run(step)
            assert session.run(v).tolist() == [[a / 2, b / 2] for a, b in value]
            assert session.run(after, {x: value}).tolist() == [[a + 1, b + 1] for a, b in value]
            assert session.run(add, {y: value}).tolist() == [[2 * a, 2 * b] for a, b in value]
            with pytest.raises(tf.errors.InvalidArgumentError):
                session.run(add, {y: 1.0})
        path = saver.save(session, str(tmp_path / "model"))
        session.run(assign, {x: [[0.0, 0.0]]})
        saver.restore(session, path)
        assert session.run(v).tolist() == [[2.0, 4.0], [6.0, 8.0], [10.0, 12.0]]
        session.run(assign, {x: np.zeros((0, 2))})
        assert session.run(loss) == 0.0


def test_sessions_see_what_another_one_of_the_graph_may_do(tf, jit):
    v, x = tf.Variable([1.0, 2.0]), tf.placeholder(tf.float32, [None])
    plus = v + 1.0
    with tf.Session(jit=jit) as first, tf.Session(jit=jit) as second:
        first.run(v.initializer)
        second.run(v.initializer)
        assert first.run(plus).tolist() == second.run(plus).tolist() == [2.0, 3.0]
        assign = tf.assign(v, x, validate_shape=False)
        first.run(assign, {x: [5.0]})
        assert (first.run(plus).tolist(), second.run(plus).tolist()) == ([6.0], [2.0, 3.0])
        second.run(assign, {x: [1.0, 2.0, 3.0]})
        assert (first.run(plus).tolist(), second.run(plus).tolist()) == ([6.0], [2.0, 3.0, 4.0])
