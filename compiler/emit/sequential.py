"""Kernels whose inner order matters: rows added into a table, running sums and products.

Each item owns columns, rows or lines of its own and goes through its elements in order, so results are the same for any
number of threads.
"""
from __future__ import annotations

from typing import Any

from jitgraph.declare.prim import ELEMENTARY

from .. import sizes
from ..ir import Node, Value
from ..kernel import CHECK_INDEX, CODES, ELEMENTS, Kernel, Statement, is_complex
from . import scalars
from .kernel_text import bare_kernel

SEARCH_BLOCK = 128      # elements whose extreme is found before they are looked through
BLOCK = 64      # columns of a table that one item owns
FEW_COLUMNS = 4         # up to which all of a row is combined at once
LARGE = 512     # rows of a table that lies in memory rather than in the cache: of that, an item has ...
WIDE, PARTS = 128, 2    # ... so many columns of one part of the rows, so that it writes longer stretches
GROUP = 128     # neighbouring rows in the same part


# what a scattered table begins with, and how a row is combined with an update; NaN is not larger than anything
SCATTERED = {"add": (lambda code: f"{code}(0)", "{y} + {u}"), "mul": (lambda code: f"{code}(1)", "{y} * {u}"),
             "max": (lambda code: scalars.finite(code, "min"), "select({u} > {y}, {u}, {y})"),
             "min": (lambda code: scalars.finite(code, "max"), "select({u} < {y}, {u}, {y})")}


def scattered_row(node: Node) -> tuple[list[str], str]:
    """(lines, expression): what a Scatter combines column c of the table with for index k: that of row k of the updates, or of row
    `at` of `source` rows, which the lines look up; times a factor."""
    picks, scales = node.attrs["picks"], node.attrs["scales"]
    lines = ["at = i64(x2[k])", f"err |= outside(at, source) * {CHECK_INDEX}"] if picks else []
    update, factor = f"x1[{'at' if picks else 'k'} * width + c]", f"x{2 + picks}[k]"
    if not scales:
        return lines, update
    return lines, f"complex_mul({factor}, {update})" if is_complex(ELEMENTS[node.out.dtype.name]) else f"{factor} * {update}"


def emit_scatter(node: Node) -> Kernel:
    """out = what `op` begins with; out[indices[k]] combined with updates[k], for one k after the other.

    An item goes through all indices and takes those of its rows; of others, and of those outside the table, which may have
    no rows, it takes no columns."""
    indices, updates = node.inputs[:2]
    picking, update = scattered_row(node)
    code, index = ELEMENTS[node.out.dtype.name], CODES[indices.dtype.name]
    rows, count = node.out.shape[0], sizes.product(indices.shape)
    width = sizes.product(node.out.shape[1:])
    start, combined = SCATTERED[node.attrs["op"]]
    if is_complex(code):
        combined = f"complex_{node.attrs['op']}({{y}}, {{u}})"
    combined = combined.format(y="y0[row * width + c]", u=update)
    narrow = width if len(node.inputs) == 2 and isinstance(width, int) and 0 < width <= FEW_COLUMNS else 0
    drops, large = node.attrs["drops"], sizes.hint_of(rows) >= LARGE and not narrow
    parts, columns = (PARTS, WIDE) if large else (1, BLOCK)
    given = f"{'_picked' * node.attrs['picks']}{'_scaled' * node.attrs['scales']}"
    name = f"scatter_{node.attrs['op']}_{index}_{code}{'_kept' * drops}{given}{'_large' * large}"
    wrong = "select(row < 0, 0, outside(row, rows))" if drops else "outside(row, rows)"
    stop = "select(outside(row, rows) == 0, hi, lo)"
    if large:
        stop = f"select(row // {GROUP} % {parts} == part, {stop}, lo)"
    if picking:
        picking += [f"stop = select(outside(at, source) == 0, {stop}, lo)", "at = inside(at, source)"]
    look_up = "\n".join(" " * 12 + line for line in picking or [f"stop = {stop}"])
    kernel = bare_kernel(node, name, node.inputs, [node.out])
    kernel.sizes = [rows, count, width, *[updates.shape[0]] * node.attrs["picks"]]
    kernel.items, kernel.cost = parts * ((width + columns - 1) // columns), (0.3, (rows + count) * BLOCK)
    if narrow:
        kernel.name = f"{name}_{narrow}"
        kernel.source = _narrow_scatter(kernel.name, narrow, wrong, start(code), f"{code}({combined})")
        return kernel
    params, source = ", ".join(param.name for param in kernel.params), "\n    source = sizes[3]" * node.attrs["picks"]
    kernel.source = f"""def {name}({params}, sizes, begin, end):
    rows, count, width = sizes[0], sizes[1], sizes[2]{source}
    err = 0
    for q in range(begin, end):
        part = q % {parts}
        lo = q // {parts} * {columns}
        hi = smaller(lo + {columns}, width)
        for g in range((rows + {parts * GROUP - 1}) // {parts * GROUP}):
            first = (g * {parts} + part) * {GROUP}
            for r in range(first, smaller(first + {GROUP}, rows)):
                for c in range(lo, hi):
                    y0[r * width + c] = {start(code)}
        for k in range(count):
            row = i64(x0[k])
            err |= {wrong} * {CHECK_INDEX}
{look_up}
            row = inside(row, rows)
            for c in range(lo, stop):
                y0[row * width + c] = {code}({combined})
    return err
"""
    return kernel


def _narrow_scatter(name: str, width: int, wrong: str, start: str, combined: str) -> str:
    """The same for rows of few elements: an item goes through all of them, and a branch is less than a loop."""
    line = f"y0[row * width + c] = {combined}"
    columns = "\n".join(" " * 16 + line.replace("width + c", f"{width} + {c}") for c in range(width))
    return f"""def {name}(x0, x1, y0, sizes, begin, end):
    rows, count = sizes[0], sizes[1]
    err = 0
    for q in range(begin, end):
        for k in range(rows * {width}):
            y0[k] = {start}
        for k in range(count):
            row = i64(x0[k])
            err |= {wrong} * {CHECK_INDEX}
            if outside(row, rows) == 0:
{columns}
    return err
"""


def updated_rows(node: Node) -> tuple[Kernel, list[str], list[str]]:
    """A kernel without text that changes rows of variables, and the lines of its step: those that stand once before all loops, and
    those for column c, which lies at `row + c` in the variables and at `at + c` in the values."""
    step = node.attrs["step"]
    count = len(step.results)
    variables, indices, values = node.inputs[:count], node.inputs[count], node.inputs[count + 1:]
    by_value = {v for v in values if not v.rank and v.node.kind.is_known}
    buffers = dict.fromkeys(v for v in values if v not in by_value)
    place = {v: f"x{1 + k}" for k, v in enumerate(buffers)}
    codes = [ELEMENTS[v.dtype.name] for v in (indices, *variables)]
    name = "_".join([node.attrs["name"], "in_place", *dict.fromkeys(codes), *["kept"] * node.attrs["drops"]])
    kernel = bare_kernel(node, name, [indices, *buffers], variables)
    kernel.sizes = [sizes.product(indices.shape), sizes.product(variables[0].shape[1:])]
    names = {v: f"v{k}" for k, v in enumerate(step.inputs)}
    once: list[str] = []
    each: list[str] = []
    for k, (inner, value) in enumerate(zip(step.inputs, (*variables, *values))):
        if value in by_value:
            once.append(_by_value(kernel, names[inner], value))
            continue
        buffer = f"y{k}[row + c]" if k < count else f"{place[value]}[{'at + c' if value.rank else 0}]"
        (each if k < count or value.rank else once).append(f"{names[inner]} = {scalars.loaded(buffer, ELEMENTS[inner.dtype.name])}")
    each += _statements(step, names, kernel, once)
    each += [f"y{k}[row + c] = {scalars.stored(names[v], ELEMENTS[v.dtype.name])}" for k, v in enumerate(step.results)]
    return kernel, once, each


def emit_update(node: Node) -> Kernel:
    """Rows indices[k] of variables become a function of themselves and of row k of further values, for one k after the
    other; the indices have been checked, negative ones are left out where that is asked for."""
    step = node.attrs["step"]
    variables, indices = node.inputs[:len(step.results)], node.inputs[len(step.results)]
    kernel, once, each = updated_rows(node)
    work = sum(6 if n.attrs.get("prim") in ELEMENTARY else 1 for n in step.nodes)
    width = sizes.product(variables[0].shape[1:])
    kernel.items, kernel.cost = (width + BLOCK - 1) // BLOCK, (0.2 + 0.1 * work, sizes.product(indices.shape) * BLOCK)
    lines = lambda depth, texts: "".join(f"{' ' * depth}{text}\n" for text in texts)
    params = ", ".join(p.name for p in kernel.params)
    stop = "lo if x0[k] < 0 else hi" if node.attrs["drops"] else "hi"
    kernel.source = f"""def {kernel.name}({params}, sizes, begin, end):
    count, width = sizes[0], sizes[1]
{lines(4, once)}    for q in range(begin, end):
        lo = q * {BLOCK}
        hi = smaller(lo + {BLOCK}, width)
        for k in range(count):
            row = i64(x0[k]) * width
            at = k * width
            for c in range(lo, {stop}):
{lines(16, each)}    return 0
"""
    return kernel


def _by_value(kernel: Kernel, name: str, value: Value) -> str:
    """The line that takes a number from the sizes argument."""
    return f"{name} = {scalars.by_value(kernel.sizes, value, ELEMENTS[value.dtype.name])}"


def _statements(step: Any, names: dict[Value, str], kernel: Kernel, once: list[str]) -> list[str]:
    """The lines that compute a step's results; its constants go to `once`."""
    lines = []
    types = {names[v]: ELEMENTS[v.dtype.name] for v in step.inputs}
    for inner in step.nodes:
        if inner.out.is_input:
            continue
        names[inner.out] = name = f"v{len(names)}"
        types[name] = ELEMENTS[inner.out.dtype.name]
        if inner.kind.is_known:
            once.append(_by_value(kernel, name, inner.out))
            continue
        args = tuple(names[v] for v in inner.inputs)
        statement = Statement("op", name, inner.attrs.get("prim", "cast"), args, types[name])
        lines.append(f"{name} = {scalars.expression(statement, types)}")
    return lines


def emit_top_k(node: Node) -> Kernel:
    """The k largest of each row, kept in order by insertion.  Only blocks whose largest element beats the k-th so far are
    looked through; NaN counts as less than all numbers."""
    (x,) = node.inputs
    code = CODES[x.dtype.name]
    name = f"top_k_{code}"
    kernel = bare_kernel(node, name, [x], node.outputs)
    kernel.sizes = [x.shape[-1], node.attrs["k"]]
    kernel.items, kernel.cost = sizes.product(x.shape[:-1]), (0.1, x.shape[-1] + 8 * node.attrs["k"])
    beats = "({v} > {w}) | (({w} != {w}) & ({v} == {v}))" if code[0] == "f" else "{v} > {w}"
    kernel.source = f"""def {name}(x0, y0, y1, sizes, begin, end):
    n, k = sizes[0], sizes[1]
    for q in range(begin, end):
        base, out, kept = q * n, q * k, 0
        for b in range(0, n, {SEARCH_BLOCK}):
            e = smaller(b + {SEARCH_BLOCK}, n)
            best = lowest_{code}()
            for i in range(b, e):
                best = max_step(best, x0[base + i])
            if kept == k:
                if best <= y0[out + k - 1]:
                    continue
            for i in range(b, e):
                v = x0[base + i]
                j = kept
                if kept == k:
                    w = y0[out + k - 1]
                    if not_({beats.format(v="v", w="w")}):
                        continue
                    j = k - 1
                else:
                    kept += 1
                while j > 0:
                    w = y0[out + j - 1]
                    if not_({beats.format(v="v", w="w")}):
                        break
                    y0[out + j] = w
                    y1[out + j] = y1[out + j - 1]
                    j -= 1
                y0[out + j] = v
                y1[out + j] = i32(i)
    return 0
"""
    return kernel


def emit_bounds(node: Node) -> Kernel:
    """Fails if an index is outside [0, limit)."""
    (indices,) = node.inputs
    kernel = bare_kernel(node, f"bounds_{CODES[indices.dtype.name]}", [indices], [])
    kernel.sizes = [sizes.product(indices.shape), node.attrs["limit"]]
    kernel.items, kernel.cost = 1, (0.2, sizes.product(indices.shape))
    kernel.source = f"""def {kernel.name}(x0, sizes, begin, end):
    count, limit = sizes[0], sizes[1]
    err = 0
    for k in range(count):
        err |= outside(i64(x0[k]), limit)
    return err
"""
    return kernel


def emit_scan(node: Node) -> Kernel:
    """Running sum or product along one axis."""
    (x,), axis = node.inputs, node.attrs["axis"]
    code = ELEMENTS[node.out.dtype.name]
    symbol, start = ("+", 0) if node.attrs["op"] == "add" else ("*", 1)
    reverse, exclusive = node.attrs["reverse"], node.attrs["exclusive"]
    name = f"scan_{node.attrs['op']}{'_reverse' * reverse}{'_exclusive' * exclusive}_{code}"
    kernel = bare_kernel(node, name, [x], [node.out])
    inner = sizes.product(x.shape[axis + 1:])
    kernel.sizes = [x.shape[axis], inner]
    kernel.items = sizes.product(x.shape[:axis]) * inner
    kernel.cost = (1.0, x.shape[axis])
    combined = f"complex_{node.attrs['op']}(total, x0[at])" if is_complex(code) else f"total {symbol} x0[at]"
    step = [f"total = {code}({combined})", "y0[at] = total"]
    first, second = reversed(step) if exclusive else step
    kernel.source = f"""def {name}(x0, y0, sizes, begin, end):
    n, inner = sizes[0], sizes[1]
    for q in range(begin, end):
        outer = quotient(q, inner)
        base = outer * n * inner + (q - outer * inner)
        total = {code}({start})
        for k in range(n):
            at = base + {"(n - 1 - k)" if reverse else "k"} * inner
            {first}
            {second}
    return 0
"""
    return kernel
