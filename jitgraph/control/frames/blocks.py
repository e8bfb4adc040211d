"""What runs under one guard, built in one graph: loops become While, decisions become If.

The operations behind one predicate become one If: its branches hold what runs on either side, its results are those of
the Merges, and the tensors of one side that something outside uses, for which the other side gives a stand-in that nobody
looks at.
"""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from jitgraph.control.frame_ops import absent
from jitgraph.control.frames.guards import Choice, Missing, Seen, Source, Unit
from jitgraph.control.frames.scope import Original, Scope, no_value
from jitgraph.control.frames.shapes import wider, within
from jitgraph.control.frames.structure import Frame, sorted_by
from jitgraph.control.functional_ops import make_branching, make_while
from jitgraph.graph.errors import InvalidArgumentError
from jitgraph.graph.function_graph import FunctionGraph
from jitgraph.graph.graph import Graph
from jitgraph.graph.operation import Operation
from jitgraph.graph.registry import lookup
from jitgraph.graph.tensor import Tensor

_ATTEMPTS = 4       # at the shapes of loop variables, before nothing is said about those that still change


class Block:
    """Units that are built in one graph: those with the guard `prefix`, and behind further decisions, all others.

    `units` are in order; `wanted` are sources that are used outside of it.
    """

    def __init__(self, original: Original, scope: Scope, units: Sequence[Unit], wanted: Iterable[Source],
                 prefix: tuple = ()):
        self.original, self.guards, self.scope = original, original.guards, scope
        self.units, self.prefix = list(units), prefix
        self.wanted = set(wanted)
        self.here = set(self.units)
        taken = set(prefix)
        # the decisions that a unit depends on behind the prefix
        self.rest = {unit: tuple(item for item in self.guards.guard[unit] or () if item not in taken)
                     for unit in self.units}
        self.needs = {unit: self._needs(unit) for unit in self.units}
        self.waits = {unit: self._waits(unit) for unit in self.units}
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
            found = [*unit.sources.values(), *unit.numbers.values(), unit.pred]
        elif isinstance(unit, Frame):
            found = [sources[t] for enter in unit.enters for t in enter.inputs]
        elif isinstance(unit, Seen):
            found = [sources[unit.tensor]]
        else:
            found = [sources[t] for t in unit.inputs]
        found += [pred for pred, _ in self.rest[unit]]
        return [source for source in dict.fromkeys(found) if not isinstance(source, (int, Missing))]

    def _waits(self, unit: Unit) -> list[Unit]:
        if isinstance(unit, Seen):
            return []
        if isinstance(unit, Frame):
            found = [w for enter in unit.enters for w in self.guards.waits(enter)]
        else:
            found = self.guards.waits(unit.merge if isinstance(unit, Choice) else unit)
        return [w for w in dict.fromkeys(found) if w is not unit]

    def _behind(self, unit: Unit) -> list[Unit]:
        """The units of this block that `unit` depends on."""
        producers = self.guards.producers
        found = [producers.get(source) for source in self.needs[unit]]
        return [u for u in [*found, *self.waits[unit]] if u in self.here]

    # -- which If a unit belongs to

    def _assign(self, unit: Unit) -> None:
        """Chooses the If of a unit, so that no two of them depend on each other: one for a predicate and a level."""
        rest = self.rest[unit]
        pred = rest[0][0] if rest else unit.pred if isinstance(unit, Choice) else None
        level = 0
        for other in self._behind(unit):
            theirs = self.rest[other]
            level = max(level, self.level[other] + (bool(theirs) and theirs[0][0] != pred))
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
                Loop(self.original, self.scope, place).build(self._waiting([place]))
            elif isinstance(place, Seen):
                self.scope.values[place] = self.scope.tensor(place.tensor)
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
        units = [*group.sides[True], *group.sides[False], *group.choices]
        members: set[Unit] = set(units)
        exports = [source for side in group.sides.values() for source in self._made_by(side)
                   if source in self.wanted or not self.users.get(source, members) <= members]
        results = [r for choice in group.choices for r in (choice.value, choice.number)
                   if r in self.users or r in self.wanted or self.original.complete]
        graphs = []
        for branch in (True, False):
            inside = scope.inner("true" if branch else "false")
            taken = [self._taken(result, branch) for result in results]
            side, wanted = group.sides[branch], {*exports, *taken}
            Block(self.original, inside, side, wanted, (*self.prefix, (group.pred, branch))).build()
            made = set(self._made_by(side))
            graph = inside.graph
            assert isinstance(graph, FunctionGraph)
            graph.outputs = [inside.value(s) for s in taken]
            graph.outputs += [inside.value(s) if s in made else self._stand_in(inside, s) for s in exports]
            graph.outputs = [_plain(graph, t) for t in graph.outputs]
            graph.control_outputs = sinks(graph, graph.outputs)
            graphs.append(graph)
        name = next((u.name for u in [*group.choices, *units]), "If")
        with scope.graph.as_default(), scope.graph.control_dependencies(self._waiting(units)):
            node = make_branching(scope.value(group.pred), graphs, name)
        node._frames = next((op._frames for op in map(_operation, units)), node._frames)
        scope.values.update(zip([*results, *exports], node.outputs))
        scope.nodes.update(dict.fromkeys(units, node))

    def _made_by(self, units: list[Unit]) -> list[Source]:
        """The sources that units make."""
        found: list[Source] = []
        for unit in units:
            if isinstance(unit, Choice):
                found += [unit.value, unit.number]
            elif isinstance(unit, Seen):
                found.append(unit)
            else:
                ops = unit.exits if isinstance(unit, Frame) else [unit]
                found += [t for op in ops for t in op.outputs if self.guards.producers.get(t) is unit]
        return found

    def _taken(self, result: Any, branch: bool) -> Any:
        """What a result of an If is in one branch: a source, or a number."""
        choice, what = result
        return (choice.sources if what == "value" else choice.numbers)[branch]

    def _stand_in(self, scope: Scope, source: Source) -> Tensor:
        """What a branch gives for a tensor that only the other one has."""
        if isinstance(source, tuple):
            tensor = source[0].merge.outputs[source[1] == "number"]
        else:
            tensor = source.tensor if isinstance(source, Seen) else source
        dtype, shape = tensor.dtype.base_dtype, tensor._shape
        with scope.graph.as_default():
            if isinstance(source, Seen):
                return absent(dtype=dtype, shape=shape, message=no_value(tensor))
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

    def __init__(self, original: Original, scope: Scope, frame: Frame):
        self.original, self.scope, self.frame = original, scope, frame
        guards = original.guards
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
        found = self.original.guards.sources.get(op.inputs[0])
        if found is None or self.original.guards.tensor_guards[op.inputs[0]]:
            raise InvalidArgumentError(None, op, f"node {op.name} (op: '{op.type}') hands a value to the next iteration "
                                       f"that is not there in each one: {op.inputs[0].name} lies in a branch that may not "
                                       "be taken")
        return found

    def _closure(self, sources: Iterable[Source], units: list[Unit]) -> list[Unit]:
        """`units`, what makes `sources`, and all they depend on."""
        everything = Block(self.original, self.scope, self.units, ())
        made = {self.original.guards.producers.get(source) for source in sources}
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
            if all(within(a, b) for a, b in zip(stated, found)):
                break
            stated = [a if within(a, b) else None if attempt == _ATTEMPTS - 2 else wider(a, b)
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
        guards = self.original.guards
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
        Block(self.original, scope, units, results).build()
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


def _operation(unit: Unit) -> Operation:
    """An operation that a unit was made of."""
    if isinstance(unit, Frame):
        return unit.enters[0]
    if isinstance(unit, Seen):
        return unit.tensor.op
    return unit.merge if isinstance(unit, Choice) else unit


def _position(place: Any) -> int:
    """The number of the operation of a node that was created first."""
    if isinstance(place, Group):
        return min(_position(unit) for unit in [*place.sides[True], *place.sides[False], *place.choices])
    return place.first if isinstance(place, Frame) else _operation(place)._id
