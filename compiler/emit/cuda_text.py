"""The text of a CUDA kernel that is written by hand rather than from a loop nest.

    def max_pool_f32(x0, y0, sizes, error):
        images = sizes[0]
        q = block_index()
        while q < ...:                          # a block has one item after the other
            ...
            q += block_count()

The arguments, and what the grid may be, are those of `cuda.py`; only the number of threads in a block is the text's own.
"""
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from .. import sizes
from ..ir import Node, Value
from ..kernel import Kernel, is_half
from . import scalars
from .kernel_text import KernelText, bare_kernel

THREADS = 256
LIMIT = 1 << 31         # of numbers that `quotient32` divides
ELEMENTARY_WORK, MOST_WORK = 12, 40     # statements that an elementary function counts for, and that are written four times
FOURS = ("f32", "i32", "u32", "f64", "i64", "u64", "f16", "fb16")       # elements of which four, or eight, lie together as 16 bytes


def divides(number: int, d: sizes.Dim) -> bool:
    """Whether a size is a multiple of a number at every run."""
    if isinstance(d, sizes.Size):
        return all(factor % number == 0 for _, factor in d.terms)
    return d % number == 0


def loading(count: int) -> str:
    """The name of what loads so many neighbours into a thread's own elements."""
    return "copy4" if count == 4 else "load8"


def storing(count: int) -> str:
    """The name of what stores so many of a thread's own elements."""
    return "copy4" if count == 4 else "store8"


def plus(number: int | str, sign: str = "+") -> str:
    """The text that adds (or subtracts) a number, or what bears a name; nothing for 0."""
    return f" {sign} {number}" if str(number) != "0" else ""


def is_short(*counts: sizes.Dim) -> bool:
    """Whether `quotient32` may divide these numbers: those that only a run tells, as far as they are known."""
    return all(sizes.hint_of(count) < LIMIT for count in counts)


class GridText(KernelText):
    """Lines of a kernel whose blocks have `threads` threads; `code`: of its elements, if not those of the node's value."""

    def __init__(self, node: Node, name: str, threads: int = THREADS, code: str = ""):
        super().__init__(node, name, code)
        self.threads = threads
        self.number = "f32" if is_half(self.code) else self.code        # what is computed with

    def value(self, place: str) -> str:
        """An element of a buffer, as what is computed with."""
        return scalars.loaded(place, self.code)

    def written(self, value: str) -> str:
        """What memory holds for a value, rounded to an element."""
        return f"{self.code}_bits({self.code}({value}))" if is_half(self.code) else value

    def looked_up(self, value: sizes.Dim) -> str:
        """A size, read from the sizes argument where it stands, and so in no register before."""
        self.sizes.append(value)
        return f"sizes[{len(self.sizes) - 1}]"

    @contextmanager
    def each_item(self, items: sizes.Dim) -> Iterator[None]:
        """The loop over the items of a block, `q`; its body stands at indent 2."""
        count = self.given("items", items)
        self.line(1, "q = block_index()")
        self.line(1, f"while q < {count}:")
        yield
        self.line(2, "q += block_count()")

    @contextmanager
    def each_element(self, count: sizes.Dim) -> Iterator[sizes.Dim]:
        """The loop of threads that have an element `q` each, one after the other; its body stands at indent 2.  Gives the
        number of blocks."""
        number = self.given("elements", count)
        self.line(1, f"q = block_index() * {self.threads} + thread_index()")
        self.line(1, f"while q < {number}:")
        yield (count + self.threads - 1) // self.threads
        self.line(2, f"q += block_count() * {self.threads}")

    def grid(self, inputs: list[Value], blocks: sizes.Dim, outputs: list[Value] | None = None, fails: bool = False) -> Kernel:
        """The kernel, which reads `inputs` (x0, x1, ...) and writes `outputs` (y0, ...), else the node's value; `fails`: its
        lines set bits of `err`."""
        kernel = bare_kernel(self.node, self.name, inputs, [self.node.out] if outputs is None else outputs)
        kernel.sizes, kernel.forms = self.sizes, list(self.forms)
        kernel.items, kernel.threads = blocks, self.threads
        params = ", ".join(p.name for p in kernel.params)
        start, end = (["    err = 0"], ["    if err != 0:", "        report(error, err)"]) if fails else ([], [])
        kernel.source = "\n".join([f"def {self.name}({params}, sizes, error):", *self.slots, *start, *self.lines, *end]) + "\n"
        return kernel
