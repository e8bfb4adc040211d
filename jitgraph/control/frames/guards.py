"""Under which conditions each operation of a frame runs: what Switch, Merge and dead tensors mean.

A Switch hands its data to one of two sides, the other side is *dead*: what reads a dead tensor, or waits for a dead
operation, does not run either.  The *guard* of an operation is the path of decisions, (predicate, branch) from the
outermost to the innermost, that must have been taken for it to run.  A Merge of two sides of one decision undoes it: it
becomes a ``Choice``.
"""
from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

from jitgraph.control.frames.structure import (
    ENTERS,
    EXITS,
    MERGES,
    NEXT_ITERATIONS,
    SWITCHES,
    Frame,
    Frames,
    invalid_at,
    sorted_by,
    stands_for,
)
from jitgraph.graph.errors import InvalidArgumentError
from jitgraph.graph.operation import Operation
from jitgraph.graph.tensor import Tensor

Unit = Any          # what is built as one: an Operation, a Frame (a loop), a Choice, or what is Seen
Source = Hashable   # where a value comes from: a tensor of an operation, an output of a Choice, the number that it is, or Missing
Guard = tuple[tuple[Source, bool], ...]


@dataclass(eq=False)
class Choice:
    """A Merge, or a part of one with more than two inputs: the source of one side or of the other.

    ``sources`` and ``numbers``: for each branch (False, True), the source of the value, and that of the number of the
    Merge's input that it is; a number is an int where it is known.
    """

    merge: Operation
    pred: Source
    guard: Guard
    sources: dict[bool, Source]
    numbers: dict[bool, Any]

    @property
    def value(self) -> Source:
        return self, "value"

    @property
    def number(self) -> Source:
        return self, "number"

    @property
    def name(self) -> str:
        return self.merge.name


@dataclass(eq=False)
class Seen:
    """A fetched tensor of a branch, which is there if the branch is taken, wherever its value comes from."""

    tensor: Tensor

    @property
    def name(self) -> str:
        return self.tensor.op.name


@dataclass(frozen=True, eq=False)
class Missing:
    """The value of an output of a Merge none of whose inputs is there: an error for who looks at it."""

    tensor: Tensor


def joined(guards: Iterable[Guard | None]) -> Guard | None:
    """The guard of what needs several things; None if they are never there together."""
    found: Guard = ()
    for guard in guards:
        if guard is None:
            return None
        if len(guard) > len(found):
            found, guard = guard, found
        for pred, branch in guard:
            if (pred, not branch) in found:
                return None
            if (pred, branch) not in found:
                found = (*found, (pred, branch))
    return found


class Guards:
    """The guards of everything in `frames`, and where values come from once Switch, Merge and Enter are seen through.

    ``units[frame]``: what is built in a frame, in order; ``guard[unit]``; ``sources[tensor]``: the source of its value
    (tensors that are never there have none); ``tensor_guards[tensor]``; ``producers[source]``: the unit that makes it;
    ``last[tensor]``: for the side of a loop's Switch that leaves the loop, the Switch's data.  Raises
    InvalidArgumentError for Merges that no decision explains.
    """

    def __init__(self, frames: Frames):
        self.frames = frames
        self.units: dict[Frame, list[Unit]] = {}
        self.guard: dict[Unit, Guard | None] = {}
        self.sources: dict[Tensor, Source] = {}
        self.tensor_guards: dict[Tensor, Guard | None] = {}
        self.producers: dict[Source, Unit] = {}
        self.last: dict[Tensor, Tensor] = {}
        self._effects: dict[Operation, dict[Unit, None]] = {}
        self._asked_first: dict[tuple, Tensor] = {}
        for tensor in frames.feeds:
            self.sources[tensor], self.tensor_guards[tensor] = tensor, ()
        self._known: dict[Frame, Guard] = {frames.root: ()}
        for frame in frames.frames():
            if frame.parent is not None:
                own = self.guard.get(frame)
                if own is None:             # never entered
                    self.units[frame] = []
                    continue
                self._known[frame] = (*self._known[frame.parent], *own)
            self._visit(frame)

    def _visit(self, frame: Frame) -> None:
        nodes: list[Any] = [*frame.ops, *frame.children]
        units: list[Unit] = []
        variables = {merge for merge, _, _ in frame.variables}
        self.units[frame] = units
        for node in sorted_by(nodes, lambda node: self._before(node, frame),
                              lambda node: node.first if isinstance(node, Frame) else node._id):
            if isinstance(node, Frame):
                self._loop(node, units)
            elif stands_for(node) is not None:
                self._raised_before(node)
            elif node in variables or node.type in ENTERS:
                self._entering(node)
            elif node.type in SWITCHES:
                self._switch(node, frame)
            elif node.type in MERGES:
                self._merge(node, units)
            elif node.type == "LoopCond":
                self.guard[node] = self.tensor_guards[node.outputs[0]] = joined(self._needs(node))
                self._alias(node.outputs[0], node.inputs[0])
                self._effects[node] = {}
            elif node.type not in NEXT_ITERATIONS:
                self._plain(node, units)

    def _before(self, node: Any, frame: Frame) -> list:
        """What a node of a frame waits for in the same frame: operations, and loops inside."""
        if isinstance(node, Frame):
            found = [source for enter in node.enters for source in self.frames.before(enter)]
        elif node.type in ENTERS:
            return []
        else:
            found = self.frames.before(node)
        return [self._node(source) for source in found]

    def _node(self, op: Operation) -> Any:
        return self.frames.home[self.frames.before(op)[0]] if self.frames.leaves(op) else op

    # -- nodes

    def _needs(self, op: Operation) -> list[Guard | None]:
        """The guards of all that an operation reads and waits for."""
        found = [self._guard_of(op, tensor) for tensor in op.inputs]
        found += [self._guard_of_op(c) for c in op.control_inputs if c in self.frames.members]
        return found

    def _guard_of(self, op: Operation, tensor: Tensor) -> Guard | None:
        if tensor in self.last and op.type not in EXITS:
            raise invalid_at(op, f"node {op.name} (op: '{op.type}') reads {tensor.name}, which is there only after the last "
                               "iteration of a loop: it can only leave the loop through an Exit")
        guard = self.tensor_guards.get(tensor)
        if guard is not None and tensor not in self.sources and tensor not in self.last:
            raise invalid_at(op, f"node {op.name} (op: '{op.type}') reads {tensor.name}, which has no value in an iteration")
        return guard

    def _guard_of_op(self, op: Operation) -> Guard | None:
        """The guard of the operation itself: of a Switch, that of its inputs."""
        if op in self.guard:
            return self.guard[op]
        return self.tensor_guards.get(op.outputs[0]) if op.outputs else ()

    def _entering(self, op: Operation) -> None:
        """An Enter, or the Merge of a loop variable: what the iteration starts from."""
        self.guard[op] = ()
        self.tensor_guards.update(dict.fromkeys(op.outputs, ()))
        if op.type in MERGES:
            self.sources[op.outputs[0]] = op.outputs[0]
        else:
            self._alias(op.outputs[0], op.inputs[0])
        self._effects[op] = {}

    def _alias(self, tensor: Tensor, other: Tensor) -> None:
        if other in self.sources:
            self.sources[tensor] = self.sources[other]

    def _loop(self, frame: Frame, units: list[Unit]) -> None:
        guard = self.guard[frame] = joined(need for enter in frame.enters for need in self._needs(enter))
        if guard is not None:
            units.append(frame)
        for op in frame.exits:
            self.tensor_guards[op.outputs[0]] = guard
            self.guard[op] = guard
            self._effects[op] = {frame: None}
            if guard is not None:
                self.sources[op.outputs[0]] = op.outputs[0]
                self.producers[op.outputs[0]] = frame

    def _raised_before(self, op: Operation) -> None:
        self.guard[op] = ()
        for tensor in op.outputs:
            self.tensor_guards[tensor] = ()
            if tensor in op.graph.sources:
                self._alias(tensor, op.graph.sources[tensor])

    def _switch(self, op: Operation, frame: Frame) -> None:
        data, pred = op.inputs
        guard = self.guard[op] = joined(self._needs(op))
        if pred.op.type == "LoopCond" and pred not in self.frames.feeds:
            self.tensor_guards.update(dict.fromkeys(op.outputs, guard))
            self._alias(op.outputs[1], data)
            self.last[op.outputs[0]] = data
            self._effects[op] = {}
            return
        for branch in (False, True):
            tensor = op.outputs[branch]
            if guard is None:
                self.tensor_guards[tensor] = None
                continue
            decision = self._decided(pred, branch)
            known = self._known[frame]          # a loop in a branch may ask again which branch it is in
            self.tensor_guards[tensor] = guard if decision in known else joined([known, guard, (decision,)]) and joined(
                [guard, (decision,)])
            if self.tensor_guards[tensor] is not None:
                self._alias(tensor, data)

    def _decided(self, pred: Tensor, branch: bool) -> tuple[Source, bool]:
        """The decision that `pred` is `branch`, in terms of the predicate that it is computed from."""
        source = self.sources[pred]
        while isinstance(source, Tensor) and source not in self.frames.feeds:
            op = source.op
            if op.type == "Identity" and not op.inputs[0].dtype._is_ref_dtype:
                source = self.sources[op.inputs[0]]
            elif op.type == "LogicalNot":
                source, branch = self.sources[op.inputs[0]], not branch
            else:
                same = self._asked(op) if op.type == "Equal" else None
                if same is None:
                    source = self._first_asking(source)
                    break
                source, branch = same[0], same[1] == branch
        return source, branch

    def _first_asking(self, pred: Tensor) -> Tensor:
        """Of comparisons of one value with one number, the first: programs ask anew for each tensor that they Switch."""
        value, number = pred.op.inputs if pred.op.type == "Equal" else (pred, pred)
        if number.op.type != "Const" or number.op.attrs["value"].ndim:
            return pred
        question = (self.frames.home[pred.op], self.guard.get(pred.op), self.sources.get(value), number.op.attrs["value"].item())
        return self._asked_first.setdefault(question, pred)

    def _asked(self, op: Operation) -> tuple[Source, bool] | None:
        """Of a comparison with the number of the input that a Merge took: the decision that it asks for."""
        for number, constant in (op.inputs, op.inputs[::-1]):
            source = self.sources[number]
            if isinstance(source, tuple) and source[1] == "number" and constant.op.type == "Const":
                choice, value = source[0], constant.op.attrs["value"]
                found = [branch for branch, k in choice.numbers.items() if isinstance(k, int) and value.ndim == 0 and
                         k == value]
                if len(found) == 1 and all(isinstance(k, int) for k in choice.numbers.values()):
                    return choice.pred, found[0]
        return None

    def _plain(self, op: Operation, units: list[Unit]) -> None:
        trigger = op.type == "ControlTrigger"       # waits, but runs in any case
        guard = self.guard[op] = () if trigger else joined(self._needs(op))
        self.tensor_guards.update(dict.fromkeys(op.outputs, guard))
        if guard is None or trigger:
            return
        if self.is_alias(op):
            self._alias(op.outputs[0], op.inputs[0])
            return
        units.append(op)
        for tensor in op.outputs:
            if tensor not in self.frames.feeds:
                self.sources[tensor] = tensor
                self.producers[tensor] = op

    def see(self, tensor: Tensor) -> Source | None:
        """What to look at for the value of a tensor of the outermost frame; None if it never has one."""
        if not self.tensor_guards.get(tensor):
            return self.sources.get(tensor)
        seen = Seen(tensor)
        self.guard[seen] = self.tensor_guards[tensor]
        self.producers[seen] = seen
        self.units[self.frames.root].append(seen)
        return seen

    def is_alias(self, op: Operation) -> bool:
        """Whether an operation only hands on what it reads."""
        return op.type in ("Identity", "RefIdentity") and op.inputs[0].dtype is op.outputs[0].dtype \
            and not any(self.effects(c) for c in op.control_inputs if c in self.frames.members)

    # -- Merge

    def _merge(self, op: Operation, units: list[Unit]) -> None:
        base = joined(self._guard_of_op(c) for c in op.control_inputs if c in self.frames.members)
        inputs = [(joined([base, self._guard_of(op, t)]), k) for k, t in enumerate(op.inputs)]
        sides = [(guard, self.sources[op.inputs[k]], k) for guard, k in inputs
                 if guard is not None and op.inputs[k] in self.sources]
        if not sides:
            self.guard[op] = None
            self.tensor_guards.update(dict.fromkeys(op.outputs, None))
            return
        guard, value, number = self._chosen(op, (), sides, units)
        self.guard[op] = guard
        self.tensor_guards.update(dict.fromkeys(op.outputs, guard))
        self.sources[op.outputs[0]], self.sources[op.outputs[1]] = value, number

    def _chosen(self, op: Operation, prefix: Guard, sides: list, units: list[Unit]) -> tuple[Guard, Source, Any]:
        """(guard, source of the value, source of the number) of the one of `sides` that is there, behind `prefix`."""
        for guard, source, number in sides:
            if set(guard) <= set(prefix):
                return prefix, source, number
        pred = self._decision(op, prefix, [guard for guard, _, _ in sides])
        if pred is None:
            return self._first_there(op, prefix, sides, units)
        parts = {b: [side for side in sides if (pred, b) in side[0]] for b in (False, True)}
        if not parts[False] or not parts[True]:
            branch = bool(parts[True])
            return self._chosen(op, (*prefix, (pred, branch)), sides, units)
        found = {b: self._chosen(op, (*prefix, (pred, b)), parts[b], units) for b in (False, True)}
        if any(len(guard) > len(prefix) + 1 for guard, _, _ in found.values()):
            raise _unexplained(op)
        choice = self._choice(op, pred, prefix, {b: found[b][1:] for b in found}, units)
        return prefix, choice.value, choice.number

    def _choice(self, op: Operation, pred: Source, prefix: Guard, found: dict[bool, tuple], units: list[Unit]) -> Choice:
        """One of two (source of the value, source of the number)."""
        choice = Choice(op, pred, prefix, {b: found[b][0] for b in found}, {b: found[b][1] for b in found})
        self.guard[choice] = prefix
        units.append(choice)
        self.producers[choice.value] = self.producers[choice.number] = choice
        return choice

    def _first_there(self, op: Operation, prefix: Guard, sides: list, units: list[Unit]) -> tuple[Guard, Source, Any]:
        """As `_chosen`, of sides that each depend on a decision of their own: the first that is there.

        So programs choose one of several ways by a random number: a Switch for each on whether the number is its own.
        TensorFlow takes the side that comes first in time.
        """
        (guard, source, number), *others = sides
        (pred, branch), = (item for item in guard if item not in prefix)
        missing = Missing(op.outputs[0]), Missing(op.outputs[1])
        otherwise = self._first_there(op, (*prefix, (pred, not branch)), others, units)[1:] if others else missing
        choice = self._choice(op, pred, prefix, {branch: (source, number), not branch: otherwise}, units)
        return prefix, choice.value, choice.number

    def _decision(self, op: Operation, prefix: Guard, guards: list[Guard]) -> Source | None:
        """The predicate that all sides depend on, and that is known behind `prefix`; None if each has one of its own."""
        taken = set(prefix)
        for pred, _ in guards[0]:
            if any(pred == p for p, _ in prefix):
                continue
            own = self.guard.get(self.producers.get(pred), ())
            if own is not None and set(own) <= taken and all(any(pred == p for p, _ in g) for g in guards):
                return pred
        of_each = [[pred for pred, _ in guard if all(pred != p for p, _ in prefix)] for guard in guards]
        if all(len(preds) == 1 for preds in of_each) and len({preds[0] for preds in of_each}) == len(guards):
            return None
        raise _unexplained(op)

    # -- what waiting for an operation means

    def effects(self, op: Operation) -> dict[Unit, None]:
        """The units that one waits for who waits for `op`: itself, or what is behind it if it only computes or decides."""
        stack = [op]
        while stack:
            one = stack[-1]
            if one in self._effects:
                stack.pop()
                continue
            if not self._sees_through(one):
                self._effects[one] = {one: None} if self.guard.get(one, ()) is not None else {}
                continue
            behind = self.frames.before(one)
            missing = [source for source in behind if source not in self._effects]
            if missing:
                stack.extend(missing)
                continue
            found: dict[Unit, None] = {}
            for source in behind:
                found.update(self._effects[source])
            self._effects[one] = {one: None} if one.type == "NoOp" and found else found
        return self._effects[op]

    def _sees_through(self, op: Operation) -> bool:
        if op.type in SWITCHES or op.type in MERGES or op.type in ("Const", "NoOp", "ControlTrigger"):
            return True
        if op.type in ("Identity", "RefIdentity"):
            return op.inputs[0].dtype is op.outputs[0].dtype
        opdef = op.opdef
        if opdef is not None and (opdef.placeholder or opdef.variable):
            return True
        return opdef is not None and (opdef.scalar or opdef.lower) is not None and not (
            opdef.checks or opdef.host or opdef.stateful or opdef.state or opdef.stream or opdef.dynamic)

    def waits(self, op: Operation) -> list[Unit]:
        """The units that an operation waits for besides those whose results it reads."""
        found: dict[Unit, None] = {}
        for source in op.control_inputs:
            if source in self.frames.members:
                found.update(self.effects(source))
        return list(found)


def _unexplained(op: Operation) -> InvalidArgumentError:
    return invalid_at(op, f"node {op.name} (op: '{op.type}') has inputs that do not come from the two sides of one decision, "
                        "so that it is not determined which of them it passes on")
