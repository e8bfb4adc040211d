"""cond, case, switch_case, smart_cond: what they return, what they refuse, which branch runs, state in branches."""
import collections
import re
import weakref

import numpy as np
import pytest

Pair = collections.namedtuple("Pair", "a b")


def test_the_taken_branch_gives_the_value(tf, run):
    x = tf.placeholder(tf.float32, [None])
    y = tf.cond(tf.reduce_sum(x) > 0, lambda: x * 2.0, lambda: x[:1])
    assert y.shape.as_list() == [None]
    assert run(y, {x: [1, 2]}).tolist() == [2, 4]
    assert run(y, {x: [-1, -2]}).tolist() == [-1]


def test_structures_come_back_as_they_were(tf, run):
    yes, no = tf.constant(True), tf.constant(False)

    def branch(k):
        return lambda: Pair({"x": tf.constant(k), "y": [tf.constant(k + 1)]}, (tf.constant(float(k)),))

    found = tf.cond(no, branch(1), branch(5))
    assert isinstance(found, Pair) and isinstance(found.b, tuple) and list(found.a) == ["x", "y"]
    assert run(found) == Pair({"x": 5, "y": [6]}, (5.0,))
    assert isinstance(tf.cond(yes, lambda: [yes], lambda: [no]), tf.Tensor)
    assert isinstance(tf.cond(yes, lambda: [yes], lambda: [no], strict=True), list)
    assert tf.cond(yes, lambda: 1, lambda: 2).dtype == tf.int32
    sparse = tf.cond(no, lambda: tf.SparseTensor([[0]], [1.0], [3]), lambda: tf.SparseTensor([[2]], [4.0], [3]))
    assert run(sparse).values.tolist() == [4.0]


def test_an_operation_stands_for_a_bool(tf, run):
    v = tf.Variable(1.0)
    p = tf.placeholder(tf.bool, [])
    done = tf.cond(p, lambda: tf.group(v.assign(5.0)), lambda: tf.no_op())
    with tf.control_dependencies([done]):
        after = v.read_value()
    assert done.dtype == tf.bool
    assert run([done, after], {p: True}) == [True, 5.0]
    assert run(after, {p: False}) == 1.0


@pytest.mark.parametrize("make, kind, text", [
    (lambda tf, t: tf.cond(True, lambda: t, lambda: t), TypeError, "pred must not be a Python bool"),
    (lambda tf, t: tf.cond(t > 0, 1, lambda: t), TypeError, "true_fn must be callable"),
    (lambda tf, t: tf.cond(t > 0, lambda: None, lambda: t), ValueError, "true_fn must have a return value"),
    (lambda tf, t: tf.cond(t > 0, lambda: t, lambda: None), ValueError, "false_fn must have a return value"),
    (lambda tf, t: tf.cond(t > 0, lambda: t, lambda: 1), ValueError, "must have the same type: float32, int32"),
    (lambda tf, t: tf.cond(t > 0, lambda: (t, t), lambda: [t, t]), TypeError, "same nested structure"),
    (lambda tf, t: tf.cond(t > 0, lambda: {"a": t}, lambda: {"b": t}), ValueError, "same set of keys"),
    (lambda tf, t: tf.cond(t > 0, list, list), ValueError, "at least one result"),
    (lambda tf, t: tf.cond([t > 0], lambda: t, lambda: t), ValueError, "rank 0"),
    (lambda tf, t: tf.cond(t, lambda: t, lambda: t), TypeError, "does not match expected type of bool"),
    (lambda tf, t: tf.cond(t > 0), TypeError, "true_fn argument required"),
    (lambda tf, t: tf.case([(True, lambda: t)]), TypeError, "pred must be a Tensor"),
    (lambda tf, t: tf.case([(t > 0, 1)]), TypeError, "must be callable"),
    (lambda tf, t: tf.case([1]), TypeError, "must be a 2-tuple"),
    (lambda tf, t: tf.case(1), TypeError, "must be a list, tuple, or dict"),
])
def test_wrong_arguments(tf, make, kind, text):
    with pytest.raises(kind, match=text):
        make(tf, tf.constant(1.0))


def test_only_the_taken_branch_has_effects(tf, run):
    v, w = tf.Variable(0), tf.Variable(0)
    p = tf.placeholder(tf.bool, [])
    y = tf.cond(p, lambda: tf.assign_add(v, 1), lambda: tf.assign_add(w, 10))
    with tf.control_dependencies([y]):
        both = [v.read_value(), w.read_value()]
    assert run(both, {p: True}, times=3) == [3, 0]
    assert run(both, {p: False}, times=2) == [0, 20]


def test_an_uninitialised_variable_matters_only_where_it_is_read(tf):
    v = tf.Variable(3.0)
    p = tf.placeholder(tf.bool, [])
    y = tf.cond(p, lambda: v * 2.0, lambda: tf.constant(-1.0))
    for jit in ("off", "always"):
        with tf.Session(jit=jit) as session:
            assert session.run(y, {p: False}) == -1.0
            with pytest.raises(tf.errors.FailedPreconditionError, match="Variable"):
                session.run(y, {p: True})
            session.run(v.initializer)
            assert session.run(y, {p: True}) == 6.0


def test_a_branch_sees_what_was_written_before_it(tf, run):
    v = tf.Variable(1.0)
    wrote = tf.assign(v, 4.0)
    with tf.control_dependencies([wrote]):
        y = tf.cond(tf.constant(True), lambda: v * 2.0, lambda: tf.constant(0.0))
    assert run(y) == 8.0


def test_control_dependencies_on_what_is_outside(tf, run):
    v = tf.Variable(1.0)
    add = tf.assign_add(v, 5.0)

    def branch():
        with tf.control_dependencies([add]):
            return v.read_value()

    assert run(tf.cond(tf.constant(True), branch, lambda: tf.constant(0.0))) == 6.0


def test_variables_made_in_a_branch(tf, run):
    y = tf.cond(tf.constant(True), lambda: tf.get_variable("w", [2], initializer=tf.ones_initializer()) * 2.0,
                lambda: tf.zeros([2]))
    assert [v.name for v in tf.global_variables()] == ["w:0"]
    assert run(y).tolist() == [2, 2]


def test_a_variable_from_the_value_of_another(tf, run):
    v = tf.Variable([1.0, 2.0])
    w = tf.Variable(v.initialized_value() * 2.0)
    assert run(w).tolist() == [2, 4]


def test_errors_inside_name_the_node(tf, run):
    x = tf.placeholder(tf.float32, [])
    y = tf.cond(x > 0, lambda: tf.check_numerics(tf.log(-x), "bad", name="checker"), lambda: x)
    with pytest.raises(tf.errors.InvalidArgumentError, match="cond/checker"):
        run(y, {x: 1.0})


def test_the_result_is_not_in_memory_that_is_used_again(tf):
    x = tf.placeholder(tf.float32, [3])
    p = tf.placeholder(tf.bool, [])
    y = tf.cond(p, lambda: x, lambda: tf.Print(x * 2.0, []))
    with tf.Session(jit="always") as session:
        fed = np.ones(3, np.float32)
        first, second = session.run(y, {x: fed, p: True}), session.run(y, {x: fed, p: False})
        session.run(y, {x: fed * 7, p: False})
        fed[:] = 9
        assert first.tolist() == [1, 1, 1] and second.tolist() == [2, 2, 2]


def test_case_takes_the_first_that_holds(tf, run):
    x = tf.placeholder(tf.int32, [])
    pairs = [(x < 0, lambda: -x), (x < 5, lambda: x * 10), (x < 9, lambda: x * 100)]
    y = tf.case(pairs, default=lambda: tf.constant(-1))
    assert [run(y, {x: k}) for k in (-2, 3, 7, 50)] == [2, 30, 700, -1]
    assert run(tf.case({x < 0: lambda: x, x > 0: lambda: x * 2}, exclusive=True), {x: 4}) == 8
    with pytest.raises(tf.errors.InvalidArgumentError, match="None of conditions"):
        run(tf.case(pairs), {x: 50})
    with pytest.raises(tf.errors.InvalidArgumentError, match="more than 1 conditions"):
        run(tf.case(pairs, default=lambda: x, exclusive=True), {x: -1})


def test_switch_case(tf, run):
    k = tf.placeholder(tf.int32, [])
    y = tf.switch_case(k, {1: lambda: tf.constant(11), 0: lambda: tf.constant(10)}, default=lambda: tf.constant(-1))
    assert [run(y, {k: n}) for n in (0, 1, 2, -5)] == [10, 11, -1, -1]
    assert run(tf.switch_case(k, [lambda: k * 2, lambda: k * 3]), {k: 7}) == 21
    with pytest.raises(ValueError, match="contiguous"):
        tf.switch_case(k, {0: lambda: k, 2: lambda: k})


def test_smart_cond_decides_now_where_it_can(tf):
    smart = tf.contrib.framework.smart_cond
    assert smart(True, lambda: "yes", lambda: "no") == "yes"
    assert smart(tf.constant(False), lambda: "yes", lambda: "no") == "no"
    made = smart(tf.placeholder(tf.bool, []), lambda: tf.constant(1), lambda: tf.constant(2))
    assert made.op.type == "Identity"
    with pytest.raises(TypeError):
        smart("x", lambda: 1, lambda: 2)


@pytest.mark.parametrize("use_resource", [False, True])
def test_effects_happen_where_the_result_is_only_captured(tf, use_resource):
    """TensorFlow 1.15: 3 (v = 1), 6 (v = 11), True (v = 12, one element), and a loop and a map of the same functions."""
    v = tf.Variable(0.0, use_resource=use_resource)
    queue = tf.FIFOQueue(9, tf.float32)
    choice, x = tf.placeholder_with_default(True, []), tf.constant(3.0)

    def add_one():
        with tf.control_dependencies([v.assign_add(1.0)]):
            return tf.identity(x)

    def add_ten():
        with tf.control_dependencies([v.assign_add(10.0)]):
            return x * 2.0

    def add_and_enqueue():
        with tf.control_dependencies([v.assign_add(1.0), queue.enqueue(x)]):
            return tf.no_op()

    first, second = tf.cond(choice, add_one, lambda: x), tf.cond(choice, add_ten, add_one)
    third = tf.cond(choice, add_and_enqueue, tf.no_op)
    loop = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, add_ten()), (0, 0.0))[1]
    mapped = tf.map_fn(lambda e: add_one() * e, tf.ones([3]))
    with tf.Session() as sess:
        sess.run(v.initializer)
        found = [(sess.run(t), sess.run(v)) for t in (first, second, third, loop)]
        assert found == [(3.0, 1.0), (6.0, 11.0), (True, 12.0), (6.0, 42.0)]
        assert sess.run(mapped).tolist() == [3.0, 3.0, 3.0] and sess.run(v) == 45.0
        assert sess.run(queue.size()) == 1
        assert not sess.run(third, {choice: False})


def test_switch_case_names_and_index_dtype(tf, run):
    index = tf.placeholder(tf.int32, [])
    chosen = tf.switch_case(index, {1: lambda: tf.constant(2), 0: lambda: tf.constant(1)},
                            default=lambda: tf.constant(5))
    assert chosen.name == "switch_case/indexed_case/Identity:0"
    assert [run(chosen, {index: k}) for k in (0, 1, 7, -3)] == [1, 2, 5, 5]
    with pytest.raises(TypeError, match="branch_index must be an integer Tensor"):
        tf.switch_case(tf.constant(1.0), [lambda: tf.constant(1)])


def test_constants_that_do_not_suit_a_branch_matter_only_if_it_runs(tf):
    masks, size = tf.random_uniform([15, 60, 40]), tf.constant([50, 100])
    wrong = tf.placeholder_with_default(False, [])
    y = tf.cond(wrong, lambda: tf.reshape(masks, [-1, size[0], size[1]]), lambda: tf.zeros([15, 50, 100]))
    assert y.shape.as_list() == [None, None, None]
    with tf.Session() as session:
        assert session.run(y).shape == (15, 50, 100)
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(y, {wrong: True})


@pytest.mark.parametrize("jit", ["off", "auto", "always"])
def test_a_branch_that_uses_a_constant_from_outside_fails_as_its_operation_says(tf, jit):
    size, index, x = tf.constant([2, 3]), tf.placeholder(tf.int32, []), tf.placeholder(tf.float32, [None])
    found = tf.cond(tf.placeholder_with_default(True, []), lambda: tf.gather(tf.reshape(x, size), index), lambda: tf.zeros([3]))
    with tf.Session(jit=jit) as session:
        for _ in range(3):
            assert session.run(found, {x: range(6), index: 1}).tolist() == [3.0, 4.0, 5.0]
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices = 2 is not in \[0, 2\)"):
            session.run(found, {x: range(6), index: 2})
        with pytest.raises(tf.errors.InvalidArgumentError, match="Input to reshape is a tensor with 5 values"):
            session.run(found, {x: range(5), index: 0})


def test_branches_and_loops_are_the_graph_around_to_what_programs_keep_by_the_graph(tf):
    graph, seen = tf.get_default_graph(), []
    kept = weakref.WeakKeyDictionary({graph: "around"})

    def looks(x):
        here = tf.get_default_graph()
        seen.append((here == graph, graph == here, here != graph, graph != here, kept[here], here in {graph}))
        kept[here] = "inside"
        return x

    tf.cond(tf.placeholder(tf.bool), lambda: tf.map_fn(looks, tf.ones([2])), lambda: looks(tf.ones([2])))
    assert seen == [(True, True, False, False, "around", True), (True, True, False, False, "inside", True)]
    assert kept[graph] == "inside"
    tf.data.Dataset.range(3).map(lambda x: (seen.append(tf.get_default_graph() in {graph}), x)[1])
    assert seen[-1] is False                # a function that is called as one is a graph of its own


def test_several_branches_have_names_of_their_own_in_a_graph_file(tf):
    y = tf.placeholder(tf.int32, [])
    for k in range(3):
        y = tf.cond(y > k, lambda y=y: y * 2, lambda y=y: y + 1)
    graph_def = tf.get_default_graph().as_graph_def()
    with tf.Graph().as_default():
        x, y = tf.import_graph_def(graph_def, return_elements=["Placeholder:0", y.name])
        with tf.Session() as session:
            assert [session.run(y, {x: k}) for k in (0, 1, 2)] == [3, 8, 16]


@pytest.mark.parametrize("make", [
    lambda tf: tf.cond(tf.constant(True), lambda: tf.reshape(tf.zeros([3]), [2]), lambda: tf.zeros([2])),
    lambda tf: tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, tf.reshape(tf.zeros([3]), [2])), [0, tf.zeros([2])]),
    lambda tf: tf.map_fn(lambda x: tf.reshape(x, [2]), tf.zeros([4, 3])),
    lambda tf: tf.function(lambda x: tf.reshape(x, [2]))(tf.zeros([3])),
    lambda tf: tf.data.Dataset.from_tensors(tf.zeros([3])).map(lambda x: tf.reshape(x, [2])),
])
def test_a_constant_of_a_branch_or_loop_itself_is_looked_at(tf, make):
    with pytest.raises(ValueError, match=r"Cannot reshape a tensor with 3 elements to shape \[2\] \(2 elements\)"):
        make(tf)


def test_rows_that_a_condition_of_another_length_would_choose(tf):
    with pytest.raises(ValueError, match=r"Dimension 0 in both shapes must be equal, but are 3 and 2. Shapes are \[3\] and \[2\]"):
        tf.where(tf.zeros([3], tf.bool), tf.zeros([2, 3]), tf.zeros([2, 3]))


@pytest.mark.parametrize("build, known", [
    (lambda tf: tf.equal(tf.constant("train"), tf.constant("train")), True),
    (lambda tf: tf.equal(tf.constant("train"), "test"), False),
    (lambda tf: tf.reduce_all(tf.constant([3.0, 4.0]) > 3.5), False),
    (lambda tf: tf.random_uniform([]) < 2.0, None),
    (lambda tf: tf.placeholder_with_default(True, []), None),
    (lambda tf: tf.Variable(True, trainable=False).value(), None)])
def test_what_follows_from_constants_is_chosen_while_the_graph_is_built(tf, build, known):
    predicate = build(tf)
    assert tf.contrib.framework.smart_constant_value(predicate) is known
    tf.contrib.framework.smart_cond(predicate, lambda: tf.constant(1), lambda: tf.constant(2))
    made = {op.type for op in tf.get_default_graph().get_operations()}
    assert bool(made & {"If", "StatelessIf"}) == (known is None), made


@pytest.mark.parametrize("build", [
    lambda tf, p: tf.cond(p, lambda: tf.constant(1), lambda: tf.constant(2)),
    lambda tf, p: tf.cond(p, lambda: tf.random_uniform([]), lambda: tf.constant(2.0)),
    lambda tf, p: tf.cond(tf.constant(1) > 0, lambda: tf.cond(p, lambda: tf.constant(1), lambda: tf.constant(2)),
                          lambda: tf.constant(3)),
    lambda tf, p: tf.case([(p, lambda: tf.constant(1))], default=lambda: tf.constant(2)),
    lambda tf, p: tf.while_loop(lambda i: tf.logical_and(i < 3, p), lambda i: i + 1, [0]),
    lambda tf, p: tf.raw_ops.Merge(inputs=list(tf.raw_ops.Switch(data=tf.constant(1), pred=p))).output])
@pytest.mark.parametrize("jit", ["off", "always"])
def test_a_predicate_of_unknown_rank_must_be_a_scalar_when_it_runs(tf, monkeypatch, build, jit):
    monkeypatch.setenv("JITGRAPH_JIT", jit)
    predicate = tf.placeholder(tf.bool)
    result = build(tf, predicate)
    with tf.Session() as session:
        for wrong in ([True], [[False]], [True, False], []):
            with pytest.raises(tf.errors.InvalidArgumentError):
                session.run(result, {predicate: wrong})
        session.run(result, {predicate: True})


@pytest.mark.parametrize("first, second, both", [
    ("int32", "int32", "int32"), ("int32", "int64", "int64"), ("int64", "int32", "int64")])
def test_indices_of_slices_are_widened_where_branches_differ(tf, first, second, both):
    predicate = tf.placeholder(tf.bool)
    shape = tf.constant([3, 2])
    slices = tf.cond(predicate, lambda: tf.IndexedSlices(tf.ones([1, 2]), tf.constant([0], first), shape),
                     lambda: tf.IndexedSlices(tf.ones([2, 2]), tf.constant([1, 2], second), shape))
    assert slices.indices.dtype == both
    with tf.Session() as session:
        dense = [session.run(tf.convert_to_tensor(slices), {predicate: holds})[:, 0].tolist() for holds in (True, False)]
        assert dense == [[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]]


@pytest.mark.parametrize("resource", [False, True])
def test_variables_decide_where_tensorflow_lets_them(tf, resource):
    """tf.cond, loops, tf.Assert and layers take a variable for its value; what asks for a Tensor by name takes none."""
    yes, no = (tf.Variable(value, use_resource=resource) for value in (True, False))
    one, two, index = lambda: 1.0, lambda: 2.0, tf.Variable(1, use_resource=resource)
    loop = tf.while_loop(lambda i: yes, lambda i: i + 1, [0], maximum_iterations=3)
    dropped = tf.layers.dropout(tf.ones([2]), 1 - 1e-9, training=no)
    with tf.control_dependencies([tf.Assert(yes, [yes]), tf.assert_equal(index, 1)]):
        chosen = [tf.cond(yes, one, two), tf.cond(no, one, two), tf.case([(no.read_value(), one)], default=two)]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run([chosen, loop]) == [[1.0, 2.0, 2.0], 3]
        assert session.run(dropped).tolist() == [1.0, 1.0]
    framework = tf.contrib.framework
    for build, message in [
            (lambda: tf.case([(yes, one)], default=two), "pred must be a Tensor, got: <tf.Variable"),
            (lambda: tf.case({yes: one, no: two}, exclusive=True), "pred must be a Tensor, got: <tf.Variable"),
            (lambda: tf.case([(tf.constant(1), one)], default=two), "pred must be Tensor of type bool: Const"),
            (lambda: tf.switch_case(index, [one, two]), "branch_index must be a Tensor, got <class"),
            (lambda: framework.smart_cond(yes, one, two), "`pred` must be a Tensor, or a Python bool, or 1 or 0"),
            (lambda: framework.smart_case([(yes, one)], default=two), "pred must be a Tensor or bool, got: <tf.Variable")]:
        with pytest.raises(TypeError, match=re.escape(message)):
            build()
