"""Matrix products in register tiles.

    C[m, n] = L[m, k] @ R[k, n]

C is made in blocks of rows and strips of columns.  For some terms of the sum at a time, a panel of R's columns, as wide as
a tile, meets one tile of L's rows after the other.  The first tile reads R where it lies and leaves what it has read in
the panel, densely and in the first-level cache, for the others; what lies transposed is turned into the panel before.
Rows of L are read where they lie; transposed ones, and those that would fall on one set of the cache, are copied once per block.

Where L has few rows and R is transposed, the tiles are those of C's transpose: then R goes by as it lies, and the little L
is what is turned into panels.  Items depend on the sizes alone, so results are the same for any number of threads; the
text depends on nothing but the dtype, so that all products share a kernel.
"""
from __future__ import annotations

import functools

from .. import sizes
from ..ir import Node, Value
from ..kernel import WIDTH, Kernel, Region
from ..views import matrix_view
from . import cpu_features, few_rows
from .kernel_text import KernelText
from .product_code import NARROWEST, SIZES, TURNED_ROWS, WIDEST, FewRows, Product, highest
from .vectors import lane_count

FEW = 64                # rows up to which the other factor is better not turned
LEAST = 32              # columns and terms of a sum from which tiles are worth while
ROWS = 224              # of a block, where it is not known how many rows there are
TILE_ROWS = 8           # of a tile, and that blocks are a multiple of
TALLER = (10, 14)       # rows of a tile where there are registers for them, and less of the last tile is wasted so
STEP = 0.7              # what a tile costs beside its rows, in rows
COPIED = 4              # rows whose tiles take as long as filling the panels
READ = 0.5              # vectors that take as long as reading a number of a row
ITEM = 1500             # steps that take as long as beginning an item
FEW_ITEMS = 4           # of a product of few rows, at most ...
LIGHT = 1 << 15         # ... if one has so many multiplications
ITEMS = 8               # fewer than this: strips are made narrower, where it is not known how many rows there are
MANY = 64               # items beyond which no narrower ones are looked for
CROSSED = 20            # steps that take as long as a vector that another core has made
LARGE = 1 << 19         # bytes of a larger second factor that go down a strip: of fewer, the second-level cache has room for all
THREADS = (2, 4, 8, 16) # of machines for which items are cut, ...
SHARE = 200_000         # ... more than four if that leaves each thread so many steps


def suits(node: Node) -> bool:
    """Whether a product is made here: not too small, as far as that is known without the feeds."""
    (m, n), k = node.out.shape[-2:], node.inputs[0].shape[-2 if node.attrs["ta"] else -1]
    if cpu_features.vector_bytes() < 16 or not is_tiled(n, k) or not isinstance(m, sizes.Size) and m < 1:
        return False
    return not sizes.is_one(m) or not _factor(node.inputs[1], node.attrs["tb"], False)[-1]


def is_tiled(columns: sizes.Dim, terms: sizes.Dim) -> bool:
    """Whether tiles are worth while for a result with so many columns, as far as that is known without the feeds."""
    return all(isinstance(size, sizes.Size) or size >= LEAST for size in (columns, terms))


def emit(node: Node) -> Kernel:
    """The kernel of a matmul node that `suits`."""
    text = KernelText(node, "matmul_tiles")
    rows, columns = node.out.shape[-2:]
    terms, batch = node.inputs[0].shape[-2 if node.attrs["ta"] else -1], sizes.product(node.out.shape[:-2])
    left, right = ((value, *_factor(value, node.attrs[flag], first))
                   for value, flag, first in zip(node.inputs, ("ta", "tb"), (True, False)))
    few = _few_rows(rows, columns, bool(left[-1]), bool(right[-1]), text.code)
    turned = right[-1] and not isinstance(rows, sizes.Size) and rows <= FEW and not isinstance(few, FewRows)
    if turned:
        left, right, rows, columns = right, left, columns, rows
    tall = min(_tall(rows), TILE_ROWS) if turned else _tall(rows)
    tiles = (rows + tall - 1) // tall
    if turned:
        strip, blocks = NARROWEST, _pairs(rows, TURNED_ROWS)
        blocks = blocks if isinstance(rows, sizes.Size) else min(blocks, tiles)
    else:
        strip, blocks = _cut(rows, columns, terms, batch, text.code, tall)
    strips = (columns + strip - 1) // strip
    text.sizes = [*left[1:], *right[1:], int(turned), terms, rows, columns, strips, blocks, tiles, tall, strip,
                  int(_goes_down(sizes.hint_of(rows), sizes.hint_of(columns), sizes.hint_of(terms), text.code))]
    assert len(text.sizes) == len(SIZES)
    lanes = lane_count(text.code)
    vectors = 1 if turned and not isinstance(columns, sizes.Size) and columns <= lanes else 2
    form = few if isinstance(few, FewRows) else Product(text.code, lanes, tall, vectors, few)
    text.line(1, "for item in range(begin, end):")
    text.line(2, f"{text.named(form)}(x0, x1, y0, sizes, item)")
    width = vectors * lanes
    wide = min(strip, (columns + width - 1) // width * width, key=sizes.hint_of)
    work = terms * ((rows + blocks - 1) // blocks + COPIED) * wide
    kernel = text.kernel([left[0], right[0]], batch * blocks * strips, (0.01, work))
    kernel.region = _region(bool(turned))
    return kernel


def _few_rows(rows: sizes.Dim, columns: sizes.Dim, left: bool, right: bool, code: str) -> FewRows | bool:
    """What a product needs for few rows, if it has them: a form of its own where all is known before the run, whether `Product`
    has to tell where it is not.  `left`, `right`: whether the terms of a sum lie next to each other in the factors."""
    if sizes.hint_of(rows) >= few_rows.MOST:
        return False
    if isinstance(rows, sizes.Size):
        return True
    fits = left if right else not isinstance(columns, sizes.Size) and columns >= lane_count(code)
    return FewRows(code, lane_count(code), rows, right) if fits else False


def _region(turned: bool) -> Region:
    """Which part of the result an item makes."""
    slots = [f"{name} = sizes[{SIZES.index(name)}]"
             for name in ("rows", "columns", "strips", "blocks", "tiles", "tall", "strip", "down")]
    lines = ["batch = quotient(item, blocks * strips)", "rest = item - batch * blocks * strips",
             "run = select(down == 1, blocks, strips)", "whole = quotient(rest, run)", "part = rest - whole * run",
             "block = select(down == 1, part, whole)", "left = select(down == 1, whole, part) * strip",
             "right = smaller(left + strip, columns)", "top = quotient(block * tiles, blocks) * tall",
             "high = smaller(rows, quotient((block + 1) * tiles, blocks) * tall) - top"]
    if turned:
        lines += ["first = batch * columns + left", "count = right - left", "left = top", "right = top + high"]
    else:
        lines += ["first = batch * rows + top", "count = high"]
    return Region([(0, line) for line in lines], slots, whole=False)


def _factor(value: Value, flag: bool, first: bool) -> tuple[sizes.Dim, sizes.Dim, sizes.Dim, int]:
    """(offset, batch step, leading dimension, whether the terms of a sum lie next to each other) of a factor."""
    _, offset, batch, leading, transposed = matrix_view(value)
    return offset, batch, leading, int((flag == transposed) == first)


def _tall(rows: sizes.Dim) -> int:
    """Rows of a tile for a product with so many: those that take the fewest steps, if that is known without the feeds."""
    if cpu_features.vector_registers() < 32:
        return TILE_ROWS // 2
    if isinstance(rows, sizes.Size):
        return TILE_ROWS
    return min((TILE_ROWS, *TALLER), key=lambda tall: -(-rows // tall) * (tall + STEP))


def _pairs(rows: sizes.Dim, high: int) -> sizes.Dim:
    """Blocks of so many rows at most: an even number, which two threads share equally."""
    return 2 * ((rows + 2 * high - 1) // (2 * high))


def _cut(rows: sizes.Dim, columns: sizes.Dim, terms: sizes.Dim, batch: sizes.Dim, code: str, tall: int) -> tuple[int, sizes.Dim]:
    """(columns of a strip, blocks of rows) of a product, as wide as WIDEST and as high as `highest` at most."""
    most = highest(code) // tall * tall
    across, depth, many = (max(sizes.hint_of(d), 1) for d in (columns, terms, batch))
    if not isinstance(rows, sizes.Size):
        if rows >= few_rows.MOST:
            down = _goes_down(rows, across, depth, code)
            return _best_cut(rows, across, depth, many, lane_count(code), tall, most, down)
        parts = -(-min(FEW_ITEMS, rows * across * depth // LIGHT) // many)
        return _strip(across, max(parts, 1), lane_count(code)), 1
    strip = WIDEST
    while True:
        strips = -(-across // strip) * many
        high = min(ROWS, most)
        blocks = _pairs(rows, high) if strips % 2 == 1 and rows.hint > high else (rows + high - 1) // high
        if strip == NARROWEST or strips * sizes.hint_of(blocks) >= ITEMS:
            return strip, blocks
        strip //= 2


def _strip(columns: int, parts: int, lanes: int) -> int:
    """Columns of each of so many strips, or of more, of whole vectors."""
    return min(max(-(-columns // (parts * lanes)) * lanes, NARROWEST), WIDEST)


def _goes_down(rows: int, columns: int, terms: int, code: str) -> bool:
    """Whether items go down a strip, so that the second factor goes by once; else along a block, whose rows so stay with a core."""
    return columns > rows and columns * terms * WIDTH[code] > LARGE


@functools.lru_cache(maxsize=1024)
def _best_cut(rows: int, columns: int, terms: int, batch: int, lanes: int, tall: int, most: int, down: bool) -> tuple[int, int]:
    """The cut of a product of this size that takes the least time on all of THREADS, in steps that multiply a vector.

    An item of so many rows and vectors takes a step for each of both and for each term; it reads its rows from memory, and makes
    its panels, which takes as long as COPIED rows.  What makes the first factor, and what reads the result, shares rows among the
    cores: where columns are shared, what another core has made is read.  Threads wait for the last items."""
    vectors, tiles = -(-columns // lanes), -(-rows // tall)
    counts = [threads for threads in THREADS if threads <= 4 or threads * SHARE <= batch * rows * vectors * terms]
    fewest, best = -(-tiles * tall // most), (float("inf"), 0, 0)
    for parts in range(-(-columns // WIDEST), max(columns // NARROWEST, 1) + 1):
        wide = -(-vectors // parts)
        strips = -(-vectors // wide)
        for blocks in range(fewest, tiles + 1):
            items = batch * strips * blocks
            if items > MANY and (parts, blocks) != (-(-columns // WIDEST), fewest):
                break
            steps = tiles * tall * (vectors + READ * strips) + COPIED * vectors * blocks
            crossed = rows * (2 * terms + columns) // (2 * lanes) if batch == 1 and strips > 1 and (down or blocks == 1) else 0
            time = batch * steps * terms + ITEM * items + CROSSED * crossed
            units = batch * strips * tiles              # which no thread has a part of
            score = sum(max(-(-n // threads) * threads / n for n in (items, units)) * time for threads in counts)
            best = min(best, (score, wide * lanes, blocks))
    return best[1:]
