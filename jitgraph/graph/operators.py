"""Python's operators on tensors and variables, and which public function each one is."""
from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph.facade import names
from jitgraph.graph import dtypes, literals
from jitgraph.graph.composite import SparseTensor
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.tensor import Tensor


@functools.cache
def _function(function: Any) -> Callable:
    return function if callable(function) else names.resolve(function)


@functools.cache
def _declared(module: str, name: str) -> Callable:
    """What a module of ops defines.  They import this one, so it is fetched at the first use, and once."""
    return getattr(importlib.import_module(f"jitgraph.{module}"), name)


def _sum(x: Any, y: Any, name: str) -> Any:
    """``x + y`` is AddV2, except for strings."""
    return _declared("ops.elementwise.arithmetic", "add" if x.dtype.base_dtype is dtypes.string else "add_v2")(x, y, name=name)


# operator -> (name of the node it makes, public function); a number beside a tensor takes the tensor's dtype
BINARY: dict[str, tuple[str, Any]] = {
    "add": ("add", _sum), "sub": ("sub", "subtract"), "mul": ("mul", "multiply"),
    "truediv": ("truediv", "truediv"), "div": ("div", "div"), "floordiv": ("floordiv", "floordiv"),
    "mod": ("mod", "floormod"), "pow": ("pow", "pow"), "matmul": ("matmul", "matmul"),
    "and": ("and", "logical_and"), "or": ("or", "logical_or"), "xor": ("xor", "logical_xor"),
}
# operators whose node is named after its op
DIRECT: dict[str, str] = {
    "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "invert": "logical_not",
    "neg": "negative", "abs": "abs",
}


_PLAIN = (int, float, complex, str, bytes, list, tuple, np.generic, np.ndarray)     # which do not know tensors


def _binary(operator: str) -> Callable:
    node_name, function_name = BINARY[operator]
    reflected = f"__r{operator}__"

    def method(x: Any, y: Any) -> Any:
        function = _function(function_name)
        if isinstance(y, SparseTensor):
            return _with_sparse(operator, x, y)
        if type(y) is Tensor and y.op.graph is x.op.graph:
            with name_scope(None, node_name, [x]) as scope:
                return function(x, y, name=scope)
        with name_scope(None, node_name, [x, y]) as scope:
            try:
                y = convert_to_tensor(y, x.dtype.base_dtype, "y")
            except TypeError:
                # the other object may know how to combine itself with a tensor
                if hasattr(type(y), reflected) and not isinstance(y, _PLAIN):
                    return NotImplemented
                raise
            return function(x, y, name=scope)

    method.__name__ = f"__{operator}__"
    return method


def _with_sparse(operator: str, x: Any, y: SparseTensor) -> Any:
    if operator in ("mul",):
        return y * x
    return NotImplemented


def _reflected(operator: str) -> Callable:
    node_name, function_name = BINARY[operator]

    def method(y: Any, x: Any) -> Any:
        function = _function(function_name)
        with name_scope(None, node_name, [x, y]) as scope:
            x = convert_to_tensor(x, y.dtype.base_dtype, "x")
            return function(x, y, name=scope)

    method.__name__ = f"__r{operator}__"
    return method


def _direct(operator: str) -> Callable:
    function_name = DIRECT[operator]

    def method(x: Any, *others: Any) -> Any:
        return _function(function_name)(x, *others)

    method.__name__ = f"__{operator}__"
    return method


# -- x[...] ------------------------------------------------------------------------------------------------------

def _index(index: Any) -> Any:
    """An index as an int, or as the tensor (or variable) that it is.  Raises TensorFlow's TypeError for other things."""
    if type(index) is int:
        return index
    if isinstance(index, Tensor) or hasattr(index, "_as_graph_element"):
        if index.dtype.base_dtype in (dtypes.int16, dtypes.int32, dtypes.int64) and not index.shape.ndims:
            return index
    elif isinstance(getattr(index, "dtype", None), dtypes.DType) and hasattr(index, "shape"):
        # of a class that a program taught tf.convert_to_tensor
        return _index(convert_to_tensor(index))
    elif hasattr(index, "__index__") and (not isinstance(index, np.ndarray) or index.ndim == 0):
        return index.__index__()
    raise TypeError("Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar "
                    f"tf.int32/tf.int64 tensors are valid indices, got {index!r}")


class SliceSpec:
    """The inputs and masks of the StridedSlice that ``x[spec]`` means."""

    __slots__ = ("begin", "end", "strides", "begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask",
                 "shrink_axis_mask")

    def __init__(self, spec: Any):
        self.begin: list = []
        self.end: list = []
        self.strides: list = []
        self.begin_mask = self.end_mask = self.ellipsis_mask = self.new_axis_mask = self.shrink_axis_mask = 0
        if not isinstance(spec, (list, tuple)):
            spec = [spec]
        for position, item in enumerate(spec):
            self._add(item, 1 << position)

    def _add(self, item: Any, bit: int) -> None:
        if isinstance(item, slice):
            self._add_slice(item, bit)
            return
        if item is Ellipsis:
            if self.ellipsis_mask:
                raise ValueError("Multiple ellipses not allowed")
            self.ellipsis_mask |= bit
            bounds = (0, 0)
        elif item is None:
            self.new_axis_mask |= bit
            bounds = (0, 0)
        else:
            item = _index(item)
            if not isinstance(item, (int, Tensor)):
                item = convert_to_tensor(item)
            self.shrink_axis_mask |= bit
            bounds = (item, item + 1)
        self.begin.append(bounds[0])
        self.end.append(bounds[1])
        self.strides.append(1)

    def _add_slice(self, item: slice, bit: int) -> None:
        if item.start is None:
            self.begin_mask |= bit
        if item.stop is None:
            self.end_mask |= bit
        self.begin.append(0 if item.start is None else _index(item.start))
        self.end.append(0 if item.stop is None else _index(item.stop))
        self.strides.append(1 if item.step is None else _index(item.step))

    @property
    def masks(self) -> dict[str, int]:
        """The masks as attributes; one that is 0, as it is by default, is not named."""
        return {name: mask for name in ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")
                if (mask := getattr(self, name))}

    def packed(self) -> tuple[Tensor, Tensor, Tensor]:
        """begin, end and strides as 1-D tensors, named ``stack``, ``stack_1``, ``stack_2``."""
        if not self.begin:
            return tuple(convert_to_tensor([], dtypes.int32, "Const") for _ in range(3))   # type: ignore[return-value]
        parts = [_stack(values) for values in (self.begin, self.end, self.strides)]
        if any(part.dtype is dtypes.int64 for part in parts):
            cast = _function("cast")
            parts = [part if part.dtype is dtypes.int64 else cast(part, dtypes.int64) for part in parts]
        return tuple(parts)     # type: ignore[return-value]


def _stack(values: list) -> Tensor:
    if not all(isinstance(value, int) for value in values):
        return _function("stack")(values, name="stack")
    try:                        # straight to the node: programs slice a lot
        return _declared("ops.arrays.constant", "constant_node")(np.array(values, np.int32), dtypes.int32, "stack")
    except OverflowError:
        array = literals.to_array(values)
        return _declared("ops.arrays.constant", "constant_node")(array, dtypes.as_dtype(array.dtype), "stack")


def _is_mask(index: Any) -> bool:
    if isinstance(index, Tensor) or hasattr(index, "_as_graph_element"):
        return index.dtype.base_dtype is dtypes.bool_
    return isinstance(index, (bool, np.bool_)) or isinstance(index, np.ndarray) and index.dtype == bool


def getitem(tensor: Tensor, spec: Any, var: Any = None) -> Tensor:
    """``tensor[spec]``: integers, slices, ``...``, ``tf.newaxis``, scalar integer tensors, or a boolean mask.

    Raises TypeError for other indices, ValueError for indices outside a known size.
    """
    if _is_mask(spec):
        return _function("boolean_mask")(tensor, spec)
    parsed = SliceSpec(spec)
    values = [tensor, *(v for v in parsed.begin + parsed.end + parsed.strides if isinstance(v, Tensor))]
    with name_scope(None, "strided_slice", values) as scope:
        begin, end, strides = parsed.packed()
        result = _declared("ops.arrays.slicing", "strided_slice_by_masks")(tensor, begin, end, strides, name=scope, **parsed.masks)
    result.assign = functools.partial(assign_slice, var, parsed.masks, result)      # v[1:3].assign(...)
    return result


def assign_slice(var: Any, masks: dict[str, int], part: Tensor, value: Any, name: str | None = None) -> Any:
    """``v[spec].assign(value)``: writes a part of variable `var`; its node stands beside that of the part.

    Raises ValueError where `var` is None: `part` is one of a tensor, which nothing changes.
    """
    from jitgraph.graph.registry import lookup

    if var is None:
        raise ValueError("Sliced assignment is only supported for variables")
    begin, end, strides = part.op.inputs[1:4]
    name = name or f"{part.op.name}/_assign"
    if hasattr(var, "_strided_slice_assign"):
        return var._strided_slice_assign(begin, end, strides, value, name, masks)
    with name_scope(None):
        return lookup("StridedSliceAssign").builder(var._ref(), begin, end, strides, value, **masks, name=name)


def install(cls: type) -> None:
    """Gives `cls` (Tensor, or a variable class that converts to a tensor) all operators."""
    prepare = (lambda method: method) if cls is Tensor else _on_value
    for operator in BINARY:
        setattr(cls, f"__{operator}__", prepare(_binary(operator)))
        setattr(cls, f"__r{operator}__", prepare(_reflected(operator)))
    for operator in DIRECT:
        setattr(cls, f"__{operator}__", prepare(_direct(operator)))
    if cls is Tensor:
        setattr(cls, "__getitem__", getitem)  # noqa: B010
        both = [f"__{reflected}{operator}__" for operator in BINARY for reflected in ("", "r")]
        cls.OVERLOADABLE_OPERATORS = {*both, *(f"__{operator}__" for operator in DIRECT), "__getitem__", "__eq__", "__ne__"}


def _on_value(method: Callable) -> Callable:
    """The operator of a variable: that of its value."""

    def of_variable(self: Any, *others: Any) -> Any:
        return method(self._as_tensor(), *others)

    of_variable.__name__ = method.__name__
    return of_variable


install(Tensor)
