"""``tf.TensorArray``."""
from __future__ import annotations

from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.graph import dtypes, shapes
from jitgraph.graph.constant_value import constant_value
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.counting import count_nodes
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.dtypes import as_dtype
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.shapes import TensorShape
from jitgraph.graph.tensor import Tensor


class TensorArray:
    """An array of tensors that loops write and read element by element.

    ``ta.write(i, x)`` returns a new TensorArray; use it from then on.  Gradients flow through all methods.

    `size`: the number of elements, an int32 scalar.  `dynamic_size`: writes past the end make it larger.
    `clear_after_read` (true by default): an element may be read once.  `infer_shape`: all elements have the shape
    `element_shape`, or that of the first one.  `handle` and `flow` together make another object for an existing array.
    Elements that were not written are zeros if their shape is known.  Raises ValueError or TypeError for arguments
    that contradict each other; runs raise InvalidArgumentError for indices out of range, elements written twice, and
    elements read twice without ``clear_after_read=False``.  In functions of datasets an array is a list of tensors, see
    ``ListArray``, as in TensorFlow.
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> TensorArray:
        if cls is TensorArray and kwargs.get("handle") is None and getattr(get_default_graph(), "arrays_are_lists", False):
            from jitgraph.tensor_arrays.list_arrays import ListArray  # which derives from this class

            return object.__new__(ListArray)
        return object.__new__(cls)

    def __init__(self, dtype: Any, size: Any = None, dynamic_size: bool | None = None,
                 clear_after_read: bool | None = None, tensor_array_name: str | None = None, handle: Tensor | None = None,
                 flow: Tensor | None = None, infer_shape: bool = True, element_shape: Any = None,
                 colocate_with_first_write_call: bool = True, name: str | None = None):
        _check_arguments(size, dynamic_size, clear_after_read, tensor_array_name, handle)
        self._dtype = as_dtype(dtype).base_dtype
        self._dynamic_size = bool(dynamic_size)
        self._infer_shape = infer_shape
        self._colocate_with_first_write_call = colocate_with_first_write_call
        # shared by all objects for this array, as each write may tell the shape
        self._shape: list[Any] = [shapes.raw_shape(element_shape)]
        self._fixed = element_shape is not None or infer_shape
        with name_scope(name, "TensorArray", [] if handle is None else [handle]) as scope:
            if handle is not None:
                self._handle = handle
                self._flow = handle if flow is None else flow
                return
            self._handle, self._flow = raw.TensorArrayV3(
                convert_to_tensor(size, dtypes.int32, "size"), dtype=self._dtype, element_shape=self._shape[0],
                dynamic_size=self._dynamic_size, clear_after_read=True if clear_after_read is None else clear_after_read,
                identical_element_shapes=infer_shape, tensor_array_name=tensor_array_name or "", name=scope)

    # -- what it is

    @property
    def flow(self) -> Tensor:
        """The tensor that stands for the elements as they are now: later versions depend on it."""
        return self._flow

    @property
    def handle(self) -> Tensor:
        """The tensor that stands for the array."""
        return self._handle

    @property
    def dtype(self) -> Any:
        """The dtype of the elements."""
        return self._dtype

    @property
    def dynamic_size(self) -> bool:
        """Whether writes past the end make it larger."""
        return self._dynamic_size

    @property
    def element_shape(self) -> TensorShape:
        """What is known of the shape of the elements."""
        return TensorShape._of(self._shape[0])

    def _with(self, flow: Tensor) -> TensorArray:
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other._flow = flow
        return other

    def _learn(self, shape: Any) -> None:
        """Takes note of the shape of an element.  Raises ValueError if it contradicts what is known."""
        if not self._fixed:
            return
        known = self._shape[0]
        if not shapes.compatible(known, shape):
            raise ValueError(f"Inconsistent shapes: saw {shapes.display(shape)} but expected {shapes.display(known)} "
                             f"(TensorArray {self._handle.op.name}; infer_shape=False allows elements of different "
                             "shapes)")
        if self._infer_shape:
            self._shape[0] = shapes.merge(known, shape)

    def _value(self, value: Any) -> Tensor:
        return convert_to_tensor(value, name="value", preferred_dtype=self._dtype)

    def identity(self) -> TensorArray:
        """A TensorArray with the same elements, whose flow is a node of its own."""
        return self._with(raw.Identity(self._flow))

    def grad(self, source: str, flow: Tensor | None = None, name: str | None = None) -> TensorArray:
        """The TensorArray for the gradients of the elements; writes to one element of it add up."""
        handle, made = raw.TensorArrayGradV3(self._handle, self._flow if flow is None else flow, source=source, name=name)
        other = self._with(made)
        other._handle = handle
        return other

    # -- one element

    def read(self, index: Any, name: str | None = None) -> Tensor:
        """The element at `index`."""
        value = raw.TensorArrayReadV3(self._handle, index, self._flow, dtype=self._dtype, name=name)
        value._shape = shapes.merge(value._shape, self._shape[0])
        return value

    def write(self, index: Any, value: Any, name: str | None = None) -> TensorArray:
        """A TensorArray with `value` at `index`, which must not be written yet."""
        with name_scope(name, "TensorArrayWrite", [self._handle, index, value]):
            value = self._value(value)
            self._learn(value._shape)
            return self._with(raw.TensorArrayWriteV3(self._handle, index, value, self._flow))

    # -- all elements

    def stack(self, name: str | None = None) -> Tensor:
        """All elements along a new first axis."""
        with name_scope(name, "TensorArrayStack", [self._handle]):
            return self.gather(raw.Range(0, self.size(), 1), name=name)

    def gather(self, indices: Any, name: str | None = None) -> Tensor:
        """The elements at `indices` (int32 [n]), one behind the other along a new first axis."""
        value = raw.TensorArrayGatherV3(self._handle, indices, self._flow, dtype=self._dtype,
                                        element_shape=self._shape[0], name=name)
        if value._shape is not None:            # TensorFlow does not look for how many, and its gradients count on that
            value._shape = (None, *value._shape[1:])
        return value

    def concat(self, name: str | None = None) -> Tensor:
        """All elements one behind the other along their first axis."""
        known = self._shape[0]
        value, _ = raw.TensorArrayConcatV3(self._handle, self._flow, dtype=self._dtype,
                                           element_shape_except0=None if known is None else known[1:], name=name)
        return value

    def unstack(self, value: Any, name: str | None = None) -> TensorArray:
        """A TensorArray whose elements are the rows of `value`."""
        with name_scope(name, "TensorArrayUnstack", [self._handle, value]):
            before = get_default_graph()._last_id
            value = self._value(value)
            count_nodes(get_default_graph()._last_id - before)      # TensorFlow makes a tensor of it twice
            count = raw.StridedSlice(raw.Shape(value), [0], [1], [1], shrink_axis_mask=1)
            return self.scatter(raw.Range(0, count, 1), value)

    def scatter(self, indices: Any, value: Any, name: str | None = None) -> TensorArray:
        """A TensorArray with the rows of `value` at `indices` (int32 [n])."""
        with name_scope(name, "TensorArrayScatter", [self._handle, value, indices]):
            value = self._value(value)
            if self._fixed and value._shape is not None:
                self._learn(value._shape[1:])
            return self._with(raw.TensorArrayScatterV3(self._handle, indices, value, self._flow))

    def split(self, value: Any, lengths: Any, name: str | None = None) -> TensorArray:
        """A TensorArray whose elements are consecutive pieces of `value`, of these `lengths` (int [n])."""
        with name_scope(name, "TensorArraySplit", [self._handle, value, lengths]):
            value = self._value(value)
            lengths = convert_to_tensor(lengths)
            if lengths.dtype.base_dtype is not dtypes.int64:
                lengths = raw.Cast(lengths, DstT=dtypes.int64)
            self._learn_pieces(value, lengths)
            return self._with(raw.TensorArraySplitV3(self._handle, value, lengths, self._flow))

    def _learn_pieces(self, value: Tensor, lengths: Tensor) -> None:
        known = constant_value(lengths)
        if not self._infer_shape or known is None or value._shape is None:
            return
        if known.size and known.min() == known.max():
            self._learn((int(known.flat[0]), *value._shape[1:]))

    def size(self, name: str | None = None) -> Tensor:
        """The number of elements, an int32 scalar."""
        return raw.TensorArraySizeV3(self._handle, self._flow, name=name)

    def close(self, name: str | None = None) -> Any:
        """An operation that gives up the array."""
        return raw.TensorArrayCloseV3(self._handle, name=name)


def _check_arguments(size: Any, dynamic_size: Any, clear_after_read: Any, tensor_array_name: Any, handle: Any) -> None:
    if handle is None and size is None:
        raise ValueError("Size must be provided if handle is not provided")
    for value, what in ((size, "size"), (dynamic_size, "dynamic_size"), (clear_after_read, "clear_after_read"),
                        (tensor_array_name, "tensor_array_name")):
        if handle is not None and value is not None:
            raise ValueError(f"Cannot provide both a handle and {what} at the same time")
    if handle is not None and not isinstance(handle, Tensor):
        raise TypeError("Handle must be a Tensor")
    for value, what in ((dynamic_size, "dynamic_size"), (clear_after_read, "clear_after_read")):
        if value is not None and not isinstance(value, bool):
            raise TypeError(f"Expected bool for argument '{what}' not {value!r}.")
    if tensor_array_name is not None and not isinstance(tensor_array_name, str):
        raise TypeError(f"Expected string for argument 'tensor_array_name' not {tensor_array_name!r}.")


def with_new_flow(array: TensorArray, flow: Tensor) -> TensorArray:
    """The TensorArray with other elements: those of `flow`."""
    return array._with(flow)
