"""What depends on the order of rows, for CUDA: rows added into a table, running sums.

Nothing is added by atomic operations: each element of a result has one thread, which goes through what belongs to it in
order, so that results are the same bits at every run, and the CPU's.
"""
from __future__ import annotations

from .. import sizes
from ..ir import Node, Value
from ..kernel import CHECK_INDEX, CODES, Kernel
from .cuda_text import THREADS, GridText, is_short
from .sequential import SCATTERED, scattered_row, updated_rows

WIDTH = 128             # columns of a table that a block has, a thread each
PARTS, MORE = 32, 256   # parts of the rows, each with blocks of its own; of a narrow table more
LONG, FEW = 512, 1 << 14    # elements of a line from which it has a block of its own, if there are so few lines


def _table(text: GridText, rows: sizes.Dim, width: sizes.Dim) -> sizes.Dim:
    """Gives the text the sizes of a table; returns the number of blocks that share it out."""
    parts = PARTS if sizes.hint_of(width) >= WIDTH else MORE
    groups = (width + WIDTH - 1) // WIDTH
    for name, value in (("rows", rows), ("width", width), ("each", (rows + parts - 1) // parts), ("groups", groups)):
        text.given(name, value)
    text.line(1, "thread = thread_index()")
    return groups * parts


PLACE = ["part = quotient32(q, groups)", f"c = (q - part * groups) * {WIDTH} + thread", "low = smaller(part * each, rows)",
         "high = smaller(low + each, rows)"]


def emit_scatter(node: Node) -> Kernel | None:
    """out = what `op` begins with; out[indices[k]] combined with updates[k], for one k after the other.  Each thread has a column
    of a part of the rows, and takes the updates that are for these."""
    indices, updates = node.inputs[:2]
    picking, update = scattered_row(node)
    rows, width, count = node.out.shape[0], sizes.product(node.out.shape[1:]), sizes.product(indices.shape)
    start, combined = SCATTERED[node.attrs["op"]]
    drops = "_kept" * node.attrs["drops"] + "_picked" * node.attrs["picks"] + "_scaled" * node.attrs["scales"]
    text = GridText(node, f"scatter_{node.attrs['op']}_{CODES[indices.dtype.name]}{drops}", WIDTH)
    blocks = _table(text, rows, width)
    if not is_short(blocks):
        return None
    text.given("count", count)
    if picking:
        text.given("source", updates.shape[0])
    with text.each_item(blocks):
        text.lines_at(2, [*PLACE, "if c < width:"])
        text.line(3, "for r in range(low, high):")
        text.line(4, f"y0[r * width + c] = {start(text.code)}")
        text.line(2, "for k in range(count):")
        wrong = "select(row < 0, 0, outside(row, rows))" if node.attrs["drops"] else "outside(row, rows)"
        text.lines_at(3, ["row = i64(x0[k])", f"err |= {wrong} * {CHECK_INDEX}", *picking,
                          "if (row >= low) & (row < high) & (c < width)" + " & (at >= 0) & (at < source)" * bool(picking) + ":"])
        value = combined.format(y="y0[row * width + c]", u=update)
        text.line(4, f"y0[row * width + c] = {text.code}({value})")
    return text.grid(node.inputs, blocks, fails=True)


def emit_update(node: Node) -> Kernel | None:
    """Rows indices[k] of variables become a function of themselves and of row k of further values, for one k after the other.
    Each thread has a column of a part of the rows; an index outside the table has been reported, and is no thread's."""
    kernel, once, each = updated_rows(node)
    variables = node.inputs[:len(node.attrs["step"].results)]
    text = GridText(node, kernel.name, WIDTH, kernel.params[-1].dtype)
    text.sizes = kernel.sizes
    text.slots += ["    count = sizes[0]"]
    blocks = _table(text, variables[0].shape[0], kernel.sizes[1])
    if not is_short(blocks):
        return None
    text.lines_at(1, once)
    with text.each_item(blocks):
        text.lines_at(2, [*PLACE, "for k in range(count):"])
        text.lines_at(3, ["row = i64(x0[k])", "if (row >= low) & (row < high) & (c < width):"])
        text.lines_at(4, ["row = row * width", "at = k * width", *each])
    params = ", ".join(p.name for p in kernel.params)
    kernel.source = "\n".join([f"def {kernel.name}({params}, sizes, error):", *text.slots, *text.lines]) + "\n"
    kernel.sizes, kernel.items, kernel.threads = text.sizes, blocks, WIDTH
    return kernel


def emit_bounds(node: Node) -> Kernel:
    """Fails if an index is outside [0, limit)."""
    (indices,) = node.inputs
    text = GridText(node, "bounds", code=CODES[indices.dtype.name])
    text.given("limit", node.attrs["limit"])
    with text.each_element(sizes.product(indices.shape)) as blocks:
        text.line(2, f"err |= outside(i64(x0[q]), limit) * {CHECK_INDEX}")
    return text.grid([indices], blocks, [], fails=True)


def emit_scan(node: Node) -> Kernel | None:
    """Running sum or product along one axis.  Each thread has a line, neighbours neighbouring lines; of a few long ones each has a
    block."""
    (x,), axis = node.inputs, node.attrs["axis"]
    symbol, start = ("+", 0) if node.attrs["op"] == "add" else ("*", 1)
    reverse, exclusive = node.attrs["reverse"], node.attrs["exclusive"]
    text = GridText(node, f"scan_{node.attrs['op']}{'_reverse' * reverse}{'_exclusive' * exclusive}")
    inner = sizes.product(x.shape[axis + 1:])
    lines = sizes.product(x.shape[:axis]) * inner
    if not is_short(lines):
        return None
    text.given("n", x.shape[axis])
    text.given("inner", inner)
    if sizes.hint_of(x.shape[axis]) >= LONG and sizes.hint_of(lines) < FEW:
        return _scan_by_blocks(text, x, lines, symbol, start)
    step = [f"total = {text.number}(total {symbol} {text.value('x0[at]')})", f"y0[at] = {text.written('total')}"]
    with text.each_element(lines) as blocks:
        text.lines_at(2, ["outer = quotient32(q, inner)", "base = outer * n * inner + (q - outer * inner)",
                          f"total = {text.number}({start})", "for k in range(n):"])
        text.lines_at(3, [f"at = base + {'(n - 1 - k)' if reverse else 'k'} * inner", *(reversed(step) if exclusive else step)])
    return text.grid([x], blocks)


def _scan_by_blocks(text: GridText, x: Value, lines: sizes.Dim, symbol: str, start: int) -> Kernel:
    """A block goes along a line by as many elements as it has threads: of these each adds what lies 1, 2, 4, ... before it, and
    all what came before."""
    reverse, exclusive = text.node.attrs["reverse"], text.node.attrs["exclusive"]
    text.name = text.name.replace("scan_", "scan_long_")
    text.lines_at(1, ["thread = thread_index()", f"start = {text.number}({start})",
                      f"parts = shared_{text.number}({THREADS})"])
    with text.each_item(lines):
        text.lines_at(2, ["outer = quotient32(q, inner)", "base = outer * n * inner + (q - outer * inner)", "before = start",
                          "k = thread", "while k - thread < n:"])
        text.lines_at(3, [f"at = base + {'(n - 1 - k)' if reverse else 'k'} * inner", "total = start", "if k < n:"])
        text.line(4, f"total = {text.value('x0[at]')}")
        text.lines_at(3, ["parts[thread] = total", "step = 1", f"while step < {THREADS}:"])
        text.lines_at(4, ["barrier()", "other = parts[larger(thread - step, 0)]", "barrier()", "if thread >= step:"])
        text.line(5, f"total = {text.number}(other {symbol} total)")
        text.lines_at(4, ["parts[thread] = total", "step = step * 2"])
        text.lines_at(3, ["barrier()", f"last = parts[{THREADS - 1}]"])
        if exclusive:
            text.line(3, "total = select(thread > 0, parts[larger(thread - 1, 0)], start)")
        text.line(3, "if k < n:")
        text.line(4, f"y0[at] = {text.written(f'{text.number}(before {symbol} total)')}")
        text.lines_at(3, [f"before = {text.number}(before {symbol} last)", "barrier()", f"k += {THREADS}"])
    return text.grid([x], lines)
