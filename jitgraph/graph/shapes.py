"""Static shapes: ``TensorShape`` and ``Dimension``.

Inside jitgraph a static shape is a plain tuple of ints and None (None: unknown size), or None for unknown rank; see
``Tensor._shape`` and the shape rules.  The classes here are what a user sees: ``x.shape``.
"""
from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from jitgraph.graph.python_numbers import number_of

_behavior = {"plain_sizes": False}


def enable_v2_tensorshape() -> None:
    """From now on sizes are ints or None, as in TensorFlow 2: ``x.shape[0]`` is 3, not ``Dimension(3)``."""
    _behavior["plain_sizes"] = True


def disable_v2_tensorshape() -> None:
    """Takes ``enable_v2_tensorshape`` back: ``x.shape[0]`` is ``Dimension(3)``."""
    _behavior["plain_sizes"] = False


def _plain_for(frame: Any) -> bool:
    """Whether the code of a frame is to get ints for sizes: the program is, jitgraph itself goes on with Dimensions."""
    return _behavior["plain_sizes"] and not frame.f_globals.get("__name__", "").startswith("jitgraph.")


def as_dimension(value: Any) -> Dimension:
    """`value` (an int, None or Dimension) as a Dimension."""
    return value if isinstance(value, Dimension) else Dimension(value)


class Dimension:
    """The size of one dimension: ``Dimension(7).value`` is 7, ``Dimension(None).value`` is None (unknown).

    Arithmetic and comparisons with an unknown size give an unknown result (None for comparisons).
    """

    __slots__ = ("_value",)

    def __init__(self, value: Any):
        if value is None:
            self._value: int | None = None
            return
        if isinstance(value, Dimension):
            self._value = value._value
            return
        if hasattr(value, "as_datatype_enum"):
            raise TypeError(f"Cannot convert {value} to Dimension")
        value = number_of(value)
        self._value = int(value)
        if not isinstance(value, (str, bytes)) and self._value != value:
            raise ValueError(f"Ambiguous dimension: {value}")
        if self._value < 0:
            raise ValueError(f"Dimension {self._value} must be >= 0")

    @property
    def value(self) -> int | None:
        """The size, or None if it is unknown."""
        return self._value

    def __repr__(self) -> str:
        return f"Dimension({self._value})"

    def __str__(self) -> str:
        return "?" if self._value is None else str(self._value)

    def __int__(self) -> int:
        if self._value is None:
            raise TypeError("__int__ returned non-int (type NoneType): the size of this dimension is unknown; "
                            "use tf.shape(x)[i] for its value at run time.")
        return self._value

    def __index__(self) -> int:
        return int(self)

    def __hash__(self) -> int:
        return hash(self._value)

    def is_compatible_with(self, other: Any) -> bool:
        """Whether the sizes are equal or one is unknown."""
        other = as_dimension(other)
        return self._value == other._value or self._value is None or other._value is None

    def assert_is_compatible_with(self, other: Any) -> None:
        """Raises ValueError if the sizes are known and differ."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Dimensions {self} and {other} are not compatible")

    def merge_with(self, other: Any) -> Dimension:
        """The known one of both; raises ValueError if they are known and differ."""
        other = as_dimension(other)
        self.assert_is_compatible_with(other)
        return Dimension(other._value if self._value is None else self._value)

    def _with(self, other: Any, function: Any) -> Any:
        try:
            other = as_dimension(other)
        except (TypeError, ValueError):
            return NotImplemented
        if self._value is None or other._value is None:
            return Dimension(None)
        return Dimension(function(self._value, other._value))

    def _compare(self, other: Any, function: Any) -> Any:
        try:
            other = as_dimension(other)
        except (TypeError, ValueError):
            return NotImplemented
        if self._value is None or other._value is None:
            return None
        return function(self._value, other._value)

    def __eq__(self, other: Any) -> Any:
        return self._compare(other, lambda a, b: a == b)

    def __ne__(self, other: Any) -> Any:
        return self._compare(other, lambda a, b: a != b)

    def __lt__(self, other: Any) -> Any:
        return self._compare(other, lambda a, b: a < b)

    def __le__(self, other: Any) -> Any:
        return self._compare(other, lambda a, b: a <= b)

    def __gt__(self, other: Any) -> Any:
        return self._compare(other, lambda a, b: a > b)

    def __ge__(self, other: Any) -> Any:
        return self._compare(other, lambda a, b: a >= b)

    def __add__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: a + b)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: a - b)

    def __rsub__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: b - a)

    def __mul__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: a * b)

    __rmul__ = __mul__

    def __floordiv__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: a // b)

    def __rfloordiv__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: b // a)

    __div__ = __floordiv__

    def __truediv__(self, other: Any) -> Any:
        raise TypeError(f"unsupported operand type(s) for /: 'Dimension' and '{type(other).__name__}', "
                        "please use // instead")

    def __rtruediv__(self, other: Any) -> Any:
        raise TypeError(f"unsupported operand type(s) for /: '{type(other).__name__}' and 'Dimension', "
                        "please use // instead")

    def __mod__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: a % b)

    def __rmod__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: b % a)

    def __reduce__(self):
        return Dimension, (self._value,)


class TensorShape:
    """A static shape: fully known ``TensorShape([2, 3])``, partly known ``TensorShape([None, 3])``, or of unknown rank.

    Iterating and indexing give ``Dimension``s; ``as_list()`` gives ints and None; slices give TensorShapes.
    """

    __slots__ = ("_raw",)

    def __init__(self, dims: Any):
        self._raw = raw_shape(dims)

    @classmethod
    def _of(cls, raw: Any) -> TensorShape:
        self = object.__new__(cls)
        self._raw = raw
        return self

    @property
    def dims(self) -> list[Dimension] | None:
        """The dimensions, or None for unknown rank."""
        return None if self._raw is None else [Dimension(d) for d in self._raw]

    _dims = dims            # which Keras reads

    @property
    def ndims(self) -> int | None:
        """The rank, or None if it is unknown."""
        return None if self._raw is None else len(self._raw)

    rank = ndims

    def as_list(self) -> list:
        """The sizes as a list of ints and None.  Raises ValueError for unknown rank."""
        if self._raw is None:
            raise ValueError("as_list() is not defined on an unknown TensorShape.")
        return list(self._raw)

    def as_proto(self) -> Any:
        """The TensorShapeProto."""
        from jitgraph.graph.protos.tensor_proto import shape_to_proto

        return shape_to_proto(self._raw)

    def num_elements(self) -> int | None:
        """The number of elements, or None if the shape is not fully known."""
        if not self.is_fully_defined():
            return None
        count = 1
        for d in self._raw:
            count *= d
        return count

    def is_fully_defined(self) -> bool:
        """Whether the rank and every size are known."""
        return self._raw is not None and None not in self._raw

    def assert_is_fully_defined(self) -> None:
        """Raises ValueError unless the rank and every size are known."""
        if not self.is_fully_defined():
            raise ValueError(f"Shape {self} is not fully defined")

    def is_compatible_with(self, other: Any) -> bool:
        """Whether some fully known shape suits both."""
        return compatible(self._raw, raw_shape(other))

    def assert_is_compatible_with(self, other: Any) -> None:
        """Raises ValueError if no fully known shape suits both."""
        other = as_shape(other)
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {other} are incompatible")

    def most_specific_compatible_shape(self, other: Any) -> TensorShape:
        """The narrowest shape that both fit: sizes that differ become unknown."""
        other = as_shape(other)
        if self._raw is None or other._raw is None or len(self._raw) != len(other._raw):
            return unknown_shape()
        return TensorShape._of(tuple(a if a == b else None for a, b in zip(self._raw, other._raw)))

    def merge_with(self, other: Any) -> TensorShape:
        """What is known from either.  Raises ValueError if they contradict each other."""
        return TensorShape._of(merge(self._raw, raw_shape(other)))

    def concatenate(self, other: Any) -> TensorShape:
        """The dimensions of both, one after the other; unknown if either rank is."""
        other = as_shape(other)
        if self._raw is None or other._raw is None:
            return unknown_shape()
        return TensorShape._of(self._raw + other._raw)

    def assert_same_rank(self, other: Any) -> None:
        """Raises ValueError if both ranks are known and differ."""
        other = as_shape(other)
        if self._raw is not None and other._raw is not None and len(self._raw) != len(other._raw):
            raise ValueError(f"Shapes {self} and {other} must have the same rank")

    def assert_has_rank(self, rank: int) -> None:
        """Raises ValueError unless the rank is `rank` or unknown."""
        if self.ndims not in (None, rank):
            raise ValueError(f"Shape {self} must have rank {rank}")

    def with_rank(self, rank: int) -> TensorShape:
        """This shape if it has rank `rank`, all sizes unknown if the rank is.  Raises ValueError otherwise."""
        try:
            return self.merge_with(unknown_shape(ndims=rank))
        except ValueError:
            raise ValueError(f"Shape {self} must have rank {rank}") from None

    def with_rank_at_least(self, rank: int) -> TensorShape:
        """This shape.  Raises ValueError if its rank is known and lower than `rank`."""
        if self.ndims is not None and self.ndims < rank:
            raise ValueError(f"Shape {self} must have rank at least {rank}")
        return self

    def with_rank_at_most(self, rank: int) -> TensorShape:
        """This shape.  Raises ValueError if its rank is known and higher than `rank`."""
        if self.ndims is not None and self.ndims > rank:
            raise ValueError(f"Shape {self} must have rank at most {rank}")
        return self

    def __len__(self) -> int:
        if self._raw is None:
            raise ValueError("Cannot take the length of Shape with unknown rank.")
        return len(self._raw)

    def __bool__(self) -> bool:
        return self._raw is not None

    __nonzero__ = __bool__

    def __iter__(self) -> Iterator[Dimension]:
        if self._raw is None:
            raise ValueError("Cannot iterate over a shape with unknown rank.")
        return iter(self._raw if _plain_for(sys._getframe(1)) else [Dimension(d) for d in self._raw])

    def __getitem__(self, key: Any) -> Any:
        if self._raw is not None:
            if isinstance(key, slice):
                return TensorShape._of(self._raw[key])
            return self._raw[key] if _plain_for(sys._getframe(1)) else Dimension(self._raw[key])
        if not isinstance(key, slice):
            return None if _plain_for(sys._getframe(1)) else Dimension(None)
        start = key.start if key.start is not None else 0
        if key.step is not None:
            raise ValueError("Steps are not yet handled")
        if key.stop is None or key.stop < start < 0 or key.stop < 0 or start < 0:
            return unknown_shape()
        return unknown_shape(ndims=max(key.stop - start, 0))

    def __eq__(self, other: Any) -> bool:
        """Whether both are known to be the same shape: an unknown size equals no other size."""
        try:
            other = as_shape(other)
        except (TypeError, ValueError):
            return NotImplemented
        if self._raw is other._raw:
            return True
        return self._raw == other._raw and None not in self._raw

    def __ne__(self, other: Any) -> bool:
        try:
            other = as_shape(other)
        except (TypeError, ValueError):
            return NotImplemented
        if self._raw is None or other._raw is None:
            raise ValueError("The inequality of unknown TensorShapes is undefined.")
        return not self == other

    def __hash__(self) -> int:
        return hash(self._raw)

    def __add__(self, other: Any) -> TensorShape:
        return self.concatenate(other)

    def __radd__(self, other: Any) -> TensorShape:
        return as_shape(other).concatenate(self)

    def __str__(self) -> str:
        return display(self._raw)

    def __repr__(self) -> str:
        if _behavior["plain_sizes"]:
            return f"TensorShape({None if self._raw is None else list(self._raw)})"
        return f"TensorShape({self.dims})"

    def __reduce__(self):
        return TensorShape, (self._raw,)


def display(raw: Any) -> str:
    """A raw shape as TensorFlow prints it: ``(?, 3)`` (``(None, 3)`` with plain sizes), ``(3,)``, ``()`` or ``<unknown>``."""
    if raw is None:
        return "<unknown>"
    unknown = "None" if _behavior["plain_sizes"] else "?"
    words = [unknown if d is None else str(d) for d in raw]
    return f"({words[0]},)" if len(words) == 1 else f"({', '.join(words)})"


def brackets(raw: Any) -> str:
    """A raw shape as TensorFlow's shape errors print it: ``[?,3]``, ``[]`` or ``<unknown>``."""
    if raw is None:
        return "<unknown>"
    return "[" + ",".join("?" if d is None else str(d) for d in raw) + "]"


def raw_shape(dims: Any) -> Any:
    """`dims` (TensorShape, Dimensions, ints, None, a TensorShapeProto) as a tuple of int and None, or None."""
    if dims is None:
        return None
    if type(dims) is tuple and all(type(d) is int and d >= 0 for d in dims):
        return dims
    if isinstance(dims, TensorShape):
        return dims._raw
    if hasattr(dims, "unknown_rank"):       # a TensorShapeProto
        return None if dims.unknown_rank else tuple(None if d.size == -1 else d.size for d in dims.dim)
    if isinstance(dims, (str, bytes)):
        raise TypeError(f"A shape is a list of integers and None, not {dims!r}.")
    try:
        items = list(dims)
    except TypeError:
        return (as_dimension(dims).value,)
    return tuple(as_dimension(d).value for d in items)


def compatible(a: Any, b: Any) -> bool:
    """Whether two raw shapes can describe one tensor."""
    if a is None or b is None:
        return True
    return len(a) == len(b) and all(x is None or y is None or x == y for x, y in zip(a, b))


def merge(a: Any, b: Any) -> Any:
    """What two raw shapes say together.  Raises ValueError if they contradict each other."""
    if a is None:
        return b
    if b is None:
        return a
    if not compatible(a, b):
        raise ValueError(f"Shapes {display(a)} and {display(b)} are not compatible")
    return tuple(y if x is None else x for x, y in zip(a, b))


def as_shape(shape: Any) -> TensorShape:
    """`shape` as a TensorShape (itself if it is one)."""
    return shape if isinstance(shape, TensorShape) else TensorShape(shape)


def unknown_shape(ndims: int | None = None, **kwargs: Any) -> TensorShape:
    """A shape of unknown rank, or of rank `ndims` with all sizes unknown."""
    ndims = kwargs.pop("rank", ndims)
    if kwargs:
        raise TypeError(f"Unknown argument: {next(iter(kwargs))}")
    return TensorShape._of(None if ndims is None else (None,) * ndims)


def scalar() -> TensorShape:
    """The shape of a scalar, ``()``."""
    return TensorShape._of(())


def dimension_value(dimension: Any) -> int | None:
    """The size that a Dimension, int or None stands for (``tf.dimension_value``)."""
    return dimension.value if isinstance(dimension, Dimension) else dimension


def dimension_at_index(shape: Any, index: int) -> Dimension:
    """``shape[index]`` as a Dimension, unknown if the rank is."""
    return as_shape(shape)[index] if as_shape(shape).ndims is not None else Dimension(None)
