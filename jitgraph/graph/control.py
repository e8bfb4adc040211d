"""``control_dependencies``: the nested blocks of a graph, and what a new node therefore waits for."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jitgraph.graph.operation import Operation


# of these the first input chooses a branch; what the branches read is no reason not to wait, for it may be fed
BRANCHING = ("If", "StatelessIf", "Case")


def waited_for(item: Any) -> Any:
    """What a control edge to `item` comes from: the op of slices and of resource variables, which nothing reads for it."""
    if hasattr(item, "_handle") and hasattr(item, "op"):
        return item.op
    return item if hasattr(item, "_as_graph_element") else getattr(item, "op", item)


class ControlBlock:
    """One ``with control_dependencies(...)`` block.

    `seen` holds the operations created inside it: a node that reads one of them waits for the block's operations
    already, by data, and needs no edges of its own.
    """

    __slots__ = ("ops", "seen", "clears")

    def __init__(self, ops: list[Operation], clears: bool):
        self.ops = ops
        self.seen: set[Operation] = set()
        self.clears = clears


class ControlStack:
    """The control blocks of a graph, outermost first."""

    def __init__(self) -> None:
        self.blocks: list[ControlBlock] = []
        self._hidden: list[list[ControlBlock]] = []

    def enter(self, ops: list[Operation] | None) -> ControlBlock:
        """Opens a block; None hides all outer blocks until it closes."""
        block = ControlBlock(ops or [], ops is None)
        if block.clears:
            self._hidden.append(self.blocks)
            self.blocks = []
        self.blocks.append(block)
        return block

    def leave(self, block: ControlBlock) -> None:
        """Closes the innermost block."""
        assert self.blocks[-1] is block
        self.blocks.pop()
        if block.clears:
            self.blocks = self._hidden.pop()

    def inputs_for(self, inputs: list) -> list[Operation]:
        """The control inputs of a new node that reads `inputs`: each once, outermost block first."""
        data = {t.op for t in inputs}
        waits: dict[Operation, None] = {}
        for block in self.blocks:
            if block.ops and not any(op in block.seen for op in data):
                for op in block.ops:
                    if op not in data:
                        waits[op] = None
        return list(waits)

    def record(self, op: Operation) -> None:
        """Notes that `op` was created inside the open blocks."""
        for block in self.blocks:
            block.seen.add(op)

    def current(self) -> list[Operation]:
        """All operations of the open blocks."""
        return [op for block in self.blocks for op in block.ops]


class ControlDependencies:
    """The context manager that ``graph.control_dependencies`` answers with."""

    def __init__(self, stack: ControlStack, ops: Any):
        self._stack = stack
        self._ops = ops
        self._block: ControlBlock | None = None

    def __enter__(self) -> None:
        self._block = self._stack.enter(self._ops)

    def __exit__(self, *exc: Any) -> None:
        self._stack.leave(self._block)  # type: ignore[arg-type]
