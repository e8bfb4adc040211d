"""Matrix products: a kernel like any other, whose body hands row blocks to BLAS.

BLAS runs on one thread; the pool that runs all kernels shares out the items, which are row blocks of fixed size, so
that the result does not depend on the number of threads.
"""
from __future__ import annotations

from .. import sizes
from ..ir import Node
from ..kernel import CODES, Kernel, Param
from ..simplify import blas_view

BLOCKS, MIN_ROWS = 4, 64        # a product is cut into at most BLOCKS row blocks of at least MIN_ROWS rows


def emit(node: Node) -> Kernel:
    """The kernel of a matmul node."""
    out = node.out
    code = CODES[out.dtype.name]
    a, b = (blas_view(v) for v in node.inputs)
    ta, tb = node.attrs["ta"] != a[4], node.attrs["tb"] != b[4]
    m, n = out.shape[-2:]
    k = node.inputs[0].shape[-2 if node.attrs["ta"] else -1]
    rows = sizes.maximum((m + BLOCKS - 1) // BLOCKS, MIN_ROWS)
    blocks = (m + rows - 1) // rows
    batch = sizes.product(out.shape[:-2])
    name = f"matmul_{'t' if ta else 'n'}{'t' if tb else 'n'}_{code}"
    kernel = Kernel("matmul", [], nodes=[node], name=name)
    kernel.params = [Param("x0", code, "in"), Param("x1", code, "in"), Param("y0", code, "out")]
    kernel.buffers = [a[0], b[0], out]
    kernel.sizes = [("blas", code), m, n, k, a[3], b[3], rows, blocks, a[2], b[2], a[1], b[1]]
    step = "r" if ta else "r * lda"
    kernel.source = f"""def {name}(x0, x1, y0, sizes, begin, end):
    gemm = sizes[0]
    m, n, k = sizes[1], sizes[2], sizes[3]
    lda, ldb = sizes[4], sizes[5]
    rows, blocks = sizes[6], sizes[7]
    for q in range(begin, end):
        batch = quotient(q, blocks)
        r = (q - batch * blocks) * rows
        count = smaller(rows, m - r)
        gemm_{code}(gemm, {int(ta)}, {int(tb)}, count, n, k, x0, sizes[10] + batch * sizes[8] + {step}, lda,
                    x1, sizes[11] + batch * sizes[9], ldb, y0, (batch * m + r) * n, n)
    return 0
"""
    kernel.items = batch * blocks
    kernel.cost = (0.02, rows * n * k)
    return kernel
