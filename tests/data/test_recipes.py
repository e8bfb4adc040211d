"""Datasets as graphs, checks of the steps that follow on one, and snapshots, as nodes; all compared with TensorFlow 1.15.5."""
import os

import pytest

NUMBER = {"output_types": ["int64"], "output_shapes": [[]]}


def numbers(tf, variant, shape=()):
    return tf.data.experimental.from_variant(variant, tf.TensorSpec(shape, tf.int64))


def drained(tf, dataset, feed=None):
    iterator = dataset.make_initializable_iterator()
    get_next, found = iterator.get_next(), []
    with tf.Session() as session:
        session.run(iterator.initializer, feed)
        with pytest.raises(tf.errors.OutOfRangeError):
            while True:
                found.append(session.run(get_next))
    return found


# -- graphs ------------------------------------------------------------------------------------------------------------

def graph_of(tf, dataset, **attrs):
    return tf.raw_ops.DatasetToGraph(input_dataset=dataset._variant_tensor, **attrs)


def test_a_dataset_as_a_graph(tf, run):
    limit = tf.placeholder(tf.int64, [])
    dataset = tf.data.Dataset.range(limit).map(lambda k: k * 2).batch(2)
    with tf.Session() as session:
        text = session.run(graph_of(tf, dataset), {limit: 5})
    graph_def = tf.GraphDef.FromString(text)
    assert [(node.name, list(node.input)) for node in graph_def.node] == [
        ("Const/_0", []), ("Const/_1", []), ("Const/_2", []), ("RangeDataset/_3", ["Const/_0", "Const/_1", "Const/_2"]),
        ("MapDataset/_4", ["RangeDataset/_3"]), ("Const/_5", []), ("Const/_6", []),
        ("BatchDatasetV2/_7", ["MapDataset/_4", "Const/_5", "Const/_6"]), ("dataset", ["BatchDatasetV2/_7"])]
    assert tf.make_ndarray(graph_def.node[1].attr["value"].tensor) == 5         # the value of that run
    assert [function.signature.name for function in graph_def.library.function] == [graph_def.node[4].attr["f"].func.name]

    given = tf.placeholder(tf.string, [])
    again = numbers(tf, tf.raw_ops.DatasetFromGraph(graph_def=given), [None])
    assert [batch.tolist() for batch in drained(tf, again, {given: text})] == [[0, 2], [4, 6], [8]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Could not parse GraphDef"):
        drained(tf, again, {given: b"no graph"})
    with pytest.raises(tf.errors.InvalidArgumentError, match="_Retval"):
        drained(tf, again, {given: b""})


def test_what_a_function_has_captured_is_in_the_graph(tf, run):
    offset = tf.constant(7, tf.int64) + 1
    text = run(graph_of(tf, tf.data.Dataset.range(2).map(lambda k: k + offset)))
    assert drained(tf, numbers(tf, tf.raw_ops.DatasetFromGraph(graph_def=text))) == [8, 9]


def test_functions_with_state_are_no_graphs(tf, run):
    drawing = tf.data.Dataset.range(3).map(lambda k: k + tf.random.uniform([], 0, 5, tf.int64))
    with pytest.raises(tf.errors.FailedPreconditionError, match="RandomUniformInt is stateful."):
        run(graph_of(tf, drawing))
    assert b"RandomUniformInt" in run(graph_of(tf, drawing, stateful_whitelist=["RandomUniformInt"]))


# -- the steps that follow ---------------------------------------------------------------------------------------------

def asserting(tf, names, build, optimised):
    start = tf.raw_ops.AssertNextDataset(input_dataset=tf.data.Dataset.range(6)._variant_tensor, transformations=names, **NUMBER)
    options = tf.data.Options()
    options.experimental_optimization.apply_default_optimizations = optimised
    return build(numbers(tf, start)).with_options(options)


STEPS = {
    "map": (lambda d: d.map(lambda k: k).batch(2), ["Map", "BatchV2", "Model"], ["MapAndBatch", "Model"]),
    "counts": (lambda d: d.take(2).skip(0).repeat(2).prefetch(1), ["FiniteTake", "FiniteSkip", "FiniteRepeat", "Prefetch", "Model"],
               ["FiniteTake", "FiniteSkip", "FiniteRepeat", "Prefetch", "Model"]),
    "shuffle": (lambda d: d.shuffle(3).repeat(2), ["Shuffle", "FiniteRepeat", "Model"], ["ShuffleAndRepeat", "Model"]),
    "cache": (lambda d: d.cache(), ["MemoryCacheImpl", "Model"], ["MemoryCacheImpl", "Model"]),
    "zip": (lambda d: d.zip((d, d.range(6))), ["Zip[0]", "Model"], ["Zip[0]", "Model"]),
}


@pytest.mark.parametrize("optimised", [False, True])
@pytest.mark.parametrize("build, plain, fused", STEPS.values(), ids=STEPS)
def test_which_steps_follow(tf, build, plain, fused, optimised):
    expected = fused if optimised else plain
    assert len(drained(tf, asserting(tf, expected, build, optimised))) > 0
    with pytest.raises(tf.errors.InvalidArgumentError,
                       match=f"Asserted next {len(expected) + 1} transformations but encountered only {len(expected)}."):
        drained(tf, asserting(tf, [*expected, "More"], build, optimised))
    with pytest.raises(tf.errors.InvalidArgumentError,
                       match="Asserted Other transformation at offset 1 but encountered Model transformation|at offset 1 but"):
        drained(tf, asserting(tf, [expected[0], "Other"], build, optimised))


# -- snapshots ---------------------------------------------------------------------------------------------------------

def snapshot(tf, folder, calls, **attrs):
    source = tf.data.Dataset.range(3).map(
        lambda k: (tf.py_func(lambda v: calls.append(1) or v * 3, [k], tf.int64), tf.as_string(k)))
    kept = tf.raw_ops.SnapshotDataset(input_dataset=source._variant_tensor, path=str(folder), output_types=[tf.int64, tf.string],
                                      output_shapes=[[], []], **attrs)
    return tf.data.experimental.from_variant(kept, (tf.TensorSpec([], tf.int64), tf.TensorSpec([], tf.string)))


@pytest.mark.parametrize("attrs", [{}, {"compression": "GZIP"}, {"shard_size_bytes": 1}], ids=["plain", "gzip", "shards"])
def test_elements_come_from_a_snapshot_once_it_is_whole(tf, tmp_path, attrs):
    calls: list = []
    for _ in range(3):
        with tf.Graph().as_default():
            assert drained(tf, snapshot(tf, tmp_path, calls, **attrs)) == [(0, b"0"), (3, b"1"), (6, b"2")]
    assert len(calls) == 3


def test_another_dataset_has_another_snapshot(tf, tmp_path):
    for factor in (2, 3):
        source = tf.data.Dataset.range(2).map(lambda k, factor=factor: k * factor)
        kept = tf.raw_ops.SnapshotDataset(input_dataset=source._variant_tensor, path=str(tmp_path), **NUMBER)
        assert drained(tf, numbers(tf, kept)) == [0, factor]
    assert len(os.listdir(tmp_path)) == 2


def test_a_snapshot_in_the_making_is_left_alone_until_it_expires(tf, tmp_path):
    calls: list = []
    with tf.Session() as session:
        session.run(snapshot(tf, tmp_path, calls).make_one_shot_iterator().get_next())      # begun, and never ended
    drained(tf, snapshot(tf, tmp_path, calls))
    folder = tmp_path / os.listdir(tmp_path)[0]
    assert len(os.listdir(folder)) == 2                                                     # one run, and what is known of it
    drained(tf, snapshot(tf, tmp_path, calls, pending_snapshot_expiry_seconds=0))


def test_broken_snapshots(tf, tmp_path):
    def kept(**attrs):
        source = tf.data.Dataset.range(3)._variant_tensor
        return numbers(tf, tf.raw_ops.SnapshotDataset(input_dataset=source, path=str(tmp_path), **NUMBER, **attrs))

    assert drained(tf, kept()) == [0, 1, 2]
    with pytest.raises(tf.errors.InvalidArgumentError, match="compression must be either '' or 'GZIP'."):
        drained(tf, kept(compression="ZIP"))
    with pytest.raises(tf.errors.DataLossError, match="inflate"):
        drained(tf, kept(compression="GZIP"))
    file, = tmp_path.rglob("*.snapshot")
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(tf.errors.DataLossError, match="ends after"):
        drained(tf, kept())
