"""A large gradient that only changes a variable is made when there is room for it."""
import numpy as np
import pytest

from jitgraph import compiler
from jitgraph.compiler.options import Options

WIDE, OUT, LAYERS, ROWS = 2048, 1024, 4, 256


def network(tf):
    """Layers that keep 2 MB each for their gradients, then one with 8 MB of weights, whose gradient is made first."""
    tf.set_random_seed(3)
    x = tf.placeholder(tf.float32, [ROWS, WIDE])
    h = x
    for k in range(LAYERS):
        h = tf.sin(h * tf.get_variable(f"scale{k}", [WIDE]))
    pooled = tf.reduce_mean(tf.reshape(h, [4, ROWS // 4, WIDE]), 1)
    w = tf.get_variable("w", [WIDE, OUT])
    loss = tf.reduce_sum(tf.square(tf.matmul(pooled, w)))
    return x, w, loss, tf.train.MomentumOptimizer(0.01, 0.9).minimize(loss)


def compiled(tf, fetches, targets, x, *off):
    return compiler.compile(tf.get_default_graph(), fetches, targets, {x: x.shape.as_list()}, options=Options(off=frozenset(off)))


def place_of_large_gradient(program):
    """Which step changes `w`, and how many come after it."""
    names = [[slot.key.name if slot.kind == "variable" else "" for slot in (program.layout.slots[s] for s in step[1])]
             for step in program.layout.steps]
    number, = (k for k, found in enumerate(names) if "w/Momentum" in found)
    return number, len(names) - number - 1


def most(program):
    """Bytes in use where most are."""
    temps = [(int(np.prod([int(d) for d in s.value.shape])) * 4, s.first, s.last) for s in program.layout.slots if s.kind == "temp"]
    return max(sum(size for size, first, last in temps if first <= k <= last) for k in range(len(program.layout.steps)))


def test_it_is_made_last(tf):
    x, _, loss, train = network(tf)
    on, off = (compiled(tf, [loss], [train], x, *off) for off in ((), ("late_gradients",)))
    assert place_of_large_gradient(on)[1] == 0 < place_of_large_gradient(off)[1]
    assert most(on) <= most(off) - 4 * 2**20


def test_the_results_are_the_same(tf, monkeypatch):
    x, w, loss, train = network(tf)
    value, found = np.random.RandomState(0).standard_normal(x.shape).astype(np.float32), []
    for without in ("", "late_gradients"):
        monkeypatch.setenv("JITGRAPH_WITHOUT", without)
        with tf.Session(jit="always") as session:
            session.run(tf.global_variables_initializer())
            found.append([session.run([loss, train], {x: value})[0] for _ in range(3)] + [session.run(w)])
    for a, b in zip(*found):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("jit", ["always", "off"])
def test_a_read_after_the_update_sees_it(tf, jit):
    x, w, _, train = network(tf)
    with tf.control_dependencies([train]):
        after = tf.reduce_sum(w.read_value())
    with tf.Session(jit=jit) as session:
        session.run(tf.global_variables_initializer())
        seen = session.run(after, {x: np.ones(x.shape.as_list())})
        np.testing.assert_allclose(seen, session.run(w).sum(dtype=np.float64), rtol=1e-3)


def test_a_read_before_the_update_does_not(tf):
    x, w, loss, train = network(tf)
    with tf.Session(jit="always") as session:
        session.run(tf.global_variables_initializer())
        before = session.run(w)
        with tf.control_dependencies([loss]):
            read = w + 0
        seen, _ = session.run([read, train], {x: np.ones(x.shape.as_list())})
        assert np.array_equal(seen, before) or np.array_equal(seen, session.run(w))     # not half of each
