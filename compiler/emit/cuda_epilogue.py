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
from ..views import resolve
from . import scalars
from .cuda_text import ELEMENTARY_WORK, FOURS, MOST_WORK, divides, is_short
from .kernel_text import as_it_lies, changed_variables, goes_through, kernel_name

if TYPE_CHECKING:
    from ..ir import Value
    from .cuda_text import GridText


def suits(product: Value, kernel: Kernel) -> bool:
    """Whether a kernel is elementwise work on a product, element by element as it lies: it may read other tensors of that size,
    rows for all rows and single numbers, and writes tensors, also into a frame (of padding), and variables.

    A variable that it changes it reads only at the element that it writes then, and the product does not read it at all: other
    blocks would find some of it changed.
    """
    columns, changed = product.shape[-1], changed_variables(kernel)
    if changed & {resolve(v)[0].node.variable for v in product.node.inputs}:
        return False
    if not goes_through(kernel, product) or sizes.same(columns, 1):
        return False
    if sum(ELEMENTARY_WORK if s.prim in ELEMENTARY else 1 for s in kernel.body) > MOST_WORK:
        return False
    for s in kernel.body:
        if s.kind not in ("load", "store", "scalar", "op"):
            return False
        if s.access is not None:
            runs = how_it_runs(kernel, s.access, columns)
            whole = kernel.buffers[s.access.param] is product or kernel.params[s.access.param].use == "inout"
            fits = ("each",) if whole else ("each", "framed") if s.kind == "store" \
                else ("each", "framed", "columns", "one")
            if runs not in fits or runs == "framed" and not is_short(sizes.product(product.shape[:-1])):
                return False
    return True


def how_it_runs(kernel: Kernel, access: Access, columns: sizes.Dim) -> str:
    """What an access has another element for: "each" element of the product, its "columns", or "one" for all; "framed" if it is
    each, but neighbouring rows may lie apart; "" if it lies in any other way."""
    last = kernel.loops[-1]
    *others, step = access.strides
    if as_it_lies(kernel, access):
        return "each"
    if all(sizes.same(stride, 0) for stride in access.strides):
        return "one" if sizes.same(access.offset, 0) else ""
    if not sizes.same(step, 1):
        return ""
    if sizes.same(access.offset, 0) and sizes.same(last.size, columns) and all(sizes.same(stride, 0) for stride in others):
        return "columns"
    apart = not any(sizes.same(stride, 0) for stride in others)
    return "framed" if apart and sizes.same(last.size // columns * columns, last.size) else ""


class Epilogue:
    """The lines of `kernel` in the text of a product of `product`, of which four columns always exist if `fours`."""

    def __init__(self, text: GridText, kernel: Kernel, product: Value, fours: bool, inputs: int):
        self.text, self.kernel, self.product, self.fours = text, kernel, product, fours
        self.types = {s.name: s.dtype for s in kernel.body if s.name}
        taken = [k for k, p in enumerate(kernel.params) if p.use == "in" and kernel.buffers[k] is not product]
        given = [k for k, p in enumerate(kernel.params) if p.use != "in"]
        self.uses = [kernel.params[k].use for k in given]
        self.inputs, self.outputs = ([kernel.buffers[k] for k in numbers] for numbers in (taken, given))
        self.names = {k: f"x{inputs + n}" for n, k in enumerate(taken)} | {k: f"y{n}" for n, k in enumerate(given)}
        self.runs = {id(s): how_it_runs(kernel, s.access, product.shape[-1]) for s in kernel.body if s.access is not None}
        self.frames: dict[int, str] = {}        # where the present row lies in a frame, by access
        text.name += kernel_name(kernel).removeprefix("map")

    def begin(self) -> None:
        """What is the same for all elements, before the loop over items."""
        for s in self.kernel.body:
            if s.kind == "scalar":
                self.text.slots.append(f"    {s.name} = scalar_{s.dtype}(sizes, {len(self.text.sizes)})")
                self.text.sizes.append(("scalar", self.kernel.scalars[s.args[0]], s.dtype))
            elif s.kind == "load" and self.runs[id(s)] == "one" and self._name(s):
                self.text.line(1, f"{s.name} = {scalars.loaded(f'{self._name(s)}[0]', s.dtype)}")

    def row(self, indent: int) -> None:
        """Lines that find where a row lies in frames, from its place in the product, `there`."""
        framed = [s for s in self.kernel.body if s.access is not None and self.runs[id(s)] == "framed"]
        if framed and not self.frames:
            self._give_frames(framed)
        if framed:
            self.text.line(indent, "pixel = quotient(there, columns)")
        for s in framed:
            at = self.frames[id(s)]
            across, *down = self.steps[at]
            self.text.lines_at(indent, ["past = pixel", f"{at} = {self.starts[at]}"])
            for size, stride in (across, *down):
                self.text.lines_at(indent, [f"rest = quotient32(past, {size})", f"{at} += (past - rest * {size}) * {stride}",
                                            "past = rest"])

    def _give_frames(self, framed: list[Statement]) -> None:
        """Finds the sizes of frames: `starts`, and `steps` from one row to the next along each loop, the last first.  They are
        looked up here, as in registers they would be in the way of all sums before."""
        columns = self.product.shape[-1]
        self.starts: dict[str, str] = {}
        self.steps: dict[str, list[tuple[str, str]]] = {}
        for s in framed:
            assert s.access is not None
            at = f"frame{len(self.steps)}"
            self.frames[id(s)] = at
            *strides, _ = s.access.strides
            self.starts[at] = self.text.looked_up(s.access.offset)
            counts = [*(loop.size for loop in self.kernel.loops[:-1]), self.kernel.loops[-1].size // columns]
            pairs = list(zip(counts, [*strides, columns]))[::-1]
            self.steps[at] = [(self.text.looked_up(count), self.text.looked_up(stride)) for count, stride in pairs]

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
        return {"each": "there + c", "columns": "c"}.get(self.runs[id(s)]) or f"{self.frames[id(s)]} + c"

    def _by_four(self, s: Statement) -> bool:
        moves = s.kind in ("load", "store") and self._name(s) and self.runs[id(s)] != "one"
        if moves and self.runs[id(s)] == "framed":
            assert s.access is not None
            moves = all(divides(4, d) for d in (*s.access.strides[:-1], s.access.offset))
        return bool(moves) and self.fours and self._code(s) in FOURS
