"""emit for the CPU: explicit loops over a range of items, which LLVM vectorises.

    def mul_add(x0, x1, y0, sizes, begin, end):     # buffers, then sizes and strides, then the range of items
        n0 = sizes[0]
        ...
        return err                                  # 0, or bits that say what check failed
"""
from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence

from jitgraph.declare.prim import ELEMENTARY

from .. import sizes
from ..kernel import Kernel, Statement, memory_code
from ..options import STANDARD, Options
from . import scalars, turn
from .kernel_text import kernel_name
from .loops import Emitter, Spills, Text
from .words import Scratch

COLUMNS = 4096          # columns per item of a "cols" kernel: long stretches of a row suit the memory
SUM_BLOCK = 4096        # float32 terms that are added up in float32
SEARCH_BLOCK = 512      # elements whose extreme is found before they are looked through for it
STRETCH = 64            # rows of float32 columns that are added up in float32


def emit(kernel: Kernel, options: Options = STANDARD) -> Kernel:
    """Fills in the kernel's name, source and size arguments."""
    kernel.items, kernel.cost = _work(kernel)
    writer = CPUEmitter(kernel, options)
    writer.write()
    kernel.name = kernel_name(kernel)
    params = ", ".join([p.name for p in kernel.params] + ["sizes", "begin", "end"])
    text = Text(0)
    with text.block(f"def {kernel.name}({params}):"):
        text.add(writer.arguments)
        text.line("err = 0")
        text.add(writer.text)
        text.line("return err")
    writer.finish(text)
    return kernel


def work_of_element(kernel: Kernel) -> float:
    """The rough cost of one run of its statements in nanoseconds."""
    return sum(6 if s.prim in ELEMENTARY else 1 for s in kernel.body if s.kind != "scalar") * 0.12


def _work(kernel: Kernel) -> tuple[sizes.Dim, tuple[float, sizes.Dim]]:
    """Number of items that threads share out, and the rough cost of one in nanoseconds."""
    outer = [loop.size for loop in kernel.loops if loop.role == "outer"]
    work = work_of_element(kernel)
    per_item: sizes.Dim = 1
    if kernel.kind == "map":
        if len(outer) > 1:
            per_item = outer.pop()
        items = sizes.product(outer)
    elif kernel.kind == "partial":
        items = kernel.parts
        per_item = sizes.product(loop.size for loop in kernel.loops) // kernel.parts + 1
    else:
        per_item = sizes.product(loop.size for loop in kernel.loops if loop.role == "reduce")
        items = sizes.product(outer)
        if kernel.parts:
            per_item = (per_item + kernel.parts - 1) // kernel.parts
        if kernel.kind == "cols":
            inner = kernel.loops[-1].size
            items = items * ((inner + COLUMNS - 1) // COLUMNS)
            per_item = per_item * (inner if inner <= COLUMNS else COLUMNS)
    return items, (work, per_item)


def _span(start: str, end: str) -> str:
    """What `range` takes."""
    return end if start == "0" else f"{start}, {end}"


class CPUEmitter(Emitter):
    """Writes one kernel; `turned`: the text of operands that are read from scratch blocks."""

    def __init__(self, kernel: Kernel, options: Options):
        super().__init__(kernel, options)
        self.turned: dict[str, str] = {}

    def _array(self, name: str, code: str, count: int) -> None:
        """Writes a variable for an array on the stack."""
        form = Scratch(code, count)
        if form not in self.kernel.forms:
            self.kernel.forms.append(form)
        self.text.line(f"{name} = {form.name}()")

    # map -------------------------------------------------------------------------------------------------------
    def _map(self) -> None:
        last = len(self.kernel.loops) - 1
        inner = self._where(lambda n: last in self.deps[n])
        stores = [s for s in self.kernel.body if s.kind == "store"]
        turned = turn.crossing(self.kernel, last) if self.options.uses("turned_blocks") else None
        if turned is not None:
            self._blocks(last, *turned)
            return
        if last == 0:
            with self.text.block("for i0 in range(begin, end):"):
                self._all(inner, stores)
            return
        counted = last > 1
        if counted:
            self._first_indices(last)
        with self.text.block("for q in range(begin, end):"):
            if not counted:
                self._item_indices(list(range(last)))
            for s in self._where(lambda n: self.deps[n] and last not in self.deps[n]):
                self.statement(s)
            with self.text.block(f"for i{last} in range({self.extent(last, inner=True)}):"):
                self._all(inner, stores)
            if counted:
                self._next_indices(last)

    def _first_indices(self, last: int) -> None:
        """Takes the number of the first item apart.  The indices of the others are counted: a division for each loop of each item
        takes longer than a short inner loop."""
        item = "begin"
        for k in range(last - 1, 0, -1):
            self.text.line(f"t{k} = quotient({item}, larger({self.extent(k)}, 1))")
            self.text.line(f"i{k} = {item} - t{k} * {self.extent(k)}")
            item = f"t{k}"
        self.text.line(f"i0 = {item}")

    def _next_indices(self, last: int) -> None:
        """Goes on to the next item."""
        depth = self.text.depth
        for k in range(last - 1, 0, -1):
            self.text.line(f"i{k} = i{k} + 1")
            self.text.block(f"if i{k} == {self.extent(k)}:")
            self.text.line(f"i{k} = 0")
        self.text.line("i0 = i0 + 1")
        self.text.depth = depth

    def _blocks(self, last: int, other: int, loads: list[Statement]) -> None:
        """A map in blocks over its innermost loop and the loop along which the operands `loads` lie."""
        line, size = self.text.line, turn.BLOCK
        wide, tall = self.extent(last), self.extent(other)
        for s in loads:
            self._array(f"{s.name}_block", memory_code(s.dtype), size * size)
        line(f"across = quotient({wide} + {size - 1}, {size})")
        line(f"down = quotient({tall} + {size - 1}, {size})")
        self.turned = {s.name: f"{s.name}_block[(i{other} - top) * {size} + i{last} - left]" for s in loads}
        with self.text.block("for q in range(begin, end):"):
            line("strip = quotient(q, across)")
            line(f"left = (q - strip * across) * {size}")
            line(f"right = smaller(left + {size}, {wide})")
            line("block = quotient(strip, down)")
            line(f"top = (strip - block * down) * {size}")
            line(f"bottom = smaller(top + {size}, {tall})")
            rest = [k for k in range(last) if k != other]
            self._item_indices(rest, "block")
            for s in loads:
                self._turn(s, other, last)
            inside = {other, last}
            for s in self._where(lambda n: self.deps[n] and not self.deps[n] & inside):
                self.statement(s)
            with self.text.block(f"for i{other} in range(top, bottom):"):
                for s in self._where(lambda n: other in self.deps[n] and last not in self.deps[n]):
                    self.statement(s)
                with self.text.block(f"for i{last} in range(left, right):"):
                    self._all(self._where(lambda n: last in self.deps[n]), [s for s in self.kernel.body if s.kind == "store"])
        loops = self.kernel.loops
        blocks = [(loops[k].size + size - 1) // size for k in (other, last)]
        self.kernel.items = sizes.product([loops[k].size for k in rest] + blocks)
        self.kernel.cost = (self.kernel.cost[0] * 2, size * size)

    def _turn(self, s: Statement, other: int, last: int) -> None:
        """Lines that fill the scratch block of a transposed operand."""
        assert s.access is not None
        line, size = self.text.line, turn.BLOCK
        name, memory = self.param(s).name, memory_code(s.dtype)
        line(f"i{other}, i{last} = top, left")
        line(f"at = {self.index(s.access)}")
        step = self.stride(s.access, last)
        with self.text.block(f"if (bottom - top == {size}) & (right - left == {size}):"):
            line(f"turn_{memory}({name}, at, {step}, {s.name}_block)")
        with self.text.block("else:"):
            with self.text.block("for k in range(right - left):"):
                with self.text.block("for r in range(bottom - top):"):
                    line(f"{s.name}_block[r * {size} + k] = {name}[at + k * {step} + r]")

    def load(self, s: Statement) -> str:
        text = self.turned.get(s.name)
        return super().load(s) if text is None else scalars.loaded(text, s.dtype)

    # rows and partial ------------------------------------------------------------------------------------------
    def _rows(self) -> None:
        passes, stores, spills = self.plan_passes()
        with self.text.block("for q in range(begin, end):"):
            self._item_indices(self._loops("outer"))
            for p in range(passes + 1):
                self._row_statements(p)
                if p < passes or stores.get(p):
                    self._pass(p, stores, spills)
            for s in self._stores("row"):
                self.store(s)

    def _pass(self, p: int, stores: dict[int, list[Statement]], spills: Spills) -> None:
        reductions = self._reductions(p)
        for s in reductions:
            self._start(s)
        short = self.literal(self._loops("reduce")[-1], inner=True) is not None
        searches = len(reductions) == 1 and len(reductions[0].args) > 1 and not short
        if searches and len(self._loops("reduce")) == 1 and not stores.get(p) and self.options.uses("search_blocks"):
            self._search(p, reductions[0], stores, spills)
            return
        blocked = [s for s in reductions if self._in_float32(s) and not short]
        alone = len(reductions) == 1 and not stores.get(p) and all(at != p for at, _ in spills.values())

        def step(s: Statement) -> None:
            if s in blocked:
                self.text.line(f"{s.name}_part = sum_step({s.name}_part, {s.args[0]})", s.node)
            else:
                self._step(s, alone)

        with self._nest(self._loops("reduce"), blocked):
            self._pass_body(p, stores, spills, step)
        for s in reductions:
            self._finish(s)

    def _search(self, p: int, s: Statement, stores: dict[int, list[Statement]], spills: Spills) -> None:
        """An argmax or argmin: LLVM vectorises the extreme of a block, and only the first block with the best one is looked
        through."""
        (k,) = self._loops("reduce")
        n, code = self.extent(k, inner=True), scalars.accumulator_code(s.prim, self.types[s.args[0]])
        extreme, better = ("max", ">") if s.prim == "argmax" else ("min", "<")
        start, step = scalars.reduction(extreme, code)
        body = lambda then: self._pass_body(p, stores, spills, then)
        with self.text.block(f"for b{k} in range(0, {n}, {SEARCH_BLOCK}):"):
            self.text.line(f"e{k} = smaller(b{k} + {SEARCH_BLOCK}, {n})")
            self.text.line(f"{s.name}_best = {start}", s.node)
            with self.text.block(f"for i{k} in range(b{k}, e{k}):"):
                body(lambda s: self.text.line(f"{s.name}_best = " + step.format(acc=f"{s.name}_best", x=s.args[0])))
            self.text.line(f"{s.name}_new = {s.name}_best {better} {s.name}_acc", s.node)
            self.text.line(f"{s.name}_at = select({s.name}_new, b{k}, {s.name}_at)", s.node)
            self.text.line(f"{s.name}_acc = select({s.name}_new, {s.name}_best, {s.name}_acc)", s.node)
        self.text.line(f"{s.name}_from = {s.name}_at", s.node)
        self.text.line(f"{s.name}_to = smaller({s.name}_at + {SEARCH_BLOCK}, {n})", s.node)
        self.text.line(f"{s.name}_at = {s.name}_to", s.node)
        with self.text.block(f"for i{k} in range({s.name}_from, {s.name}_to):"):
            body(lambda s: self.text.line(f"{s.name}_at = smaller({s.name}_at, select({s.args[0]} == {s.name}_acc, "
                                          f"{s.args[1]}, {s.name}_to))"))
        # of nothing but NaN and the start value the first element, as where one is compared after the other
        self.text.line(f"{s.name}_at = select({s.name}_acc == {start}, 0, {s.name}_at)", s.node)
        self._finish(s)

    @contextlib.contextmanager
    def _nest(self, loops: list[int], blocked: Sequence[Statement] = ()) -> Iterator[None]:
        """The loops, innermost last.  Sums of float32 in `blocked` run in float32 over blocks of SUM_BLOCK elements and
        in float64 across blocks: as exact as float64 throughout, at the speed of float32."""
        depth = self.text.depth
        for at, k in enumerate(loops):
            inner = at == len(loops) - 1
            start, end = self.loop_range(k, first=at == 0, inner=inner)
            size = self.kernel.loops[k].size
            if inner and blocked and (isinstance(size, sizes.Size) or size > SUM_BLOCK):
                self.text.block(f"for b{k} in range({start}, {end}, {SUM_BLOCK}):")
                self.text.line(f"e{k} = smaller(b{k} + {SUM_BLOCK}, {end})")
                start, end = f"b{k}", f"e{k}"
            if inner:
                for s in blocked:
                    self.text.line(f"{s.name}_part = f32(0)")
            self.text.block(f"for i{k} in range({_span(start, end)}):")
        yield
        self.text.depth -= 1
        if blocked:
            for s in blocked:
                self.text.line(f"{s.name}_acc += f64({s.name}_part)")
        self.text.depth = depth

    def loop_range(self, k: int, first: bool, inner: bool) -> tuple[str, str]:
        """The texts of a loop's begin and end."""
        if first and self.kernel.parts_of_columns:
            return "first", "last"
        if first and self.kernel.kind == "partial":
            return "lo", "hi"
        return "0", self.extent(k, inner=inner and self.kernel.kind != "cols")      # rows of columns wait for nothing

    def _partial(self) -> None:
        first = self._loops("reduce")[0]
        n = self.extent(first)
        parts = self.kernel.parts
        self.text.line(f"step = quotient({n} + {parts - 1}, {parts})")
        _passes, stores, _spills = self.plan_passes()
        with self.text.block("for q in range(begin, end):"):
            self.text.line(f"lo = smaller(q * step, {n})")
            self.text.line(f"hi = smaller(lo + step, {n})")
            merged = {0: [s for p in stores.values() for s in p]}
            self._pass(0, merged, {})
            for s in self._stores("row"):
                self.store(s, "q")

    # cols ------------------------------------------------------------------------------------------------------
    def _cols(self) -> None:
        inner = len(self.kernel.loops) - 1
        n = self.extent(inner)
        reductions = [s for s in self.kernel.body if s.kind == "reduce"]
        codes = {s.name: scalars.accumulator_code(s.prim, self.types[s.args[0]]) for s in reductions}
        stretched = [s for s in reductions if self._in_float32(s)]
        for s in reductions:
            self._array(f"{s.name}_acc", memory_code(codes[s.name]), COLUMNS)
        for s in stretched:
            self._array(f"{s.name}_part", "f32", COLUMNS)
        searches = [s for s in reductions if len(s.args) > 1]
        for s in searches:
            self._array(f"{s.name}_at", "i64", COLUMNS)
        self.text.line(f"blocks = quotient({n} + {COLUMNS - 1}, {COLUMNS})")
        with self.text.block("for q in range(begin, end):"):
            self.text.line("block = quotient(q, blocks)")
            self.text.line(f"lo = (q - block * blocks) * {COLUMNS}")
            self.text.line(f"hi = smaller(lo + {COLUMNS}, {n})")
            self._item_indices(self._loops("outer"), "block")
            outer = set(self._loops("outer"))
            for s in self._where(lambda n: self.deps[n] and self.deps[n] <= outer and not self.avail[n]):
                self.statement(s)
            self._each_column(f"{s.name}_acc[c] = {scalars.stored(scalars.reduction(s.prim, codes[s.name])[0], codes[s.name])}"
                              for s in reductions)
            if searches:
                self._each_column(f"{s.name}_at[c] = 0" for s in searches)
            *outside, last = self._loops("reduce")
            if self.kernel.parts:
                self.part_lines(self.extent(self._loops("reduce")[0]))
            with self._nest(outside) if outside else contextlib.nullcontext():
                with self._stretches(stretched, last, not outside) as rows, self.text.block(f"for i{last} in range({rows}):"):
                    self._column_row(reductions, codes, stretched, inner)
            self._column_results(reductions, codes, searches, inner)

    def _each_column(self, lines: Iterable[str]) -> None:
        with self.text.block("for c in range(hi - lo):"):
            for line in lines:
                self.text.line(line)

    @contextlib.contextmanager
    def _stretches(self, stretched: list[Statement], k: int, first: bool) -> Iterator[str]:
        """The rows that sums of float32 are added up over in float32; gives the range of the loop over rows."""
        start, end = self.loop_range(k, first, inner=True)
        if not stretched:
            yield _span(start, end)
            return
        with self.text.block(f"for b{k} in range({start}, {end}, {STRETCH}):"):
            self._each_column(f"{s.name}_part[c] = f32(0)" for s in stretched)
            self.text.line(f"e{k} = smaller(b{k} + {STRETCH}, {end})")
            yield f"b{k}, e{k}"
            self._each_column(f"{s.name}_acc[c] += f64({s.name}_part[c])" for s in stretched)

    def _column_row(self, reductions: list[Statement], codes: dict[str, str], stretched: list[Statement], inner: int) -> None:
        """Columns lo to hi of one row: memory is read in the order in which it lies."""
        stores = self._stores("full")
        needed = self.closure([a for s in reductions for a in s.args] + [s.args[0] for s in stores], self.varies)
        for s in needed:
            if inner not in self.deps[s.name]:      # LLVM would read it for each column: what is stored might lie there
                self.statement(s)
        with self.text.block(f"for i{inner} in range(lo, hi):"):
            for s in needed:
                if inner in self.deps[s.name]:
                    self.statement(s)
            for s in reductions:
                source = self.types[s.args[0]]
                if len(s.args) > 1:
                    self._look(s, f"[i{inner} - lo]", source, codes[s.name])
                elif s in stretched:
                    self._combine(s, f"{s.name}_part[i{inner} - lo]", s.args[0], source, "f32")
                else:
                    self._combine(s, f"{s.name}_acc[i{inner} - lo]", s.args[0], source, codes[s.name])
            for s in stores:
                self.store(s)

    def _in_float32(self, s: Statement) -> bool:
        """Whether stretches of a sum are added up in float32."""
        return s.prim == "add" and self.types[s.args[0]] == "f32" and self.options.uses("float32_sums")

    def _combine(self, s: Statement, acc: str, x: str, source: str, code: str) -> None:
        """acc = acc combined with x, which has type `source`; accumulators in memory hold truth values as bytes."""
        text = scalars.reduction(s.prim, code)[1].format(acc=scalars.loaded(acc, code), x=scalars.cast(x, source, code))
        self.text.line(f"{acc} = {scalars.stored(text, code)}", s.node)

    def _look(self, s: Statement, column: str, source: str, code: str) -> None:
        """One step of the search for the place of a column's extreme."""
        best, place, x = f"{s.name}_acc{column}", f"{s.name}_at{column}", scalars.cast(s.args[0], source, code)
        self.text.line(f"{s.name}_new = {x} {'>' if s.prim == 'argmax' else '<'} {best}", s.node)
        self.text.line(f"{place} = select({s.name}_new, {s.args[1]}, {place})", s.node)
        self.text.line(f"{best} = select({s.name}_new, {x}, {best})", s.node)

    def _column_results(self, reductions: list[Statement], codes: dict[str, str], searches: list[Statement], inner: int) -> None:
        stores = self._stores("row")
        with self.text.block(f"for i{inner} in range(lo, hi):"):
            for s in reductions:
                value = scalars.cast(scalars.loaded(f"{s.name}_acc[i{inner} - lo]", codes[s.name]), codes[s.name], s.dtype)
                self.text.line(f"{s.name} = " + (f"{s.name}_at[i{inner} - lo]" if s in searches else value), s.node)
            for s in self.closure([s.args[0] for s in stores], self.varies_in_columns):
                self.statement(s)
            for s in stores:
                self.store(s)


