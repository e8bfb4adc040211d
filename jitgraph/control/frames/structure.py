"""The frames of a dataflow graph: which loop each operation runs in.

An Enter leads into a frame, an Exit out of it; every other operation runs in the frame of what it reads.  Frames are
told apart by where they are entered from, by their name, and by connection: a file that is imported twice has two loops
of the same name.
"""
from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Iterable
from typing import Any

from jitgraph.graph.errors import InvalidArgumentError
from jitgraph.graph.operation import Operation
from jitgraph.graph.tensor import Tensor

SWITCHES = ("Switch", "RefSwitch")
MERGES = ("Merge", "RefMerge")
ENTERS = ("Enter", "RefEnter")
EXITS = ("Exit", "RefExit")
NEXT_ITERATIONS = ("NextIteration", "RefNextIteration")
FRAME_OPS = frozenset([*SWITCHES, *MERGES, *ENTERS, *EXITS, *NEXT_ITERATIONS, "LoopCond"])

_Path = tuple[str, ...]


class Frame:
    """A loop: its operations, and what leads in and out.  The outermost frame, of no loop, has no parent.

    ``ops``: the operations whose results are in this frame, its Enters among them but not the Exits of loops inside.
    ``variables``: (Merge, Enter, NextIteration) of each loop variable.  ``condition``: the LoopCond.
    """

    def __init__(self, name: str, parent: Frame | None):
        self.name, self.parent = name, parent
        self.ops: list[Operation] = []
        self.enters: list[Operation] = []
        self.exits: list[Operation] = []
        self.children: list[Frame] = []
        self.variables: list[tuple[Operation, Operation, Operation]] = []
        self.condition: Operation | None = None
        if parent is not None:
            parent.children.append(self)

    @property
    def first(self) -> int:
        """The number of the operation of it that was created first."""
        return min(op._id for op in self.enters)


def stands_for(op: Operation) -> Tensor | None:
    """The tensor that a Merge or Exit of a graph stands for, once that has been raised for its gradient."""
    return op.graph.sources.get(op.outputs[0]) if op.type in MERGES or op.type in EXITS else None


def sources_of(op: Operation) -> list[Tensor]:
    """The tensors that the values of an operation are made from."""
    other = stands_for(op)
    return op.inputs if other is None else [other]


def is_back_edge(op: Operation, tensor: Tensor) -> bool:
    """Whether `tensor`, an input of `op`, comes from an earlier iteration."""
    return op.type in MERGES and tensor.op.type in NEXT_ITERATIONS


class Frames:
    """The frames of `ops`, in which tensors of `feeds` are given.

    ``root`` is the outermost frame, ``home`` tells the frame that the results of an operation are in.  Raises
    InvalidArgumentError for graphs that cannot be executed: cycles, inputs from different frames, loops that are not
    complete.
    """

    def __init__(self, ops: Iterable[Operation], feeds: Collection[Tensor]):
        self.ops = list(ops)
        self.feeds = feeds
        self.members = set(self.ops)
        self.root = Frame("", None)
        self.home: dict[Operation, Frame] = {}
        order = sorted_by(self.ops, self.before, lambda op: op._id)
        paths: dict[Operation, _Path] = {}
        for op in order:
            paths[op] = self._path(op, paths)
        for op in order:
            for tensor in sources_of(op):
                if is_back_edge(op, tensor) and tensor not in feeds and paths[tensor.op] != paths[op]:
                    _differ(op, [(op, paths[op]), (tensor.op, paths[tensor.op])])
        self._collect(order, paths)
        for frame in self.frames():
            if frame.parent is not None:
                _complete(frame, feeds)

    def frames(self) -> list[Frame]:
        """All frames, each after the one around it."""
        found = [self.root]
        for frame in found:
            found.extend(frame.children)
        return found

    def before(self, op: Operation) -> list[Operation]:
        """The operations that `op` waits for in an iteration."""
        found = [t.op for t in sources_of(op) if t not in self.feeds and not is_back_edge(op, t)]
        return [source for source in [*found, *op.control_inputs] if source in self.members]

    def leaves(self, op: Operation) -> bool:
        """Whether an operation takes a value out of a loop."""
        return op.type in EXITS and stands_for(op) is None

    # -- which frame

    def _path(self, op: Operation, paths: dict[Operation, _Path]) -> _Path:
        """The names of the frames around the results of an operation, outermost first."""
        found = {paths[source]: source for source in self.before(op)}
        if len(found) > 1:
            _differ(op, [(source, path) for path, source in found.items()])
        path = next(iter(found), ())
        if op.type in ENTERS:
            return (*path, op.attrs["frame_name"])
        if self.leaves(op):
            if not path:
                raise invalid_at(op, f"node {op.name} (op: '{op.type}') leaves a frame, but none was entered")
            return path[:-1]
        return path

    def _collect(self, order: list[Operation], paths: dict[Operation, _Path]) -> None:
        groups = self._connected(order, paths)
        frames: dict[Any, Frame] = {}
        for op in sorted(order, key=lambda op: len(paths[op])):     # the frames around a frame come first
            path = paths[op]
            if not path:
                self.home[op] = self.root
            elif op.type in ENTERS:
                key = groups.find(op)
                if key not in frames:
                    around = self.before(op)
                    frames[key] = Frame(path[-1], self.home[around[0]] if around else self.root)
                self.home[op] = frames[key]
            else:
                self.home[op] = frames.get(groups.find(op), self.root)
        for op in order:
            frame = self.home[op]
            if self.leaves(op):
                inside = self.home[self.before(op)[0]]
                inside.exits.append(op)
                continue
            frame.ops.append(op)
            if op.type in ENTERS:
                frame.enters.append(op)

    def _connected(self, order: list[Operation], paths: dict[Operation, _Path]) -> _Groups:
        """Groups the operations of the same path that data or control connects, in the frame or through loops in it."""
        groups = _Groups()
        for depth in range(max((len(p) for p in paths.values()), default=0), 0, -1):
            through: dict[Any, Any] = {}
            for op in order:
                sources = [*self.before(op), *(t.op for t in op.inputs if is_back_edge(op, t) and t.op in self.members)]
                for source in sources:
                    deep, shallow = len(paths[source]), len(paths[op])
                    if deep == shallow == depth:
                        groups.join(source, op)
                    elif {deep, shallow} == {depth, depth + 1}:     # a loop inside: its Enters and Exits
                        inner, outer = (source, op) if deep > shallow else (op, source)
                        groups.join(through.setdefault(groups.find(inner), outer), outer)
        return groups


class _Groups:
    """Disjoint sets."""

    def __init__(self) -> None:
        self._above: dict[Any, Any] = {}

    def find(self, item: Any) -> Any:
        path = []
        while (above := self._above.get(item, item)) is not item:
            path.append(item)
            item = above
        for one in path:
            self._above[one] = item
        return item

    def join(self, a: Any, b: Any) -> None:
        self._above[self.find(a)] = self.find(b)


def sorted_by(items: Iterable[Any], before: Callable[[Any], Iterable[Any]], key: Callable[[Any], int]) -> list[Any]:
    """`items` such that each comes after those in ``before(item)``, by `key` where that leaves a choice.

    Raises InvalidArgumentError if there is a cycle.
    """
    items = list(items)
    waits: dict[Any, int] = {}
    users: dict[Any, list] = {}
    for item in items:
        sources = set(before(item))
        waits[item] = len(sources)
        for source in sources:
            users.setdefault(source, []).append(item)
    ready = [(key(item), k, item) for k, item in enumerate(items) if not waits[item]]
    heapq.heapify(ready)
    order: list[Any] = []
    while ready:
        _, _, item = heapq.heappop(ready)
        order.append(item)
        for user in users.get(item, ()):
            waits[user] -= 1
            if not waits[user]:
                heapq.heappush(ready, (key(user), len(items) + len(order), user))
    if len(order) != len(items):
        stuck = [item for item in items if waits[item]]
        names = ", ".join(f"'{getattr(item, 'name', item)}'" for item in stuck[:5])
        raise invalid_at(next((i for i in stuck if isinstance(i, Operation)), None), f"The graph has a cycle through {names}")
    return order


# -- loops that are not complete ---------------------------------------------------------------------------------------

def _complete(frame: Frame, feeds: Collection[Tensor]) -> None:
    """Fills in the variables and the condition of a loop.  Raises InvalidArgumentError if it is not one."""
    conditions = [op for op in frame.ops if op.type == "LoopCond"]
    if len(conditions) != 1:
        where = conditions[1] if conditions else frame.enters[0]
        raise invalid_at(where, f"the frame '{frame.name}' has {len(conditions) or 'no'} LoopCond nodes"
                              + (": " + ", ".join(op.name for op in conditions) if conditions else
                                 f" (it is entered by {frame.enters[0].name}), so that it is not a loop"))
    frame.condition = conditions[0]
    nexts = set()
    for op in frame.ops:
        if op.type not in MERGES or not any(is_back_edge(op, t) for t in op.inputs):
            continue
        if len(op.inputs) != 2:
            raise invalid_at(op, f"node {op.name} (op: '{op.type}') begins a loop variable and must have 2 inputs, an Enter "
                               f"and a NextIteration, but has {len(op.inputs)}")
        first, following = op.inputs
        if first.op.type in NEXT_ITERATIONS:
            first, following = following, first
        if first.op.type not in ENTERS or first in feeds or following in feeds or following.op.type not in NEXT_ITERATIONS:
            raise invalid_at(op, f"node {op.name} (op: '{op.type}') begins a loop variable and must read an Enter and a "
                               f"NextIteration, but reads {first.name} and {following.name}")
        frame.variables.append((op, first.op, following.op))
        nexts.add(following.op)
    begins = {op for op, _, _ in frame.variables}
    for op in frame.ops:
        other = next((t for t in op.inputs if t.op.type in NEXT_ITERATIONS and t not in feeds), None)
        if other is not None and op not in begins:
            raise invalid_at(op, f"node {op.name} (op: '{op.type}') reads {other.name}, which only the Merge of a loop variable "
                               "can do")
        if op.type in NEXT_ITERATIONS and op not in nexts:
            raise invalid_at(op, f"node {op.name} (op: '{op.type}') hands a value to an iteration that does not take it: no "
                               "Merge reads it")


def _differ(op: Operation, found: list[tuple[Operation, _Path]]) -> None:
    (a, path_a), (b, path_b) = found[:2]
    raise invalid_at(op, f"node {op.name} (op: '{op.type}') has inputs from different frames. The input node {a.name} is in "
                       f"frame '{'/'.join(path_a)}'. The input node {b.name} is in frame '{'/'.join(path_b)}'.")


def invalid_at(op: Operation | None, text: str) -> InvalidArgumentError:
    """The error for a graph whose frames and decisions cannot be told."""
    return InvalidArgumentError(None, op, text)
