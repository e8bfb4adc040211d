"""How much a kernel does: bytes that it must move and arithmetic operations, as (symbolic) numbers."""
from __future__ import annotations

from . import sizes, winograd
from .kernel import WIDTH, Access, Kernel


def moved(kernel: Kernel) -> sizes.Dim:
    """Bytes read once and written once; of a tensor of which a part is touched, no more than that part."""
    total: sizes.Dim = 0
    for k, (param, value) in enumerate(zip(kernel.params, kernel.buffers)):
        count = min(_touched(kernel, k), sizes.product(value.shape), key=sizes.hint_of)
        total = total + count * WIDTH[param.dtype] * (2 if param.use == "inout" else 1)
    return total


def _touched(kernel: Kernel, number: int) -> sizes.Dim:
    """At most how many elements of a buffer a kernel touches."""
    node = kernel.nodes[0]
    if node.kind == "update" and kernel.params[number].use == "inout":      # the picked rows of a variable
        indices = node.inputs[len(node.attrs["step"].results)]
        return sizes.product(indices.shape) * sizes.product(node.inputs[0].shape[1:])
    touched = [_points(kernel) if s.kind == "gather" else _elements(kernel, s.access)
               for s in kernel.body if s.access is not None and s.access.param == number]
    return sum(touched) if touched else sizes.product(kernel.buffers[number].shape)


def operations(kernel: Kernel) -> sizes.Dim:
    """Additions, multiplications, comparisons ...; an elementary function counts as one."""
    node = kernel.nodes[0]
    if node.kind == "matmul":
        return 2 * sizes.product(node.out.shape) * node.inputs[0].shape[-2 if node.attrs["ta"] else -1]
    if node.kind in ("conv", "conv_input"):
        kh, kw, inner, _ = node.inputs[1].shape
        steps = node.attrs["strides"][0] * node.attrs["strides"][1] if node.kind == "conv_input" else 1
        return 2 * sizes.product(node.out.shape) * (kh * kw * inner) // steps
    if node.kind == "conv_filter":
        _, kh, kw, channels, _ = node.out.shape
        return 2 * sizes.product(node.inputs[1].shape) * (kh * kw * channels)
    if node.kind == "winograd":
        batch, *covered, out = node.out.shape
        filter_shape = node.inputs[2].shape
        return 2 * batch * winograd.products(covered, filter_shape) * (filter_shape[2] * out)
    if node.kind == "winograd_filter":
        batch, *covered, out = node.inputs[1].shape
        return 2 * batch * winograd.products(covered, node.out.shape[1:]) * (node.out.shape[3] * out)
    if "taps" in node.attrs:
        small = min((*node.inputs, node.out), key=lambda v: sizes.count(v.shape))
        return 2 * sizes.product(small.shape) * (node.attrs["taps"][0] * node.attrs["taps"][1])
    if not kernel.body:
        return sizes.product(node.inputs[-1].shape) if node.inputs else 0
    full = sum(1 for s in kernel.body if s.kind in ("op", "reduce") and (s.level == "full" or s.kind == "reduce"))
    row = sum(1 for s in kernel.body if s.kind == "op" and s.level != "full")
    kept = sizes.product(loop.size for loop in kernel.loops if loop.role != "reduce")
    return _points(kernel) * full + kept * row


def _elements(kernel: Kernel, access: Access) -> sizes.Dim:
    """How many elements lie behind an access."""
    loops, strides = (x[bool(kernel.parts_of_columns):] for x in (kernel.loops, access.strides))
    return sizes.product(loop.size for loop, stride in zip(loops, strides) if isinstance(stride, sizes.Size) or stride)


def _points(kernel: Kernel) -> sizes.Dim:
    return sizes.product(loop.size for loop in kernel.loops[bool(kernel.parts_of_columns):])
