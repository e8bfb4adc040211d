"""Where a program ends because only the run will tell a shape: what still belongs to it, and what is computed once."""
from collections import Counter

import numpy as np
import pytest

from jitgraph.compiler import waiting
from jitgraph.compiler.order import touched_variables
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


def test_a_value_that_becomes_a_size_is_planned_once(tf):
    count, rows = tf.placeholder(tf.int32, []), tf.placeholder(tf.float32, [None, 3])
    grown = tf.zeros([count * 2, 3]) + 1.0
    kept = tf.boolean_mask(rows, rows[:, 0] > 0)
    table = tf.reshape(kept, tf.concat([tf.shape(kept)[:1], [3]], 0)) * 2.0
    with tf.Session(jit="always") as session:
        for n in (5, 3, 9, 17, 4):
            fed = np.arange(3.0 * n).reshape(n, 3) - 3.0
            first, second = session.run([grown, table], {count: n, rows: fed})
            assert first.shape == (2 * n, 3) and np.all(first == 1.0)
            assert np.array_equal(second, 2.0 * fed[fed[:, 0] > 0])
        made = len(_programs(session))
        for n in (8, 30, 12):
            session.run([grown, table], {count: n, rows: np.ones((n + 1, 3))})
        assert len(_programs(session)) == made


def test_a_pinned_number_that_is_no_size_still_decides(tf):
    axis, fed = tf.placeholder(tf.int32, []), tf.placeholder(tf.float32, [2, 3, 4])
    total = tf.reduce_sum(fed, axis)
    value = np.arange(24.0).reshape(2, 3, 4)
    with tf.Session(jit="always") as session:
        for k in (2, 0, 1, -1, 2):
            assert np.array_equal(session.run(total, {axis: k, fed: value}), value.sum(k))


def test_columns_that_do_not_wait_for_one_another_share_segments(tf):
    fed = [tf.placeholder(tf.int64, [None]) for _ in range(3)]
    tables = [tf.Variable(np.eye(9, 4, dtype=np.float32), use_resource=use) for use in (True, False, True)]
    found = [tf.gather(table, tf.unique(tf.boolean_mask(ids, ids > 0)).y) for table, ids in zip(tables, fed)]
    after = tf.assign(tables[0], tables[0] * 0.0)
    with tf.control_dependencies([after]):
        late = tf.gather(tables[0], tf.unique(fed[0]).y)
    with tf.Session(jit="always") as session:
        session.run(tf.global_variables_initializer())
        *rows, zeros = session.run([*found, late], dict(zip(fed, ([3, 0, 3], [1, 2], [5, 5, 5]))))
        assert [row.tolist() for row in rows] == [np.eye(9, 4)[k].tolist() for k in ([3], [1, 2], [5])]
        assert zeros.shape == (2, 4) and not zeros.any()
        assert sum(bool(program.rest) for program in _programs(session)) == 3     # masks; unique; what waits for the write


def test_a_stated_size_of_what_the_host_makes_ends_no_segment(tf):
    """The host's values are looked at, and one of another size is refused."""
    file = tf.placeholder(tf.string, [])
    image = tf.image.decode_png(file, 3)
    image.set_shape([4, 6, 3])
    half = tf.image.resize_images(image, [2, 3])
    pixels = np.arange(72, dtype=np.uint8).reshape(4, 6, 3)
    with tf.Session(jit="always") as session:
        fitting, other = session.run([tf.image.encode_png(pixels), tf.image.encode_png(pixels[1:])])
        np.testing.assert_array_equal(session.run(half, {file: fitting}), pixels[::2, ::2])
        assert [bool(c.program.rest) for c in session.plans[-1].compiled] == [False]
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"has shape \[3, 6, 3\], but the graph states \[4,6,3\]"):
            session.run(half, {file: other})


def test_what_is_fed_is_handed_on_without_a_copy(tf, monkeypatch):
    """And is the caller's own where it is a result: a later change of the fed array changes nothing."""
    from jitgraph.runtime.binding import Binding

    x = tf.placeholder(tf.float32, [None, 100])
    rows = tf.where(x[:, 0] > 0)[:, 0]                              # as many as the run will tell
    again = tf.where(tf.reduce_sum(tf.gather(x, rows), 1) > 150)[:, 0]
    results = [tf.gather(tf.gather(x, rows), again), tf.gather(x, again), x]
    run, given = Binding.run, []

    def recorded(binding, arrays):
        given.append([np.asarray(array) for array in arrays])
        return run(binding, arrays)

    monkeypatch.setattr(Binding, "run", recorded)
    value = np.ones((5, 100), np.float32) * np.arange(5, dtype=np.float32)[:, None]
    with tf.Session(jit="always") as session:
        first, second, third = session.run(results, {x: value})
        assert len(given) == 3 and all(any(np.shares_memory(value, array) for array in arrays) for arrays in given)
        kept = value.copy()
        value[...] = -1
    np.testing.assert_array_equal(first, kept[[2, 3, 4]])
    np.testing.assert_array_equal(second, kept[[1, 2, 3]])
    np.testing.assert_array_equal(third, kept)


def test_what_was_found_once_is_not_looked_for_again(tf):
    """The ids of a lookup are distinct, and so are those of its gradient; what a feed gives in their place need not be."""
    ids, table = tf.placeholder(tf.int64, [None]), tf.Variable(tf.zeros([9, 2]))
    once, of = tf.unique(ids, name="first")
    again, place = tf.unique(tf.reshape(tf.identity(once), [-1]), name="second")
    loss = tf.reduce_sum(tf.gather(tf.nn.embedding_lookup(table, once), of))
    step = tf.train.GradientDescentOptimizer(1.0).minimize(loss)
    with tf.Session(jit="always") as session:
        session.run(table.initializer)
        found = session.run([again, place, step], {ids: [4, 1, 4]})
        assert [f.tolist() for f in found[:2]] == [[4, 1], [0, 1]] and found[0].dtype == np.int64 and found[1].dtype == np.int32
        assert session.run(table).tolist() == [[0, 0], [-1, -1], [0, 0], [0, 0], [-2, -2], *[[0, 0]] * 4]
        assert _calls(session, "Unique") == ["first"]
        assert [f.tolist() for f in session.run([again, place], {once: [7, 7, 5]})] == [[7, 5], [0, 0, 1]]
        assert "second" in _calls(session, "Unique")


def test_rows_of_resource_variables_are_read_by_kernels(tf):
    """At the time of the reading operation, and as many as there are; one that is not there is named."""
    v = tf.get_variable("v", initializer=np.arange(12, dtype=np.float32).reshape(4, 3), use_resource=True)
    ids = tf.placeholder(tf.int32, [None])
    before = tf.gather(v, ids)
    with tf.control_dependencies([before]):
        changed = v.assign_add(tf.ones([4, 3]))
    with tf.control_dependencies([changed]):
        after, single = tf.nn.embedding_lookup(v, ids) * 2, tf.gather_nd(v, ids[:, None])
    with tf.Session(jit="always") as session:
        session.run(v.initializer)
        for run in range(2):
            found = session.run([before, after, single], {ids: [3, 1]})
            rows = np.array([[9, 10, 11], [3, 4, 5]]) + run
            for value, wanted in zip(found, (rows, 2 * rows + 2, rows + 1)):
                np.testing.assert_array_equal(value, wanted)
        assert not _calls(session, "ResourceGather") and not _calls(session, "ResourceGatherNd")
        for bad, text in ((4, r"indices\[1\] = 4 is not in \[0, 4\)"), (-1, r"indices\[1\] = -1 is not in \[0, 4\)")):
            with pytest.raises(tf.errors.InvalidArgumentError, match=text):
                session.run(before, {ids: [0, bad]})


def test_segments_share_which_variables_operations_touch(tf, monkeypatch):
    asked = Counter()

    def counted(op):
        asked[op] += 1
        return touched_variables(op)

    monkeypatch.setattr(waiting, "touched_variables", counted)
    fed, training = tf.placeholder(tf.float32, [None, None]), tf.placeholder(tf.bool, [])
    y, scales = fed, [tf.Variable(float(k)) for k in (2, 3, 4, 5)]
    for scale in scales:
        y = tf.cond(training, lambda y=y, scale=scale: y[1:] * scale, lambda y=y: y + 1.0)
    with tf.Session(jit="always") as session:
        session.run(tf.global_variables_initializer())
        assert session.run(y, {fed: np.ones([6, 2]), training: True}).tolist() == [[120.0, 120.0]] * 2
        rests = [program.rest for program in _programs(session) if program.rest]
    assert len(rests) >= 3 and len(set.intersection(*map(set, rests[:2]))) > 0       # asked of the same more than once
    assert set(asked.values()) == {1}


def test_decoding_as_many_steps_as_a_run_tells_needs_no_program_for_each_number(tf):
    """Which rows of a TensorArray are stacked is no size of anything: only what a shape rule looks at may become one."""
    seq2seq = tf.contrib.seq2seq
    x, lengths = tf.placeholder(tf.float32, [None, None, 3]), tf.placeholder(tf.int32, [None])
    cell = tf.nn.rnn_cell.GRUCell(4)
    decoder = seq2seq.BasicDecoder(cell, seq2seq.TrainingHelper(x, lengths), cell.zero_state(tf.shape(x)[0], tf.float32))
    outputs, _, _ = seq2seq.dynamic_decode(decoder)
    loss = tf.reduce_sum(tf.square(outputs.rnn_output))
    with tf.Session(jit="always") as session:
        session.run(tf.global_variables_initializer())
        for steps in (4, 6, 5, 7, 9):
            assert session.run(outputs.rnn_output, {x: np.ones((2, steps, 3)), lengths: [steps - 1, 2]}).shape == (2, steps - 1, 4)
            session.run(loss, {x: np.ones((2, steps, 3)), lengths: [steps - 1, 2]})
        assert all(len(plan.compiled) <= 3 for plan in session.plans)
