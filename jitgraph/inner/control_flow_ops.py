"""Names of ``tensorflow.python.ops.control_flow_ops`` and its kin that ``tf`` does not have."""
from __future__ import annotations

from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.control.conditionals import smart_cond as smart_cond
from jitgraph.control.conditionals import smart_constant_value as smart_constant_value
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.function_graph import FunctionGraph
from jitgraph.graph.handing_out import choice_between
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.choices.cases import case_by

ENABLE_CONTROL_FLOW_V2 = False
_case_helper = case_by


def switch(data: Any, pred: Any, dtype: Any = None, name: str | None = None) -> tuple[Tensor, Tensor]:
    """(output_false, output_true), of which the one that `pred` names is alive."""
    return raw.Switch(data if isinstance(data, Tensor) else convert_to_tensor(data, dtype=dtype), pred, name=name)


def merge(inputs: Any, name: str | None = None) -> Any:
    """(the input that is alive, its index).  Raises ValueError if an input is None."""
    if any(one is None for one in inputs):
        raise ValueError(f"At least one of the merge inputs is None: {inputs}")
    return raw.Merge([convert_to_tensor(one) for one in inputs], name=name)


def IsInWhileLoop(op: Any) -> bool:
    """False: loops are functions here, and their operations stand in graphs of their own."""
    return False


def IsSwitch(op: Any) -> bool:
    """Whether an operation is a Switch."""
    return op.type in ("Switch", "RefSwitch")


def IsMerge(op: Any) -> bool:
    """Whether an operation is a Merge."""
    return op.type in ("Merge", "RefMerge")


def IsLoopEnter(op: Any) -> bool:
    """Whether a value goes into a loop by an operation."""
    return op.type in ("Enter", "RefEnter")


def IsLoopConstantEnter(op: Any) -> bool:
    """Whether a value goes into a loop by an operation, and stays what it is there."""
    return IsLoopEnter(op) and op.get_attr("is_constant")


def IsLoopExit(op: Any) -> bool:
    """Whether a value comes out of a loop by an operation."""
    return op.type in ("Exit", "RefExit")


def IsCondSwitch(op: Any) -> bool:
    """Whether all that takes what a Switch gives stands in branches of conditionals: nothing but loops and files' graphs do."""
    return IsSwitch(op) and all(IsInCond(user) for tensor in op.outputs for user in tensor.consumers())


def IsCondMerge(op: Any) -> bool:
    """Whether all that a Merge takes stands in branches of conditionals."""
    return IsMerge(op) and all(IsInCond(tensor.op) for tensor in op.inputs)


def IsLoopSwitch(op: Any) -> bool:
    """False: loops are functions here, without a Switch."""
    return False


def IsLoopMerge(op: Any) -> bool:
    """False: loops are functions here, without a Merge."""
    return False


def GetLoopConstantEnter(value: Any) -> Any:
    """The operation by which a value that stays the same goes into a loop, None if there is none."""
    op = value.op
    while op.type in ("Switch", "RefSwitch", "Identity", "RefIdentity"):
        op = op.inputs[0].op
    return op if IsLoopConstantEnter(op) else None


def IsContainingContext(ctxt: Any, maybe_containing_ctxt: Any) -> bool:
    """Whether a context is `maybe_containing_ctxt` or stands in it."""
    while ctxt is not maybe_containing_ctxt:
        if ctxt is None:
            return False
        ctxt = ctxt.outer_context
    return True


def OpInContext(op: Any, ctxt: Any) -> bool:
    """Whether an operation stands in a context; None is that of the graph itself."""
    return IsContainingContext(None, ctxt)          # what stands in loops and conditionals has no context of its own either


def TensorInContext(tensor: Any, ctxt: Any) -> bool:
    """Whether what makes a tensor stands in a context."""
    return OpInContext(tensor.op, ctxt)


def InXlaContext(graph: Any) -> bool:
    """False: there is no XLA."""
    return False


def GraphOrParentsInXlaContext(graph: Any) -> bool:
    """False: there is no XLA."""
    return False


def GetContainingXLAContext(ctxt: Any) -> None:
    """None: there is no XLA."""


def in_defun() -> bool:
    """Whether the default graph is that of a function."""
    return isinstance(get_default_graph(), FunctionGraph)


def IsInXLAContext(op: Any) -> bool:
    """False: there is no XLA."""
    return False


def EnableControlFlowV2(graph: Any) -> bool:
    """Whether loops and conditionals of a graph are nodes that call functions in TensorFlow: those of ``tf.function``."""
    return ENABLE_CONTROL_FLOW_V2 or isinstance(graph, FunctionGraph) and graph.ordered


def IsInCond(op: Any) -> bool:
    """Whether an operation stands in a branch of a conditional."""
    graph = op.graph
    while isinstance(graph, FunctionGraph):
        if choice_between(graph) is not None:
            return True
        graph = graph.outer_graph
    return False


def GetContainingWhileContext(ctxt: Any, stop_ctxt: Any = None) -> Any:
    """The context of the loop around a context, or this itself; None if there is none before `stop_ctxt`, as for a graph's None."""
    while ctxt:
        if ctxt.IsWhileContext() or ctxt == stop_ctxt:
            return ctxt
        ctxt = ctxt.outer_context
    return None


def GetContainingCondContext(ctxt: Any) -> Any:
    """The context of the conditional around a context, or this itself; None if there is none, as for a graph's None."""
    while ctxt:
        if ctxt.IsCondContext():
            return ctxt
        ctxt = ctxt.outer_context
    return None


def GetWhileContext(op: Any) -> None:
    """None: loops are functions here, without contexts of their own."""


def GetOutputContext(op: Any) -> None:
    """None: loops and conditionals are functions here, without contexts of their own."""


def CheckInputFromValidContext(op: Any, input_op: Any) -> None:
    """Nothing: a graph refuses inputs out of the functions of others when a node is made."""
