"""The two compilers of kernels, the translator of our own and Numba, give the same bits."""
import numpy as np
import pytest

from jitgraph.compiler import show
from jitgraph.compiler.options import COMPILERS

from . import test_golden


def ran_by(tf, compiler, build, seed=0):
    """The bytes of what a program fetches, and of its variables after it, in a graph of its own."""
    with tf.Graph().as_default() as graph:
        fetches, targets = build()
        fed = [op.outputs[0] for op in graph.get_operations() if op.type == "Placeholder"]
        random = np.random.RandomState(seed)
        feeds = {t: (random.standard_normal([37 if d is None else d for d in t.shape.as_list()]) * 3).astype(t.dtype.as_numpy_dtype)
                 for t in fed}
        feeds.update({t: np.abs(array) for t, array in feeds.items() if t.dtype.is_integer})
        with tf.Session(jit="always", compiler=compiler) as session:
            session.run(tf.global_variables_initializer())
            for _ in range(2):
                found = session.run([fetches, targets], feeds)[0]
            return [np.asarray(a).tobytes() for a in [*found, *session.run(tf.global_variables())]]


@pytest.mark.parametrize("name", sorted(test_golden.CASES))
def test_golden_programs(tf, name):
    """The second run of each, from the store or not, on whatever sizes."""
    build = test_golden.CASES[name]
    direct, by_numba = (ran_by(tf, compiler, build) for compiler in COMPILERS)
    assert direct == by_numba and any(map(any, direct))


def network(tf):
    """A step of training through convolutions, pooling, batch normalisation, a loop over scalars and Adam."""
    x = tf.placeholder(tf.float32, [4, 8, 8, 3])
    w, v = (tf.Variable(np.random.RandomState(k).standard_normal(shape).astype("f") / 3)
            for k, shape in enumerate([(3, 3, 3, 8), (128, 5)]))
    y = tf.nn.relu(tf.nn.fused_batch_norm(tf.nn.conv2d(x, w, 1, "SAME"), tf.ones([8]), tf.zeros([8]))[0])
    y = tf.matmul(tf.reshape(tf.nn.max_pool(y, 2, 2, "SAME"), [4, 128]), v)
    loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits_v2(labels=tf.one_hot([0, 1, 2, 3], 5), logits=y))
    rate = tf.while_loop(lambda k, r: k < 3, lambda k, r: (k + 1, r * 0.5), [0, 0.1])[1]
    return [loss, tf.erf(y), tf.exp(y), tf.sin(y)], [tf.train.AdamOptimizer(rate).minimize(loss)]


def test_a_step_of_training(tf):
    direct, by_numba = (ran_by(tf, compiler, lambda: network(tf)) for compiler in COMPILERS)
    assert direct == by_numba


def test_it_is_chosen_by_the_session_or_the_environment(tf, monkeypatch):
    def compiler_of(session):
        monkeypatch.setattr(show, "_recorded", None)
        show.record()
        session.run(tf.random_uniform([3]) * 2.0)
        return {signature["compiler"] for signature in show.recorded()}

    assert compiler_of(tf.Session(jit="always")) == {"direct"}
    assert compiler_of(tf.Session(jit="always", compiler="numba")) == {"numba"}
    monkeypatch.setenv("JITGRAPH_COMPILER", "numba")
    assert compiler_of(tf.Session(jit="always")) == {"numba"}
    assert compiler_of(tf.Session(jit="always", compiler="direct")) == {"direct"}
    monkeypatch.setenv("JITGRAPH_COMPILER", "gcc")
    with pytest.raises(ValueError, match="JITGRAPH_COMPILER is one of direct, numba, not 'gcc'"):
        tf.Session()
    monkeypatch.delenv("JITGRAPH_COMPILER")
    with pytest.raises(ValueError, match=r"compiler must be one of direct, numba, not 'gcc' \(Session\(compiler=...\)\)"):
        tf.Session(compiler="gcc")
