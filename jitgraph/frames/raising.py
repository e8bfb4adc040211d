"""Builds the functional form of operations with Switch, Merge and frames in another graph.

A loop becomes a While.  The operations behind one predicate become an If: its branches hold what runs on either side,
its results are those of the Merges, and the tensors of one side that something outside uses, for which the other side
gives a stand-in that nobody looks at.
"""
from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from jitgraph.frames.guards import Choice, Guards, Source, Unit
from jitgraph.frames.structure import FRAME_OPS, MERGES, Frame, Frames, sorted_by, sources_of, stands_for
from jitgraph.graph import build, dtypes, shapes
from jitgraph.graph.constant_value import constant_value
from jitgraph.graph.errors import InvalidArgumentError
from jitgraph.graph.function_graph import FunctionGraph, first_argument, is_state, note_change, notes
from jitgraph.graph.graph import Graph
from jitgraph.graph.operation import Operation
from jitgraph.graph.tensor import Tensor
from jitgraph.op import lookup
from jitgraph.ops.control_frames import absent
from jitgraph.ops.functional import make_branching, make_while

PUSHES, POPS = ("StackPush", "StackPushV2"), ("StackPop", "StackPopV2")
_SMALL = 64         # elements of a value that is known before the run
_ATTEMPTS = 4       # at the shapes of loop variables, before nothing is said about those that still change


class _Raising:
    """What building the functional form of operations needs to know.

    ``fetched``: sources whose value somebody looks at; ``complete``: whether all results of Merges are to be there, not
    only those that are used.
    """

    def __init__(self, ops: Iterable[Operation], feeds: Sequence[Tensor], fetches: Sequence[Tensor], complete: bool):
        self.frames = Frames(ops, set(feeds))
        for tensor in fetches:
            if tensor not in self.frames.feeds and self.frames.home[tensor.op] is not self.frames.root:
                raise InvalidArgumentError(None, tensor.op, f"Operation '{tensor.op.name}' has been marked as not "
                                           f"fetchable: {tensor.name} lies inside the loop "
                                           f"'{self.frames.home[tensor.op].name}' and has a value in each iteration")
        self.guards = Guards(self.frames)
        self.fetched = {self.guards.sources[t] for t in fetches if t in self.guards.sources}
        self.complete = complete
        self._stacks: dict[Source, _Stack] = {}
        for op in self.frames.ops:
            if op.type in PUSHES and (stack := self.stack_of(op)) is not None:
                stack.pushes += 1

    def stack_of(self, op: Operation) -> _Stack | None:
        """What is known of the stack that an operation pushes onto or pops from; None for other operations."""
        if op.type not in PUSHES and op.type not in POPS or op.inputs[0] not in self.guards.sources:
            return None
        return self._stacks.setdefault(self.guards.sources[op.inputs[0]], _Stack())


class _Stack:
    """A stack of a graph file: how many operations push onto it, and, of those built so far, what shapes and values.

    A value is None where it is not known before the run.
    """

    def __init__(self) -> None:
        self.pushes = 0
        self.shapes: dict[Operation, Any] = {}
        self.values: dict[Operation, Any] = {}


class Raised(_Raising):
    """`ops` of a graph in functional form, in a graph of their own.

    ``graph``; ``feeds``, ``fetches``: what stands there for those given, in their order; ``targets``: what has to run.
    Raises InvalidArgumentError for what cannot be executed, see ``jitgraph.frames.structure`` and ``.guards``, and for
    fetched tensors inside a loop.
    """

    def __init__(self, ops: Iterable[Operation], feeds: Sequence[Tensor], fetches: Sequence[Tensor]):
        super().__init__(ops, feeds, fetches, False)
        self.graph = Graph()
        scope = Scope(self, self.graph, None)
        self.feeds = [scope.add_feed(tensor) for tensor in feeds]
        Block(self, scope, self.guards.units[self.frames.root], self.fetched).build()
        self.fetches = self._results(scope, fetches)
        self.targets = sinks(self.graph, self.fetches)

    def _results(self, scope: Scope, fetches: Sequence[Tensor]) -> list[Tensor]:
        """The fetched tensors, each a tensor of its own."""
        found: list[Tensor] = []
        taken = set(self.feeds)
        for tensor in fetches:
            if tensor in self.guards.sources:
                result = scope.value(self.guards.sources[tensor])
            else:
                with self.graph.as_default():
                    result = absent(dtype=tensor.dtype.base_dtype, shape=None, message=_no_value(tensor))
            if result in taken:
                with self.graph.as_default():
                    result = lookup("Identity").builder(result, name=tensor.op.name)
            taken.add(result)
            found.append(result)
        return found


def raise_for_gradient(ys: Sequence[Tensor]) -> None:
    """Adds, to the graph of `ys`, the functional form of the control flow they depend on, for gradients to flow through.

    The Merges and Exits are noted in ``graph.sources``: they stand for its results from now on, in runs too.
    """
    ops: dict[Operation, None] = {}
    stack = [t.op for t in ys]
    while stack:
        op = stack.pop()
        if op not in ops:
            ops[op] = None
            stack.extend([*(t.op for t in sources_of(op)), *op.control_inputs])
    if not any(op.type in FRAME_OPS and stands_for(op) is None for op in ops):
        return
    graph = next(iter(ops)).graph
    raising = _Raising(sorted(ops, key=lambda op: op._id), (), ys, True)
    root = raising.frames.root
    scope = _Present(raising, graph, None)
    Block(raising, scope, raising.guards.units[root], raising.fetched).build()
    merges = [op for op in root.ops if op.type in MERGES]
    for op in [*merges, *(op for frame in root.children for op in frame.exits)]:
        for tensor in op.outputs:
            made = scope.values.get(raising.guards.sources.get(tensor))
            if made is not None and made is not tensor:
                graph.sources[tensor] = made
    note_change(graph)


class Scope:
    """One graph that is being built, and what stands in it for sources of the original graph."""

    def __init__(self, raised: _Raising, graph: Graph, around: Scope | None):
        self.raised, self.graph, self.around = raised, graph, around
        self.values: dict[Source, Tensor] = {}
        self.nodes: dict[Unit, Operation] = {}      # what has been built of a unit

    def inner(self, name: str) -> Scope:
        """The scope of a function that is called from here."""
        graph = FunctionGraph(name, self.graph)
        graph._names.scope = ""
        return Scope(self.raised, graph, self)

    def value(self, source: Source) -> Tensor:
        """What stands here for a source, which something around this scope has made."""
        scope: Scope | None = self
        while scope is not None:
            found = scope.values.get(source)
            if found is not None:
                return found if found.op.graph is self.graph else self.graph.capture(found)
            scope = scope.around
        raise KeyError(source)

    def tensor(self, tensor: Tensor) -> Tensor:
        """What stands here for a tensor of the original graph."""
        return self.value(self.raised.guards.sources[tensor])

    def add_feed(self, tensor: Tensor) -> Tensor:
        """What is fed in place of a tensor."""
        op = tensor.op
        if not op.inputs and (op.type == "Placeholder" or tensor.dtype._is_ref_dtype):
            made = self._add(op, [], dict(op.attrs), [t._shape for t in op.outputs], []).outputs[tensor.value_index]
        else:
            dtype = tensor.dtype.base_dtype
            attrs = {"dtype": dtype, "shape": tensor._shape}
            made = self.graph.add_op(lookup("Placeholder"), "Placeholder", self._unique(op.name), [], attrs, [dtype],
                                     [tensor._shape], []).outputs[0]
        self.values[tensor] = made
        return made

    # -- copies of operations

    def copy(self, op: Operation, waits: list[Operation]) -> None:
        """Adds a copy of `op`, which waits for operations of this graph."""
        inputs = [self.tensor(t) for t in op.inputs]
        known = self._stacked(op, inputs)
        if known is not None:
            self.values[op.outputs[0]] = known
            return
        attrs = dict(op.attrs)
        if op.opdef is not None and op.opdef.calls:
            offset = first_argument(op)
            for name in op.opdef.calls:
                value = attrs[name]
                made = [FunctionCopy(self, f, inputs[offset:]).graph if isinstance(f, FunctionGraph) else f
                        for f in (value if isinstance(value, list) else [value])]
                attrs[name] = made if isinstance(value, list) else made[0]
        made_op = self._add(op, inputs, attrs, self._shapes(op, inputs, attrs), waits)
        if op.opdef is not None and op.opdef.calls:
            notes(made_op).back_prop = notes(op).back_prop
        for theirs, mine in zip(op.outputs, made_op.outputs):
            self.values.setdefault(theirs, mine)
        self.nodes[op] = made_op

    def _stacked(self, op: Operation, inputs: list[Tensor]) -> Tensor | None:
        """What stands for a push or pop, where the value is the same each time: the stack is then not needed."""
        stack = self.raised.stack_of(op)
        if stack is None:
            return None
        if op.type in PUSHES:
            value = constant_value(inputs[1])
            stack.values[op] = value if value is not None and value.size <= _SMALL else None
            stack.shapes[op] = inputs[1]._shape
            return None if stack.values[op] is None or stack.pushes > 1 else inputs[1]
        found = list(stack.values.values())
        if len(found) != 1 or stack.pushes > 1 or found[0] is None:
            return None
        with self.graph.as_default():
            return lookup("Const").builder(value=found[0], dtype=op.outputs[0].dtype, name=op.name)

    def _shapes(self, op: Operation, inputs: list[Tensor], attrs: dict[str, Any]) -> list:
        """The static shapes of a copy: what was known, and what more is known of the inputs here."""
        known = [t._shape for t in op.outputs]
        stack = self.raised.stack_of(op)
        if stack is not None and stack.shapes:
            return [functools.reduce(_wider, stack.shapes.values())]
        if op.opdef is None or all(s is not None and None not in s for s in known):
            return known
        try:
            found = build.infer_shapes(op.opdef, op.name, inputs, attrs, len(known))
        except ValueError:
            return known            # the run will tell, with the values
        return [shapes.merge(a, b) if shapes.compatible(a, b) else a for a, b in zip(known, found)]

    def _add(self, op: Operation, inputs: list[Tensor], attrs: dict[str, Any], output_shapes: list,
             waits: list[Operation]) -> Operation:
        made = self.graph.add_op(op.opdef, op.type, self._unique(op.name), inputs, attrs, [t.dtype for t in op.outputs],
                                 output_shapes, waits)
        made._frames, made._device, made.annotations = op._frames, op._device, op.annotations
        made._gradient_function = op._gradient_function
        made.replays = op.replays
        made.origin = op.origin or op
        for mine, theirs in zip(made.outputs, op.outputs):
            mine._handle_data = getattr(theirs, "_handle_data", None)
        return made

    def _unique(self, name: str) -> str:
        if name not in self.graph._nodes_by_name:
            self.graph._names.reserve(name)
            return name
        return self.graph.unique_name(name)


class _Present(Scope):
    """The original graph itself, in which loops and decisions are built beside what is there."""

    def copy(self, op: Operation, waits: list[Operation]) -> None:
        self.values.update((t, t) for t in op.outputs)
        self.nodes[op] = op


class FunctionCopy(Scope):
    """A function that an operation calls, for the copy of that operation in the graph of `around`."""

    def __init__(self, around: Scope, function: FunctionGraph, inputs: list[Tensor]):
        copy = FunctionGraph(function.name, around.graph)
        copy._names.scope = ""
        super().__init__(around.raised, copy, around)
        captured = set(function.captures.values())
        for theirs, tensor in zip(function.inputs, inputs):
            if is_state(theirs):
                mine = copy._state(tensor) if tensor not in copy.captures else copy.captures[tensor]
            else:
                mine = copy._placeholder(theirs.dtype, theirs._shape, theirs.op.name)
            if theirs in captured:
                copy.captures[tensor] = mine
            self.values[theirs] = mine
            copy.inputs.append(mine)
        given = {t.op for t in function.inputs}
        for op in sorted_by(function._nodes_by_id, lambda op: [*(t.op for t in op.inputs), *op.control_inputs],
                            lambda op: op._id):
            if op not in given:
                self.copy(op, [self.nodes[c] for c in op.control_inputs if c in self.nodes])
        copy.outputs = [self.values[t] for t in function.outputs]
        copy.control_outputs = [self.nodes[op] for op in function.control_outputs]

    def tensor(self, tensor: Tensor) -> Tensor:
        return self.values[tensor]

    def _shapes(self, op: Operation, inputs: list[Tensor], attrs: dict[str, Any]) -> list:
        return [t._shape for t in op.outputs]


class Block:
    """Units that are built in one graph: those with the guard `prefix`, and behind further decisions, all others.

    `units` are in order; `wanted` are sources that are used outside of it.
    """

    def __init__(self, raised: _Raising, scope: Scope, units: Sequence[Unit], wanted: Iterable[Source],
                 prefix: tuple = ()):
        self.raised, self.guards, self.scope = raised, raised.guards, scope
        self.units, self.prefix = list(units), prefix
        self.wanted = set(wanted)
        self.here = set(self.units)
        self.needs = {unit: self._needs(unit) for unit in self.units}
        self.waits = {unit: [w for w in self._waits(unit)] for unit in self.units}
        self.level: dict[Unit, int] = {}
        self.groups: dict[tuple[Source, int], Group] = {}
        self.place: dict[Unit, Any] = {}        # the operation, the loop or the Group that a unit is built with
        for unit in self.units:
            self._assign(unit)

    # -- what a unit depends on

    def _needs(self, unit: Unit) -> list[Source]:
        """The sources that a unit reads, and those of the predicates it depends on in here."""
        sources = self.guards.sources
        if isinstance(unit, Choice):
            found = [*unit.sources.values(), *(n for n in unit.numbers.values() if not isinstance(n, int)),
                     unit.pred]
        elif isinstance(unit, Frame):
            found = [sources[t] for enter in unit.enters for t in enter.inputs]
        else:
            found = [sources[t] for t in unit.inputs]
        found += [pred for pred, _ in self._rest(unit)]
        return list(dict.fromkeys(found))

    def _waits(self, unit: Unit) -> list[Unit]:
        if isinstance(unit, Frame):
            found = [w for enter in unit.enters for w in self.guards.waits(enter)]
        else:
            found = self.guards.waits(unit.merge if isinstance(unit, Choice) else unit)
        return [w for w in dict.fromkeys(found) if w is not unit]

    def _rest(self, unit: Unit) -> tuple:
        """The decisions that a unit depends on behind the prefix."""
        taken = set(self.prefix)
        return tuple(item for item in self.guards.guard[unit] or () if item not in taken)

    def _behind(self, unit: Unit) -> list[Unit]:
        """The units of this block that `unit` depends on."""
        producers = self.guards.producers
        found = [producers.get(source) for source in self.needs[unit]]
        return [u for u in [*found, *self.waits[unit]] if u in self.here]

    # -- which If a unit belongs to

    def _assign(self, unit: Unit) -> None:
        """Chooses the If of a unit, so that no two of them depend on each other: one for a predicate and a level."""
        rest = self._rest(unit)
        pred = rest[0][0] if rest else unit.pred if isinstance(unit, Choice) else None
        level = 0
        for other in self._behind(unit):
            theirs = self._rest(other)
            apart = bool(theirs) and theirs[0][0] != pred
            level = max(level, self.level[other] + apart)
        self.level[unit] = level
        if pred is None:
            self.place[unit] = unit
            return
        group = self.groups.get((pred, level))
        if group is None:
            group = self.groups[pred, level] = Group(pred)
        self.place[unit] = group
        if rest:
            group.sides[rest[0][1]].append(unit)
        else:
            group.choices.append(unit)
            self.level[unit] = level + 1        # what uses it comes after the If

    # -- building

    def build(self) -> None:
        """Adds everything to the graph of the scope."""
        places = list(dict.fromkeys(self.place[unit] for unit in self.units))
        before: dict[Any, set] = {place: set() for place in places}
        for unit in self.units:
            place = self.place[unit]
            before[place].update(p for u in self._behind(unit) if (p := self.place[u]) is not place)
        self.users: dict[Source, set] = {}
        for unit in self.units:
            for source in self.needs[unit]:
                self.users.setdefault(source, set()).add(unit)
        for place in sorted_by(places, before.__getitem__, _position):
            if isinstance(place, Group):
                self._build_group(place)
            elif isinstance(place, Frame):
                Loop(self.raised, self.scope, place).build(self._waiting([place]))
            else:
                self.scope.copy(place, self._waiting([place]))

    def _waiting(self, units: Iterable[Unit]) -> list[Operation]:
        """The operations of this graph that a node made of `units` has to wait for, besides those it reads."""
        found: dict[Operation, None] = {}
        for unit in units:
            for other in self.waits[unit]:
                node = self.scope.nodes.get(other)
                if node is not None:
                    found[node] = None
        return list(found)

    def _build_group(self, group: Group) -> None:
        scope = self.scope
        exports: list[Source] = []
        for side in group.sides.values():
            members = set(side)
            for source, unit in self._made_by(side):
                used = any(user not in members and user not in group.choices for user in self.users.get(source, ()))
                if used or source in self.wanted or any(user in group.choices and not _reads(user, side, source, self)
                                                        for user in self.users.get(source, ())):
                    exports.append(source)
        results = [r for choice in group.choices for r in (choice.value, choice.number)
                   if r in self.users or r in self.wanted or self.raised.complete]
        graphs = []
        for branch in (True, False):
            inside = scope.inner("true" if branch else "false")
            taken = [self._taken(result, branch) for result in results]
            side, wanted = group.sides[branch], {*exports, *(s for s in taken if not isinstance(s, int))}
            Block(self.raised, inside, side, wanted, (*self.prefix, (group.pred, branch))).build()
            made = {source for source, _ in self._made_by(side)}
            graph = inside.graph
            graph.outputs = [_number(inside, s) if isinstance(s, int) else inside.value(s) for s in taken]
            graph.outputs += [inside.value(s) if s in made else self._stand_in(inside, s) for s in exports]
            graph.outputs = [_plain(graph, t) for t in graph.outputs]
            graph.control_outputs = sinks(graph, graph.outputs)
            graphs.append(graph)
        units = [*group.sides[True], *group.sides[False], *group.choices]
        name = next((u.name for u in [*group.choices, *units]), "If")
        with scope.graph.as_default(), scope.graph.control_dependencies(self._waiting(units)):
            node = make_branching(scope.value(group.pred), graphs, name)
        node._frames = next((op._frames for op in map(_operation, units)), node._frames)
        scope.values.update(zip([*results, *exports], node.outputs))
        scope.nodes.update(dict.fromkeys(units, node))

    def _made_by(self, units: list[Unit]) -> list[tuple[Source, Unit]]:
        found: list[tuple[Source, Unit]] = []
        for unit in units:
            if isinstance(unit, Choice):
                found += [(unit.value, unit), (unit.number, unit)]
            else:
                ops = unit.exits if isinstance(unit, Frame) else [unit]
                found += [(t, unit) for op in ops for t in op.outputs if self.guards.producers.get(t) is unit]
        return found

    def _taken(self, result: Any, branch: bool) -> Any:
        """What a result of an If is in one branch: a source, or a number."""
        choice, what = result
        return (choice.sources if what == "value" else choice.numbers)[branch]

    def _stand_in(self, scope: Scope, source: Source) -> Tensor:
        """What a branch gives for a tensor that only the other one has."""
        tensor = source if isinstance(source, Tensor) else source[0].merge.outputs[source[1] == "number"]  # type: ignore
        dtype, shape = tensor.dtype.base_dtype, tensor._shape
        with scope.graph.as_default():
            if source in self.raised.fetched:
                return absent(dtype=dtype, shape=shape, message=_no_value(tensor))
            known = shape is not None and None not in shape
            if known and np.prod(shape) <= 1 and dtype.name not in ("string", "resource", "variant"):
                return lookup("Const").builder(value=np.zeros(shape, dtype.as_numpy_dtype), dtype=dtype)
            return absent(dtype=dtype, shape=shape, message="")


class Group:
    """What becomes one If: the units on either side of a predicate, and the Merges that choose between them."""

    def __init__(self, pred: Source):
        self.pred = pred
        self.sides: dict[bool, list[Unit]] = {True: [], False: []}
        self.choices: list[Choice] = []


class Loop:
    """What becomes one While."""

    def __init__(self, raised: _Raising, scope: Scope, frame: Frame):
        self.raised, self.scope, self.frame = raised, scope, frame
        guards = raised.guards
        self.units = guards.units[frame]
        assert frame.condition is not None
        self.holds = guards.sources[frame.condition.inputs[0]]
        self.following = [self._following(op) for _, _, op in frame.variables]
        tests = self._closure([self.holds], [])
        condition = set(tests)
        rest = [unit for unit in self.units if unit not in condition]
        body = set(self._closure(self.following, rest))
        self.tests = [unit for unit in self.units if unit in condition]
        self.steps = [unit for unit in self.units if unit in body]

    def _following(self, op: Operation) -> Source:
        found = self.raised.guards.sources.get(op.inputs[0])
        if found is None or self.raised.guards.tensor_guards[op.inputs[0]]:
            raise InvalidArgumentError(None, op, f"node {op.name} (op: '{op.type}') hands a value to the next iteration "
                                       f"that is not there in each one: {op.inputs[0].name} lies in a branch that may not "
                                       "be taken")
        return found

    def _closure(self, sources: Iterable[Source], units: list[Unit]) -> list[Unit]:
        """`units`, what makes `sources`, and all they depend on."""
        everything = Block(self.raised, self.scope, self.units, ())
        made = {self.raised.guards.producers.get(source) for source in sources}
        stack = [*units, *(unit for unit in made if unit in everything.here)]
        found: dict[Unit, None] = {}
        while stack:
            unit = stack.pop()
            if unit not in found:
                found[unit] = None
                stack.extend(everything._behind(unit))
        return list(found)

    def build(self, waits: list[Operation]) -> None:
        """Adds the While, which waits for operations of its graph."""
        frame, scope = self.frame, self.scope
        first = [_plain(scope.graph, scope.tensor(enter.inputs[0])) for _, enter, _ in frame.variables]
        stated = [t._shape for t in first]
        for attempt in range(_ATTEMPTS):
            body = self._function("body", stated, self.steps, self.following)
            found = [t._shape for t in body.outputs]
            if all(_within(a, b) for a, b in zip(stated, found)):
                break
            stated = [a if _within(a, b) else None if attempt == _ATTEMPTS - 2 else _wider(a, b)
                      for a, b in zip(stated, found)]
        cond = self._function("cond", stated, self.tests, [self.holds])
        with scope.graph.as_default(), scope.graph.control_dependencies(waits):
            node = make_while(first, cond, body, frame.name or "While", frame.enters[0].attrs["parallel_iterations"])
        node._frames = frame.enters[0]._frames
        scope.nodes[frame] = node
        numbers = {merge.outputs[0]: k for k, (merge, _, _) in enumerate(frame.variables)}
        for op in frame.exits:
            scope.values[op.outputs[0]] = self._final(op, node, numbers)

    def _final(self, op: Operation, node: Operation, numbers: dict) -> Tensor:
        """What a loop variable is in the end."""
        guards = self.raised.guards
        data = guards.last.get(op.inputs[0])
        source = None if data is None else guards.sources.get(data)
        if source in numbers:
            return node.outputs[numbers[source]]
        try:
            return self.scope.value(source)     # what no iteration changes
        except KeyError:
            raise InvalidArgumentError(None, op, f"node {op.name} (op: '{op.type}') must read the last value of a loop "
                                       f"variable, from the Switch of the loop '{self.frame.name}', but reads "
                                       f"{op.inputs[0].name}") from None

    def _function(self, name: str, stated: list, units: list[Unit], results: list[Source]) -> FunctionGraph:
        scope = self.scope.inner(name)
        graph = scope.graph
        assert isinstance(graph, FunctionGraph)
        for (merge, enter, _), shape in zip(self.frame.variables, stated):
            scope.values[merge.outputs[0]] = graph.add_input(enter.outputs[0].dtype, shape, merge.name)
        Block(self.raised, scope, units, results).build()
        graph.outputs = [_plain(graph, scope.value(source)) for source in results]
        graph.control_outputs = sinks(graph, graph.outputs)
        return graph


def sinks(graph: Graph, outputs: Sequence[Tensor]) -> list[Operation]:
    """The operations that nothing depends on: those that run for their effects."""
    used = {tensor.op for tensor in outputs}
    for op in graph._nodes_by_id:
        used.update(op.control_inputs)
        used.update(tensor.op for tensor in op.inputs)
    given = {t.op for t in getattr(graph, "inputs", ())}
    return [op for op in graph._nodes_by_id if op not in used and op not in given and op.type not in ("Const", "NoOp")
            or op.type == "NoOp" and op not in used and op.control_inputs]


def _plain(graph: Graph, tensor: Tensor) -> Tensor:
    """A tensor as the result of a function: not a reference."""
    if not tensor.dtype._is_ref_dtype:
        return tensor
    with graph.as_default():
        return lookup("Identity").builder(tensor)


def _number(scope: Scope, number: int) -> Tensor:
    with scope.graph.as_default():
        return lookup("Const").builder(value=np.array(number, np.int32), dtype=dtypes.int32)


def _reads(choice: Choice, side: list[Unit], source: Source, block: Block) -> bool:
    """Whether a Choice of the If takes a source from the side that makes it."""
    unit = block.guards.producers[source]
    branch = block._rest(unit)[0][1]
    return source in (choice.sources[branch], choice.numbers[branch])


def _operation(unit: Unit) -> Operation:
    """An operation that a unit was made of."""
    return unit.enters[0] if isinstance(unit, Frame) else unit.merge if isinstance(unit, Choice) else unit


def _position(place: Any) -> int:
    """The number of the operation of a node that was created first."""
    if isinstance(place, Group):
        return min(_position(unit) for unit in [*place.sides[True], *place.sides[False], *place.choices])
    if isinstance(place, Frame):
        return place.first
    return place.merge._id if isinstance(place, Choice) else place._id


def _within(general: Any, special: Any) -> bool:
    """Whether every value of the one shape has the other."""
    return general is None or special is not None and len(general) == len(special) and all(
        g is None or g == s for g, s in zip(general, special))


def _wider(a: Any, b: Any) -> Any:
    """What two shapes have in common."""
    if a is None or b is None or len(a) != len(b):
        return None
    return tuple(x if x == y else None for x, y in zip(a, b))


def _no_value(tensor: Tensor) -> str:
    return f"Retval does not have value: {tensor.name} lies in a branch that was not taken"


