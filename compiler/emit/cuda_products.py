"""Matrix products, and whatever is one, for CUDA: a block of threads makes a square tile of the result.

    y[row, column] = sum over terms of a[row, term] * b[term, column]

Some terms after the other, the block brings a strip of both factors into shared memory, terms by rows, and each thread adds
products of `each` rows and as many columns to sums that stay in its registers.  While it does, the next strip is already
under way from memory to registers.  The terms of a sum are added up in order, whatever the grid.

An element of a factor lies at `place of its row + place of its term`: so convolutions are products, too (`cuda_convolve`).

Factors may be floats of 16 bits: they are moved by eight where these lie together, lie in shared memory as float32, and their
products are added up in float32, which is what the kernel writes; what rounds it is an epilogue like any other.
"""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from .. import sizes
from ..ir import Node, Value
from ..kernel import ELEMENTS, HALVES, Kernel, is_half, memory_code
from ..tuning import CUDA
from ..views import matrix_view, resolve
from . import cuda_epilogue, scalars
from .cuda_text import THREADS, GridText, divides, is_short, plus

SIDE = 16               # threads along each side of a tile
PAD = 4                 # elements after each row of a strip, so that the threads of a warp write to different banks
LARGE, SMALL = 128, CUDA.tile   # rows and columns of a tile
MANY = 128              # large tiles that are enough for all multiprocessors
EMPTY = 1.25            # how much more large tiles may cover than small ones do, which bring their factors more often

Place = Callable[[str, str], list[str]]     # place(index, name): lines that give `name` the place of a row, or of a term


class Inside(NamedTuple):
    """Images with zeros around them that do not lie in memory: an element's row, and its column, are those that its `row` in the
    factor gives and those of its `term` together, and it lies in memory where they are in [0, height) and [0, width)."""

    row: tuple[str, str]
    term: tuple[str, str]
    height: str
    width: str


@dataclass(frozen=True)
class Factor:
    """How a factor lies in memory.  `along`: "rows" or "terms", of which neighbours lie next to each other; `together`: whether
    as many of these as an instruction moves (`neighbours`), from a multiple of that on, all exist or none does, and lie at a
    multiple of so many elements.  There is a row only `within` this condition.  `inside`: where it is in memory."""

    buffer: str
    row: Place
    term: Place
    along: str
    together: bool
    within: str = ""
    inside: Inside | None = None


def neighbours(factors: list[Value]) -> int:
    """How many elements of a factor a thread brings: as many as an instruction moves, or two of float64.  Of 16 bits only four
    where these come one by one: the places of eight take too many registers."""
    return 8 if all(v.dtype.name in HALVES and divides(8, v.shape[-1]) for v in factors) else 4


class ProductText(GridText):
    """The text of a kernel whose `rows` and `columns` are names or numbers, as its factors' places are.

    `batch` is the number of results of so many rows and columns, one after the other; the lines find the present one as
    `batch`.  `most`: the rows and columns that a tile has, where there are many.
    """

    def __init__(self, node: Node, name: str, batch: sizes.Dim, rows: sizes.Dim, columns: sizes.Dim, most: int = LARGE):
        self.read = ELEMENTS[node.inputs[0].dtype.name]         # the element type of both factors
        self.per = neighbours(node.inputs)                 # elements of a factor that a thread brings for a strip
        few, many = (sizes.count((batch, *((d + side - 1) // side for d in (rows, columns)))) for side in (LARGE, SMALL))
        large = few >= MANY and few * LARGE ** 2 <= EMPTY * many * SMALL ** 2
        self.tile = most if large and node.out.dtype.size == 4 else SMALL
        self.rounded = ELEMENTS[node.out.dtype.name] if is_half(ELEMENTS[node.out.dtype.name]) else ""
        super().__init__(node, f"{name}_{self.tile}", code=self.rounded and "f32")      # what is rounded is added up in float32
        self.name += f"_{self.read}" * is_half(self.read)
        self.each, self.strip = self.tile // SIDE, THREADS * self.per // self.tile
        self.pitch = self.tile + PAD
        down, across = ((d + self.tile - 1) // self.tile for d in (rows, columns))
        self.blocks = batch * down * across
        self.fours = divides(4, columns)
        self.after: cuda_epilogue.Epilogue | None = None
        self.rows, self.columns = self.given("rows", rows), self.given("columns", columns)
        self.down, self.across = self.given("row_tiles", down), self.given("column_tiles", across)

    def finish_with(self, kernel: Kernel | None) -> bool:
        """Lets the product be used by a kernel, if one is given, instead of being written; whether that is possible."""
        if kernel is None:
            return True
        if not cuda_epilogue.suits(self.node.out, kernel):
            return False
        self.after = cuda_epilogue.Epilogue(self, kernel, self.node.out, self.fours, len(self.node.inputs))
        return True

    def product(self, inputs: list[Value]) -> Kernel:
        """The kernel, which reads these factors."""
        if self.after is None:
            return self.grid(inputs, self.blocks)
        found = self.grid([*inputs, *self.after.inputs], self.blocks, self.after.outputs)
        found.nodes += self.after.kernel.nodes
        for param, use in zip(found.params[-len(self.after.uses):], self.after.uses):
            param.use = use             # a variable that is merely written need not be there before
        return found

    def write(self, a: Factor, b: Factor, terms: list[str], result: Place) -> None:
        """The whole kernel.  `terms`: lines that find the `first` and the `last` term (that behind it) of a block; `result`: the
        place of a row of the result."""
        sides = (("a", a, self.rows, "first_row"), ("b", b, self.columns, "first_column"))
        self.lines_at(1, ["thread = thread_index()", f"row = (thread >> {SIDE.bit_length() - 1}) * 4",
                          f"column = (thread & {SIDE - 1}) * 4"])
        if self.after is not None:
            self.after.begin()
        for letter, factor, _, _ in sides:
            self.line(1, f"{letter}_strip = shared_{self.code}({self.strip * self.pitch})")
            self.lines_at(1, self._share(letter, factor))
        with self.each_item(self.blocks):
            self.lines_at(2, [f"part = quotient32(q, {self.across})", f"batch = quotient32(part, {self.down})",
                              f"first_row = (part - batch * {self.down}) * {self.tile}",
                              f"first_column = (q - part * {self.across}) * {self.tile}", *terms])
            for name, count in (("sums", self.each ** 2), ("a", self.each), ("b", self.each)):
                self.line(2, f"{name} = local_{self.code}({count})")
            self.lines_at(2, [f"{letter}_next = local_{memory_code(self.read)}({self.per})" for letter in "ab"])
            if any(factor.together for _, factor, _, _ in sides) and is_half(self.read):
                self.line(2, f"eight = local_{self.code}({self.per})")
            if self.after is not None:
                self.after.arrays()
            for letter, factor, limit, start in sides:
                self.lines_at(2, self._rows(letter, factor, limit, start))
            self.line(2, "at = first")
            for letter, factor, _, _ in sides:
                self.lines_at(2, self._fetch(letter, factor))
            self.line(2, "while at < last:")
            self._strip(a, b)
            self._store(result, a.within)

    def _strip(self, a: Factor, b: Factor) -> None:
        """What is done for each strip of terms."""
        self.line(3, "barrier()")
        for letter, factor in (("a", a), ("b", b)):
            self.lines_at(3, self._put(letter, factor))
        self.lines_at(3, ["barrier()", f"at += {self.strip}"])
        for letter, factor in (("a", a), ("b", b)):
            self.lines_at(3, self._fetch(letter, factor))
        self.lines_at(3, ["step = 0", f"while step < {self.strip}:"])
        for k in range(0, self.each, 4):
            far = plus(k * SIDE)
            self.line(4, f"copy4(a, {k}, a_strip, step * {self.pitch} + row{far})")
            self.line(4, f"copy4(b, {k}, b_strip, step * {self.pitch} + column{far})")
        self.lines_at(4, [f"add_products(sums, a, {self.each}, b, {self.each})", "step += 1"])

    def _share(self, letter: str, factor: Factor) -> list[str]:
        """Which elements of a strip a thread brings: the first of some neighbours, or of some that are `apart`."""
        row, term = f"{letter}_row", f"{letter}_term"
        by = self.per if factor.together else 1
        fast, slow, width = (term, row, self.strip // by) if factor.along == "terms" else (row, term, self.tile // by)
        across = f"thread & {width - 1}"
        return [f"{fast} = ({across}) * {by}" if by > 1 else f"{fast} = {across}", f"{slow} = thread >> {width.bit_length() - 1}"]

    def _apart(self, factor: Factor) -> int:
        """How many rows (or terms) lie between the elements that a thread brings one by one."""
        return THREADS // (self.strip if factor.along == "terms" else self.tile)

    def _rows(self, letter: str, factor: Factor, limit: str, start: str) -> list[str]:
        """Lines that find the places of the rows of which a thread brings elements."""
        lines = []
        count = self.per if factor.along == "terms" and not factor.together else 1
        for k in range(count):
            more = plus(k * self._apart(factor))
            lines.append(f"{letter}_here = {start} + {letter}_row{more}")
            lines += factor.row(f"{letter}_here", f"{letter}_at{k}")
            if factor.inside is not None:
                lines += [f"{letter}_down{k} = {factor.inside.row[0]}", f"{letter}_beside{k} = {factor.inside.row[1]}"]
            within = f" & {factor.within}" if factor.within else ""
            lines.append(f"{letter}_in{k} = ({letter}_here < {limit}){within}")
        return lines

    def _fetch(self, letter: str, factor: Factor) -> list[str]:
        """Lines that bring a thread's elements of the strip from term `at` on into registers."""
        lines = []
        for k in range(self.per if factor.along == "rows" and not factor.together else 1):
            more = plus(k * self._apart(factor))
            lines.append(f"term = at + {letter}_term{more}")
            lines += factor.term("term", "there")
            if factor.inside is not None:
                lines += [f"past_down = {factor.inside.term[0]}", f"past_beside = {factor.inside.term[1]}"]
            exists = [self._exists(letter, factor, i) for i in range(self.per)]
            if factor.together:
                lines.append(f"take{self.per}({letter}_next, 0, {factor.buffer}, {letter}_at0 + there, {exists[0]})")
            elif factor.along == "rows":
                lines.append(f"{letter}_next[{k}] = taken({factor.buffer}, {letter}_at0 + there, {exists[0]})")
            else:
                lines += [f"{letter}_next[{i}] = taken({factor.buffer}, {letter}_at{i} + there, {exists[i]})"
                          for i in range(self.per)]
        return lines

    def _exists(self, letter: str, factor: Factor, k: int) -> str:
        """The condition under which an element of a factor's row `k`, of those that a thread brings, lies in memory."""
        found = f"{letter}_in{k} & (term < last)"
        if factor.inside is None:
            return found
        down, beside = f"past_down + {letter}_down{k}", f"past_beside + {letter}_beside{k}"
        return f"{found} & ({down} >= 0) & ({down} < {factor.inside.height}) & ({beside} >= 0) & ({beside} < {factor.inside.width})"

    def _put(self, letter: str, factor: Factor) -> list[str]:
        """Lines that write them to shared memory."""
        strip, row, term = f"{letter}_strip", f"{letter}_row", f"{letter}_term"
        each = [scalars.loaded(f"{letter}_next[{k}]", self.read) for k in range(self.per)]
        if factor.together and factor.along == "rows":
            start = f"{term} * {self.pitch} + {row}"
            if not is_half(self.read):
                return [f"copy4({strip}, {start}, {letter}_next, 0)"]
            return [*(f"eight[{k}] = {value}" for k, value in enumerate(each)),
                    *(f"copy4({strip}, {start}{plus(k)}, eight, {k})" for k in range(0, self.per, 4))]
        if factor.together:
            down, beside = 1, 0
        else:
            down, beside = (0, self._apart(factor)) if factor.along == "terms" else (self._apart(factor), 0)
        terms = [f"({term} + {k * down})" if k * down else term for k in range(self.per)]
        return [f"{strip}[{at} * {self.pitch} + {row}{plus(k * beside)}] = {each[k]}" for k, at in enumerate(terms)]

    def _store(self, result: Place, within: str) -> None:
        for r in range(self.each):
            self.line(2, f"here = first_row + row{plus(r // 4 * SIDE * 4 + r % 4)}")
            self.line(2, f"if here < {self.rows}:")
            self.lines_at(3, result("here", "there"))
            at = 3
            if within:
                self.line(3, f"if {within}:")
                at = 4
            if self.after is not None:
                self.after.row(at)
            for c in range(0, self.each, 4):
                self.line(at, f"c = first_column + column{plus(c * SIDE)}")
                if self.fours:
                    self.line(at, f"if c < {self.columns}:")
                if self.after is not None:
                    self.after.four(at + self.fours, r * self.each + c)
                elif self.rounded:
                    self._round(at + self.fours, r * self.each + c)
                elif self.fours:
                    self.line(at + 1, f"copy4(y0, there + c, sums, {r * self.each + c})")
                else:
                    self.line(at, f"copy_some(y0, there + c, sums, {r * self.each + c}, {self.columns} - c)")


    def _round(self, indent: int, first: int) -> None:
        """Four columns, rounded to 16 bits."""
        for k in range(4):
            self.line(indent, f"if c{plus(k)} < {self.columns}:")
            value = scalars.stored(f"{self.rounded}(sums[{first + k}])", self.rounded)
            self.line(indent + 1, f"y0[there + c{plus(k)}] = {value}")


def emit(node: Node, after: Kernel | None = None) -> Kernel | None:
    """The kernel of a matmul node, with that which is to be done `after` it; None where that cannot be done so, and for more than
    2 ** 31 rows, columns, terms or blocks."""
    rows, columns = node.out.shape[-2:]
    terms, batch = node.inputs[0].shape[-2 if node.attrs["ta"] else -1], sizes.product(node.out.shape[:-2])
    text = ProductText(node, "product", batch, rows, columns)
    if not is_short(rows, columns, terms, text.blocks) or not text.finish_with(after):
        return None
    text.given("terms", terms)
    a = _matrix(text, "a", "x0", node.inputs[0], node.attrs["ta"], "terms", (rows, terms))
    b = _matrix(text, "b", "x1", node.inputs[1], node.attrs["tb"], "rows", (columns, terms))
    text.write(a, b, ["first = 0", "last = terms"], lambda row, name: [f"{name} = (batch * rows + {row}) * columns"])
    text.name += "".join("_t" if f.along == natural else "_n" for f, natural in ((a, "rows"), (b, "terms"))) \
        + "".join(str(count) if flag else "1" for flag, count in ((a.together, text.per), (b.together, text.per), (text.fours, 4)))
    return text.product([resolve(v)[0] for v in node.inputs])


def _matrix(text: ProductText, letter: str, buffer: str, value: Value, flag: bool, along: str,
            counts: tuple[sizes.Dim, sizes.Dim]) -> Factor:
    """A factor that is a matrix; `along`: what lies next to each other where it is not transposed; `counts`: rows and terms."""
    found = matrix_view(value)
    assert found is not None        # else the input would have been copied
    _, offset, step, leading, transposed = found
    if flag != transposed:
        along = "rows" if along == "terms" else "terms"
    start, apart, lead = (text.given(f"{letter}_{name}", d) for name, d in (("start", offset), ("step", step), ("lead", leading)))
    near = lambda index, name, first="": [f"{name} = {first}{index}"]
    far = lambda index, name, first="": [f"{name} = {first}{index} * {lead}"]
    row, term = (near, far) if along == "rows" else (far, near)
    begin = f"{start} + batch * {apart} + "
    together = all(divides(text.per, d) for d in (offset, step, leading, counts[along == "terms"]))
    return Factor(buffer, lambda index, name: row(index, name, begin), lambda index, name: term(index, name), along, together)
