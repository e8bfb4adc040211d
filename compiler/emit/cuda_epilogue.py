"""Elementwise work that the kernel of a product does on its results, while these are in registers.

    x2_four = local_f32(4)                      # of a bias, say; an array for each buffer
    ...
    copy4(x2_four, 0, x2, c)                    # c: the first of four columns
    for e in range(4):
        v0 = sums[8 + e]
        v1 = x2_four[e]
        v2 = v0 + v1
        y0_four[e] = v2
    copy4(y0, there + c, y0_four, 0)            # there: the place of the row
"""
from __future__ import annotations

from typing import TYPE_CHECKING

from jitgraph.declare.prim import ELEMENTARY

from .. import sizes
from ..kernel import Access, Kernel, Statement, memory_code
from . import scalars
from .cuda_text import ELEMENTARY_WORK, FOURS, MOST_WORK
from .kernel_text import kernel_name

if TYPE_CHECKING:
    from ..ir import Value
    from .cuda_text import GridText


def suits(product: Value, kernel: Kernel) -> bool:
    """Whether a kernel is elementwise work on a product, element by element as it lies: it may read other tensors of that size,
    rows for all rows and single numbers, and writes tensors that are no variables."""
    columns = product.shape[-1]
    whole = sizes.same(sizes.product(loop.size for loop in kernel.loops), sizes.product(product.shape))
    if kernel.kind != "map" or not whole or sizes.same(columns, 1):
        return False
    if any(p.use == "inout" or p.use == "out" and v.node.kind.is_state for p, v in zip(kernel.params, kernel.buffers)):
        return False
    if any(node.kind.may_fail(node) for node in kernel.nodes):
        return False
    if sum(ELEMENTARY_WORK if s.prim in ELEMENTARY else 1 for s in kernel.body) > MOST_WORK:
        return False
    for s in kernel.body:
        if s.kind not in ("load", "store", "scalar", "op"):
            return False
        if s.access is not None:
            runs = _runs(kernel, s.access, columns)
            whole = s.kind == "store" or kernel.buffers[s.access.param] is product
            if not runs or whole and runs != "each":
                return False
    return True


def _runs(kernel: Kernel, access: Access, columns: sizes.Dim) -> str:
    """What an access has another element for: "each" element of the product, its "columns", or "one" for all; "" if it lies in any
    other way."""
    *others, last = access.strides
    if not sizes.same(access.offset, 0) or len(others) > 1:
        return ""
    if not others:
        return "each" if sizes.same(last, 1) else "one" if sizes.same(last, 0) else ""
    (row,) = others
    if not sizes.same(kernel.loops[1].size, columns):
        return ""
    if sizes.same(row, columns) and sizes.same(last, 1):
        return "each"
    return ("columns" if sizes.same(last, 1) else "one" if sizes.same(last, 0) else "") if sizes.same(row, 0) else ""


class Epilogue:
    """The lines of `kernel` in the text of a product of `product`, of which four columns always exist if `fours`."""

    def __init__(self, text: GridText, kernel: Kernel, product: Value, fours: bool, inputs: int):
        self.text, self.kernel, self.fours = text, kernel, fours
        self.types = {s.name: s.dtype for s in kernel.body if s.name}
        taken = [k for k, p in enumerate(kernel.params) if p.use == "in" and kernel.buffers[k] is not product]
        given = [k for k, p in enumerate(kernel.params) if p.use == "out"]
        self.inputs, self.outputs = ([kernel.buffers[k] for k in numbers] for numbers in (taken, given))
        self.names = {k: f"x{inputs + n}" for n, k in enumerate(taken)} | {k: f"y{n}" for n, k in enumerate(given)}
        self.runs = {id(s): _runs(kernel, s.access, product.shape[-1]) for s in kernel.body if s.access is not None}
        text.name += kernel_name(kernel).removeprefix("map")

    def begin(self) -> None:
        """What is the same for all elements, before the loop over items."""
        for s in self.kernel.body:
            if s.kind == "scalar":
                self.text.slots.append(f"    {s.name} = scalar_{s.dtype}(sizes, {len(self.text.sizes)})")
                self.text.sizes.append(("scalar", self.kernel.scalars[s.args[0]], s.dtype))
            elif s.kind == "load" and self.runs[id(s)] == "one" and self._name(s):
                self.text.line(1, f"{s.name} = {scalars.loaded(f'{self._name(s)}[0]', s.dtype)}")

    def arrays(self) -> None:
        """Registers for what moves by four, in each item."""
        for s in self.kernel.body:
            if self._by_four(s):
                self.text.line(2, f"{self._four(s)} = local_{memory_code(self._code(s))}(4)")

    def four(self, indent: int, first: int) -> None:
        """Four columns from `c` on, whose sums are from place `first` on; the row lies from `there` on."""
        line = self.text.line
        for s in self.kernel.body:
            if s.kind == "load" and self._by_four(s):
                line(indent, f"copy4({self._four(s)}, 0, {self._name(s)}, {self._place(s)})")
        line(indent, "for e in range(4):")
        inner = indent + 1
        if not self.fours:
            line(inner, "if c + e < columns:")
            inner += 1
        for s in self.kernel.body:
            if s.kind == "load" and self.runs[id(s)] != "one" or s.kind == "load" and not self._name(s):
                line(inner, f"{s.name} = {self._loaded(s, first)}")
            elif s.kind == "op":
                line(inner, f"{s.name} = {scalars.expression(s, self.types)}")
            elif s.kind == "store":
                to = f"{self._four(s)}[e]" if self._by_four(s) else f"{self._name(s)}[{self._place(s)} + e]"
                line(inner, f"{to} = {scalars.stored(s.args[0], self._code(s))}")
        for s in self.kernel.body:
            if s.kind == "store" and self._by_four(s):
                line(indent, f"copy4({self._name(s)}, {self._place(s)}, {self._four(s)}, 0)")

    def _loaded(self, s: Statement, first: int) -> str:
        if not self._name(s):
            return f"sums[{first} + e]"
        return scalars.loaded(f"{self._four(s)}[e]" if self._by_four(s) else f"{self._name(s)}[{self._place(s)} + e]", s.dtype)

    def _name(self, s: Statement) -> str:
        """What a load or a store looks into: a buffer, or "" for the product itself."""
        assert s.access is not None
        return self.names.get(s.access.param, "")

    def _code(self, s: Statement) -> str:
        assert s.access is not None
        return self.kernel.params[s.access.param].dtype

    def _four(self, s: Statement) -> str:
        return f"{s.name or self._name(s)}_four"

    def _place(self, s: Statement) -> str:
        return "there + c" if self.runs[id(s)] == "each" else "c"

    def _by_four(self, s: Statement) -> bool:
        moves = s.kind in ("load", "store") and self._name(s) and self.runs[id(s)] != "one"
        return bool(moves) and self.fours and self._code(s) in FOURS
