"""A program for a target with a memory of its own: what it has a form for runs there, all else on the host, with copies between."""

import threading

import numpy as np
import pytest

from jitgraph.compiler import TARGETS, compile
from jitgraph.compiler.place import CopyStep, DeviceStep, HostStep
from jitgraph.compiler.targets import HOST, cuda
from jitgraph.compiler.verify import verify

RNG = np.random.RandomState(0)


def ways(tf, monkeypatch, fetches, feeds, runs=1):
    """What two sessions give in their last run, one for the CPU and one on the simulated grid."""
    found = []
    for target in ("cpu", "cuda-simulator"):
        monkeypatch.setenv("JITGRAPH_TARGET", target)
        with tf.Session(jit="always") as session:
            session.run(tf.global_variables_initializer())
            for _ in range(runs):
                values = session.run(fetches, feeds)
            launched = [step for plan in session.plans for c in plan.compiled for step in c.launches]
            assert bool(launched) == (target != "cpu")
        found.append(values)
    return found


def steps_of(tf, fetches, feeds):
    """The steps of the plan for the CUDA target."""
    program = compile(tf.get_default_graph(), fetches, feeds={t: a.shape for t, a in feeds.items()}, target=TARGETS["cuda"])
    return program.layout.steps


@pytest.mark.parametrize("build", [
    lambda tf, x: tf.exp(x) * 2.0 + tf.transpose(x),
    lambda tf, x: tf.nn.softmax(x),
    lambda tf, x: tf.argmax(x, 1),
    lambda tf, x: tf.concat([x, x[::-1] * 2.0], 0),
    lambda tf, x: tf.gather(x, [[2, 0], [1, 1]]) + 1.0,
    lambda tf, x: tf.matmul(tf.tanh(x), x) + 1.0,
    lambda tf, x: tf.cumsum(x * 2.0) - 1.0,
    lambda tf, x: tf.boolean_mask(x, x[:, 0] > 0) * 3.0,
    lambda tf, x: tf.cond(tf.reduce_sum(x) > 0, lambda: tf.exp(x), lambda: tf.sin(x)) * 2.0,
    lambda tf, x: tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, tf.sqrt(a + tf.reduce_max(x))), [0, x * x])[1]])
def test_values_are_those_of_the_cpu(tf, monkeypatch, build):
    x = tf.placeholder(tf.float32, [None, 6])
    here, there = ways(tf, monkeypatch, build(tf, x), {x: RNG.standard_normal((6, 6))})
    np.testing.assert_array_equal(here, there)


def test_sums_are_those_of_the_cpu_but_for_rounding(tf, monkeypatch):
    x = tf.placeholder(tf.float32, [None, None])
    fetches = [tf.reduce_sum(x), tf.reduce_mean(x, 0), tf.reduce_sum(x, 1)]
    for here, there in zip(*ways(tf, monkeypatch, fetches, {x: RNG.standard_normal((40, 33))}), strict=True):
        np.testing.assert_allclose(here, there, rtol=1e-6, atol=1e-6)


def test_training_changes_the_variables_of_the_host(tf, monkeypatch):
    x, y = tf.placeholder(tf.float32, [None, 5]), tf.placeholder(tf.int32, [None])
    w, b = tf.Variable(tf.ones([5, 3]) * 0.1), tf.Variable(tf.zeros([3]))
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(logits=tf.matmul(x, w) + b, labels=y))
    with tf.control_dependencies([tf.train.AdamOptimizer(0.1).minimize(loss)]):
        after = [tf.identity(v.read_value()) for v in (w, b)]
    feeds = {x: RNG.standard_normal((4, 5)), y: [0, 1, 2, 1]}
    for here, there in zip(*ways(tf, monkeypatch, after, feeds, runs=3), strict=True):
        np.testing.assert_allclose(here, there, rtol=1e-5, atol=1e-6)


def test_a_failed_check_names_the_operation(tf, monkeypatch):
    monkeypatch.setenv("JITGRAPH_TARGET", "cuda-simulator")
    i = tf.placeholder(tf.int32, [None])
    picked = tf.gather(tf.sqrt(tf.placeholder_with_default([1.0, 2.0], [None])), i, name="picked") * 2.0
    with tf.Session(jit="always") as session:
        assert session.run(picked, {i: [1]}).tolist() == [np.float32(np.sqrt(np.float32(2.0))) * 2]
        with pytest.raises(tf.errors.InvalidArgumentError, match="picked"):
            session.run(picked, {i: [2]})


def test_runs_of_several_threads_lose_no_update(tf, monkeypatch):
    monkeypatch.setenv("JITGRAPH_TARGET", "cuda-simulator")
    v = tf.Variable(tf.zeros([40]))
    more = tf.assign_add(v, tf.ones([40])).op
    with tf.Session(jit="always") as session:
        session.run(v.initializer)
        threads = [threading.Thread(target=lambda: [session.run(more) for _ in range(5)]) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert (session.run(v) == 20).all()


def test_the_plan_shows_what_runs_where(tf):
    """tanh and the sum on the device, the inverse on the host, each value copied once."""
    x = tf.placeholder(tf.float32, [8, 8])
    steps = steps_of(tf, [tf.matrix_inverse(tf.tanh(x)) * 2.0], {x: np.ones((8, 8), np.float32)})
    said = ["copy" if isinstance(s, CopyStep) else "device" if isinstance(s, DeviceStep) else "host" for s in steps]
    assert said == ["copy", "device", "copy", "host", "copy", "device", "copy"]
    assert [(s.source, s.to) for s in steps if isinstance(s, CopyStep)] == [(HOST, 0), (0, HOST), (HOST, 0), (0, HOST)]


def test_a_value_that_stays_on_the_device_is_not_copied(tf):
    x = tf.placeholder(tf.float32, [8, 8])
    scaled = tf.tanh(x) / tf.reduce_sum(tf.exp(x))
    steps = steps_of(tf, [scaled], {x: np.ones((8, 8), np.float32)})
    copies = [s for s in steps if isinstance(s, CopyStep)]
    assert [(s.source, s.to) for s in copies] == [(HOST, 0), (0, HOST)] and len(steps) > 3


def test_a_program_with_nothing_for_the_device_copies_nothing(tf):
    x = tf.placeholder(tf.string, [2])
    steps = steps_of(tf, [tf.string_join([x, x])], {x: np.array([b"a", b"b"], object)})
    assert all(isinstance(s, HostStep) for s in steps)


def test_a_target_that_there_is_not(tf, monkeypatch):
    monkeypatch.setenv("JITGRAPH_TARGET", "abacus")
    with pytest.raises(ValueError, match="JITGRAPH_TARGET is one of cpu, cuda, cuda-simulator, not 'abacus'"):
        tf.Session()


def test_the_host_may_read_a_variable_that_a_device_has_changed(tf):
    """The runtime brings it along, so no copy stands in the plan, and the plan is right without one."""
    x = tf.placeholder(tf.float32, [4, 4])
    v = tf.Variable(tf.ones([4, 4]))
    y = tf.py_func(lambda a: a, [tf.assign_add(v, tf.exp(x))], tf.float32)
    program = compile(tf.get_default_graph(), [y], feeds={x: (4, 4)}, target=TARGETS["cuda"], until="transfer")
    verify(program, "transfer")
    slots = program.layout.slots
    assert not [s for s in program.layout.steps if isinstance(s, CopyStep) and slots[s.slot].kind == "variable"]


def test_devices_of_operations_keep_their_kernels_apart(tf):
    """Two elementwise operations that would be one kernel are two on two devices, with a copy between."""
    x = tf.placeholder(tf.float32, [64])
    with tf.device("/gpu:0"):
        y = tf.exp(x)
    with tf.device("/gpu:1"):
        z = tf.sqrt(y)
    program = compile(tf.get_default_graph(), [z], feeds={x: (64,)}, target=cuda(ordinals=(0, 1)))
    assert [s.device for s in program.layout.steps if isinstance(s, DeviceStep)] == [0, 1]
    assert (0, 1) in [(s.source, s.to) for s in program.layout.steps if isinstance(s, CopyStep)]
    program = compile(tf.get_default_graph(), [z], feeds={x: (64,)}, target=cuda(ordinals=(0,)))
    assert [s.device for s in program.layout.steps if isinstance(s, DeviceStep)] == [0]
