"""Names of ``tensorflow.python.ops.functional_ops``: nodes of control flow made of ``Defun``s."""
from __future__ import annotations

from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.control.functional_ops import is_stateful, make_stored_call
from jitgraph.functions.defun import DefinedFunction, Defun
from jitgraph.graph import dtypes
from jitgraph.graph.operation import Operation
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.elementwise.arithmetic import abs as abs_of
from jitgraph.ops.elementwise.cast import cast


def _listed(made: Any) -> list[Tensor]:
    """The results of a node, or of a call, as a list."""
    if isinstance(made, Operation):
        return []
    return [made] if isinstance(made, Tensor) else list(made)


def _results(function: DefinedFunction) -> list:
    return [tensor.dtype.base_dtype for tensor in function.as_function_graph().outputs]


def _carrying(function: DefinedFunction) -> DefinedFunction:
    """A function of the arguments of `function` and of what it captures, which gives its results and hands these on."""
    graph, count = function.as_function_graph(), len(function.declared_input_types)
    types = [*function.declared_input_types, *(tensor.dtype.base_dtype for tensor in function.captured_inputs)]

    @Defun(*types, func_name=f"{function.name}_Wrapper")
    def wrapper(*args: Tensor) -> tuple:
        return (*make_stored_call(graph, list(args), is_stateful(graph)).outputs, *args[count:])

    return wrapper


def If(cond: Any, inputs: Any, then_branch: DefinedFunction, else_branch: DefinedFunction, name: str | None = None) -> list[Tensor]:
    """What one of two functions gives for `inputs`: `then_branch` where `cond`, a scalar, is true, not 0 or not empty."""
    return _listed(raw.If(cond=cond, input=inputs, Tout=_results(then_branch), then_branch=then_branch, else_branch=else_branch,
                          name=name))


def Gradient(inputs: Any, f: DefinedFunction, name: str | None = None) -> list[Tensor]:
    """The gradients of the arguments of `f`; `inputs`: the arguments, then the gradients of its results."""
    return _listed(raw.SymbolicGradient(input=inputs, Tout=list(f.declared_input_types), f=f, name=name))


def While(input_: Any, cond: DefinedFunction, body: DefinedFunction, name: str | None = None, hostmem: Any = None) -> list[Tensor]:
    """`body` applied to its own results, from `input_` on, as long as `cond` holds.

    `hostmem`, which values stay in the host's memory, says nothing here: a session finds it out itself.
    Raises ValueError if `cond` captures anything, and where the two functions take other types.
    """
    if cond.captured_inputs:
        raise ValueError("While op 'cond' argument must be a function without implicitly captured inputs.")
    if cond.declared_input_types != body.declared_input_types:
        raise ValueError(f"While op 'cond' and 'body' signatures do not match. {cond.declared_input_types!r} vs "
                         f"{body.declared_input_types!r}")
    captured, count = body.captured_inputs, len(body.declared_input_types)
    if not captured:
        return _listed(raw.While(input=input_, cond=cond, body=body, name=name))
    types = [*body.declared_input_types, *(tensor.dtype.base_dtype for tensor in captured)]
    of_all = Defun(*types, func_name=f"{cond.name}_Wrapper")(lambda *args: cond(*args[:count]))
    return _listed(raw.While(input=[*input_, *captured], cond=of_all, body=_carrying(body), name=name))[:count]


def _for_by_while(start: Any, limit: Any, delta: Any, inputs: Any, body: DefinedFunction, name: str | None) -> list[Tensor]:
    """The loop of ``For`` by a count of rounds, which takes it for granted that `delta` leads to `limit`."""
    step = abs_of(delta)
    rounds = cast(cast(abs_of(limit - start) + step - 1, dtypes.float32) / cast(step, dtypes.float32), dtypes.int32)
    types = [dtypes.int32] * 4 + list(body.declared_input_types[1:])

    @Defun(*types, func_name=f"{body.name}_Cond")
    def goes_on(number: Tensor, count: Tensor, *args: Tensor) -> Tensor:
        return number < count

    @Defun(*types, func_name=f"{body.name}_Body")
    def next_round(number: Tensor, count: Tensor, first: Tensor, by: Tensor, *args: Tensor) -> tuple:
        return (number + 1, count, first, by, *_listed(body(first + number * by, *args)))

    return While([0, rounds, start, delta, *inputs], goes_on, next_round, name=name)[4:]


def For(start: Any, limit: Any, delta: Any, inputs: Any, body: DefinedFunction, name: str | None = None, hostmem: Any = None,
        rewrite_with_while: bool | None = None) -> list[Tensor]:
    """What `body`, called with each number from `start` to before `limit` and with its own results, gives in the end.

    `rewrite_with_while`: make it a While of a counted number of rounds.  `hostmem` says nothing here, as for ``While``.
    Raises InvalidArgumentError, when it runs, where `delta` does not lead from `start` to `limit` and it is a For.
    """
    if rewrite_with_while:
        return _for_by_while(start, limit, delta, inputs, body, name)
    captured, count = body.captured_inputs, len(body.declared_input_types) - 1
    if not captured:
        return _listed(raw.For(start=start, limit=limit, delta=delta, input=inputs, body=body, name=name))
    made = raw.For(start=start, limit=limit, delta=delta, input=[*inputs, *captured], body=_carrying(body), name=name)
    return _listed(made)[:count]
