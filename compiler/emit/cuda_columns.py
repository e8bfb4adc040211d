"""Reductions of columns for CUDA: lanes lie along the columns, and what they have left shares the rows.

    while at < n1:                                  # a thread has four neighbouring columns, and four rows on their way
        for k in range(4):
            i0 = smaller(at + k * 32, n1 - 1)
            copy4(v0_rows, k * 4, x0, i0 * n0 + i1)
        for k in range(4):
            counts = at + k * 32 < n1
            for e in range(4):
                v1_sums[e] = sum_step(v1_sums[e], f64(select(counts, v0_rows[k * 4 + e], f32(0))))
        at = unforeseen(at + 128)

The threads of a block that have the same columns share out the rows, here 32 at a time; shared memory combines
what they have, always in the same order.  Where columns are few, several rows lie side by side in a warp; where blocks are few,
a block takes fewer columns, as long as a row's share is still a whole line of memory.
"""
from __future__ import annotations

import contextlib
from collections.abc import Iterator

from jitgraph.declare.prim import CHECKED, ELEMENTARY

from .. import sizes
from ..kernel import WIDTH, Kernel, Statement, is_half, memory_code
from . import scalars
from .cuda_intrinsics import WARP
from .cuda_nests import CUDAEmitter, moves
from .cuda_text import ELEMENTARY_WORK, MOST_WORK, divides, loading, storing

BUSY = 256              # blocks of which a device's multiprocessors have two each
LINE = 128              # bytes of a row that a block reads together, at least, where there are as many
THREADS = 256           # of a block, at most
SHARE = 4               # rows that a thread should have before a block gets more
ON_THE_WAY = 16         # words that a thread waits for at once
WORDS = 32              # for both: more do not fit into the registers
MOST_ROWS = 8           # rows that it waits for, at most
SUMS = 16               # words that a thread adds up in, of which each block has as many in shared memory


def emitter(kernel: Kernel) -> ColumnEmitter | None:
    """What writes a reduction of columns; None for any other kernel."""
    return ColumnEmitter(kernel) if kernel.kind == "cols" else None


class ColumnEmitter(CUDAEmitter):
    def __init__(self, kernel: Kernel):
        super().__init__(kernel)
        self.inner = len(kernel.loops) - 1
        self.sums, self.full = self._reductions(0), self._stores("full")
        self.inside = self.closure(self.needed_in(0, {0: self.full}), self.varies)
        self.fixed = self._same_in_all_rows()
        self.coming = [s for s in self.inside if s.kind == "load" and s not in self.fixed]
        self.each = next((count for count in (8, 4) if self._fits(count)), 1)       # neighbouring columns of a thread
        self.lanes = self._lanes()
        self.width = self.lanes * self.each             # columns of a block
        self.ahead = self._rows_ahead()
        self.taken = [s for s in self.coming if self.ahead > 1 or self._is_apart(s)]       # before anything is computed
        kernel.threads = self._threads()
        self.rows = kernel.threads // self.lanes        # that a block has at once
        kernel.items = sizes.product(kernel.loops[k].size for k in self._loops("outer"))
        kernel.items = kernel.items * ((kernel.loops[-1].size + self.width - 1) // self.width)

    # what a thread has -----------------------------------------------------------------------------------------
    def _same_in_all_rows(self) -> list[Statement]:
        """What a column needs and every row has alike: loaded and computed once.  What may fail does so only where a row is."""
        reduced, names = set(self._loops("reduce")), {s.name for s in self.inside}
        found: list[Statement] = []
        for s in self.inside:
            known = {one.name for one in found}
            is_safe = s.kind in ("load", "index", "op") and not (s.prim in CHECKED and s.dtype[0] in "iu")
            if is_safe and s.name not in self.of_one and not self.deps[s.name] & reduced and known >= names & set(s.args):
                found.append(s)
        return found

    def _fits(self, count: int) -> bool:
        """Whether a thread may have so many neighbours: all exist or none does, they lie together where a row has them, and there
        is room for what is made of them."""
        kernel = self.kernel
        if count == 8 and not any(is_half(p.dtype) for p in kernel.params) or not divides(count, kernel.loops[-1].size):
            return False
        work = sum(ELEMENTARY_WORK if s.prim in ELEMENTARY else 1 for s in self.inside)
        moved = [*(s for s in self.inside if s.kind == "load"), *self.full]
        fits = work * count <= MOST_WORK * 4 and self._words_of_sums() * count <= SUMS
        return fits and all(moves(kernel, s, count) for s in moved)

    def _lanes(self) -> int:
        """How many lanes of a warp lie along the columns: a power of two."""
        columns, lanes = sizes.hint_of(self.kernel.loops[-1].size), 1
        while lanes < WARP and lanes * self.each < columns:
            lanes *= 2
        outer = sizes.count([self.kernel.loops[k].size for k in self._loops("outer")])
        least = min((WIDTH[self.param(s).dtype] for s in self.coming), default=4) * self.each
        while outer * -(-columns // (lanes * self.each)) < BUSY and lanes * least > LINE:
            lanes //= 2
        return lanes

    def _rows_ahead(self) -> int:
        """How many rows are on their way to a thread before it looks at the first of them."""
        words = sum(max(WIDTH[self.param(s).dtype] * (self.each if self._is_apart(s) else 1), 4) // 4 for s in self.coming)
        changes = any(self.param(s).use == "inout" for s in (*self.coming, *self.full) if s.access is not None)
        rows = 1 if changes or not self.coming else MOST_ROWS       # others may change what is in the last row
        while rows > 1 and rows * words > min(ON_THE_WAY, WORDS - self._words_of_sums() * self.each):
            rows //= 2
        return rows

    def _words_of_sums(self) -> int:
        """How many words there are for each column in which a thread adds up."""
        return sum(max(WIDTH[self.accumulator(s)], 4) // 4 for s in self.sums)

    def _threads(self) -> int:
        """How many threads a block has: each has a few rows, as far as these are known."""
        rows, threads = sizes.product(self.kernel.loops[k].size for k in self._loops("reduce")), WARP
        if isinstance(rows, sizes.Size):
            return THREADS
        while threads < THREADS and threads * SHARE * max(self.kernel.parts, 1) < rows * self.lanes:
            threads *= 2
        return threads

    def _is_apart(self, s: Statement) -> bool:
        """Whether a load has another element for each of a thread's neighbours, of which there are several."""
        assert s.access is not None
        return self.each > 1 and not sizes.same(s.access.strides[self.inner], 0)

    # the text --------------------------------------------------------------------------------------------------
    def _cols(self) -> None:
        n, width, index, outer = self.extent(self.inner), self.width, f"i{self.inner}", self._loops("outer")
        self._prepare()
        self.text.line(f"groups = quotient({n} + {width - 1}, {width})")
        items = "groups" if self._count(outer) == "1" else f"groups * {self._count(outer)}"
        with self._strided("q", self.block, items, self.blocks):
            self.text.line("group = quotient(q, groups)")
            self.text.line(f"column = (q - group * groups) * {width}")
            self._item_indices(outer, "group")
            self._row_statements(0)
            with self._repeated("e", self.each) as e:
                for s in self.sums:
                    start = scalars.stored(scalars.reduction(s.prim, self.accumulator(s))[0], self.accumulator(s))
                    self.text.line(f"{s.name}_sums[{e}] = {start}", s.node)
            start, end = "row", self._count(self._loops("reduce"))
            if self.kernel.parts:
                self.part_lines(end)
                start, end = "first + row", "last"
            self.text.line("mine = column + " + ("lane" if self.each == 1 else f"lane * {self.each}"))
            with self.text.block(f"if mine < {n}:"):
                self.text.line(f"{index} = mine")
                self._fixed_values()
                self.text.line(f"at = {start}")
                with self.text.block(f"while at < {end}:"):
                    self._take_rows(end)
                    self._add_rows(end)
                    self.text.line(f"at = unforeseen(at + {self.rows * self.ahead})")
            self._combine_rows()
            with self._strided("c", "thread", str(width), str(self.kernel.threads)):
                self.text.line(f"{index} = column + c")
                with self.text.block(f"if {index} < {n}:"):
                    self._results()

    def _prepare(self) -> None:
        shift = self.lanes.bit_length() - 1
        for line in ("thread = thread_index()", f"lane = thread & {self.lanes - 1}", f"row = thread >> {shift}"):
            self.head.line(line)
        for s in self.sums:
            code = memory_code(self.accumulator(s))
            self.head.line(f"{s.name}_parts = shared_{code}({self.kernel.threads * self.each})")
            self.head.line(f"{s.name}_sums = local_{code}({self.each})")
        for s in self.taken:
            count = self.ahead * (self.each if self._is_apart(s) else 1)
            self.head.line(f"{s.name}_rows = local_{memory_code(s.dtype)}({count})")
        if self.each > 1:
            for s in self._waiting():
                self.head.line(f"{s.name}_same = local_{memory_code(s.dtype)}({self.each})")
            for k, s in enumerate(self.full):
                self.head.line(f"{self.param(s).name}_four{k} = local_{memory_code(self.param(s).dtype)}({self.each})")

    @contextlib.contextmanager
    def _repeated(self, name: str, count: int) -> Iterator[str]:
        """A loop over so many, which is unrolled, or none over one; gives the text of which it is."""
        if count == 1:
            yield "0"
            return
        with self.text.block(f"for {name} in range({count}):"):
            yield name

    def _taken_at(self, s: Statement, k: str, e: str) -> str:
        """Where an element that was taken ahead is among those of its load."""
        if not self._is_apart(s):
            return k
        return e if k == "0" else f"{k} * {self.each}" if e == "0" else f"{k} * {self.each} + {e}"

    # what all rows have alike ----------------------------------------------------------------------------------
    def _waiting(self) -> list[Statement]:
        """What all rows have alike and each needs, and of that what comes to a thread as neighbours."""
        others = [s for s in (*self.inside, *self.sums, *self.full) if s not in self.fixed]
        used = {a for s in others for a in s.args}
        return [s for s in self.fixed if s.name in used or s.kind == "load" and self._is_apart(s)]

    def _fixed_values(self) -> None:
        if self.each == 1:
            self._all(self.fixed, [])
            return
        together = [s for s in self.fixed if s.kind == "load" and self._is_apart(s)]
        for s in together:
            assert s.access is not None
            self.text.line(f"{loading(self.each)}({s.name}_same, 0, {self.param(s).name}, {self.index(s.access)})", s.node)
        if len(together) == len(self.fixed):
            return
        with self._repeated("e", self.each):
            self._move_on([s for s in self.fixed if s not in together])
            for s in self.fixed:
                if s in together:
                    self.text.line(f"{s.name} = {scalars.loaded(f'{s.name}_same[e]', s.dtype)}", s.node)
                    continue
                self.statement(s)
                if s in self._waiting():
                    self.text.line(f"{s.name}_same[e] = {scalars.stored(s.name, s.dtype)}", s.node)
        self.text.line(f"i{self.inner} = mine")

    def _move_on(self, statements: list[Statement]) -> bool:
        """Goes to the column of neighbour e, if any of these looks at its number."""
        moved = self.each > 1 and any(s.access is not None and not sizes.same(s.access.strides[self.inner], 0) for s in statements)
        if moved:
            self.text.line(f"i{self.inner} = mine + e")
        return moved

    # rows ------------------------------------------------------------------------------------------------------
    def _go_to_row(self, k: str, end: str) -> None:
        """Finds the row that a thread has as its k-th, or the last where it has no more: what is loaded then counts for nothing."""
        loops = self._loops("reduce")
        name = f"i{loops[0]}" if len(loops) == 1 else "r"
        self.text.line(f"{name} = " + ("at" if k == "0" else f"smaller(at + {k} * {self.rows}, {end} - 1)"))
        if len(loops) > 1:
            self._item_indices(loops, "r")

    def _take_rows(self, end: str) -> None:
        """Loads that are under way before the first is waited for."""
        if not self.taken:
            return
        with self._repeated("k", self.ahead) as k:
            self._go_to_row(k, end)
            for s in self.taken:
                assert s.access is not None
                place, there = self._taken_at(s, k, "0"), self.index(s.access)
                if self._is_apart(s):
                    self.text.line(f"{loading(self.each)}({s.name}_rows, {place}, {self.param(s).name}, {there})", s.node)
                else:
                    self.text.line(f"{s.name}_rows[{place}] = {self.param(s).name}[{there}]", s.node)

    def _add_rows(self, end: str) -> None:
        rest = [s for s in self.inside if s not in self.taken and s not in self.fixed]
        with self._repeated("k", self.ahead) as k:
            if self.full or any(s.access is not None for s in rest):
                self._go_to_row(k, end)
            if self.ahead > 1:
                self.text.line(f"counts = at + k * {self.rows} < {end}")
            self._add_row(k, rest)

    def _add_row(self, k: str, rest: list[Statement]) -> None:
        with self._repeated("e", self.each) as e:
            moved = self._move_on(rest)
            for s in self._waiting() if self.each > 1 else []:
                self.text.line(f"{s.name} = {scalars.loaded(f'{s.name}_same[{e}]', s.dtype)}", s.node)
            for s in self.inside:
                if s in self.taken:
                    self.text.line(f"{s.name} = {scalars.loaded(f'{s.name}_rows[{self._taken_at(s, k, e)}]', s.dtype)}", s.node)
                elif s in rest:
                    self.statement(s)
            for s in self.sums:
                self._add(s, f"{s.name}_sums[{e}]")
            for j, s in enumerate(self.full if self.each > 1 else []):
                self.text.line(f"{self.param(s).name}_four{j}[e] = {scalars.stored(s.args[0], self.param(s).dtype)}")
        if not self.full:
            return
        with self.text.block("if counts:") if self.ahead > 1 else contextlib.nullcontext():
            if moved:
                self.text.line(f"i{self.inner} = mine")
            for j, s in enumerate(self.full):
                self._store_row(s, f"{self.param(s).name}_four{j}")

    def _add(self, s: Statement, place: str) -> None:
        """A step of a reduction; a row that does not count is what the reduction begins with."""
        code, (value,) = self.accumulator(s), s.args
        source = "f32" if is_half(self.types[value]) else self.types[value]
        if self.ahead > 1 and source == "b1" != code:
            value, source = f"i64({value})", "i64"
        if self.ahead > 1:
            value = f"select(counts, {value}, {scalars.reduction(s.prim, source)[0]})"
        text = scalars.reduction(s.prim, code)[1].format(acc=scalars.loaded(place, code), x=scalars.cast(value, source, code))
        self.text.line(f"{place} = {scalars.stored(text, code)}", s.node)

    def _store_row(self, s: Statement, neighbours: str) -> None:
        if self.each == 1:
            self.store(s)
            return
        assert s.access is not None
        self.text.line(f"{storing(self.each)}({self.param(s).name}, {self.index(s.access)}, {neighbours}, 0)",
                       self.kernel.buffers[s.access.param].node)

    # columns ---------------------------------------------------------------------------------------------------
    def _combine_rows(self) -> None:
        """Combines what the threads of the block have of each column, the second half of them with the first, again and again."""
        if self.each > 1:       # others have looked at what was combined for the columns before; else each thread at its own
            self.text.line("barrier()")
        with self._repeated("e", self.each) as e:
            for s in self.sums:
                place = "thread" if self.each == 1 else f"thread * {self.each} + {e}"
                self.text.line(f"{s.name}_parts[{place}] = {s.name}_sums[{e}]", s.node)
        self.text.line("barrier()")
        if self.rows == 1:
            return
        threads = str(self.kernel.threads)
        self.text.line(f"left = {self.rows}")
        with self.text.block("while left > 1:"):
            self.text.line("half = left >> 1")
            with self._strided("c", "thread", f"half * {self.width}", threads):
                for s in self.sums:
                    code = self.accumulator(s)
                    here, there = (f"{s.name}_parts[{place}]" for place in ("c", f"c + half * {self.width}"))
                    acc, x = (scalars.loaded(one, code) for one in (here, there))
                    update = scalars.reduction(s.prim, code)[1].format(acc=acc, x=x)
                    self.text.line(f"{here} = {scalars.stored(update, code)}", s.node)
            self.text.line("left = unforeseen(half)")
            if self.kernel.threads > self.width:        # else a thread takes up what it has combined itself
                self.text.line("barrier()")

    def _results(self) -> None:
        """One column's values, from what was combined."""
        for s in self.sums:
            self.text.line(f"{s.name}_acc = {scalars.loaded(f'{s.name}_parts[c]', self.accumulator(s))}", s.node)
            self._finish(s)
        stores = self._stores("row")
        self._all(self.closure([s.args[0] for s in stores], self.varies_in_columns), stores)
