"""tf.nest: taking structures apart, putting them together, comparing them."""
import collections

import numpy as np
import pytest

Point = collections.namedtuple("Point", "x y")
NESTED = {"b": [1, (2, Point(3, 4))], "a": 5}


def test_flatten_and_pack(tf):
    assert tf.nest.flatten(NESTED) == [5, 1, 2, 3, 4]
    assert tf.nest.flatten(7) == [7]
    again = tf.nest.pack_sequence_as(NESTED, list("vwxyz"))
    assert again == {"a": "v", "b": ["w", ("x", Point("y", "z"))]} and list(again) == ["b", "a"]
    assert isinstance(again["b"][1][1], Point)
    ordered = collections.OrderedDict([("z", 1), ("a", 2)])
    assert tf.nest.flatten(ordered) == [2, 1]
    assert isinstance(tf.nest.pack_sequence_as(ordered, [0, 1]), collections.OrderedDict)
    with pytest.raises(ValueError, match="had 5 elements, but flat_sequence had 2"):
        tf.nest.pack_sequence_as(NESTED, [1, 2])
    with pytest.raises(TypeError, match="flat_sequence must be a sequence"):
        tf.nest.pack_sequence_as(NESTED, 3)


def test_map_structure(tf):
    assert tf.nest.map_structure(lambda a, b: a + b, [1, (2,)], [10, (20,)]) == [11, (22,)]
    with pytest.raises(TypeError, match="same sequence type"):
        tf.nest.map_structure(lambda a, b: a, [1, (2,)], [1, [2]])
    assert tf.nest.map_structure(lambda a, b: b, [1, (2,)], [1, [2]], check_types=False) == [1, (2,)]
    with pytest.raises(TypeError, match="func must be callable"):
        tf.nest.map_structure(1, [1])


def test_composite_tensors_are_leaves_unless_opened(tf):
    sparse = tf.SparseTensor([[0]], [1.0], [3])
    assert tf.nest.flatten([sparse]) == [sparse]
    assert tf.nest.flatten([sparse], expand_composites=True) == [sparse.indices, sparse.values, sparse.dense_shape]
    assert tf.nest.is_nested([1]) and not tf.nest.is_nested(sparse) and not tf.nest.is_nested("ab")


@pytest.mark.parametrize("a, b, kind, text", [
    ([1, 2], [1], ValueError, "number of elements"),
    ([1, [2]], [1, 2], ValueError, "is a sequence, while"),
    ({"a": 1}, {"b": 1}, ValueError, "same set of keys"),
    ((1, 2), [1, 2], TypeError, "same sequence type"),
    (Point(1, 2), (1, 2), TypeError, "same sequence type"),
])
def test_structures_that_differ(tf, a, b, kind, text):
    with pytest.raises(kind, match=text):
        tf.nest.assert_same_structure(a, b)
    tf.nest.assert_same_structure(a, a)


def test_walking_along_a_shallower_structure(tf):
    nest = tf.contrib.framework.nest
    assert nest.flatten_up_to([1, 2], [[3, 4], {"k": 5}]) == [[3, 4], {"k": 5}]
    assert nest.map_structure_up_to([1, 2], len, [[3, 4], {"k": 5}]) == [2, 1]
    with pytest.raises(ValueError, match="same sequence length"):
        nest.flatten_up_to([1, 2], [1])


def test_views_of_dicts_and_other_sequences(tf):
    view = {"b": 1, "a": [2, 3]}.values()
    assert tf.nest.is_nested(view) and tf.nest.flatten(view) == [1, 2, 3]
    assert tf.nest.map_structure(lambda leaf: leaf + 1, view) == [2, [3, 4]]
    assert tf.nest.flatten([range(2), collections.deque([2])]) == [0, 1, 2]
    assert not any(map(tf.nest.is_nested, ("text", b"text", {1}, (n for n in ()))))


def test_the_value_of_a_sparse_tensor_is_a_named_tuple(tf):
    """A SparseTensorValue has three parts, in structures of control flow too; a SparseTensor is one leaf."""
    value = tf.SparseTensorValue(np.array([[0, 1]]), np.array([2]), np.array([3, 4]))
    assert len(tf.nest.flatten([value, 1])) == 4 and tf.nest.is_nested(value)
    twice = tf.nest.map_structure(lambda part: 2 * part, value)
    assert type(twice) is tf.SparseTensorValue and twice.values.tolist() == [4]
    other = value._replace(values=tf.constant([5], tf.int64))
    chosen = tf.cond(tf.placeholder_with_default(True, []), lambda: other, lambda: value)
    _, grown = tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v._replace(values=v.values + 1)), [0, value])
    labels = tf.SparseTensorValue(np.array([[0, 0], [1, 0]]), np.array([1, 0]), np.array([2, 1]))
    average, update = tf.metrics.average_precision_at_k(labels, tf.constant([[.1, .2], [.3, .4]]), 1)
    with tf.Session() as session:
        found, last = session.run([chosen, grown])
        assert type(found) is type(last) is tf.SparseTensorValue
        assert (found.values.tolist(), last.values.tolist(), last.dense_shape.tolist()) == ([5], [5], [3, 4])
        session.run(tf.local_variables_initializer())
        assert (session.run(update), session.run(average)) == (0.5, 0.5)
