"""Who reads what in a graph, and how it comes to read something else."""
from __future__ import annotations

import re
from typing import Any

from jitgraph.graph import dtypes
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.ops.arrays.identity import identity
from jitgraph.variables.assignments import assign_add
from jitgraph.variables.synchronization import VariableAggregation
from jitgraph.variables.variable_initializers import zeros_initializer
from jitgraph.variables.variable_scopes import get_variable

SKIPPED_PREFIXES = ("gradients/", "RMSProp/", "Adagrad/", "Const_", "HistogramSummary", "ScalarSummary")
_STEP = "fake_quantization_step"
_ACTIVATIONS = ("Relu6", "Relu", "Identity")


class InputToOps:
    """The operations of a graph that read a tensor, but those of training and summaries."""

    def __init__(self, graph: Any):
        self.mapping: dict[Any, dict[Any, None]] = {}
        for op in graph.get_operations():
            if not op.name.startswith(SKIPPED_PREFIXES):
                for tensor in op.inputs:
                    self.mapping.setdefault(tensor, {})[op] = None

    def ConsumerOperations(self, producer_op: Any) -> set:
        """Those that read an output of `producer_op`."""
        return {op for tensor in producer_op.outputs for op in self.mapping.get(tensor, ())}


def BatchNormGroups(graph: Any) -> list[str]:
    """The beginnings of names of layers that have a batch normalization."""
    found = (re.search(r"^(.*)BatchNorm/batchnorm", op.name) for op in graph.get_operations())
    return list(dict.fromkeys(one.group(1) for one in found if one and not one.group(1).startswith(SKIPPED_PREFIXES)))


def _operation(graph: Any, name: str) -> Any:
    try:
        return graph.get_operation_by_name(name)
    except KeyError:
        return None


def GetEndpointActivationOp(graph: Any, prefix: str) -> Any:
    """The activation whose name begins with `prefix`, None if there is none."""
    return next(filter(None, (_operation(graph, prefix + suffix) for suffix in _ACTIVATIONS)), None)


def CreateOrGetQuantizationStep() -> Any:
    """The number of runs so far, one more in each: a scalar of int64 that a variable keeps."""
    graph = get_default_graph()
    try:
        return graph.get_tensor_by_name(f"{_STEP}/Identity:0")
    except KeyError:
        with graph.name_scope(None):
            step = get_variable(_STEP, shape=[], dtype=dtypes.int64, initializer=zeros_initializer(), trainable=False,
                                collections=[GraphKeys.GLOBAL_VARIABLES], aggregation=VariableAggregation.ONLY_FIRST_REPLICA)
            with graph.name_scope(f"{step.op.name}/"):
                return identity(assign_add(step, 1))


def DropStringPrefix(s: str, prefix: str) -> str:
    """`s` without `prefix`."""
    return s.removeprefix(prefix)


def RerouteTensor(t0: Any, t1: Any, can_modify: Any = None) -> int:
    """Lets those that read `t1` (of them those of `can_modify`) read `t0`; gives the number of inputs that changed."""
    places = [(op, index) for op in dict.fromkeys(t1.consumers()) if can_modify is None or op in can_modify
              for index, tensor in enumerate(op.inputs) if tensor is t1]
    for op, index in places:
        op._update_input(index, t0)
    return len(places)
