"""What libraries do in the place of kernels: matrix products by cuBLASLt, with what it can do of the work after them, and
convolutions by cuDNN.

    relu(alpha * a @ b + beta * c + bias)

with alpha a number that is known when sizes are bound, c of the size of the product, bias a row for all its rows, and beta 1 or
-1.  Of factors of 16 bits the result may be rounded to their type, before a ReLU.  A kernel keeps its text beside that: where
the library declines certain sizes (of nothing, or that overlap), it does the same.

cuDNN is given convolutions that nothing follows: `making.library_convolutions` says which, and of what images and filters.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import sizes
from ..kernel import ELEMENTS, LIBRARIES, Kernel, LibraryConvolution, LibraryProduct, Statement, is_half
from ..primitives.memory import CONST
from ..views import matrix_view
from . import cuda_epilogue

if TYPE_CHECKING:
    from ..ir import Node
    from ..options import Options


SMALL = "{} would be no faster at a convolution of this size"
WITHOUT = {"matmul": ("library_products", "{} has no form of what follows the product"),
           **dict.fromkeys(("conv", "conv_input", "conv_filter"), ("library_convolutions", SMALL))}
"""{kind: (the optimisation by which a library makes it, why it does not where it could)}"""


class _Made(NamedTuple):
    """What a statement makes of the product, by numbers of the later kernel's parameters and scalars."""

    scalar: int = -1
    sign: int = 1
    c: int = -1
    beta: int = 0
    bias: int = -1
    relu: bool = False
    code: str = ""          # of 16 bits, where it is rounded to those

    @property
    def is_open(self) -> bool:
        """Whether something can still be added to it."""
        return not self.relu and not self.code


def product(node: Node, kernel: Kernel, after: Kernel | None, options: Options) -> LibraryProduct | None:
    """What the library is to do for a matmul node whose generated kernel, with that which is done `after` it, is `kernel`; None
    if it has no form of that.  All products of matrices here are of floats."""
    flags = node.attrs["ta"], node.attrs["tb"]
    found = [view for value in node.inputs if (view := matrix_view(value)) is not None]     # another would have been copied
    rows, columns = node.out.shape[-2:]
    given: list[Any] = [rows, columns, node.inputs[0].shape[-2 if flags[0] else -1], sizes.product(node.out.shape[:-2])]
    for view in found:
        given += view[1:4]
    factor, result = ELEMENTS[node.inputs[0].dtype.name], ELEMENTS[node.out.dtype.name]
    turned = flags[0] != found[0][4], flags[1] != found[1][4]
    plain = LibraryProduct(given, turned, factor, result, len(kernel.params) - 1, short=options.tf32 and factor == "f32")
    if after is None:
        return plain
    made = _made(after, node)
    if made is None:
        return None
    value, y = made
    place = _places(after, node)
    if value.scalar >= 0:
        given.append(("scalar", after.scalars[value.scalar], result))
    return plain._replace(y=place[y], c=place.get(value.c, -1), bias=place.get(value.bias, -1), scaled=value.scalar >= 0,
                          sign=value.sign, beta=value.beta, relu=value.relu, result=value.code or result)


def convolution(node: Node, what: str, operands: tuple[int, int, int], options: Options) -> LibraryConvolution:
    """What the library is to do for a convolution: images, filter and results, or their gradients, are these of the node's inputs
    and its result."""
    images, weights, results = ([*node.inputs, node.out][k] for k in operands)
    out, *taps, _ = weights.shape
    element = ELEMENTS[node.out.dtype.name]
    return LibraryConvolution([*images.shape, *results.shape[1:3], out, *taps, *node.attrs["before"]], what, operands,
                              tuple(node.attrs["strides"]), tuple(node.attrs["dilations"]), element,
                              short=options.tf32 and element == "f32")


def told(kernel: Kernel, options: Options) -> str:
    """Who makes the product, or the convolution, of a kernel for a device, and why; nothing for a kernel without one."""
    if kernel.library is not None:
        return f"by {kernel.library.words()}"
    for node in kernel.nodes:
        optimisation, why = WITHOUT.get(node.kind.name, ("", ""))
        if optimisation:
            name = LIBRARIES[optimisation]
            if optimisation not in options.libraries:
                return f"by this kernel: {name} was not found (jitgraph doctor says where it is looked for)"
            if not options.uses(optimisation):
                return f"by this kernel: {optimisation} is switched off"
            return f"by this kernel: {why.format(name)}"
    return ""


def _places(after: Kernel, node: Node) -> dict[int, int]:
    """{number of a parameter of the later kernel: that of the kernel of both}"""
    taken = [k for k, p in enumerate(after.params) if p.use == "in" and after.buffers[k] is not node.out]
    given = [k for k, p in enumerate(after.params) if p.use != "in"]
    return {k: number for number, k in enumerate(taken + given, len(node.inputs))}


def _made(after: Kernel, node: Node) -> tuple[_Made, int] | None:
    """(what a kernel makes of a product, the parameter that it stores that in), None if the library cannot."""
    columns, code = node.out.shape[-1], ELEMENTS[node.out.dtype.name]
    values: dict[str, _Made] = {}
    others: dict[str, tuple[str, int]] = {}         # what else has a name: ("each" | "columns" | "scalar", number)
    stored: tuple[_Made, int] | None = None
    for s in after.body:
        if s.access is not None:
            runs = cuda_epilogue.how_it_runs(after, s.access, columns)
            if s.kind == "load" and after.buffers[s.access.param] is node.out and runs == "each":
                values[s.name] = _Made()
            elif s.kind == "load" and runs in ("each", "columns") and s.dtype == code:
                others[s.name] = runs, s.access.param
            elif s.kind == "store" and runs == "each" and stored is None and s.args[0] in values:
                stored = values[s.args[0]], s.access.param
            else:
                return None
        elif s.kind == "scalar":
            others[s.name] = "scalar", s.args[0]
        elif s.kind == "op":
            value = _step(s, values, others, after)
            if value is None:
                return None
            values[s.name] = value
        else:
            return None
    if stored is None or (after.params[stored[1]].dtype != (stored[0].code or code)):
        return None
    return stored


def _step(s: Statement, values: dict[str, _Made], others: dict[str, tuple[str, int]], after: Kernel) -> _Made | None:
    """What an operation makes of the product and something else."""
    if s.prim == "cast" and s.args[0] in values:
        value = values[s.args[0]]
        return value._replace(code=s.dtype) if is_half(s.dtype) and value == _Made() else None
    if len(s.args) != 2 or sum(name in values for name in s.args) != 1:
        return None
    first = s.args[0] in values
    value = values[s.args[0 if first else 1]]
    kind, number = others.get(s.args[1 if first else 0], ("", -1))
    if s.prim == "max" and kind == "scalar" and not value.relu and _is_zero(after, number):
        return value._replace(relu=True)
    if not value.is_open:
        return None
    if s.prim == "mul" and kind == "scalar" and value == _Made():
        return value._replace(scalar=number)
    if s.prim in ("add", "sub") and kind == "each" and value.c < 0 and value.bias < 0:
        if s.prim == "sub" and not first:
            value = value._replace(sign=-value.sign)
        return value._replace(c=number, beta=-1 if s.prim == "sub" and first else 1)
    if s.prim == "add" and kind == "each" and value.c < 0:          # a residual, after a bias
        return value._replace(c=number, beta=1)
    if s.prim == "add" and kind == "columns" and value.bias < 0:
        return value._replace(bias=number)
    return None


def _is_zero(after: Kernel, number: int) -> bool:
    node = after.scalars[number].node
    return node.kind is CONST and bool(np.all(node.attrs["array"] == 0))
