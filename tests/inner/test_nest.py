"""Structures with the keys on the way to their elements: what TensorFlow 1.15.5 gives."""
import collections

import pytest

Point = collections.namedtuple("Point", "x y")
TREE = {"b": [1, (2, 3)], "a": Point(4, 5)}
PATHS = [("a", "x"), ("a", "y"), ("b", 0), ("b", 1, 0), ("b", 1, 1)]


@pytest.fixture
def nest(tf):
    return tf.contrib.framework.nest


def test_paths(nest):
    assert list(nest.yield_flat_paths(TREE)) == PATHS
    found = nest.map_structure_with_tuple_paths(lambda path, v, w, k: (path, v + w + k), TREE, TREE, k=1)
    assert found == {"b": [(PATHS[2], 3), ((PATHS[3], 5), (PATHS[4], 7))], "a": Point((PATHS[0], 9), (PATHS[1], 11))}


def test_paths_of_a_shallow_structure(nest):
    below = [[[2, 2], [3, 3]], [[4, 9], [5, 5]]]
    found = nest.flatten_with_tuple_paths_up_to([[True, True], [False, True]], below)
    assert found == [((0, 0), [2, 2]), ((0, 1), [3, 3]), ((1, 0), [4, 9]), ((1, 1), [5, 5])]
    assert nest.flatten_with_tuple_paths_up_to(0, [0, 1]) == [((), [0, 1])]
    shallow, a, b = {"a": None, "b": None}, {"a": 1, "b": (2, 3)}, {"a": 5, "b": (6, 7)}
    found = nest.map_structure_with_tuple_paths_up_to(shallow, lambda *given: given, a, b)
    assert found == {"a": (("a",), 1, 5), "b": (("b",), (2, 3), (6, 7))}


def test_structures_that_do_not_suit(nest):
    with pytest.raises(ValueError, match="Cannot map over no sequences"):
        nest.map_structure_with_tuple_paths_up_to([1], lambda path: path)
    with pytest.raises(TypeError, match="don't have the same sequence type"):
        nest.map_structure_with_tuple_paths(lambda *given: 0, [1], (1,))
    assert nest.map_structure_with_tuple_paths(lambda *given: 0, [1], (1,), check_types=False) == [0]
    with pytest.raises(ValueError, match="don't have the same sequence length"):
        nest.flatten_with_tuple_paths_up_to([0, 1], [0, 1, 2])


def test_composite_tensors(tf, nest):
    assert nest.is_sequence_or_composite(tf.SparseTensor([[0]], [1], [1])) and nest.is_sequence_or_composite([1])
    assert not nest.is_sequence_or_composite(3)


def test_paths_into_composite_tensors(nest, tf):
    from jitgraph.inner import nest as inner

    sparse, ragged = tf.SparseTensor([[0]], [1], [2]), tf.ragged.constant([[1], [2, 3]])
    both = {"a": [sparse, 1], "b": ragged}
    assert list(nest.yield_flat_paths(both)) == [("a", 0), ("a", 1), ("b",)]
    assert [path for path, _ in inner.flatten_with_joined_string_paths(both, expand_composites=True)] == [
        "a/0/SparseTensor/0", "a/0/SparseTensor/1", "a/0/SparseTensor/2", "a/1", "b/RaggedTensor/0", "b/RaggedTensor/1"]
    found = nest.map_structure_up_to(sparse, lambda part: part + 1, sparse, expand_composites=True)
    assert isinstance(found, tf.SparseTensor) and found.values.op.type.startswith("Add")
    with pytest.raises(TypeError, match="don't have the same sequence type"):
        inner.assert_shallow_structure([sparse], [ragged], expand_composites=True)


def test_functions_of_paths_take_structures_that_are_alike(nest):
    from jitgraph.inner.nest import map_structure_with_paths

    assert map_structure_with_paths(lambda path, a, b: (path, a, b), [1, [2]], [3, [4]]) == [("0", 1, 3), [("1/0", 2, 4)]]
    assert map_structure_with_paths(lambda path, a, b: a + b, [1, 2], (3, 4), check_types=False) == [4, 6]
    for other, error in (([3, 4], TypeError), ((1, [2]), TypeError), ([1, [2], 3], ValueError)):
        with pytest.raises(error):
            map_structure_with_paths(lambda path, a, b: a, [1, [2]], other)
