"""divide: conditionals, calls and loops get sub-programs, one for each of the functions that they call.

Which branch is taken, and how often a body runs, comes out in the run; what each of them computes then, for which
inputs, and what a loop does itself between two iterations, is settled here.
"""
from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Any

from jitgraph.graph.calls import bodies
from jitgraph.graph.constant_value import constant_value
from jitgraph.graph.function_graph import LOOPS, FunctionGraph, first_argument, inputs_by_value, is_state
from jitgraph.graph.operation import Operation
from jitgraph.graph.tensor import Tensor

from .loops.division import Division
from .loops.expressions import Condition, Counter, through
from .loops.row_products import EarlyTerms
from .loops.scalar_loop import scalar_loop
from .options import Options
from .order import body_variables, variable_of
from .program import Program
from .prune import Reached, is_idle, needed_inputs, needed_variables

Version = tuple[int | tuple[int, int], ...]      # number of outputs, then (version, mutations) of every function

KNOWN_LIMIT = 64    # elements of a constant that a function is compiled for


def divide(program: Program) -> None:
    """Conditionals, calls and loops get sub-programs."""
    program.calls = {op: divided(op, program.wanted.get(op), program.options)
                     for op in program.ops if op.opdef is not None and op.opdef.calls}


def divided(op: Operation, outputs: frozenset[int] | None, options: Options) -> ChoiceCall | LoopCall:
    """The sub-programs of one operation, for those of its outputs that are wanted (None: all of them and what it does); the same
    ones for all plans that want the same."""
    key = op, outputs, frozenset(name for name in LoopCall.OPTIMISATIONS if not options.uses(name))
    known = op.graph.per_graph("divided", dict)
    version: Version = len(op.outputs), *((f.version, f.mutations) for f in bodies(op))
    found = known.get(key)
    if found is None or found.version != version:
        found = known[key] = (LoopCall if op.type in LOOPS else ChoiceCall)(op, outputs, options, version)
    return found


class SubProgram:
    """What a run computes of one function that an operation calls, from some of the operation's inputs.

    `outputs`: the tensors that the caller wants, those of the function if None; `fed`: tensors that it feeds before the
    inputs; `changing`: numbers of the inputs that change from one run to the next; `effects`: the operations that run
    for what they do, those of the function if None; `early`: products of which some terms are fed.
    Found out are: `fetches`, the outputs that are computed; `direct`, for
    each output the number of the input that it is, None for one that is computed; `results`, for each output the number of
    its fetch, None for one that is an input; `parameters`, (tensor, number of the input) for the inputs that matter;
    `constants`, those of them that are small constants, and `stated`, those whose value the graph knows, with their values.
    """

    def __init__(self, graph: FunctionGraph, op: Operation | None, offset: int, outputs: Iterable[Tensor] | None = None,
                 fed: Iterable[Tensor] = (), changing: Container[int] = (), effects: Iterable[Operation] | None = None,
                 early: Iterable[EarlyTerms] = ()) -> None:
        self.graph, self.fed = graph, list(fed)
        self.early = {terms.op: terms for terms in early}
        self.outputs = list(graph.outputs if outputs is None else outputs)
        places = {t: k + offset for k, t in enumerate(graph.inputs) if not is_state(t)}
        self.direct: list[Any] = [places.get(through(t)) for t in self.outputs]       # an int, or None
        self.fetches = list(dict.fromkeys(t for t, k in zip(self.outputs, self.direct) if k is None))
        self.effects = list(graph.control_outputs if effects is None else effects)
        needed = Reached(set(self.fed))
        needed.want(self.fetches, self.effects)
        self.parameters = [(t, k) for t, k in places.items() if t in needed.tensors]
        self.results = [self.fetches.index(t) if k is None else None for t, k in zip(self.outputs, self.direct)]
        fixed = [(t, k) for t, k in self.parameters if k not in changing]
        given = () if op is None else op.inputs         # of what has none, all inputs change
        self.constants = [(t, k, given[k].op.attrs["value"]) for t, k in fixed if _is_known(given[k])]
        self.stated = [(t, k, value) for t, k in fixed if t.dtype.is_integer
                       and (value := constant_value(given[k])) is not None and value.size <= KNOWN_LIMIT]


def _is_known(tensor: Tensor) -> bool:
    """Whether an input is a small integer constant, which may decide a shape."""
    return tensor.op.type == "Const" and tensor.dtype.is_integer and tensor.op.attrs["value"].size <= KNOWN_LIMIT


class Call:
    """What is common to the operations that call functions.

    `outputs`: the numbers of those that are wanted, None for all; `by_value`: numbers of the inputs that are no variables;
    `programs`: the sub-programs.
    """

    def __init__(self, op: Operation, outputs: frozenset[int] | None, version: Version) -> None:
        self.op, self.outputs, self.version = op, outputs, version
        self.by_value = inputs_by_value(op)
        self._needed = needed_inputs(op, outputs)
        self.programs: list[SubProgram] = []

    @property
    def keeps(self) -> frozenset[int]:
        """Numbers of the inputs by value that are only handed to a function, wherever they lie."""
        return frozenset(range(len(self.by_value)))

    def needs(self, k: int) -> bool:
        """Whether input `k` is needed."""
        return self._needed is None or k in self._needed

    def gives(self, k: int) -> bool:
        """Whether output `k` is wanted."""
        return self.outputs is None or k in self.outputs


class ChoiceCall(Call):
    """If and Case, and a call, as the choice of one: one sub-program for each, for the outputs `used` (by number)."""

    def __init__(self, op: Operation, outputs: frozenset[int] | None, options: Options, version: Version) -> None:
        super().__init__(op, outputs, version)
        self.offset = first_argument(op)
        self.used = list(range(len(op.outputs))) if outputs is None else sorted(outputs)
        self.programs = [SubProgram(f, op, self.offset, [f.outputs[k] for k in self.used]) for f in bodies(op)]

    @property
    def keeps(self) -> frozenset[int]:
        return frozenset(n for n, k in enumerate(self.by_value) if k >= self.offset)


class LoopCall(Call):
    """While: how an iteration is `divided` between the loop and its `body`, and whether there is another.

    `invariant`: for each variable whether all iterations leave it as it is; `condition`: the condition as an expression,
    which `fixed` gives the scalars that no iteration changes, and `cond`, for one that is none; `sources`: for each fetch of
    the division the number of the body's result, or of the input, that it is; `counters`: see `_counters`; `kernel`: the loop
    as one kernel, if it is one over scalars; `is_quiet`: whether nothing notices when it runs, and its iterations are native where
    their kernels are; `copied`: numbers of the inputs that the loop must not take in the memory that
    they come in.
    """

    OPTIMISATIONS = ("product_sums", "row_products", "native_iterations", "scalar_loops")

    def __init__(self, op: Operation, outputs: frozenset[int] | None, options: Options, version: Version) -> None:
        super().__init__(op, outputs, version)
        cond, body = bodies(op)
        needed = needed_variables(cond, body, outputs)
        self.invariant = [through(t) is body.inputs[k] or k not in needed for k, t in enumerate(body.outputs)]
        self.division = division = Division(body, self.invariant, cond, options.uses("product_sums"), options.uses("row_products"))
        changing = self._changing(range(len(self.invariant)))
        self.cond = SubProgram(cond, op, 0, changing=changing)
        self.body = self.body_for(division.fetches)
        self.condition = Condition(cond, self.invariant)
        self.fixed = SubProgram(cond, op, 0, self.condition.fixed)
        self.programs = [self.cond, self.body, self.fixed]
        self.sources = list(zip(self.body.results, self.body.direct))
        self.counters = self._counters() if options.uses("native_iterations") else None
        self.kernel = scalar_loop(op) if options.uses("scalar_loops") else None
        self.is_quiet = self.counters is not None and is_quiet(op)
        # what is handed on as it is, or stored, must not stand in memory that others write: that of a variable, or what
        # the caller's plan uses again
        kept = {*self.body.direct, *division.stored_variables}
        self.copied = [k for k in self.by_value if k in kept and not self.invariant[k]
                       or variable_of(op.inputs[k]) is not None]

    def body_for(self, fetches: Iterable[Tensor]) -> SubProgram:
        """The body's sub-program for these of the division's fetches."""
        division = self.division
        return SubProgram(division.body, self.op, 0, fetches, division.fed, self._changing(range(len(self.invariant))),
                          division.effects, division.terms)

    def _counters(self) -> list[Counter] | None:
        """The variables that say when the loop ends and what it takes; None where these are not mere scalar arithmetic, or
        something is changed in place."""
        division, condition = self.division, self.condition
        if condition.test is None or division.in_place or any(d is not None and not self.invariant[d] for _, d in self.sources):
            return None
        found: dict[int, Counter] = {}
        wanted = self._changing(division.looked_at | condition.variables)
        while wanted - found.keys():
            k = min(wanted - found.keys())
            tensor = division.body.outputs[k]
            function = division.expressions.function(tensor)
            if function is None:
                return None
            found[k] = Counter(k, function, division.expressions.stride(tensor, k, self.invariant))
            wanted |= self._changing(division.expressions.variables(tensor))
        return list(found.values())

    def _changing(self, variables: Iterable[int]) -> set[int]:
        return {k for k in variables if not self.invariant[k]}

    def is_stored(self, number: int) -> bool:
        """Whether the values of the fetch `number` of the division are stored in every iteration."""
        division = self.division
        return number in division.stored_fetches or (
            number < len(division.targets) and division.targets[number] in division.stored_variables)


def is_quiet(op: Operation, may_draw: bool = False) -> bool:
    """Whether the functions of an operation change nothing that lasts, take nothing from outside and, unless they `may_draw`,
    draw no random numbers.  Taking elements of TensorArrays, of which those who take them next are told, counts as nothing."""
    nodes = [node for function in bodies(op) for node in function.get_operations() if not is_idle(node)]
    return not any(writes for _, writes in body_variables(op)) and all(
        node.opdef is not None and not node.opdef.outward
        and (is_quiet(node, may_draw) if node.opdef.calls else may_draw if node.opdef.stream
             else bool(node.opdef.element or node.opdef.state) or not node.opdef.has_effect)
        for node in nodes)
