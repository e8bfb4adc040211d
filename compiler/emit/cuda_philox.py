"""Random numbers for CUDA: those of `philox`, bit for bit.  A thread makes the numbers of one block of the sequence."""
from __future__ import annotations

import textwrap

from jitgraph.ops.random.philox_text import BLOCK, START

from .. import sizes
from ..ir import Node
from ..kernel import CODES, Kernel
from .cuda_text import THREADS, GridText, is_short
from .philox import APART, NORMAL_PAIR

FEW = 1 << 14           # numbers that one thread shuffles before the host would have


def _lines(text: str, indent: int) -> list[str]:
    return textwrap.indent(textwrap.dedent(text.strip("\n")), "    " * indent).splitlines()


def _pairs(indent: int) -> list[str]:
    """Lines that make v0 ... v3, normal numbers, of the words c0 ... c3."""
    lines = []
    for k in (0, 1):
        words = {"words[k * 2]": f"c{2 * k}", "words[k * 2 + 1]": f"c{2 * k + 1}", "made[k * 2]": f"v{2 * k}",
                 "made[k * 2 + 1]": f"v{2 * k + 1}"}
        text = NORMAL_PAIR
        for place, name in words.items():
            text = text.replace(place, name)
        lines += _lines(text, indent)
    return lines


def _emit(node: Node, name: str, made: list[str], before: bool = False) -> Kernel | None:
    """A kernel whose threads make a few numbers each, the expressions `made` of the words c0 ... c3; `before`: of the normal
    numbers that these give."""
    count, each = sizes.product(node.out.shape), len(made)
    if not is_short(count):
        return None
    text = GridText(node, name)
    text.given("total", count)
    text.lines += _lines(START, 1)
    with text.each_element((count + each - 1) // each) as blocks:
        text.line(2, "counter = start + u64(q)")
        text.lines += _lines(BLOCK, 2) + (_pairs(2) if before else [])
        for k, value in enumerate(made):
            text.line(2, f"if q * {each} + {k} < total:")
            text.line(3, f"y0[q * {each} + {k}] = {value}")
    return text.grid(list(node.inputs), blocks)


def emit_uniform(node: Node) -> Kernel | None:
    """Numbers in [0, 1); the input is (seed, second seed, first block) as int64."""
    if CODES[node.out.dtype.name] == "f32":
        return _emit(node, "uniform", [f"f32(i64(c{k} & u64(0x7FFFFF))) * f32({2.0 ** -23!r})" for k in range(4)])
    return _emit(node, "uniform", [f"f64(i64(((c{2 * k} & u64(0xFFFFF)) << half) | c{2 * k + 1})) * f64({2.0 ** -52!r})"
                                   for k in range(2)])


def emit_words(node: Node) -> Kernel | None:
    """Random bits as uint32, or as uint64 whose lower half comes first."""
    if CODES[node.out.dtype.name] == "u32":
        return _emit(node, "words", [f"u32(c{k})" for k in range(4)])
    return _emit(node, "words", [f"(c{2 * k + 1} << half) | c{2 * k}" for k in range(2)])


def emit_normal(node: Node) -> Kernel | None:
    """Numbers of the standard normal distribution, float32; the second input holds the constants."""
    return _emit(node, "normal", [f"v{k}" for k in range(4)], before=True)


def emit_truncated_normal(node: Node) -> Kernel | None:
    """As `emit_normal`, of absolute value below 2: a thread takes the first four that are small enough of a sequence of its own."""
    count = sizes.product(node.out.shape)
    if not is_short(count):
        return None
    text = GridText(node, "truncated_normal")
    text.given("total", count)
    text.lines += _lines(START, 1)
    with text.each_element((count + 3) // 4) as blocks:
        text.lines_at(2, ["kept, block = 0, 0", "while kept < 4:"])
        text.line(3, f"counter = start + u64(q * {APART} + block)")
        text.lines += _lines(BLOCK, 3) + _pairs(3)
        for k in range(4):
            text.line(3, f"if (kept < 4) & (fabs(v{k}) < f32(2)):")
            text.line(4, "if q * 4 + kept < total:")
            text.line(5, f"y0[q * 4 + kept] = v{k}")
            text.line(4, "kept = kept + 1")
        text.line(3, "block = block + 1")
    return text.grid(list(node.inputs), blocks)


def emit_shuffle(node: Node) -> Kernel | None:
    """The numbers from 0 on, each exchanged with itself or a later one: by one thread, since each exchange needs those before it;
    the others of the block make the words.  None for so many that the host is faster."""
    rows = sizes.product(node.out.shape)
    if sizes.hint_of(rows) > FEW:
        return None
    text = GridText(node, "shuffle", THREADS)
    text.given("rows", rows)
    text.lines += _lines(START, 1)
    text.lines_at(1, ["thread = thread_index()", f"words = shared_u64({4 * THREADS})"])
    with text.each_item(1):
        text.lines_at(2, ["i = thread", "while i < rows:"])
        text.lines_at(3, ["y0[i] = i", f"i += {THREADS}"])
        text.lines_at(2, ["first = 0", "while first < rows - 1:"])
        text.lines_at(3, ["counter = start + u64((first >> 2) + thread)"])
        text.lines += _lines(BLOCK, 3)
        text.lines_at(3, [f"words[thread * 4 + {k}] = c{k}" for k in range(4)])
        text.lines_at(3, ["barrier()", "if thread == 0:"])
        text.line(4, f"for k in range(smaller({4 * THREADS}, rows - 1 - first)):")
        text.lines_at(5, ["i, word = first + k, i64(words[k])", "j = i + word - quotient32(word, rows - i) * (rows - i)",
                          "other = y0[j]", "y0[j] = y0[i]", "y0[i] = other"])
        text.lines_at(3, ["barrier()", f"first += {4 * THREADS}"])
    return text.grid(list(node.inputs), 1)
