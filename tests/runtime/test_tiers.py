"""Tiers: which code runs is decided by the run count and static facts, so training gives the same bits everywhere."""
import os
import subprocess
import sys

import numpy as np
import pytest

import jitgraph as tf
from jitgraph.runtime import tiers

TRAINING = """
import sys, numpy as np, jitgraph as tf
r = np.random.RandomState(0)
x, y = tf.placeholder(tf.float32, [None, 300]), tf.placeholder(tf.int32, [None])
w1 = tf.Variable(tf.truncated_normal([300, 400], stddev=0.1, seed=1)); b1 = tf.Variable(tf.zeros([400]))
w2 = tf.Variable(tf.truncated_normal([400, 10], stddev=0.1, seed=2)); b2 = tf.Variable(tf.zeros([10]))
logits = tf.matmul(tf.nn.relu(tf.matmul(x, w1) + b1), w2) + b2
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
step = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as s:
    s.run(tf.global_variables_initializer())
    for k in range(5):
        s.run([step, loss], {x: r.randn(257, 300), y: r.randint(0, 10, 257)})
    print(b"".join(v.tobytes() for v in s.run([w1, b1, w2, b2])).hex()[:4000], "numba" in sys.modules)
    import hashlib
    print(hashlib.sha256(b"".join(v.tobytes() for v in s.run([w1, b1, w2, b2]))).hexdigest())
"""


def train(store, threads, jit="auto"):
    environment = {**os.environ, "JITGRAPH_CACHE": str(store), "JITGRAPH_THREADS": str(threads), "JITGRAPH_JIT": jit}
    done = subprocess.run([sys.executable, "-c", TRAINING], env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_training_gives_the_same_bits_cold_and_warm_with_one_thread_and_two(tmp_path):
    cold = train(tmp_path / "s", 2)
    warm, single = train(tmp_path / "s", 2), train(tmp_path / "s", 1)
    assert cold == warm == single
    assert "False" in cold, "Numba was imported"


def test_always_gives_the_same_bits_cold_and_warm(tmp_path):
    assert train(tmp_path / "s", 2, "always").replace("True", "False") == train(tmp_path / "s", 1, "always")


@pytest.fixture
def plan():
    tf.reset_default_graph()
    x = tf.placeholder(tf.float32, [None])
    y = tf.exp(x) * 2.0

    def make(mode):
        session = tf.Session(jit=mode)
        session.run(y, {x: np.ones(3, "f")})
        return session, session.plans[0], lambda: session.run(y, {x: np.ones(3, "f")})
    return make


def test_auto_compiles_from_the_second_run_on(plan):
    _session, p, again = plan("auto")
    assert p.runs == 1
    before = len(p.segment.bindings)
    again()
    assert before == 0 and len(p.segment.bindings) == 1


def _first_run(fetch, feeds):
    """The plan of a session's first run of `fetch`."""
    with tf.Session(jit="auto") as session:
        session.run(tf.global_variables_initializer())
        session.run(fetch, feeds)
        return session.plans[-1]


@pytest.mark.parametrize("rows, waits", [(1 << 22, True), (1 << 10, False)])
def test_a_first_run_waits_for_kernels_where_the_reference_would_take_longer(rows, waits):
    tf.reset_default_graph()
    x = tf.placeholder(tf.float32, [None, 8])
    y = tf.reduce_sum(tf.nn.relu(x * 2.0 - 1.0) + x)
    plan = _first_run(y, {x: np.ones((rows, 8), "f")})
    assert plan.runs == 1 and plan.settled is waits


def test_what_is_only_handed_on_is_not_waited_for():
    """Nor what the host does in both tiers."""
    tf.reset_default_graph()
    v = tf.get_variable("v", [1 << 13, 1 << 13], initializer=tf.zeros_initializer())
    found = tf.py_func(lambda x: x[:1], [tf.identity(v)], tf.float32)
    found.set_shape([1, 1 << 13])
    assert not _first_run(found, {}).settled


@pytest.mark.parametrize("rows, waits", [(1 << 18, True), (1 << 10, False)])
def test_the_body_of_a_loop_counts_as_several(rows, waits):
    tf.reset_default_graph()
    x = tf.placeholder(tf.float32, [None, 8])
    _, y = tf.while_loop(lambda k, y: k < 2, lambda k, y: (k + 1, tf.nn.relu(y * 2.0 - 1.0) + x), [0, x])
    assert _first_run(tf.reduce_max(y), {x: np.ones((rows, 8), "f")}).settled is waits


def test_arithmetic_of_convolutions_counts_forward_and_backward():
    """8 images of 56 x 56 with 64 channels, 3 x 3: 1.85 G forward, as many for each gradient."""
    tf.reset_default_graph()
    x, w = tf.placeholder(tf.float32, [None, 56, 56, 64]), tf.placeholder(tf.float32, [3, 3, 64, 64])
    y = tf.nn.conv2d(x, w, 1, "SAME")
    gradients = tf.gradients(tf.reduce_sum(y * y), [x, w])
    once = 2.0 * 8 * 56 * 56 * 64 * 3 * 3 * 64
    assert [t.op.opdef.flops(t.op, 8) for t in (y, *gradients)] == [once] * 3
    d = tf.nn.depthwise_conv2d(x, tf.zeros([3, 3, 64, 2]), [1, 1, 1, 1], "SAME")
    assert d.op.opdef.flops(d.op, 8) == 2.0 * 8 * 56 * 56 * 128 * 3 * 3


def test_off_never_compiles(plan):
    _session, p, again = plan("off")
    again()
    assert not p.compiled and not p.segment.bindings


def test_always_compiles_at_once(plan):
    _session, p, _again = plan("always")
    assert len(p.segment.bindings) == 1


def test_initializers_are_not_compiled():
    tf.reset_default_graph()
    v = tf.Variable(tf.random_normal([100, 100], seed=1))
    tf.Variable(v.initialized_value() * 2.0)
    tf.get_variable("r", initializer=tf.zeros([2]), use_resource=True)
    for init, runs in ((tf.global_variables_initializer(), 2), (v.initializer, 10)):
        with tf.Session(jit="auto") as session:
            for _ in range(runs):
                session.run(init)
            assert not session.plans[0].compiled and session.plans[0].starts == runs


def test_an_initializer_that_draws_many_numbers_waits_for_kernels(monkeypatch):
    """BERT's 110 million take NumPy ten seconds, kernels a tenth of that; they draw the same."""
    tf.reset_default_graph()
    drawn = [tf.truncated_normal([300, 40], stddev=0.1, seed=1), tf.random_normal([70], seed=2), tf.random_uniform([9, 9], seed=3)]
    variables = [tf.Variable(value) for value in (*drawn, tf.zeros([5]))]
    found = []
    for patience, compiled in ((1.0, 0), (1e-3, 1)):
        monkeypatch.setattr(tiers, "PATIENCE", patience)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            assert len(session.plans[0].compiled) == compiled
            found.append(session.run(variables))
    for one, other in zip(*found):
        np.testing.assert_array_equal(one, other)


def test_what_restores_a_checkpoint_is_not_compiled(tmp_path):
    tf.reset_default_graph()
    tf.Variable(tf.ones([100]))
    saver = tf.train.Saver()
    with tf.Session(jit="auto") as session:
        session.run(tf.global_variables_initializer())
        path = saver.save(session, str(tmp_path / "model"))
        for _ in range(3):
            saver.restore(session, path)
        assert not session.plans[-1].compiled


@pytest.mark.parametrize("resource", [False, True])
def test_an_assignment_that_looks_at_variables_is_compiled(resource):
    """As the update of a target network, or a step of training by tf.assign: with no feeds, it looks like an initialiser."""
    tf.reset_default_graph()
    with tf.variable_scope("", use_resource=resource):
        v, target = (tf.get_variable(name, initializer=tf.fill([100], 2.0)) for name in "vt")
    slowly, fast = tf.assign(target, 0.5 * v + 0.5 * target), tf.assign(v, tf.exp(v * 0.5))
    with tf.Session(jit="auto") as session:
        session.run(tf.global_variables_initializer())
        for op in (slowly.op, fast.op, tf.group(slowly, fast)):
            for _ in range(4):
                session.run(op)
            plan = session.plans[-1]
            assert plan.settled and plan.compiled
        assert session.run(target)[0] > 2


def test_a_hundred_batch_sizes_compile_once():
    tf.reset_default_graph()
    x = tf.placeholder(tf.float32, [None, 7])
    y = tf.reduce_sum(tf.nn.softmax(x * 2.0), 0)
    with tf.Session(jit="always") as session:
        for n in range(2, 102):
            feed = np.random.RandomState(n).randn(n, 7).astype("f")
            e = np.exp(2 * feed.astype("d"))
            np.testing.assert_allclose(session.run(y, {x: feed}), (e / e.sum(1, keepdims=True)).sum(0), rtol=1e-5)
        (p,) = session.plans
        assert len(p.compiled) == 1


def test_equal_structures_share_one_kernel():
    tf.reset_default_graph()
    shapes = [[3 + k, 5] for k in range(30)]
    variables = [tf.get_variable(f"v{k}", s, initializer=tf.ones_initializer()) for k, s in enumerate(shapes)]
    gradients = [tf.placeholder(tf.float32, s) for s in shapes]
    step = tf.train.AdamOptimizer(0.1).apply_gradients(list(zip(gradients, variables)))
    with tf.Session(jit="always") as session:
        session.run(tf.global_variables_initializer())
        session.run(step, {g: np.ones(s, "f") for g, s in zip(gradients, shapes)})
        (compiled,) = session.plans[-1].compiled
        updates = [address for kernel, address in compiled.kernels if "sqrt" in kernel.name and len(kernel.params) > 4]
        assert len(updates) == 30 and len(set(updates)) == 1


def test_the_mode_is_checked(monkeypatch):
    with pytest.raises(ValueError, match="jit"):
        tf.Session(jit="sometimes")
    monkeypatch.setenv("JITGRAPH_JIT", "maybe")
    with pytest.raises(ValueError, match="JITGRAPH_JIT"):
        tf.Session()


def _failing_pick(x):
    return tf.gather(tf.constant([1, 2]), x)


@pytest.mark.parametrize("mode", ["off", "auto", "always"])
def test_what_only_control_edges_ask_for_is_left_out_in_every_run(mode):
    x = tf.placeholder(tf.int32, [])
    with tf.control_dependencies([_failing_pick(x)]):
        y = tf.constant(3)
    with tf.Session(jit=mode) as session:
        assert [session.run(y, {x: 7}) for _ in range(3)] == [3, 3, 3]
        with pytest.raises(tf.errors.InvalidArgumentError):     # a placeholder must be fed all the same
            session.run(y)


@pytest.mark.parametrize("mode", ["off", "auto", "always"])
@pytest.mark.parametrize("gate", [
    lambda x: tf.reshape(x, [7, 7]), lambda x: tf.matmul(x, x), lambda x: tf.concat([x, x[1:]], 1),
    lambda x: tf.argmax(x[:0], 0), lambda x: x[9],
], ids=["reshape", "matmul", "concat", "argmax", "slice"])
def test_what_is_left_out_is_not_checked_either(gate, mode):
    x = tf.placeholder(tf.float32, [None, None])
    with tf.control_dependencies([gate(x)]):
        y = tf.identity(x + 1)
    with tf.Session(jit=mode) as session:
        for _ in range(3):
            assert session.run(y, {x: np.zeros([2, 3], np.float32)}).tolist() == [[1, 1, 1], [1, 1, 1]]


@pytest.mark.parametrize("mode", ["off", "auto", "always"])
def test_what_an_operation_without_effects_waits_for_is_done(mode):
    v = tf.Variable(1)
    with tf.control_dependencies([tf.negative(v.assign_add(1))]):
        y = tf.constant(3)
    with tf.Session(jit=mode) as session:
        session.run(v.initializer)
        assert [session.run([y, v])[0] for _ in range(3)] == [3, 3, 3] and session.run(v) == 4


@pytest.mark.parametrize("mode", ["off", "auto", "always"])
def test_an_operation_that_is_run_for_itself_fails_in_every_run(mode):
    x = tf.placeholder(tf.int32, [])
    picked = _failing_pick(x)
    with tf.Session(jit=mode) as session:
        for _ in range(3):
            assert session.run([picked.op, x], {x: 1}) == [None, 1]
            with pytest.raises(tf.errors.InvalidArgumentError, match="indices = 7 is not in"):
                session.run(picked.op, {x: 7})
