"""Loop nests for CUDA, as any grid runs them; see `cuda`."""
from __future__ import annotations

import contextlib
from collections.abc import Iterator

from jitgraph.declare.prim import ELEMENTARY

from .. import sizes
from ..kernel import Kernel, Statement, is_half, memory_code
from . import scalars
from .cuda_intrinsics import WARP
from .cuda_text import ELEMENTARY_WORK, FOURS, MOST_WORK, divides, loading, storing
from .loops import Emitter, Spills, Text

MAX_THREADS = 512       # per block: leaves every thread 128 registers


def neighbours(kernel: Kernel) -> int:
    """How many elements of a map, from a multiple of as many on along its last loop, a thread has at once: all exist or none does,
    and they lie together at such a multiple wherever they are loaded or stored.  1 where it has one after the other.

    Four, or where elements of 16 bits are among them eight, which are 16 bytes."""
    if kernel.kind != "map" or not kernel.loops:
        return 1
    work = sum(ELEMENTARY_WORK if s.prim in ELEMENTARY else 1 for s in kernel.body)
    halves = any(is_half(p.dtype) for p in kernel.params)
    for count in (8, 4) if halves else (4,):
        # arithmetic takes the time otherwise, and a text that is so many times as long more of it to compile
        fits = divides(count, kernel.loops[-1].size) and work * count <= MOST_WORK * 4
        if fits and all(moves(kernel, s, count) for s in kernel.body if s.access is not None):
            return count
    return 1


def moves(kernel: Kernel, s: Statement, count: int) -> bool:
    """Whether a statement moves so many neighbours, or one element that is the same for all."""
    assert s.access is not None
    *strides, last = s.access.strides
    if s.kind in ("load", "index") and sizes.same(last, 0):
        return True
    together = sizes.same(last, 1) and all(divides(count, d) for d in (*strides, s.access.offset))
    return s.kind in ("load", "store") and together and kernel.params[s.access.param].dtype in FOURS


class CUDAEmitter(Emitter):
    block, blocks = "block_index()", "block_count()"        # which of how many blocks this is

    def __init__(self, kernel: Kernel):
        super().__init__(kernel)
        self.head = Text()      # before the loops: where the thread is, shared memory
        self.late = self._late()
        self.of_one = self._of_one()

    def _late(self) -> set[str]:
        """Values that stem from buffers the kernel also writes: not to be loaded by threads that have no item."""
        late: set[str] = set()
        for s in self.kernel.body:
            reads = s.kind in ("load", "gather") and self.param(s).use != "in"
            if s.name and (reads or any(a in late for a in s.args)):
                late.add(s.name)
        return late

    def _of_one(self) -> set[str]:
        """Late values of items with a single element: the thread that has it overwrites what they stem from, so the others do not
        load them at all."""
        reduced = self._loops("reduce")
        writes = any(s.kind == "store" and s.level == "full" and self.param(s).use == "inout" for s in self.kernel.body)
        if not (reduced and writes and self._count(reduced) == "1"):
            return set()
        after = self.closure([s.args[0] for s in self._stores("row")], lambda name: self.by_name[name].kind != "reduce")
        return self.late - {s.name for s in after}

    def varies(self, name: str) -> bool:
        return super().varies(name) or name in self.of_one

    def _hoisted(self, name: str) -> bool:
        return super()._hoisted(name) and name not in self.late

    def _count(self, loops: list[int]) -> str:
        """The number of points of these loops."""
        count = sizes.product(self.kernel.loops[k].size for k in loops)
        return self.slot(count, "n") if isinstance(count, sizes.Size) or count != 1 else "1"

    @contextlib.contextmanager
    def _strided(self, index: str, start: str, end: str, step: str) -> Iterator[None]:
        """A loop that this thread, warp or block runs through in steps."""
        self.text.line(f"{index} = {start}")
        with self.text.block(f"while {index} < {end}:"):
            yield
            self.text.line(f"{index} += {step}")

    @contextlib.contextmanager
    def _points(self, loops: list[int], start: str, step: str, end: str = "") -> Iterator[None]:
        """All points of several loops, as one loop over their number."""
        index = f"i{loops[0]}" if len(loops) == 1 else "r"
        with self._strided(index, start, end or self._count(loops), step):
            if len(loops) > 1:
                self._item_indices(loops, index)
            yield

    # map -------------------------------------------------------------------------------------------------------
    def _map(self) -> None:
        self.head.line(f"thread = {self.block} * thread_count() + thread_index()")
        self.head.line(f"threads = {self.blocks} * thread_count()")
        if (count := neighbours(self.kernel)) > 1:
            self._neighbours(count)
            return
        with self._points(self._loops("outer"), "thread", "threads"):
            self._all(self._where(lambda n: not self._hoisted(n)), [s for s in self.kernel.body if s.kind == "store"])

    def _neighbours(self, count: int) -> None:
        """A map whose threads have so many neighbouring elements: all are loaded, then computed, then stored."""
        loops, last = self._loops("outer"), len(self.kernel.loops) - 1
        inside = self._where(lambda n: not self._hoisted(n))
        loads = [s for s in inside if s.kind == "load" and s.access is not None and sizes.same(s.access.strides[last], 1)]
        stores = [s for s in self.kernel.body if s.kind == "store"]
        index = f"i{loops[0]}" if len(loops) == 1 else "r"
        quarter = self.slot(sizes.product(self.kernel.loops[k].size for k in loops) // count, "n")
        with self._strided("q", "thread", quarter, "threads"):
            self.text.line(f"{index} = q * {count}")
            if len(loops) > 1:
                self._item_indices(loops, index)
            for s in loads:
                assert s.access is not None
                self.text.line(f"{s.name}_four = local_{memory_code(self.param(s).dtype)}({count})")
                self.text.line(f"{loading(count)}({s.name}_four, 0, {self.param(s).name}, {self.index(s.access)})", s.node)
            for k, s in enumerate(stores):
                self.text.line(f"{self.param(s).name}_four{k} = local_{memory_code(self.param(s).dtype)}({count})")
            for element in range(count):        # written out: only then do all surely stay in registers
                for s in inside:
                    if s in loads:
                        self.text.line(f"{s.name} = {scalars.loaded(f'{s.name}_four[{element}]', s.dtype)}", s.node)
                    else:
                        self.statement(s)
                for k, s in enumerate(stores):
                    value = scalars.stored(s.args[0], self.param(s).dtype)
                    self.text.line(f"{self.param(s).name}_four{k}[{element}] = {value}")
            for k, s in enumerate(stores):
                assert s.access is not None
                self.text.line(f"{storing(count)}({self.param(s).name}, {self.index(s.access)}, {self.param(s).name}_four{k}, 0)",
                               self.kernel.buffers[s.access.param].node)

    # rows and partial ------------------------------------------------------------------------------------------
    def _rows(self) -> None:
        passes, stores, spills = self.plan_passes()
        self._prepare_block(WARP)
        outer = self._loops("outer")
        with self._strided("q", self.block, self._count(outer), self.blocks):
            self._item_indices(outer)
            for p in range(passes + 1):
                self._row_statements(p)
                if p < passes or stores.get(p):
                    self._pass(p, stores, spills, passes)
            self._row_stores()

    def _partial(self) -> None:
        _, stores, _ = self.plan_passes()
        self._prepare_block(WARP)
        n = self._count(self._loops("reduce"))
        parts = self.slot(self.kernel.parts, "n", "parts")
        self.text.line(f"chunk = quotient({n} + {parts} - 1, {parts})")
        with self._strided("q", self.block, parts, self.blocks):
            self.text.line(f"lo = smaller(q * chunk, {n})")
            self.text.line(f"hi = smaller(lo + chunk, {n})")
            self._row_statements(0)
            self._pass(0, {0: [s for p in stores.values() for s in p]}, {}, 1, "lo + thread", "hi")
            self._row_stores("q")

    def _prepare_block(self, count: int) -> None:
        """Where a thread is in its block, and shared memory for the accumulators: `count` elements each."""
        shift = WARP.bit_length() - 1
        for line in ("thread = thread_index()", "threads = thread_count()", f"lane = thread & {WARP - 1}",
                     f"warp = thread >> {shift}", f"warps = threads >> {shift}"):
            self.head.line(line)
        for s in self.kernel.body:
            if s.kind == "reduce":
                self.head.line(f"{s.name}_parts = shared_{self.accumulator(s).replace('b1', 'u8')}({count})")
                if len(s.args) > 1:
                    self.head.line(f"{s.name}_places = shared_i64({count})")

    def accumulator(self, s: Statement) -> str:
        """As elsewhere; in a kernel whose floats all lie in memory as 16 bits, float32 instead of float64."""
        code = super().accumulator(s)
        floats = [p.dtype for p in self.kernel.params if p.dtype[0] == "f"]
        narrow = is_half(s.dtype) or floats and all(map(is_half, floats))
        return "f32" if code == "f64" and narrow else code

    def _pass(self, p: int, stores: dict[int, list[Statement]], spills: Spills, passes: int, start: str = "thread",
              end: str = "") -> None:
        reductions = self._reductions(p)
        for s in reductions:
            self._start(s)
        with self._points(self._loops("reduce"), start, "threads", end):
            self._pass_body(p, stores, spills, self._step)
        if reductions:
            self._combine(reductions, passes)
        for s in reductions:
            self._finish(s)

    def _combine(self, reductions: list[Statement], passes: int) -> None:
        """Combines what the threads of the block have accumulated; afterwards each of them has the whole."""
        for s in reductions:
            self._fold(s, f"{s.name}_acc", f"{s.name}_at")
        if passes == 1:     # with more passes, the barriers of the others keep the last row's reads before these writes
            self.text.line("barrier()")
        for s in reductions:
            self._keep(s, "warp")
            if len(s.args) > 1:
                self.text.line(f"{s.name}_places[warp] = {s.name}_at")
        self.text.line("barrier()")
        for s in reductions:
            start = scalars.reduction(s.prim, self.accumulator(s))[0]
            self._fold(s, f"select(lane < warps, {self._kept(s, 'lane')}, {start})",
                       f"select(lane < warps, {s.name}_places[lane], 0)")

    def _keep(self, s: Statement, place: str) -> None:
        """Writes an accumulator to shared memory: truth values, as everywhere in memory, as bytes."""
        value = f"{s.name}_acc"
        self.text.line(f"{s.name}_parts[{place}] = " + (f"u8({value})" if self.accumulator(s) == "b1" else value))

    def _kept(self, s: Statement, place: str) -> str:
        part = f"{s.name}_parts[{place}]"
        return f"({part} != 0)" if self.accumulator(s) == "b1" else part

    def _fold(self, s: Statement, value: str, place: str) -> None:
        if len(s.args) > 1:
            self.text.line(f"{s.name}_acc, {s.name}_at = fold_{s.prim}({value}, {place})")
        else:
            self.text.line(f"{s.name}_acc = fold_{s.prim}({value})")

    def _row_stores(self, index: str | None = None) -> None:
        """Stores of the item itself, by one thread; where they overwrite what others read, those must be done."""
        stores = self._stores("row")
        if any(self.param(s).use == "inout" for s in stores):
            self.text.line("barrier()")
        if stores:
            with self.text.block("if thread == 0:"):
                for s in stores:
                    self.store(s, index)
