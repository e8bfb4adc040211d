"""Nodes of datasets and iterators that TensorFlow 1.15 does not run in a session, or that need what a recording has not."""
import sys

import numpy as np
import pytest

NUMBERS = {"output_shapes": [[]]}


def elements(tf, dataset, count):
    iterator = dataset.make_initializable_iterator()
    get_next = iterator.get_next()
    with tf.Session() as session:
        session.run(iterator.initializer)
        return [session.run(get_next) for _ in range(count)]


def numbers(tf, variant):
    return tf.data.experimental.from_variant(variant, tf.TensorSpec([], tf.int64))


def test_a_seed_generator_orders_each_iteration_anew(tf):
    raw, flat = tf.raw_ops, {"output_types": [tf.int64], **NUMBERS}
    seeds, deleter = raw.AnonymousRandomSeedGenerator(seed=3, seed2=5)
    source = tf.data.Dataset.range(9)._variant_tensor
    mixed = raw.ShuffleDatasetV2(input_dataset=source, buffer_size=9, seed_generator=seeds, **flat)
    found = elements(tf, numbers(tf, mixed).repeat(2), 18)
    assert sorted(found[:9]) == sorted(found[9:]) == list(range(9))
    assert found[:9] != found[9:]
    assert found == elements(tf, numbers(tf, mixed).repeat(2), 18)
    with tf.Session() as session:
        session.run(raw.DeleteRandomSeedGenerator(handle=seeds, deleter=deleter))


def test_a_memory_keeps_elements_for_several_datasets(tf):
    raw, flat, calls = tf.raw_ops, {"output_types": [tf.int64], **NUMBERS}, []
    cache, deleter = raw.AnonymousMemoryCache()
    source = tf.data.Dataset.range(3).map(lambda k: tf.py_func(lambda v: calls.append(1) or v, [k], tf.int64))
    kept = raw.CacheDatasetV2(input_dataset=source._variant_tensor, filename="", cache=cache, **flat)
    assert elements(tf, numbers(tf, kept).repeat(3), 9) == [0, 1, 2] * 3
    assert len(calls) == 3
    with tf.Session() as session:
        session.run(raw.DeleteMemoryCache(handle=cache, deleter=deleter))


@pytest.mark.parametrize("version", ["", "V2"])
def test_anonymous_iterators_begin_anew_in_each_run(tf, version):
    raw, flat = tf.raw_ops, {"output_types": [tf.int64], **NUMBERS}
    made = getattr(raw, f"AnonymousIterator{version}")(**flat)
    handle = made[0] if version else made
    with tf.control_dependencies([raw.MakeIterator(dataset=tf.data.Dataset.range(5)._variant_tensor, iterator=handle)]):
        first = raw.IteratorGetNext(iterator=handle, **flat)
    with tf.control_dependencies(first):
        second = raw.IteratorGetNext(iterator=handle, **flat)
    with tf.control_dependencies(second):
        ends = [raw.DeleteIterator(handle=handle, deleter=made[1])] if version else []
    with tf.Session() as session:
        for _ in range(2):
            assert session.run([first, second, ends])[:2] == [[0], [1]]
        assert session.run(raw.IteratorGetDevice(resource=handle)).endswith(b"device:CPU:0")


def test_iterators_of_devices_are_found_by_a_text(tf):
    raw, flat, devices = tf.raw_ops, {"output_types": [tf.int64], **NUMBERS}, ["/cpu:0", "/cpu:1"]
    handle = raw.MultiDeviceIterator(devices=devices, shared_name="", container="", **flat)
    begin = raw.MultiDeviceIteratorInit(dataset=tf.data.Dataset.range(5)._variant_tensor, multi_device_iterator=handle,
                                        max_buffer_size=1)
    text = raw.MultiDeviceIteratorToStringHandle(multi_device_iterator=handle)
    named = tf.placeholder(tf.string, [])
    found = raw.MultiDeviceIteratorFromStringHandle(string_handle=named, **flat)
    taken = raw.MultiDeviceIteratorGetNextFromShard(multi_device_iterator=found, shard_num=1, incarnation_id=np.int64(0), **flat)
    with tf.Session() as session:
        session.run(begin)
        name = session.run(text)
        assert [session.run(taken, {named: name}) for _ in range(2)] == [[1], [3]]
        with pytest.raises(tf.errors.InvalidArgumentError, match="not in this session"):
            session.run(taken, {named: "iterator of nobody"})
    made, deleter = raw.AnonymousMultiDeviceIterator(devices=devices, **flat)
    with tf.Session() as session:
        session.run(raw.DeleteMultiDeviceIterator(multi_device_iterator=made, iterators=[], deleter=deleter))


def test_elements_are_kept_by_their_last_component(tf):
    pairs = tf.data.Dataset.range(5).map(lambda k: (k, k > 2))
    kept = tf.raw_ops.FilterByLastComponentDataset(input_dataset=pairs._variant_tensor, output_types=[tf.int64], **NUMBERS)
    assert elements(tf, numbers(tf, kept), 2) == [3, 4]


def test_a_function_maps_slices(tf, run):
    from jitgraph.graph.function_graph import FunctionGraph

    graph = FunctionGraph("twice")
    with graph.as_default():
        x, y = graph.add_input(tf.float32, (2,), "x"), graph.add_input(tf.float32, (), "y")
        graph.outputs = [x * 2 + y, tf.reduce_sum(x)]
    rows = np.arange(6, dtype=np.float32).reshape(3, 2)
    found = tf.raw_ops.MapDefun(arguments=[tf.constant(rows)], captured_inputs=[tf.constant(10.)], f=graph,
                                output_types=[tf.float32, tf.float32], output_shapes=[[2], []])
    assert [part.shape.as_list() for part in found] == [[3, 2], [3]]
    doubled, sums = run(found)
    np.testing.assert_array_equal(doubled, rows * 2 + 10)
    np.testing.assert_array_equal(sums, rows.sum(1))
    with pytest.raises(tf.errors.InvalidArgumentError, match="rank at least 1"):
        run(tf.raw_ops.MapDefun(arguments=[tf.constant(1.)], captured_inputs=[tf.constant(10.)], f=graph,
                                output_types=[tf.float32, tf.float32], output_shapes=[[2], []]))


def _branches(tf, *functions):
    """Functions of datasets of numbers, as functions of variants."""
    from jitgraph.functions.defun import Defun

    def of_variants(function):
        def called(variant, *captured):
            return function(tf.data.experimental.from_variant(variant, tf.TensorSpec([], tf.int64)), *captured)._variant_tensor
        return called
    return [Defun(tf.variant, *[tf.int64] * (function.__code__.co_argcount - 1))(of_variants(function)) for function in functions]


def _fastest(tf, functions, shape=(), dataset=None, **given):
    """The elements of a ChooseFastestBranchDataset of these functions."""
    given = {"ratio_numerator": 1, "ratio_denominator": 1, "num_elements_per_branch": 2, "other_arguments": [],
             "other_arguments_lengths": [0] * len(functions), **given}
    dataset = tf.data.Dataset.range(6) if dataset is None else dataset
    made = tf.raw_ops.ChooseFastestBranchDataset(input_dataset=dataset._variant_tensor, branches=_branches(tf, *functions),
                                                 output_types=[tf.int64], output_shapes=[shape], **given)
    iterator = tf.data.experimental.from_variant(made, tf.TensorSpec(shape, tf.int64)).make_initializable_iterator()
    get_next, found = iterator.get_next(), []
    with tf.Session() as session:
        session.run(iterator.initializer)
        with pytest.raises(tf.errors.OutOfRangeError):
            while True:
                found.append(session.run(get_next).tolist())
    return found


def test_branches_that_give_equal_elements(tf):
    two = [lambda d: d.map(lambda k: k * 2).batch(2), lambda d: d.batch(2).map(lambda k: k * 2)]
    for functions in (two, two[:1], two[1:]):
        assert _fastest(tf, functions, [None], tf.data.Dataset.range(5), ratio_numerator=2) == [[0, 2], [4, 6], [8]]
    repeated = [lambda d: d.flat_map(lambda k: tf.data.Dataset.from_tensors(k).repeat(2))] * 2
    assert _fastest(tf, repeated, dataset=tf.data.Dataset.range(3), ratio_denominator=2) == [0, 0, 1, 1, 2, 2]
    captured = [lambda d, c: d.map(lambda k: k * c), lambda d: d.map(lambda k: k * 3)]
    of_first = {"other_arguments": [tf.constant(3, tf.int64)], "other_arguments_lengths": [1, 0]}
    assert _fastest(tf, captured, **of_first) == [0, 3, 6, 9, 12, 15]


@pytest.mark.parametrize(("given", "message"), [
    ({"ratio_numerator": 0}, "`ratio_numerator` must be greater than zero."),
    ({"ratio_denominator": -1}, "`ratio_denominator` must be greater than zero."),
    ({"ratio_numerator": 3, "ratio_denominator": 2, "num_elements_per_branch": 1},
     "`num_elements_per_branch` must be divisible by `ratio_denominator`."),
    ({"other_arguments_lengths": [0]}, "branches and other_arguments_lengths must have the same length.")])
def test_ratios_of_branches(tf, given, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        _fastest(tf, [lambda d: d.map(lambda k: k + 1)] * 2, **given)


def test_a_concrete_function_maps_slices(tf, run):
    @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
    def twice(x):
        return x * 2

    found = tf.raw_ops.MapDefun(arguments=[tf.constant([1., 2.])], captured_inputs=[], f=twice.get_concrete_function(),
                                output_types=[tf.float32], output_shapes=[[]])
    np.testing.assert_array_equal(run(found)[0], [2, 4])


@pytest.fixture
def database(tmp_path):
    lmdb = pytest.importorskip("lmdb")
    for name, subdir in (("folder", True), ("file.mdb", False)):
        with lmdb.open(str(tmp_path / name), subdir=subdir) as environment, environment.begin(write=True) as transaction:
            for number in (10, 2, 0):
                transaction.put(str(number).encode(), b"value " + str(number).encode())
    return tmp_path


@pytest.mark.parametrize("name", ["folder", "file.mdb"])
def test_lmdb(tf, database, name):
    path, expected = str(database / name), [(b"0", b"value 0"), (b"10", b"value 10"), (b"2", b"value 2")]
    assert elements(tf, tf.contrib.data.LMDBDataset([path, path]), 6) == expected * 2
    queue = tf.train.string_input_producer([path], 1)
    record = tf.LMDBReader().read(queue)
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(coord=coordinator)
        assert [tuple(session.run(record)) for _ in range(3)] == expected
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(record)
        coordinator.request_stop()
        coordinator.join(threads)


def test_lmdb_without_a_database_or_the_package(tf, tmp_path, monkeypatch):
    with pytest.raises(tf.errors.InvalidArgumentError, match="No such file"):
        elements(tf, tf.contrib.data.LMDBDataset(str(tmp_path / "none.mdb")), 1)
    monkeypatch.setitem(sys.modules, "lmdb", None)
    with pytest.raises(Exception, match=r"the package lmdb, which is not installed: .*pip install 'jitgraph\[lmdb\]'"):
        elements(tf, tf.contrib.data.LMDBDataset(str(tmp_path / "none.mdb")), 1)


def test_statistics_are_written_by_a_writer_of_summaries(tf, tmp_path):
    raw = tf.raw_ops
    aggregator, writer = raw.StatsAggregatorHandleV2(shared_name="statistics"), raw.SummaryWriter(shared_name="writer")
    make = raw.CreateSummaryFileWriter(writer=writer, logdir=str(tmp_path), max_queue=1, flush_millis=10, filename_suffix=".s")
    joined = raw.StatsAggregatorSetSummaryWriter(stats_aggregator=aggregator, summary=writer)
    counted = tf.data.Dataset.range(3).apply(tf.data.experimental.bytes_produced_stats("bytes"))
    kinds = {"output_types": [tf.int64], "output_shapes": [[]]}
    watched = raw.SetStatsAggregatorDataset(input_dataset=counted._variant_tensor, stats_aggregator=aggregator, tag="",
                                            counter_prefix="", **kinds)
    iterator = raw.IteratorV2(shared_name="iterator", container="", **kinds)
    start, following = raw.MakeIterator(dataset=watched, iterator=iterator), raw.IteratorGetNext(iterator=iterator, **kinds)
    with tf.Session() as session:
        for node in (make, joined, start):
            session.run(node)
        assert [int(session.run(following)[0]) for _ in range(3)] == [0, 1, 2]
        session.run(raw.CloseSummaryWriter(writer=writer))
    file, = tmp_path.iterdir()
    written = [(value.tag, value.histo.num, value.histo.sum)
               for event in tf.train.summary_iterator(str(file)) for value in event.summary.value]
    assert written == [("bytes", 1, 8), ("bytes", 2, 16), ("bytes", 3, 24)]     # TensorFlow 1.15.5 gives these


@pytest.mark.parametrize("buffer", [None, 2])
def test_elements_are_prefetched_to_a_device(tf, buffer):
    """With as many nodes as in TensorFlow 1.15, whose iterator over them is not optimized."""
    graph, dataset = tf.get_default_graph(), tf.data.Dataset.range(3)
    before = graph._last_id
    dataset = dataset.apply(tf.data.experimental.prefetch_to_device("/gpu:0", buffer))
    made = graph._last_id
    assert elements(tf, dataset, 3) == [0, 1, 2]
    assert (made - before, graph._last_id - made) == (5, 4)


def test_elements_are_copied_to_a_device(tf):
    dataset = tf.data.Dataset.range(3).apply(tf.data.experimental.copy_to_device("/gpu:0"))
    assert elements(tf, dataset, 3) == [0, 1, 2]


def test_a_transformation_may_give_its_dataset_back(tf):
    assert elements(tf, tf.data.Dataset.range(3).apply(lambda dataset: dataset), 3) == [0, 1, 2]
