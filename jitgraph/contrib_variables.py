"""``tf.contrib.framework``: variables made with a collection in mind, and variables set from values or a checkpoint."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph import names
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.operation import Operation
from jitgraph.graph.scopes import add_to_collection, device, get_collection, name_scope
from jitgraph.variable_scopes import get_variable
from jitgraph.variables import Variable


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


def variable(name: str, shape: Any = None, dtype: Any = None, initializer: Any = None, regularizer: Any = None,
             trainable: bool = True, collections: Any = None, caching_device: Any = None, device: Any = None,
             partitioner: Any = None, custom_getter: Callable | None = None, use_resource: bool | None = None) -> Any:
    """As ``tf.get_variable``, on `device`; a `custom_getter` is called instead of it, with the same arguments."""
    getter = get_variable if custom_getter is None else custom_getter
    listed = list(dict.fromkeys(collections or [GraphKeys.GLOBAL_VARIABLES]))
    with _on(device):
        return getter(name, shape=shape, dtype=dtype, initializer=initializer, regularizer=regularizer,
                      trainable=trainable, collections=listed, caching_device=caching_device, partitioner=partitioner,
                      use_resource=use_resource)


def _on(where: Any) -> Any:
    return device(where or "")


def model_variable(name: str, *args: Any, collections: Any = None, **options: Any) -> Any:
    """As ``variable``, in the collections ``variables`` and ``model_variables`` too."""
    listed = [*(collections or []), GraphKeys.GLOBAL_VARIABLES, GraphKeys.MODEL_VARIABLES]
    return variable(name, *args, collections=listed, **options)


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
    assignments, feeds = [], {}
    for var, value in values.items():
        place = names.resolve("placeholder")(var.dtype.base_dtype, var.get_shape(), name="placeholder/" + var.op.name)
        assignments.append(var.assign(place))
        feeds[place] = value.reshape(var.get_shape().as_list())
    return names.resolve("group")(*assignments), feeds


def assign_from_values(var_names_to_values: dict[str, np.ndarray]) -> tuple[Operation, dict]:
    """(an operation, its feed_dict) that gives global variables the values listed by variable name.

    Raises ValueError for a name that no variable, or more than one, answers to.
    """
    with name_scope("assign_from_values"):
        return _assign({_global_variable_named(name): value for name, value in var_names_to_values.items()})


def assign_from_values_fn(var_names_to_values: dict[str, np.ndarray]) -> Callable:
    """A function of a session that gives the variables the values."""
    operation, feeds = assign_from_values(var_names_to_values)
    return lambda session: session.run(operation, feeds)


def assign_from_checkpoint(model_path: str, var_list: Any, ignore_missing_vars: bool = False) -> tuple[Operation, dict]:
    """(an operation, its feed_dict) that gives variables what a checkpoint holds.

    `var_list`: variables, or {name in the checkpoint: variable or the parts of one}.  Raises ValueError for a variable
    that is not in the checkpoint (unless `ignore_missing_vars`) or has another number of elements there.
    """
    grouped = dict(var_list) if isinstance(var_list, dict) else {v.op.name: v for v in var_list}
    reader = names.resolve("train.load_checkpoint")(model_path)
    values = {}
    for name, parts in grouped.items():
        if not reader.has_tensor(name):
            if ignore_missing_vars:
                continue
            raise ValueError(f'Checkpoint is missing variable [{name}]')
        stored = reader.get_tensor(name)
        for var in parts if isinstance(parts, (list, tuple)) else [parts]:
            info, piece = var._get_save_slice_info(), stored
            if info is not None:
                piece = stored[tuple(slice(o, o + n) for o, n in zip(info.var_offset, info.var_shape))]
            if piece.size != var.get_shape().num_elements():
                raise ValueError(f"Total size of new array must be unchanged for {name} lh_shape: [{piece.shape}], "
                                 f"rh_shape: [{var.get_shape().as_list()}]")
            values[var] = piece
    return _assign(values)


def assign_from_checkpoint_fn(model_path: str, var_list: Any, ignore_missing_vars: bool = False,
                              reshape_variables: bool = False) -> Callable | None:
    """A function of a session that restores `var_list`; None if nothing is left of it."""
    if ignore_missing_vars:
        reader = names.resolve("train.load_checkpoint")(model_path)
        pairs = var_list.items() if isinstance(var_list, dict) else ((v.op.name, v) for v in var_list)
        var_list = {name: v for name, v in pairs if reader.has_tensor(name)}
    if not var_list:
        return None
    saver = names.resolve("train.Saver")(var_list, reshape=reshape_variables)
    return lambda session: saver.restore(session, model_path)
