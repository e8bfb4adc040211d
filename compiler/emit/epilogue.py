"""Elementwise work on the result of a kernel that is written by hand, after each of its items, while that is in the cache.

    def matmul_tiles_f32_add_max(x0, x1, x2, y0, sizes, begin, end):
        before = sizes[16]
        err = 0
        for item in range(begin, end):
            err |= run_f32_f32_f32(before, x0, x1, y0, sizes, item, item + 1)
            ...                                         # which rows and columns of the result this item has made
            for row in range(first, first + count):
                for column in range(left, right):
                    v0 = y0[row * s0 + column]
                    v1 = x2[column]
                    v2 = v0 + v1
                    y0[row * s0 + column] = maximum(v2, v3)
        return err

The product's kernel is called by its address, so that all products of a program still share one; it writes where the first
result of the elementwise work is to lie.
"""
from __future__ import annotations

from dataclasses import replace

from .. import sizes
from ..ir import Value
from ..kernel import Access, Kernel, Loop, Statement, memory_code
from ..options import STANDARD, Options
from .call import Call
from .cpu import work_of_element
from .kernel_text import as_it_lies, changed_variables, goes_through, kernel_name
from .loops import Emitter, Text


def suits(result: Value, kernel: Kernel) -> bool:
    """Whether a kernel is elementwise work on `result`, element by element as it lies.  It may read other tensors in any order;
    it writes tensors that are no variables, at least one of the same type: there the result can lie before.

    A kernel that changes a variable is never left halfway, and a product takes too long for that.
    """
    columns = result.shape[-1] if result.rank else 1
    if not goes_through(kernel, result) or changed_variables(kernel) or len(kernel.loops) > 2:
        return False
    if len(kernel.loops) == 2 and not sizes.same(kernel.loops[1].size, columns):
        return False
    for s in kernel.body:
        if s.kind not in ("load", "store", "scalar", "op", "index"):
            return False
        if s.access is not None and (s.kind == "store" or s.kind == "load" and kernel.buffers[s.access.param] is result) \
                and not as_it_lies(kernel, s.access):
            return False
    return _target(result, kernel) is not None


def _target(result: Value, kernel: Kernel) -> int | None:
    """The parameter of `kernel` where the result can lie before."""
    code = next((kernel.params[k].dtype for k, v in enumerate(kernel.buffers) if v is result), None)
    return next((s.access.param for s in kernel.body if s.kind == "store" and s.access is not None
                 and kernel.params[s.access.param].dtype == code), None)


def joined(before: Kernel, after: Kernel, result: Value, options: Options = STANDARD) -> Kernel:
    """One kernel for `before`, which makes `result` and says by its `region` which part of it an item makes, and for the
    elementwise work `after`, which `suits` it."""
    return _Writer(before, after, result, options).joined()


class _Writer(Emitter):
    """The lines of the elementwise work.  Its loops are called row and column, or where items make whole rows and nothing depends
    on the column alone, `at`."""

    def __init__(self, before: Kernel, after: Kernel, result: Value, options: Options):
        assert before.region is not None
        self.before, self.after, self.result, self.region = before, after, result, before.region
        self.flat = self.region.whole and len(after.loops) == 1
        columns, target = result.shape[-1], _target(result, after)
        assert target is not None
        if not self.flat and len(after.loops) == 1:
            loops = [Loop(size, "outer") for size in (sizes.product(result.shape[:-1]), columns)]
            kernel = replace(after, loops=loops, body=[_in_rows(s, columns) for s in after.body])
        else:
            kernel = after
        taken = [k for k, p in enumerate(after.params) if p.use == "in" and after.buffers[k] is not result]
        given = [k for k, p in enumerate(after.params) if p.use == "out" and k != target]
        self.own = [*taken, target, *given]         # the parameters that are added to those of `before`, but for its result
        self.names = {k: f"x{n}" for n, k in enumerate(taken, len(before.params) - 1)}
        self.names |= {k: f"y{n}" for n, k in enumerate(given, 1)}
        super().__init__(replace(kernel, params=[replace(p) for p in kernel.params]), options)
        self.slot_sizes = [*before.sizes]

    def _name_params(self) -> None:
        for k, param in enumerate(self.kernel.params):
            param.name = self.names.get(k, "y0")            # which the result and the target share

    def loop_name(self, k: int) -> str:
        return "at" if self.flat else ("row", "column")[k]

    def joined(self) -> Kernel:
        """The whole kernel."""
        before, after = self.before, self.after
        made = Kernel(before.kind, [], nodes=[*before.nodes, *after.nodes], scalars=after.scalars, items=before.items)
        made.name = before.name + kernel_name(after).removeprefix("map")
        *inputs, _ = before.params
        made.params = [*(replace(p) for p in inputs), *(self.kernel.params[k] for k in self.own)]
        made.buffers = [*before.buffers[:-1], *(after.buffers[k] for k in self.own)]
        called = Call(" ".join([memory_code(p.dtype) for p in before.params]))
        made.forms, made.joins, made.cost = [called], (before, after), self._cost()
        made.source = self._source(made, called)
        made.sizes = self.slot_sizes
        return made

    def _source(self, made: Kernel, called: Call) -> str:
        address = len(self.slot_sizes)
        self.slot_sizes.append(("kernel", self.before))
        for s in self.kernel.body:
            if s.kind == "scalar":
                self._scalar(s)
        for s in self._where(self._hoisted):
            self.statement(s)
        with self.text.block("for item in range(begin, end):"):
            buffers = ", ".join([p.name for p in self.before.params])
            self.text.line(f"err |= {called.name}(before, {buffers}, sizes, item, item + 1)")
            for indent, line in self.region.lines:
                self.text.depth = 2 + indent
                self.text.line(line)
            self.text.depth = 2 + self.region.depth
            self._part()
        whole = Text(0)
        with whole.block(f"def {made.name}({', '.join([p.name for p in made.params])}, sizes, begin, end):"):
            for line in (*self.region.slots, f"before = sizes[{address}]"):
                whole.line(line)
            whole.add(self.arguments)
            whole.line("err = 0")
            whole.add(self.text)
            whole.line("return err")
        return "\n".join(whole.lines) + "\n"

    def _part(self) -> None:
        """The loops over the part of the result that the item has made."""
        stores = self._stores("full")
        columns = self.slot(self.result.shape[-1], "n") if self.region.whole else ""
        if self.flat:
            with self.text.block(f"for at in range(first * {columns}, (first + count) * {columns}):"):
                self._all(self._where(lambda n: self.deps[n]), stores)
            return
        with self.text.block("for row in range(first, first + count):"):
            for s in self._where(lambda n: self.deps[n] == {0}):
                self.statement(s)
            with self.text.block(f"for column in range({columns or 'left, right'}):"):
                self._all(self._where(lambda n: 1 in self.deps[n]), stores)

    def _cost(self) -> tuple[float, sizes.Dim]:
        """That of the product, and what the elementwise work adds to an item."""
        time, steps = self.before.cost
        elements = sizes.hint_of(sizes.product(self.result.shape)) // max(sizes.hint_of(self.before.items), 1)
        return time, steps + int(elements * work_of_element(self.after) / time)


def _in_rows(s: Statement, columns: sizes.Dim) -> Statement:
    """A statement of a kernel with one loop as one of a kernel with loops over rows and columns."""
    if s.access is None:
        return s
    (stride,) = s.access.strides
    return replace(s, access=Access(s.access.param, [stride * columns, stride], s.access.offset))
