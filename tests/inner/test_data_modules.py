"""Names of ``tensorflow.python.data``'s inner modules that programs import."""
import pytest

from jitgraph import compat


@pytest.fixture(autouse=True)
def tensorflow():
    compat.install()
    yield
    compat.uninstall()


def elements(tf, dataset):
    element, found = tf.data.make_one_shot_iterator(dataset).get_next(), []
    with tf.Session() as session:
        while True:
            try:
                found.append(session.run(element))
            except tf.errors.OutOfRangeError:
                return found


def test_elements_as_flat_lists_of_tensors(tf):
    from tensorflow.python.data.util import structure

    element = structure.normalize_element({"a": 1.5, "b": (tf.SparseTensor([[0]], [3], [2]), [1, 2])})
    spec = structure.type_spec_from_value(element)
    tensors = structure.to_tensor_list(spec, element)
    assert structure.get_flat_tensor_types(spec) == [tf.float32, tf.variant, tf.int32] == [one.dtype for one in tensors]
    assert [shape.ndims for shape in structure.get_flat_tensor_shapes(spec)] == [0, None, 1]
    again = structure.from_tensor_list(spec, tensors)
    assert structure.are_compatible(spec, structure.type_spec_from_value(again))
    with tf.Session() as session:
        assert session.run(again["b"][0]).values.tolist() == [3]
    with pytest.raises(ValueError, match="Expected 3 tensors but got 2"):
        structure.from_tensor_list(spec, tensors[:2])
    with pytest.raises(ValueError, match="incompatible"):
        structure.from_tensor_list(spec, tensors[::-1])
    with pytest.raises(ValueError, match="not compatible"):
        structure.to_tensor_list(spec, {"a": 1, "b": element["b"]})
    with pytest.raises(ValueError, match="Slicing into scalars"):
        structure.to_batched_tensor_list(spec, element)


def test_shares_of_workers_and_replicas(tf, tmp_path):
    from tensorflow.python.data.experimental.ops import distribute, matching_files

    assert elements(tf, distribute._AutoShardDataset(tf.data.Dataset.range(7), 3, 1)) == [1, 4]
    batches = tf.data.Dataset.range(8).batch(4, drop_remainder=True)
    parts = distribute._RebatchDataset(batches, 2)
    assert parts.element_spec == tf.TensorSpec([2], tf.int64)
    assert [part.tolist() for part in elements(tf, parts)] == [[0, 1], [2, 3], [4, 5], [6, 7]]
    assert distribute._RebatchDataset(batches, 3).element_spec == tf.TensorSpec([None], tf.int64)
    with pytest.raises(ValueError, match="at least one dimension"):
        distribute._RebatchDataset(tf.data.Dataset.range(8), 2)
    for name in ("one.txt", "two.txt", "three.md"):
        (tmp_path / name).write_text("")
    found = elements(tf, matching_files.MatchingFilesDataset([str(tmp_path / "*.md"), str(tmp_path / "t*.txt")]))
    assert {name.decode().rpartition("/")[2] for name in found} == {"three.md", "two.txt"}


def test_whether_a_graph_is_that_of_a_function(tf):
    """Branches and bodies of loops are none, as in TensorFlow, where their nodes stand in the graph around them."""
    from tensorflow.python.data.experimental.ops import cardinality
    from tensorflow.python.data.ops import dataset_ops
    from tensorflow.python.framework import ops

    asked = []

    def ask(x):
        asked.append(ops.get_default_graph()._building_function)
        return x

    ask(0)
    tf.cond(tf.constant(True), lambda: tf.constant(ask(1)), lambda: tf.constant(2))
    tf.function(ask)(tf.constant(1))
    tf.data.Dataset.range(1).map(ask)
    assert asked == [False, False, True, True]
    assert (dataset_ops.AUTOTUNE, cardinality.INFINITE, cardinality.UNKNOWN) == (-1, -1, -2)
