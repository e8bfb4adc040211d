"""tf.Assert and the assert_* family: texts, classes, what is found while the graph is built."""

import numpy as np
import pytest


@pytest.fixture(params=["always", "off"], autouse=True)
def jit(request, monkeypatch):
    monkeypatch.setenv("JITGRAPH_JIT", request.param)


def message(tf, run, node, feeds):
    with pytest.raises(tf.errors.InvalidArgumentError) as info:
        run(node, feeds)
    assert info.value.op.type == "Assert"
    return info.value.message


def test_assert_shows_its_data(tf, run):
    x = tf.placeholder(tf.float32)
    node = tf.Assert(x > 0, [x, [1, 2, 3, 4], "text"], summarize=1)
    assert message(tf, run, node, {x: -1}) == "assertion failed: [-1] [1...] [text]"
    assert node.name == "Assert/AssertGuard/Merge"
    assert [op.name for op in node.control_inputs] == ["Assert/AssertGuard/Assert"]
    assert tf.Assert(tf.constant(1) > 0, ["all integers and strings", 1]).name == "Assert_1/Assert"
    with pytest.raises(TypeError, match="bool"):
        tf.Assert(x, [x])
    with pytest.raises(ValueError, match="rank 0"):
        tf.Assert([True, False], [x])


def test_comparisons_say_what_did_not_hold(tf, run):
    x, c = tf.placeholder(tf.float32, [None], name="x"), tf.constant([1.0, 2.0], name="c")
    assert message(tf, run, tf.assert_less(x, c, message="small"), {x: [9, 0]}) == \
        "assertion failed: [small] [Condition x < y did not hold element-wise:] [x (x:0) = ] [9 0] [y (c:0) = ] [1 2]"
    assert message(tf, run, tf.assert_positive(x), {x: [-1]}) == \
        "assertion failed: [] [Condition x > 0 did not hold element-wise:] [x (x:0) = ] [-1]"
    assert message(tf, run, tf.assert_negative(x, data=["mine", x]), {x: [1]}) == "assertion failed: [mine] [1]"
    assert "not equal to tolerance" in message(tf, run, tf.debugging.assert_near(x, c), {x: [1, 3]})
    assert run(tf.debugging.assert_near(x, c), {x: [1, 2 + 1e-7]}) is None
    assert "x != y" in message(tf, run, tf.debugging.assert_none_equal(x, c), {x: [0, 2]})


def test_constants_are_compared_while_the_graph_is_built(tf, run):
    with pytest.raises(tf.errors.InvalidArgumentError, match="Condition x == y did not hold"):
        tf.assert_equal(tf.constant([1, 2]), 3)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Condition x > 0 did not hold"):
        tf.assert_positive(tf.constant(0.0))
    x = tf.constant([1.0])
    assert tf.assert_equal(x, x).type == "NoOp"
    assert run(tf.assert_equal(x, [1.0])) is None


def test_ranks(tf, run):
    known, unknown = tf.ones([2, 3]), tf.placeholder(tf.float32, name="u")
    assert tf.assert_rank(known, 2).name == "assert_rank/static_checks_determined_all_ok"
    with pytest.raises(ValueError, match=r"Tensor ones:0 must have rank 1\.  Received rank 2, shape \(2, 3\)"):
        tf.assert_rank(known, 1)
    with pytest.raises(ValueError, match="must have rank at least 3"):
        tf.assert_rank_at_least(known, 3)
    with pytest.raises(ValueError, match=r"must have rank in \(0, 1\)"):
        tf.assert_rank_in(known, [0, 1])
    with pytest.raises(TypeError, match="int32"):
        tf.assert_rank(unknown, 1.5)
    with pytest.raises(ValueError, match="scalar"):
        tf.assert_rank(unknown, [1])
    assert message(tf, run, tf.assert_rank(unknown, 1), {unknown: 2.0}) == \
        "assertion failed: [] [Tensor u:0 must have rank] [1] [Received shape: ] []"
    assert "rank in] [1] [2]" in message(tf, run, tf.assert_rank_in(unknown, [1, 2]), {unknown: 2.0})
    assert run(tf.assert_rank_at_least(unknown, 1), {unknown: [2.0]}) is None


def test_shapes(tf, run):
    x, y = tf.placeholder(tf.float32, [None, 3], name="x"), tf.placeholder(tf.float32, name="y")
    check = tf.debugging.assert_shapes([(x, ("N", "Q")), (y, ("Q", "N"))])
    assert run(check, {x: np.ones([2, 3]), y: np.ones([3, 2])}) is None
    assert "Specified by tensor x:0 dimension 0" in message(tf, run, check, {x: np.ones([2, 3]), y: np.ones([3, 4])})
    with pytest.raises(tf.errors.InvalidArgumentError):
        run(check, {x: np.ones([2, 3]), y: 1.0})
    with pytest.raises(ValueError, match="dimension 1 must have size 4.  Received size 3"):
        tf.debugging.assert_shapes({x: (None, 4)})
    assert run(tf.debugging.assert_shapes([(y, (..., 5))]), {y: np.ones([1, 2, 5])}) is None


def test_shapes_in_words_and_of_scalars(tf, run):
    assert tf.debugging.assert_shapes([(tf.ones([1, 2, 3, 2]), "*NQ"), (tf.ones([2, 3, 3]), "*ND"), (tf.ones([3, 2]), "3.")])
    with pytest.raises(ValueError, match="dimension -2 must have size 4"):
        tf.debugging.assert_shapes([(tf.ones([3, 2]), "*4D")])
    with pytest.raises(ValueError, match="index 1.  Symbol .* is only allowed as the first entry"):
        tf.debugging.assert_shapes([(tf.ones([1, 2]), ("N", ...))])
    with pytest.raises(ValueError, match="must be an iterable"):
        tf.debugging.assert_shapes([(tf.ones([3]), 3)])
    assert tf.debugging.assert_shapes([(tf.ones([1]), ()), (tf.constant(5), ()), (tf.constant(1), ("a",))])
    with pytest.raises(ValueError, match="dimension 0 must have size 2.  Received size 1, shape \\(\\)"):
        tf.debugging.assert_shapes([(tf.constant(1), (2,))])
    y = tf.placeholder(tf.float32)
    scalar = tf.debugging.assert_shapes([(y, ())])
    assert run(scalar, {y: 5.0}) is None and run(scalar, {y: [5.0]}) is None
    with pytest.raises(tf.errors.InvalidArgumentError, match="must have size"):
        run(scalar, {y: [5.0, 2.0]})


def test_numerics_are_not_checked_across_branches(tf):
    tf.cond(tf.placeholder(tf.bool, []), lambda: tf.constant([37.0]), lambda: tf.constant([42.0]))
    with pytest.raises(ValueError, match="not compatible with TensorFlow control flow"):
        tf.add_check_numerics_ops()


def test_dtypes_and_iterables(tf):
    c, i = tf.constant(1.0), tf.constant(1)
    with pytest.raises(TypeError, match="must be of type <dtype: 'int32'>"):
        tf.assert_type(c, tf.int32)
    with pytest.raises(TypeError, match="integer type"):
        tf.assert_integer(c)
    assert tf.assert_same_float_dtype([c]) is tf.float32 and tf.assert_same_float_dtype() is tf.float32
    assert tf.assert_same_float_dtype([None, c]) is tf.float32
    with pytest.raises(ValueError, match="must be of the same type"):
        tf.assert_same_float_dtype([c, tf.constant(1.0, tf.float64)])
    with pytest.raises(ValueError, match="floating point"):
        tf.assert_same_float_dtype([i])
    with pytest.raises(TypeError, match="proper"):
        tf.assert_proper_iterable("abc")
    with pytest.raises(ValueError, match="Expected scalar shape"):
        tf.assert_scalar(tf.constant([1]))
    assert tf.is_numeric_tensor(c) and not tf.is_numeric_tensor(tf.constant("a")) and not tf.is_numeric_tensor(3)


def test_order(tf, run):
    fetches = [tf.is_non_decreasing([1, 1, 2]), tf.is_strictly_increasing([1, 1]), tf.is_strictly_increasing([]),
               tf.is_non_decreasing([[1, 2], [3, 0]])]
    assert run(fetches) == [True, False, True, False]


def test_numerics(tf, run):
    x = tf.placeholder(tf.float32, [None], name="x")
    with pytest.raises(tf.errors.InvalidArgumentError, match="wrong : Tensor had NaN values"):
        run(tf.verify_tensor_all_finite(x, "wrong"), {x: [np.nan]})
    quotient = tf.divide(x, 0.0, name="quotient")
    check = tf.add_check_numerics_ops()
    with pytest.raises(tf.errors.InvalidArgumentError, match="quotient:0 : Tensor had Inf values"):
        run([quotient, check], {x: [1.0]})


def test_a_failing_assertion_stops_what_waits_for_it(tf):
    v, x = tf.Variable(1.0), tf.placeholder(tf.float32, [])
    with tf.control_dependencies([tf.assert_positive(x)]):
        step = tf.assign_add(v, x)
    with tf.Session() as session:
        session.run(v.initializer)
        session.run(step, {x: 2.0})
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(step, {x: -2.0})
        assert session.run(v) == 3.0


def test_assert_needs_data(tf):
    with pytest.raises(ValueError, match="list of length 0 less than minimum 1"):
        tf.Assert(tf.constant(False), [])
    with pytest.raises(TypeError, match="values must be a sequence"):
        tf.Assert(tf.constant(False), tf.constant([1.0]))
