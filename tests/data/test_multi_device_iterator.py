"""MultiDeviceIterator deals elements to devices as TensorFlow 1.15's, whose answers these are."""
import pytest

from jitgraph.data.multi_device_iterator import MultiDeviceIterator

DEVICES = ["/cpu:0", "/cpu:1"]


@pytest.fixture
def session(tf):
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as session:
        yield session


def test_each_device_has_its_own_turn_and_elements_wait_for_it(tf, session):
    iterator = MultiDeviceIterator(tf.data.Dataset.range(7), DEVICES)
    both, second = iterator.get_next(), iterator.get_next("/cpu:1")
    for _ in range(2):
        session.run(iterator.initializer)
        assert [session.run(fetch) for fetch in (both, both[1], second, both[0])] == [[0, 1], 3, 5, 2]
        with pytest.raises(tf.errors.OutOfRangeError, match="End of sequence"):
            session.run(both)


def test_elements_keep_their_structure(tf, session):
    iterator = MultiDeviceIterator(tf.data.Dataset.from_tensor_slices({"x": [[1.0, 2.0]], "y": [3]}), DEVICES[:1])
    element, = iterator.get_next()
    assert element["x"].shape == [2] and iterator.element_spec["y"].dtype == tf.int32
    session.run(iterator.initializer)
    assert session.run(element["y"]) == 3


def test_what_goes_wrong(tf, session):
    iterator = MultiDeviceIterator(tf.data.Dataset.range(7), DEVICES)
    with pytest.raises(tf.errors.FailedPreconditionError):
        session.run(iterator.get_next())
    with pytest.raises(ValueError):
        iterator.get_next("/gpu:3")
    session.run(iterator.initializer)
    for number, past in ((2, 0), (0, 7)):
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(tf.raw_ops.MultiDeviceIteratorGetNextFromShard(
                multi_device_iterator=iterator._resource, shard_num=number, incarnation_id=past, output_types=[tf.int64],
                output_shapes=[[]]))
