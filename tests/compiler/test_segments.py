"""Where a program ends because only the run will tell a shape: what still belongs to it, and what is computed once."""
import numpy as np

from jitgraph.compiler.primitives.host import HOST


def _programs(session):
    return [compiled.program for plan in session.plans for compiled in plan.compiled]


def _calls(session, kind):
    return [node.op.name for program in _programs(session) for node in program.nodes
            if node.kind is HOST and node.op is not None and node.op.type == kind]


def test_sparse_steps_of_several_tables_take_two_segments(tf):
    ids, other = tf.placeholder(tf.int32, [None]), tf.placeholder(tf.int32, [None])
    tables = [tf.Variable(np.full((9, width), width, np.float32)) for width in (1, 3, 5)]
    looked_up = [tf.nn.embedding_lookup(t, i) for t, i in zip(tables, (ids, ids, other))]
    loss = tf.add_n([tf.reduce_sum(tf.square(rows)) for rows in looked_up])
    step = tf.train.AdagradOptimizer(0.1).minimize(loss)
    found = []
    for jit in ("off", "always"):
        with tf.Session(jit=jit) as session:
            session.run(tf.global_variables_initializer())
            for feed in ([3, 1, 3, 8], [5, 5, 0, 1, 2]):
                session.run(step, {ids: feed, other: feed[1:]})
            found.append(session.run(tables))
            programs = [c.program for c in session.plans[1].compiled] if jit == "always" else []
            names = _calls(session, "Unique")
    for a, b in zip(*found):
        np.testing.assert_allclose(a, b, rtol=1e-6)
    assert sum(bool(p.rest) for p in programs) == 1       # only the first segment leaves something
    assert len(names) == 2                                          # two of the three have the same indices


def test_what_has_a_time_of_its_own_stays_in_its_place(tf):
    fed, v = tf.placeholder(tf.int32, [None]), tf.Variable([1, 2, 2])
    first = tf.unique(fed).y
    with tf.control_dependencies([first]):
        changed = tf.assign_add(v, [1, 1, 0])
    with tf.control_dependencies([changed]):
        after, guarded = tf.unique(tf.identity(v)).y, tf.unique(fed * 2).y
    total = tf.reduce_sum(first)
    with tf.Session(jit="always") as session:
        session.run(v.initializer)
        for wanted in ([2, 3], [3, 4, 2]):
            found = session.run([after, guarded, total], {fed: [4, 4, 1]})
            assert [f.tolist() for f in found] == [wanted, [8, 2], 5]


def test_equal_host_calls_are_made_once_and_others_are_not(tf):
    fed = tf.placeholder(tf.int32, [None])
    same = [tf.unique(fed) for _ in range(2)]
    wide = tf.unique(fed, out_idx=tf.int64)
    with tf.Session(jit="always") as session:
        found = session.run([*same, wide], {fed: [7, 2, 7]})
        assert all(f.y.tolist() == [7, 2] and f.idx.tolist() == [0, 1, 0] for f in found)
        assert [f.idx.dtype for f in found] == [np.int32, np.int32, np.int64]
        assert len(_calls(session, "Unique")) == 2


def test_a_training_step_with_batch_normalisation_is_one_program(tf):
    x, scale, offset = tf.placeholder(tf.float32, [None, 4, 4, 3]), tf.Variable([1.0, 2.0, 3.0]), tf.Variable([0.0, 1.0, 0.0])
    normal = tf.nn.fused_batch_norm(x, scale, offset)[0]
    step = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(tf.square(normal)))
    with tf.Session(jit="always") as session:
        session.run(tf.global_variables_initializer())
        session.run(step, {x: np.ones((2, 4, 4, 3))})
        assert not any(program.rest for program in _programs(session))


def test_what_waits_for_a_value_of_the_rest_waits_with_it(tf, monkeypatch):
    """An op of the rest may have outputs of known shapes beside others: they have no values in this segment."""
    x = tf.placeholder(tf.float32)
    other = tf.where(x > 0)
    parts, first = tf.nn.top_k(x, 2)
    kept = tf.dynamic_partition(first, [0, 1], 2)
    rule = first.op.opdef.shape
    monkeypatch.setattr(first.op.opdef, "shape", lambda c: [rule(c)[0], None][::-1] if c.running else rule(c))
    with tf.Session(jit="always") as session:
        found = session.run([other, parts, *kept], {x: [[1, 2, 0], [3, 0, 4]]})
    assert [f.tolist() for f in found[1:]] == [[[2, 1], [4, 3]], [[1, 0]], [[2, 0]]]
