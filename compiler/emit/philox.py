"""Random bits in kernels: Philox-4x32-10 (Salmon et al., 2011) by counter, so that any item can begin anywhere.

The numbers are those of `jitgraph.ops.random.philox`, bit for bit.
"""
from __future__ import annotations

import textwrap

from jitgraph.ops.random.philox_text import BLOCK, START

from .. import sizes
from ..ir import Node
from ..kernel import CODES, Kernel
from .kernel_text import bare_kernel
from .words import Scratch

BLOCKS = 256            # blocks of four 32-bit words that an item makes
APART = 256             # blocks between the sequences of two groups of four truncated normal numbers

# the decimal fractions are 2 ** -23, 2 pi and 2 ** -12
NORMAL_PAIR = """
            unit = maximum(f32(i64(words[k * 2] & u64(0x7FFFFF))) * f32(1.1920928955078125e-07), f32(1e-7))
            angle = f32(f64(f32(i64(words[k * 2 + 1] & u64(0x7FFFFF))) * f32(1.1920928955078125e-07)) * 6.283185307179586)
            bits = i64(float_bits(unit))
            above = bits - 0x3F330000
            entry = (above >> 19) & 15
            power = above >> 23
            r = f64(bits_float(i32(bits - (power << 23)))) * x1[entry * 2] - 1.0
            offset = x1[entry * 2 + 1] + f64(power) * x1[32]
            y = x1[34] * r + x1[35]
            y = x1[33] * (r * r) + y
            radius = sqrt(f32(-2.0) * f32(y * (r * r) + (offset + r)))
            wide = f64(angle)
            turn = floor(wide * x1[37] + 0.5)
            rest = wide - turn * x1[36]
            quadrant = i64(turn)
            square = rest * rest
            cube = rest * square
            fourth = square * square
            s = f32((rest + cube * x1[38]) + (cube * square) * (x1[39] + square * x1[40]))
            c = f32(((x1[41] + square * x1[42]) + fourth * x1[43]) + (fourth * square) * (x1[44] + square * x1[45]))
            tiny = angle < f32(0.000244140625)
            s = select(tiny, angle, s)
            c = select(tiny, f32(1), c)
            odd = (quadrant & 1) != 0
            sine, cosine = select(odd, c, s), select(odd, s, c)
            sine = select((quadrant & 2) != 0, -sine, sine)
            cosine = select(((quadrant + 1) & 2) != 0, -cosine, cosine)
            made[k * 2] = sine * radius
            made[k * 2 + 1] = cosine * radius"""


def _indented(text: str, levels: int) -> str:
    return textwrap.indent(text, "    " * levels)


def emit_uniform(node: Node) -> Kernel:
    """Numbers in [0, 1); the input is (seed, second seed, first block) as int64."""
    code = CODES[node.out.dtype.name]
    if code == "f32":
        stores = [f"made[b * 4 + {k}] = f32(i64(c{k} & u64(0x7FFFFF))) * f32({2.0 ** -23!r})" for k in range(4)]
    else:
        stores = [f"made[b * 2 + {k}] = f64(i64(((c{2 * k} & u64(0xFFFFF)) << half) | c{2 * k + 1})) * f64({2.0 ** -52!r})"
                  for k in range(2)]
    return _kernel(node, f"uniform_{code}", code, len(stores), stores, "")


def emit_words(node: Node) -> Kernel:
    """Random bits as uint32, or as uint64 whose lower half comes first."""
    code = CODES[node.out.dtype.name]
    stores = [f"made[b * 4 + {k}] = u32(c{k})" for k in range(4)] if code == "u32" else [
        f"made[b * 2 + {k}] = (c{2 * k + 1} << half) | c{2 * k}" for k in range(2)]
    return _kernel(node, f"words_{code}", code, len(stores), stores, "")


def emit_normal(node: Node) -> Kernel:
    """Numbers of the standard normal distribution, float32, from pairs of words (Box and Muller, 1958); the second input
    holds the constants of `jitgraph.ops.elementwise.single_precision`, whose logarithm, sine and cosine these are."""
    stores = [f"words[b * 4 + {k}] = c{k}" for k in range(4)]
    pairs = f"\n        for k in range({BLOCKS * 2}):" + NORMAL_PAIR
    return _kernel(node, "normal_f32", "f32", 4, stores, pairs)


def emit_truncated_normal(node: Node) -> Kernel:
    """As `emit_normal`, of absolute value below 2.  Each four numbers have a sequence of their own, from which they take the first
    four that are small enough: nearly always from its first two blocks."""
    stores = [f"words[b * 4 + {k}] = c{k}" for k in range(4)]
    pairs = f"\n        for k in range({BLOCKS * 2}):" + NORMAL_PAIR
    again = f"""
        for g in range(smaller({BLOCKS}, quotient(count - first * 4 + 3, 4))):
            kept, block, place = 0, 1, (first + g) * 4
            for j in range(4):
                if fabs(made[g * 4 + j]) < f32(2):
                    if place + kept < count:
                        y0[place + kept] = made[g * 4 + j]
                    kept = kept + 1
            while kept < 4:
                counter = start + u64((first + g) * {APART} + block)
{_indented(BLOCK, 1)}
                more[0], more[1], more[2], more[3] = c0, c1, c2, c3
                for k in range(2):{_indented(NORMAL_PAIR, 2).replace("words[", "more[").replace("made[", "drawn[")}
                for j in range(4):
                    if kept < 4:
                        if fabs(drawn[j]) < f32(2):
                            if place + kept < count:
                                y0[place + kept] = drawn[j]
                            kept = kept + 1
                block = block + 1"""
    return _kernel(node, "truncated_normal_f32", "f32", 4, stores, pairs + again, APART,
                   {"more": Scratch("u64", 4), "drawn": Scratch("f32", 4)})


def emit_shuffle(node: Node) -> Kernel:
    """The numbers from 0 on, in one item: each place is exchanged with itself or a later one, by a word each."""
    rows = sizes.product(node.out.shape)
    kernel = bare_kernel(node, "shuffle", node.inputs, [node.out])
    kernel.sizes, kernel.items, kernel.cost = [rows], 1, (6.0, rows)
    words = Scratch("u64", BLOCKS * 4)
    kernel.forms = [words]
    kernel.source = f"""def shuffle(x0, y0, sizes, begin, end):
    rows = sizes[0]
{START}
    words = {words.name}()
    for i in range(rows):
        y0[i] = i
    for first in range(0, rows - 1, {BLOCKS * 4}):
        for b in range({BLOCKS}):
            counter = start + u64(quotient(first, 4) + b)
{BLOCK}
            words[b * 4], words[b * 4 + 1], words[b * 4 + 2], words[b * 4 + 3] = c0, c1, c2, c3
        for k in range(smaller({BLOCKS * 4}, rows - 1 - first)):
            i, word = first + k, i64(words[k])
            j = i + word - quotient(word, rows - i) * (rows - i)
            other = y0[j]
            y0[j] = y0[i]
            y0[i] = other
    return 0
"""
    return kernel


def _kernel(node: Node, name: str, code: str, per_block: int, stores: list[str], finish: str, apart: int = 1,
            more: dict[str, Scratch] | None = None) -> Kernel:
    """The loop over items; each makes its blocks' numbers in a scratch array (by `stores`, then `finish`).  The blocks are `apart`
    in the sequence; where they are not neighbours, `finish` stores the results.  `more`: other scratch arrays by name."""
    count = sizes.product(node.out.shape)
    kernel = bare_kernel(node, name, node.inputs, [node.out])
    kernel.sizes = [count]
    kernel.items = (count + BLOCKS * per_block - 1) // (BLOCKS * per_block)
    kernel.cost = (1.0 if not finish else 6.0, BLOCKS * 4)
    stored = "\n".join("            " + line for line in stores)
    result = "" if apart > 1 else f"""
        base = first * {per_block}
        for k in range(smaller({BLOCKS * per_block}, count - base)):
            y0[base + k] = made[k]"""
    arrays = {"made": Scratch(code, BLOCKS * per_block), "words": Scratch("u64", BLOCKS * 4), **(more or {})}
    kernel.forms = list(dict.fromkeys(arrays.values()))
    scratch = "\n".join(f"    {array} = {form.name}()" for array, form in arrays.items())
    params = ", ".join(p.name for p in kernel.params)
    kernel.source = f"""def {name}({params}, sizes, begin, end):
    count = sizes[0]
{START}
{scratch}
    for q in range(begin, end):
        first = q * {BLOCKS}
        for b in range({BLOCKS}):
            counter = start + u64((first + b) * {apart})
{BLOCK}
{stored}{finish}{result}
    return 0
"""
    return kernel
