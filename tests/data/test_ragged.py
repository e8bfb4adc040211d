"""Ragged tensors and tensor arrays in datasets: what TensorFlow 1.15 gives."""
import pytest


def elements(tf, dataset):
    following = dataset.make_one_shot_iterator().get_next()
    found = []
    with tf.Session() as session, pytest.raises(tf.errors.OutOfRangeError):
        while True:
            value = session.run(following)
            found.append(value.to_list() if hasattr(value, "to_list") else value.tolist())
    return found


def test_whole_and_in_rows(tf):
    rows = tf.ragged.constant([[[1], [2, 3]], [], [[4]]])
    assert elements(tf, tf.data.Dataset.from_tensors(rows)) == [[[[1], [2, 3]], [], [[4]]]]
    slices = tf.data.Dataset.from_tensor_slices(rows)
    assert repr(slices.element_spec) == "RaggedTensorSpec(TensorShape([Dimension(None), Dimension(None)]), tf.int32, 1, tf.int64)"
    assert elements(tf, slices) == [[[1], [2, 3]], [], [[4]]]
    assert elements(tf, slices.batch(2)) == [[[[1], [2, 3]], []], [[[4]]]]
    assert elements(tf, tf.data.Dataset.from_tensors(rows).apply(tf.data.experimental.unbatch())) == [[[1], [2, 3]], [], [[4]]]


def test_rows_of_numbers_are_values_only_in_batches(tf):
    slices = tf.data.Dataset.from_tensor_slices(tf.ragged.constant([[1, 2], [], [3], [4, 5, 6]]))
    assert elements(tf, slices.batch(3)) == [[[1, 2], [], [3]], [[4, 5, 6]]]
    with pytest.raises(ValueError, match="ragged_rank must be non-negative; got 0."):
        slices.map(lambda row: row)


def test_functions_take_and_give_them(tf):
    slices = tf.data.Dataset.from_tensor_slices(tf.ragged.constant([[[1], [2, 3]], [], [[4]]]))
    assert elements(tf, slices.map(lambda rows: tf.reduce_sum(rows, 1))) == [[1, 5], [], [4]]
    made = tf.data.Dataset.range(3).map(lambda n: tf.ragged.range(tf.range(n + 1)))
    assert elements(tf, made) == [[[]], [[], [0]], [[], [0], [0, 1]]]
    assert elements(tf, made.batch(2)) == [[[[]], [[], [0]]], [[[], [0], [0, 1]]]]


def test_iterators_tell_of_them(tf):
    rows = tf.ragged.constant([[[1], [2, 3]], [], [[4]]])
    iterator = tf.data.Dataset.from_tensors(rows).make_initializable_iterator()
    assert iterator.output_types == tf.int32
    assert str(iterator.output_shapes) == "(3, ?, ?)"
    assert iterator.output_classes == tf.RaggedTensorSpec([3, None, None], tf.int32, 2)
    assert str(iterator.get_next().shape) == "(3, ?, ?)"
    assert tf.RaggedTensorSpec([None, None, None], tf.int32).is_compatible_with(rows)
    assert not tf.RaggedTensorSpec([None, None, None], tf.int64).is_compatible_with(rows)


@pytest.mark.parametrize(("arguments", "error"), [((None,), ValueError), (([2, None], "int32", 2), ValueError),
                                                  (([2, None], "int32", "1"), TypeError)])
def test_specs_that_say_too_little(tf, arguments, error):
    with pytest.raises(error):
        tf.RaggedTensorSpec(*arguments)


def test_tensor_arrays(tf):
    made = tf.data.Dataset.from_tensors(5).map(lambda x: tf.TensorArray(tf.int32, 3, element_shape=[]).unstack([x, 2, 3]))
    assert isinstance(made.element_spec, tf.TensorArraySpec)
    assert made.output_types == tf.int32
    assert elements(tf, made.map(lambda array: array.stack())) == [[5, 2, 3]]
    assert tf.TensorArraySpec([2]).is_compatible_with(tf.TensorArraySpec([None], infer_shape=False))
    assert tf.TensorArraySpec([2]).most_specific_compatible_type(tf.TensorArraySpec([None])) == tf.TensorArraySpec([None])
    with pytest.raises(ValueError, match="Types are not compatible"):
        tf.TensorArraySpec([2]).most_specific_compatible_type(tf.TensorArraySpec([2], tf.int32))


def test_older_names(tf):
    experimental = tf.data.experimental
    assert experimental.TensorStructure(tf.int32, [2]) == tf.TensorSpec([2], tf.int32)
    assert experimental.SparseTensorStructure(tf.int32, [2, 3]) == tf.SparseTensorSpec([2, 3], tf.int32)
    assert experimental.RaggedTensorStructure(tf.int32, [2, None], 1) == tf.RaggedTensorSpec([2, None], tf.int32)
    assert experimental.TensorArrayStructure(tf.int32, [2], False, True) == tf.TensorArraySpec([2], tf.int32)
    assert experimental.Structure is tf.TypeSpec and experimental.OptionalStructure is tf.OptionalSpec
    assert repr(tf.OptionalSpec(tf.TensorSpec([2]))) == "OptionalSpec(TensorSpec(shape=(2,), dtype=tf.float32, name=None),)"
    assert isinstance(tf.data.Dataset.range(2).window(2).element_spec, tf.data.DatasetSpec)
