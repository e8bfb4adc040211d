"""Slices at an index that only the run tells: on a device the kernel that reads it takes them, on the host they are views."""

import numpy as np
import pytest

RNG = np.random.default_rng(5)
TAKES = {"x[i]": lambda x, i: x[i], "x[:, i]": lambda x, i: x[:, i % 3], "x[..., i]": lambda x, i: x[..., i % 2],
         "x[new, i]": lambda x, i: x[None, i]}


@pytest.mark.parametrize("at", [0, 4, -1, -5])
@pytest.mark.parametrize("take", TAKES)
def test_one_index_is_a_gather(tf, on_the_grid, take, at):
    x, i = tf.placeholder(tf.float32, [5, 3, 2]), tf.placeholder(tf.int32, [])
    kernels = on_the_grid(TAKES[take](x, i) + 1.0, {x: RNG.standard_normal((5, 3, 2)), i: at})
    assert any(node.kind.name == "gather" for kernel in kernels for node in kernel.nodes)


def test_of_a_size_that_the_run_tells(tf, on_the_grid):
    x, i = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.int32, [])
    on_the_grid(x[i] + 1.0, {x: RNG.standard_normal((7, 3)), i: -7})


@pytest.mark.parametrize("at", [5, -6])
def test_out_of_bounds_is_told_as_the_reference_tells_it(tf, monkeypatch, at):
    monkeypatch.setenv("JITGRAPH_TARGET", "cuda-simulator")
    x, i = tf.placeholder(tf.float32, [5, 3]), tf.placeholder(tf.int32, [])
    with tf.Session(jit="always") as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match=f"slice index {at} of dimension 0 out of bounds"):
            session.run(x[i] + 1.0, {x: np.zeros((5, 3)), i: at})


@pytest.mark.parametrize("take", [lambda x, i: x[i:], lambda x, i: x[i:i + 2], lambda x, i: x[i, i], lambda x, i: x[i, 1:]])
def test_what_is_more_than_one_index_is_the_hosts(tf, monkeypatch, take):
    monkeypatch.setenv("JITGRAPH_TARGET", "cuda-simulator")
    x, i, fed = tf.placeholder(tf.float32, [5, 3]), tf.placeholder(tf.int32, []), RNG.standard_normal((5, 3)).astype(np.float32)
    with tf.Session(jit="always") as session:
        np.testing.assert_array_equal(session.run(take(x, i) + 1.0, {x: fed, i: 2}), take(fed, 2) + np.float32(1))


@pytest.mark.parametrize("shape, size, begin", [((5, 3), (2, 3), (3, 0)), ((5,), (1,), (4,)), ((2, 4, 3), (1, 2, 1), (1, 2, 2))])
def test_a_part_of_known_size_is_gathered(tf, on_the_grid, shape, size, begin):
    x, first = tf.placeholder(tf.float32, shape), tf.placeholder(tf.int32, [len(shape)])
    kernels = on_the_grid(tf.slice(x, first, size) + 1.0, {x: RNG.standard_normal(shape), first: begin})
    assert any(node.kind.name == "gather" for kernel in kernels for node in kernel.nodes)


@pytest.mark.parametrize("begin", [(4, 0), (-1, 0), (0, 1)])
def test_a_part_that_is_not_all_there_is_told_as_the_reference_tells_it(tf, monkeypatch, begin):
    x, first = tf.placeholder(tf.float32, [5, 3]), tf.placeholder(tf.int32, [2])
    part, feeds, told = tf.slice(x, first, [2, 3]) + 1.0, {x: np.zeros((5, 3)), first: begin}, []
    for target, jit in (("cpu", "off"), ("cuda-simulator", "always")):
        monkeypatch.setenv("JITGRAPH_TARGET", target)
        with tf.Session(jit=jit) as session, pytest.raises(tf.errors.InvalidArgumentError) as raised:
            session.run(part, feeds)
        told.append(raised.value.message.splitlines()[0])
    assert told[0] == told[1] and "Expected" in told[0]


def test_a_loop_that_takes_a_row_in_each_round_asks_the_host_for_none(tf, monkeypatch):
    from jitgraph.runtime import explain
    from jitgraph.runtime.watch import watching

    monkeypatch.setenv("JITGRAPH_TARGET", "cuda-simulator")
    rows = tf.Variable(RNG.standard_normal((4, 3)).astype(np.float32))
    _, total = tf.while_loop(lambda t, _: t < 4, lambda t, s: (t + 1, tf.tanh(s * 0.5 + rows[t])), (tf.constant(0), tf.zeros([3])))
    with tf.Session(jit="always") as session:
        session.run(tf.global_variables_initializer())
        want = np.zeros(3, np.float32)
        for row in session.run(rows):
            want = np.tanh(want * 0.5 + row)
        np.testing.assert_allclose(session.run(total), want, rtol=1e-5)
        tally = explain.Tally()
        with watching(0, tally):
            session.run(total)
    assert "StridedSlice" not in {line.name for line in tally.lines.values() if line.kind == "host"}
