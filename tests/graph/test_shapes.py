"""TensorShape and Dimension, with TensorFlow 1's rules for what is unknown."""
import pickle

import pytest

from jitgraph.graph.shapes import Dimension, TensorShape, as_shape, unknown_shape


def test_dimension_arithmetic_with_unknown_sizes():
    five, unknown = Dimension(5), Dimension(None)
    assert (five + 2).value == 7 and (2 + five).value == 7 and (five * five).value == 25
    assert (five - 2).value == 3 and (7 - five).value == 2 and (five // 2).value == 2 and (five % 3).value == 2
    assert (five + unknown).value is None and (unknown * 0).value is None
    assert (five == 5) is True and (five == unknown) is None and (unknown == unknown) is None
    assert (five < 6) is True and (five > unknown) is None
    assert int(five) == 5 and list(range(five)) == [0, 1, 2, 3, 4]
    assert str(unknown) == "?" and repr(five) == "Dimension(5)"


def test_dimension_refuses():
    for value, error in [(-1, ValueError), (1.5, ValueError)]:
        with pytest.raises(error):
            Dimension(value)
    with pytest.raises(TypeError, match="//"):
        Dimension(4) / 2
    with pytest.raises(TypeError):
        int(Dimension(None))
    with pytest.raises(ValueError, match="not compatible"):
        Dimension(3).merge_with(4)


def test_shapes_as_lists_and_words():
    assert TensorShape([2, None]).as_list() == [2, None]
    assert [str(TensorShape(s)) for s in ([], [2], [None, 3], None)] == ["()", "(2,)", "(?, 3)", "<unknown>"]
    assert repr(TensorShape([2, None])) == "TensorShape([Dimension(2), Dimension(None)])"
    assert repr(TensorShape(None)) == "TensorShape(None)"
    assert TensorShape(7).as_list() == [7] and TensorShape([Dimension(2)]).as_list() == [2]
    assert TensorShape([2, 3]).num_elements() == 6 and TensorShape([2, None]).num_elements() is None
    with pytest.raises(ValueError):
        TensorShape(None).as_list()
    with pytest.raises(TypeError):
        TensorShape("ab")


def test_equality_needs_to_be_certain():
    assert TensorShape([2, 3]) == [2, 3] and TensorShape([2]) != [3]
    assert TensorShape([2, None]) != [2, None]           # the unknown sizes may differ
    partial = TensorShape([2, None])
    assert partial == partial
    with pytest.raises(ValueError):
        TensorShape(None) != [2]  # noqa: B015


def test_merging_and_joining():
    assert TensorShape([2, None]).merge_with([None, 3]).as_list() == [2, 3]
    assert TensorShape(None).merge_with([4]).as_list() == [4]
    with pytest.raises(ValueError, match=r"\(1, 2\) and \(2, 2\)"):
        TensorShape([1, 2]).merge_with([2, 2])
    assert TensorShape([1]).concatenate([None]).as_list() == [1, None]
    assert TensorShape([1]).concatenate(None).ndims is None
    assert ([1] + TensorShape([2])).as_list() == [1, 2]
    assert TensorShape([2, 3]).most_specific_compatible_shape([2, 4]).as_list() == [2, None]


def test_ranks():
    assert TensorShape(None).with_rank(2).as_list() == [None, None]
    for call in (lambda s: s.with_rank(1), lambda s: s.with_rank_at_least(3), lambda s: s.with_rank_at_most(1),
                 lambda s: s.assert_has_rank(3), lambda s: s.assert_same_rank([1])):
        with pytest.raises(ValueError, match="rank"):
            call(TensorShape([2, 3]))
    assert unknown_shape().ndims is None and unknown_shape(2).as_list() == [None, None]


def test_indexing():
    shape = TensorShape([2, None, 4])
    assert shape[-1].value == 4 and shape[1:].as_list() == [None, 4] and len(shape) == 3
    assert [d.value for d in shape] == [2, None, 4]
    assert TensorShape(None)[3].value is None and TensorShape(None)[1:].ndims is None
    assert not TensorShape(None) and TensorShape([])
    assert as_shape(shape) is shape and pickle.loads(pickle.dumps(shape)).as_list() == [2, None, 4]


def test_sizes_are_plain_numbers_where_a_program_wants_them(tf):
    shape = TensorShape([2, None])
    tf.enable_v2_tensorshape()
    try:
        assert type(shape[0]) is int and shape[1] is None and list(shape) == [2, None] and TensorShape(None)[0] is None
        assert isinstance(shape[:1], TensorShape) and shape.dims[0] == Dimension(2) and shape.dims[0].value == 2
        assert repr(shape) == "TensorShape([2, None])" and str(shape) == "(2, None)" and str(TensorShape([None])) == "(None,)"
        assert tf.dimension_value(shape[0]) == 2
        # what TensorFlow builds with goes on as before
        x = tf.placeholder(tf.float32, [None, 3])
        assert tf.layers.dense(x, 4).shape[1] == 4 and tf.contrib.layers.fully_connected(x, 2).shape[0] is None
    finally:
        tf.disable_v2_tensorshape()
    assert shape[0] == Dimension(2) and isinstance(shape[0], Dimension) and str(shape) == "(2, ?)"
