"""Register tiles: small products that stay in vector registers, as instructions that kernels name.

    y[r, :] (+)= sum over k of x[k + r * x_step] * w[k, :]          r < rows, vectors * lanes columns

k runs through up to four nested loops, each with a count (at least 1) and the steps it makes in x and in w; a convolution
is such a sum, and so are its two gradients.  LLVM's loop vectoriser does not find this form by itself: it needs an
accumulator per row and vector that lives in a register for the whole sum, so the instructions are written here.

A tile's name says its form: `tile_f32x16_14x2x3_add_rest5` has 14 rows and 2 vectors of 16 float32, the last with 5 valid
columns, loops 3 deep, and adds to what y holds.  One that `keeps` also writes the rows of w, as it reads them, one behind the
other, for the tiles after it.  One that `asks` adds if its last argument is 1.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from . import cpu_features
from .instruction import Instruction, fixed
from .outline import call_outlined, declared
from .vectors import Vectors, lane_count
from .words import mark_loop

if TYPE_CHECKING:
    from llvmlite import ir


AHEAD = 32              # rows of w that memory is asked for before they are read, where they lie far apart
NEAR = 5                # rows of x that are addressed from the first of them, by 0, 1, 2, 3 and 4 steps
LATENCY = 4             # cycles of a fused multiply-add: fewer accumulators than twice that many leave the unit waiting


class Tile(NamedTuple):
    """The form of a tile; `rest` columns of the last vector are valid (0: all), `rare` ones are compiled for size.
    `keeps`: the rows of w go to an array as well, so many elements apart (0: they do not).  `ahead`: memory is asked for rows of
    w before they are read, as it is where they are kept.  `asks`: an argument says whether it adds."""

    code: str
    lanes: int
    rows: int
    vectors: int
    depth: int
    add: bool = False
    rest: int = 0
    rare: bool = False
    keeps: int = 0
    ahead: bool = False
    asks: bool = False

    @property
    def name(self) -> str:
        return (f"tile_{self.code}x{self.lanes}_{self.rows}x{self.vectors}x{self.depth}" + "_add" * self.add + "_asks" * self.asks
                + (f"_rest{self.rest}" if self.rest else "") + "_rare" * self.rare
                + (f"_keeps{self.keeps}" if self.keeps else "") + "_ahead" * self.ahead)

    @property
    def columns(self) -> int:
        return self.vectors * self.lanes

    def instruction(self) -> Instruction:
        """tile(x, x_at, x_step, w, w_at, y, y_at, y_step, count, x step, w step, count, ...); all but x, w, y int64."""
        codes = [self.code + "*" if name in ("x", "w", "y", "kept") else "i64" for name in _argument_names(self)]
        return fixed("", *codes, heavy=True)(lambda builder, *args: call(builder, self, list(args)))


def cut(code: str, rows: int | None, columns: int, even: bool = False) -> list[tuple[int, int, int]]:
    """How a block of results is cut into tiles: [(tile rows, vectors, number of such column blocks)], most columns in
    the first, a block with less than all lanes of a vector by itself at the end; `rows` None means that their number is
    known only when the kernel runs.  `even`: into blocks of the same number of vectors."""
    lanes = lane_count(code)
    vectors = -(-columns // lanes)
    best: tuple[float, int, int] = (float("inf"), 0, 0)
    for v in range(1, min(vectors, 6) + 1):
        if even and vectors % v:
            continue
        for r in range(1, min(rows or 14, 14) + 1):
            if (r + 1) * v + 1 > cpu_features.vector_registers() - 1:
                break
            cost = _cycles(r, v) * (-(-rows // r) if rows else 14 / r) * (vectors // v)
            if vectors % v:
                cost += _cycles(r, vectors % v) * (-(-rows // r) if rows else 14 / r)
            best = min(best, (cost, -r, v))
    r, v = -best[1], best[2]
    whole = (vectors if columns % lanes == 0 else vectors - 1) // v
    return [(r, n, count) for n, count in ((v, whole), (vectors - whole * v, 1)) if n and count]


def _cycles(rows: int, vectors: int) -> float:
    """Cycles of one step of the innermost loop: arithmetic, loads or latency, whichever takes longest."""
    return max(rows * vectors / 2, (rows + vectors) / 2, LATENCY)


def _argument_names(tile: Tile) -> list[str]:
    loops = [name for k in range(tile.depth) for name in (f"n{k}", f"x{k}", f"w{k}")]
    kept = ["kept", "kept_at"] if tile.keeps else []
    return ["x", "x_at", "x_step", "w", "w_at", "y", "y_at", "y_step", *loops, *kept, *["adds"] * tile.asks]


def call(builder: ir.IRBuilder, tile: Tile, args: list[Any]) -> None:
    """Calls a tile with values, words or integers, in the order of its arguments."""
    def write(inner: ir.IRBuilder, given: Sequence[ir.Value]) -> None:
        _Writer(tile, inner, dict(zip(_argument_names(tile), given))).write()

    call_outlined(builder, tile.name, args, write, small=tile.rare)


class _Writer:
    """Writes one tile's instructions."""

    def __init__(self, tile: Tile, builder: ir.IRBuilder, args: dict[str, Any]):
        from llvmlite import ir

        self.tile, self.b, self.args, self.i64 = tile, builder, args, ir.IntType(64)
        self.vectors = Vectors(builder, tile.code, tile.lanes)
        self.mask = ir.Constant(ir.VectorType(ir.IntType(1), tile.lanes), [int(k < tile.rest) for k in range(tile.lanes)])
        self.x = [self._row(first) for first in range(0, tile.rows, NEAR)]
        self.w = builder.gep(args["w"], [args["w_at"]])
        vector = self.vectors.vector
        self.fma = declared(builder.module, f"llvm.fma.v{tile.lanes}{tile.code}", vector, [vector] * 3)

    def _row(self, first: int) -> ir.Value:
        """Where a row of x begins, as an address of which LLVM does not know how it lies to others: it would keep the distance
        of each row from the first in a register, more than there are."""
        from llvmlite import ir

        b, kind = self.b, self.args["x"].type
        place = b.gep(self.args["x"], [b.add(self.args["x_at"], b.mul(self.i64(first), self.args["x_step"]))])
        return b.asm(ir.FunctionType(kind, [kind]), "", "=r,0", [place], False) if first else place

    def write(self) -> None:
        tile, b = self.tile, self.b
        start = self.i64(0)
        sums = self._loop(0, start, start, start, [self.vectors.zero] * (tile.rows * tile.vectors))
        if tile.asks:
            with b.if_else(b.icmp_signed("==", self.args["adds"], self.i64(1))) as (further, first):
                with further:
                    self._finish(sums, True)
                with first:
                    self._finish(sums, False)
        else:
            self._finish(sums, tile.add)

    def _finish(self, sums: list[ir.Value], adds: bool) -> None:
        """Writes the sums to y, or adds them to it."""
        tile, b = self.tile, self.b
        y = b.gep(self.args["y"], [self.args["y_at"]])
        for r in range(tile.rows):
            row = b.gep(y, [b.mul(self.i64(r), self.args["y_step"])])
            for v in range(tile.vectors):
                value = sums[r * tile.vectors + v]
                self._store(row, v, b.fadd(self._load(row, v), value) if adds else value)

    def _loop(self, level: int, x_at: ir.Value, w_at: ir.Value, count: ir.Value, sums: list[ir.Value]) -> list[ir.Value]:
        """The loops from `level` inwards, in which `count` is the number of the innermost; returns the accumulators after them."""
        if level == self.tile.depth:
            return self._step(x_at, w_at, count, sums)
        b = self.b
        count, x_step, w_step = (self.args[f"{letter}{level}"] for letter in "nxw")
        before, head, after = b.block, b.append_basic_block(), None
        b.branch(head)
        b.position_at_end(head)
        values = [self.i64(0), x_at, w_at, *sums]
        phis = [b.phi(value.type) for value in values]
        for phi, value in zip(phis, values):
            phi.add_incoming(value, before)
        inner = self._loop(level + 1, phis[1], phis[2], phis[0], phis[3:])
        following = [b.add(phis[0], self.i64(1)), b.add(phis[1], x_step), b.add(phis[2], w_step), *inner]
        end = b.block
        for phi, value in zip(phis, following):
            phi.add_incoming(value, end)
        after = b.append_basic_block()
        branch = b.cbranch(b.icmp_signed("<", following[0], count), head, after)
        if 0 < level == self.tile.depth - 1:
            mark_loop(branch, "unroll.disable")     # two steps at a time made sums of 30 terms take 1.3 to 1.6 times as long
        b.position_at_end(after)
        return inner

    def _step(self, x_at: ir.Value, w_at: ir.Value, count: ir.Value, sums: list[ir.Value]) -> list[ir.Value]:
        tile, b = self.tile, self.b
        row = b.gep(self.w, [w_at])
        weights = [self._load(row, v) for v in range(tile.vectors)]
        if tile.keeps or tile.ahead:
            later = b.gep(row, [b.mul(self.args["w0"], self.i64(AHEAD))])
            for v in range(tile.vectors):
                self.vectors.fetch(self._part(later, v)[0])
        if tile.keeps:
            kept = b.gep(self.args["kept"], [b.add(self.args["kept_at"], b.mul(count, self.i64(tile.keeps)))])
            for v, weight in enumerate(weights):
                self._store(kept, v, weight)
        made = []
        for r in range(tile.rows):
            near = b.gep(self.x[r // NEAR], [b.add(x_at, b.mul(self.i64(r % NEAR), self.args["x_step"]))])
            factor = self.vectors.splat(b.load(near))
            for v in range(tile.vectors):
                made.append(b.call(self.fma, [factor, weights[v], sums[r * tile.vectors + v]]))
        return made

    def _part(self, row: ir.Value, v: int) -> tuple[ir.Value, ir.Value | None]:
        """The place of vector v of a row, and which of its columns are valid where they are not all."""
        tile = self.tile
        place = self.vectors.place(row, self.i64(v * tile.lanes))
        return place, self.mask if tile.rest and v == tile.vectors - 1 else None

    def _load(self, row: ir.Value, v: int) -> ir.Value:
        return self.vectors.load(*self._part(row, v))

    def _store(self, row: ir.Value, v: int, value: ir.Value) -> None:
        place, mask = self._part(row, v)
        self.vectors.store(place, value, mask)
