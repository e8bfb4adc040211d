"""The scalar vocabulary: NumPy meaning, dtypes of results, and tracing."""
import ml_dtypes
import numpy as np
import pytest

from jitgraph.declare import prim
from jitgraph.graph.errors import InvalidArgumentError

FLOAT_TYPES = [np.float16, np.float32, np.float64, ml_dtypes.bfloat16]
_DISCRETE = {"bit_not", "bit_and", "bit_or", "bit_xor", "shift_left", "shift_right"}


@pytest.mark.parametrize("name", sorted(prim.PRIMS))
@pytest.mark.parametrize("dtype", FLOAT_TYPES)
def test_results_have_the_stated_dtype(name, dtype):
    entry = prim.PRIMS[name]
    if name in _DISCRETE | {"cast", "complex"}:
        return
    x = np.array([0.25, 0.5, 0.75], dtype)
    arguments = {1: (x,), 2: (x, x), 3: (x > 0.3, x, x)}[entry.arity]
    result = getattr(prim, name)(*arguments)
    assert np.asarray(result).dtype == (np.bool_ if entry.result == "bool" else dtype)


def test_python_numbers_take_the_dtype_of_the_array():
    x = np.array([1.0, 2.0], np.float16)
    assert prim.add(x, 1.5).dtype == np.float16 and prim.max(0.0, x).dtype == np.float16
    assert prim.select(x > 1, x, 0.0).dtype == np.float16


@pytest.mark.parametrize("name, x, y, expected", [
    ("floor_div", [7, -7], 2, [3, -4]), ("floor_mod", [7, -7], 3, [1, 2]), ("trunc_div", [7, -7], 2, [3, -3]),
    ("trunc_mod", [7, -7], 3, [1, -1]), ("floor_div", [7.5], 2.0, [3.0]), ("floor_mod", [-7.5], 2.0, [0.5]),
    ("trunc_div", [-7.5], 2.0, [-3.0]), ("div", [7, -7], 2, [3.5, -3.5])])
def test_divisions(name, x, y, expected):
    assert getattr(prim, name)(np.array(x), y).tolist() == expected


@pytest.mark.parametrize("name", ["floor_div", "floor_mod", "trunc_div", "trunc_mod"])
def test_integer_division_by_zero_is_an_error_and_of_floats_a_value(name):
    with pytest.raises(InvalidArgumentError, match="Integer division by zero"):
        getattr(prim, name)(np.array([1, 2]), np.array([1, 0]))
    assert not np.isfinite(getattr(prim, name)(np.array([1.0]), np.array([0.0]))).any()


def test_integers_to_negative_powers():
    with pytest.raises(InvalidArgumentError, match="negative integer powers"):
        prim.pow(np.array([2]), np.array([-1]))


def test_nan_survives_max_and_min():
    x = np.array([np.nan, 1.0])
    assert np.isnan(prim.max(x, 2.0)[0]) and np.isnan(prim.min(2.0, x)[0])


def test_casts():
    assert prim.cast(np.array([1.9, -1.9]), np.int32).tolist() == [1, -1]
    assert prim.cast(np.array([0.0, 0.5]), bool).tolist() == [False, True]
    assert prim.cast(np.array([1 + 2j]), np.float32).tolist() == [1.0]
    assert prim.cast(1.5, ml_dtypes.bfloat16).dtype == ml_dtypes.bfloat16


def test_complex_numbers():
    z = prim.complex(np.float32([1, 2]), np.float32([3, 4]))
    assert z.dtype == np.complex64 and prim.imag(z).tolist() == [3, 4] and prim.abs(z).dtype == np.float32


class Traced(prim.Operators):
    """Records the expression as text."""

    def __init__(self, text):
        self.text = text

    def __prim__(self, name, args):
        return Traced(f"{name}({', '.join(a.text if isinstance(a, Traced) else repr(a) for a in args)})")


def test_traced_values_take_over():
    x = Traced("x")
    assert prim.exp(x).text == "exp(x)"
    assert prim.select(x > 0, x, 0.0).text == "select(gt(x, 0), x, 0.0)"
    assert (1 - x / 2).text == "sub(1, div(x, 2))"
    assert (np.float32(1) + x).text.startswith("add(")
    assert (-abs(~x) ** 2).text == "neg(pow(abs(bit_not(x)), 2))"
    assert (x == 1).text == "eq(x, 1)" and (x // 2 % 3).text == "floor_mod(floor_div(x, 2), 3)"


def test_a_name_outside_the_vocabulary():
    with pytest.raises(AttributeError, match="there is no prim 'gamma'; the vocabulary is neg abs"):
        prim.gamma


def test_a_traced_comparison_is_neither_true_nor_false():
    """So that `in`, which asks `==`, does not take one value for another."""
    x, y = Traced("x"), Traced("y")
    with pytest.raises(TypeError, match="by `is`"):
        [x].index(y)
    assert x in [x]
