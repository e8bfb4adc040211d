"""The rules that hold as primitives are made: what a method of the Builder makes instead of the plain primitive.

A rule of RULES has the arguments of its method, and gives None where it does not apply.  What a rewrite afterwards would have
to take apart again belongs here (a Winograd convolution frames its images in another way); all else is a rule of `simplify`.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from jitgraph.declare import prim
from jitgraph.graph import dtypes, errors

from . import phases, sizes, winograd
from .emit import convolve, products
from .emit import winograd as winograd_kernels
from .ir import Value, broadcast_shapes, same_shape
from .kernel import CODES
from .primitives.convolutions import WINOGRAD, WINOGRAD_FILTER, WINOGRAD_WEIGHTS
from .primitives.elementwise import CAST
from .primitives.library_convolutions import IMAGE_CONV, IMAGE_CONV_FILTER, IMAGE_CONV_INPUT
from .primitives.memory import CONST
from .primitives.products import MATMUL
from .primitives.rearrangements import BROADCAST, RESHAPE, TRANSPOSE
from .primitives.reductions import PARTIAL, REDUCE, SEARCHES
from .tuning import Tuning
from .views import is_plain, resolve

if TYPE_CHECKING:
    from jitgraph.graph.dtypes import DType

    from .builder import Builder
    from .ir import Node

    Rule = Callable[..., Value | Node | None]       # rule(builder, *arguments of the method)

SIDE_BY_SIDE = 16                               # products of complex numbers that are made at once

Steps = Sequence[int]                           # from one window, or one tap, to the next, along rows and columns
Around = Sequence[tuple[sizes.Dim, sizes.Dim]]  # (before, after): zeros around the rows and the columns


def common_subexpressions(b: Builder, key: tuple[Any, ...]) -> Node | Value | None:
    """What was made under the same key is there already."""
    return b.known.get(key)


def joined_reshapes(b: Builder, x: Value, shape: Sequence[sizes.Dim]) -> Value | None:
    """reshape(reshape(x)) -> reshape(x)"""
    return b.reshape(x.node.inputs[0], shape) if x.node.kind is RESHAPE else None


def joined_transposes(b: Builder, x: Value, perm: tuple[int, ...]) -> Value | None:
    """transpose(transpose(x)) -> transpose(x)"""
    if x.node.kind is not TRANSPOSE:
        return None
    inner = x.node.attrs["perm"]
    return b.transpose(x.node.inputs[0], [inner[p] for p in perm])


def constant_folding(b: Builder, name: str, args: list[Value]) -> Value | None:
    """Arithmetic on numbers that are known now -> the result, which IEEE rounds the same way everywhere."""
    rule = prim.PRIMS[name]
    if not rule.is_exact or any(a.node.kind is not CONST or a.rank or a.node.attrs["array"].dtype == object for a in args):
        return None
    try:
        return b.const(getattr(prim, name)(*[a.constant for a in args]), result_dtype(name, rule, args))
    except errors.InvalidArgumentError:
        return None         # an integer divided by zero: the kernel reports it


def late_broadcasts(b: Builder, name: str, args: list[Value]) -> Value | None:
    """f(broadcast(x), y) -> broadcast(f(x, y)), where all of these are smaller than what they are broadcast to"""
    if not any(a.node.kind is BROADCAST for a in args):
        return None
    shape = broadcast_shapes([a.shape for a in args])
    sources = [a.node.inputs[0] if a.node.kind is BROADCAST else a for a in args]
    least = broadcast_shapes([a.shape for a in sources])
    if same_shape(least, shape) or sizes.count(shape) <= b.tuning.large:
        return None
    return b.broadcast(b.map(name, sources), shape)


def partial_sums(b: Builder, op: str, x: Value, axes: tuple[int, ...], shape: sizes.Shape, dtype: DType) -> Value | None:
    """A long reduction over all axes, or over the first -> parts of it, and the reduction of these"""
    if op == "mul" and x.dtype.is_complex:
        return _products_side_by_side(b, x, axes, shape, dtype)
    count = _parts(b, op, x, axes)
    if not count:
        return None
    parts = b.node(PARTIAL, [x], [((count, *shape), accumulator(op, dtype))], op=op, axes=axes).out
    return b.node(REDUCE, [parts], [(shape, dtype)], op=op, axes=(0,)).out


def _products_side_by_side(b: Builder, x: Value, axes: tuple[int, ...], shape: sizes.Shape, dtype: DType) -> Value | None:
    """A long product of complex numbers along rows -> products of every so-manieth, and their product: of these, none waits for
    another."""
    size = x.shape[-1] if x.rank else 1
    if axes != (x.rank - 1,) or isinstance(size, sizes.Size) or size < 4 * SIDE_BY_SIDE or size % SIDE_BY_SIDE:
        return None
    split = b.reshape(x, (*x.shape[:-1], size // SIDE_BY_SIDE, SIDE_BY_SIDE))
    made = b.node(REDUCE, [split], [((*shape, SIDE_BY_SIDE), accumulator("mul", dtype))], op="mul", axes=axes).out
    return b.node(REDUCE, [made], [(shape, dtype)], op="mul", axes=axes).out


def _parts(b: Builder, op: str, x: Value, axes: tuple[int, ...]) -> int:
    """In how many parts a reduction is shared out, 0 for none: all that is reduced, or the axes that come first in
    memory where they are long and the rows few bytes of the whole."""
    if op in SEARCHES:
        return 0
    kept = [i for i, d in enumerate(x.shape) if i not in axes and not sizes.same(d, 1)]
    if not kept:                # along axes of size 1 there is nothing to keep apart
        if not b.tuning.column_blocks:
            return b.tuning.partials
        return max(b.tuning.partials, min(b.tuning.column_blocks, sizes.count(x.shape) // b.tuning.block_elements))
    reduced = [i for i in axes if not sizes.same(x.shape[i], 1)]
    place = x.node.attrs["perm"] if x.node.kind is TRANSPOSE else range(x.rank)
    first = all(i < kept[0] and place[i] < min(place[k] for k in kept) for i in reduced)
    rows = sizes.count([x.shape[i] for i in axes])
    long = rows >= b.tuning.parted_rows and sizes.count(x.shape) >= b.tuning.parted
    if not first or not long or "column_kernels" in b.off:
        return 0
    return _parts_of_columns(b.tuning, rows, sizes.count([x.shape[i] for i in kept]))


def _parts_of_columns(tuning: Tuning, rows: int, columns: int) -> int:
    """In how many parts so many rows are shared out: in no more than it takes to give a device work."""
    if not tuning.column_blocks:
        return tuning.column_parts
    side_by_side = -(-columns // tuning.block_columns)
    parts = min(tuning.column_blocks, rows * columns // tuning.block_elements) // side_by_side
    return parts if parts > 1 else 0


def thin_products(b: Builder, x: Value, y: Value, ta: bool, tb: bool) -> Value | None:
    """matmul(row, y) -> sum(row * y)        matmul(x, column) -> sum(x * column)        matmul(column, row) -> column * row

    Such a product reads a matrix once, as fast as memory gives it, which no blocks or tiles make faster, and for many little
    ones a call costs more than the work; as a sum it shares its kernel with what is done before and after.  On a CPU a sum over
    the rows of a matrix, each number of which is made float64, takes three times as long as a product of one row:
    matmul(x^T, column) -> matmul(row, x)
    """
    if product_dtype(x.dtype) not in (dtypes.float32, dtypes.float64):
        return None
    m, k = x.shape[-2:][::-1] if ta else x.shape[-2:]
    n = y.shape[-2] if tb else y.shape[-1]
    thin = sizes.is_one(m) or sizes.is_one(n)
    single = max(x.rank, y.rank) < 3
    if not sizes.is_one(k) and (not thin or single and sizes.count((m, n, k)) < b.tuning.thin):
        return None
    if single and not b.tuning.thin_columns and products.is_tiled(m if sizes.is_one(n) else n, k):
        across = lambda v, flag: flag != (v.node.kind is TRANSPOSE)
        if sizes.is_one(m) and not across(y, tb):
            return None
        if sizes.is_one(n) and across(x, ta):
            return b.reshape(b.matmul(b.reshape(y, (1, k)), x, False, not ta), (m, n))
    x, y = (b.cast(v, product_dtype(v.dtype)) for v in (x, y))
    column = lambda v, size: b.reshape(v, (*v.shape[:-2], size, 1))
    row = lambda v, size: b.reshape(v, (*v.shape[:-2], 1, size))
    if sizes.is_one(k):
        return b.map("mul", [column(x, m), row(y, n)])
    matrix, vector, along_rows = (y, x, tb) if sizes.is_one(m) else (x, y, not ta)
    terms = b.map("mul", [matrix, row(vector, k) if along_rows else column(vector, k)])
    total = b.reduce("add", terms, [terms.rank - (1 if along_rows else 2)])
    return b.reshape(total, (*terms.shape[:-2], m, n))


def split_products(b: Builder, x: Value, y: Value, ta: bool, tb: bool) -> Value | None:
    """A product of few tiles and many terms -> products of parts of the terms, and their sum: all of a device has work

    The parts are views of the factors, and are added up in order."""
    terms = x.shape[0 if ta else 1]
    if not b.tuning.tiles or x.rank != 2 or y.rank != 2 or isinstance(terms, sizes.Size):
        return None
    if not all(resolve(v) is not None and is_plain(v) for v in (x, y)):
        return None
    m, n = x.shape[1 if ta else 0], y.shape[0 if tb else 1]
    most = min(b.tuning.tiles // max(b.tuning.tiles_of(m, n), 1), terms // b.tuning.part_terms)
    moved = 4 if product_dtype(x.dtype) is x.dtype else 8
    even = moved if terms % moved == 0 else 1   # so that neighbours that lie at a multiple of what is moved at once still do
    parts = next((p for p in range(most, 1, -1) if terms % (p * even) == 0), 1)
    if parts == 1:
        return None
    split = lambda v, size, flag: b.reshape(v, (parts, terms // parts, size)) if flag \
        else b.transpose(b.reshape(v, (size, parts, terms // parts)), (1, 0, 2))
    result = (parts, m, n), product_dtype(x.dtype)
    return b.reduce("add", b.node(MATMUL, [split(x, m, ta), split(y, n, not tb)], [result], ta=bool(ta), tb=bool(tb)).out, [0])


def joined_products(b: Builder, values: Sequence[Value]) -> Value | None:
    """x @ y + x' @ y' + ... -> [x, x', ...] @ [y, y', ...], where few terms make each of them: no product is written by itself.

    So the gradients for a matrix that all steps of an unrolled recurrent network use become one product."""
    matrices = [v for v in values if v.node.kind is MATMUL and v.rank == 2]
    flags = [(v.node.attrs["ta"], v.node.attrs["tb"]) for v in matrices]
    if len(matrices) < 2 or len(set(flags)) > 1:
        return None
    (ta, tb), (m, n) = flags[0], matrices[0].shape
    xs, ys = zip(*(v.node.inputs for v in matrices))
    if sizes.count((m, n)) < b.tuning.large:
        return None
    terms = sum(sizes.hint_of(x.shape[0 if ta else 1]) for x in xs)
    if terms * sizes.count((m + n,)) >= len(matrices) * sizes.count((m, n)):
        return None
    product = b.matmul(b.concat(xs, 0 if ta else 1), b.concat(ys, 1 if tb else 0), ta, tb)
    rest = [v for v in values if not any(v is one for one in matrices)]
    return b.total([product, *rest]) if rest else product


def accumulator(op: str, dtype: DType) -> DType:
    """Sums and products of float32, and of complex pairs of it, are carried in float64, which costs nothing where memory is the
    limit; of what is narrower all is carried in float32."""
    if dtype in (dtypes.float16, dtypes.bfloat16):
        return dtypes.float32
    if op in ("add", "mul"):
        return {dtypes.float32: dtypes.float64, dtypes.complex64: dtypes.complex128}.get(dtype, dtype)
    return dtype


def product_dtype(dtype: DType) -> DType:
    """What the products of such factors are, until something rounds them."""
    return dtypes.float32 if dtype in (dtypes.float16, dtypes.bfloat16) else dtype


def result_dtype(name: str, rule: prim.Prim, args: list[Value]) -> DType:
    """The element type that a primitive gives; `rule` says same, bool, real or complex."""
    if rule.result == "bool":
        return dtypes.bool_
    first = args[1].dtype if name == "select" else args[0].dtype
    if rule.result == "real" and first.is_complex:
        return first.real_dtype
    if rule.result == "complex":
        return dtypes.complex64 if first == dtypes.float32 else dtypes.complex128
    return first


# -- convolutions ------------------------------------------------------------------------------------------------------

def few_pixels(b: Builder, x: Value, w: Value, size: Sequence[sizes.Dim], strides: Steps, dilations: Steps,
               around: Around) -> Value | None:
    """A convolution of few pixels by a large filter -> the product of what each of them sees: the filter goes by once"""
    *taps, inner, out = w.shape
    shape = (x.shape[0], *size)
    if sizes.count(shape) > b.tuning.few_pixels or sizes.count(w.shape) < b.tuning.large_filter:
        return None
    x = b.pad_images(x, around)
    places = ([t * d for t, d in zip(tap, dilations)] for tap in np.ndindex(*taps))
    seen = b.concat([b.slice(x, (0, *place, 0), (*shape, inner), (1, *strides, 1)) for place in places], 3)
    terms = sizes.product((*taps, inner))
    return b.reshape(b.matmul(b.reshape(seen, (sizes.product(shape), terms)), b.reshape(w, (terms, out))), (*shape, out))


# -- convolutions by a device's library --------------------------------------------------------------------------------

def library_forward(b: Builder, x: Value, w: Value, size: Sequence[sizes.Dim], strides: Steps, dilations: Steps,
                    around: Around) -> Value | None:
    """A large convolution on a device -> one that its library makes, by a copy of the filter with its columns first"""
    y = (x.shape[0], *size, w.shape[3])
    if not _is_librarys(b, x, w.shape, y):
        return None
    return b.node(IMAGE_CONV, [x, _columns_first(b, w, (3, 0, 1, 2))], [(y, x.dtype)], strides=strides, dilations=dilations,
                  before=tuple(before for before, _ in around)).out


def library_input(b: Builder, dy: Value, w: Value, size: Sequence[sizes.Dim], strides: Steps, dilations: Steps,
                  before: Sequence[sizes.Dim], around: Around) -> Value | None:
    """Its gradient for the images -> the same by the library"""
    if not _is_librarys(b, dy, w.shape, dy.shape):
        return None
    return b.node(IMAGE_CONV_INPUT, [dy, _columns_first(b, w, (2, 0, 1, 3))], [((dy.shape[0], *size, w.shape[3]), dy.dtype)],
                  strides=strides, dilations=dilations, before=tuple(before)).out


def library_filter(b: Builder, x: Value, dy: Value, shape: Sequence[sizes.Dim], strides: Steps, dilations: Steps,
                   around: Around) -> Value | None:
    """Its gradient for the filter -> the same by the library, with its columns first"""
    if not _is_librarys(b, x, shape, dy.shape):
        return None
    *taps, channels, out = shape
    made = b.node(IMAGE_CONV_FILTER, [x, dy], [((out, *taps, channels), x.dtype)], strides=strides, dilations=dilations,
                  before=tuple(before for before, _ in around))
    return b.transpose(made.out, (1, 2, 3, 0))


def _is_librarys(b: Builder, x: Value, taps: Sequence[sizes.Dim], results: Sequence[sizes.Dim]) -> bool:
    """Whether a convolution is large enough that the library's is worth a launch more for what follows it.  `taps`: the filter's
    shape, of which the order does not matter; the channels of results are among it, too."""
    if not b.on_device or x.dtype.name not in ("float32", "float64", "float16", "bfloat16"):
        return False
    exact = x.dtype.name == "float64" or x.dtype.name == "float32" and not b.tf32
    return 2 * sizes.count(results[:3]) * sizes.count(taps) >= (b.tuning.library_exact if exact else b.tuning.library_worth)


def _columns_first(b: Builder, w: Value, order: Sequence[int]) -> Value:
    """A copy of a filter in this order of its dimensions: one for a convolution and its gradient, since equal ones are one."""
    turned = b.transpose(w, order)
    return b.node(CAST, [turned], [(turned.shape, turned.dtype)]).out


# -- convolutions by minimal filtering, see `winograd` -----------------------------------------------------------------

def winograd_forward(b: Builder, x: Value, w: Value, size: Sequence[sizes.Dim], strides: Steps, dilations: Steps,
                     around: Around) -> Value | None:
    """A convolution with a small filter -> transformed images times transformed filters"""
    if not winograd.suits(b.tuning, x.shape[0], size, w.shape, strides, dilations):
        return None
    return _filtered(b, x, w, size, [before for before, _ in around])


def winograd_input(b: Builder, dy: Value, w: Value, size: Sequence[sizes.Dim], strides: Steps, dilations: Steps,
                   before: Sequence[sizes.Dim], around: Around) -> Value | None:
    """Its gradient for the images -> the same with the filter turned round"""
    frame = [taps - 1 - lo for taps, lo in zip(w.shape, before)]
    if not winograd.suits(b.tuning, dy.shape[0], size, w.shape, strides, dilations) or min(frame) < 0:
        return None
    return _filtered(b, dy, w, size, frame, flipped=True)


def winograd_filter(b: Builder, x: Value, dy: Value, shape: Sequence[sizes.Dim], strides: Steps, dilations: Steps,
                    around: Around) -> Value | None:
    """Its gradient for the filter -> parts of it from transformed images, and their sum"""
    if not winograd.suits(b.tuning, dy.shape[0], dy.shape[1:3], shape, strides, dilations):
        return None
    covered = winograd.covered(dy.shape[1:3], shape)
    x = _framed(b, x, [lo for lo, _ in around], [d + t - 1 for d, t in zip(covered, shape)])
    dy = _framed(b, dy, (0, 0), covered)
    parts = b.node(WINOGRAD_FILTER, [x, dy], [((b.chunks_of(shape, x.dtype, dy.shape[:3]), *shape), x.dtype)]).out
    return b.reduce("add", parts, [0])


def _filtered(b: Builder, x: Value, w: Value, size: Sequence[sizes.Dim], before: Sequence[sizes.Dim],
              flipped: bool = False) -> Value:
    """Images [n, h, w, in], before which `before` rows and columns of zeros are, with a filter [kh, kw, in, out], which
    may be `flipped` along its first two axes, by minimal filtering: [n, *size, out]."""
    taps = w.shape[:2]
    covered = winograd.covered(size, taps)
    x = _framed(b, x, before, [d + t - 1 for d, t in zip(covered, taps)])
    inner, out = w.shape[2:]
    panel = winograd_kernels.panel(out, _tiled(w.dtype))
    shape = winograd.SIZE ** 2, out // panel, inner, panel
    transformed = b.node(WINOGRAD_WEIGHTS, [w], [(shape, x.dtype)], flipped=flipped).out
    y = b.node(WINOGRAD, [x, transformed, w], [((x.shape[0], *covered, w.shape[3]), x.dtype)], flipped=flipped).out
    return b.slice(y, (0,) * 4, (x.shape[0], *size, w.shape[3]))


def _framed(b: Builder, x: Value, before: Sequence[sizes.Dim], covered: Sequence[sizes.Dim]) -> Value:
    """Images with zeros before and after them, `covered` rows and columns in all."""
    return b.pad_images(x, [(lo, c - lo - d) for c, lo, d in zip(covered, before, x.shape[1:3])])


def _tiled(dtype: DType) -> str:
    """The code of what tiles can hold.  Raises NotImplementedError for floats of 16 bits: these are multiplied as float32."""
    if dtype.name not in CODES:
        raise NotImplementedError(f"no tiles of {dtype.name}")
    return CODES[dtype.name]


def filter_blocks(b: Builder, w: Value, pixels: sizes.Dim) -> Value | None:
    """The columns of a large filter -> blocks of them that lie by themselves, see `convolve.filter_columns`"""
    if not b.tuning.filter_columns:
        return None
    _tiled(w.dtype)
    columns = convolve.filter_columns(w.dtype, pixels, w.shape)
    if columns == w.shape[-1]:
        return None
    source, perm = (w.node.inputs[0], w.node.attrs["perm"]) if w.node.kind is TRANSPOSE else (w, range(w.rank))
    *rest, last = perm
    split = (w.shape[-1] // columns, columns)
    source = b.reshape(source, (*source.shape[:last], *split, *source.shape[last + 1:]))
    return b.transpose(source, (last, *(p + (p > last) for p in rest), last + 1))


RULES: list[tuple[str, str, Rule]] = [
    # optimisation, method of the Builder, rule
    ("common_subexpressions", "node", common_subexpressions),
    ("joined_views", "reshape", joined_reshapes),
    ("joined_views", "transpose", joined_transposes),
    ("constant_folding", "map", constant_folding),
    ("late_broadcasts", "map", late_broadcasts),
    ("partial_sums", "reduce", partial_sums),
    ("thin_products", "matmul", thin_products),
    ("split_products", "matmul", split_products),
    ("joined_products", "total", joined_products),
    ("library_convolutions", "convolve", library_forward),
    ("library_convolutions", "convolve_input", library_input),
    ("library_convolutions", "convolve_filter", library_filter),
    ("few_pixels", "convolve", few_pixels),
    ("phases", "convolve", phases.forward),
    ("phases", "convolve_input", phases.input_gradient),
    ("phases", "convolve_filter", phases.filter_gradient),
    ("winograd", "convolve", winograd_forward),
    ("winograd", "convolve_input", winograd_input),
    ("winograd", "convolve_filter", winograd_filter),
    ("filter_blocks", "filter_blocks", filter_blocks),
]


def rules(off: frozenset[str]) -> dict[str, list[Rule]]:
    """{method: its rules}, without the optimisations that are `off`."""
    found: dict[str, list[Rule]] = {}
    for optimisation, method, rule in RULES:
        if optimisation not in off:
            found.setdefault(method, []).append(rule)
    return found
