"""An iterator whose state is restored goes on where it stood, in the same session and in another one."""
import numpy as np
import pytest

PIPELINES = {
    "numbers": lambda tf: tf.data.Dataset.range(30),
    "slices in batches": lambda tf: tf.data.Dataset.from_tensor_slices(np.arange(30)).batch(2),
    "shuffled without a seed": lambda tf: tf.data.Dataset.range(30).shuffle(7),
    "shuffled alike again": lambda tf: tf.data.Dataset.range(5).shuffle(5, reshuffle_each_iteration=False).repeat(4),
    "shuffled anew": lambda tf: tf.data.Dataset.range(5).shuffle(5).repeat(4),
    "shuffled and repeated": lambda tf: tf.data.Dataset.range(5).apply(tf.data.experimental.shuffle_and_repeat(3, 4)),
    "random numbers": lambda tf: tf.data.experimental.RandomDataset().take(20),
    "shuffled inside": lambda tf: tf.data.Dataset.range(9).flat_map(lambda k: tf.data.Dataset.range(5).shuffle(5, 1)),
    "interleaved": lambda tf: tf.data.Dataset.range(9).interleave(lambda k: tf.data.Dataset.range(k), 3, 2),
    "functions": lambda tf: tf.data.Dataset.range(30).map(lambda k: k * k, 2).filter(lambda k: k % 3 > 0).prefetch(2),
    "map and batch": lambda tf: tf.data.Dataset.range(30).apply(tf.data.experimental.map_and_batch(lambda k: -k, 3)),
    "padded": lambda tf: tf.data.Dataset.range(20).map(lambda k: tf.fill([k], k)).padded_batch(2, [-1]),
    "windows": lambda tf: tf.data.Dataset.range(40).window(3, 2).flat_map(lambda w: w.batch(3)),
    "cached": lambda tf: tf.data.Dataset.range(4).cache().repeat(5),
    "taken": lambda tf: tf.data.Dataset.range(40).skip(3).take(20).shard(2, 1),
    "batches with errors": lambda tf: tf.data.Dataset.range(1, 30).map(lambda k: tf.fill([k % 3], k)).batch(2),
    "scanned": lambda tf: tf.data.Dataset.range(30).apply(tf.data.experimental.scan(np.int64(0), lambda s, k: (s + k, s))),
}


def elements(tf, session, get_next, count):
    found = []
    for _ in range(count):
        try:
            found.append(session.run(get_next).tolist())
        except tf.errors.OpError as error:
            found.append(type(error).__name__)
    return found


@pytest.mark.parametrize("name", sorted(PIPELINES))
def test_restored_iterators_go_on(tf, tmp_path, name):
    iterator = PIPELINES[name](tf).make_initializable_iterator()
    get_next = iterator.get_next()
    saver = tf.train.Saver([tf.data.experimental.make_saveable_from_iterator(iterator)])
    with tf.Session() as session:
        session.run(iterator.initializer)
        elements(tf, session, get_next, 6)
        path = saver.save(session, str(tmp_path / "state"))
        after = elements(tf, session, get_next, 30)
        saver.restore(session, path)
        assert elements(tf, session, get_next, 30) == after
    with tf.Session() as session:
        session.run(iterator.initializer)
        saver.restore(session, path)
        assert elements(tf, session, get_next, 30) == after


def test_restoring_calls_no_functions_of_map(tf, tmp_path, monkeypatch):
    from jitgraph.data.source_host import Function

    calls = []
    start = Function.start

    def counted(self, run):
        call = start(self, run)
        return lambda element: calls.append(1) or call(element)

    monkeypatch.setattr(Function, "start", counted)
    iterator = tf.data.Dataset.range(1000).map(lambda k: k + 1).batch(10).make_initializable_iterator()
    get_next = iterator.get_next()
    saver = tf.train.Saver([tf.data.experimental.make_saveable_from_iterator(iterator)])
    with tf.Session() as session:
        session.run(iterator.initializer)
        elements(tf, session, get_next, 50)
        path = saver.save(session, str(tmp_path / "state"))
        calls.clear()
        saver.restore(session, path)
        assert not calls
        assert session.run(get_next)[0] == 501


def test_states_that_tensorflow_saved_are_refused(tf, tmp_path):
    from jitgraph.formats.variants import Encoded
    from jitgraph.resources import handle

    iterator = tf.data.Dataset.range(3).make_initializable_iterator()
    state = tf.placeholder(tf.variant, [])
    restore = tf.raw_ops.DeserializeIterator(resource_handle=iterator._iterator_resource, serialized=state)
    with tf.Session() as session:
        session.run(iterator.initializer)
        with pytest.raises(tf.errors.InvalidArgumentError, match="Unable to parse variant tensor.*tensorflow::Iterator"):
            session.run(restore, {state: handle(Encoded("tensorflow::Iterator", b"@@Iterator::Range:next"))})


def test_variants_in_checkpoints_are_tensorflows(tmp_path):
    from jitgraph.formats import bundle
    from jitgraph.formats.variants import Encoded

    # what TensorFlow 1.15 wrote for the iterator of a range
    written = b'>\n\x14tensorflow::Iterator\x12\x1d@@Iterator::Model::Range:next\x1a\x07\x08\t\x12\x00R\x01\x00\xee\x086\xf8'
    found, _ = bundle.decode_variants(written, ())
    assert found[()] == Encoded("tensorflow::Iterator", b"@@Iterator::Model::Range:next")
    own, crc = bundle.encode_variants(found)
    assert bundle.decode_variants(own, ())[1] == crc
    with pytest.raises(ValueError, match="checksum"):
        bundle.decode_variants(written.replace(b"Range", b"Ramge"), ())


def test_hook_continues_the_input_of_an_estimator(tf, tmp_path):
    seen = []

    def model(features, labels, mode):
        step = tf.train.get_or_create_global_step()
        note = tf.py_func(lambda value: seen.append(int(value)), [features], [])
        return tf.estimator.EstimatorSpec(mode, loss=tf.cast(features, tf.float32), train_op=tf.group(note, tf.assign_add(step, 1)))

    def numbers():
        return tf.data.Dataset.range(100).shuffle(100, 3)

    estimator = tf.estimator.Estimator(model, str(tmp_path), tf.estimator.RunConfig(tf_random_seed=1))
    for _ in range(3):
        estimator.train(numbers, hooks=[tf.data.experimental.CheckpointInputPipelineHook(estimator)], steps=3)
    assert seen == [17, 44, 89, 11, 9, 3, 79, 76, 63]       # as TensorFlow 1.15
    assert (tmp_path / "checkpoint_input").exists()
    assert (tmp_path / "input.ckpt-9.index").exists()


def scanned(tf, initial, step, count=4):
    dataset = tf.data.Dataset.range(count).apply(tf.data.experimental.scan(initial, step))
    iterator = dataset.make_initializable_iterator()
    get_next = iterator.get_next()
    with tf.Session() as session:
        session.run(iterator.initializer)
        return [session.run(get_next) for _ in range(count)]


@pytest.mark.parametrize("options", [{"size": 5}, {"size": 5, "clear_after_read": False}, {"size": 0, "dynamic_size": True}],
                         ids=str)
def test_a_tensor_array_is_the_state(tf, options):
    """In functions it is a list, whose elements are read and written as often as one likes, as in TensorFlow."""

    def step(state, k):
        array, i = state
        array = array.write(i, 10 * k)
        return (array, i + 1), (array.stack(), array.read(0) + array.read(0), array.size())

    found = scanned(tf, (tf.TensorArray(tf.int64, element_shape=[], **options), 1), step, 3)
    stacked = [[0, 0], [0, 0, 10], [0, 0, 10, 20]]
    if options["size"]:
        stacked = [row + [0] * (5 - len(row)) for row in stacked]
    assert [(rows.tolist(), twice, size) for rows, twice, size in found] == [(row, 0, len(row)) for row in stacked]


def test_elements_of_tensor_arrays_are_written_anew(tf):
    def step(array, k):
        changed = array.scatter([1, 0], tf.stack([k, k + 1])).write(0, k * k)
        return changed.split([k, k, k], [2, 1]), (array.gather([0, 1]), changed.stack(), changed.unstack([[k], [k]]).concat())

    array = tf.TensorArray(tf.int64, 2, infer_shape=False, element_shape=[None]).split(tf.constant([5, 6, 7], tf.int64), [1, 2])
    with pytest.raises(ValueError, match="Inconsistent shapes"):
        scanned(tf, array, step)

    def scalars(array, k):
        changed = array.scatter([1, 0], tf.stack([k, k + 1])).write(0, k * k)
        return changed, (array.stack(), changed.gather([1, 0]), array.unstack([k, k, k]).size(), changed.identity().read(0))

    found = scanned(tf, tf.TensorArray(tf.int64, 2, element_shape=[]), scalars, 3)
    assert [[part.tolist() for part in parts] for parts in found] == [
        [[0, 0], [0, 0], 3, 0], [[0, 0], [1, 1], 3, 1], [[1, 1], [2, 4], 3, 4]]


def test_an_index_outside_of_a_tensor_array(tf):
    def step(state, k):
        return (state[0].write(state[1], k), state[1] + 1), k

    with pytest.raises(tf.errors.InvalidArgumentError, match="Trying to modify element 2 in a list with 2 elements"):
        scanned(tf, (tf.TensorArray(tf.int64, 2, element_shape=[]), 0), step)


@pytest.mark.parametrize("versions", [1, 2])
def test_versions_of_a_tensor_array_in_a_function(tf, versions):
    def function(k):
        first = tf.TensorArray(tf.int64, 2, element_shape=[]).write(0, k)
        other = first.write(1, k) if versions == 2 else first
        return first.stack(), other.stack()

    get_next = tf.data.Dataset.range(5, 9).map(function).make_one_shot_iterator().get_next()
    with tf.Session() as session:
        found = [[part.tolist() for part in session.run(get_next)] for _ in range(2)]
    assert found == [[[k, 0], [k, k if versions == 2 else 0]] for k in (5, 6)]


def test_loops_and_gradients_through_lists(tf):
    def function(k):
        x = tf.cast(k, tf.float32)
        array = tf.TensorArray(tf.float32, 3, element_shape=[]).write(0, x)
        _, array = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a.write(i, a.read(i - 1) * x)), (1, array))
        return tf.gradients(array.write(0, x * x).stack(), x)[0]        # of x*x + x*x + x*x*x

    get_next = tf.data.Dataset.range(1, 4).map(function).make_one_shot_iterator().get_next()
    with tf.Session() as session:
        assert [session.run(get_next) for _ in range(3)] == [4 * k + 3 * k * k for k in (1, 2, 3)]


@pytest.mark.parametrize("initial", ["x", ("x", 1)], ids=str)
def test_a_string_grows(tf, initial):
    def step(state, k):
        text = state if initial == "x" else state[0]
        return text + "y" if initial == "x" else (text + "y", state[1]), text + "z"

    assert scanned(tf, initial, step) == [b"xz", b"xyz", b"xyyz", b"xyyyz"]


def test_reduced_to_a_tensor_array(tf):
    whole, count = tf.data.Dataset.range(4).reduce((tf.TensorArray(tf.int64, 5, element_shape=[]), 0),
                                                   lambda state, k: (state[0].write(state[1], k * k), state[1] + 1))
    with tf.Session() as session:
        assert [part.tolist() for part in session.run([whole.stack(), count])] == [[0, 1, 4, 9, 0], 4]
