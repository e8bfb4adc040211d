"""The memory of a GPU as nodes; a CPU has no such count, in TensorFlow either."""
import pytest


def test_a_cpu_does_not_tell(tf):
    stats = tf.contrib.memory_stats
    found = [stats.BytesInUse(), stats.BytesLimit(), stats.MaxBytesInUse()]
    assert [t.name for t in found] == ["BytesInUse:0", "BytesLimit:0", "MaxBytesInUse:0"]
    assert all((t.dtype, t.shape.as_list()) == (tf.int64, []) for t in found)
    with tf.Session() as session:
        for one in found:
            with pytest.raises(tf.errors.InvalidArgumentError, match="No OpKernel was registered"):
                session.run(one)


def test_a_gpu_tells(tf, monkeypatch):
    monkeypatch.setenv("JITGRAPH_TARGET", "cuda-simulator")
    stats = tf.contrib.memory_stats
    v = tf.Variable(tf.ones([1000]))
    with tf.Session(jit="always") as session:
        session.run(v.initializer)
        assert session.run(tf.reduce_sum(v * 2.0)) == 2000.0
        used, limit, most = session.run([stats.BytesInUse(), stats.BytesLimit(), stats.MaxBytesInUse()])
    assert 0 <= used <= most <= limit and most >= 4000
