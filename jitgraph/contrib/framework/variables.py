"""Variables made with a collection in mind, where they are placed, and variables set from values."""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph.contrib.framework.arg_scopes import add_arg_scope
from jitgraph.graph import dtypes
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.devices import DeviceSpec
from jitgraph.graph.operation import Operation
from jitgraph.graph.scopes import add_to_collection, control_dependencies, device, get_collection
from jitgraph.train import checkpoint_values
from jitgraph.variables.synchronization import VariableAggregation, VariableSynchronization
from jitgraph.variables.variable import Variable
from jitgraph.variables.variable_scopes import get_variable, get_variable_scope


def local_variable(initial_value: Any, validate_shape: bool = True, name: str | None = None,
                   use_resource: bool | None = None) -> Variable:
    """A variable in the collection ``local_variables``, not trainable."""
    return Variable(initial_value, trainable=False, collections=[GraphKeys.LOCAL_VARIABLES],
                    validate_shape=validate_shape, use_resource=use_resource, name=name)


def global_variable(initial_value: Any, validate_shape: bool = True, name: str | None = None,
                    use_resource: bool | None = None) -> Variable:
    """A variable in the collection ``variables``, not trainable."""
    return Variable(initial_value, trainable=False, collections=[GraphKeys.GLOBAL_VARIABLES],
                    validate_shape=validate_shape, use_resource=use_resource, name=name)


@add_arg_scope
def variable(name: str, shape: Any = None, dtype: Any = None, initializer: Any = None, regularizer: Any = None,
             trainable: bool = True, collections: Any = None, caching_device: Any = None, device: Any = None,
             partitioner: Any = None, custom_getter: Callable | None = None, use_resource: bool | None = None,
             synchronization: Any = VariableSynchronization.AUTO, aggregation: Any = VariableAggregation.NONE) -> Any:
    """As ``tf.get_variable``, on `device`; a `custom_getter` is called instead of it, with the same arguments and ``reuse``."""
    getter = get_variable
    if custom_getter is not None:
        getter = functools.partial(custom_getter, reuse=get_variable_scope().reuse)
    listed = list(dict.fromkeys(collections or [GraphKeys.GLOBAL_VARIABLES]))
    with _on(device):
        return getter(name, shape=shape, dtype=dtype, initializer=initializer, regularizer=regularizer,
                      trainable=trainable, collections=listed, caching_device=caching_device, partitioner=partitioner,
                      use_resource=use_resource, synchronization=synchronization, aggregation=aggregation)


def _on(where: Any) -> Any:
    return device(where or "")


@add_arg_scope
def model_variable(name: str, shape: Any = None, dtype: Any = dtypes.float32, initializer: Any = None,
                   regularizer: Any = None, trainable: bool = True, collections: Any = None, caching_device: Any = None,
                   device: Any = None, partitioner: Any = None, custom_getter: Callable | None = None,
                   use_resource: bool | None = None, synchronization: Any = VariableSynchronization.AUTO,
                   aggregation: Any = VariableAggregation.NONE) -> Any:
    """As ``variable``, in the collections ``variables`` and ``model_variables`` too."""
    listed = [*(collections or []), GraphKeys.GLOBAL_VARIABLES, GraphKeys.MODEL_VARIABLES]
    # by keyword, so that ``arg_scope`` may name the same arguments of ``variable``
    return variable(name, shape=shape, dtype=dtype, initializer=initializer, regularizer=regularizer, trainable=trainable,
                    collections=listed, caching_device=caching_device, device=device, partitioner=partitioner,
                    custom_getter=custom_getter, use_resource=use_resource, synchronization=synchronization,
                    aggregation=aggregation)


def add_model_variable(var: Any) -> None:
    """Puts a variable into the collection ``model_variables``, once."""
    if not any(v is var for v in get_collection(GraphKeys.MODEL_VARIABLES)):
        add_to_collection(GraphKeys.MODEL_VARIABLES, var)


def _global_variable_named(name: str) -> Any:
    found = get_collection(GraphKeys.GLOBAL_VARIABLES, name)
    if not found:
        raise ValueError(f"Variable {name} wasn't found")
    exact = found if len(found) == 1 else [v for v in found if v.op.name == name]
    if not exact:
        raise ValueError(f"Variable {name} doesn't uniquely identify a variable")
    return exact[0]


def _assign(values: dict) -> tuple[Operation, dict]:
    """(an operation that gives variables the values that are fed with it, the feeds), for {variable: ndarray}."""
    from jitgraph.control.order_ops import group
    from jitgraph.ops.arrays.identity import placeholder

    assignments, feeds = [], {}
    for var, value in values.items():
        place = placeholder(var.dtype.base_dtype, var.get_shape(), name="placeholder/" + var.op.name)
        assignments.append(var.assign(place))
        feeds[place] = value.reshape(var.get_shape().as_list())
    return group(*assignments), feeds


def assign_from_values(var_names_to_values: dict[str, np.ndarray]) -> tuple[Operation, dict]:
    """(an operation, its feed_dict) that gives global variables the values listed by variable name.

    Raises ValueError for a name that no variable, or more than one, answers to.
    """
    return _assign({_global_variable_named(name): value for name, value in var_names_to_values.items()})


def assign_from_values_fn(var_names_to_values: dict[str, np.ndarray]) -> Callable:
    """A function of a session that gives the variables the values."""
    operation, feeds = assign_from_values(var_names_to_values)
    return lambda session: session.run(operation, feeds)


def zero_initializer(ref: Any, use_locking: bool = True, name: str = "zero_initializer") -> Any:
    """An operation that gives a variable that has no value zeros: a reference variable returns itself.

    Raises TypeError for what is no variable, ValueError for an unknown shape; a run InvalidArgumentError for one that has a value.
    """
    from jitgraph.ops.arrays.fill import zeros
    from jitgraph.ops.checks.assertion import Assert
    from jitgraph.ops.elementwise.compare import logical_not
    from jitgraph.variables.variable_collections import is_variable_initialized

    if not isinstance(ref, Variable):
        raise TypeError(f"'ZeroInitializer' Op requires that input 'ref' be a mutable tensor (e.g.: a tf.Variable), not {ref}")
    if not ref.get_shape().is_fully_defined():
        raise ValueError(f"Variable {ref.name} has the shape {ref.get_shape()}: zero_initializer knows no number of zeros for it")
    empty = Assert(logical_not(is_variable_initialized(ref)), [f"input is already initialized: {ref.name}"])
    with control_dependencies([empty]):
        return ref.assign(zeros(ref.get_shape(), ref.dtype.base_dtype), use_locking=use_locking, name=name)


def get_variable_full_name(var: Any) -> str:
    """The name of a variable in checkpoints: of a part of a partitioned one, the name of the whole."""
    part = getattr(var, "_save_slice_info", None)
    return part.full_name if part else var.op.name


class VariableDeviceChooser:
    """A device function that spreads variables over the tasks of parameter servers, one after the other.

    `num_tasks`: their number; with 0 every variable is on `device_type`:`device_index` of this process.  ``chooser(op)``
    gives the name of a device, such as "/job:ps/task:1/device:CPU:0".
    """

    def __init__(self, num_tasks: int = 0, job_name: str = "ps", device_type: str = "CPU", device_index: int = 0,
                 replica: int | None = None):
        self._job_name = job_name
        self._device_type = device_type
        self._device_index = device_index
        self._replica = replica
        self._num_tasks = num_tasks
        self._next_task_id = 0

    def __call__(self, op: Any) -> str:
        where: dict[str, Any] = {}
        if self._num_tasks > 0:
            where = {"job": self._job_name, "task": self._next_task_id}
            self._next_task_id = (self._next_task_id + 1) % self._num_tasks
        return DeviceSpec(replica=self._replica, device_type=self._device_type, device_index=self._device_index,
                          **where).to_string()


# -- checkpoints, as tf.train's functions under other names of their parameters --------------------------------------

def load_checkpoint(filepattern: Any) -> Any:
    """``tf.train.load_checkpoint``."""
    return checkpoint_values.load_checkpoint(filepattern)


def load_variable(checkpoint_dir: Any, name: Any) -> Any:
    """``tf.train.load_variable``."""
    return checkpoint_values.load_variable(checkpoint_dir, name)


def list_variables(checkpoint_dir: Any) -> list[tuple[str, list[int]]]:
    """``tf.train.list_variables``."""
    return checkpoint_values.list_variables(checkpoint_dir)


def init_from_checkpoint(checkpoint_dir: Any, assignment_map: dict) -> None:
    """``tf.train.init_from_checkpoint``."""
    checkpoint_values.init_from_checkpoint(checkpoint_dir, assignment_map)
