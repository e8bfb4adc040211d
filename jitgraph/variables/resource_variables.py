"""Resource variables: ``tf.get_variable(..., use_resource=True)``.

Nodes: ``v/Initializer/initial_value``, ``v`` (a handle), ``v/IsInitialized/VarIsInitializedOp``, ``v/Assign``,
``v/Read/ReadVariableOp``.  Every use reads the value by a node of its own, so control dependencies decide what it sees.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.graph import shapes
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.dtypes import DType, as_dtype
from jitgraph.graph.operation import Operation
from jitgraph.graph.registry import lookup
from jitgraph.graph.scope_names import prepend_name_scope
from jitgraph.graph.scopes import colocate_with, control_dependencies, device, init_scope, name_scope
from jitgraph.graph.stack import evaluate
from jitgraph.graph.tensor import Tensor
from jitgraph.variables import resource_ops
from jitgraph.variables.initial_values import guarded
from jitgraph.variables.save_slices import SaveSliceInfo
from jitgraph.variables.synchronization import VariableAggregation, VariableSynchronization
from jitgraph.variables.variable import Variable


class ResourceVariable(Variable):
    """A variable behind a handle; made by ``tf.Variable(..., use_resource=True)`` and ``tf.get_variable`` likewise.

    ``dtype`` is the plain dtype.  The value of an assignment is a variable-like object that reads after it.
    """

    def _make_from_function(self, function: Callable, dtype: DType | None, validate_shape: bool, scope: str) -> None:
        own_name = scope[:-1]
        with get_default_graph()._attr_scope({"_class": ["loc:@" + own_name]}):
            with name_scope("Initializer"), device(None):
                self._initial_value = convert_to_tensor(function(), dtype, "initial_value")
            self._make_node(validate_shape, scope)

    def _make_from_value(self, value: Any, dtype: DType | None, validate_shape: bool, scope: str) -> None:
        self._make_from_function(lambda: value, dtype, validate_shape, scope)

    def _make_node(self, validate_shape: bool, scope: str) -> None:
        shape = self._initial_value._shape
        if self._stated_shape is not None:
            if not self._stated_shape.is_compatible_with(self._initial_value.shape):
                raise ValueError(f"The initial value's shape ({self._initial_value.shape}) is not compatible with the "
                                 f"explicitly supplied `shape` argument ({self._stated_shape}).")
            shape = shapes.raw_shape(self._stated_shape)
        if not validate_shape and shape is not None and 0 in shape:
            # TensorFlow states these sizes, too, yet lets values of others in: they are 0 so that a program fills them
            shape = tuple(size or None for size in shape)
        self._dtype = self._initial_value.dtype.base_dtype
        self._static_shape = shape
        self._handle = resource_ops.var_handle_op(
            dtype=self._dtype, shape=self._static_shape, shared_name=scope[:-1], name=scope,
            container=get_default_graph()._container)
        self._handle_name = self._handle.name

    def _finish(self, validate_shape: bool, caching_device: Any) -> None:
        with name_scope("IsInitialized"):
            self._is_initialized = resource_ops.var_is_initialized_op(self._handle)
        with name_scope("Assign") as scope, colocate_with(None, ignore_existing=True), device(self._handle.device):
            value = guarded(self._initial_value, self._handle.op.name)
            self._initializer_op = resource_ops.assign_variable_op(self._handle, value, name=scope)
        with name_scope("Read"), device(self._handle.device):
            self._graph_element = self._read()
            self._cached: Tensor | None = None
            if caching_device is not None:
                with colocate_with(None, ignore_existing=True), device(caching_device):
                    self._cached = lookup("Identity").builder(self._graph_element)

    def _init_from_proto(self, definition: Any, import_scope: str | None) -> None:
        graph = get_default_graph()

        def element(name: str) -> Any:
            return graph.as_graph_element(prepend_name_scope(name, import_scope))

        self._handle = element(definition.variable_name)
        self._handle_name = self._handle.name
        self._dtype = self._handle.op.attrs["dtype"]
        self._static_shape = self._handle.op.attrs["shape"]
        self._initializer_op = element(definition.initializer_name)
        self._initial_value = element(definition.initial_value_name) if definition.initial_value_name else None  # type: ignore[assignment]
        self._graph_element = element(definition.snapshot_name) if definition.snapshot_name else self._read()
        self._cached = None
        if self._graph_element.op.type == "Identity":       # the copy on a caching device
            self._cached, self._graph_element = self._graph_element, self._graph_element.op.inputs[0]
        self._take_modes(definition)
        if definition.HasField("save_slice_info_def"):
            self._save_slice_info = SaveSliceInfo(save_slice_info_def=definition.save_slice_info_def,
                                                  import_scope=import_scope)

    def to_proto(self, export_scope: str | None = None) -> Any:
        """The VariableDef; None if the variable is not in `export_scope`."""
        definition = super().to_proto(export_scope)
        if definition is not None:
            definition.is_resource = True
        return definition

    # -- what it is

    @property
    def _variable(self) -> Tensor:      # type: ignore[override]
        return self._handle

    @property
    def _snapshot(self) -> Tensor:      # type: ignore[override]
        return self._graph_element if self._cached is None else self._cached

    def numpy(self) -> Any:
        """Raises NotImplementedError: a graph has no values before a session runs it."""
        raise NotImplementedError("numpy() is only available when eager execution is enabled. Run the variable in a tf.Session.")

    @property
    def handle(self) -> Tensor:
        """The handle, a scalar of dtype resource."""
        return self._handle

    @property
    def name(self) -> str:
        return self._handle_name

    @property
    def dtype(self) -> DType:
        """The dtype of the value."""
        return self._dtype

    @property
    def shape(self) -> shapes.TensorShape:
        """The static shape of the value."""
        return shapes.TensorShape._of(self._static_shape)

    def get_shape(self) -> shapes.TensorShape:
        """The static shape of the value."""
        return self.shape

    def set_shape(self, shape: Any) -> None:
        """Adds what is known of the static shape."""
        self._static_shape = shapes.merge(self._static_shape, shapes.raw_shape(shape))

    @property
    def create(self) -> Operation:
        """The initializer."""
        return self._initializer_op

    def is_initialized(self, name: str | None = None) -> Tensor:
        """A bool scalar: whether it has a value."""
        return resource_ops.var_is_initialized_op(self._handle, name=name)

    # -- reading

    def __bool__(self) -> bool:
        return bool(self.read_value())      # which raises: a variable has no value while the graph is built

    def _read(self) -> Tensor:
        value = resource_ops.read_variable_op(self._handle, dtype=self._dtype)
        value._shape = self._static_shape
        return value

    def value(self) -> Tensor:
        """A new node that reads the value; with a caching device, the one node that holds a copy there."""
        if self._cached is not None:
            return self._cached
        with colocate_with(None, ignore_existing=True), device(self._handle.device):
            return self._read()

    def read_value(self) -> Tensor:
        """A new node that reads the value, where control dependencies put it."""
        with name_scope("Read"):
            value = self._read()
        return lookup("Identity").builder(value)

    def _as_tensor(self) -> Tensor:
        return self.value()

    _AsTensor = _as_tensor

    def _ref(self) -> Tensor:
        return self.value()

    def _as_graph_element(self) -> Tensor:
        return self._graph_element

    def eval(self, session: Any = None) -> Any:
        """The value in `session` or the default session."""
        return evaluate(self._graph_element, None, session)

    def sparse_read(self, indices: Any, name: str | None = None) -> Tensor:
        """The rows `indices`, without reading the others."""
        with name_scope("Gather" if name is None else name) as scope:
            rows = resource_ops.resource_gather(self._handle, indices, dtype=self._dtype, name=scope)
        return lookup("Identity").builder(rows)

    def gather_nd(self, indices: Any, name: str | None = None) -> Tensor:
        """The elements or slices at the coordinates `indices`, without reading the others."""
        with name_scope("GatherNd" if name is None else name) as scope:
            slices = resource_ops.resource_gather_nd(self._handle, indices, dtype=self._dtype, name=scope)
        return lookup("Identity").builder(slices)

    # -- writing

    def _written(self, op: Operation, read_value: bool = True) -> Any:
        return UnreadVariable(self, op) if read_value else op

    def _check_shape(self, value: Tensor) -> None:
        if not shapes.compatible(self._static_shape, value._shape):
            raise ValueError(f"Shapes {shapes.display(self._static_shape)} and {shapes.display(value._shape)} are "
                             f"incompatible: assignment to {self.name}")

    def assign(self, value: Any, use_locking: bool | None = None, name: str | None = None,
               read_value: bool = True) -> Any:
        """A node that gives the variable the value `value`.  Raises ValueError if the shape does not fit."""
        tensor = convert_to_tensor(value, self._dtype)
        self._check_shape(tensor)
        return self._written(resource_ops.assign_variable_op(self._handle, tensor, name=name), read_value)

    def assign_add(self, delta: Any, use_locking: bool | None = None, name: str | None = None,
                   read_value: bool = True) -> Any:
        """A node that adds `delta`."""
        tensor = convert_to_tensor(delta, self._dtype)
        self._check_shape(tensor)
        return self._written(resource_ops.assign_add_variable_op(self._handle, tensor, name=name), read_value)

    def assign_sub(self, delta: Any, use_locking: bool | None = None, name: str | None = None,
                   read_value: bool = True) -> Any:
        """A node that subtracts `delta`."""
        tensor = convert_to_tensor(delta, self._dtype)
        self._check_shape(tensor)
        return self._written(resource_ops.assign_sub_variable_op(self._handle, tensor, name=name), read_value)

    def count_up_to(self, limit: int) -> Tensor:
        """A node that adds 1 and gives the value from before; at `limit`, a run raises OutOfRangeError."""
        return resource_ops.resource_count_up_to(self._handle, limit=limit, T=self._dtype)

    def _scatter(self, op_type: str, indices: Any, updates: Any, name: str | None = None) -> Any:
        builder = lookup("Resource" + op_type).builder
        updates = convert_to_tensor(updates, self._dtype)
        return self._written(builder(self._handle, indices, updates, name=name))

    def _strided_slice_assign(self, begin: Any, end: Any, strides: Any, value: Any, name: str, masks: dict) -> Any:
        value = convert_to_tensor(value, self._dtype)
        return self._written(resource_ops.resource_strided_slice_assign(self._handle, begin, end, strides, value, name=name,
                                                                    **masks))


class UnreadVariable(ResourceVariable):
    """What an assignment to a resource variable gives: the variable as it is right after that operation."""

    def __new__(cls, *args: Any, **kwargs: Any) -> UnreadVariable:
        return object.__new__(cls)

    def __init__(self, variable: ResourceVariable, op: Operation):
        self.__dict__.update(variable.__dict__)
        self._parent_op = op
        self._handle_name, self._cached = op.name, None
        with control_dependencies([op]):
            self._graph_element = ResourceVariable._read(self)

    @property
    def op(self) -> Operation:
        """The operation that assigns."""
        return self._parent_op

    def value(self) -> Tensor:
        """A new node that reads the value after the assignment."""
        with control_dependencies([self._parent_op]):
            return super().value()

    def read_value(self) -> Tensor:
        """A new node that reads the value after the assignment."""
        with control_dependencies([self._parent_op]):
            return super().read_value()

    def __repr__(self) -> str:
        return f"<tf.Variable '{self._parent_op.name}' shape={self.shape} dtype={self.dtype.name}>"


def shape_safe_assign_variable_handle(handle: Tensor, shape: Any, value: Any, name: str | None = None) -> Operation:
    """Assigns `value` to the variable behind `handle`.  Raises ValueError if its shape does not fit `shape`."""
    value = convert_to_tensor(value, handle.op.attrs["dtype"])
    shapes.as_shape(shape).assert_is_compatible_with(value.shape)
    return resource_ops.assign_variable_op(handle, value, name=name)


class UninitializedVariable(ResourceVariable):
    """A variable of a stated shape and dtype without an initial value: it has one once it is assigned, or restored.

    It joins the global variables, never those that are trained.  `initializer` and `initial_value` are None.  `caching_device`,
    `extra_handle_data` and `distribute_strategy` say nothing here.
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> UninitializedVariable:
        return object.__new__(cls)

    def __init__(self, trainable: bool | None = None, caching_device: Any = None, name: str | None = None, shape: Any = None,
                 dtype: Any = None, constraint: Callable | None = None, synchronization: Any = None, aggregation: Any = None,
                 extra_handle_data: Any = None, distribute_strategy: Any = None, **unused_kwargs: Any):
        self._save_slice_info, self._constraint = None, constraint
        self._synchronization = synchronization or VariableSynchronization.AUTO
        self._aggregation = aggregation or VariableAggregation.NONE
        self._trainable = self._synchronization is not VariableSynchronization.ON_READ if trainable is None else bool(trainable)
        self._stated_shape = shapes.as_shape(shape)
        self._dtype, self._static_shape = as_dtype(dtype), shapes.raw_shape(self._stated_shape)
        self._initial_value = self._initializer_op = self._cached = None  # type: ignore[assignment]
        with init_scope():
            with name_scope(name, "Variable") as scope:
                self._handle = resource_ops.var_handle_op(dtype=self._dtype, shape=self._static_shape, shared_name=scope[:-1],
                                                          name=scope, container=get_default_graph()._container)
                self._handle_name = self._handle.name
                with name_scope("Read"), device(self._handle.device):
                    self._graph_element = self._read()
            get_default_graph().add_to_collections([GraphKeys.GLOBAL_VARIABLES], self)
