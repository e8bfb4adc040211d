"""``LabeledTensor``, the order of axes, and functions that leave the elements as they are or go through them one by one."""
from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from jitgraph.contrib.labeled_tensor.axes import Axes, shown
from jitgraph.graph.convert import convert_to_tensor, register_tensor_conversion_function
from jitgraph.graph.scopes import get_collection, get_collection_ref, name_scope
from jitgraph.ops.arrays.identity import identity as same
from jitgraph.ops.arrays.layout import transpose as transposed
from jitgraph.ops.arrays.shape import reshape
from jitgraph.ops.elementwise import arithmetic, compare, composite_values, elementary, special

_ORDER = ("__axis_order",)


class AxisOrderError(ValueError):
    """Axes stand in an order in which they cannot go on."""


class LabeledTensor:
    """A tensor with an axis for each dimension: an Axis, a pair (name, value), or a name alone, whose size the tensor knows.

    Operators align the axes of both sides.  Raises ValueError if the number of axes or a size is not that of the tensor.
    """

    def __init__(self, tensor: Any, axes: Any):
        shape = tensor.get_shape()
        if not isinstance(axes, Axes):
            axes = Axes([(axis, shape[k]) if isinstance(axis, str) else axis for k, axis in enumerate(axes)])
        if len(shape) != len(axes):
            raise ValueError(f"Tensor rank was not equal to the number of axes: {shape!r}, {axes!r}")
        for size, axis in zip(shape.as_list(), axes.values()):
            if size is not None and axis.size is not None and size != axis.size:
                raise ValueError(f"Provided axis size {axis.size} does not match tensor dimension size {size} in tensor {tensor!r}")
        self._tensor, self._axes = tensor, axes

    @property
    def tensor(self) -> Any:
        """The tensor alone."""
        return self._tensor

    @property
    def axes(self) -> Axes:
        """The axes."""
        return self._axes

    @property
    def dtype(self) -> Any:
        """The dtype."""
        return self._tensor.dtype

    @property
    def shape(self) -> Any:
        """The static shape."""
        return self._tensor.shape

    @property
    def name(self) -> str:
        """The name of the tensor."""
        found: str = self._tensor.name
        return found

    def get_shape(self) -> Any:
        """The static shape."""
        return self._tensor.get_shape()

    def _as_graph_element(self) -> Any:
        return self._tensor

    def __repr__(self) -> str:
        return (f"<{type(self).__name__} '{self.name}' shape={self.get_shape()} dtype={self.dtype.name}\n"
                f" axes=[{shown(self.axes, len(' axes=['))}]>")

    def __getitem__(self, key: Any) -> LabeledTensor:
        key = key if isinstance(key, tuple) else (key,)
        if len(key) != len(self.axes):
            raise ValueError(f"indexer {key!r} must have the same length as the Tensor rank ({len(self.axes)})")
        return slice_function(self, dict(zip(self.axes, key)))

    def __abs__(self) -> Any:
        return abs_function(self)

    def __neg__(self) -> Any:
        return neg(self)

    def __pos__(self) -> LabeledTensor:
        return self

    def __add__(self, other: Any) -> Any:
        return add(self, other)

    def __radd__(self, other: Any) -> Any:
        return add(other, self)

    def __sub__(self, other: Any) -> Any:
        return sub(self, other)

    def __rsub__(self, other: Any) -> Any:
        return sub(other, self)

    def __mul__(self, other: Any) -> Any:
        return mul(self, other)

    def __rmul__(self, other: Any) -> Any:
        return mul(other, self)

    def __truediv__(self, other: Any) -> Any:
        return div(self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return div(other, self)

    __div__, __rdiv__ = __truediv__, __rtruediv__

    def __mod__(self, other: Any) -> Any:
        return mod(self, other)

    def __rmod__(self, other: Any) -> Any:
        return mod(other, self)

    def __pow__(self, other: Any) -> Any:
        return pow_function(self, other)

    def __rpow__(self, other: Any) -> Any:
        return pow_function(other, self)

    def __invert__(self) -> Any:
        return logical_not(self)

    def __and__(self, other: Any) -> Any:
        return logical_and(self, other)

    def __or__(self, other: Any) -> Any:
        return logical_or(self, other)

    def __xor__(self, other: Any) -> Any:
        return logical_xor(self, other)

    def __lt__(self, other: Any) -> Any:
        return less(self, other)

    def __le__(self, other: Any) -> Any:
        return less_equal(self, other)

    def __gt__(self, other: Any) -> Any:
        return greater(self, other)

    def __ge__(self, other: Any) -> Any:
        return greater_equal(self, other)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LabeledTensor) and self.tensor is other.tensor and self.axes == other.axes

    def __hash__(self) -> int:
        return hash((self.tensor, self.axes))


register_tensor_conversion_function(
    LabeledTensor, lambda value, dtype=None, name=None, as_ref=False: convert_to_tensor(value.tensor, dtype, name))


def convert_to_labeled_tensor(value: Any, dtype: Any = None, name: str | None = None) -> LabeledTensor:
    """A LabeledTensor as it is, or one without axes of a scalar.  Raises ValueError for tensors and arrays of a higher rank."""
    labeled = isinstance(value, LabeledTensor)
    axes = list(value.axes.values()) if labeled else []
    tensor = convert_to_tensor(value.tensor if labeled else value, dtype=dtype, name=name)
    if len(tensor.get_shape()) != len(axes):
        raise ValueError("cannot automatically convert unlabeled arrays or tensors with rank>0 into LabeledTensors: "
                         f"{value!r}")
    return LabeledTensor(tensor, axes)


def identity(labeled_tensor: Any, name: str | None = None) -> LabeledTensor:
    """The same."""
    with name_scope(name, "lt_identity", [labeled_tensor]) as scope:
        one = convert_to_labeled_tensor(labeled_tensor)
        return LabeledTensor(same(one.tensor, name=scope), one.axes)


def slice_function(labeled_tensor: Any, selection: dict, name: str | None = None) -> LabeledTensor:
    """The places `selection` along axes, by numbers: {axis: an int, which leaves the axis out, or a slice}."""
    with name_scope(name, "lt_slice", [labeled_tensor]) as scope:
        one = convert_to_labeled_tensor(labeled_tensor)
        slices = tuple(selection.get(axis, slice(None)) for axis in one.axes)
        axes: list[Any] = []
        for axis, part in zip(one.axes.values(), slices):
            if isinstance(part, slice):
                axes.append(axis.name if axis.labels is None else (axis.name, axis.labels[part]))
        return LabeledTensor(same(one.tensor[slices], name=scope), axes)


def transpose(labeled_tensor: Any, axis_order: Any = None, name: str | None = None) -> LabeledTensor:
    """The axes in another order, by default the opposite one.  Raises ValueError unless it has the names of all."""
    with name_scope(name, "lt_transpose", [labeled_tensor]) as scope:
        one = convert_to_labeled_tensor(labeled_tensor)
        before = list(one.axes)
        order = before[::-1] if axis_order is None else list(axis_order)
        if sorted(order) != sorted(before):
            raise ValueError("The new axis order must have the same names as the original axes, but the new order is "
                             f"{order!r} while the original order is {before!r}")
        tensor = transposed(one.tensor, [before.index(axis) for axis in order], name=scope)
        return LabeledTensor(tensor, [one.axes[axis] for axis in order])


def expand_dims(labeled_tensor: Any, axes: Any, name: str | None = None) -> LabeledTensor:
    """The tensor with the axes `axes`, of which it has some: the others, names or pairs (name, label), are of size 1."""
    with name_scope(name, "lt_expand_dims", [labeled_tensor]) as scope:
        one = convert_to_labeled_tensor(labeled_tensor)
        check_axis_order(one, [axis if isinstance(axis, str) else axis[0] for axis in axes])
        made: list[Any] = []
        shape = []
        for axis in axes:
            if axis in one.axes:
                made.append(one.axes[axis])
                shape.append(-1 if made[-1].size is None else made[-1].size)
            else:
                made.append((axis, 1) if isinstance(axis, str) else (axis[0], (axis[1],)))
                shape.append(1)
        return LabeledTensor(reshape(one.tensor, shape, name=scope), made)


# -- the order of axes -------------------------------------------------------------------------------------------------

def get_axis_order() -> Any:
    """The order of the scope around, or None."""
    found = get_collection(_ORDER)
    return found[0] if found else None


def _set_axis_order(axis_order: Any) -> None:
    get_collection_ref(_ORDER)[:] = [axis_order]


@contextlib.contextmanager
def axis_order_scope(axis_order: Any = None) -> Iterator[Any]:
    """While it is entered, results have their axes in the order of these names, and arguments must have it."""
    before = get_axis_order()
    _set_axis_order(axis_order)
    try:
        yield axis_order
    finally:
        _set_axis_order(before)


def _valid_order(axis_order: Any) -> Any:
    order = get_axis_order() if axis_order is None else axis_order
    if order is None:
        raise AxisOrderError("an explicit axis order must be provided with the axis_order argument or by using an axis_order_scope")
    return order


def check_axis_order(labeled_tensor: Any, axis_order: Any = None) -> None:
    """Raises AxisOrderError unless the axes stand in an order that has all of them; None is that of the scope."""
    one = convert_to_labeled_tensor(labeled_tensor)
    axis_order = _valid_order(axis_order)
    relevant = [axis for axis in axis_order if axis in one.axes]
    if len(relevant) < len(one.axes):
        raise AxisOrderError(f"not all axis names appear in the required axis order {axis_order!r}: {one!r}")
    if relevant != list(one.axes):
        raise AxisOrderError("axes on a labeled tensor do not appear in the same order as the required axis order "
                             f"{axis_order!r}: {one!r}")


def impose_axis_order(labeled_tensor: Any, axis_order: Any = None, name: str | None = None) -> LabeledTensor:
    """The axes in an order, which may have others too; None is that of the scope."""
    with name_scope(name, "lt_impose_axis_order", [labeled_tensor]) as scope:
        one = convert_to_labeled_tensor(labeled_tensor)
        return transpose(one, [axis for axis in _valid_order(axis_order) if axis in one.axes], name=scope)


def _merged(a: list[str], b: list[str]) -> list[str] | None:
    """An order that holds both, None if they contradict each other."""
    i, j, found = 0, 0, []
    while i < len(a) and j < len(b):
        if a[i] not in b or a[i] == b[j]:
            j += a[i] == b[j]
            found.append(a[i])
            i += 1
        elif b[j] not in a:
            found.append(b[j])
            j += 1
        else:
            return None
    return found + a[i:] + b[j:]


def align(labeled_tensor_0: Any, labeled_tensor_1: Any, name: str | None = None) -> tuple[LabeledTensor, LabeledTensor, Axes]:
    """Both with all axes of either, of size 1 where one did not have it, and the axes of what they make together.

    Raises ValueError for axes of one name that differ, AxisOrderError if the orders contradict each other or that of the scope.
    """
    with name_scope(name, "lt_align", [labeled_tensor_0, labeled_tensor_1]) as scope:
        one, other = convert_to_labeled_tensor(labeled_tensor_0), convert_to_labeled_tensor(labeled_tensor_1)
        for axis in one.axes:
            if axis in other.axes and one.axes[axis] != other.axes[axis]:
                raise ValueError(f"Mismatched {axis!r} axis on input tensors: {one.axes[axis]!r} and {other.axes[axis]!r}")
        order = get_axis_order()
        if order is not None:
            names: list[str] | None = [axis for axis in order if axis in one.axes or axis in other.axes]
            check_axis_order(one, order)
            check_axis_order(other, order)
        else:
            names = _merged(list(one.axes), list(other.axes))
        if names is None:
            raise AxisOrderError(f"No consistent axis order allows for aligning tensors with axis orders {one.axes.keys()!r} and "
                                 f"{other.axes.keys()!r} without copying data. Use transpose or impose_axis_order to reorder axes "
                                 "on one of more of the inputs.")
        axes = Axes([one.axes[axis] if axis in one.axes else other.axes[axis] for axis in names])
        return expand_dims(one, names, name=f"{scope}0"), expand_dims(other, names, name=f"{scope}1"), axes


# -- element by element ------------------------------------------------------------------------------------------------

def define_unary_op(op_name: str, elementwise_function: Callable) -> Callable[..., LabeledTensor]:
    """The function of labeled tensors that a function of tensors is."""

    def op(labeled_tensor: Any, name: str | None = None) -> LabeledTensor:
        with name_scope(name, f"lt_{op_name}", [labeled_tensor]) as scope:
            one = convert_to_labeled_tensor(labeled_tensor)
            return LabeledTensor(elementwise_function(one.tensor, name=scope), one.axes)

    op.__name__, op.__doc__ = op_name, f"``tf.{op_name}`` of each element; the axes stay."
    return op


def define_binary_op(op_name: str, elementwise_function: Callable) -> Callable[..., LabeledTensor]:
    """The function of two labeled tensors, which are aligned, that a function of two tensors is."""

    def op(labeled_tensor_0: Any, labeled_tensor_1: Any, name: str | None = None) -> LabeledTensor:
        with name_scope(name, f"lt_{op_name}", [labeled_tensor_0, labeled_tensor_1]) as scope:
            one, other, axes = align(labeled_tensor_0, labeled_tensor_1)
            return LabeledTensor(elementwise_function(one.tensor, other.tensor, name=scope), axes)

    op.__name__, op.__doc__ = op_name, f"``tf.{op_name}`` of each two elements, with all axes of either."
    return op

abs_function = define_unary_op("abs", arithmetic.abs)
neg = define_unary_op("neg", composite_values.negative)
sign = define_unary_op("sign", composite_values.sign)
reciprocal = define_unary_op("reciprocal", elementary.reciprocal)
square = define_unary_op("square", composite_values.square)
round_function = define_unary_op("round", elementary.round)
sqrt = define_unary_op("sqrt", composite_values.sqrt)
rsqrt = define_unary_op("rsqrt", elementary.rsqrt)
exp = define_unary_op("exp", elementary.exp)
log = define_unary_op("log", elementary.log)
ceil = define_unary_op("ceil", elementary.ceil)
floor = define_unary_op("floor", elementary.floor)
cos = define_unary_op("cos", elementary.cos)
sin = define_unary_op("sin", elementary.sin)
tan = define_unary_op("tan", elementary.tan)
acos = define_unary_op("acos", elementary.acos)
asin = define_unary_op("asin", elementary.asin)
atan = define_unary_op("atan", elementary.atan)
lgamma = define_unary_op("lgamma", special.lgamma)
digamma = define_unary_op("digamma", special.digamma)
erf = define_unary_op("erf", composite_values.erf)
erfc = define_unary_op("erfc", special.erfc)
logical_not = define_unary_op("logical_not", compare.logical_not)
tanh = define_unary_op("tanh", composite_values.tanh)
sigmoid = define_unary_op("sigmoid", elementary.sigmoid)

add = define_binary_op("add", arithmetic.add)
sub = define_binary_op("sub", arithmetic.subtract)
mul = define_binary_op("mul", arithmetic.multiply)
div = define_binary_op("div", arithmetic.div)
mod = define_binary_op("mod", arithmetic.mod)
pow_function = define_binary_op("pow", arithmetic.pow)
equal = define_binary_op("equal", compare.equal)
greater = define_binary_op("greater", compare.greater)
greater_equal = define_binary_op("greater_equal", compare.greater_equal)
not_equal = define_binary_op("not_equal", compare.not_equal)
less = define_binary_op("less", compare.less)
less_equal = define_binary_op("less_equal", compare.less_equal)
logical_and = define_binary_op("logical_and", compare.logical_and)
logical_or = define_binary_op("logical_or", compare.logical_or)
logical_xor = define_binary_op("logical_xor", compare.logical_xor)
maximum = define_binary_op("maximum", arithmetic.maximum)
minimum = define_binary_op("minimum", arithmetic.minimum)
squared_difference = define_binary_op("squared_difference", arithmetic.squared_difference)
igamma = define_binary_op("igamma", special.igamma)
igammac = define_binary_op("igammac", special.igammac)
zeta = define_binary_op("zeta", special.zeta)
polygamma = define_binary_op("polygamma", special.polygamma)
