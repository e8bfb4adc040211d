"""Many iterations of a loop are one native call, and nothing but the time tells it from one iteration at a time."""
import threading

import numpy as np
import pytest

from jitgraph.runtime import functions, iterations

RNG = np.random.RandomState(0)


@pytest.fixture
def calls(monkeypatch):
    """How many iterations each native call makes."""
    found = []
    execute = iterations.Table.execute
    monkeypatch.setattr(iterations.Table, "execute", lambda table, values, taken, count, course: (
        found.append(count) or execute(table, values, taken, count, course)))
    return found


def recurrent(tf, x, steps):
    """A recurrent network: takes and stores elements; its gradient takes and stores them in lists."""
    w = tf.constant(np.float32(RNG.standard_normal((8, 8)) / 3))
    rows = tf.TensorArray(tf.float32, steps).unstack(x)

    def cell(t, h, c, out):
        h = tf.tanh(tf.matmul(h, w) + rows.read(t))
        return t + 1, h, c * 0.5 + h, out.write(t, c)

    start = tf.zeros_like(x[0])
    return tf.while_loop(lambda t, *_: t < steps, cell, (0, start, start, tf.TensorArray(tf.float32, steps)))


def network(tf, x):
    _, h, c, out = recurrent(tf, x, 12)
    rows = out.stack()
    loss = tf.reduce_sum(h * c) + tf.reduce_sum(rows)
    return [loss, rows, tf.gradients(loss, x)[0]]


def few_of_the_elements(tf, x):
    """Most elements that the loop stores have no gradient: it is zeros of a shape that only the run knows."""
    out = recurrent(tf, x, 12)[3]
    return [tf.gradients(tf.reduce_sum(out.gather([3, 7])), x)[0]]


def counting_down(tf, x):
    return tf.while_loop(lambda i, y: tf.logical_and(i > 3, i < 100), lambda i, y: (i - 2, y * 0.5 + x[0]), (31, x[1]))


def the_element_becomes_the_state(tf, x):
    rows = tf.TensorArray(tf.float32, 12).unstack(x)
    return tf.while_loop(lambda i, *_: i < 12, lambda i, before, y: (i + 1, rows.read(i), y + tf.exp(before)),
                         (0, x[0], tf.zeros_like(x[0])))


def what_was_before_is_stored(tf, x):
    def body(i, y, out):
        return i + 1, tf.sin(y) + 0.5, out.write(i, y)

    _, y, out = tf.while_loop(lambda i, *_: i < 12, body, (0, x[0], tf.TensorArray(tf.float32, 12)))
    return [y, out.stack()]


def what_is_stored_first_has_another_shape(tf, x):
    def body(i, y, out):
        return i + 1, tf.sin(x[0] + tf.cast(i, tf.float32)), out.write(i, y)

    out = tf.TensorArray(tf.float32, 12, infer_shape=False)
    any_rows = tf.TensorShape([None, 8])
    loop = tf.while_loop(lambda i, *_: i < 12, body, (0, x[0, :1], out),
                         shape_invariants=(tf.TensorShape([]), any_rows, tf.TensorShape(None)))
    return [loop[1], loop[2].concat()]


def an_element_is_stored_again(tf, x):
    rows = tf.TensorArray(tf.float32, 12, clear_after_read=False).unstack(x)

    def body(i, y, out):
        return i + 1, y + rows.read(i), out.write(11 - i, rows.read(i))

    _, y, out = tf.while_loop(lambda i, *_: i < 12, body, (0, x[0], tf.TensorArray(tf.float32, 12)))
    return [y, out.stack()]


def an_element_says_which_comes_next(tf, x):
    after = tf.TensorArray(tf.int32, 6, clear_after_read=False).unstack([3, 0, 5, 4, 2, 0])
    rows = tf.TensorArray(tf.float32, 12, clear_after_read=False).unstack(x)
    return tf.while_loop(lambda k, i, y: k < 10, lambda k, i, y: (k + 1, after.read(i), y * 0.9 + rows.read(i)), (0, 1, x[0]))


def kinds(tf, x):
    return tf.while_loop(lambda i, *_: i < 20, lambda i, odd, n, d, y: (
        i + 1, tf.logical_not(odd), n * 3 + tf.cast(i, tf.int64), d / 2, y + tf.cast(odd, tf.float32)),
        (0, True, tf.constant(1, tf.int64), tf.constant(1.0, tf.float64), x[0]))


def with_a_variable(tf, x):
    v = tf.get_variable("v", initializer=np.float32(RNG.standard_normal((4, 8))), use_resource=True)
    _, y = tf.while_loop(lambda i, y: i < 20, lambda i, y: (i + 1, y * 0.5 + v), (0, x[0]))
    return [y, tf.gradients(y, v)[0]]


def in_a_loop(tf, x):
    def outer(j, y):
        _, y = tf.while_loop(lambda i, y: i < 6, lambda i, y: (i + 1, tf.tanh(y + x[1])), (0, y))
        return j + 1, y * 1.5

    return tf.while_loop(lambda j, y: j < 4, outer, (0, x[0]))


PROGRAMS = [network, few_of_the_elements, counting_down, the_element_becomes_the_state, what_was_before_is_stored,
            what_is_stored_first_has_another_shape, an_element_is_stored_again, an_element_says_which_comes_next,
            kinds, with_a_variable, in_a_loop]


@pytest.mark.parametrize("batch", [4, None])
@pytest.mark.parametrize("program", PROGRAMS)
def test_results_are_those_of_one_iteration_at_a_time(tf, monkeypatch, calls, program, batch):
    x = tf.placeholder(tf.float32, [12, batch, 8])
    fetches, feed = program(tf, x), {x: np.float32(RNG.standard_normal((12, 4, 8)))}
    found = []
    for without in ("native_iterations", ""):
        monkeypatch.setenv("JITGRAPH_WITHOUT", without)
        with tf.Session(jit="always") as session:
            session.run(tf.global_variables_initializer())
            found.append([session.run(fetches, feed) for _ in range(3)])
        assert bool(calls) == (without == "")
    for runs in zip(*found):
        for one, many in zip(*runs):
            np.testing.assert_array_equal(one, many)
            assert one.dtype == many.dtype


@pytest.mark.parametrize("program", [network, few_of_the_elements])
def test_the_gradient_of_a_recurrent_network_is_native_whatever_the_batch(tf, calls, program):
    x = tf.placeholder(tf.float32, [12, None, 8])
    gradient, feed = program(tf, x)[-1], {x: np.float32(RNG.standard_normal((12, 4, 8)))}
    with tf.Session(jit="off") as session:
        wanted = session.run(gradient, feed)
    with tf.Session(jit="always") as session:
        np.testing.assert_allclose(session.run(gradient, feed), wanted, rtol=1e-5, atol=1e-6)
    assert len(calls) == 2          # the loop, and the loop of its gradient


@pytest.mark.parametrize("count", [0, 1, 2, 3, 255, 256, 257, 600])
def test_any_number_of_iterations(tf, calls, count):
    n = tf.placeholder(tf.int32, [])
    total = tf.while_loop(lambda i, _: i < n, lambda i, y: (i + 1, y + tf.cast(i, tf.float32)), (0, tf.zeros([3])))[1]
    with tf.Session(jit="always") as session:
        assert session.run(total, {n: count}).tolist() == [sum(range(count))] * 3
        calls.clear()           # the first iteration of all was one by itself: how many may be one call was not known
        assert session.run(total, {n: count}).tolist() == [sum(range(count))] * 3
    left = count % iterations.LONGEST
    assert calls == [iterations.LONGEST] * (count // iterations.LONGEST) + [left] * (left >= iterations.LEAST)


def test_no_more_memory_than_allowed_is_left_behind(tf, calls, monkeypatch):
    monkeypatch.setattr(iterations, "MEMORY", 5 * (4 * 1000 + 4))      # a row and an index
    out = tf.TensorArray(tf.float32, 20)
    out = tf.while_loop(lambda i, *_: i < 20, lambda i, y, a: (i + 1, y + 1.0, a.write(i, y)), (0, tf.zeros([1000]), out))[2]
    with tf.Session(jit="always") as session:
        rows = out.stack()
        for _ in range(2):
            calls.clear()
            assert session.run(rows)[:, 7].tolist() == list(range(20))
    assert calls == [5] * 4


def test_elements_of_another_shape_wait_for_their_own_plan(tf, calls):
    rows = tf.TensorArray(tf.float32, 20, infer_shape=False)
    for k in range(20):
        rows = rows.write(k, tf.ones([2 if k < 9 else 5]) * k)
    total = tf.while_loop(lambda i, _: i < 20, lambda i, y: (i + 1, y + tf.reduce_sum(rows.read(i))), (0, 0.0))[1]
    with tf.Session(jit="always") as session:
        for _ in range(2):
            calls.clear()
            assert session.run(total) == 2 * sum(range(9)) + 5 * sum(range(9, 20))
    assert calls == [9, 11]


def test_an_index_out_of_range_is_the_error_of_its_op(tf):
    rows = tf.TensorArray(tf.float32, 5, name="rows").unstack(tf.ones([5, 2]))
    total = tf.while_loop(lambda i, _: i < 9, lambda i, y: (i + 1, y + rows.read(i)), (0, tf.zeros([2])), name="far")[1]
    with tf.Session(jit="always") as session, pytest.raises(tf.errors.InvalidArgumentError, match="index 5.*") as caught:
        session.run(total)
    assert "far/TensorArrayReadV3" in str(caught.value)


@pytest.mark.parametrize("body, variables", [
    (lambda tf, i, y: (i + 1, y // (i - 30)), (0, 5)),                                              # may fail
    (lambda tf, i, y: (i + 1, y + tf.reshape(tf.py_func(lambda: np.int32(1), [], tf.int32), [])), (0, 5)),      # a host step
    (lambda tf, i, y: (i + tf.cast(tf.sqrt(1.0), tf.int32), y + 1), (0, 5)),                        # what counts is computed
])
def test_other_loops_go_one_by_one(tf, calls, body, variables):
    start = [tf.fill([1], variables[1]) if k else tf.constant(0) for k in range(2)]
    loop = tf.while_loop(lambda i, _: i < 20, lambda i, y: body(tf, i, y), start, shape_invariants=None)
    with tf.Session(jit="always") as session:
        assert session.run(loop)[0] == 20
    assert not calls


def test_results_stay_when_the_loop_runs_again(tf, calls):
    x = tf.placeholder(tf.float32, [300, 1000])
    rows = tf.TensorArray(tf.float32, 300).unstack(x)
    out = tf.TensorArray(tf.float32, 300, clear_after_read=False)
    _, y, out = tf.while_loop(lambda i, *_: i < 300, lambda i, y, a: (i + 1, y + rows.read(i), a.write(i, y)),
                              (0, tf.zeros([1000]), out))
    with tf.Session(jit="always") as session:
        held = [session.run([y, out.read(2), out.read(290)], {x: np.full((300, 1000), k)}) for k in range(4)]
    for k, (last, early, late) in enumerate(held):
        assert [set(last), set(early), set(late)] == [{300.0 * k}, {2.0 * k}, {290.0 * k}]


def test_loops_of_many_lengths_share_their_memory(tf, calls):
    n = tf.placeholder(tf.int32, [])
    out = tf.TensorArray(tf.float32, n)
    out = tf.while_loop(lambda i, *_: i < n, lambda i, y, a: (i + 1, y + 1.0, a.write(i, y)), (0, tf.zeros([1000]), out))[2]
    with tf.Session(jit="always") as session:
        rows = out.stack()
        for count in (5, 100, 77, 3, 128, 64):
            assert session.run(rows, {n: count})[:, 7].tolist() == list(range(count))
        loops = [caller for caller in session._state.functions.values() if hasattr(caller, "ahead")]
        pools = [pool for loop in loops for table in loop.ahead.tables.values() if table
                 for frame in table.binding.frames for pool in frame.blocks.values() if pool.shape[1:] == (1000,)]
    assert [pool.shape[0] for pool in pools] == [129] and len(pools[0].blocks) <= 2


def test_threads_run_one_loop_side_by_side(tf, calls):
    x = tf.placeholder(tf.float32, [12, 4, 8])
    fetches = network(tf, x)
    feeds = [np.float32(RNG.standard_normal((12, 4, 8))) for _ in range(4)]
    with tf.Session(jit="always") as session:
        wanted = [session.run(fetches, {x: feed}) for feed in feeds]
        wrong = []

        def work(feed, want):
            for _ in range(20):
                if any((a != b).any() for a, b in zip(session.run(fetches, {x: feed}), want)):
                    wrong.append(1)

        threads = [threading.Thread(target=work, args=pair) for pair in zip(feeds, wanted)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not wrong and len(calls) >= 8 * 21


def test_a_time_limit_ends_a_loop(tf, calls):
    y = tf.while_loop(lambda i, _: i < 10**9, lambda i, y: (i + 1, y * 1.5), (0, tf.ones([4])))[1]
    with tf.Session(jit="always") as session, pytest.raises(tf.errors.DeadlineExceededError):
        session.run(y, options=tf.RunOptions(timeout_in_ms=300))
    assert not calls


def test_an_interrupt_ends_one_native_call(tf, calls, interrupt):
    x = tf.zeros([1 << 20])
    y = tf.while_loop(lambda i, _: i < 10**9, lambda i, y: (i + 1, tf.sin(y) + 1.0), (0, x))[1]
    with tf.Session(jit="always") as session:
        interrupt(lambda: session.run(y))
    assert calls


def test_bodies_are_given_elements_as_kernels_read_them(tf, monkeypatch):
    """Rows of a transposed tensor lie apart in memory; kernels count on rows that lie one behind the other."""
    given: list = []
    run = functions.run_plan

    def watched(plan, feeds, compiled):
        given.extend(feeds)
        return run(plan, feeds, compiled)

    monkeypatch.setattr(functions, "run_plan", watched)
    square = np.arange(45, dtype=np.float32).reshape(3, 5, 3)
    y = tf.placeholder(tf.float32, [3, 5, 3])
    rows = tf.TensorArray(tf.float32, 5).unstack(tf.transpose(y, [1, 0, 2]))
    _, total = tf.while_loop(lambda k, _: k < 5, lambda k, t: (k + 1, tf.transpose(t * 2 + rows.read(k))), [0, tf.zeros([3, 3])])
    wanted = np.zeros([3, 3])
    for k in range(5):
        wanted = (wanted * 2 + square[:, k]).T
    with tf.Session(jit="off") as session:
        np.testing.assert_array_equal(session.run(total, {y: square}), wanted)
    assert [a for a in given if a.ndim == 2] and all(a.flags.c_contiguous for a in given)


@pytest.mark.slow
def test_weights_of_two_bidirectional_layers_with_dropout_receive_what_the_reference_says(tf):
    """The second layer's input is a transposed concatenation, and dropout keeps its gradient's loop from being native."""
    tf.set_random_seed(3)
    outputs = x = tf.placeholder(tf.float32, [None, 20, 256])
    for layer in range(2):
        with tf.variable_scope(f"layer_{layer}"):
            cells = [tf.nn.rnn_cell.DropoutWrapper(tf.nn.rnn_cell.BasicLSTMCell(256), output_keep_prob=0.5) for _ in range(2)]
            outputs = tf.concat(tf.nn.bidirectional_dynamic_rnn(*cells, outputs, dtype=tf.float32)[0], 2)
    gradients = tf.gradients(tf.reduce_sum(tf.square(outputs)), tf.trainable_variables())
    given, found = np.random.RandomState(0).randn(16, 20, 256), []
    for jit in ("off", "always"):
        with tf.Session(jit=jit) as session:
            session.run(tf.global_variables_initializer())
            found.append(session.run(gradients, {x: given}))
    for a, b in zip(*found):
        np.testing.assert_allclose(b, a, rtol=0, atol=1e-5 * np.abs(a).max())


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64"])
def test_numbers_that_count_are_left_to_the_host(tf, calls, dtype):
    """The body reads them, stores them and adds them up; one wraps around, as kernels let it."""
    step = tf.placeholder(dtype, [])

    def body(i, down, up, total, seen):
        return i + 1, down - 2, up + step, total + tf.cast(up, tf.float32), seen.write(i, down)

    loop = tf.while_loop(lambda i, *_: i < 20, body, (0, 40, tf.constant(100, dtype), tf.zeros([2]), tf.TensorArray(tf.int32, 20)))
    fetches = [*loop[:4], loop[4].stack()]
    found = []
    for jit in ("off", "always", "always"):
        with tf.Session(jit=jit) as session:
            found.append([session.run(fetches, {step: k}) for k in (3, 3, 7)])
    for runs in zip(*found):
        for one, *others in zip(*runs):
            assert all(other.dtype == one.dtype and np.array_equal(other, one) for other in others)
    assert found[0][0][1] == 0 and found[0][0][4].tolist() == [*range(40, 0, -2)]
    assert calls                    # not all of them one at a time


def test_the_body_computes_no_number_that_counts(tf):
    x = tf.placeholder(tf.float32, [8])
    loop = tf.while_loop(lambda i, k, _: i < 20, lambda i, k, y: (i + 1, k - 1, y * 0.5), (0, 3, x))
    with tf.Session(jit="always") as session:
        for _ in range(3):
            i, k, y = session.run(loop, {x: np.ones(8)})
        shown = str(session.explain(loop, {x: np.ones(8)}))
    assert (i, k) == (20, -17) and np.allclose(y, 0.5 ** 20)
    assert "map_mul" in shown and "map_add" not in shown and "map_sub" not in shown


def test_a_step_that_fails_for_numbers_fails_though_the_host_counts(tf):
    divisor = tf.placeholder(tf.int32, [])
    loop = tf.while_loop(lambda i, k, _: i < 9, lambda i, k, y: (i + 1, k + 12 // divisor, y * 0.5), (0, 0, tf.ones([8])))
    with tf.Session(jit="always") as session:
        assert session.run(loop, {divisor: 4})[1] == 27
        with pytest.raises(tf.errors.InvalidArgumentError, match="division by zero"):
            session.run(loop, {divisor: 0})
