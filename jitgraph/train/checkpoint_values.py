"""Values of checkpoints for variables: reading them, and starting from them."""
from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from jitgraph.app import logs
from jitgraph.control.order_ops import group, no_op
from jitgraph.formats import bundle
from jitgraph.formats.checkpoint import CheckpointReader, path_string
from jitgraph.formats.files import local_path
from jitgraph.graph.scopes import device
from jitgraph.ops.arrays.identity import placeholder
from jitgraph.ops.files import save_restore
from jitgraph.train.checkpoint_state import latest_checkpoint
from jitgraph.train.saver import Saver
from jitgraph.variables import reference_ops
from jitgraph.variables.partitioners import PartitionedVariable
from jitgraph.variables.resource_variables import ResourceVariable
from jitgraph.variables.saveables import saveable_objects
from jitgraph.variables.variable import Variable
from jitgraph.variables.variable_scopes import variable_store


def _checkpoint_name(ckpt_dir_or_file: Any) -> str:
    """The prefix of a checkpoint, of the newest one if a folder is given.  Raises ValueError if it has none."""
    path = path_string(ckpt_dir_or_file)
    if not os.path.isdir(local_path(path)):
        return path
    found = latest_checkpoint(path)
    if found is None:
        raise ValueError(f"Couldn't find 'checkpoint' file or checkpoints in given directory {path}")
    return found


def load_checkpoint(ckpt_dir_or_file: Any) -> CheckpointReader:
    """``tf.train.load_checkpoint``: a reader of a checkpoint, or of the newest one of a folder.

    Raises ValueError if the folder has none, NotFoundError if there is no such checkpoint.
    """
    return CheckpointReader(_checkpoint_name(ckpt_dir_or_file))


def load_variable(ckpt_dir_or_file: Any, name: Any) -> Any:
    """``tf.train.load_variable``: the value of one tensor.  Raises NotFoundError if it is not there."""
    text = path_string(name)
    return load_checkpoint(ckpt_dir_or_file).get_tensor(text[:-2] if text.endswith(":0") else text)


def list_variables(ckpt_dir_or_file: Any) -> list[tuple[str, list[int]]]:
    """``tf.train.list_variables``: (name, shape) of all tensors, sorted by name."""
    return sorted(load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map().items())


# -- initial values from a checkpoint ------------------------------------------------------------------------------

def init_from_checkpoint(ckpt_dir_or_file: Any, assignment_map: dict) -> None:
    """``tf.train.init_from_checkpoint``: initializers read the checkpoint from now on.

    `assignment_map`: {name in the checkpoint: variable, its name, or list of its slices}, or {scope in the checkpoint
    "old/": scope "new/"} for all variables of ``get_variable`` in it; "/" is the root.  Raises ValueError for names that
    are not there and for shapes that differ.
    """
    path = _checkpoint_name(ckpt_dir_or_file)
    reader = load_checkpoint(path)
    shapes = reader.get_variable_to_shape_map()
    for tensor_name in sorted(assignment_map):
        target = assignment_map[tensor_name]
        variable = _as_variable(target)
        if variable is not None:
            if tensor_name not in shapes:
                raise ValueError(f"Tensor {tensor_name} is not found in {path} checkpoint {shapes}")
            _initialize(variable, path, tensor_name, shapes[tensor_name])
            continue
        if not tensor_name.endswith("/"):
            raise ValueError(f"Assignment map with scope only name {target} should map to scope only {tensor_name}. "
                             "Should be 'scope/': 'other_scope/'. (There is no variable of that name.)")
        _initialize_scope(tensor_name, target, path, shapes)


def _initialize_scope(tensor_scope: str, target: str, path: str, shapes: dict[str, list[int]]) -> None:
    """Starts every variable in the scope `target` from the tensor in `tensor_scope` with the same rest of its name."""
    scope = target.rpartition("/")[0]
    store = variable_store()
    names = {name.partition("/part_")[0] for name in (*store.variables, *store.partitioned)}
    for name in sorted(name for name in names if not scope or name.startswith(scope + "/")):
        rest = name[len(scope) + 1:] if scope else name
        tensor_name = rest if tensor_scope == "/" else tensor_scope + rest
        if tensor_name not in shapes:
            raise ValueError(f"Tensor {tensor_name} ({rest} in {tensor_scope}) is not found in {path} checkpoint")
        _initialize(_as_variable(name), path, tensor_name, shapes[tensor_name])


def _as_variable(target: Any) -> Any:
    """The variable, list of slices, or None that a target of an assignment map means."""
    if isinstance(target, Variable):
        return target
    if isinstance(target, (list, tuple, PartitionedVariable)) and all(isinstance(v, Variable) for v in target):
        return list(target)
    store = variable_store()
    found = store.variables.get(target)
    if found is None and target in store.partitioned:
        return list(store.partitioned[target])
    return found


def _initialize(variable: Any, path: str, tensor_name: str, shape: list[int]) -> None:
    """Makes the initializer of a variable, or of all slices of one, read the tensor."""
    full = variable
    if isinstance(variable, list):
        info = variable[0]._get_save_slice_info()
        full_shape = list(info.full_shape) if info is not None else variable[0].shape.as_list()
    else:
        full_shape = variable.shape.as_list() if variable.shape.ndims is not None else None
    if full_shape is not None and (len(full_shape) != len(shape) or
                                   any(a is not None and a != b for a, b in zip(full_shape, shape))):
        name = full[0].name if isinstance(full, list) else full.name
        raise ValueError(f"Shape of variable {name} ({tuple(full_shape)}) doesn't match with shape of tensor "
                         f"{tensor_name} ({shape}) from checkpoint reader.")
    for part in variable if isinstance(variable, list) else [variable]:
        info = part._get_save_slice_info()
        _read_at_start(part, path, tensor_name, info.spec if info is not None else "")
    logs.info("Initialize variable %s from checkpoint %s with %s", full, path, tensor_name)


def _read_at_start(variable: Any, path: str, tensor_name: str, slice_spec: str) -> None:
    with device(variable.device or None), device("/cpu:0"):
        value = save_restore.restore_v2(path, [tensor_name], [slice_spec], dtypes=[variable.dtype.base_dtype],
                                        name="checkpoint_initializer")[0]
    variable._initializer_op = saveable_objects([variable])[0].restore([value], None)
    variable._initializer_op = getattr(variable._initializer_op, "op", variable._initializer_op)
    value.set_shape(variable.shape)
    variable._initial_value = value


# -- assignments from a checkpoint ---------------------------------------------------------------------------------

def assign_from_checkpoint(model_path: Any, var_list: Any, ignore_missing_vars: bool = False) -> tuple[Any, dict]:
    """``tf.contrib.framework.assign_from_checkpoint``: an operation that sets variables, and the feeds it needs.

    `model_path`: the prefix of a checkpoint, or a folder with one.  `var_list`: variables, or {name in the
    checkpoint: variable or its slices}.  Raises ValueError if a name is not there (unless `ignore_missing_vars`), or a shape
    differs.
    """
    grouped = _grouped(var_list)
    reader = _reader(model_path)
    assigned, feeds = [], {}
    for name, variables in grouped.items():
        if not reader.has_tensor(name):
            if ignore_missing_vars:
                logs.warn("Variable %s missing in checkpoint %s", name, model_path)
                continue
            raise ValueError(f"Checkpoint is missing variable [{name}]")
        value = reader.get_tensor(name)
        for variable in variables:
            part = _part_for(variable, value, name)
            fed = placeholder(variable.dtype.base_dtype, variable.get_shape(), name="placeholder/" + variable.op.name)
            assigned.append(variable.assign(fed) if isinstance(variable, ResourceVariable)
                            else reference_ops.assign(variable._ref(), fed))
            feeds[fed] = part.reshape(fed.shape.as_list())
    return (group(*assigned) if assigned else no_op()), feeds


def _reader(model_path: Any) -> CheckpointReader:
    path = path_string(model_path)
    return CheckpointReader(path) if os.path.exists(bundle.index_path(path)) else load_checkpoint(path)


def _grouped(var_list: Any) -> dict[str, list]:
    grouped: dict[str, list] = {}
    if isinstance(var_list, dict):
        for name, value in var_list.items():
            grouped[name] = list(value) if isinstance(value, (list, tuple, PartitionedVariable)) else [value]
        return grouped
    for variable in var_list:
        info = variable._get_save_slice_info()
        grouped.setdefault(variable.op.name if info is None else info.full_name, []).append(variable)
    return grouped


def _part_for(variable: Any, value: Any, name: str) -> Any:
    """What of the tensor belongs to a variable: all of it, or its slice."""
    info = variable._get_save_slice_info()
    if info is not None:
        if list(value.shape) != list(info.full_shape):
            raise ValueError(f"Tensor {name} has shape {list(value.shape)}, its slices are of {list(info.full_shape)}")
        return value[tuple(slice(o, o + s) for o, s in zip(info.var_offset, info.var_shape))]
    if not variable.get_shape().is_compatible_with(value.shape):
        raise ValueError(f"Total size of new array must be unchanged for {name} lh_shape: [{value.shape}], rh_shape: "
                         f"[{variable.get_shape()}]")
    return value


def assign_from_checkpoint_fn(model_path: Any, var_list: Any, ignore_missing_vars: bool = False,
                              reshape_variables: bool = False) -> Callable | None:
    """``tf.contrib.framework.assign_from_checkpoint_fn``: a function of a session that restores variables.

    None if nothing is left to restore.  See ``assign_from_checkpoint``; with `reshape_variables`, shapes may differ.
    """
    if ignore_missing_vars:
        reader = _reader(model_path)
        known = var_list if isinstance(var_list, dict) else {v.op.name: v for v in var_list}
        var_list = {name: value for name, value in known.items() if reader.has_tensor(name)}
        for name in known.keys() - var_list.keys():
            logs.warn("Variable %s missing in checkpoint %s", name, model_path)
    if not var_list:
        logs.warn("No Variables to restore")
        return None
    saver = Saver(var_list, reshape=reshape_variables, write_version=1)

    def restore(session: Any) -> None:
        saver.restore(session, model_path)

    return restore
