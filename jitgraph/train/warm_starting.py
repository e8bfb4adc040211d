"""``tf.train.warm_start``: a new model begins where another one ended."""
from __future__ import annotations

from typing import Any

from jitgraph.app import logs
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.train.checkpoint_values import _checkpoint_name, init_from_checkpoint
from jitgraph.train.vocabularies import VocabInfo, remapped_value
from jitgraph.variables.assignments import assign
from jitgraph.variables.partitioners import PartitionedVariable, PartitionInfo
from jitgraph.variables.variable import Variable


def warm_start(ckpt_to_initialize_from: Any, vars_to_warm_start: Any = ".*",
               var_name_to_vocab_info: dict[str, VocabInfo] | None = None,
               var_name_to_prev_var_name: dict[str, str] | None = None) -> None:
    """Has variables start with their values in a checkpoint; call it before their initializers are grouped or run.

    Args:
      ckpt_to_initialize_from: a checkpoint, or a folder whose newest one is taken.
      vars_to_warm_start: a regular expression for the names of trainable variables; a list of variables, or of regular
        expressions for the names of all variables; None for those of `var_name_to_vocab_info` alone.
      var_name_to_vocab_info: {name of a variable: VocabInfo}, where rows or columns changed places.
      var_name_to_prev_var_name: {name of a variable: its name in the checkpoint}, where they differ.
    Raises ValueError for names that no variable has, shapes that differ and tensors that are not there.
    """
    logs.info("Warm-starting from: %s", ckpt_to_initialize_from)
    grouped = _grouped_variables(vars_to_warm_start)
    infos, old_names = var_name_to_vocab_info or {}, var_name_to_prev_var_name or {}
    whole: dict[str, Any] = {}
    count = 0
    for name, variables in grouped.items():
        old_name, info = old_names.get(name) or name, infos.get(name)
        if info:
            logs.debug("Warm-starting variable: %s; current_vocab: %s prev_vocab: %s prev_tensor: %s", name, info.new_vocab,
                       info.old_vocab, old_name)
            _start_remapped(variables, info, _checkpoint_name(ckpt_to_initialize_from), old_name)
        elif vars_to_warm_start:
            logs.debug("Warm-starting variable: %s; prev_var_name: %s", name, old_names.get(name, "Unchanged"))
            whole[old_name] = variables[0] if len(variables) == 1 else variables
        else:
            continue
        count += 1
    init_from_checkpoint(ckpt_to_initialize_from, whole)
    logs.info("Warm-started %d variables.", count)
    _check_used(old_names, grouped, "var_name_to_prev_var_name")
    _check_used(infos, grouped, "var_name_to_vocab_info")


def _check_used(given: dict, grouped: dict, what: str) -> None:
    unused = set(given) - set(grouped)
    if unused:
        raise ValueError(f"You provided the following variables in {what} that were not used: {unused}.  Perhaps you misspelled "
                         f"them?  Here is the list of viable variable names: {grouped.keys()}")


def _grouped_variables(wanted: Any) -> dict[str, list]:
    """{name in a checkpoint: the variable, or the parts of one}"""
    collection = get_default_graph().get_collection
    if wanted is None or isinstance(wanted, str):
        logs.info("Warm-starting variables only in TRAINABLE_VARIABLES.")
        variables = collection(GraphKeys.TRAINABLE_VARIABLES, scope=wanted)
    elif not isinstance(wanted, list):
        raise ValueError(f"`vars_to_warm_start must be a `list` or `str`.  Given type is {type(wanted)}")
    elif all(isinstance(one, str) for one in wanted):
        variables = [v for pattern in wanted for v in collection(GraphKeys.GLOBAL_VARIABLES, scope=pattern)]
    elif all(isinstance(one, (Variable, PartitionedVariable)) for one in wanted):
        variables = [part for one in wanted for part in (one if isinstance(one, PartitionedVariable) else [one])]
    else:
        raise ValueError("If `vars_to_warm_start` is a list, it must be all `Variable` or all `str`.  Given types are "
                         f"{[type(one) for one in wanted]}")
    grouped: dict[str, list] = {}
    for variable in variables:
        info = variable._get_save_slice_info()
        grouped.setdefault(variable.op.name if info is None else info.full_name, []).append(variable)
    return grouped


def _start_remapped(variables: list, info: VocabInfo, checkpoint: str, tensor_name: str) -> None:
    """Makes the initializers of a matrix, or of its parts, take their rows or columns by words."""
    if not (info.new_vocab and info.new_vocab_size and info.old_vocab):
        raise ValueError("Invalid args: Must provide all of [current_vocab_path, current_vocab_size, prev_ckpt, "
                         "prev_vocab_path}.")
    for variable in variables:
        cut = variable._get_save_slice_info()
        part = cut and PartitionInfo(cut.full_shape, cut.var_offset)
        value = remapped_value(info, checkpoint, tensor_name, variable.shape.as_list(), part)
        variable._initializer_op = getattr(assign(variable, value), "op", None)
