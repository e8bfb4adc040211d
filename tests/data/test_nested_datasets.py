"""Lists and batches of datasets, and TensorArrays, as components of elements."""
import pytest

from tests.data.draining import drained as drained_by


def drained(tf, dataset):
    return drained_by(tf, dataset.make_one_shot_iterator())


def test_lists_of_datasets(tf):
    """A list of datasets of one structure is one component, a batch of them; lists of lists are batches of batches."""
    of_range = tf.data.Dataset.range
    one = tf.data.Dataset.from_tensor_slices([of_range(count) for count in range(4)])
    rows = tf.data.Dataset.from_tensors([[of_range(2), of_range(1)], [of_range(3), of_range(1)]])
    assert one.element_spec == tf.data.DatasetSpec(tf.TensorSpec([], tf.int64))
    assert rows.element_spec == tf.data.DatasetSpec(tf.TensorSpec([], tf.int64), [2, 2])
    slices = tf.data.Dataset.from_tensor_slices
    assert drained(tf, one.flat_map(lambda x: x)) == [0, 0, 1, 0, 1, 2]
    assert drained(tf, rows.flat_map(slices).flat_map(slices).flat_map(lambda x: x)) == [0, 1, 0, 0, 1, 2, 0]


def test_batches_of_datasets_pass_through_functions(tf):
    batches = tf.data.Dataset.range(6).map(lambda x: tf.data.Dataset.from_tensors(x)).batch(4).map(lambda x: x)
    assert batches.element_spec.shape.as_list() == [None]
    assert drained(tf, batches.unbatch().flat_map(lambda x: x)) == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("others", [lambda tf: tf.data.Dataset.from_tensors("a"), lambda tf: 1])
def test_lists_of_what_differs(tf, others):
    with pytest.raises(TypeError, match="Failed to convert"):
        tf.data.Dataset.from_tensors([tf.data.Dataset.range(2), others(tf)])


@pytest.mark.parametrize("one, other", [({"a": 1, "b": 2}, {"a": 1, "c": 2}), ((1, 2), (1,)), ((1, 2), (1, (2,))), ((1, 2), 1)])
def test_concatenation_of_other_structures(tf, one, other):
    of = tf.data.Dataset.from_tensors
    with pytest.raises(TypeError, match="have different types"):
        of(one).concatenate(of(other))
    assert len(drained(tf, of(one).concatenate(of(one)))) == 2


def test_tensor_arrays_that_are_read_and_handed_on(tf):
    """What a dataset keeps of a TensorArray is a value: reading it takes nothing away, whatever its `clear_after_read`."""
    start = tf.TensorArray(tf.int64, 0, dynamic_size=True, element_shape=[]).write(0, -1)
    scanned = tf.data.Dataset.range(3).apply(tf.data.experimental.scan(start, lambda ta, x: (ta.write(ta.size(), x), ta.stack())))
    iterator = scanned.make_initializable_iterator()
    assert [row.tolist() for row in drained_by(tf, iterator, iterator.initializer)] == [[-1], [-1, 0], [-1, 0, 1]]
