"""Checks of values: ``tf.assert_equal``, ``tf.assert_positive``, ``tf.is_strictly_increasing`` and their kin.

Each gives an operation that raises InvalidArgumentError when it runs and the values do not hold.  Where all values are
constants the check is made at once, as TensorFlow 1.15 does: what never holds is an InvalidArgumentError already while
the graph is built.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.control.order_ops import no_op
from jitgraph.graph import errors
from jitgraph.graph.constant_value import static_value
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.counting import counted_as
from jitgraph.graph.operation import Operation
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.shape import reshape
from jitgraph.ops.checks.assertion import Assert
from jitgraph.ops.elementwise.arithmetic import abs as absolute
from jitgraph.ops.reduce.reductions import reduce_all


def _refuse(data: list) -> None:
    """Raises the error of a check that cannot hold; `data` as far as it is known."""
    parts = [static_value(part) if isinstance(part, Tensor) else part for part in data]
    raise errors.InvalidArgumentError(None, None, "\n".join(_shown(part) for part in parts))


def _shown(part: Any) -> str:
    return str(part[()]) if isinstance(part, np.ndarray) and part.ndim == 0 else str(part)


def _compared(symbol: str, own_name: str, builder: str, static: Callable, x: Any, y: Any, data: Any, summarize: Any,
              message: Any, name: Any) -> Operation:
    with name_scope(name, own_name, [x, y, data]):
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, name="y")
        if data is None:
            data = [f"Condition x {symbol} y did not hold element-wise:", f"x ({x.name}) = ", x, f"y ({y.name}) = ", y]
        if message is not None:
            data = [message, *data]
        holds = reduce_all(getattr(raw, builder)(x, y))
        left, right = static_value(x), static_value(y)
        if left is not None and right is not None and not np.all(static(left, right)):
            _refuse(data)
        return Assert(holds, data, summarize=summarize)


_ARGUMENTS = """

    `x` and `y`: tensors that broadcast together; `data`, `summarize`: what the error shows, see ``tf.Assert`` (default:
    both); `message`: text before it.  Raises InvalidArgumentError at once if both are constants and it does not hold.
    """


def _comparison(symbol: str, own_name: str, builder: str, static: Callable, doc: str) -> Callable:
    """``tf.assert_less`` and the like."""

    def check(x: Any, y: Any, data: Any = None, summarize: int | None = None, message: str | None = None,
              name: str | None = None) -> Operation:
        return _compared(symbol, own_name, builder, static, x, y, data, summarize, message, name)

    check.__name__ = check.__qualname__ = own_name
    check.__doc__ = doc + _ARGUMENTS
    return check


assert_less = _comparison("<", "assert_less", "Less", np.less, "An operation that fails unless x < y for all elements.")
assert_less_equal = _comparison("<=", "assert_less_equal", "LessEqual", np.less_equal,
                                "An operation that fails unless x <= y for all elements.")
assert_greater = _comparison(">", "assert_greater", "Greater", np.greater,
                             "An operation that fails unless x > y for all elements.")
assert_greater_equal = _comparison(">=", "assert_greater_equal", "GreaterEqual", np.greater_equal,
                                   "An operation that fails unless x >= y for all elements.")
assert_none_equal = _comparison("!=", "assert_none_equal", "NotEqual", np.not_equal,
                                "An operation that fails unless x != y for all elements.")
_assert_equal = _comparison("==", "assert_equal", "Equal", np.equal, "")


def assert_equal(x: Any, y: Any, data: Any = None, summarize: int | None = None, message: str | None = None,
                 name: str | None = None) -> Operation:
    """An operation that fails unless x == y for all elements.

    The arguments are those of ``assert_less``.
    """
    with name_scope(name, "assert_equal", [x, y, data]):
        if x is y:
            return no_op()
    return _assert_equal(x, y, data, summarize, message, name)


# -- against zero --------------------------------------------------------------------------------------------------

def _sign(own_name: str, condition: str, check: Callable, zero_first: bool, joined: bool = False) -> Callable:
    """``tf.assert_positive`` and the like: `condition` is what the error says."""

    def compared(x: Any, data: Any = None, summarize: int | None = None, message: str | None = None,
                 name: str | None = None) -> Operation:
        with name_scope(name, own_name, [x, data]):
            x = convert_to_tensor(x, name="x")
            if data is None:
                said, shown = f"Condition {condition} did not hold element-wise:", f"x ({x.name}) = "
                data = [message or "", *([said + shown] if joined else [said, shown]), x]
            zero = convert_to_tensor(0, x.dtype.base_dtype, name="Const")
            return check(*((zero, x) if zero_first else (x, zero)), data=data, summarize=summarize)

    compared.__name__ = compared.__qualname__ = own_name
    compared.__doc__ = f"""An operation that fails unless {condition} for all elements.

    `data`, `summarize`: what the error shows, see ``tf.Assert`` (default: `x`); `message`: text before it.  Raises
    InvalidArgumentError at once if `x` is a constant and it does not hold.
    """
    return compared


assert_positive = _sign("assert_positive", "x > 0", assert_less, True)
assert_negative = _sign("assert_negative", "x < 0", assert_less, False)
assert_non_negative = _sign("assert_non_negative", "x >= 0", assert_less_equal, True)
assert_non_positive = _sign("assert_non_positive", "x <= 0", assert_less_equal, False, joined=True)


def assert_near(x: Any, y: Any, rtol: Any = None, atol: Any = None, data: Any = None, summarize: int | None = None,
                message: str | None = None, name: str | None = None) -> Operation:
    """An operation that fails unless ``|x - y| < atol + rtol * |y|`` for all elements.

    `rtol` and `atol` default to 10 times the machine epsilon of the dtype of `x`; the rest as in ``assert_less``.
    """
    with name_scope(name, "assert_near", [x, y, rtol, atol, data]):
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, x.dtype.base_dtype, name="y")
        real = x.dtype.real_dtype.base_dtype
        epsilon = 10 * _epsilon(real)
        rtol = convert_to_tensor(epsilon if rtol is None else rtol, real, name="rtol")
        atol = convert_to_tensor(epsilon if atol is None else atol, real, name="atol")
        if data is None:
            data = [message or "", f"x and y not equal to tolerance rtol = {rtol}, atol = {atol}", f"x ({x.name}) = ", x,
                    f"y ({y.name}) = ", y]
        allowed = atol + rtol * absolute(y)
        distance = absolute(x - y)
        return Assert(reduce_all(distance < allowed), data, summarize=summarize)


def _epsilon(dtype: Any) -> float:
    if dtype.name == "bfloat16":
        return 2.0 ** -7
    return float(np.finfo(dtype.as_numpy_dtype).eps)


# -- order ---------------------------------------------------------------------------------------------------------

def _neighbours(x: Tensor) -> tuple[Tensor, Tensor]:
    """All elements but the last, all but the first."""
    with counted_as(32):            # TensorFlow subtracts them, where there are two, and compares with 0
        flat = reshape(x, [-1])
        return flat[:-1], flat[1:]


def is_non_decreasing(x: Any, name: str | None = None) -> Tensor:
    """A bool scalar: whether no element of `x`, in row-major order, is smaller than the one before."""
    with name_scope(name, "is_non_decreasing", [x]):
        before, after = _neighbours(convert_to_tensor(x, name="x"))
        return reduce_all(raw.LessEqual(before, after))


def is_strictly_increasing(x: Any, name: str | None = None) -> Tensor:
    """A bool scalar: whether each element of `x`, in row-major order, is larger than the one before."""
    with name_scope(name, "is_strictly_increasing", [x]):
        before, after = _neighbours(convert_to_tensor(x, name="x"))
        return reduce_all(raw.Less(before, after))
