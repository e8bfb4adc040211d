"""Gradients of poolings whose windows have many taps or overlap, for some channels of a window at a time.

First a loop finds what goes to the taps: of a maximum the tap that it came from, of a mean its share.  Then loops, one for each
tap, bring it there.  To do all in one loop, LLVM would have to know that no two taps meet.
"""
from __future__ import annotations

from .. import sizes
from ..ir import Node
from ..kernel import Kernel
from .window_text import Windows, is_large, least, near, work
from .words import Scratch

SEARCHED = 512          # channels at a time
MANY = 16               # taps from which the channels go to the tap that each has found, and not all to every tap


def emit(node: Node, text: Windows) -> Kernel:
    """As `windows.emit_pool_gradient`."""
    op, large, dy = node.attrs["op"], is_large(node), node.inputs[-1]
    image = f"{text.height} * {text.width} * {text.channels}"
    text.line(1, f"kept = {text.named(Scratch(text.code if op == 'mean' else 'i32', SEARCHED))}()")
    at = text.each_image(["n = q"], (image, image)) + 1
    text.line(at - 1, f"for j in range({text.pixels}):")
    taps = [] if large else text.window(at)
    text.line(at, f"out = ((n * {text.rows} + i) * {text.pixels} + j) * {text.channels}")
    low, high = "0", text.channels
    if not text.channels.isdigit():
        text.line(at, f"for low in range(0, {text.channels}, {SEARCHED}):")
        at, low, high = at + 1, "low", "high"
        text.line(at, f"high = smaller(low + {SEARCHED}, {text.channels})")
    channels, kept = f"for c in range({low}, {high}):", f"kept[c - {low}]"
    if op == "mean":
        _share(text, at, taps, channels, kept)
    elif op == "max":
        _search(node, text, at, taps, channels, kept)
        if len(taps) > MANY or large:
            _visit(text, at, channels, kept)
            taps, large = [], False
    gradient = {"mean": kept, "max": f"select({kept} == NUMBER, x2[out + c], {text.code}(0))",
                "near_max": f"select({near('x0[at + c]', 'x1[out + c]', text.code)}, x2[out + c], {text.code}(0))"}[op]
    for number, address, condition in taps:
        value = gradient.replace("NUMBER", str(number))
        text.lines_at(at, [channels, f"y0[{address} + c] += {text.guarded(value, condition) if op == 'mean' else value}"])
    if large:
        text.lines_at(text.each_tap(at), [channels, f"y0[at + c] += {gradient}"])
    return text.kernel(text.inputs, node.out.shape[0], (0.3, work(node, sizes.product(dy.shape[1:]))))


def _share(text: Windows, at: int, taps: list[tuple[int, str, str]], channels: str, kept: str) -> None:
    """Lines that keep what of a mean goes to each tap."""
    if taps:
        text.count(at, taps)
    else:
        inside = []
        for k, (index, limit) in enumerate((("i", text.height), ("j", text.width))):
            start = f"{index} * {text.strides[k]} - {text.slot(f'before{k}', text.before[k])}"
            inside.append(f"(smaller({start} + {text.taps[k]}, {limit}) - larger({start}, 0))")
        text.line(at, f"count = {text.code}({inside[0]} * {inside[1]})")
    text.lines_at(at, [channels, f"{kept} = x0[out + c] / count"])


def _search(node: Node, text: Windows, at: int, taps: list[tuple[int, str, str]], channels: str, kept: str) -> None:
    """Lines that keep the first tap that is the maximum, or the first if that is NaN, else -1.  Where the first tap is outside,
    the first pixel inside stands for it."""
    hit = f"max_step({least(node, text.code)}, VALUE) == x1[out + c]"
    if taps:
        text.line(at, channels)
        text.line(at + 1, "found = i32(-1)")
        for number, address, condition in reversed(taps):
            value = f"x0[{address} + c]"
            one = f"({hit.replace('VALUE', value)})" + (f" & {condition}" if condition else "")
            if not number and node.out.dtype.is_floating:       # where that is outside, it reads the first pixel inside
                one = f"({one}) | ({value} != {value})"
            text.line(at + 1, f"found = select({one}, i32({number}), found)")
        text.line(at + 1, f"{kept} = found")
        return
    text.lines_at(at, [channels, f"{kept} = i32(-1)"])
    inner = text.each_tap(at)
    one = f"({hit.replace('VALUE', 'x0[at + c]')}) & ({kept} < 0)"
    text.lines_at(inner, [channels, f"{kept} = select({one}, i32(number), {kept})"])
    row, column = _first(text)
    text.line(at, f"at = ((n * {text.height} + {row}) * {text.width} + {column}) * {text.channels}")
    text.lines_at(at, [channels, f"{kept} = select(x0[at + c] != x0[at + c], i32(0), {kept})"])


def _first(text: Windows) -> list[str]:
    """The row and the column of a window's first pixel inside."""
    return [f"larger({index} * {text.strides[k]} - {text.slot(f'before{k}', text.before[k])}, 0)" for k, index in enumerate("ij")]


def _visit(text: Windows, at: int, channels: str, kept: str) -> None:
    """Lines that bring each channel's gradient to the tap that it has found; the first tap outside is the first pixel inside."""
    text.line(at, channels)
    text.line(at + 1, f"k = i64({kept})")
    text.line(at + 1, "if k >= 0:")
    for k, (index, name, tap) in enumerate((("i", "row", f"k // {text.taps[1]}"), ("j", "column", f"k % {text.taps[1]}"))):
        start = f"{index} * {text.strides[k]} - {text.slot(f'before{k}', text.before[k])}"
        text.line(at + 2, f"{name} = larger({start} + {tap}, 0)")
    text.line(at + 2, f"y0[((n * {text.height} + row) * {text.width} + column) * {text.channels} + c] += x2[out + c]")
