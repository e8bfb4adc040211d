"""Scalars of a loop as Python expressions: `i < n` and `i - 1` cost less than a run of a plan."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from jitgraph.declare.prim import PRIMS
from jitgraph.graph.build import group_inputs
from jitgraph.graph.function_graph import FunctionGraph, is_state
from jitgraph.graph.operation import Operation
from jitgraph.graph.tensor import Tensor

from ..builder import Builder
from ..primitives.elementwise import MAP
from ..primitives.memory import INPUT

Expression = Callable[[Sequence[Any], Sequence[Any]], Any]       # (variables, fed values so far) -> value

COLUMN_WORDS = {"and": "&", "or": "|", "not": "~"}       # what NumPy writes for arrays of truths
LONGEST = 20        # nodes; a longer expression is left to a plan


class ScalarFunction(NamedTuple):
    """A scalar: `one` gives its value; `column` its values in many iterations, from those of numbers that change, each an array
    [iterations]."""

    one: Expression
    column: Expression


class Counter(NamedTuple):
    """A variable that says when a loop ends or what it takes.  `stride`: what each iteration adds to it, if that is always the
    same."""

    variable: int
    following: ScalarFunction
    stride: Expression | None


class Condition:
    """The condition of a loop as the function `test` of (variables, values of self.fixed); None for other conditions.

    Expressible are comparisons of scalars, combined by `and`, `or` and `not`: they mean the same in Python.  `fixed` are
    the scalars in it that no iteration changes.
    """

    def __init__(self, graph: FunctionGraph, invariant: Iterable[bool]) -> None:
        self.fixed: list[Tensor] = []
        self._invariant = {t for t, constant in zip(graph.inputs, invariant) if constant and not is_state(t)}
        self._expressions = Expressions(graph, self._fix)
        self.test = None if graph.control_outputs else self._expressions.function(graph.outputs[0])
        self.variables = set() if self.test is None else self._expressions.variables(graph.outputs[0])

    def _fix(self, tensor: Tensor) -> bool:
        if tensor.op.type == "Placeholder" or tensor in self._expressions.names or not self._is_fixed(tensor):
            return False
        self._expressions.add_fed(tensor, len(self.fixed))
        self.fixed.append(tensor)
        return True

    def _is_fixed(self, tensor: Tensor) -> bool:
        """Whether a scalar depends on nothing that changes from one iteration to the next."""
        stack, seen = [tensor], set()
        while stack:
            one = stack.pop()
            op = one.op
            if op in seen or one in self._invariant:
                continue
            seen.add(op)
            if op.opdef is None or op.opdef.stateful or op.opdef.state or op.type == "Placeholder" or len(seen) > 50:
                return False
            stack.extend(op.inputs)
            stack.extend(t for c in op.control_inputs for t in c.outputs)
        return True


def through(tensor: Tensor) -> Tensor:
    """What a tensor is a mere copy of."""
    while (opdef := tensor.op.opdef) is not None and opdef.forwards and not (opdef.placeholder or opdef.state) and \
            not tensor.op.control_inputs and not tensor.op.inputs[0].dtype._is_ref_dtype:
        tensor = tensor.op.inputs[0]
    return tensor


def spelling(op: Operation) -> str:
    """What Python writes between or before the arguments of an operation that is one scalar function of them; "" for others.

    Python's numbers know no overflow in floating point, nor does it round as they do in 32 bits: arithmetic counts if it is
    that of integers.
    """
    opdef = op.opdef
    if opdef is None or opdef.host or opdef.state or opdef.stateful or opdef.dynamic:
        return ""
    function = opdef.scalar or opdef.lower
    if function is None or not op.inputs or any(t._shape != () or t.dtype._is_ref_dtype for t in op.inputs):
        return ""
    b = Builder()
    inputs = [b.node(INPUT, [], [((), t.dtype)]).out for t in op.inputs]
    try:
        result = function(*(() if opdef.scalar else (b,)), *group_inputs(opdef, inputs, op.attrs),
                          **opdef.arguments(function, op.attrs))
    except (NotImplementedError, ValueError):
        return ""
    node = getattr(result, "node", None)
    if node is None or node.kind is not MAP or len(b.nodes) != len(inputs) + 1 or node.inputs != inputs:
        return ""
    prim = PRIMS[node.attrs["prim"]]
    return prim.python if prim.result == "bool" or op.outputs[0].dtype.is_integer else ""


class Expressions:
    """Scalars of a function's graph as functions (variables, fed tensors) -> value."""

    def __init__(self, graph: FunctionGraph, fix: Callable[[Tensor], bool] = lambda tensor: False) -> None:
        self.places = {t: k for k, t in enumerate(graph.inputs) if not is_state(t)}
        self.names = {t: f"v[{k}]" for t, k in self.places.items()}
        self.scope: dict[str, Any] = {}
        self.fix = fix              # a way out for what is not an expression: whether it gave the tensor a name

    def add_fed(self, tensor: Tensor, number: int) -> None:
        """Tensor `tensor` is element `number` of the fed ones."""
        self.names[tensor] = f"f[{number}]"

    def function(self, tensor: Tensor) -> ScalarFunction | None:
        """The function for a tensor; None if it is not such an expression."""
        texts = [self._text(tensor, [0], words) for words in ({}, COLUMN_WORDS)]
        if texts[0] is None:
            return None
        return ScalarFunction(*(eval(compile(f"lambda v, f: {text}", "<scalar of a loop>", "eval"), self.scope) for text in texts))

    def variables(self, tensor: Tensor) -> set[int]:
        """The numbers of the variables that a tensor's function looks at."""
        return {self.places[t] for t in self._leaves(tensor) if t in self.places}

    def stride(self, tensor: Tensor, k: int, invariant: Sequence[bool]) -> Expression | None:
        """What `tensor`, the next value of variable `k`, adds to its present one, if that is the same in every iteration."""
        op = through(tensor).op
        sign = spelling(op)
        for own, other in (op.inputs, op.inputs[::-1])[:{"+": 2, "-": 1}.get(sign, 0)]:
            if self.places.get(through(own)) == k and self._leaves(other) <= {t for t, j in self.places.items() if invariant[j]}:
                amount = self.function(other)
                assert amount is not None           # a part of an expression is one
                return amount.one if sign == "+" else _negative(amount.one)
        return None

    def _leaves(self, tensor: Tensor) -> set[Tensor]:
        """The variables and fed tensors that a tensor's function looks at."""
        tensor = through(tensor)
        return {tensor} if tensor in self.names else set().union(*map(self._leaves, tensor.op.inputs))

    def _text(self, tensor: Tensor, count: list[int], words: Mapping[str, str]) -> str | None:
        count[0] += 1
        tensor = through(tensor)
        op = tensor.op
        if count[0] > LONGEST or tensor._shape != () or op.control_inputs or tensor.dtype.name == "bfloat16":
            return None
        if tensor in self.names:
            return self.names[tensor]
        if op.type == "Const":
            name = f"c{len(self.scope)}"
            self.scope[name] = op.attrs["value"][()]
            return name
        sign = spelling(op)
        parts = [self._text(t, count, words) for t in op.inputs] if sign else [None]
        if None in parts:
            return self.names[tensor] if self.fix(tensor) else None
        sign = words.get(sign, sign)
        return f"({parts[0]} {sign} {parts[1]})" if len(parts) == 2 else f"({sign} {parts[0]})"


def _negative(function: Expression) -> Expression:
    return lambda v, f: -function(v, f)
