"""Matrix products in register tiles.

    C[m, n] = L[m, k] @ R[k, n]

C is made in strips of columns: for some terms of the sum at a time, a strip of R is copied to panels in the cache, as wide
as a tile; a few rows of L after the other are copied, too, and meet all panels in registers.  So whatever lies far apart
in memory, or transposed, is read once per strip, and the tiles see dense operands.

Where L has few rows and R is transposed, the tiles are those of C's transpose: then R goes by as it lies, and the little L
is what is turned into panels.  Items depend on the sizes alone, so results are the same for any number of threads; the
text does not depend on them, so that products of all sizes share a few kernels.
"""
from __future__ import annotations

from .. import sizes
from ..ir import Node
from ..kernel import Kernel
from ..simplify import blas_view
from . import native
from .kernel_text import KernelText
from .product_code import NARROWEST, SIZES, TURNED_ROWS, WIDEST, Form
from .tile import lane_count

FEW = 64                # rows up to which the other factor is better not turned
LEAST = 32              # columns and terms of a sum from which tiles are worth while
BLOCKS, ROWS = 32, 128  # rows are cut into about so many blocks, of at least so many
ITEMS = 8               # fewer than this: strips are made narrower


def suits(node: Node) -> bool:
    """Whether a product is made here: not too small, as far as that is known without the feeds."""
    m, n = node.out.shape[-2:]
    k = node.inputs[0].shape[-2 if node.attrs["ta"] else -1]
    return native.vector_bytes() >= 16 and all(isinstance(size, sizes.Size) or size >= least
                                               for size, least in ((m, 2), (n, LEAST), (k, LEAST)))


def emit(node: Node) -> Kernel:
    """The kernel of a matmul node that `suits`."""
    text = KernelText(node, "matmul_tiles")
    (_, at0, step0, leading0, turned0), (_, at1, step1, leading1, turned1) = (blas_view(v) for v in node.inputs)
    ta, tb = node.attrs["ta"] != turned0, node.attrs["tb"] != turned1
    batch, (rows, columns) = sizes.product(node.out.shape[:-2]), node.out.shape[-2:]
    terms = node.inputs[0].shape[-2 if node.attrs["ta"] else -1]
    turned = tb and not isinstance(rows, sizes.Size) and rows <= FEW
    along = (not ta, tb)
    if turned:
        rows, columns, along = columns, rows, along[::-1]
    strip, block = (NARROWEST, TURNED_ROWS) if turned else _cut(rows, columns, batch)
    strips, blocks = (columns + strip - 1) // strip, (rows + block - 1) // block
    form = Form(text.code, lane_count(text.code), 8 if native.vector_registers() >= 32 else 4, *along, turned)
    for name, value in zip(SIZES, (at0, step0, leading0, at1, step1, leading1, terms, rows, columns, strips, blocks, block,
                                   strip), strict=True):
        text.given(name, value)
    text.line(1, "for item in range(begin, end):")
    text.line(2, f"{form.name}(x0, x1, y0, sizes, item)")
    work = terms * min(block, rows, key=sizes.hint_of) * min(strip, columns, key=sizes.hint_of)
    return text.kernel(list(node.inputs), batch * blocks * strips, (0.01, work))


def _cut(rows, columns, batch) -> tuple:
    """(columns of a strip, rows of a block): wide strips, so that rows are seldom copied, but enough items."""
    strip = WIDEST
    while True:
        strips = (columns + strip - 1) // strip * batch
        blocks = max(BLOCKS // max(sizes.hint_of(strips), 1), 1)
        block = sizes.maximum((rows + blocks - 1) // blocks, ROWS)
        if strip == NARROWEST or sizes.hint_of(strips * ((rows + block - 1) // block)) >= ITEMS:
            return strip, block
        strip //= 2
