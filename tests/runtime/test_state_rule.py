"""The state rule: accesses to a variable happen in the order in which they were made, in all modes and all runs."""
import itertools

import numpy as np
import pytest

MODES = pytest.mark.parametrize("jit", ["off", "always", "auto"])
KINDS = pytest.mark.parametrize("use_resource", [False, True])


@pytest.fixture
def runs(tf):
    """runs(jit, fetches, variables, feed=None): what two runs in a row give: [(values, variables after the run), ...]."""
    def _runs(jit, fetches, variables, feed=None):
        with tf.Session(jit=jit) as session:
            session.run(tf.global_variables_initializer())
            return [(session.run(fetches, feed), [v.tolist() for v in session.run(variables)]) for _ in range(2)]

    return _runs


def scatters(tf, v):
    rows = tf.IndexedSlices(tf.constant([7.0, 8.0]), tf.constant([0, 1]), tf.constant([4]))
    found = [getattr(tf, f"scatter_{kind}")(v, [0, 1], [7.0, 8.0]) for kind in ("update", "add", "sub", "mul", "div", "min", "max")]
    found += [getattr(tf, f"scatter_nd_{kind}")(v, [[0], [1]], [7.0, 8.0]) for kind in ("update", "add", "sub")]
    found += [v[0:2].assign([7.0, 8.0])]
    optimizers = [tf.train.GradientDescentOptimizer, tf.train.AdagradOptimizer, tf.train.FtrlOptimizer, tf.train.AdamOptimizer,
                  tf.train.RMSPropOptimizer, tf.train.AdadeltaOptimizer, tf.train.ProximalAdagradOptimizer,
                  tf.train.ProximalGradientDescentOptimizer]
    return found + [make(0.5).apply_gradients([(rows, v)]) for make in optimizers] \
        + [tf.train.MomentumOptimizer(0.5, 0.5).apply_gradients([(rows, v)])]


@MODES
@KINDS
def test_an_assignment_after_a_scatter_is_the_last(tf, runs, jit, use_resource):
    v = tf.Variable([1.0, 2.0, 3.0, 4.0], use_resource=use_resource)
    for scatter in scatters(tf, v):
        with tf.control_dependencies([scatter]):
            clear = tf.assign(v, tf.zeros([4])).op
        assert runs(jit, clear, [v]) == [(None, [[0.0] * 4])] * 2, scatter.name


@MODES
@KINDS
def test_a_branch_reads_what_a_scatter_wrote(tf, runs, jit, use_resource):
    v, yes = tf.Variable([1.0, 2.0], use_resource=use_resource), tf.placeholder(tf.bool, [])
    with tf.control_dependencies([tf.scatter_update(v, [1], [5.0])]):
        y = tf.cond(yes, lambda: v * 2.0, lambda: v * 3.0)
    assert [x.tolist() for x, _ in runs(jit, y, [v], {yes: True})] == [[2.0, 10.0]] * 2


@MODES
@KINDS
def test_a_scatter_of_its_own_value(tf, runs, jit, use_resource):
    v = tf.Variable([1.0, 2.0, 3.0, 4.0], use_resource=use_resource)
    places = tf.Variable([1, 2, 3, 0], use_resource=use_resource)
    turn = tf.scatter_update(v, [1, 2, 3, 0], v.read_value()).op
    assert [x for _, (x,) in runs(jit, turn, [v])] == [[4.0, 1.0, 2.0, 3.0], [3.0, 4.0, 1.0, 2.0]]
    turn = tf.scatter_nd_update(v, [[0], [1]], v[2:4]).op
    assert runs(jit, turn, [v])[0][1] == [[3.0, 4.0, 3.0, 4.0]]
    inverse = tf.scatter_update(places, places.read_value(), tf.reverse(places, [0])).op
    assert runs(jit, inverse, [places])[0][1] == [[1, 0, 3, 2]]


@MODES
@KINDS
def test_what_was_read_outside_stays_inside_of_what_writes(tf, runs, jit, use_resource):
    v, yes = tf.Variable([1.0, 2.0], use_resource=use_resource), tf.placeholder(tf.bool, [])
    x = v.read_value()

    def written():
        with tf.control_dependencies([tf.assign(v, [10.0, 20.0])]):
            return tf.identity(x)

    def body(k):
        with tf.control_dependencies([tf.assign_add(v, x)]):
            return k + 1

    def element(e):
        with tf.control_dependencies([tf.assign_add(v, x)]):
            return e * x

    branch = tf.cond(yes, written, lambda: x)
    assert runs(jit, branch, [v], {yes: True})[0][0].tolist() == [1.0, 2.0]
    loop = tf.while_loop(lambda k: k < 2, body, [0])
    assert [x for _, (x,) in runs(jit, loop, [v])] == [[3.0, 6.0], [9.0, 18.0]]
    mapped = tf.map_fn(element, tf.constant([1.0, 2.0]))
    assert runs(jit, mapped, [v])[0][0].tolist() == [[1.0, 2.0], [2.0, 4.0]]


@MODES
@pytest.mark.parametrize("resources", list(itertools.product([False, True], repeat=2)))
def test_explicit_reads_swap(tf, runs, jit, resources):
    a, b = (tf.Variable(x, use_resource=r) for x, r in zip((1.0, 2.0), resources))
    read_a, read_b = a.read_value(), b.read_value()
    swap = tf.group(tf.assign(a, read_b), tf.assign(b, read_a))
    assert [x for _, x in runs(jit, swap, [a, b])] == [[2.0, 1.0], [1.0, 2.0]]


@MODES
@KINDS
def test_only_the_read_that_comes_with_a_variable_has_no_time(tf, runs, jit, use_resource):
    v = tf.Variable([1.0, 2.0], use_resource=use_resource)
    before, same, view = v.read_value(), tf.identity(v), tf.reshape(v, [2, 1])
    with tf.control_dependencies([tf.assign_add(v, [1.0, 1.0])]):
        found = [tf.identity(before), tf.identity(same), tf.reshape(view, [2]), v + 0.0, v.read_value()]
    assert [x.tolist() for x in runs(jit, found, [v])[0][0]] == [[1.0, 2.0]] * 3 + [[2.0, 3.0]] * 2


@MODES
def test_explicit_reads_of_an_imported_graph(tf, runs, jit):
    a, b = tf.Variable(1.0, name="a"), tf.Variable(2.0, name="b")
    read_a, read_b = a.read_value(), b.read_value()
    swap = tf.group(tf.assign(a, read_b), tf.assign(b, read_a), name="swap")
    initialize = tf.global_variables_initializer()
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(swap.graph.as_graph_def(), name="other")
        with tf.Session(jit=jit) as session:
            session.run("other/" + initialize.name)
            for expected in ([2.0, 1.0], [1.0, 2.0]):
                session.run("other/swap")
                assert session.run(["other/a:0", "other/b:0"]) == expected
    assert graph.get_operation_by_name("other/a/read").type == "Identity"


def test_a_reference_may_be_assigned_for_its_value(tf, runs):
    a, b = tf.Variable([1.0]), tf.Variable([2.0])
    both = tf.assign(a, tf.assign(b, [5.0]))
    for jit in ("off", "always", "auto"):
        assert runs(jit, both.op, [a, b])[1] == (None, [[5.0], [5.0]])


@KINDS
def test_partial_runs_and_callables_obey_it(tf, use_resource):
    a, b = (tf.Variable(x, use_resource=use_resource) for x in (1.0, 2.0))
    x = tf.placeholder(tf.float32, [])
    read_a, read_b = a.read_value(), b.read_value()
    add = tf.assign_add(a, x)
    swap = [tf.assign(a, read_b).op, tf.assign(b, read_a).op]
    with tf.control_dependencies(swap):
        done = tf.identity(x)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        call = session.make_callable([done, a, read_a, add.op], [x])
        assert call(10.0)[:3] == [10.0, 1.0, 1.0] and session.run([a, b]) == [2.0, 1.0]
        assert call(10.0)[:3] == [10.0, 2.0, 2.0] and session.run([a, b]) == [1.0, 2.0]
        handle = session.partial_run_setup([done, a, read_b], [x])
        assert session.partial_run(handle, [done, a, read_b], {x: 10.0}) == [10.0, 1.0, 2.0]
        assert session.run([a, b]) == [2.0, 1.0]


def test_views_of_a_variable_do_not_follow_it(tf):
    """In NumPy a reshape or a transpose is the variable's own memory, which an assignment changes."""
    v = tf.Variable(np.arange(6.0).reshape(2, 3))
    views = [tf.reshape(v, [6]), tf.transpose(v), v[::-1], tf.expand_dims(v, 0), tf.squeeze(v), tf.split(v, 3, 1)[0],
             tf.unstack(v)[1], tf.stop_gradient(v), tf.gather(v, [0, 1]), tf.diag_part(v[:2, :2])]
    with tf.control_dependencies([tf.assign(v, tf.zeros([2, 3], tf.float64))]):
        after = [tf.identity(view) for view in views]
    with tf.Session(jit="off") as session:
        session.run(v.initializer)
        expected = session.run(views)
        for found, want in zip(session.run(after), expected):
            np.testing.assert_array_equal(found, want)


@MODES
@KINDS
def test_gradients_through_reads_of_what_a_function_writes(tf, runs, jit, use_resource):
    """y * 2 * 3 with the values that v had at each read, though it has another one when the gradient is computed."""
    v, x, yes = tf.Variable(1.0, use_resource=use_resource), tf.placeholder(tf.float32, []), tf.placeholder(tf.bool, [])

    def body(k, y):
        with tf.control_dependencies([tf.assign_add(v, 1.0)]):
            now = v.read_value()
        return k + 1, y * now

    y = tf.while_loop(lambda k, y: k < 2, body, [0, x])[1]
    assert [found for found, _ in runs(jit, [y, tf.gradients(y, x)[0]], [v], {x: 5.0})] == [[30.0, 6.0], [100.0, 20.0]]
    y = tf.cond(yes, lambda: body(0, x * x)[1], lambda: x)
    assert runs(jit, [y, tf.gradients(y, x)[0]], [v], {x: 5.0, yes: True})[0][0] == [50.0, 20.0]


@MODES
@KINDS
def test_reads_in_loops_over_scalars(tf, runs, jit, use_resource):
    v, outer = tf.Variable(2.0, use_resource=use_resource), tf.Variable(3.0, use_resource=use_resource)
    before = outer.read_value()
    loop = tf.while_loop(lambda k, y: k < 4, lambda k, y: (k + 1, y * v.read_value() + v + before), [0, 1.0])[1]
    with tf.control_dependencies([loop]):
        change = [tf.assign_add(v, 1.0).op, tf.assign(outer, 0.0).op]
    first, second = runs(jit, [loop, *change], [v, outer])
    assert (first[0][0], first[1]) == (91.0, [3.0, 0.0]) and (second[0][0], second[1]) == (201.0, [4.0, 0.0])


# counts: scalars, whole numbers or such as are not trained, that a run writes and that are fetched themselves

@MODES
@pytest.mark.parametrize("dtype", ["int32", "int64", "float32"])
def test_a_step_that_is_fetched_beside_its_update_is_the_one_after_it(tf, jit, dtype):
    step, v = tf.Variable(0, trainable=False, dtype=dtype), tf.Variable([1.0, 2.0])
    train = tf.train.GradientDescentOptimizer(0.5).minimize(tf.reduce_sum(v * v), global_step=step)
    with tf.Session(jit=jit) as session:
        session.run(tf.global_variables_initializer())
        taken, steps = 0, 0
        while steps < 5:
            _, found = session.run([train, {"step": step}])
            steps, taken = found["step"], taken + 1
        assert taken == 5 and steps.dtype == dtype
        assert session.run([step, step.name, train]) == [6, 6, None]
        assert session.make_callable([train, step])()[1] == 7
        assert session.run([train, step], options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE),
                           run_metadata=tf.RunMetadata())[1] == 8
        assert session.run(step) == 8


@MODES
def test_only_a_count_that_is_fetched_itself_is_read_after_the_run(tf, jit):
    step, real, many = tf.Variable(0), tf.Variable(0.0), tf.Variable([0, 0])
    before, read = step + 0, step.read_value()
    updates = [tf.assign_add(step, 1).op, tf.assign_add(real, 1.0).op, tf.assign_add(many, [1, 1]).op]      # real is trained
    with tf.Session(jit=jit) as session:
        session.run(tf.global_variables_initializer())
        for k in range(3):
            found = session.run([step, before, read, step.value(), real, many, updates])
            assert [x.tolist() for x in found[:-1]] == [k + 1, k, k, k, k, [k, k]]
        assert session.run([step, updates], {step: 50})[0] == 50


@MODES
def test_a_count_is_read_after_what_a_branch_or_a_later_segment_does(tf, jit):
    step, x, yes = tf.Variable(0), tf.placeholder(tf.float32, [None]), tf.placeholder(tf.bool, [])
    found = tf.boolean_mask(x, x > 0.0)
    with tf.control_dependencies([tf.reduce_sum(tf.unique(found)[0])]):
        first = tf.cond(yes, lambda: tf.assign_add(step, 1), lambda: tf.assign_add(step, 10))
    with tf.control_dependencies([first]):
        last = tf.assign(step, step * 2)
    with tf.Session(jit=jit) as session:
        session.run(step.initializer)
        for k in range(3):
            assert session.run([step, last.op], {x: [1.0, -1.0, 2.0][:k + 1], yes: True})[0] == [2, 6, 14][k]
        assert session.run([last.op, step], {x: [1.0], yes: False})[1] == 48


def test_a_count_in_a_run_of_several_calls(tf):
    step = tf.Variable(5)
    more = tf.assign_add(step, tf.placeholder(tf.int32, [], name="by"))
    with tf.Session() as session:
        session.run(step.initializer)
        handle = session.partial_run_setup([step, more], ["by:0"])
        assert session.partial_run(handle, [step, more], {"by:0": 3}) == [8, 8]
        with pytest.raises(tf.errors.FailedPreconditionError, match="ninitialized"):
            tf.Session().run([tf.Variable(1), step, more], {"by:0": 3})
