"""Rows of known length for CUDA: each element is read once, and waits in registers for the passes that need it again.

    for k in range(2):                              # four neighbours, of 16 bits eight, by an instruction; 256 threads
        i1 = (k * 256 + thread) * 4
        if i1 < 2000:
            copy4(v0_row, k * 4, x0, i0 * n1 + i1)

What is more than a thread's registers hold waits in shared memory, and what is more than that is loaded and computed again.

A row has a team: one thread, if it is short, a warp, or a block of as many threads as leave each about SHARE elements.  What
several passes need is not computed again either where it is dear (an elementary function), or where less of it must be kept
than of what it is made from.  All loops have known lengths and are unrolled, so that the arrays of a thread become registers.
"""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

from jitgraph.declare.prim import ELEMENTARY

from .. import sizes
from ..kernel import WIDTH, Access, Kernel, Statement, is_half, memory_code
from . import scalars
from .cuda_intrinsics import WARP
from .cuda_nests import MAX_THREADS, CUDAEmitter
from .cuda_text import FOURS, divides, loading, storing

ALONE, BY_WARP, LONGEST = 16, 512, 1 << 15     # columns up to which a row has one thread, a warp, any of this
SHARE = 16              # elements that a thread of a block should have
BLOCK = 128             # threads of a block whose threads or warps have rows of their own
WORDS = {8: 48, 4: 48, 1: 36}   # registers for what waits, of neighbours that come together and one by one: more would spill
HELD, LESS = 32, 24     # of a thread of a block: all if there are no more, else so many, so that none spill on any device ...
LEAST = 16              # ... where a block has twice as many threads, for rows that would leave memory waiting otherwise
SHARED = 44 << 10       # bytes of shared memory for what waits there
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
    return made if made.team > WARP or made.waiting() <= WORDS[made.each] else None


class Stretch(NamedTuple):
    """Groups `first` to `end` of neighbours that a thread has.  `place`: where values wait, "row" in registers, "more" in shared
    memory, "" nowhere."""

    first: int
    end: int
    place: str


def team(columns: int) -> int:
    """How many threads a row has."""
    if columns <= BY_WARP:
        return 1 if columns <= ALONE else WARP
    threads = 2 * WARP
    while threads < MAX_THREADS and threads * SHARE < columns:
        threads *= 2
    return threads if columns <= MAX_THREADS * HELD else 2 * MAX_THREADS


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
        self.team = team(size)
        self.each = next((count for count in self._counts(size) if all(self._moves(s, count) for s in stores)
                          and (any(self._moves(s, count) for s in loads) or not loads)), 1)         # neighbours that a thread has
        self.groups = -(-size // (self.team * self.each))               # of such neighbours
        self.is_even = self.groups * self.team * self.each == size
        self.stretches = self._stretches()
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

    def _stretches(self) -> list[Stretch]:
        """The groups of a thread, by where values wait."""
        words = self.waiting() // self.groups
        less = LESS if self.team <= MAX_THREADS else LEAST
        held = self.groups if self.team <= WARP or words * self.groups <= HELD and less == LESS else max(less // words, 1)
        self.shared = self._shared_places() if held < self.groups else {}
        group = sum(WIDTH[memory_code(code)] for code in {place: self.types[name] for name, place in self.shared.items()}.values())
        more = min(self.groups, held + SHARED // (group * self.each * self.team)) if group else held
        found = [Stretch(0, held, "row"), Stretch(held, more, "more"), Stretch(more, self.groups, "")]
        return [one for one in found if one.first < one.end]

    def _shared_places(self) -> dict[str, str]:
        """{value: the array of shared memory that it waits in}: one whose value no later pass needs takes the next."""
        found: dict[str, str] = {}
        free: list[tuple[int, str, str]] = []       # last pass that needs what is in it, code, array
        for name, at in sorted(self.kept.items(), key=lambda item: item[1]):
            code = memory_code(self.types[name])
            place = next((one for one in free if one[0] <= at and one[1] == code), None)
            if place is not None:
                free.remove(place)
            found[name] = place[2] if place else f"more{len(set(found.values()))}"
            last = max((p for p in range(self.passes + 1) if any(s.name == name for s in self._inside(p))), default=at)
            free.append((last, code, found[name]))
        return found

    def _later(self, p: int, place: str = "row") -> set[str]:
        """What a pass takes from where it waits."""
        return {name for name, at in self.kept.items() if at < p and place}

    def _inside(self, p: int, place: str = "row") -> list[Statement]:
        """What a pass computes, or takes from where it waits."""
        return self._without(self.needed[p], self._later(p, place), self.needed_in(p, self.row_stores))

    def _waits_at(self, name: str, stretch: Stretch, element: str = "0") -> tuple[str, str]:
        """(array, place in it) of a value that waits in a stretch, of an element of group k."""
        if stretch.place == "row":
            group = "k" if self.each == 1 else f"k * {self.each}"
            return f"{name}_row", group if element == "0" else f"{group} + {element}"
        group = f"((k - {stretch.first}) * {self.team} + thread)" if stretch.first else f"(k * {self.team} + thread)"
        place = f"{group} * {self.each}" if self.each > 1 else group
        return self.shared[name], place if element == "0" else f"{place} + {element}"

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
            self.head.line(f"{name}_row = local_{memory_code(self.types[name])}({self.stretches[0].end * self.each})")
        count = sum(one.end - one.first for one in self.stretches if one.place == "more") * self.each * self.team
        for array, name in {array: name for name, array in self.shared.items() if count}.items():
            self.head.line(f"{array} = shared_{memory_code(self.types[name])}({count})")
        if self.each > 1:
            for s in self.kernel.body:
                if s.kind == "load" and (s.name not in self.kept or not self.stretches[-1].place) and self._together(s):
                    self.head.line(f"{s.name}_four = local_{memory_code(s.dtype)}({self.each})")
            for stores in self.row_stores.values():
                for s in stores:
                    self.head.line(f"{self.param(s).name}_four = local_{memory_code(self.param(s).dtype)}({self.each})")

    def _row_pass(self, p: int) -> None:
        reductions = self._reductions(p)
        early = [s for s in self._inside(p) if self.kept.get(s.name) == p and self._together(s)]
        kept = [one for one in self.stretches if one.place]
        if early:       # all loads are under way before the first is waited for
            for one in kept:
                self._each_group(one, lambda one=one: self._load_neighbours(early, one))       # type: ignore[misc]
        for s in reductions:
            self._start(s)
        for one in self.stretches:
            inside = self._inside(p, one.place)
            waits = self.waiting() >= MANY and any(s.kind == "load" and (s.name not in self.kept or not one.place) for s in inside)
            self._each_group(one, functools.partial(self._group, p, one, inside, early if one.place else [], reductions), waits)
        if self.team > WARP and reductions:
            self._combine(reductions, self.passes)
        elif self.team == WARP:
            for s in reductions:
                self._fold(s, f"{s.name}_acc", f"{s.name}_at")
        for s in reductions:
            self._finish(s)

    def _each_group(self, stretch: Stretch, write: Callable[[], None], waits: bool = False) -> None:
        """A loop over the groups of a stretch that this thread has; `write` adds the lines inside.  `waits`: its loads are not
        to be moved before it, all at once, for which a condition is enough that always holds."""
        index = f"i{self.along}"
        start = f"{stretch.first}, " if stretch.first else ""
        with self.text.block(f"for k in range({start}{stretch.end}):"):
            at = len(self.text.lines)
            self.text.line(f"{index} = {self._first()}")
            if waits or not self.is_even and stretch is self.stretches[-1]:
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
        return column if self.each == 1 else f"({column}) * {self.each}" if member else f"k * {self.each}"

    def _group(self, p: int, stretch: Stretch, inside: list[Statement], early: list[Statement],
               reductions: list[Statement]) -> None:
        stores, waiting = self.row_stores.get(p, []), self._later(p, stretch.place) | {s.name for s in early}
        if self.each == 1:
            self._element(stretch, "0", inside, waiting, reductions)
            for s in stores:
                self.store(s)
            return
        fours = [s for s in inside if s.name not in waiting and self._together(s)]
        self._load_neighbours(fours)
        moved = any(s.access is not None and not sizes.same(s.access.strides[self.along], 0) and s not in fours
                    and s.name not in waiting for s in inside)
        with self.text.block(f"for e in range({self.each}):"):
            if moved:
                self.text.line(f"i{self.along} = {self._first()} + e")
            for s in fours:
                self.text.line(f"{s.name} = {scalars.loaded(f'{s.name}_four[e]', s.dtype)}", s.node)
            self._element(stretch, "e", [s for s in inside if s not in fours], waiting, reductions)
            for s in stores:
                self.text.line(f"{self.param(s).name}_four[e] = {scalars.stored(s.args[0], self.param(s).dtype)}")
        if moved and stores:
            self.text.line(f"i{self.along} = {self._first()}")
        for s in stores:
            assert s.access is not None
            self.text.line(f"{storing(self.each)}({self.param(s).name}, {self.index(s.access)}, {self.param(s).name}_four, 0)",
                           self.kernel.buffers[s.access.param].node)

    def _element(self, stretch: Stretch, element: str, inside: list[Statement], waiting: set[str],
                 reductions: list[Statement]) -> None:
        """What a pass does at one column, an element of group k."""
        for s in inside:
            if s.name in self.kept and stretch.place:
                array, place = self._waits_at(s.name, stretch, element)
            if s.name in waiting:
                self.text.line(f"{s.name} = {scalars.loaded(f'{array}[{place}]', s.dtype)}", s.node)
                continue
            self.statement(s)
            if s.name in self.kept and stretch.place:
                self.text.line(f"{array}[{place}] = {scalars.stored(s.name, s.dtype)}", s.node)
        for s in reductions:
            self._step(s)

    def _load_neighbours(self, loads: list[Statement], stretch: Stretch | None = None) -> None:
        """Loads the neighbours of each to where they wait in a stretch, or for what is computed at once."""
        for s in loads:
            assert s.access is not None
            array, place = (f"{s.name}_four", "0") if stretch is None else self._waits_at(s.name, stretch)
            self.text.line(f"{loading(self.each)}({array}, {place}, {self.param(s).name}, {self.index(s.access)})", s.node)

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
    def _counts(self, size: int) -> list[int]:
        """How many neighbours a thread may have: of 16 bits eight, where all threads of the team have some then."""
        halves = any(is_half(p.dtype) for p in self.kernel.params) and 8 * self.team <= max(size, 8)
        return [count for count in (8, 4) if divides(count, size) and (count == 4 or halves)]

    def _moves(self, s: Statement, count: int) -> bool:
        """Whether a load or store of so many neighbouring columns, from a multiple of as many on, moves them together."""
        assert s.access is not None
        return self._lies_together(s.access, count) and self.param(s).dtype in FOURS

    def _lies_together(self, access: Access, count: int) -> bool:
        others = [stride for k, stride in enumerate(access.strides) if k != self.along]
        return sizes.same(access.strides[self.along], 1) and all(divides(count, d) for d in (*others, access.offset))

    def _together(self, s: Statement) -> bool:
        return self.each > 1 and s.kind == "load" and self._moves(s, self.each)
