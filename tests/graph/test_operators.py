"""Operators on tensors and variables: which op, which errors."""
import numpy as np
import pytest


def test_mixed_dtypes_name_both(tf):
    with pytest.raises(TypeError, match="Input 'y' of 'AddV2' Op has type float32 that does not match type int32 of "
                                        "argument 'x'"):
        tf.constant(1) + tf.constant(1.0)
    with pytest.raises(TypeError):
        tf.constant(1) + 1.5
    with pytest.raises(ValueError, match="None values not supported"):
        tf.constant(1.0) + None


def test_numpy_on_the_left_gives_a_tensor(tf):
    x = tf.constant([1.0, 2.0])
    v = tf.Variable([1.0, 2.0])
    for left in (np.float32(1), np.ones(2, np.float32)):
        for right in (x, v):
            assert isinstance(left + right, tf.Tensor) and isinstance(left * right, tf.Tensor)


def test_an_object_that_knows_tensors_has_its_turn(tf):
    class Unit:
        def __radd__(self, other):
            return "joined"

    assert tf.constant(1.0) + Unit() == "joined"


@pytest.mark.parametrize("index", [1.5, "a", np.array([1, 2]), [1.5]])
def test_what_is_no_index(tf, index):
    with pytest.raises(TypeError, match="Only integers, slices"):
        tf.zeros([4, 4])[index]


def test_indices_outside(tf):
    x = tf.zeros([2, 3])
    with pytest.raises(ValueError, match="slice index 5 of dimension 0 out of bounds"):
        x[5]
    with pytest.raises(ValueError, match=r"2 dims|rank|too many"):
        x[0, 0, 0]
    with pytest.raises(ValueError, match="Multiple ellipses"):
        x[..., 0, ...]


def test_boolean_masks_select(tf):
    x = tf.constant([1.0, 2.0, 3.0])
    assert x[x > 1.5].shape.as_list() == [None]
    assert x[np.array([True, False, True])].dtype == tf.float32


def test_int64_bounds_make_all_bounds_int64(tf):
    x = tf.zeros([4, 5])
    i = tf.placeholder(tf.int64, [])
    assert x[i:, 1:].op.inputs[1].dtype == tf.int64


@pytest.mark.parametrize("use", [bool, len, float, int, np.array, iter])
def test_tensors_have_no_python_value(tf, use):
    with pytest.raises((TypeError, NotImplementedError)):
        use(tf.constant(1.0))


def test_tensors_of_other_graphs_do_not_mix(tf):
    with tf.Graph().as_default():
        foreign = tf.constant(1.0)
    with pytest.raises(ValueError, match="must be from the same graph as"):
        foreign + tf.constant(2.0)


def test_a_tensor_is_no_python_value(tf):
    x = tf.placeholder(tf.float32, [3])
    for use in (bool, list):
        with pytest.raises(TypeError, match="is not allowed in Graph execution") as caught:
            use(x)
        assert caught.type.__name__ == "OperatorNotAllowedInGraphError"


def test_an_index_may_be_of_a_class_that_converts_to_a_tensor(tf):
    class Wrapped:
        def __init__(self, value):
            self.value = tf.convert_to_tensor(value)
            self.dtype, self.shape = self.value.dtype, self.value.shape

    tf.register_tensor_conversion_function(Wrapped, lambda value, dtype=None, name=None, as_ref=False: value.value)
    x = tf.constant([10, 20, 30])
    with tf.Session() as session:
        assert session.run(x[Wrapped(1)]) == 20
    for index in (Wrapped(1.0), Wrapped([1])):
        with pytest.raises(TypeError, match="are valid indices"):
            x[index]
