"""Where the time of a run goes: every kernel with its bytes and arithmetic, and nothing counted twice."""
import numpy as np
import pytest

from jitgraph.runtime import explain, recording


def test_a_product_and_a_map(tf):
    x, w = tf.placeholder(tf.float32, [None, 64]), tf.Variable(tf.ones([64, 32]))
    y = tf.nn.relu(tf.matmul(x, w) + 1.0)
    with tf.Session(jit="always") as session:
        session.run(tf.global_variables_initializer())
        session.run(y, {x: np.ones((5, 64))})
        found = session.explain(y, {x: np.ones((16, 64))}, runs=3)      # another batch size than was compiled for
    product, = (line for line in found.lines if line.name.startswith("matmul"))
    assert product.operations == ["MatMul"] and product.calls == 3
    assert product.flops == 3 * 2 * 16 * 64 * 32
    assert product.bytes == 3 * 4 * (16 * 64 + 64 * 32 + 16 * 32)
    rest, = (line for line in found.lines if line is not product)
    assert rest.operations == ["add", "Relu"] and rest.flops == 3 * 2 * 16 * 32 and rest.bytes == 3 * 4 * 2 * 16 * 32
    assert 0 < sum(line.seconds for line in found.lines) <= found.seconds
    assert "MatMul" in str(found) and "around them" in str(found)


def test_kernels_inside_a_loop_are_not_counted_with_the_loop_again(tf):
    w = tf.constant(np.eye(40, dtype=np.float32))
    y = tf.while_loop(lambda i, a: i < 10, lambda i, a: (i + 1, tf.matmul(a, w)), (0, tf.ones([40, 40])))[1]
    with tf.Session(jit="always") as session:
        found = session.explain(y, runs=2)
    assert next(line for line in found.lines if line.name.startswith("matmul")).calls == 20
    assert sum(line.seconds for line in found.lines) <= found.seconds


def test_limits_are_measured_once():
    bandwidth, peak = explain.limits()
    assert bandwidth > 1e8 and peak > 1e8 and explain.limits() is explain.limits()


@pytest.mark.parametrize("jit", ["always", "off"])
def test_all_runs_of_a_program(tf, jit):
    recording.record()
    v = tf.Variable(tf.zeros([100]))
    step = v.assign_add(tf.ones([100]))
    with tf.Session(jit=jit) as session:
        session.run(v.initializer)
        for _ in range(4):
            session.run(step)
    found = {one.title: one for one in recording.recorded()}
    assert found["run AssignAdd"].runs == 4 and not recording.active()
