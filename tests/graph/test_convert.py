"""Values to tensors: constants, packing, conversion functions, and TensorFlow's errors for what does not fit."""
import re

import numpy as np
import pytest

from jitgraph.graph import dtypes, literals
from jitgraph.graph.constant_value import constant_value


@pytest.mark.parametrize("value, dtype, expected", [
    (1, None, "int32"), (2 ** 40, None, "int64"), (1.0, None, "float32"), (1j, None, "complex128"),
    (True, None, "bool"), ("s", None, "string"), (b"s", None, "string"), (np.float64(1), None, "float64"),
    (np.int8(1), None, "int8"),
    ([1, 2.5], None, "float32"), ([], None, "float32"), ([np.float64(1)], None, "float32"), ([1, True], None, "int32"),
    (1, "float64", "float64"), (True, "int32", "int32"), (np.array([1.5]), "int32", "int32"), ([], "int32", "int32"),
    (1, "complex64", "complex64"), (1.5, "bfloat16", "bfloat16"), (np.array(["a"]), None, "string")])
def test_dtypes_of_constants(tf, value, dtype, expected):
    assert tf.constant(value, dtype).dtype == expected


@pytest.mark.parametrize("value, dtype, error, text", [
    (1.5, "int32", TypeError, "Expected int32, got 1.5 of type 'float' instead."),
    ([1, "a"], "int32", TypeError, "Expected int32, got 'a' of type 'str' instead."),
    (1, "bool", TypeError, "Expected bool, got 1 of type 'int' instead."),
    (1.5, "string", TypeError, "Expected string, got 1.5 of type 'float' instead."),
    (None, None, ValueError, "None values not supported."),
    ([1, None], None, TypeError, "Failed to convert object of type <class 'list'> to Tensor. Contents: [1, None]."),
    ([1, None], "int32", TypeError, "Expected int32, got None of type 'NoneType' instead."),
    (2 ** 70, None, TypeError, "Failed to convert object of type <class 'int'> to Tensor."),
    ([[1], [2, 3]], None, ValueError, "Argument must be a dense tensor"),
    ([["a"], ["b", "c"]], "string", ValueError, "Argument must be a dense tensor"),
    (object(), None, TypeError, "Failed to convert object of type"),
    ({}, None, TypeError, "Failed to convert object of type")])
def test_what_cannot_be_a_constant(tf, value, dtype, error, text):
    with pytest.raises(error, match=re.escape(text)):
        tf.constant(value, dtype)


def test_integers_wrap_as_in_tensorflow(tf):
    assert constant_value(tf.constant(300, tf.uint8)) == 44 and constant_value(tf.constant(-1, tf.uint8)) == 255


def test_shapes_of_constants(tf):
    assert constant_value(tf.constant([1, 2], shape=[3])).tolist() == [1, 2, 2]
    assert constant_value(tf.constant(5, shape=[2, 2])).tolist() == [[5, 5], [5, 5]]
    with pytest.raises(ValueError, match="Needed at most 2, but received 3"):
        tf.constant([1, 2, 3], shape=[2])
    with pytest.raises(TypeError, match="Expected Tensor's shape"):
        tf.constant([1, 2, 3], shape=[3, 1], verify_shape=True)


def test_a_constant_keeps_its_own_copy(tf):
    array = np.zeros(3)
    c = tf.constant(array)
    array[0] = 7.0
    assert constant_value(c).tolist() == [0, 0, 0]


def test_tensors_convert_to_themselves_or_not_at_all(tf):
    x = tf.constant(1.0)
    assert tf.convert_to_tensor(x) is x
    with pytest.raises(ValueError, match="Tensor conversion requested dtype int32 for Tensor with dtype float32"):
        tf.convert_to_tensor(x, tf.int32)
    v = tf.Variable(1.0)
    assert tf.convert_to_tensor(v).name == "Variable/read:0"
    with pytest.raises(ValueError, match="Incompatible type conversion requested to type 'int32' for variable of type"):
        tf.convert_to_tensor(v, tf.int32)


def test_lists_of_tensors_are_packed(tf):
    x = tf.constant(2)
    assert tf.convert_to_tensor([1, x]).op.type == "Pack"
    assert tf.convert_to_tensor([[x, 1], [2, x]]).shape.as_list() == [2, 2]
    assert tf.convert_to_tensor([x, 1], tf.float32).dtype == tf.float32
    with pytest.raises(TypeError, match="Cannot convert a list containing a tensor of dtype"):
        tf.convert_to_tensor([x, tf.constant(1.0)])
    with pytest.raises(TypeError):
        tf.convert_to_tensor([x, 2.5])


def test_shapes_convert(tf):
    assert constant_value(tf.convert_to_tensor(tf.TensorShape([2, 3]))).tolist() == [2, 3]
    assert constant_value(tf.convert_to_tensor(tf.Dimension(3))) == 3
    assert constant_value(tf.convert_to_tensor([tf.Dimension(2), 3])).tolist() == [2, 3]
    with pytest.raises(ValueError, match="partially known TensorShape"):
        tf.convert_to_tensor(tf.TensorShape([2, None]))


def test_preferred_dtype_gives_way(tf):
    assert tf.convert_to_tensor(1, preferred_dtype=tf.float32).dtype == tf.float32
    assert tf.convert_to_tensor(1.5, preferred_dtype=tf.int32).dtype == tf.float32


def test_registered_conversions(tf):
    class Celsius:
        def __init__(self, degrees):
            self.degrees = degrees

    def convert(value, dtype=None, name=None, as_ref=False):
        return tf.constant(value.degrees, dtype, name=name or "celsius")

    tf.register_tensor_conversion_function(Celsius, convert)
    assert tf.convert_to_tensor(Celsius(3.0)).name == "celsius:0"
    assert (tf.constant(1.0) + Celsius(2.0)).dtype == tf.float32


def test_strings_are_bytes_in_object_arrays():
    array = literals.to_array([["a", b"b"], ["ä", ""]])
    assert array.dtype == object and array.tolist() == [[b"a", b"b"], ["ä".encode(), b""]]
    assert literals.to_array("x", dtypes.string).shape == ()


def test_a_cast_to_the_dtype_of_a_resource_variable_is_the_variable(tf):
    variable, reference = (tf.Variable([1.0], use_resource=kind) for kind in (True, False))
    assert tf.cast(variable, tf.float32) is variable and tf.to_float(variable, name="again") is variable
    assert isinstance(tf.cast(reference, tf.float32), tf.Tensor) and tf.cast(variable, tf.int32).dtype == tf.int32


@pytest.mark.parametrize("value, dtype", [
    (0, None), ([1, 2, 3], None), (1.5, "float64"), ("a", None), ([[1], [2, 3]], None), (2.5, "int32")])
def test_a_shape_without_elements_takes_any_value(tf, value, dtype):
    """TensorFlow does not look at the value then; the dtype is float32 if none is given."""
    for shape in ([0], [2, 0, 3]):
        made = tf.constant(value, dtype, shape)
        assert made.shape == shape and made.op.type == "Const" and made.dtype.name == (dtype or "float32")
    assert tf.zeros([0, 20]).op.type == tf.ones([0]).op.type == "Const"


def test_an_array_must_fit_a_shape_without_elements(tf):
    with pytest.raises(ValueError, match="Too many elements"):
        tf.constant(np.ones(3), shape=[0])
    with pytest.raises(ValueError):
        tf.constant(None, shape=[0])


class Column:
    """A column of a table: something that is no array but gives one."""

    def __init__(self, *values, dtype=None):
        self.values = np.array(values, dtype)

    def __array__(self, dtype=None, copy=None):
        return self.values if dtype is None else self.values.astype(dtype)


class Image:
    """Something that tells NumPy where its numbers lie."""

    def __init__(self, array):
        self.array = array

    @property
    def __array_interface__(self):
        return self.array.__array_interface__


def test_what_tells_where_its_numbers_lie_keeps_its_dtype(tf, run):
    for array in (np.uint8([[1, 2]]), np.int64([1]), np.array([0.5]), np.array([b"a", b"b"])):
        tensor = tf.constant(Image(array))
        assert tensor.dtype == tf.as_dtype(array.dtype) == tf.identity(Image(array)).dtype
        assert run(tensor).tolist() == array.tolist()
    assert tf.convert_to_tensor(Image(np.uint8([1])), tf.float32).dtype == tf.float32
    assert tf.make_tensor_proto(Image(np.array([b"foo", b"bar"])), shape=[1, 2]).string_val == [b"foo", b"bar"]


def test_a_dtype_may_be_that_of_an_array(tf):
    from jitgraph.graph.convert import convert_to_tensor

    assert convert_to_tensor(1, np.dtype(np.int64)).dtype == tf.int64
    with pytest.raises(ValueError, match="requested dtype int64"):
        convert_to_tensor(tf.constant(1.0), np.dtype(np.int64))


def test_what_gives_an_array_keeps_its_dtype(tf):
    assert tf.constant(Column(1, 2)).dtype == tf.int64 and tf.constant(Column(0.5)).dtype == tf.float64
    assert tf.convert_to_tensor(Column(1, 2), tf.float32).dtype == tf.float32
    words = tf.data.Dataset.from_tensor_slices({"words": Column("a", "b", dtype=object)}).make_one_shot_iterator().get_next()
    assert tf.Session().run(words) == {"words": b"a"}
    with pytest.raises(TypeError, match="got None"):
        tf.constant(Column("a", None, dtype=object))
