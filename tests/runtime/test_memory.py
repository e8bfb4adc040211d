"""Memory of runs: temporaries of all sizes share arenas, runs at the same time do not."""
import threading
import tracemalloc

import numpy as np
import pytest

from jitgraph.runtime.memory import Arenas, Arrangements, address_of


def chain(tf):
    """A program with temporaries: products cannot be fused."""
    x = tf.placeholder(tf.float32, [None, 64])
    w = tf.constant(np.random.RandomState(0).standard_normal((64, 64)).astype(np.float32) / 8)
    return x, tf.matmul(tf.tanh(tf.matmul(x, w)), w)


def compiled_of(session):
    (plan,) = session.plans
    return next(iter(plan.segment.bindings.values())).compiled


def test_batches_of_all_sizes_use_one_arena(tf):
    x, y = chain(tf)
    with tf.Session(jit="always") as session:
        for rows in (40, 90, 33, 64, 91, 40):
            feed = np.random.RandomState(rows).standard_normal((rows, 64)).astype(np.float32)
            w = np.random.RandomState(0).standard_normal((64, 64)).astype(np.float32) / 8
            np.testing.assert_allclose(session.run(y, {x: feed}), np.tanh(feed @ w) @ w, rtol=1e-4, atol=1e-5)
        compiled = compiled_of(session)
        assert len(compiled.arenas.idle) == 1
        assert len(compiled.arenas.idle[0][0]) < 2 * 91 * 64 * 4 + (1 << 13)


def test_runs_at_the_same_time_have_arenas_of_their_own(tf):
    x, y = chain(tf)
    wanted, failures = {}, []
    with tf.Session(jit="always") as session:
        for rows in (70, 300, 900):
            wanted[rows] = session.run(y, {x: np.full([rows, 64], rows / 100, np.float32)})

        def work(rows):
            for _ in range(200):
                got = session.run(y, {x: np.full([rows, 64], rows / 100, np.float32)})
                if not np.array_equal(got, wanted[rows]):
                    failures.append(rows)

        threads = [threading.Thread(target=work, args=(rows,)) for rows in wanted]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures
        assert 1 <= len(compiled_of(session).arenas.idle) <= 3


def test_an_arena_is_given_out_once():
    arenas = Arenas()
    first, second = arenas.take(1000), arenas.take(1000)
    assert first[1] != second[1] and all(a[1] == address_of(a[0]) and a[1] % 64 == 0 for a in (first, second))
    arenas.give(first)
    assert arenas.take(500) is first
    arenas.give(first)
    assert len(arenas.take(len(first[0]) + 1)[0]) > len(first[0])
    assert arenas.idle == [], "the small one was given up"
    assert len(arenas.take(0)[0]) > 0


def test_what_fits_into_an_arrangement_takes_it():
    lives = [(0, 1), (1, 2), (2, 3)]
    arrangements = Arrangements(lives)
    first, total = arrangements.offsets([640, 128, 640])
    assert (first, total) == ([0, 640, 0], 768)
    assert arrangements.offsets([600, 100, 640]) == (first, total) and len(arrangements.known) == 1
    grown, more = arrangements.offsets([600, 129, 640])         # reaches into the next place
    assert more == 640 + 192 and len(arrangements.known) == 2
    assert arrangements.offsets([600, 129, 640]) == (grown, more)
    _, least = arrangements.offsets([64, 64, 64])           # would leave most of it empty
    assert least == 128 and len(arrangements.known) == 3


def test_random_sizes_need_few_arrangements_in_which_nothing_overlaps():
    random = np.random.RandomState(0)
    begins = random.randint(0, 40, 30)
    lives = [(int(f), int(f + random.randint(0, 9))) for f in begins]
    scale = random.randint(1, 200, 30)
    arrangements = Arrangements(lives)
    made = set()
    for rows in random.randint(50, 100, 200):
        sizes = [int(rows * k) for k in scale]
        offsets, total = arrangements.offsets(sizes)
        made.add(id(offsets))
        for i, (begin, end) in enumerate(lives):
            assert offsets[i] + sizes[i] <= total
            for j in range(i):
                apart = lives[j][1] < begin or end < lives[j][0]
                assert apart or offsets[i] + sizes[i] <= offsets[j] or offsets[j] + sizes[j] <= offsets[i]
    assert len(made) < 10


def test_addresses_are_those_that_numpy_says():
    whole = np.arange(24, dtype=np.int16).reshape(4, 6)
    for array in (whole, whole[1:, ::2], whole[:0], np.array(1.0), np.float32(2), np.ma.array([1, 2]), whole.T):
        assert address_of(array) == array.__array_interface__["data"][0]


@pytest.fixture
def most():
    """most(call): the most bytes that were taken at once while `call` ran, beside what was there before."""
    def _most(call):
        tracemalloc.start()
        try:
            call()
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    return _most


@pytest.mark.parametrize("jit", ["always", "off"])
def test_a_loop_copies_nothing_of_what_it_only_reads(tf, most, jit):
    weights = tf.Variable(np.full((500, 500), 1e-3, np.float32))
    _, found = tf.while_loop(lambda i, a: i < 4, lambda i, a: (i + 1, tf.matmul(a, weights)), [0, tf.ones([1, 500])])
    with tf.Session(jit=jit) as session:
        session.run(weights.initializer)
        for _ in range(2):
            session.run(found)
        assert most(lambda: session.run(found)) < weights.shape.num_elements() * 4 / 2


def test_starting_variables_takes_no_memory_beside_theirs(tf, most):
    for _ in range(8):
        tf.Variable(np.ones((300, 300), np.float32))
    with tf.Session() as session:
        init = tf.global_variables_initializer()
        session.run(tf.no_op())
        assert most(lambda: session.run(init)) < 8.5 * 300 * 300 * 4
