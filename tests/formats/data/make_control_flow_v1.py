"""Writes graphs with control flow of TensorFlow 1.15, and what they give: the folder control_flow_v1 beside this file.

Run with TensorFlow 1.15:  python make_control_flow_v1.py [NAME ...]

Each case is a function that builds nodes and returns what is fetched, with the feeds of its runs, which are made one
after the other in one session.  An .npz holds: graph (a GraphDef), fetches, init (an operation to run first, or ""),
runs (their number), and for run K ``K|feed|NAME`` and ``K|fetch|NAME``, or ``K|error`` where the run fails.
"""
import os
import sys

import numpy as np
import tensorflow as tf
from tensorflow.python.ops import control_flow_ops, gen_data_flow_ops

CASES = {}


def case(*feeds, **kw):
    def add(f):
        CASES[f.__name__] = (f, feeds, kw)
        return f
    return add


def x(name="x", shape=(), dtype=tf.float32):
    return tf.placeholder(dtype, shape, name=name)


P = [{"p": True, "x": 1.5}, {"p": False, "x": 1.5}]


@case(*P)
def cond_two():
    p, a = x("p", (), tf.bool), x()
    y, z = tf.cond(p, lambda: (a * 2, a + 1), lambda: (a - 1, tf.exp(a)))
    return [y, z, y + z]


@case(*P)
def cond_gradient():
    p, a = x("p", (), tf.bool), x()
    y = tf.cond(p, lambda: tf.exp(a) * a, lambda: tf.sin(a))
    return [y, tf.gradients(y, a)[0], tf.gradients(tf.gradients(y, a)[0], a)[0]]


@case(*[dict(p=p, q=q, x=0.5) for p in (True, False) for q in (True, False)])
def cond_nested():
    p, q, a = x("p", (), tf.bool), x("q", (), tf.bool), x()
    b = a * 3
    y = tf.cond(p, lambda: tf.cond(q, lambda: a * b, lambda: tf.cond(p, lambda: b + 1, lambda: b - 1)),
                lambda: tf.cond(tf.logical_not(q), lambda: b / a, lambda: a))
    return [y, tf.gradients(y, a)[0]]


@case(*[dict(x=v) for v in (0.5, 1.5, 2.5, 3.5)])
def case_chain():
    a = x()
    y = tf.case([(a < 1, lambda: a * 10), (a < 2, lambda: tf.exp(a)), (a < 3, lambda: a - 7)], default=lambda: tf.square(a))
    z = tf.case([(a < 1, lambda: 1), (a > 3, lambda: 2)], default=lambda: 3, exclusive=True)
    return [y, z, tf.gradients(y, a)[0]]


@case(*[dict(i=v, x=2.0) for v in (0, 1, 2, 7, -1)])
def switch_case():
    i, a = x("i", (), tf.int32), x()
    y = tf.switch_case(i, [lambda: a, lambda: a * a, lambda: a * a * a])
    return [y, tf.gradients(y, a)[0]]


@case(*P, *P, init=True)
def cond_assign():
    p, a = x("p", (), tf.bool), x()
    v = tf.Variable(1.0, use_resource=False, name="v")
    w = tf.Variable(2.0, use_resource=True, name="w")
    y = tf.cond(p, lambda: tf.assign_add(v, a), lambda: tf.identity(w.assign_sub(a)))
    with tf.control_dependencies([y]):
        return [y, v.read_value(), w.read_value()]


@case(*P, *P, init=True)
def cond_group():
    p, a = x("p", (), tf.bool), x()
    v = tf.Variable(1.0, name="v")
    op = tf.cond(p, lambda: tf.group(v.assign_add(a)), lambda: tf.no_op())
    with tf.control_dependencies([op]):
        return [v.read_value()]


@case(dict(x=1.0), dict(x=-1.0), fails=[False, True])
def assert_guard():
    a = x()
    check = tf.Assert(a > 0, ["must be positive", a])
    with tf.control_dependencies([check, tf.assert_less(a, 5.0)]):
        return [tf.identity(a) * 2]


@case(*[dict(p=p, x=v) for p in (True, False) for v in (1.0,)])
def assert_in_cond():
    p, a = x("p", (), tf.bool), x()
    def good():
        with tf.control_dependencies([tf.Assert(a > 0, [a])]):
            return a + 1
    def bad():
        with tf.control_dependencies([tf.Assert(a > -1, [a])]):
            return a - 1
    return [tf.cond(p, good, bad)]


@case(dict(n=0, x=2.0), dict(n=1, x=2.0), dict(n=7, x=1.1))
def while_power():
    n, a = x("n", (), tf.int32), x()
    _, y = tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y * a), [0, 1.0])
    return [y, tf.gradients(y, a)[0]]


@case(dict(x=0.3), dict(x=1.7))
def while_second_order():
    a = x()
    y = tf.while_loop(lambda i, y: i < 4, lambda i, y: (i + 1, tf.sin(y) * a), [0, a])[1]
    return [y, tf.gradients(y, a)[0]]


@case(dict(x=np.arange(6, dtype=np.float32).reshape(2, 3)))
def while_matrix():
    a = x("x", (None, 3))
    w = tf.constant(np.linspace(-1, 1, 9).reshape(3, 3), tf.float32)
    y = tf.while_loop(lambda i, h: i < 5, lambda i, h: (i + 1, tf.tanh(tf.matmul(h, w) + a)), [0, tf.zeros_like(a)],
                      swap_memory=True)[1]
    return [y, *tf.gradients(tf.reduce_sum(y * y), [a, w])]


@case(dict(x=np.ones((2, 2), np.float32)))
def while_growing():
    a = x("x", (None, 2))
    y = tf.while_loop(lambda i, t: i < 4,
                      lambda i, t: (i + 1, tf.concat([t, t[:1] * tf.cast(i + 2, tf.float32)], 0)), [0, a],
                      shape_invariants=[tf.TensorShape([]), tf.TensorShape([None, 2])])[1]
    return [y, tf.gradients(y, a)[0]]


@case(dict(m=0, x=1.0), dict(m=3, x=1.0), dict(m=300, x=1.0))
def while_maximum():
    m, a = x("m", (), tf.int32), x()
    y = tf.while_loop(lambda y: y < 100, lambda y: y * 2 + 1, [a], maximum_iterations=m)
    return [y, tf.gradients(y, a)[0]]


@case(dict(n=3, x=1.2), dict(n=0, x=1.2))
def while_nested():
    n, a = x("n", (), tf.int32), x()
    def outer(i, s):
        t = tf.while_loop(lambda j, t: j <= i, lambda j, t: (j + 1, t * a + s), [0, 1.0])[1]
        return i + 1, s + t
    s = tf.while_loop(lambda i, s: i < n, outer, [0, 0.0])[1]
    return [s, tf.gradients(s, a)[0]]


@case(dict(n=6, x=0.7), dict(n=1, x=0.7))
def cond_in_while():
    n, a = x("n", (), tf.int32), x()
    def body(i, y):
        return i + 1, tf.cond(tf.equal(i % 2, 0), lambda: y * a + 1, lambda: tf.sin(y) - a)
    y = tf.while_loop(lambda i, y: i < n, body, [0, a])[1]
    return [y, tf.gradients(y, a)[0]]


@case(*[dict(p=p, n=n, x=1.3) for p in (True, False) for n in (0, 4)])
def while_in_cond():
    p, n, a = x("p", (), tf.bool), x("n", (), tf.int32), x()
    y = tf.cond(p, lambda: tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y * a), [0, a])[1], lambda: a * 2)
    return [y, tf.gradients(y, a)[0]]


@case(dict(n=5, x=0.9))
def cond_while_cond():
    n, a = x("n", (), tf.int32), x()
    def body(i, y):
        def step(j, z):
            return j + 1, tf.cond(z > 2, lambda: z * 0.5, lambda: z + a)
        return i + 1, tf.cond(i > 2, lambda: tf.while_loop(lambda j, z: j < i, step, [0, y])[1], lambda: y + 1)
    y = tf.while_loop(lambda i, y: i < n, body, [0, a])[1]
    return [y, tf.gradients(y, a)[0]]


@case(dict(n=4), dict(n=0), init=True)
def while_assign():
    n = x("n", (), tf.int32)
    v = tf.Variable(1.0, use_resource=False, name="v")
    w = tf.Variable([1.0, 2.0], use_resource=True, name="w")
    def body(i, s):
        with tf.control_dependencies([v.assign_add(2.0), w.assign_add([1.0, tf.cast(i, tf.float32)])]):
            return i + 1, s + v.read_value() + tf.reduce_sum(w.read_value())
    s = tf.while_loop(lambda i, s: i < n, body, [0, 0.0], parallel_iterations=1)[1]
    with tf.control_dependencies([s]):
        return [s, v.read_value(), w.read_value()]


@case(dict(x=np.arange(12, dtype=np.float32).reshape(4, 3)))
def array_loop():
    a = x("x", (None, 3))
    n = tf.shape(a)[0]
    ta = tf.TensorArray(tf.float32, n).unstack(a)
    out = tf.TensorArray(tf.float32, n)
    def body(i, out, s):
        e = ta.read(i)
        s = s + e * e
        return i + 1, out.write(i, s * tf.cast(i + 1, tf.float32)), s
    _, out, s = tf.while_loop(lambda i, *_: i < n, body, [0, out, tf.zeros([3])])
    y = out.stack()
    return [y, s, out.size(), tf.gradients(y, a)[0], tf.gradients(tf.reduce_sum(y) * tf.reduce_sum(s), a)[0]]


@case(dict(x=np.arange(5, dtype=np.float32)))
def array_concat():
    a = x("x", (5,))
    ta = tf.TensorArray(tf.float32, 3, infer_shape=False).split(a, [2, 0, 3])
    tb = tf.TensorArray(tf.float32, 0, dynamic_size=True, infer_shape=False)
    tb = tf.while_loop(lambda i, t: i < 3, lambda i, t: (i + 1, t.write(2 - i, ta.read(i) * 2)), [0, tb])[1]
    y = tb.concat()
    return [y, tf.gradients(y * y, a)[0]]


@case(dict(x=np.arange(4, dtype=np.float32)))
def array_gather_scatter():
    a = x("x", (4,))
    ta = tf.TensorArray(tf.float32, 6, clear_after_read=False, element_shape=[]).scatter([5, 0, 2, 3], a)
    y = ta.gather([0, 5, 3, 2])
    z = ta.read(2) * ta.read(0)
    return [y, z, tf.gradients([y * y, z], a)[0]]


@case(dict(x=np.arange(6, dtype=np.float32).reshape(3, 2)))
def maps():
    a = x("x", (None, 2))
    m = tf.map_fn(lambda r: tf.reduce_sum(r * r) + r[0], a)
    s = tf.scan(lambda acc, r: acc * 0.5 + r, a)
    f = tf.foldl(lambda acc, r: acc + tf.sin(r), a)
    g = tf.foldr(lambda acc, r: acc * 2 + r, a)
    m2 = tf.map_fn(lambda t: (t[0] * t[1], t[0] - t[1]), (a, a * 2), dtype=(tf.float32, tf.float32))
    return [m, s, f, g, *m2, *[tf.gradients(t, a)[0] for t in (m, s, f, g, m2[0])]]


@case(dict(x=np.linspace(-1, 1, 24).astype(np.float32).reshape(2, 4, 3), n=np.array([4, 2], np.int32)),
      init=True)
def dynamic_rnn():
    a, n = x("x", (2, 4, 3)), x("n", (2,), tf.int32)
    k = tf.constant_initializer(0.1)
    cell = tf.nn.rnn_cell.LSTMCell(5, initializer=k)
    with tf.variable_scope("r", use_resource=False):
        y, st = tf.nn.dynamic_rnn(cell, a, sequence_length=n, dtype=tf.float32)
    return [y, st[0], st[1], tf.gradients(y, a)[0], *tf.gradients(tf.reduce_sum(y * y), tf.trainable_variables())]


@case(*[dict(x=np.linspace(-1, 1, 24).astype(np.float32).reshape(2, 4, 3), n=np.array([3, 2], np.int32))] * 3, init=True)
def gru_time_major_train():
    a, n = x("x", (2, None, 3)), x("n", (2,), tf.int32)
    cell = tf.nn.rnn_cell.GRUCell(3, kernel_initializer=tf.constant_initializer(0.2))
    _, st = tf.nn.dynamic_rnn(cell, tf.transpose(a, [1, 0, 2]), sequence_length=n, dtype=tf.float32, time_major=True,
                              swap_memory=True)
    loss = tf.reduce_mean(tf.square(st))
    train = tf.train.AdamOptimizer(0.1).minimize(loss)
    with tf.control_dependencies([train]):
        return [loss, tf.identity(tf.trainable_variables()[0].read_value())]


@case(dict(s=b"a", n=3), dict(s=b"", n=0))
def strings():
    s, n = x("s", (), tf.string), x("n", (), tf.int32)
    out = tf.while_loop(lambda i, t: i < n, lambda i, t: (i + 1, tf.strings.join([t, tf.as_string(i)], "-")), [0, s])[1]
    ta = tf.TensorArray(tf.string, n)
    ta = tf.while_loop(lambda i, t: i < n, lambda i, t: (i + 1, t.write(i, tf.as_string(i))), [0, ta])[1]
    return [out, tf.cond(n > 1, lambda: out + "!", lambda: tf.constant("none")), ta.size()]


@case(dict(n=4), dict(n=4))
def random_in_loop():
    n = x("n", (), tf.int32)
    ta = tf.TensorArray(tf.float32, n)
    ta = tf.while_loop(lambda i, t: i < n, lambda i, t: (i + 1, t.write(i, tf.random_uniform([2], seed=7))), [0, ta],
                       parallel_iterations=1)[1]
    y = tf.cond(n > 2, lambda: tf.random_normal([2], seed=3), lambda: tf.zeros([2]))
    return [ta.stack(), y]


@case(dict(x=np.array([3., 1., 2.], np.float32)))
def bubble():
    a = x("x", (3,))
    def body(i, v):
        m = tf.argmin(v[i:]) + tf.cast(i, tf.int64)
        m = tf.cast(m, tf.int32)
        vi, vm = v[i], v[m]
        v = tf.where(tf.equal(tf.range(3), m), tf.fill([3], vi), v)
        return i + 1, tf.where(tf.equal(tf.range(3), i), tf.fill([3], vm), v)
    return [tf.while_loop(lambda i, v: i < 3, body, [0, a])[1]]


@case(dict(n=10), dict(n=97))
def collatz():
    n = x("n", (), tf.int64)
    def body(k, m):
        return k + 1, tf.cond(tf.equal(m % 2, 0), lambda: m // 2, lambda: 3 * m + 1)
    k, m = tf.while_loop(lambda k, m: m > 1, body, [tf.constant(0, tf.int64), n])
    return [k, m]


@case(dict(x=2.0, p=True), dict(x=2.0, p=False))
def cond_invariant_results():
    p, a = x("p", (), tf.bool), x()
    c = tf.constant(5.0)
    y = tf.cond(p, lambda: c, lambda: a)
    z, w = tf.cond(p, lambda: [a, a], lambda: [c, a])
    return [y, z, w]


@case(*[dict(x=np.arange(6, dtype=np.float32).reshape(2, 3), p=p) for p in (True, False)])
def cond_shapes():
    p, a = x("p", (), tf.bool), x("x", (None, 3))
    y = tf.cond(p, lambda: a[:1] * 2, lambda: tf.concat([a, a], 0))
    return [y, tf.shape(y), tf.gradients(y * y, a)[0]]


@case(*[dict(i=np.array([0, 2, 2], np.int32), p=p) for p in (True, False)], init=True)
def cond_sparse_gradient():
    p, i = x("p", (), tf.bool), x("i", (3,), tf.int32)
    v = tf.Variable(np.arange(8).reshape(4, 2).astype(np.float32), name="v")
    y = tf.cond(p, lambda: tf.reduce_sum(tf.gather(v, i) ** 2), lambda: tf.reduce_sum(v))
    g = tf.gradients(y, v)[0]
    return [y, tf.convert_to_tensor(g)]


@case(dict(x=1.0), dict(x=12.0))
def raw_switch_merge():
    a = x()
    f, t = control_flow_ops.switch(a, a > 5)
    y, k = control_flow_ops.merge([f * 2, t - 1])
    return [y, k]


@case(dict(n=3, x=0.5))
def condition_with_cond():
    n, a = x("n", (), tf.int32), x()
    y = tf.while_loop(lambda i, y: tf.cond(y > 1, lambda: i < n, lambda: y < 10), lambda i, y: (i + 1, y + a), [0, a])
    return [*y, tf.gradients(y[1], a)[0]]


@case(dict(x=np.linspace(0, 1, 4).astype(np.float32)))
def map_nested():
    a = x("x", (4,))
    y = tf.map_fn(lambda e: tf.reduce_sum(tf.map_fn(lambda f: e * f * f, a)), a)
    return [y, tf.gradients(y, a)[0]]


@case(dict(p=True), dict(p=False), init=True)
def batch_norm_switch():
    p = x("p", (), tf.bool)
    a = tf.constant(np.linspace(-2, 3, 12).reshape(4, 3), tf.float32)
    h = tf.layers.batch_normalization(a, training=p, momentum=0.5)
    h = tf.layers.dropout(h, 0.0, training=p)
    h = tf.layers.batch_normalization(h * 2, training=p, momentum=0.5)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        return [tf.identity(h), *[v.read_value() for v in tf.global_variables()]]


@case(dict(x=3.0, n=5), dict(x=3.0, n=2))
def while_swap_variables():
    a, n = x(), x("n", (), tf.int32)
    _, u, v, k = tf.while_loop(lambda i, u, v, k: i < n, lambda i, u, v, k: (i + 1, v, u + 1, k),
                               [0, a, a * 2, a * 5])
    return [u, v, k, *[tf.gradients(t, a)[0] for t in (u, v, k)]]


@case(dict(n=3), init=True)
def queue_in_loop():
    n = x("n", (), tf.int32)
    q = tf.FIFOQueue(10, tf.int32, [()])
    put = tf.while_loop(lambda i: i < n, lambda i: control_flow_ops.with_dependencies([q.enqueue(i * i)], i + 1), [0],
                        parallel_iterations=1)
    with tf.control_dependencies([put]):
        return [q.dequeue_many(n)]


@case(dict(x=np.arange(3, dtype=np.float32)))
def while_print_and_identity():
    a = x("x", (3,))
    y = tf.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, tf.Print(y, [i], "") + tf.stop_gradient(a)), [0, a])[1]
    return [y, tf.gradients(y, a)[0]]


@case(dict(x=2.0))
def old_stacks():
    a = x()
    s = gen_data_flow_ops._stack(tf.float32)
    one = gen_data_flow_ops.stack_push(s, a)
    with tf.control_dependencies([one]):
        two = gen_data_flow_ops.stack_push(s, a * 3)
    with tf.control_dependencies([two]):
        y = gen_data_flow_ops.stack_pop(s, tf.float32)
    with tf.control_dependencies([y]):
        z = gen_data_flow_ops.stack_pop(s, tf.float32)
    return [y, z]


@case(dict(x=1.0))
def while_int_float_mix():
    a = x()
    y = tf.while_loop(lambda i, f, b: tf.logical_and(b, i < 20),
                      lambda i, f, b: (i + 2, f * 1.5 + tf.cast(i, tf.float32), f < 50.0), [0, a, True])
    return list(y) + [tf.gradients(y[1], a)[0]]

def record(build, feeds, options):
    """The content of the .npz of a case."""
    with tf.Graph().as_default() as graph, tf.Session() as session:
        tf.set_random_seed(1)
        names = [tensor.name for tensor in build()]
        init = tf.global_variables_initializer().name if options.get("init") else ""
        data = {"graph": np.frombuffer(graph.as_graph_def().SerializeToString(), np.uint8),
                "fetches": np.array(names), "init": np.array(init), "runs": np.array(len(feeds))}
        if init:
            session.run(init)
        for k, feed in enumerate(feeds):
            data.update({f"{k}|feed|{name}:0": np.array(value) for name, value in feed.items()})
            try:
                values = session.run(names, {name + ":0": value for name, value in feed.items()})
                data.update({f"{k}|fetch|{name}": np.array(value) for name, value in zip(names, values)})
            except tf.errors.InvalidArgumentError as error:
                data[f"{k}|error"] = np.array(str(error)[:80])
    return data


if __name__ == "__main__":
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "control_flow_v1")
    for name, arguments in CASES.items():
        if name in sys.argv[1:] or len(sys.argv) == 1:
            np.savez_compressed(os.path.join(folder, name + ".npz"), **record(*arguments))
