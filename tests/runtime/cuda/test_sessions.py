"""What sessions promise on devices, on simulated ones and, by `make gpu`, on the machine's own."""
import gc
import threading

import numpy as np
import pytest

from jitgraph.compiler import targets
from jitgraph.runtime.cuda.machine import machine_of


@pytest.fixture(params=["cuda-simulator", pytest.param("cuda", marks=pytest.mark.gpu)])
def device(request, monkeypatch):
    """The device that sessions use, once with its kernels simulated and once by the driver of the machine."""
    monkeypatch.setenv("JITGRAPH_TARGET", request.param)
    return machine_of(targets.present()).devices[0]


def network(tf):
    """(placeholder, what a step of training fetches) of a layer, a softmax over it and Adam."""
    x = tf.placeholder(tf.float32, [8, 12])
    w, b = tf.Variable(tf.random_normal([12, 10], seed=3)), tf.Variable(tf.zeros([10]))
    y = tf.nn.softmax(tf.matmul(x, w) + b)
    loss = tf.reduce_mean(tf.square(y - tf.nn.relu(tf.transpose(tf.reduce_sum(y, 0, keepdims=True)))[0]))
    return x, [tf.train.AdamOptimizer(0.05).minimize(loss), loss, y]


def recurrent(tf):
    """The same of a loop, whose body is a graph of its own."""
    x = tf.placeholder(tf.float32, [3, 5, 4])
    outputs, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.BasicLSTMCell(6), x, dtype=tf.float32)
    loss = tf.reduce_mean(tf.square(outputs))
    return x, [tf.train.GradientDescentOptimizer(0.5).minimize(loss), loss, outputs]


def values(x, steps):
    return [np.sin(np.arange(x.shape.num_elements()) * (k + 1.0)).reshape(x.shape.as_list()) for k in range(steps)]


@pytest.mark.parametrize("build", [network, recurrent])
def test_replayed_graphs_give_what_launches_give(tf, device, build):
    """Bit for bit: the first run of a session launches by itself, further ones launch what the second has captured."""
    tf.set_random_seed(1)
    x, fetches = build(tf)
    given = values(x, 3)
    with tf.Session(jit="always") as session:
        session.run(tf.global_variables_initializer())
        start = {v: session.run(v) for v in tf.global_variables()}
        replayed = [session.run(fetches, {x: value})[1:] for value in given]
        end = [session.run(v) for v in tf.global_variables()]
    launched = []
    state = start
    for value in given:
        with tf.Session(jit="always") as session:
            for v, before in state.items():
                v.load(before, session)
            launched.append(session.run(fetches, {x: value})[1:])
            state = {v: session.run(v) for v in state}
    for one, other in zip([*replayed, end], [*launched, [*state.values()]], strict=True):
        for a, b in zip(one, other, strict=True):
            np.testing.assert_array_equal(a, b)


def test_memory_is_given_back(tf, device):
    """What sessions took serves the next ones, and goes back to the driver when it is asked for."""
    gc.collect()
    device.trim()
    before, used = device.in_use(), []
    for _ in range(3):
        tf.reset_default_graph()
        x, fetches = network(tf)
        with tf.Session(jit="always") as session:
            session.run(tf.global_variables_initializer())
            for value in values(x, 3):
                session.run(fetches, {x: value})
        del session, x, fetches
        tf.reset_default_graph()
        gc.collect()
        used.append(device.in_use())
    assert max(used) - before <= 1 << 16, used          # what hangs on the process, such as numbers of the last plan
    assert used[2] <= used[0]
    device.trim()
    assert device.used <= before + (1 << 16)


def test_two_sessions_at_once(tf, device):
    """Each on a thread of its own: they share the device, and neither sees the other's values."""
    tf.set_random_seed(1)
    x, fetches = network(tf)
    given = values(x, 5)

    def train():
        with tf.Session(graph=x.graph, jit="always") as session:
            for v, before in start:
                v.load(before, session)
            return [session.run(fetches, {x: value})[1] for value in given]

    with tf.Session(jit="always") as session:
        session.run(tf.global_variables_initializer())
        start = [(v, session.run(v)) for v in tf.global_variables()]
    wanted, found = train(), [None, None]
    threads = [threading.Thread(target=lambda k=k: found.__setitem__(k, train())) for k in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert found == [wanted, wanted]
