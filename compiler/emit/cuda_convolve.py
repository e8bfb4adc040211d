"""Convolutions of images [batch, height, width, channels] and their gradients for CUDA, as products (see `cuda_products`).

What a filter's taps see is not copied into columns: each thread finds the pixels of the terms that it brings.

    forward             y[pixel, out]           = sum over (tap, in)  of x[pixel + tap, in] * w[tap, in, out]
    filter gradient     part[(tap, in), out]    = sum over pixels     of x[pixel + tap, in] * dy[pixel, out]
    input gradient      x[pixel, in]            = sum over (tap, out) of dy[pixel - tap, out] * w[tap, out, in]

With strides, only some taps reach a pixel of the input: those of its phase, the remainders of its row and column by the
strides.  Its pixels are therefore made phase by phase.

The `image` forms do what a library has declined: they read images without a frame, where a tap sees zeros around these, and the
filter as [out, kh, kw, in].  Their tiles are small: where zeros lie takes registers.
"""
from __future__ import annotations

from .. import sizes
from ..ir import Node, Value
from ..kernel import Kernel
from .cuda_products import LARGE, SMALL, Factor, Inside, Place, ProductText
from .cuda_text import divides, is_short, plus


def emit_forward(node: Node, after: Kernel | None = None) -> Kernel | None:
    """Inputs: padded images, the filter as [1, kh, kw, in, out].  `after`: what is to be done with the result."""
    blocks, kh, kw, _, out = node.inputs[1].shape
    batch, oh, ow, _ = node.out.shape
    text = ProductText(node, "convolve", 1, batch * oh * ow, out)
    if blocks != 1 or not is_short(batch * oh * ow, text.blocks) or not text.finish_with(after):
        return None
    b = Factor("x1", _same, lambda index, name: [f"{name} = {index} * {out}"], "rows", divides(text.per, out))
    return _forward(text, (kh, kw), b)


def emit_image_forward(node: Node) -> Kernel | None:
    """Inputs: images, the filter [out, kh, kw, in]."""
    out, kh, kw, channels = node.inputs[1].shape
    batch, oh, ow, _ = node.out.shape
    text = ProductText(node, "convolve_images", 1, batch * oh * ow, out, SMALL)
    if not is_short(batch * oh * ow, text.blocks):
        return None
    terms = kh * kw * channels
    b = Factor("x1", lambda index, name: [f"{name} = {index} * {terms}"], _same, "terms", divides(text.per, channels))
    return _forward(text, (kh, kw), b)


def _forward(text: ProductText, taps: tuple[int, int], b: Factor) -> Kernel:
    node = text.node
    x, (_, oh, ow, out) = node.inputs[0], node.out.shape
    channels, before = x.shape[3], _before(text)
    a = Factor("x0", _pixel(text, x, (oh, ow), node.attrs["strides"], before), _taps(text, x, taps[1], node.attrs["dilations"]),
               "terms", divides(text.per, channels), inside=_inside(text, x, before, pixels_first=True))
    last = taps[0] * taps[1] * channels
    text.write(a, b, ["first = 0", f"last = {last}"], lambda row, name: [f"{name} = {row} * {out}"])
    return text.product(node.inputs)


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


def emit_image_filter_gradient(node: Node) -> Kernel | None:
    """Inputs: images, the gradient of the result; the gradient is [out, kh, kw, in]."""
    x, dy = node.inputs
    out, kh, kw, channels = node.out.shape
    batch, oh, ow, _ = dy.shape
    columns = kh * kw * channels
    text = ProductText(node, "convolve_images_filter", 1, out, columns, SMALL)
    if not is_short(batch * oh * ow, text.blocks):
        return None
    before = _before(text)
    a = Factor("x1", _same, lambda index, name: [f"{name} = {index} * {out}"], "rows", divides(text.per, out))
    b = Factor("x0", _taps(text, x, kw, node.attrs["dilations"]), _pixel(text, x, (oh, ow), node.attrs["strides"], before), "rows",
               divides(text.per, channels), inside=_inside(text, x, before, pixels_first=False))
    pixels = text.slot("pixels", batch * oh * ow)
    text.write(a, b, ["first = 0", f"last = {pixels}"], lambda row, name: [f"{name} = {row} * {columns}"])
    return text.product([x, dy])


def emit_input_gradient(node: Node, after: Kernel | None = None) -> Kernel | None:
    """Inputs: the gradient of the result, padded; the filter with its last axes exchanged, as [1, kh, kw, out, in].  `after`: what
    is to be done with the result."""
    blocks, kh, kw, out, channels = node.inputs[1].shape
    return _input_gradient(node, (kh, kw), out, channels, node.attrs["margin"], after) if blocks == 1 else None


def emit_image_input_gradient(node: Node) -> Kernel | None:
    """Inputs: the gradient of the result, the filter [out, kh, kw, in]."""
    out, kh, kw, channels = node.inputs[1].shape
    return _input_gradient(node, (kh, kw), out, channels)


def _input_gradient(node: Node, taps: tuple[int, int], out: sizes.Dim, channels: sizes.Dim,
                    margin: tuple[sizes.Dim, sizes.Dim] | None = None, after: Kernel | None = None) -> Kernel | None:
    """`margin`: rows and columns that the gradient is padded with; None where it, and the filter, are as they are for a library."""
    dy, w = node.inputs
    (sh, sw), gaps, (kh, kw) = node.attrs["strides"], node.attrs["dilations"], taps
    before, (above, beside) = node.attrs["before"], margin or (0, 0)
    batch, height, width, _ = node.out.shape
    high, wide = (height + sh - 1) // sh, (width + sw - 1) // sw        # pixels of a phase
    name, most = ("convolve_input", LARGE) if margin else ("convolve_images_input", SMALL)
    text = ProductText(node, name, sh * sw, batch * high * wide, channels, most)
    if not is_short(batch * high * wide, text.blocks, *before) or not text.finish_with(after):
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
        return [*found(index), f"seen_down = quotient32(first_down + top - down_phase, {sh}) + i + {above}",
                f"seen_across = quotient32(first_across + left - across_phase, {sw}) + j + {beside}",
                f"{name} = ((n * dy_height + seen_down) * dy_width + seen_across) * {out}"]

    def tap(index: str) -> list[str]:
        lines = [f"tap = quotient32({index}, {out})", f"channel = {index} - tap * {out}"]
        return [*lines, "tap_down = quotient32(tap, larger(across_taps, 1))", "tap_across = tap - tap_down * across_taps"]

    def seen(index: str, name: str) -> list[str]:
        return [*tap(index), f"{name} = channel - (tap_down * {gaps[0]} * dy_width + tap_across * {gaps[1]}) * {out}"]

    def weight(index: str, name: str) -> list[str]:
        if margin is None:
            return [*tap(index), f"tap = (down_phase + tap_down * {sh}) * {kw} + across_phase + tap_across * {sw}",
                    f"{name} = (channel * {kh * kw} + tap) * {channels}"]
        if sh == sw == 1:
            return [f"{name} = {index} * {channels}"]
        return [*tap(index), f"tap = (down_phase + tap_down * {sh}) * {kw} + across_phase + tap_across * {sw}",
                f"{name} = (tap * {out} + channel) * {channels}"]

    def result(index: str, name: str) -> list[str]:
        return [*found(index), f"{name} = ((n * height + down) * width + beside) * {channels}"]

    within = "" if sh == sw == 1 else "(down < height) & (beside < width)"
    inside = None if margin else Inside(("seen_down", "seen_across"), (f"0 - tap_down * {gaps[0]}", f"0 - tap_across * {gaps[1]}"),
                                        "dy_height", "dy_width")
    a = Factor("x0", pixel, seen, "terms", divides(text.per, out), within, inside)
    b = Factor("x1", _same, weight, "rows", divides(text.per, channels))
    text.write(a, b, find, result)
    return text.product([dy, w])


def _before(text: ProductText) -> tuple[str, str] | None:
    """How many rows and columns of zeros one sees before images; None where a frame of them is around these in memory."""
    if "before" not in text.node.attrs:
        return None
    top, left = text.node.attrs["before"]
    return text.slot("top", top), text.slot("left", left)


def _inside(text: ProductText, x: Value, before: tuple[str, str] | None, pixels_first: bool) -> Inside | None:
    """Where a factor that is made of images lies in these: its rows are pixels and its terms taps, or the other way round."""
    if before is None:
        return None
    (sh, sw), (dh, dw) = text.node.attrs["strides"], text.node.attrs["dilations"]
    pixel = f"i * {sh}{plus(before[0], '-')}", f"j * {sw}{plus(before[1], '-')}"
    tap = f"tap_down * {dh}", f"tap_across * {dw}"
    row, term = (pixel, tap) if pixels_first else (tap, pixel)
    return Inside(row, term, text.slot("rows_there", x.shape[1]), text.slot("columns_there", x.shape[2]))


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


def _pixel(text: ProductText, x: Value, size: tuple[sizes.Dim, sizes.Dim], strides: tuple[int, int],
           before: tuple[str, str] | None = None) -> Place:
    """Where the first tap of a result's window lies in the images; results are numbered.  `before`: see `_before`."""
    top, left = before or ("0", "0")
    rows, columns = text.slot("result_rows", size[0]), text.slot("result_columns", size[1])
    height, width, channels = text.slot("height", x.shape[1]), text.slot("width", x.shape[2]), x.shape[3]

    def place(index: str, name: str) -> list[str]:
        return [*_split(index, rows, columns),
                f"{name} = ((n * {height} + i * {strides[0]}{plus(top, '-')}) * {width} + j * {strides[1]}{plus(left, '-')})"
                f" * {channels}"]

    return place


def _taps(text: ProductText, x: Value, columns: int, dilations: tuple[int, int]) -> Place:
    """How far from there a tap's channel lies; both are numbered together."""
    channels, width = x.shape[3], text.slot("width", x.shape[2])

    def place(index: str, name: str) -> list[str]:
        return [f"tap = quotient32({index}, {channels})", f"channel = {index} - tap * {channels}",
                f"tap_down = quotient32(tap, {columns})", f"tap_across = tap - tap_down * {columns}",
                f"{name} = (tap_down * {dilations[0]} * {width} + tap_across * {dilations[1]}) * {channels} + channel"]

    return place
