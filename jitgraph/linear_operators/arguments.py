"""What linear operators are given: tensors or variables, sizes, hints."""
from __future__ import annotations

from typing import Any

from jitgraph.control.order_ops import no_op
from jitgraph.graph import dtypes
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.checks.check_shapes import assert_proper_iterable
from jitgraph.ops.checks.check_values import assert_equal, assert_less
from jitgraph.ops.elementwise.arithmetic import abs as absolute
from jitgraph.ops.elementwise.complex_numbers import imag
from jitgraph.variables.module import Module
from jitgraph.variables.variable import Variable


def is_reference(value: Any) -> bool:
    """Whether a value may change from run to run: a variable, or a module with a shape and a dtype."""
    return isinstance(value, Variable) or isinstance(value, Module) and hasattr(value, "dtype") and hasattr(value, "shape")


def as_parameter(value: Any, name: str) -> Any:
    """`value` as a tensor; variables as they are, so that each use reads them."""
    return value if is_reference(value) else convert_to_tensor(value, name=name)


def check_not_reference(value: Any, name: str) -> None:
    """Raises TypeError for what may change from run to run."""
    if is_reference(value):
        raise TypeError(f"Argument {name} cannot be reference type. Found: {type(value)}")


def shape_as_tensor(shape: Any, name: str | None = None) -> Tensor:
    """A shape or size as a tensor; int32 of an empty list."""
    empty = isinstance(shape, (tuple, list)) and not shape
    return convert_to_tensor(shape, dtype=dtypes.int32 if empty else None, name=name)


def no_modulus_zero(x: Any, message: str, name: str = "assert_no_entries_with_modulus_zero") -> Any:
    """An operation that raises InvalidArgumentError if an element of `x` is 0."""
    with name_scope(name, values=[x]):
        x = convert_to_tensor(x, name="x")
        zero = convert_to_tensor(0, dtype=x.dtype.base_dtype.real_dtype)
        return assert_less(zero, absolute(x), message=message)


def no_imaginary_part(x: Any, message: str, name: str = "assert_zero_imag_part") -> Any:
    """An operation that raises InvalidArgumentError if an element of `x` is not real."""
    with name_scope(name, values=[x]):
        x = convert_to_tensor(x, name="x")
        if x.dtype.base_dtype.is_floating:
            return no_op()
        zero = convert_to_tensor(0, dtype=x.dtype.base_dtype.real_dtype)
        return assert_equal(zero, imag(x), message=message)


def assert_same_dimension(operator: Any, x: Any) -> Any:
    """An operation that raises InvalidArgumentError if an operator cannot be applied to `x`."""
    return assert_equal(shape_of(x)[-2], operator.domain_dimension_tensor(), message=(
        "Dimensions are not compatible.  shape[-2] of argument to be the same as this operator"))


def combined_hint(operator: Any, name: str, given: bool | None, message: str) -> bool | None:
    """What an operator and a caller know together.  Raises ValueError with `message` if they contradict each other."""
    known = getattr(operator, name)
    if known is False and given or known and given is False:
        raise ValueError(message)
    if known or given:
        return True
    return False if known is False or given is False else None


def hint_of_all(operators: list, name: str, given: bool | None, message: str) -> bool | None:
    """True if a hint is true of all operators, else what was given.  Raises ValueError if these contradict each other."""
    if all(getattr(operator, name) for operator in operators):
        if given is False:
            raise ValueError(message)
        return True
    return given


def list_of_operators(operators: Any, empty: str) -> list:
    """Operators of one dtype.  Raises ValueError if there are none, TypeError if they are no list or the dtypes differ."""
    assert_proper_iterable(operators)
    operators = list(operators)
    if not operators:
        raise ValueError(f"{empty} Found: {operators}")
    if any(operator.dtype != operators[0].dtype for operator in operators):
        named = "   ".join(str((operator.name, operator.dtype)) for operator in operators)
        raise TypeError(f"Expected all operators to have the same dtype.  Found {named}")
    return operators
