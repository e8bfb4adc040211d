"""Matrix products by BLAS, those that `products` leaves: a kernel like any other, whose body hands over blocks of the result.

BLAS runs on one thread; the pool that runs all kernels shares out the items, which are blocks whose size depends on the
matrices alone, so that the result does not depend on the number of threads.  Rows are cut first; where there are few,
columns are.
"""
from __future__ import annotations

from .. import sizes
from ..ir import Node
from ..kernel import CODES, WIDTH, Kernel, Param, Region
from ..views import matrix_view

BLOCKS = 4                      # a product is cut into about so many blocks
MIN_ROWS, MIN_COLUMNS = 64, 64  # of at least so many rows and columns
NEAR = 1 << 17                  # bytes of a block's rows, of both matrices, which a cache keeps for what is done with them next ...
NEAR_ROWS = 192                 # ... but no fewer rows


def _cut(m: sizes.Dim, n: sizes.Dim, k: sizes.Dim, width: int) -> tuple[sizes.Dim, sizes.Dim]:
    """Rows and columns of a block.  Rows are cut, unless there are few: BLAS packs the other factor anew for every block."""
    if sizes.hint_of(n) >= 4 * sizes.hint_of(m) and sizes.hint_of(k) >= 2 * MIN_ROWS:
        return sizes.maximum(m, 1), sizes.maximum((n + BLOCKS - 1) // BLOCKS, MIN_COLUMNS)
    near = max(NEAR // (width * max(sizes.hint_of(n) + sizes.hint_of(k), 1)), NEAR_ROWS)
    if sizes.hint_of(m) > BLOCKS * near:
        return near, sizes.maximum(n, 1)
    return sizes.maximum((m + BLOCKS - 1) // BLOCKS, MIN_ROWS), sizes.maximum(n, 1)


def emit(node: Node) -> Kernel:
    """The kernel of a matmul node."""
    out = node.out
    code = CODES[out.dtype.name]
    a, b = (matrix_view(v) for v in node.inputs)
    assert a is not None and b is not None          # else the input would have been copied
    ta, tb = node.attrs["ta"] != a[4], node.attrs["tb"] != b[4]
    m, n = out.shape[-2:]
    k = node.inputs[0].shape[-2 if node.attrs["ta"] else -1]
    rows, columns = _cut(m, n, k, WIDTH[code])
    blocks, strips = (m + rows - 1) // rows, (n + columns - 1) // columns
    batch = sizes.product(out.shape[:-2])
    name = f"matmul_{code}"
    kernel = Kernel("matmul", [], nodes=[node], name=name)
    kernel.params = [Param("x0", code, "in"), Param("x1", code, "in"), Param("y0", code, "out")]
    kernel.buffers = [a[0], b[0], out]
    kernel.sizes = [("blas", code), m, n, k, a[3], b[3], rows, blocks, a[2], b[2], a[1], b[1], columns, strips, int(ta), int(tb)]
    kernel.source = f"""def {name}(x0, x1, y0, sizes, begin, end):
    gemm = sizes[0]
    m, n, k = sizes[1], sizes[2], sizes[3]
    lda, ldb = sizes[4], sizes[5]
    rows, blocks, columns, strips = sizes[6], sizes[7], sizes[12], sizes[13]
    ta, tb = sizes[14], sizes[15]
    for q in range(begin, end):
        block = quotient(q, strips)
        c = (q - block * strips) * columns
        batch = quotient(block, blocks)
        r = (block - batch * blocks) * rows
        gemm_{code}(gemm, ta, tb, smaller(rows, m - r), smaller(columns, n - c), k,
                    x0, sizes[10] + batch * sizes[8] + r * (ta + (1 - ta) * lda), lda,
                    x1, sizes[11] + batch * sizes[9] + c * (tb * ldb + 1 - tb), ldb, y0, (batch * m + r) * n + c, n)
    return 0
"""
    kernel.items = batch * blocks * strips
    kernel.cost = (0.02, rows * columns * k)
    kernel.region = Region([(0, line) for line in (
        "block = quotient(item, strips)", "left = (item - block * strips) * columns", "right = smaller(left + columns, n)",
        "batch = quotient(block, blocks)", "r = (block - batch * blocks) * rows", "first = batch * m + r",
        "count = smaller(rows, m - r)")], ["m, n = sizes[1], sizes[2]", "rows, blocks, columns, strips = sizes[6], sizes[7], "
                                           "sizes[12], sizes[13]"], whole=False)
    return kernel
