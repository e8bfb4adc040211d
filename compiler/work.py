"""How much a kernel does: bytes that it must move and arithmetic operations, as (symbolic) numbers."""
from __future__ import annotations

from . import sizes
from .kernel import WIDTH, Access, Kernel


def moved(kernel: Kernel) -> sizes.Dim:
    """Bytes read once and written once; of a tensor of which a part is touched, no more than that part."""
    total: sizes.Dim = 0
    if kernel.batch:
        return sum(map(moved, kernel.batch), total)
    for k, (param, value) in enumerate(zip(kernel.params, kernel.buffers)):
        count = min(_touched(kernel, k), sizes.product(value.shape), key=sizes.hint_of)
        total = total + count * WIDTH[param.dtype] * (2 if param.use == "inout" else 1)
    return total


def _touched(kernel: Kernel, number: int) -> sizes.Dim:
    """At most how many elements of a buffer a kernel touches."""
    node = kernel.nodes[0]
    picked = node.kind.touched(node, kernel.params[number])
    if picked is not None:
        return picked
    touched = [_points(kernel) if s.kind == "gather" else _elements(kernel, s.access)
               for s in kernel.body if s.access is not None and s.access.param == number]
    return sum(touched) if touched else sizes.product(kernel.buffers[number].shape)


def operations(kernel: Kernel) -> sizes.Dim:
    """Additions, multiplications, comparisons ...; an elementary function counts as one."""
    if kernel.batch or kernel.joins:
        return sum(map(operations, kernel.batch or kernel.joins or ()))
    node = kernel.nodes[0]
    if not kernel.body:
        return node.kind.operations(node)
    full = sum(1 for s in kernel.body if s.kind in ("op", "reduce") and (s.level == "full" or s.kind == "reduce"))
    row = sum(1 for s in kernel.body if s.kind == "op" and s.level != "full")
    kept = sizes.product(loop.size for loop in kernel.loops if loop.role != "reduce")
    return _points(kernel) * full + kept * row


def _elements(kernel: Kernel, access: Access) -> sizes.Dim:
    """How many elements lie behind an access."""
    first = bool(kernel.parts_of_columns)
    loops, strides = kernel.loops[first:], access.strides[first:]
    return sizes.product(loop.size for loop, stride in zip(loops, strides) if isinstance(stride, sizes.Size) or stride)


def _points(kernel: Kernel) -> sizes.Dim:
    return sizes.product(loop.size for loop in kernel.loops[bool(kernel.parts_of_columns):])
