"""place: decide which buffer every value lives in, and write the instruction table.

Every base value gets a *slot*: an address that kernels find through the table.  Temporaries share one arena by the time
they are alive; their byte offsets depend on the sizes and are assigned when sizes are bound.
"""
from __future__ import annotations

import bisect
import heapq
from collections.abc import Container, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from . import sizes
from .divide import ChoiceCall, LoopCall, divided
from .ir import Node, Value
from .keep import buffers
from .kernel import ELEMENTS, WIDTH, Kernel
from .primitives.host import HOST
from .primitives.memory import CONST, INPUT, SIZE
from .program import Program
from .targets import CPU, Target
from .targets import HOST as HOST_MEMORY
from .views import resolve

if TYPE_CHECKING:
    from jitgraph.graph.tensor import Tensor

FEW_SPANS = 256
SLOTS = {INPUT: "feed", CONST: "const", SIZE: "size"}


@dataclass
class Slot:
    """One buffer.  `kind`: feed, const, size, variable, temp, kept (which stays from run to run), output, host (an ndarray that a
    host step made), object."""

    kind: str
    value: Value | None = None
    key: Any = None             # tensor of a feed, variable operation, ...
    dtype: Any = None           # a DType
    shape: tuple[Any, ...] = ()
    first: int = 0              # steps between which a temporary is alive
    last: int = 0


@dataclass
class HostStep:
    """A call on the host between native stretches: inputs and outputs by slot, with the views that it sees."""

    node: Node
    inputs: list[tuple[int, sizes.Shape, list[sizes.Dim], sizes.Dim]]         # (slot, shape, strides, offset) in elements
    outputs: list[int]          # slots
    used: frozenset[int] = frozenset()  # numbers of the outputs that something uses
    keeps: frozenset[int] = frozenset()         # numbers of the inputs that may lie on a device ...
    there: dict[int, int] = field(default_factory=dict)         # ... and of those that do, on which
    call: ChoiceCall | LoopCall | None = None   # of an operation that calls functions: its sub-programs for these outputs


@dataclass(eq=False)
class DeviceStep:
    """A kernel of a target that has memories of its own: its buffers lie in that of a `device`."""

    kernel: Kernel
    slots: list[int]            # slot per param
    target: Target
    device: int = 0


@dataclass(eq=False)
class CopyStep:
    """A copy of a slot from one memory to another, each HOST or that of a device."""

    slot: int
    source: int
    to: int


@dataclass
class Layout:
    slots: list[Slot] = field(default_factory=list)
    steps: list[Any] = field(default_factory=list)  # (Kernel, [slot per param]) for the host's kernels, and the steps above
    results: dict[Tensor, tuple[int, sizes.Shape]] = field(default_factory=dict)      # tensor -> (slot, shape)

    def draws(self, step: Any) -> bool:
        """Whether a step of the host only reserves random numbers, as many as sizes say: it may come before all others."""
        return isinstance(step, HostStep) and step.node.attrs["call"] == "stream" and all(
            self.slots[slot].kind in ("const", "size") for slot, *_ in step.inputs)


def place(program: Program) -> None:
    """Buffers for values, lifetimes, in-place updates; matrix products become kernels."""
    program.layout = _Placer(program).run()


def kernels_by_hand(program: Program) -> list[Kernel]:
    """The CPU's kernels for primitives that are no part of loop nests, ahead of this pass."""
    found = (node.kind.kernel(node, CPU.name, program.options) for node in program.nodes
             if CPU.name in node.kind.kernels and all(node.kind.accepts(node, k) for k in range(len(node.inputs))))
    return [kernel for kernel in found if kernel is not None and kernel.source]


class _Placer:
    def __init__(self, program: Program) -> None:
        self.program, self.layout = program, Layout()
        self.slot_of: dict[Any, int] = {}
        self.kept = {v for step in program.steps[:program.kept] for v in buffers(step)[1]}

    def run(self) -> Layout:
        program = self.program
        outputs = {resolve(v)[0] for v in program.outputs}
        for step in program.steps:
            if isinstance(step, Kernel):
                self._kernel(step, outputs)
            elif step.kind.kernels:
                self._kernel(self._by_hand(step), outputs)
            elif step.kind is HOST:
                self._host(step)
        for tensor, value in program.results.items():
            base, _, _ = resolve(value)
            self.layout.results[tensor] = (self._slot(base, outputs), value.shape)
        self._mark_used()
        if not program.options.uses("memory_reuse"):
            for slot in self.layout.slots:
                slot.first, slot.last = 0, len(self.layout.steps)
        return self.layout

    def _by_hand(self, node: Node) -> Kernel:
        """The program's target's kernel for a node that is no part of a loop nest, else the host's."""
        targets = (CPU,) if self.program.target.place(node) == HOST_MEMORY else (self.program.target, CPU)
        found = (node.kind.kernel(node, target.name, self.program.options) for target in targets)
        return next(kernel for kernel in found if kernel is not None)

    def _kernel(self, kernel: Kernel, outputs: Container[Value]) -> None:
        number = len(self.layout.steps)
        slots = [self._slot(base, outputs) for base in kernel.buffers]
        for s in slots:
            self._touch(s, number)
        target = self.program.target
        device = target.place(kernel.nodes[-1]) if target is not CPU and kernel.nodes else HOST_MEMORY
        if device != HOST_MEMORY and target.admits(kernel):
            self.layout.steps.append(DeviceStep(kernel, slots, target, device))
        else:
            self.layout.steps.append((kernel, slots))

    def _host(self, node: Node) -> None:
        number = len(self.layout.steps)
        inputs = []
        for value in node.inputs:
            base, strides, offset = resolve(value)
            slot = self._slot(base, ())
            self._touch(slot, number)
            inputs.append((slot, value.shape, strides, offset))
        outputs = []
        for value in node.outputs:
            kind = "host" if value.dtype.name in self.program.target.elements else "object"
            outputs.append(self._new(value, Slot(kind, value, None, value.dtype, value.shape)))
        self.layout.steps.append(HostStep(node, inputs, outputs))

    def _mark_used(self) -> None:
        fetched = {slot for slot, _ in self.layout.results.values()}
        for number, step in enumerate(self.layout.steps):
            if isinstance(step, HostStep):
                step.used = frozenset(k for k, slot in enumerate(step.outputs)
                                      if slot in fetched or self.layout.slots[slot].last > number) \
                    | step.node.attrs.get("wanted", frozenset())
                op = step.node.op
                if step.node.attrs["call"] == "op" and op is not None and op in self.program.calls:
                    step.call = divided(op, step.used, self.program.options)
                    step.keeps = step.call.keeps
                elif step.node.attrs["call"] == "op" and op is not None and op.opdef is not None:
                    step.keeps = frozenset(op.opdef.keeps)

    def _touch(self, slot: int, step: int) -> None:
        self.layout.slots[slot].last = step

    def _new(self, key: Any, slot: Slot) -> int:
        slot.first = slot.last = len(self.layout.steps)
        self.slot_of[key] = len(self.layout.slots)
        self.layout.slots.append(slot)
        return self.slot_of[key]

    def _slot(self, base: Value, outputs: Container[Value]) -> int:
        node = base.node
        key = base if node.variable is None else node.variable
        if key in self.slot_of:
            return self.slot_of[key]
        kind = "variable" if node.kind.is_state else SLOTS.get(node.kind) or (
            "output" if base in outputs else "kept" if base in self.kept else "temp")
        name = node.attrs.get("tensor", node.attrs.get("variable"))
        return self._new(key, Slot(kind, base, name, base.dtype, base.shape))


def temp_bytes(slot: Slot) -> sizes.Dim:
    """Size of a temporary in bytes, as a (symbolic) number."""
    return sizes.product(slot.shape) * WIDTH[ELEMENTS[slot.dtype.name]]


def assign_offsets(spans: Iterable[tuple[int, int, int]], alignment: int = 64) -> tuple[list[int], int]:
    """Offsets for (bytes, first, last) spans so that spans alive at the same step do not overlap: (offsets, total)."""
    aligned = [(-(-max(size, 1) // alignment) * alignment, first, last) for size, first, last in spans]
    return _largest_first(aligned) if len(aligned) <= FEW_SPANS else _first_fit(aligned)


def _largest_first(spans: list[tuple[int, int, int]]) -> tuple[list[int], int]:
    """The largest first, each in the smallest gap that is free all its life (greedy by size: Pisarchyk and Lee, 2020): most
    often no more than what is alive at once.  Takes time with the square of the number of spans."""
    offsets, total = [0] * len(spans), 0
    placed: list[tuple[int, int, int, int]] = []        # (start, end, first, last) in order
    for k in sorted(range(len(spans)), key=lambda k: -spans[k][0]):
        size, first, last = spans[k]
        at, gap, found = 0, 0, -1
        for start, end, begins, ends in placed:
            if begins <= last and first <= ends:
                if start - at >= size and (found < 0 or start - at < gap):
                    found, gap = at, start - at
                at = max(at, end)
        offsets[k] = found if found >= 0 else at
        bisect.insort(placed, (offsets[k], offsets[k] + size, first, last))
        total = max(total, offsets[k] + size)
    return offsets, total


def _first_fit(spans: list[tuple[int, int, int]]) -> tuple[list[int], int]:
    """In order of the first step; freed ranges are merged and used again."""
    free: list[list[int]] = []          # [start, end] ranges inside the arena that nobody uses, in order
    ending: list[tuple[int, int, int]] = []     # a heap
    offsets, total = [0] * len(spans), 0
    for k in sorted(range(len(spans)), key=lambda k: spans[k][1]):
        size, first, last = spans[k]
        while ending and ending[0][0] < first:
            _, start, end = heapq.heappop(ending)
            _release(free, start, end)
        for hole in free:
            if hole[1] - hole[0] >= size:
                offsets[k] = hole[0]
                hole[0] += size
                if hole[0] == hole[1]:
                    free.remove(hole)
                break
        else:
            offsets[k], total = total, total + size
        heapq.heappush(ending, (last, offsets[k], offsets[k] + size))
    return offsets, total


def _release(free: list[list[int]], start: int, end: int) -> None:
    """Puts a range among the free ones, in one with those that it touches."""
    k = bisect.bisect_left(free, [start, end])
    if k < len(free) and free[k][0] == end:
        end = free.pop(k)[1]
    if k and free[k - 1][1] == start:
        free[k - 1][1] = end
    else:
        free.insert(k, [start, end])
