"""Rows of known length for CUDA: each element is read once, and waits in registers for the passes that need it again.

    for k in range(2):                              # four neighbours by an instruction, 256 threads beside each other
        i1 = (k * 256 + thread) * 4
        if i1 < 2000:
            copy4(v0_row, k * 4, x0, i0 * n1 + i1)

A row has a team: one thread, if it is short, a warp, or a block of as many threads as leave each about SHARE elements.  What
several passes need is not computed again either where it is dear (an elementary function), or where less of it must be kept
than of what it is made from.  All loops have known lengths and are unrolled, so that the arrays of a thread become registers.
"""
from __future__ import annotations

from collections.abc import Callable

from jitgraph.declare.prim import ELEMENTARY

from .. import sizes
from ..kernel import WIDTH, Access, Kernel, Statement, memory_code
from . import scalars
from .cuda_intrinsics import WARP
from .cuda_nests import MAX_THREADS, CUDAEmitter
from .cuda_text import FOURS, divides

ALONE, BY_WARP, LONGEST = 16, 512, 1 << 15     # columns up to which a row has one thread, a warp, any of this
SHARE = 16              # elements that a thread of a block should have
BLOCK = 128             # threads of a block whose threads or warps have rows of their own
WORDS = {4: 48, 1: 36}  # registers for what waits, of neighbours that come by four and by one: more would spill ...
EVEN = 64               # ... unless all threads have as many
MANY = 8                # from so many, what else a pass loads waits for its turn


def emitter(kernel: Kernel) -> RowEmitter | None:
    """What writes a kernel with its rows in registers; None for one that has none, whose rows are too long or not known, and
    one that writes what it reads: there, too, all have to wait for each other."""
    reduced = [loop.size for loop in kernel.loops if loop.role == "reduce"]
    if kernel.kind != "rows" or len(reduced) != 1 or any(p.use == "inout" for p in kernel.params):
        return None
    if isinstance(reduced[0], sizes.Size) or not 1 < reduced[0] <= LONGEST:
        return None
    made = RowEmitter(kernel)
    return made if made.waiting() <= (EVEN if made.is_even else WORDS[made.each]) else None


def team(columns: int) -> int:
    """How many threads a row has."""
    if columns <= BY_WARP:
        return 1 if columns <= ALONE else WARP
    threads = 2 * WARP
    while threads < MAX_THREADS and threads * SHARE < columns:
        threads *= 2
    return threads


class RowEmitter(CUDAEmitter):
    def __init__(self, kernel: Kernel):
        super().__init__(kernel)
        (self.along,) = self._loops("reduce")
        size = kernel.loops[self.along].size
        assert isinstance(size, int)
        self.columns = size
        self.passes, self.row_stores, _ = self.plan_passes()
        self.needed = [self.closure(self.needed_in(p, self.row_stores), self.varies) for p in range(self.passes + 1)]
        self.kept = self._waiting_values()
        loads = [s for s in kernel.body if s.kind == "load" and self.varies(s.name)]
        stores = [s for each in self.row_stores.values() for s in each]
        together = all(self._moves_four(s) for s in stores) and (any(self._moves_four(s) for s in loads) or not loads)
        self.each = 4 if divides(4, size) and together else 1           # neighbours that a thread has
        self.team = team(size)
        self.groups = -(-size // (self.team * self.each))               # of such neighbours
        self.is_even = self.groups * self.team * self.each == size
        kernel.threads = BLOCK if self.team <= WARP else self.team
        self.rows_of_block = kernel.threads // self.team
        kernel.items = sizes.product(loop.size for loop in kernel.loops if loop.role == "outer")
        kernel.items = (kernel.items + self.rows_of_block - 1) // self.rows_of_block

    # what waits ------------------------------------------------------------------------------------------------
    def _waiting_values(self) -> dict[str, int]:
        """{value that later passes take from registers: the pass that computes it}."""
        first: dict[str, int] = {}
        kept: dict[str, int] = {}
        for p, statements in enumerate(self.needed):
            again = {s.name for s in statements if s.name in first}
            for s in statements:
                first.setdefault(s.name, p)
            for name in min((self._results(p, again), self._sources(p, again)), key=self._words):
                kept[name] = first[name]
        return kept

    def _dear(self, s: Statement) -> bool:
        return s.kind in ("load", "gather") or s.prim in ELEMENTARY

    def _sources(self, p: int, again: set[str]) -> list[str]:
        """What a pass needs again that must not be loaded or computed a second time; all else is made from that."""
        dear = {s.name for s in self.needed[p] if s.name in again and self._dear(s)}
        sinks = self.needed_in(p, self.row_stores)
        made = self.closure(sinks, lambda n: self.varies(n) and n not in dear)
        return [name for name in dict.fromkeys([*sinks, *(a for s in made for a in s.args)]) if name in dear]

    def _results(self, p: int, again: set[str]) -> list[str]:
        """What a pass needs again and makes something new of, if anything dear went into it."""
        used = set(self.needed_in(p, self.row_stores))
        used |= {a for s in self.needed[p] if s.name not in again for a in s.args}
        return [s.name for s in self.needed[p] if s.name in again & used
                and any(self._dear(one) for one in self.closure([s.name], self.varies))]

    def _words(self, names: list[str]) -> int:
        return sum(max(WIDTH[self.types[name]], 4) // 4 for name in names)

    def waiting(self) -> int:
        """The most registers of a thread that hold what waits between two passes."""
        last = {s.name: p for p in range(self.passes + 1) for s in self._inside(p)}
        most = max(self._words([n for n, at in self.kept.items() if at < p <= last[n]]) for p in range(self.passes + 1))
        return most * self.groups * self.each

    def _later(self, p: int) -> set[str]:
        """What a pass takes from registers."""
        return {name for name, at in self.kept.items() if at < p}

    def _inside(self, p: int) -> list[Statement]:
        """What a pass computes, or takes from registers."""
        return self._without(self.needed[p], self._later(p), self.needed_in(p, self.row_stores))

    # the text --------------------------------------------------------------------------------------------------
    def _rows(self) -> None:
        self._prepare()
        outer = self._loops("outer")
        start, step = self.block, self.blocks
        if self.rows_of_block > 1:
            which = "warp" if self.team == WARP else "thread"
            start, step = f"{self.block} * {self.rows_of_block} + {which}", f"{self.blocks} * {self.rows_of_block}"
        with self._strided("q", start, self._count(outer), step):
            self._item_indices(outer)
            for p in range(self.passes + 1):
                self._row_statements(p)
                if p < self.passes or self.row_stores.get(p):
                    self._row_pass(p)
            self._row_results()

    def _prepare(self) -> None:
        if self.team > WARP:
            self._prepare_block(WARP)
        else:
            self.head.line("thread = thread_index()")
        if self.team == WARP:
            self.head.line(f"lane = thread & {WARP - 1}")
            self.head.line(f"warp = thread >> {WARP.bit_length() - 1}")
        for name in self.kept:
            self.head.line(f"{name}_row = local_{memory_code(self.types[name])}({self.groups * self.each})")
        if self.each == 4:
            for s in self.kernel.body:
                if s.kind == "load" and s.name not in self.kept and self._by_four(s):
                    self.head.line(f"{s.name}_four = local_{s.dtype}(4)")
            for stores in self.row_stores.values():
                for s in stores:
                    self.head.line(f"{self.param(s).name}_four = local_{self.param(s).dtype}(4)")

    def _row_pass(self, p: int) -> None:
        reductions = self._reductions(p)
        inside = self._inside(p)
        early = [s for s in inside if self.kept.get(s.name) == p and self._by_four(s)]
        if early:       # all loads are under way before the first is waited for
            self._each_group(lambda: self._load_fours(early, "row, k * 4"))
        for s in reductions:
            self._start(s)
        waits = self.waiting() >= MANY and any(s.kind == "load" and s.name not in self.kept for s in inside)
        self._each_group(lambda: self._group(p, inside, early, reductions), waits)
        if self.team > WARP and reductions:
            self._combine(reductions, self.passes)
        elif self.team == WARP:
            for s in reductions:
                self._fold(s, f"{s.name}_acc", f"{s.name}_at")
        for s in reductions:
            self._finish(s)

    def _each_group(self, write: Callable[[], None], waits: bool = False) -> None:
        """A loop over the groups of neighbours that this thread has; `write` adds the lines inside.  `waits`: its loads are not
        to be moved before it, all at once, for which a condition is enough that always holds."""
        index = f"i{self.along}"
        with self.text.block(f"for k in range({self.groups}):"):
            at = len(self.text.lines)
            self.text.line(f"{index} = {self._first()}")
            if waits or not self.is_even:
                with self.text.block(f"if {index} < {self.columns}:"):
                    write()
                return
            write()
        if not any(index in line for line in self.text.lines[at + 1:]):
            del self.text.lines[at], self.text.origins[at]

    def _first(self) -> str:
        """The column of the first neighbour of group k."""
        member = {1: "", WARP: "lane"}.get(self.team, "thread")
        column = f"k * {self.team} + {member}" if member else "k"
        return column if self.each == 1 else f"({column}) * 4" if member else "k * 4"

    def _group(self, p: int, inside: list[Statement], early: list[Statement], reductions: list[Statement]) -> None:
        stores, waiting = self.row_stores.get(p, []), self._later(p) | {s.name for s in early}
        if self.each == 1:
            self._element("k", inside, waiting, reductions)
            for s in stores:
                self.store(s)
            return
        fours = [s for s in inside if s.name not in self.kept and self._by_four(s)]
        self._load_fours(fours, "four, 0")
        moved = any(s.access is not None and not sizes.same(s.access.strides[self.along], 0) and s not in fours
                    and s.name not in waiting for s in inside)
        with self.text.block("for e in range(4):"):
            if moved:
                self.text.line(f"i{self.along} = {self._first()} + e")
            for s in fours:
                self.text.line(f"{s.name} = {s.name}_four[e]", s.node)
            self._element("k * 4 + e", [s for s in inside if s not in fours], waiting, reductions)
            for s in stores:
                self.text.line(f"{self.param(s).name}_four[e] = {s.args[0]}")
        if moved and stores:
            self.text.line(f"i{self.along} = {self._first()}")
        for s in stores:
            assert s.access is not None
            self.text.line(f"copy4({self.param(s).name}, {self.index(s.access)}, {self.param(s).name}_four, 0)",
                           self.kernel.buffers[s.access.param].node)

    def _element(self, place: str, inside: list[Statement], waiting: set[str], reductions: list[Statement]) -> None:
        """What a pass does at one column; `place`: where values wait in the arrays of those that are `waiting`."""
        for s in inside:
            if s.name in waiting:
                self.text.line(f"{s.name} = {scalars.loaded(f'{s.name}_row[{place}]', s.dtype)}", s.node)
                continue
            self.statement(s)
            if s.name in self.kept:
                self.text.line(f"{s.name}_row[{place}] = {scalars.stored(s.name, s.dtype)}", s.node)
        for s in reductions:
            self._step(s)

    def _load_fours(self, loads: list[Statement], where: str) -> None:
        """Loads four neighbours of each; `where`: which array of the thread they go to, and the place there."""
        for s in loads:
            assert s.access is not None
            self.text.line(f"copy4({s.name}_{where}, {self.param(s).name}, {self.index(s.access)})", s.node)

    def _row_results(self) -> None:
        stores = self._stores("row")
        if self.team > WARP:
            self._row_stores()
        elif self.team == 1:
            self._all([], stores)
        elif stores:
            with self.text.block("if lane == 0:"):
                self._all([], stores)

    # neighbours ------------------------------------------------------------------------------------------------
    def _moves_four(self, s: Statement) -> bool:
        """Whether a load or store of four neighbouring columns, from a multiple of four on, moves 16 bytes."""
        assert s.access is not None
        return self._lies_together(s.access) and self.param(s).dtype in FOURS

    def _lies_together(self, access: Access) -> bool:
        others = [stride for k, stride in enumerate(access.strides) if k != self.along]
        return sizes.same(access.strides[self.along], 1) and all(divides(4, d) for d in (*others, access.offset))

    def _by_four(self, s: Statement) -> bool:
        return self.each == 4 and s.kind == "load" and self._moves_four(s)
