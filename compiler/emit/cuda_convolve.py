"""Convolutions of images [batch, height, width, channels] and their gradients for CUDA, as products (see `cuda_products`).

What a filter's taps see is not copied into columns: each thread finds the pixels of the terms that it brings.

    forward             y[pixel, out]           = sum over (tap, in)  of x[pixel + tap, in] * w[tap, in, out]
    filter gradient     part[(tap, in), out]    = sum over pixels     of x[pixel + tap, in] * dy[pixel, out]
    input gradient      x[pixel, in]            = sum over (tap, out) of dy[pixel - tap, out] * w[tap, out, in]

With strides, only some taps reach a pixel of the input: those of its phase, the remainders of its row and column by the
strides.  Its pixels are therefore made phase by phase.
"""
from __future__ import annotations

from .. import sizes
from ..ir import Node, Value
from ..kernel import Kernel
from .cuda_products import Factor, Place, ProductText
from .cuda_text import divides, is_short


def emit_forward(node: Node, after: Kernel | None = None) -> Kernel | None:
    """Inputs: padded images, the filter as [1, kh, kw, in, out].  `after`: what is to be done with the result."""
    x, w = node.inputs
    (sh, sw), (dh, dw) = node.attrs["strides"], node.attrs["dilations"]
    blocks, kh, kw, channels, out = w.shape
    batch, oh, ow, _ = node.out.shape
    text = ProductText(node, "convolve", 1, batch * oh * ow, out)
    if blocks != 1 or not is_short(batch * oh * ow, text.blocks) or not text.finish_with(after):
        return None
    pixel = _pixel(text, x, (oh, ow), (sh, sw))
    a = Factor("x0", pixel, _taps(text, x, kw, (dh, dw)), "terms", divides(text.per, channels))
    b = Factor("x1", _same, lambda index, name: [f"{name} = {index} * {out}"], "rows", divides(text.per, out))
    text.write(a, b, ["first = 0", f"last = {kh * kw * channels}"], lambda row, name: [f"{name} = {row} * {out}"])
    return text.product([x, w])


def emit_filter_gradient(node: Node) -> Kernel | None:
    """Inputs: padded images, the gradient of the result; a partial gradient for each part of the pixels."""
    x, dy = node.inputs
    chunks, kh, kw, channels, out = node.out.shape
    batch, oh, ow, _ = dy.shape
    text = ProductText(node, "convolve_filter", chunks, kh * kw * channels, out)
    if not is_short(batch * oh * ow, text.blocks):
        return None
    a = Factor("x0", _taps(text, x, kw, node.attrs["dilations"]), _pixel(text, x, (oh, ow), node.attrs["strides"]), "rows",
               divides(text.per, channels))
    b = Factor("x1", _same, lambda index, name: [f"{name} = {index} * {out}"], "rows", divides(text.per, out))
    pixels = text.slot("pixels", batch * oh * ow)
    terms = [f"first = quotient(batch * {pixels}, {chunks})", f"last = quotient((batch + 1) * {pixels}, {chunks})"]
    text.write(a, b, terms, lambda row, name: [f"{name} = (batch * {kh * kw * channels} + {row}) * {out}"])
    return text.grid([x, dy], text.blocks)


def emit_input_gradient(node: Node, after: Kernel | None = None) -> Kernel | None:
    """Inputs: the gradient of the result, padded; the filter with its last axes exchanged, as [1, kh, kw, out, in].  `after`: what
    is to be done with the result."""
    dy, w = node.inputs
    (sh, sw), gaps = node.attrs["strides"], node.attrs["dilations"]
    before, margin = node.attrs["before"], node.attrs["margin"]
    blocks, kh, kw, out, channels = w.shape
    batch, height, width, _ = node.out.shape
    high, wide = (height + sh - 1) // sh, (width + sw - 1) // sw        # pixels of a phase
    text = ProductText(node, "convolve_input", sh * sw, batch * high * wide, channels)
    if blocks != 1 or not is_short(batch * high * wide, text.blocks, *before) or not text.finish_with(after):
        return None
    for name, value in (("height", height), ("width", width), ("high", high), ("wide", wide), ("dy_height", dy.shape[1]),
                        ("dy_width", dy.shape[2]), ("top", before[0]), ("left", before[1])):
        text.given(name, value)
    find = [f"down_phase = quotient32(batch, {sw})", f"across_phase = batch - down_phase * {sw}",
            *_first("first_down", "down_phase", "top", sh), *_first("first_across", "across_phase", "left", sw),
            f"across_taps = quotient32({kw + sw - 1} - across_phase, {sw})",
            f"last = quotient32({kh + sh - 1} - down_phase, {sh}) * across_taps * {out}", "first = 0"]

    def found(index: str) -> list[str]:
        """A pixel of the phase: of image n, its row and its column."""
        return [*_split(index, "high", "wide"), f"down = first_down + i * {sh}", f"beside = first_across + j * {sw}"]

    def pixel(index: str, name: str) -> list[str]:
        """The first pixel of dy that a pixel of the phase is made of."""
        return [*found(index), f"seen_down = quotient32(first_down + top - down_phase, {sh}) + i + {margin[0]}",
                f"seen_across = quotient32(first_across + left - across_phase, {sw}) + j + {margin[1]}",
                f"{name} = ((n * dy_height + seen_down) * dy_width + seen_across) * {out}"]

    def tap(index: str) -> list[str]:
        lines = [f"tap = quotient32({index}, {out})", f"channel = {index} - tap * {out}"]
        return [*lines, "tap_down = quotient32(tap, larger(across_taps, 1))", "tap_across = tap - tap_down * across_taps"]

    def seen(index: str, name: str) -> list[str]:
        return [*tap(index), f"{name} = channel - (tap_down * {gaps[0]} * dy_width + tap_across * {gaps[1]}) * {out}"]

    def weight(index: str, name: str) -> list[str]:
        if sh == sw == 1:
            return [f"{name} = {index} * {channels}"]
        return [*tap(index), f"tap = (down_phase + tap_down * {sh}) * {kw} + across_phase + tap_across * {sw}",
                f"{name} = (tap * {out} + channel) * {channels}"]

    def result(index: str, name: str) -> list[str]:
        return [*found(index), f"{name} = ((n * height + down) * width + beside) * {channels}"]

    within = "" if sh == sw == 1 else "(down < height) & (beside < width)"
    a = Factor("x0", pixel, seen, "terms", divides(text.per, out), within)
    b = Factor("x1", _same, weight, "rows", divides(text.per, channels))
    text.write(a, b, find, result)
    return text.product([dy, w])


def _first(name: str, phase: str, before: str, stride: int) -> list[str]:
    """Lines that find the first pixel of a phase: (pixel + before) % stride is the phase."""
    return [f"{name} = {phase} - {before} + quotient32({before}, {stride}) * {stride}",
            f"{name} = select({name} < 0, {name} + {stride}, {name})"]


def _same(index: str, name: str) -> list[str]:
    return [f"{name} = {index}"]


def _split(index: str, rows: str, columns: str) -> list[str]:
    """Lines that find pixel (i, j) of image n by its number."""
    return [f"i = quotient32({index}, {columns})", f"j = {index} - i * {columns}", f"n = quotient32(i, {rows})",
            f"i -= n * {rows}"]


def _pixel(text: ProductText, x: Value, size: tuple[sizes.Dim, sizes.Dim], strides: tuple[int, int]) -> Place:
    """Where the first tap of a result's window lies in the images; results are numbered."""
    rows, columns = text.slot("result_rows", size[0]), text.slot("result_columns", size[1])
    height, width, channels = text.slot("height", x.shape[1]), text.slot("width", x.shape[2]), x.shape[3]

    def place(index: str, name: str) -> list[str]:
        return [*_split(index, rows, columns),
                f"{name} = ((n * {height} + i * {strides[0]}) * {width} + j * {strides[1]}) * {channels}"]

    return place


def _taps(text: ProductText, x: Value, columns: int, dilations: tuple[int, int]) -> Place:
    """How far from there a tap's channel lies; both are numbered together."""
    channels, width = x.shape[3], text.slot("width", x.shape[2])

    def place(index: str, name: str) -> list[str]:
        return [f"tap = quotient32({index}, {channels})", f"channel = {index} - tap * {channels}",
                f"tap_down = quotient32(tap, {columns})", f"tap_across = tap - tap_down * {columns}",
                f"{name} = (tap_down * {dilations[0]} * {width} + tap_across * {dilations[1]}) * {channels} + channel"]

    return place
