"""Rows of sparse gradients that are added up for each distinct index on a device, without the host, which would count these."""
import numpy as np
import pytest

from jitgraph.compiler import TARGETS, compile
from jitgraph.compiler.duplicates import MOST
from jitgraph.compiler.place import HostStep

OPTIMIZERS = {
    "adam": lambda tf: tf.train.AdamOptimizer(0.1),
    "adagrad": lambda tf: tf.train.AdagradOptimizer(0.1),
    "momentum": lambda tf: tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
    "rmsprop": lambda tf: tf.train.RMSPropOptimizer(0.1, centered=True),
    "ftrl": lambda tf: tf.train.FtrlOptimizer(0.1, l1_regularization_strength=0.01),
    "adadelta": lambda tf: tf.train.AdadeltaOptimizer(0.1),
    "proximal adagrad": lambda tf: tf.train.ProximalAdagradOptimizer(0.1, l2_regularization_strength=0.01),
    "gradient descent": lambda tf: tf.train.GradientDescentOptimizer(0.1),
}
IDS = [[3, 1, 3, 0, 3, 1], [5, 5, 5, 5, 5, 5], [0, 1, 2, 3, 4, 5]]


def of_host(program):
    return [step.node.op.type for step in program.layout.steps if isinstance(step, HostStep)] + [op.type for op in program.rest]


def planned(tf, fetches, feeds):
    fetches = fetches if isinstance(fetches, list) else [fetches]
    tensors, operations = [x for x in fetches if isinstance(x, tf.Tensor)], [x for x in fetches if isinstance(x, tf.Operation)]
    return compile(tf.get_default_graph(), tensors, operations, feeds, target=TARGETS["cuda"])


def trained(tf, name, ids, resource=False):
    """A step of training of a table of which rows are looked up."""
    table = tf.get_variable("table", [6, 5], use_resource=resource, initializer=tf.random_normal_initializer(seed=1))
    rows = tf.nn.embedding_lookup(table, ids)
    loss = tf.reduce_sum(tf.tanh(rows) * tf.constant(np.arange(30, dtype=np.float32).reshape(6, 5) / 10))
    return OPTIMIZERS[name](tf).minimize(loss)


def after(tf, monkeypatch, target, build, feeds):
    """The variables after each of some steps."""
    monkeypatch.setenv("JITGRAPH_TARGET", target)
    tf.reset_default_graph()
    ids, step = build()
    found = []
    with tf.Session(jit="always", config=tf.ConfigProto(allow_soft_placement=True)) as session:
        session.run(tf.global_variables_initializer())
        for fed in feeds:
            session.run(step, {ids: fed})
            found.append(session.run(tf.global_variables()))
    return found


@pytest.mark.parametrize("resource", [False, True])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_every_optimizer_changes_the_same_rows(tf, monkeypatch, name, resource):
    def build():
        ids = tf.placeholder(tf.int64 if resource else tf.int32, [None])
        return ids, trained(tf, name, ids, resource)

    here, there = (after(tf, monkeypatch, target, build, IDS) for target in ("cuda-simulator", "cpu"))
    for one, other in zip(here, there, strict=True):
        for a, b in zip(one, other, strict=True):
            np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_step_of_training_leaves_the_host_nothing(tf, name):
    ids = tf.placeholder(tf.int32, [None])
    assert of_host(planned(tf, trained(tf, name, ids), {ids: (6,)})) == []


def test_what_counts_the_distinct_ones_counts(tf, monkeypatch):
    """A fetch, and anything that depends on how many there are, gets what TensorFlow gives."""
    monkeypatch.setenv("JITGRAPH_TARGET", "cuda-simulator")
    ids, values = tf.placeholder(tf.int32, [None]), tf.placeholder(tf.float32, [None, 2])
    table = tf.get_variable("table", [6, 2], initializer=tf.zeros_initializer())
    distinct, places = tf.unique(ids)
    rows = tf.unsorted_segment_sum(values, places, tf.shape(distinct)[0])
    change = tf.scatter_add(table, distinct, rows)
    fed = {ids: [4, 1, 4, 4], values: [[1, 2], [3, 4], [5, 6], [7, 8]]}
    uses = {"distinct": (distinct, [4, 1]), "places": (places, [0, 1, 0, 0]), "rows": (rows, [[13, 16], [3, 4]]),
            "mean": (tf.reduce_mean(rows), 9.0), "count": (tf.size(distinct), 2),
            "joined": (tf.concat([rows, rows], 0), [[13, 16], [3, 4]] * 2)}
    with tf.Session(jit="always", config=tf.ConfigProto(allow_soft_placement=True)) as session:
        session.run(table.initializer)
        for number, (tensor, wanted) in enumerate(uses.values()):
            np.testing.assert_allclose(session.run([change, tensor], fed)[1], wanted)
            assert session.run(table)[4].tolist() == [13 * (number + 1), 16 * (number + 1)]
    for tensor, _ in uses.values():
        assert "Unique" in of_host(planned(tf, [change.op, tensor], {ids: (4,), values: (4, 2)}))
    assert of_host(planned(tf, change.op, {ids: (4,), values: (4, 2)})) == []


def test_rows_that_are_not_sums_belong_to_the_distinct_ones(tf, monkeypatch):
    """A program may know how many there are."""
    monkeypatch.setenv("JITGRAPH_TARGET", "cuda-simulator")
    ids = tf.placeholder(tf.int32, [None])
    table = tf.get_variable("table", [6, 2], initializer=tf.zeros_initializer())
    distinct, places = tf.unique(ids)
    change = tf.scatter_add(table, distinct, tf.constant([[1.0, 2.0], [3.0, 4.0]]))
    rows = tf.unsorted_segment_sum(tf.ones([3, 2]), places, tf.shape(distinct)[0])
    other = tf.scatter_add(table, distinct, rows)
    with tf.Session(jit="always", config=tf.ConfigProto(allow_soft_placement=True)) as session:
        session.run(table.initializer)
        for _ in range(2):
            session.run([change.op, other.op], {ids: [5, 2, 5]})
        assert session.run(table)[[5, 2]].tolist() == [[6, 8], [8, 10]]


@pytest.mark.parametrize("wrong", [[0, 6], [-1, 0], [-1, -1]])
def test_an_index_out_of_range_fails_and_changes_nothing(tf, monkeypatch, wrong):
    monkeypatch.setenv("JITGRAPH_TARGET", "cuda-simulator")
    ids = tf.placeholder(tf.int32, [None])
    table = tf.get_variable("table", [6, 2], initializer=tf.ones_initializer())
    gradient = tf.IndexedSlices(tf.ones([2, 2]), ids, tf.constant([6, 2]))
    step = tf.train.AdamOptimizer(0.1).apply_gradients([(gradient, table)])
    with tf.Session(jit="always") as session:
        session.run(tf.global_variables_initializer())
        session.run(step, {ids: [2, 2]})
        before = session.run(tf.global_variables())
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"is not in \[0, 6\)"):
            session.run(step, {ids: wrong})
        for a, b in zip(before, session.run(tf.global_variables())):
            np.testing.assert_array_equal(a, b)


def test_no_rows_and_rows_of_a_variable_of_the_host(tf, monkeypatch):
    def build():
        ids = tf.placeholder(tf.int32, [None])
        with tf.device("/cpu:0"):
            table = tf.get_variable("table", [6, 2], initializer=tf.ones_initializer())
        grown = tf.nn.embedding_lookup(table, ids) * 2.0
        return ids, tf.train.AdagradOptimizer(0.1).minimize(tf.reduce_sum(grown))

    feeds = [[], [3, 3, 1]]
    here, there = (after(tf, monkeypatch, target, build, feeds) for target in ("cuda-simulator", "cpu"))
    for one, other in zip(here, there, strict=True):
        for a, b in zip(one, other, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5)


def test_many_indices_are_left_to_the_host(tf):
    """Each would be compared with all others."""
    ids = tf.placeholder(tf.int32, [None])
    table = tf.get_variable("table", [6, 5])
    gradient = tf.IndexedSlices(tf.ones([tf.size(ids), 5]), ids, tf.constant([6, 5]))
    step = tf.train.AdagradOptimizer(0.1).apply_gradients([(gradient, table)])
    assert of_host(planned(tf, step, {ids: (MOST,)})) == []
    assert "Unique" in of_host(planned(tf, step, {ids: (MOST + 1,)}))
