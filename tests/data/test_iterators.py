"""What jitgraph promises of pipelines: compiled functions, threads that end, errors that name the line, graphs as files."""
import gc
import threading
import time

import numpy as np
import pytest

from .draining import drained

OTHERS = set()


@pytest.fixture(autouse=True)
def of_other_tests():
    """Threads of iterators that other tests have not given up yet."""
    OTHERS.clear()
    OTHERS.update(threading.enumerate())


def threads(name):
    """Those of this test."""
    return [thread for thread in threading.enumerate() if thread.name.startswith(name) and thread not in OTHERS]


def wait_until(holds, seconds=10):
    limit = time.monotonic() + seconds
    while not holds() and time.monotonic() < limit:
        gc.collect()
        time.sleep(0.01)
    return holds()


def test_a_function_is_compiled_once_for_all_elements_and_iterations(tf):
    dataset = tf.data.Dataset.range(200).map(lambda x: tf.sqrt(tf.to_float(x)) * 2.0 + 1.0)
    iterator = dataset.make_initializable_iterator()
    element = iterator.get_next()
    with tf.Session() as session:
        for _ in range(3):
            session.run(iterator.initializer)
            found = [session.run(element) for _ in range(200)]
            np.testing.assert_allclose(found, np.sqrt(np.arange(200, dtype=np.float32)) * 2 + 1, rtol=1e-6)
        delegates = [f for key, f in session._state.functions.items() if key[0] == "function of a dataset"]
        assert len(delegates) == 1 and len(delegates[0].plan.compiled) == 1 and delegates[0].plan.runs == 600


def test_shapes_that_vary_need_no_further_code(tf):
    rows = tf.data.Dataset.from_generator(lambda: (np.full(n, n) for n in range(1, 120)), tf.float32, [None])
    dataset = rows.map(lambda v: v * 2.0 + 1.0)
    iterator = dataset.make_initializable_iterator()
    element = iterator.get_next()
    with tf.Session(jit="always") as session:
        session.run(iterator.initializer)
        for n in range(1, 120):
            assert session.run(element).tolist() == [2.0 * n + 1] * n
        compiled = [len(f.plan.compiled) for key, f in session._state.functions.items() if key[0] == "function of a dataset"]
        assert max(compiled) <= 4


@pytest.mark.parametrize("jit", ["auto", "always", "off"])
def test_errors_in_functions_name_operation_and_line(tf, jit):
    dataset = tf.data.Dataset.from_tensor_slices([1, 0]).map(lambda x: tf.floordiv(6, x, name="shares"))
    element = dataset.make_one_shot_iterator().get_next()
    with tf.Session(jit=jit) as session:
        assert session.run(element) == 6
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            session.run(element)
    assert "shares" in str(caught.value) and "test_iterators.py" in str(caught.value) and caught.value.op.name == "shares"


def test_what_is_fetched_belongs_to_the_caller(tf):
    rows = np.arange(6.0).reshape(3, 2)
    for dataset in (tf.data.Dataset.from_tensor_slices(rows), tf.data.Dataset.from_tensor_slices(rows).cache(),
                    tf.data.Dataset.from_tensors(rows[0]).repeat(3), tf.data.Dataset.from_tensor_slices(rows).batch(2)):
        element = dataset.repeat(2).make_one_shot_iterator().get_next()
        with tf.Session() as session:
            first = session.run(element)
            first[...] = -1
            assert all((session.run(element) >= 0).all() for _ in range(3))


def test_fed_arrays_may_change_after_the_initializer_has_run(tf):
    held = np.arange(3)
    source = tf.placeholder(tf.int64, [None])
    iterator = tf.data.Dataset.from_tensor_slices(source).make_initializable_iterator()
    element = iterator.get_next()
    with tf.Session() as session:
        session.run(iterator.initializer, {source: held})
        held[:] = 7
        assert [session.run(element) for _ in range(3)] == [0, 1, 2]


def test_what_a_function_does_happens_though_nobody_asks_for_its_value(tf, capfd):
    called = []

    def plus_one(x):
        tf.Print(x, [x], "seen")
        tf.cond(x > 1, lambda: tf.py_func(lambda v: called.append(int(v)) or v, [x], tf.int64), lambda: x)
        return x + 1

    element = tf.data.Dataset.range(3).map(plus_one).make_one_shot_iterator().get_next()
    with tf.Session() as session:
        assert [session.run(element) for _ in range(3)] == [1, 2, 3]
    assert called == [2] and capfd.readouterr().err.split() == ["seen[0]", "seen[1]", "seen[2]"]


# -- threads

def test_prefetch_works_ahead_and_ends_with_the_session(tf):
    seen = []

    def note(value):
        seen.append(int(value))
        return value

    dataset = tf.data.Dataset.range(100).map(lambda x: tf.py_func(note, [x], tf.int64)).prefetch(5)
    element = dataset.make_one_shot_iterator().get_next()
    with tf.Session() as session:
        assert session.run(element) == 0
        assert wait_until(lambda: len(seen) == 6) and threads("jitgraph-prefetch")
        assert session.run(element) == 1 and wait_until(lambda: len(seen) == 7)
    assert wait_until(lambda: not threads("jitgraph-prefetch"))


def test_a_new_iteration_ends_the_threads_of_the_one_before(tf):
    iterator = tf.data.Dataset.range(100).prefetch(5).make_initializable_iterator()
    element = iterator.get_next()
    with tf.Session() as session:
        for _ in range(4):
            session.run(iterator.initializer)
            assert session.run(element) == 0
        assert wait_until(lambda: len(threads("jitgraph-prefetch")) == 1)
    assert wait_until(lambda: not threads("jitgraph-prefetch"))


def test_a_prefetch_inside_of_a_function_ends_when_its_dataset_is_over(tf):
    dataset = tf.data.Dataset.range(20).flat_map(lambda x: tf.data.Dataset.range(x).prefetch(2).take(1))
    assert drained(tf, tf.data.make_one_shot_iterator(dataset)) == [0] * 19
    assert wait_until(lambda: not threads("jitgraph-prefetch"))


def test_errors_come_through_a_prefetch_and_it_goes_on(tf):
    dataset = tf.data.Dataset.from_tensor_slices([1., 0., 2.]).map(lambda v: tf.check_numerics(1 / v, "bad")).prefetch(3)
    element = dataset.make_one_shot_iterator().get_next()
    with tf.Session() as session:
        assert session.run(element) == 1
        with pytest.raises(tf.errors.InvalidArgumentError, match="bad"):
            session.run(element)
        assert session.run(element) == 0.5


def test_parallel_calls_wait_side_by_side_and_keep_the_order(tf):
    present, most, lock = [0], [0], threading.Lock()

    def work(value):
        with lock:
            present[0] += 1
            most[0] = max(most[0], present[0])
        time.sleep(0.02 if value % 2 else 0.005)
        with lock:
            present[0] -= 1
        return value * 10

    dataset = tf.data.Dataset.range(12).map(lambda x: tf.py_func(work, [x], tf.int64), num_parallel_calls=4)
    assert drained(tf, tf.data.make_one_shot_iterator(dataset)) == [10 * k for k in range(12)]
    assert 2 <= most[0] <= 4 and wait_until(lambda: not threads("jitgraph-map"))


def test_errors_of_parallel_calls_come_in_order(tf):
    dataset = tf.data.Dataset.range(4).map(lambda x: tf.py_func(lambda v: 6 // (int(v) - 1), [x], tf.int64), num_parallel_calls=3)
    element = dataset.make_one_shot_iterator().get_next()
    with tf.Session() as session:
        assert session.run(element) == -6
        with pytest.raises(tf.errors.UnknownError, match="ZeroDivisionError"):
            session.run(element)
        assert [session.run(element) for _ in range(2)] == [6, 3]


def test_many_threads_share_an_iterator(tf):
    element = tf.data.Dataset.range(300).map(lambda x: x * 2).make_one_shot_iterator().get_next()
    found, lock = [], threading.Lock()
    with tf.Session() as session:

        def work():
            while True:
                try:
                    value = session.run(element)
                except tf.errors.OutOfRangeError:
                    return
                with lock:
                    found.append(int(value))

        workers = [threading.Thread(target=work) for _ in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    assert sorted(found) == list(range(0, 600, 2))


def test_a_waiting_run_ends_with_its_limit(tf):
    gate = threading.Event()
    dataset = tf.data.Dataset.range(3).map(lambda x: tf.py_func(lambda v: gate.wait(20) and v, [x], tf.int64)).prefetch(1)
    element = dataset.make_one_shot_iterator().get_next()
    with tf.Session() as session:
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(element, options=tf.RunOptions(timeout_in_ms=200))
        gate.set()


# -- graphs as files

def test_a_graph_with_a_pipeline_is_read_back(tf):
    shift = tf.constant(5, tf.int64)
    dataset = tf.data.Dataset.range(6).map(lambda x: x * 2 + shift).filter(lambda x: x > 6).batch(2)
    iterator = dataset.make_initializable_iterator()
    tf.identity(iterator.get_next(), name="result")
    definition = tf.get_default_graph().as_graph_def()
    initializer = iterator.initializer.name
    assert len(definition.library.function) == 2
    with tf.Graph().as_default():
        tf.import_graph_def(definition, name="")
        with tf.Session() as session:
            session.run(initializer)
            assert [session.run("result:0").tolist() for _ in range(3)] == [[7, 9], [11, 13], [15]]


def test_a_one_shot_iterator_is_read_back(tf):
    element = tf.data.Dataset.range(3).map(lambda x: x + 1).make_one_shot_iterator().get_next()
    definition = tf.get_default_graph().as_graph_def()
    with tf.Graph().as_default():
        found, = tf.import_graph_def(definition, return_elements=[element.name])
        with tf.Session() as session:
            assert [session.run(found) for _ in range(3)] == [1, 2, 3]


def test_importing_the_library_loads_no_pipelines():
    import subprocess
    import sys

    code = "import sys, jitgraph as tf; tf.constant(1); print([m for m in sys.modules if m.startswith('jitgraph.data')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr


def test_calls_that_wait_for_nothing_take_no_threads(tf):
    dataset = tf.data.Dataset.range(6).map(lambda x: x * 2 + 1, num_parallel_calls=4)
    following = dataset.make_one_shot_iterator().get_next()
    with tf.Session() as session:
        assert [int(session.run(following)) for _ in range(6)] == [1, 3, 5, 7, 9, 11]
        assert not threads("jitgraph-map")


@pytest.mark.parametrize("epochs", [None, 4])
def test_a_buffer_far_larger_than_its_dataset(tf, epochs):
    """It holds few epochs of it, from which the orders are those of any buffer that is large enough."""
    orders = []
    for buffer_size in (9, 10 ** 9):
        dataset = tf.data.Dataset.range(3).shuffle(buffer_size, seed=4).repeat(epochs).take(12)
        orders.append(drained(tf, dataset.make_one_shot_iterator()))
        assert sorted(orders[-1]) == [0] * 4 + [1] * 4 + [2] * 4
    assert orders[0] == orders[1]


@pytest.mark.parametrize("pipeline, count, expected", [
    (lambda of, D: of().take(2), 3, "open close"),
    (lambda of, D: of().take(2).repeat(2), 3, "open close open"),
    (lambda of, D: of().prefetch(2).take(2), 3, "open close"),
    (lambda of, D: D.zip((of(), D.range(2))), 3, "open close"),
    (lambda of, D: D.range(2).interleave(lambda _: of().take(2), 2), 5, "open open close close"),
    (lambda of, D: of().map(lambda x: x, num_parallel_calls=2).batch(2).take(2), 3, "open close"),
])
def test_a_generator_that_is_taken_from_no_more_is_closed(tf, pipeline, count, expected):
    log = []

    def numbers():
        log.append("open")
        try:
            yield from range(1000)
        finally:
            log.append("close")

    made = pipeline(lambda: tf.data.Dataset.from_generator(numbers, tf.int64), tf.data.Dataset)
    iterator = made.make_initializable_iterator()
    element = iterator.get_next()
    with tf.Session() as session:
        session.run(iterator.initializer)
        for _ in range(count):
            try:
                session.run(element)
            except tf.errors.OutOfRangeError:
                log.append("end")
        wait_until(lambda: log.count("close") == expected.count("close"))
        assert " ".join(one for one in log if one != "end") == expected
