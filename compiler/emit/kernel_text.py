"""The text of a kernel that is written by hand rather than from a loop nest."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import sizes
from ..ir import Node, Value
from ..kernel import ELEMENTS, Access, Kernel, Param, Region
from ..views import contiguous, resolve
from .instruction import Form

if TYPE_CHECKING:
    from jitgraph.graph.operation import Operation


def bare_kernel(node: Node, name: str, inputs: list[Value], outputs: list[Value]) -> Kernel:
    """A kernel that is still without text: it reads `inputs` (x0, x1 ...) and fills `outputs` (y0 ...), of which a variable
    is changed in place."""
    kernel = Kernel(node.kind.name, [], nodes=[node], name=name)
    kernel.params = [*(Param(f"x{k}", ELEMENTS[v.dtype.name], "in") for k, v in enumerate(inputs)),
                     *(Param(f"y{k}", ELEMENTS[v.dtype.name], "inout" if v.node.kind.is_state else "out")
                       for k, v in enumerate(outputs))]
    kernel.buffers = [resolve(v)[0] for v in (*inputs, *outputs)]
    return kernel


def as_it_lies(kernel: Kernel, access: Access) -> bool:
    """Whether the loops of a kernel go through a buffer by this access element by element, as it lies."""
    whole = contiguous([loop.size for loop in kernel.loops])
    return sizes.same(access.offset, 0) and all(sizes.same(a, b) for a, b in zip(access.strides, whole))


def goes_through(kernel: Kernel, result: Value) -> bool:
    """Whether a kernel is a map over as many elements as `result` has, which cannot fail."""
    size = sizes.product(loop.size for loop in kernel.loops)
    if kernel.kind != "map" or not sizes.same(size, sizes.product(result.shape)):
        return False
    return not any(node.kind.may_fail(node) for node in kernel.nodes)


def changed_variables(kernel: Kernel) -> set[Operation]:
    """The variables that a kernel writes."""
    written = (v.node.variable for p, v in zip(kernel.params, kernel.buffers) if p.use != "in")
    return {variable for variable in written if variable is not None}


def kernel_name(kernel: Kernel) -> str:
    """A name that says what the kernel does: its kind and its first few primitives."""
    words = []
    for s in kernel.body:
        word = s.prim if s.kind in ("op", "reduce") else "gather" if s.kind == "gather" else ""
        if word and word not in words and not (word == "cast" and len(kernel.body) > 3):
            words.append("sum" if s.kind == "reduce" and word == "add" else word)
    return "_".join([kernel.kind] + (words[:5] or ["copy"]))


class KernelText:
    """Lines of a kernel whose buffers have the element type of its result, unless `code` is another, and the sizes that it is
    given."""

    def __init__(self, node: Node, name: str, code: str = ""):
        self.node, self.code = node, code or ELEMENTS[node.out.dtype.name]
        self.name = f"{name}_{self.code}"
        self.lines: list[str] = []
        self.slots: list[str] = []
        self.sizes: list[Any] = []         # as in a Kernel
        self.forms: dict[Form, None] = {}   # as in a Kernel, each once

    def slot(self, name: str, value: sizes.Dim) -> str:
        """The text of a size: a literal, or a name that the kernel reads from its sizes argument."""
        return self.given(name, value) if isinstance(value, sizes.Size) else str(int(value))

    def given(self, name: str, value: sizes.Dim) -> str:
        """The name of a size that the kernel reads from its sizes argument even where it is known: texts are then the same."""
        self.slots.append(f"    {name} = sizes[{len(self.sizes)}]")
        self.sizes.append(value)
        return name

    def named(self, form: Form) -> str:
        """The name of an instruction that the text uses."""
        self.forms[form] = None
        return form.name

    def line(self, indent: int, text: str) -> None:
        self.lines.append("    " * indent + text)

    def lines_at(self, indent: int, texts: list[str]) -> None:
        """Lines, or where the first of them opens a loop, the loop and its body."""
        for k, text in enumerate(texts):
            self.line(indent + (k > 0 and texts[0].endswith(":")), text)

    def kernel(self, inputs: list[Value], items: sizes.Dim, cost: tuple[float, sizes.Dim]) -> Kernel:
        """The kernel, which reads `inputs` (x0, x1, ...) and writes the node's value (y0)."""
        kernel = bare_kernel(self.node, self.name, inputs, [self.node.out])
        kernel.sizes, kernel.forms = self.sizes, list(self.forms)
        params = ", ".join(p.name for p in kernel.params)
        kernel.source = "\n".join([f"def {self.name}({params}, sizes, begin, end):", *self.slots, *self.lines,
                                   "    return 0"]) + "\n"
        kernel.items, kernel.cost = items, cost
        return kernel

    def region(self, *lines: str | tuple[int, str], whole: bool = True, depth: int = 0) -> Region:
        """The part of the result that an item makes, by lines and lines with an indentation, see `Region`."""
        placed = [(0, line) if isinstance(line, str) else line for line in lines]
        return Region(placed, [slot.strip() for slot in self.slots], whole, depth)
