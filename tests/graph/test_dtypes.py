"""DTypes, their conversions and questions, and TypeSets."""
import copy
import pickle
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

from jitgraph.graph import dtypes
from jitgraph.graph.dtypes import TypeSet, as_dtype


@pytest.mark.parametrize("name, numpy_type", [
    ("float32", np.float32), ("float64", np.float64), ("float16", np.float16), ("int8", np.int8), ("int16", np.int16),
    ("int32", np.int32), ("int64", np.int64), ("uint8", np.uint8), ("uint16", np.uint16), ("uint32", np.uint32),
    ("uint64", np.uint64), ("complex64", np.complex64), ("complex128", np.complex128), ("bool", np.bool_),
    ("bfloat16", ml_dtypes.bfloat16)])
def test_a_dtype_has_one_numpy_type_and_back(name, numpy_type):
    dtype = as_dtype(name)
    assert dtype.as_numpy_dtype is numpy_type
    assert as_dtype(numpy_type) is dtype is as_dtype(np.dtype(numpy_type)) is as_dtype(dtype.as_datatype_enum)
    assert dtype.size == np.dtype(numpy_type).itemsize
    assert dtype == numpy_type and dtype == name


def test_reference_types_lie_a_hundred_higher():
    ref = dtypes.float32._as_ref
    assert (ref.name, ref.as_datatype_enum, ref.base_dtype) == ("float32_ref", 101, dtypes.float32)
    assert ref != dtypes.float32 and as_dtype("float32_ref") is ref and ref._as_ref is ref
    assert dtypes.float32.is_compatible_with(ref) and not ref.is_compatible_with(dtypes.float32)
    assert ref.is_floating and ref.size == 4


@pytest.mark.parametrize("value", ["nope", {}, 999, None, 0.5, False])
def test_what_is_no_dtype_is_a_type_error(value):
    with pytest.raises(TypeError, match="Cannot convert value"):
        as_dtype(value)


@pytest.mark.parametrize("number", [1, 1.0, True, 1 + 0j, np.float64(1), np.int64(1), np.bool_(True), Fraction(1)])
def test_a_number_that_equals_an_enum_value_is_the_dtype_as_programs_that_write_placeholder_1_0_expect(number):
    assert as_dtype(number) is dtypes.float32
    assert as_dtype(number + 100) is as_dtype("float32_ref")


def test_questions():
    assert dtypes.uint8.is_unsigned and dtypes.uint8.is_integer and not dtypes.int8.is_unsigned
    assert dtypes.qint8.is_quantized and not dtypes.qint8.is_integer
    assert dtypes.bool_.is_bool and not dtypes.bool_.is_integer
    assert dtypes.complex64.is_complex and dtypes.complex64.real_dtype is dtypes.float32
    assert dtypes.bfloat16.is_floating and not dtypes.resource.is_numpy_compatible


def test_ranges():
    assert (dtypes.int8.min, dtypes.int8.max) == (-128, 127)
    assert dtypes.uint8.limits == (0, 255) and dtypes.float32.limits == (0, 1) and dtypes.int32.limits[0] == 0
    assert dtypes.float16.max == 65504 and type(dtypes.float32.min) is np.float32
    assert float(dtypes.bfloat16.max) == pytest.approx(3.3895314e38)
    for unordered in (dtypes.string, dtypes.complex64, dtypes.bool_):
        with pytest.raises(TypeError):
            unordered.max


def test_words():
    assert str(dtypes.float32) == "<dtype: 'float32'>" and repr(dtypes.float32) == "tf.float32"
    assert {dtypes.float32: 1}[as_dtype("float")] == 1
    assert copy.deepcopy(dtypes.int32) is dtypes.int32 is pickle.loads(pickle.dumps(dtypes.int32))
    assert dtypes.float32 != "nonsense" and dtypes.float32 is not None


def test_type_sets_join_and_keep_their_default():
    index = TypeSet(dtypes.int32, dtypes.int64, default=dtypes.int32)
    more = index + dtypes.FLOATS
    assert more.default is dtypes.int32 and dtypes.float64 in more and len(more) == 6
    assert dtypes.int64 not in more - dtypes.int64
    assert list(index) == [dtypes.int32, dtypes.int64]


def test_classes_that_are_no_dtypes(tf):
    for other in (list, dict, tf.Tensor):
        with pytest.raises(TypeError, match="to a TensorFlow DType"):
            tf.as_dtype(other)
        assert tf.string != other
    assert tf.as_dtype(np.dtype(np.int64)) == tf.as_dtype(np.int64) == tf.int64 and tf.as_dtype(object) == tf.string
