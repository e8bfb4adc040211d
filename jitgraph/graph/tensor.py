"""``tf.Tensor``: one output of an operation."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jitgraph.graph import shapes
from jitgraph.graph.dtypes import DType
from jitgraph.graph.errors import OperatorNotAllowedInGraphError

if TYPE_CHECKING:
    from jitgraph.graph.graph import Graph
    from jitgraph.graph.operation import Operation


def _merge_for_set_shape(tensor: Tensor, shape: Any) -> Any:
    """What both shapes say together; the message of a contradiction is that of TensorFlow's ``set_shape``."""
    known = tensor._shape
    if known is not None and shape is not None:
        if len(known) != len(shape):
            raise ValueError(f"Shapes must be equal rank, but are {len(known)} and {len(shape)} ({tensor.name})")
        for i, (a, b) in enumerate(zip(known, shape)):
            if a is not None and b is not None and a != b:
                raise ValueError(f"Dimension {i} in both shapes must be equal, but are {a} and {b}. Shapes are "
                                 f"{shapes.brackets(known)} and {shapes.brackets(shape)} ({tensor.name}).")
    return shapes.merge(known, shape)


def take_stated_shapes(graph: Graph) -> None:
    """Makes the shapes that a program has put into ``tensor.__dict__["_shape_val"]`` the static ones.

    So do the scripts of the Frechet Inception distance, to feed batches to a network whose file says 1.
    """
    for op in graph._nodes_by_id:
        for tensor in op.outputs:
            if "_shape_val" in tensor.__dict__:
                tensor._shape_val = tensor.__dict__.pop("_shape_val")


class TensorLike:
    """Base of what stands for a tensor: ``isinstance(x, ops._TensorLike)``."""

    __slots__ = ()


_TensorLike = TensorLike        # as libraries know it


class Reference:
    """A key for sets and dicts that stands for a tensor or variable, compared and hashed by identity."""

    __slots__ = ("_wrapped",)

    def __init__(self, wrapped: Any):
        self._wrapped = wrapped

    def deref(self) -> Any:
        """The tensor or variable."""
        return self._wrapped

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, Reference) and self._wrapped is other._wrapped

    def __hash__(self) -> int:
        return id(self._wrapped)

    def __repr__(self) -> str:
        return f"<Reference wrapping {self._wrapped!r}>"


class Tensor(TensorLike):
    """A symbolic value: output `value_index` of operation `op`.

    Attributes: ``op``, ``value_index``, ``dtype``, ``shape`` (static, see ``set_shape``), ``name`` ("op_name:index"),
    ``graph``, ``device``.  Compared and hashed by identity.  The arithmetic operators build operations; they are
    installed by ``jitgraph.graph.operators``.
    """

    __slots__ = ("op", "value_index", "dtype", "_shape", "_consumers", "_handle_data", "__dict__", "__weakref__")
    __array_priority__ = 100
    OVERLOADABLE_OPERATORS: set[str]            # the methods that jitgraph.graph.operators installs

    def __init__(self, op: Operation, value_index: int, dtype: DType, shape: Any = None):
        self.op = op
        self.value_index = value_index
        self.dtype = dtype
        self._shape = shape
        self._consumers: list[Operation] = []

    @property
    def name(self) -> str:
        """The name, ``op_name:index``."""
        return f"{self.op.name}:{self.value_index}"

    @property
    def graph(self) -> Graph:
        """The graph this tensor belongs to."""
        return self.op.graph

    _op = property(lambda self: self.op)        # as libraries know it

    @property
    def device(self) -> str:
        """The device string of its operation."""
        return self.op.device

    @property
    def shape(self) -> shapes.TensorShape:
        """The static shape: what is known before a run.  ``tf.shape(x)`` is the shape at run time."""
        return shapes.TensorShape._of(self._shape)

    def get_shape(self) -> shapes.TensorShape:
        """The static shape (the older spelling of ``.shape``)."""
        return shapes.TensorShape._of(self._shape)

    def _shape_as_list(self) -> list | None:
        return None if self._shape is None else list(self._shape)

    def _shape_tuple(self) -> tuple[int | None, ...] | None:
        return self._shape

    def _rank(self) -> int | None:
        return None if self._shape is None else len(self._shape)

    def set_shape(self, shape: Any) -> None:
        """Adds what is known about the static shape.  Raises ValueError if it contradicts what was known."""
        merged = _merge_for_set_shape(self, shapes.raw_shape(shape))
        if merged != self._shape:
            self._shape = merged
            self.op.graph.mutations += 1

    @property
    def _shape_val(self) -> shapes.TensorShape:
        """The static shape, which programs set to what it is not in a graph file that was written for one image."""
        return self.shape

    @_shape_val.setter
    def _shape_val(self, shape: Any) -> None:
        self._shape = shapes.raw_shape(shape)
        self.op.graph.mutations += 1

    def _as_tf_output(self) -> Tensor:
        """What functions of TensorFlow's inside take for a tensor."""
        return self

    def consumers(self) -> list[Operation]:
        """The operations that take this tensor as an input, in the order of creation, each as often as it takes it."""
        return list(self._consumers)

    @property
    def _is_ref(self) -> bool:
        return self.dtype._is_ref_dtype

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        """This tensor's value as an ndarray, computed in `session` or the default session.

        Raises ValueError if there is no session, or it holds another graph.
        """
        from jitgraph.graph.stack import evaluate

        return evaluate(self, feed_dict, session)

    def __str__(self) -> str:
        shape = "" if self._shape is None else f", shape={shapes.display(self._shape)}"
        device = f", device={self.device}" if self.device else ""
        return f'Tensor("{self.name}"{shape}, dtype={self.dtype.name}{device})'

    def __repr__(self) -> str:
        return f"<tf.Tensor '{self.name}' shape={shapes.display(self._shape)} dtype={self.dtype.name}>"

    def experimental_ref(self) -> Reference:
        """A hashable key that stands for this tensor; its ``deref()`` is the tensor."""
        return Reference(self)

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: Any) -> bool:
        return self is other

    def __ne__(self, other: Any) -> bool:
        return self is not other

    if TYPE_CHECKING:           # installed by jitgraph.graph.operators
        def __getitem__(self, spec: Any) -> Tensor: ...
        def __add__(self, other: Any) -> Tensor: ...
        def __radd__(self, other: Any) -> Tensor: ...
        def __sub__(self, other: Any) -> Tensor: ...
        def __rsub__(self, other: Any) -> Tensor: ...
        def __mul__(self, other: Any) -> Tensor: ...
        def __rmul__(self, other: Any) -> Tensor: ...
        def __truediv__(self, other: Any) -> Tensor: ...
        def __rtruediv__(self, other: Any) -> Tensor: ...
        def __floordiv__(self, other: Any) -> Tensor: ...
        def __rfloordiv__(self, other: Any) -> Tensor: ...
        def __mod__(self, other: Any) -> Tensor: ...
        def __rmod__(self, other: Any) -> Tensor: ...
        def __pow__(self, other: Any) -> Tensor: ...
        def __rpow__(self, other: Any) -> Tensor: ...
        def __matmul__(self, other: Any) -> Tensor: ...
        def __rmatmul__(self, other: Any) -> Tensor: ...
        def __and__(self, other: Any) -> Tensor: ...
        def __or__(self, other: Any) -> Tensor: ...
        def __xor__(self, other: Any) -> Tensor: ...
        def __lt__(self, other: Any) -> Tensor: ...
        def __le__(self, other: Any) -> Tensor: ...
        def __gt__(self, other: Any) -> Tensor: ...
        def __ge__(self, other: Any) -> Tensor: ...
        def __neg__(self) -> Tensor: ...
        def __abs__(self) -> Tensor: ...
        def __invert__(self) -> Tensor: ...

    def __copy__(self) -> Tensor:
        return self

    def __deepcopy__(self, memo: Any) -> Tensor:
        return self

    def __iter__(self):
        raise OperatorNotAllowedInGraphError(
            "iterating over `tf.Tensor` is not allowed in Graph execution. To iterate over this tensor "
            f"({self.name}) use tf.map_fn, or tf.unstack if its first dimension is known.")

    def __bool__(self) -> bool:
        raise OperatorNotAllowedInGraphError(
            f"using a `tf.Tensor` as a Python `bool` is not allowed in Graph execution ({self.name} has no value while "
            "the graph is built). Use `if t is not None:` instead of `if t:` to test if a tensor is defined, and use "
            "TensorFlow ops such as tf.cond to execute subgraphs conditioned on the value of a tensor.")

    __nonzero__ = __bool__

    def __len__(self) -> int:
        raise TypeError(f"object of type 'Tensor' has no len(): {self.name} has no value while the graph is built. "
                        "Use t.shape[0].value for a static size, tf.shape(t)[0] for the size at run time.")

    def __float__(self) -> float:
        raise TypeError(f"{self.name} has no value while the graph is built; evaluate it with sess.run({self.name!r}).")

    def __int__(self) -> int:
        raise TypeError(f"{self.name} has no value while the graph is built; evaluate it with sess.run({self.name!r}).")

    __index__ = __int__

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"Cannot convert a symbolic Tensor ({self.name}) to a numpy array. NumPy functions "
                                  "do not join the graph: use the tf function, or evaluate the tensor first.")


def is_dense_tensor_like(t: Any) -> bool:
    """Whether `t` is a tensor or converts to one as it stands, as variables do; a SparseTensor does not."""
    return isinstance(t, Tensor) or hasattr(type(t), "_as_graph_element")
