"""Triangular matrices for CUDA: Cholesky's factor, and systems of triangular matrices.

    cholesky    a block of threads for each matrix, PANEL columns after the other.  Of a panel, each thread has rows: it takes
                from them what the columns before say, with sums in registers and the panel's own rows in shared memory; then
                the panel is factored column by column.
    solve       a block for some columns of the unknown, whose threads share out the equations: of each in turn the unknown is
                known, and is taken out of those that follow.

Every element is computed by one thread in one order, whatever the grid, so results are the same bits at every run.
"""
from __future__ import annotations

from .. import sizes
from ..ir import Node
from ..kernel import CHECK_INDEX, Kernel
from .cuda_text import THREADS, GridText, is_short

PANEL = 16
COLUMNS = (1, 8, 32)    # of the unknown that a block has


def emit_cholesky(node: Node) -> Kernel | None:
    """The lower triangular L with L @ L^T = x; fails for a pivot of 0 or less, and goes on with NaN, as LAPACK does."""
    (x,) = node.inputs
    n, batch = x.shape[-1], sizes.product(x.shape[:-2])
    if not is_short(n * n, batch):
        return None
    text = GridText(node, "cholesky")
    code, line, lines_at = text.code, text.line, text.lines_at
    text.given("n", n)
    lines_at(1, ["thread = thread_index()", f"panel = shared_{code}({PANEL * PANEL})"])
    with text.each_item(batch):
        line(2, f"sums = local_{code}({PANEL})")
        lines_at(2, ["base = q * n * n", "k = thread", "while k < n * n:"])
        lines_at(3, ["i = quotient32(k, n)", f"y0[base + k] = select(k - i * n <= i, x0[base + k], {code}(0))", f"k += {THREADS}"])
        line(2, "barrier()")
        lines_at(2, ["first = 0", "while first < n:"])
        lines_at(3, [f"behind = smaller(first + {PANEL}, n)", "row = first", "while row < n:"])     # all threads together
        _take_out(text, 4)
        line(4, f"row += {THREADS}")
        lines_at(3, ["barrier()", "c = first", "while c < behind:"])
        _column(text, 4)
        line(4, "c += 1")
        line(3, f"first += {PANEL}")
        line(2, "barrier()")
    return text.grid([x], batch, fails=True)


def _take_out(text: GridText, at: int) -> None:
    """Lines that take out of the panel's elements in the thread's row what the columns before it say."""
    line, lines_at, code = text.line, text.lines_at, text.code
    lines_at(at, ["i = row + thread", "before = 0"])
    for k in range(PANEL):
        line(at, f"sums[{k}] = {code}(0)")
    line(at, "while before < first:")
    lines_at(at + 1, ["barrier()", f"if thread < {PANEL * PANEL}:"])
    # element (t, j) of the panel in shared memory: that of its row first + j and column before + t
    lines_at(at + 2, [f"t = thread & {PANEL - 1}", f"j = thread >> {PANEL.bit_length() - 1}"])
    line(at + 2, f"panel[t * {PANEL} + j] = taken(y0, base + (first + j) * n + before + t, first + j < n)")
    lines_at(at + 1, ["barrier()", "if i < n:"])
    line(at + 2, f"for t in range({PANEL}):")
    line(at + 3, "a = y0[base + i * n + before + t]")
    for k in range(PANEL):
        line(at + 3, f"sums[{k}] = {code}(sums[{k}] + {code}(a * panel[t * {PANEL} + {k}]))")
    line(at + 1, f"before += {PANEL}")
    line(at, "if i < n:")
    for k in range(PANEL):
        line(at + 1, f"if first + {k} <= smaller(i, behind - 1):")
        line(at + 2, f"y0[base + i * n + first + {k}] = {code}(y0[base + i * n + first + {k}] - sums[{k}])")


def _column(text: GridText, at: int) -> None:
    """Lines that factor a column of the panel, and take it out of those behind it there."""
    lines_at, code = text.lines_at, text.code
    lines_at(at, ["barrier()", "pivot = y0[base + c * n + c]", f"err |= select(pivot <= {code}(0), {CHECK_INDEX}, 0)",
                  "root = sqrt(pivot)", "barrier()", "i = c + thread", "while i < n:"])
    lines_at(at + 1, [f"y0[base + i * n + c] = select(i == c, root, {code}(y0[base + i * n + c] / root))", f"i += {THREADS}"])
    lines_at(at, ["barrier()", "i = c + 1 + thread", "while i < n:"])
    lines_at(at + 1, ["a = y0[base + i * n + c]", "j = c + 1", "while j < smaller(i + 1, behind):"])
    lines_at(at + 2, [f"y0[base + i * n + j] = {code}(y0[base + i * n + j] - {code}(a * y0[base + j * n + c]))", "j += 1"])
    text.line(at + 1, f"i += {THREADS}")


def emit_solve(node: Node) -> Kernel | None:
    """The y with a @ y = b, of which only a triangle is read; fails for a 0 on the diagonal."""
    a, b = node.inputs
    n, m, batch = a.shape[-1], b.shape[-1], sizes.product(a.shape[:-2])
    upper, turned = not node.attrs["lower"], node.attrs["adjoint"]
    along = max((c for c in COLUMNS if c <= sizes.hint_of(m)), default=1)
    groups = (m + along - 1) // along
    if not is_short(n * n, n * m, batch * groups):
        return None
    text = GridText(node, f"triangular_solve_{'upper' if upper else 'lower'}{'_turned' * turned}_{along}")
    code, line, lines_at = text.code, text.line, text.lines_at
    for name, value in (("n", n), ("m", m), ("groups", groups)):
        text.given(name, value)
    backwards = upper != turned
    place = (lambda i, j: f"base + {j} * n + {i}") if turned else (lambda i, j: f"base + {i} * n + {j}")
    lines_at(1, ["thread = thread_index()", f"lane = thread & {along - 1}", f"part = thread >> {along.bit_length() - 1}"])
    with text.each_item(batch * groups):
        lines_at(2, ["each = quotient32(q, groups)", f"c = (q - each * groups) * {along} + lane", "base = each * n * n",
                     "start = each * n * m + c", "i = part", "while i < n:"])
        lines_at(3, ["if c < m:", "y0[start + i * m] = x1[start + i * m]"])
        line(3, f"i += {THREADS // along}")
        lines_at(2, ["k = 0", "while k < n:"])
        lines_at(3, ["barrier()", f"i = {'n - 1 - k' if backwards else 'k'}", f"pivot = x0[{place('i', 'i')}]",
                     f"err |= select(pivot == {code}(0), {CHECK_INDEX}, 0)",
                     f"x = {code}(taken(y0, start + i * m, c < m) / pivot)", "barrier()",
                     "j = k + 1 + part"])
        lines_at(3, ["if (part == 0) & (c < m):", "y0[start + i * m] = x"])
        line(3, "while j < n:")
        line(4, f"r = {'n - 1 - j' if backwards else 'j'}")
        line(4, "if c < m:")
        line(5, f"y0[start + r * m] = {code}(y0[start + r * m] - {code}(x0[{place('r', 'i')}] * x))")
        line(4, f"j += {THREADS // along}")
        line(3, "k += 1")
        line(2, "barrier()")
    return text.grid([a, b], batch * groups, fails=True)
