"""Control flow as nodes that call functions: If, Case and While, with the functions' graphs as attributes.

The runtime executes them (``jitgraph.runtime.functions``): the branch that is taken, the body as often as the
condition holds.  Their inputs are the arguments of the functions; those that stand for variables are not passed by
value, see ``jitgraph.graph.function_graph``.
"""
from __future__ import annotations

from typing import Any

from jitgraph.control.program_order import finish
from jitgraph.declare.op import op
from jitgraph.graph import dtypes
from jitgraph.graph.counting import counted_as
from jitgraph.graph.function_graph import FunctionGraph
from jitgraph.graph.operation import Operation
from jitgraph.graph.registry import lookup
from jitgraph.graph.scopes import control_dependencies
from jitgraph.graph.tensor import Tensor

_IF = ("(cond: Tcond, input: [Tin]; Tout: list(type), then_branch: func, else_branch: func, "
       "output_shapes: list(shape) = []) -> output: [Tout]")
_WHILE = ("(input: [T]; cond: func, body: func, output_shapes: list(shape) = [], parallel_iterations: int = 10) "
          "-> output: [T]")


def _result_shapes(c: Any) -> list:
    types = c.attrs["Tout"] if "Tout" in c.attrs else c.attrs["T"]
    stated = c.attrs["output_shapes"]
    return list(stated) if stated else [None] * len(types)


_COMMON: dict[str, Any] = {"shape": _result_shapes, "host": True, "context": ("op",), "tested_in": "tests/control: functions"}


@op("If" + _IF, stateful=True, **_COMMON)
def if_(cond, input, op):
    """What `then_branch` gives for `input` if `cond` holds, else what `else_branch` gives."""
    raise NotImplementedError("the runtime executes the functions of If")


@op("StatelessIf" + _IF, **_COMMON)
def stateless_if(cond, input, op):
    """If, with branches that neither read nor change anything but their inputs."""
    raise NotImplementedError("the runtime executes the functions of StatelessIf")


@op("Case(branch_index: int32, input: [Tin]; Tout: list(type), branches: list(func) >= 1, "
    "output_shapes: list(shape) = []) -> output: [Tout]", stateful=True, **_COMMON)
def case(branch_index, input, op):
    """What the branch of number `branch_index` gives for `input`; the last one for numbers out of range."""
    raise NotImplementedError("the runtime executes the functions of Case")


@op("While" + _WHILE, stateful=True, **_COMMON)
def while_(input, op):
    """`body` applied to its own results, from `input` on, as long as `cond` holds."""
    raise NotImplementedError("the runtime executes the functions of While")


@op("StatelessWhile" + _WHILE, **_COMMON)
def stateless_while(input, op):
    """While, with functions that neither read nor change anything but their inputs."""
    raise NotImplementedError("the runtime executes the functions of StatelessWhile")


_CALL = ('(args: [Tin]; Tout: list(type), f: func, config: string = "", config_proto: string = "", '
         'executor_type: string = "") -> output: [Tout]')
_CALLED: dict[str, Any] = {**_COMMON, "shape": lambda c: [None] * len(c.attrs["Tout"])}


@op("PartitionedCall" + _CALL, **_CALLED)
def partitioned_call(args, op):
    """What the function `f` gives for `args`."""
    raise NotImplementedError("the runtime executes the function of PartitionedCall")


@op("StatefulPartitionedCall" + _CALL, stateful=True, **_CALLED)
def stateful_partitioned_call(args, op):
    """PartitionedCall, with a function that may read and change more than its arguments."""
    raise NotImplementedError("the runtime executes the function of StatefulPartitionedCall")


# -- making them -------------------------------------------------------------------------------------------------------

# what takes gradients: see `jitgraph.autodiff.functional_gradients`
DIFFERENTIABLE = (if_, stateless_if, case, while_, stateless_while, partitioned_call, stateful_partitioned_call)


def is_stateful(graph: FunctionGraph) -> bool:
    """Whether a function reads or changes more than its inputs."""
    return any(node.opdef is None or node.opdef.stateful or node.opdef.state for node in graph._nodes_by_id)


def align(functions: list[FunctionGraph], arguments: int) -> list[Tensor]:
    """Gives all functions the same inputs: the first `arguments`, then what any of them captures.

    Returns the captured tensors of the outer graph, in the order of the inputs.
    """
    captured: dict[Tensor, None] = {}
    while True:
        before = len(captured)
        for function in functions:
            captured.update(dict.fromkeys(function.captures))
        for function in functions:
            for tensor in list(captured):
                function.capture(tensor)
        if len(captured) == before:
            break
    for function in functions:
        function.inputs[arguments:] = [function.captures[tensor] for tensor in captured]
    return list(captured)


def _after(functions: list[FunctionGraph]) -> Any:
    return control_dependencies([item for function in functions for item in function.outer_control])


def _joined_shapes(functions: list[FunctionGraph]) -> list:
    """For each result, what the shapes in all functions have in common."""
    return [_common([t._shape for t in together]) for together in zip(*(f.outputs for f in functions))]


def _common(shapes: list) -> Any:
    if any(s is None or len(s) != len(shapes[0]) for s in shapes):
        return None
    return tuple(d[0] if all(x == d[0] for x in d) else None for d in zip(*shapes))


def make_branching(index: Tensor, branches: list[FunctionGraph], name: str) -> Operation:
    """An If (bool `index`) or Case (int32) of branches whose ``outputs`` are set, without arguments of their own."""
    for branch in branches:
        finish(branch)
    inputs = align(branches, 0)
    attrs: dict[str, Any] = {"Tout": [t.dtype.base_dtype for t in branches[0].outputs],
                             "output_shapes": _joined_shapes(branches), "name": name}
    with _after(branches):
        if index.dtype.base_dtype is dtypes.bool_:
            index = _scalar(index)
            kind = "If" if any(map(is_stateful, branches)) else "StatelessIf"
            made = lookup(kind).builder(index, inputs, then_branch=branches[0], else_branch=branches[1], **attrs)
        else:
            made = case(index, inputs, branches=branches, **attrs)
    return made if isinstance(made, Operation) else made[0].op


def _scalar(predicate: Tensor) -> Tensor:
    """`predicate`, which a run checks to be a scalar if its rank is unknown now: If and While take others, Switch does not."""
    if predicate._shape is not None:
        return predicate
    with counted_as(0):
        checked: Tensor = lookup("EnsureShape").builder(predicate, shape=())
    return checked


def make_call(function: FunctionGraph, name: str | None, arguments: list[Tensor] | None = None) -> Operation:
    """A PartitionedCall of a function whose ``outputs`` are set, and whose first inputs are for `arguments`."""
    arguments = arguments or []
    inputs = [*arguments, *align([function], len(arguments))]
    with _after([function]):
        return make_stored_call(function, inputs, is_stateful(function), name)


def make_stored_call(function: FunctionGraph, inputs: list[Tensor], stateful: bool, name: str | None = None) -> Operation:
    """A PartitionedCall of a function that is complete, whose inputs are for `inputs`."""
    kind = "StatefulPartitionedCall" if stateful else "PartitionedCall"
    made = lookup(kind).builder(inputs, Tout=[t.dtype.base_dtype for t in function.outputs], f=function, name=name)
    node = made if isinstance(made, Operation) else made[0].op
    for tensor, inside in zip(node.outputs, function.outputs):
        tensor._shape = inside._shape
    return node


def make_while(arguments: list[Tensor], cond: FunctionGraph, body: FunctionGraph, name: str,
               parallel_iterations: int = 10) -> Operation:
    """A While of two functions with inputs for `arguments`; the outputs of the body are their next values."""
    finish(body)
    with cond.as_default():
        cond.outputs = [_scalar(cond.outputs[0])]
    captured = align([cond, body], len(arguments))
    body.outputs = [*body.outputs, *body.inputs[len(arguments):]]
    shapes = [t._shape for t in body.inputs]
    kind = "While" if is_stateful(cond) or is_stateful(body) else "StatelessWhile"
    with _after([cond, body]):
        made = lookup(kind).builder([*arguments, *captured], cond=cond, body=body, output_shapes=shapes,
                                    parallel_iterations=parallel_iterations, name=name)
    node = made if isinstance(made, Operation) else made[0].op
    for tensor in node.outputs[len(arguments):]:
        # what the body only reads comes out as it went in; the node is new, so that no plan made before is stale
        node.graph._unfetchable.add(tensor)
    return node
