"""``tf.Variable``.

A variable is a node that holds a value in a session, with the structure of TensorFlow 1: ``v/initial_value``, ``v``,
``v/Assign`` (its initializer), ``v/read``.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph.facade import names
from jitgraph.graph import shapes
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.composite import IndexedSlices
from jitgraph.graph.convert import convert_to_tensor, register_tensor_conversion_function
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.dtypes import DType, as_dtype
from jitgraph.graph.operation import Operation
from jitgraph.graph.operators import getitem, install
from jitgraph.graph.registry import lookup
from jitgraph.graph.scope_names import is_within, prepend_name_scope, strip_name_scope
from jitgraph.graph.scopes import colocate_with, device, init_scope, name_scope
from jitgraph.graph.shapes import TensorShape
from jitgraph.graph.stack import evaluate, get_default_session
from jitgraph.graph.tensor import Reference, Tensor
from jitgraph.variables import default_kind, reference_ops
from jitgraph.variables.creators import Created
from jitgraph.variables.initial_values import guarded
from jitgraph.variables.save_slices import SaveSliceInfo
from jitgraph.variables.synchronization import VariableAggregation, VariableSynchronization


class Variable(metaclass=Created):
    """A value that lasts from run to run and that assignments change.

    ``Variable(initial_value)``: a tensor, a value, or a function without arguments that gives one; it decides dtype
    and shape.  `trainable` puts it in the collection ``trainable_variables``.  `validate_shape=False` allows any shape
    to be assigned.  With ``use_resource=True`` it is a resource variable.  Usable wherever a tensor is; raises
    ValueError without an initial value, or if its shape is not fully known.
    """

    SaveSliceInfo = SaveSliceInfo
    _asks_creators = True
    __array_priority__ = 100
    _variable: Tensor
    _snapshot: Tensor

    def __new__(cls, *args: Any, **kwargs: Any) -> Variable:
        if cls is Variable and _wants_resource(kwargs):
            from jitgraph.variables.resource_variables import ResourceVariable

            cls = ResourceVariable
        return object.__new__(cls)

    def __init__(self, initial_value: Any = None, trainable: bool | None = None, collections: Any = None,
                 validate_shape: bool = True, caching_device: Any = None, name: str | None = None,
                 variable_def: Any = None, dtype: Any = None, expected_shape: Any = None,
                 import_scope: str | None = None, constraint: Callable | None = None, use_resource: bool | None = None,
                 synchronization: Any = VariableSynchronization.AUTO, aggregation: Any = VariableAggregation.NONE,
                 shape: Any = None):
        self._save_slice_info: SaveSliceInfo | None = None
        self._constraint = constraint
        self._synchronization = _mode(VariableSynchronization, synchronization, "synchronization", name)
        self._aggregation = _mode(VariableAggregation, aggregation, "aggregation", name)
        if variable_def is not None:
            if initial_value is not None:
                raise ValueError("variable_def and initial_value are mutually exclusive.")
            self._init_from_proto(variable_def, import_scope)
            return
        if initial_value is None:
            raise ValueError("initial_value must be specified.")
        if trainable is None:       # copies that are only made equal when they are read hold what is counted, not weights
            trainable = self._synchronization is not VariableSynchronization.ON_READ
        self._trainable = bool(trainable)
        collections = _checked_collections(collections, self._trainable)
        if constraint is not None and not callable(constraint):
            raise ValueError("The `constraint` argument must be a callable.")
        if expected_shape is not None:
            shapes.as_shape(expected_shape)
        self._stated_shape = None if shape is None else shapes.as_shape(shape)
        wanted = None if dtype is None else as_dtype(dtype)
        with init_scope():
            from_function = callable(initial_value)
            with name_scope(name, "Variable", [] if from_function else [initial_value]) as scope:
                if from_function:
                    self._make_from_function(initial_value, wanted, validate_shape, scope)
                else:
                    self._make_from_value(initial_value, wanted, validate_shape, scope)
                self._finish(validate_shape, caching_device)
            get_default_graph().add_to_collections(collections, self)

    # -- making it

    def _make_from_function(self, function: Callable, dtype: DType | None, validate_shape: bool, scope: str) -> None:
        """The initial value is made inside ``v/Initializer``, bound to the variable's place."""
        own_name = scope[:-1]
        with get_default_graph()._attr_scope({"_class": ["loc:@" + own_name]}):
            with name_scope("Initializer"), device(None):
                self._initial_value = convert_to_tensor(function(), dtype, "initial_value")
            self._make_node(validate_shape, scope)

    def _make_from_value(self, value: Any, dtype: DType | None, validate_shape: bool, scope: str) -> None:
        self._initial_value = convert_to_tensor(value, dtype, "initial_value")
        self._make_node(validate_shape, scope)

    def _make_node(self, validate_shape: bool, scope: str) -> None:
        shape = self._initial_value._shape if validate_shape else None
        if self._stated_shape is not None:
            shape = shapes.raw_shape(self._stated_shape)
        elif validate_shape and (shape is None or None in shape):
            raise ValueError(f"initial_value must have a shape specified: {self._initial_value}")
        self._variable = reference_ops.variable_v2(shape=shape, dtype=self._initial_value.dtype.base_dtype, name=scope,
                                           container=get_default_graph()._container)

    def _finish(self, validate_shape: bool, caching_device: Any) -> None:
        value = guarded(self._initial_value, self._variable.op.name)
        self._initializer_op = reference_ops.assign(self._variable, value, validate_shape=validate_shape, name="Assign").op
        identity = lookup("Identity").builder
        if caching_device is not None:
            with device(caching_device):
                self._snapshot = identity(self._variable, name="read")
        else:
            with colocate_with(self._variable.op):
                self._snapshot = identity(self._variable, name="read")
        self._caching_device = caching_device

    def _init_from_proto(self, definition: Any, import_scope: str | None) -> None:
        graph = get_default_graph()

        def element(name: str) -> Any:
            return graph.as_graph_element(prepend_name_scope(name, import_scope))

        self._variable = element(definition.variable_name)
        self._initializer_op = element(definition.initializer_name)
        self._initial_value = element(definition.initial_value_name) if definition.initial_value_name else None  # type: ignore[assignment]
        self._snapshot = element(definition.snapshot_name)
        self._take_modes(definition)
        self._caching_device = None
        if definition.HasField("save_slice_info_def"):
            self._save_slice_info = SaveSliceInfo(save_slice_info_def=definition.save_slice_info_def,
                                                  import_scope=import_scope)

    def _take_modes(self, definition: Any) -> None:
        self._trainable = definition.trainable
        self._synchronization = VariableSynchronization(definition.synchronization)
        self._aggregation = VariableAggregation(definition.aggregation)

    @staticmethod
    def from_proto(variable_def: Any, import_scope: str | None = None) -> Variable:
        """The variable that a VariableDef describes, its nodes being in the default graph already."""
        if variable_def.is_resource:
            from jitgraph.variables.resource_variables import ResourceVariable

            return ResourceVariable(variable_def=variable_def, import_scope=import_scope)
        return Variable(variable_def=variable_def, import_scope=import_scope, use_resource=False)

    def to_proto(self, export_scope: str | None = None) -> Any:
        """The VariableDef; None if the variable is not in `export_scope`."""
        from jitgraph.protobuf.messages import VariableDef

        if not is_within(self._variable.name, export_scope):
            return None
        definition = VariableDef(variable_name=strip_name_scope(self._variable.name, export_scope),
                                 initializer_name=strip_name_scope(self.initializer.name, export_scope),
                                 snapshot_name=strip_name_scope(self._snapshot.name, export_scope), trainable=self.trainable,
                                 synchronization=self.synchronization.value, aggregation=self.aggregation.value)
        if self._initial_value is not None:
            definition.initial_value_name = strip_name_scope(self._initial_value.name, export_scope)
        if self._save_slice_info is not None:
            definition.save_slice_info_def.MergeFrom(self._save_slice_info.to_proto(export_scope))
        return definition

    # -- what it is

    @property
    def name(self) -> str:
        """The name of the variable's tensor, ``scope/name:0``."""
        return self._variable.name

    @property
    def _shared_name(self) -> str:
        return self.name[:-2]

    @property
    def op(self) -> Operation:
        """The node that holds the value."""
        return self._variable.op

    @property
    def graph(self) -> Any:
        return self._variable.graph

    @property
    def device(self) -> str:
        """The device string of the variable's node."""
        return self._variable.device

    @property
    def dtype(self) -> DType:
        """The dtype, a reference type such as ``float32_ref``."""
        return self._variable.dtype

    @property
    def shape(self) -> TensorShape:
        """The static shape."""
        return self._variable.shape

    def get_shape(self) -> TensorShape:
        """The static shape."""
        return self._variable.shape

    def set_shape(self, shape: Any) -> None:
        """Adds what is known of the static shape."""
        self._ref().set_shape(shape)
        self.value().set_shape(shape)

    @property
    def trainable(self) -> bool:
        """Whether it was made with ``trainable=True``."""
        return self._trainable

    @property
    def synchronization(self) -> Any:
        return self._synchronization

    @property
    def aggregation(self) -> Any:
        return self._aggregation

    @property
    def constraint(self) -> Callable | None:
        """The projection that optimizers apply after an update, or None."""
        return self._constraint

    @property
    def initializer(self) -> Operation:
        """The operation that gives it its initial value."""
        return self._initializer_op

    @property
    def initial_value(self) -> Tensor:
        """The tensor of the initial value."""
        return self._initial_value

    def initialized_value(self) -> Tensor:
        """Its value if it has one by then, else its initial value: for initial values that depend on others."""
        from jitgraph.control.conditionals import cond
        from jitgraph.variables.variable_collections import is_variable_initialized

        with init_scope():
            present = is_variable_initialized(self)
            return cond(present, self.read_value, lambda: self.initial_value)

    # -- reading

    def value(self) -> Tensor:
        """The value, as the tensor ``v/read``; no new node."""
        return self._snapshot

    def read_value(self) -> Tensor:
        """A new node that reads the value, where control dependencies put it."""
        return lookup("Identity").builder(self._variable, name="read")

    def _ref(self) -> Tensor:
        return self._variable

    def _as_tensor(self) -> Tensor:
        return self._snapshot

    _AsTensor = _as_tensor

    def _as_graph_element(self) -> Tensor:
        return self._variable

    def eval(self, session: Any = None) -> Any:
        """The value in `session` or the default session.  Raises ValueError if there is none."""
        return evaluate(self._variable, None, session)

    def sparse_read(self, indices: Any, name: str | None = None) -> Tensor:
        """The rows `indices`."""
        from jitgraph.ops.arrays.gather import gather

        return gather(self, indices, name=name)

    def gather_nd(self, indices: Any, name: str | None = None) -> Tensor:
        """The elements or slices at the coordinates `indices`."""
        from jitgraph.ops.arrays.batch_gather import gather_nd

        return gather_nd(self, indices, name=name)

    def experimental_ref(self) -> Reference:
        """A hashable key that stands for this variable; its ``deref()`` is the variable."""
        return Reference(self)

    def __getitem__(self, spec: Any) -> Tensor:
        """A part of the value; ``v[1:3].assign(x)`` writes it."""
        return getitem(self._as_tensor(), spec, var=self)

    def __iter__(self) -> Any:
        raise TypeError("'Variable' object is not iterable.")

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        """An array of one object, as of what is no number: libraries ask ``np.array(x).dtype`` what `x` is.

        Raises NotImplementedError if numbers are asked for.
        """
        if dtype is not None and np.dtype(dtype) != object:
            raise NotImplementedError(f"Cannot convert the variable {self.name} to a numpy array. NumPy functions do not "
                                      "join the graph: use the tf function, or evaluate the variable with sess.run first.")
        held = np.empty((), object)
        held[()] = self
        return held

    # -- writing

    def assign(self, value: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True) -> Any:
        """A node that gives the variable the value `value`; its output is the variable afterwards."""
        return _result(reference_ops.assign(self._variable, value, use_locking=use_locking, name=name), read_value)

    def assign_add(self, delta: Any, use_locking: bool = False, name: str | None = None,
                   read_value: bool = True) -> Any:
        """A node that adds `delta`; its output is the variable afterwards."""
        return _result(reference_ops.assign_add(self._variable, delta, use_locking=use_locking, name=name), read_value)

    def assign_sub(self, delta: Any, use_locking: bool = False, name: str | None = None,
                   read_value: bool = True) -> Any:
        """A node that subtracts `delta`; its output is the variable afterwards."""
        return _result(reference_ops.assign_sub(self._variable, delta, use_locking=use_locking, name=name), read_value)

    def count_up_to(self, limit: int) -> Tensor:
        """A node that adds 1 and gives the value from before; at `limit`, a run raises OutOfRangeError."""
        return reference_ops.count_up_to(self._variable, limit=limit)

    def load(self, value: Any, session: Any = None) -> None:
        """Writes `value` into the variable in `session` or the default session, now."""
        session = session or get_default_session()
        if session is None:
            raise ValueError("Either session argument should be provided or default session should be established")
        session.run(self.initializer, {self.initializer.inputs[1]: value})

    def _set_save_slice_info(self, info: SaveSliceInfo) -> None:
        self._save_slice_info = info

    def _get_save_slice_info(self) -> SaveSliceInfo | None:
        return self._save_slice_info

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: Any) -> bool:
        return self is other

    def __repr__(self) -> str:
        return f"<tf.Variable '{self.name}' shape={self.get_shape()} dtype={self.dtype.name}>"

    __str__ = __repr__


def _wants_resource(kwargs: dict[str, Any]) -> bool:
    definition = kwargs.get("variable_def")
    if definition is not None:
        return definition.is_resource
    wanted = kwargs.get("use_resource")
    return default_kind.is_resource() if wanted is None else bool(wanted)


def _mode(kind: Any, value: Any, what: str, name: str | None) -> Any:
    """A member of an enumeration for it or its number; its first for None.  Raises ValueError for anything else."""
    try:
        return kind(0 if value is None else value)
    except ValueError:
        raise ValueError(f"Invalid variable {what} mode: {value} for variable: {name}") from None


def _checked_collections(collections: Any, trainable: bool) -> list:
    if collections is None:
        collections = [GraphKeys.GLOBAL_VARIABLES]
    if not isinstance(collections, (list, tuple, set)):
        raise ValueError("collections argument to Variable constructor must be a list, tuple, or set. Got "
                         f"{collections} of type {type(collections)}")
    collections = list(collections)
    if trainable and GraphKeys.TRAINABLE_VARIABLES not in collections:
        collections.append(GraphKeys.TRAINABLE_VARIABLES)
    return collections


def _result(assigned: Tensor, read_value: bool) -> Any:
    return assigned if read_value else assigned.op


def _to_tensor(value: Variable, dtype: DType | None = None, name: str | None = None, as_ref: bool = False) -> Tensor:
    if dtype is not None and not dtype.is_compatible_with(value.dtype.base_dtype):
        raise ValueError(f"Incompatible type conversion requested to type '{dtype.name}' for variable of type "
                         f"'{value.dtype.name}'")
    return value._ref() if as_ref else value._as_tensor()


install(Variable)
register_tensor_conversion_function(Variable, _to_tensor)


def _scatter_method(kind: str) -> Callable:
    """``v.scatter_add(slices)``: the function of that name, given IndexedSlices."""

    def method(self: Variable, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        if not isinstance(sparse_delta, IndexedSlices):
            raise TypeError(f"sparse_delta is not IndexedSlices: {sparse_delta}")
        return names.resolve(kind)(self, sparse_delta.indices, sparse_delta.values, use_locking=use_locking, name=name)

    method.__name__ = kind
    method.__doc__ = f"See ``tf.{kind}``; `sparse_delta`: IndexedSlices, else TypeError."
    return method


def _scatter_nd_method(kind: str) -> Callable:
    """``v.scatter_nd_add(indices, updates)``: the function of that name."""

    def method(self: Variable, indices: Any, updates: Any, name: str | None = None) -> Any:
        return names.resolve(kind)(self, indices, updates, name=name)

    method.__name__ = kind
    method.__doc__ = f"See ``tf.{kind}``."
    return method


for _name in ("batch_scatter_update", "scatter_update", "scatter_add", "scatter_sub", "scatter_mul", "scatter_div",
              "scatter_min", "scatter_max"):
    setattr(Variable, _name, _scatter_method(_name))
for _name in ("scatter_nd_update", "scatter_nd_add", "scatter_nd_sub"):
    setattr(Variable, _name, _scatter_nd_method(_name))
