"""The simulator of a grid by arrays: every line of a kernel's text is done for all threads of some blocks at once.

    bits = simulate(kernel.source, kernel.name, [x, y], words, blocks=2, threads=64)

What a thread has for itself is an array with an element for each thread, a *lane*; what is the same for all of them may be a
number.  Lanes whose thread does not come to a line are masked out: an `if` and a loop narrow the mask.  So threads go in lock step,
and there is but one order of theirs; the results are those of `simt`, bit for bit, a hundred times sooner.

It refuses what `simt` refuses: accesses outside a buffer, races, divergent barriers, folds that lanes of a warp miss, moves of four
elements from or to a place that is no multiple of 16 bytes.
"""
from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import CodeType
from typing import Any

import numpy as np

from jitgraph.graph.syntax import parse

from ..kernel import ELEMENTS, memory_code
from . import lane_names
from .cuda_intrinsics import WARP
from .lane_memory import Pointer, Registers, Table, shared
from .simt_memory import TYPES, SimulationError
from .simt_names import FOLDED, fold

AT_ONCE = 2048          # lanes of the blocks that are done together, if a block has not more


def simulate(source: str, name: str, buffers: Sequence[np.ndarray], sizes: np.ndarray, blocks: int, threads: int,
             reached: Mapping[int, np.ndarray] | None = None) -> int:
    """Runs function `name` of `source` on a grid and returns the error bits; see `simt.simulate` for the arguments."""
    if threads % WARP or threads < WARP:
        raise ValueError(f"threads: {threads} is not a multiple of {WARP}")
    pointers = [_pointer(array, k) for k, array in enumerate(buffers)]
    by_address = {address: _pointer(array, k) for k, (address, array) in enumerate((reached or {}).items())}
    at_once = 1 if by_address else max(1, AT_ONCE // threads)       # blocks that find their buffers in a table have each its own
    code, error = _lane_code(source), np.zeros(1, np.int64)
    with np.errstate(all="ignore"):
        for first in range(0, blocks, at_once):
            lanes = Lanes(source, range(first, min(first + at_once, blocks)), blocks, threads, by_address)
            scope: dict[str, Any] = {**lane_names.namespace(), **lanes.names(), "_lanes": lanes}
            exec(code, scope)
            scope[name](*pointers, Table(sizes), error)
    return int(error[0])


def _pointer(array: np.ndarray, number: int) -> Pointer:
    code = ELEMENTS.get(array.dtype.name)
    return Pointer(array if code is None else array.view(TYPES[memory_code(code)]), f"buffer {number}")


class Lanes:
    """The threads of some blocks, which of them are at the present line, and how many barriers each has passed."""

    def __init__(self, source: str, blocks: range, count: int, threads: int, reached: Mapping[int, Pointer]) -> None:
        self.lines, self.count, self.threads, self.reached = source.splitlines(), count, threads, reached
        self.number = len(blocks) * threads
        self.thread = np.tile(np.arange(threads), len(blocks))
        self.block = np.repeat(np.arange(blocks.start, blocks.stop), threads)
        self.row = self.block - blocks.start
        self.epoch = np.zeros(self.number, np.int64)
        self.mask: np.ndarray | None = None         # None: all are here
        self.line = 0
        self.arrays = 0         # of shared memory

    def names(self) -> dict[str, Callable[..., Any]]:
        """The names whose meaning depends on which threads ask."""
        first = int(self.block[0]) if self.number == self.threads else self.block
        found: dict[str, Callable[..., Any]] = {
            "thread_index": lambda: self.thread, "thread_count": lambda: self.threads, "block_index": lambda: first,
            "block_count": lambda: self.count, "barrier": self._barrier, "report": self._report,
            **{name: functools.partial(meaning, self) for name, meaning in lane_names.of_lanes().items()},
            **{f"fold_{prim}": functools.partial(self._fold, prim) for prim in FOLDED}}
        for code, dtype in TYPES.items():
            if code != "b1":
                found[f"shared_{code}"] = functools.partial(self._shared, dtype)
                found[f"local_{code}"] = functools.partial(Registers, self, dtype)
                found[f"pointer_{code}"] = functools.partial(self._reach, dtype)
        return found

    # which lanes are here -------------------------------------------------------------------------------------------
    @property
    def some(self) -> bool:
        return self.mask is None or bool(self.mask.any())

    def both(self, condition: Any) -> np.ndarray | None:
        """The lanes that are here and for which a condition holds; None for all."""
        if isinstance(condition, np.ndarray) and condition.ndim:
            mask = condition.astype(bool) if self.mask is None else self.mask & condition.astype(bool)
            return None if mask.all() else mask
        return self.mask if condition else np.zeros(self.number, bool)

    def enter(self, condition: Any) -> tuple[np.ndarray | None, Any]:
        """Narrows the mask to the lanes for which a condition holds; gives what `other` and `leave` need."""
        before = self.mask, condition
        self.mask = self.both(condition)
        return before

    def other(self, before: tuple[np.ndarray | None, Any]) -> None:
        self.mask, condition = before
        self.mask = self.both(np.logical_not(condition))

    def leave(self, before: tuple[np.ndarray | None, Any]) -> None:
        self.mask = before[0]

    def again(self, condition: Any) -> bool:
        """Whether a loop has another round for some of the lanes, which are those that are here then."""
        self.mask = self.both(condition)
        return self.some

    def range(self, *bounds: Any) -> Iterator[Any]:
        """The rounds of a `for` loop, which may have other bounds for each lane."""
        start, stop, step = (0, *bounds, 1) if len(bounds) == 1 else (*bounds, 1)[:3]
        if not any(isinstance(b, np.ndarray) and b.ndim for b in (start, stop)):
            yield from range(int(start), int(stop), int(step))
            return
        before, at = self.mask, start
        while self.again(at < stop):
            yield at
            at = at + step
        self.mask = before

    def merged(self, new: Any, old: Any) -> Any:
        """What a name stands for after an assignment that only the lanes here make."""
        if self.mask is None or old is None or new is old:
            return new
        if isinstance(new, Registers):
            return new.where(self.mask, old)
        if isinstance(new, (Pointer, Table)):
            return new
        return np.where(self.mask, new, old)

    def at(self, memory: Any, index: Any) -> Any:
        return memory.get(self, index)

    def put(self, memory: Any, index: Any, value: Any) -> None:
        memory.put(self, index, value)

    # what threads do together -------------------------------------------------------------------------------------------
    def whole(self, width: int, what: str) -> np.ndarray:
        """Of each group of `width` lanes whether it is here; it is an error that only a part of one is."""
        here = np.ones(self.number, bool) if self.mask is None else self.mask
        groups = here.reshape(-1, width)
        found = np.any(groups, axis=1)
        parted = found & ~np.all(groups, axis=1)
        if parted.any():
            group = int(parted.argmax())
            there, missing = (group * width + int(np.argmax(groups[group] == is_here)) for is_here in (True, False))
            waits = f"thread {self.thread[there]} waits{' for its warp' * (width == WARP)} in line: {self._line()}"
            away = f"but thread {self.thread[missing]} does not come there"
            raise SimulationError(f"{what} in block {self.block[there]}: {waits}\n{away}")
        return found

    def wrong(self, lane: int, what: str, kind: str = "") -> SimulationError:
        """The error that a lane's thread makes in the present line."""
        return SimulationError(f"{kind}thread {self.thread[lane]} of block {self.block[lane]} {what}, in line: {self._line()}")

    def _line(self) -> str:
        return self.lines[self.line - 1].strip()

    def _barrier(self) -> None:
        self.epoch = self.epoch + np.repeat(self.whole(self.threads, "divergent barrier"), self.threads)

    def _report(self, error: np.ndarray, bits: Any) -> None:
        bits = np.broadcast_to(bits, self.number)
        error[0] |= np.bitwise_or.reduce(bits if self.mask is None else bits[self.mask])

    def _fold(self, prim: str, *values: Any) -> Any:
        self.whole(WARP, "parted warp")
        folded = fold(prim, *(np.broadcast_to(v, self.number).reshape(-1, WARP) for v in values))
        found = tuple(array.ravel() for array in folded)
        return found if len(found) > 1 else found[0]

    def _shared(self, dtype: np.dtype, count: int) -> Pointer:
        self.arrays += 1
        return shared(dtype, count, self.row, f"shared array {self.arrays - 1}")

    def _reach(self, dtype: np.dtype, table: Table, slot: int) -> Pointer:
        address = table.get(self, slot)
        found = self.reached.get(address)
        if found is None or found.array.dtype != dtype:
            raise SimulationError(f"word {slot} of the table is {address}, which is the address of no buffer of {dtype}")
        return found


# the kernel's text, for arrays -----------------------------------------------------------------------------------------
class _Rewriter(ast.NodeTransformer):
    """Makes assignments, accesses of memory, conditions and loops calls of `Lanes`."""

    def __init__(self) -> None:
        self.names: dict[str, None] = {}        # that the text assigns
        self.inner = 0

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        node.body = self._block(node.body)
        node.body[:0] = [parse(f"{name} = None").body[0] for name in self.names]
        return node

    def _block(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        for statement in body:
            made = self.visit(statement)
            found += [_parse(f"_lanes.line = {statement.lineno}"), *(made if isinstance(made, list) else [made])]
        return found

    def visit_Assign(self, node: ast.Assign) -> list[ast.stmt]:
        (target,), value = node.targets, self.visit(node.value)
        if not isinstance(target, ast.Tuple):
            return [self._set(target, value)]
        self.inner += 1
        parts = f"_parts{self.inner}"
        return [_parse(f"{parts} = x", x=value),
                *(self._set(t, _parse_expression(f"{parts}[{k}]")) for k, t in enumerate(target.elts))]

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        there = parse(ast.unparse(node.target), mode="eval").body
        return self._set(node.target, ast.BinOp(self.visit(there), node.op, self.visit(node.value)))

    def _set(self, target: ast.expr, value: ast.expr) -> ast.stmt:
        if isinstance(target, ast.Name):
            self.names[target.id] = None
            return _parse(f"{target.id} = _lanes.merged(x, {target.id})", x=value)
        assert isinstance(target, ast.Subscript), ast.unparse(target)
        return _parse("_lanes.put(x, y, z)", x=target.value, y=self.visit(target.slice), z=value)

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        return _parse_expression("_lanes.at(x, y)", x=node.value, y=self.visit(node.slice))

    def visit_If(self, node: ast.If) -> list[ast.stmt]:
        self.inner += 1
        before = f"_before{self.inner}"
        found = [_parse(f"{before} = _lanes.enter(x)", x=self.visit(node.test)), self._where_some(node.body)]
        if node.orelse:
            found += [_parse(f"_lanes.other({before})"), self._where_some(node.orelse)]
        return [*found, _parse(f"_lanes.leave({before})")]

    def _where_some(self, body: Sequence[ast.stmt]) -> ast.stmt:
        return ast.If(_parse_expression("_lanes.some"), self._block(body), [])

    def visit_While(self, node: ast.While) -> list[ast.stmt]:
        self.inner += 1
        before = f"_before{self.inner}"
        again = _parse_expression("_lanes.again(x)", x=self.visit(node.test))
        rounds = ast.While(again, self._block(node.body), [])
        return [_parse(f"{before} = _lanes.enter(True)"), rounds, _parse(f"_lanes.leave({before})")]

    def visit_For(self, node: ast.For) -> ast.stmt:
        assert isinstance(node.iter, ast.Call) and ast.unparse(node.iter.func) == "range", ast.unparse(node.iter)
        rounds = _parse_expression("_lanes.range()")
        rounds.args = [self.visit(bound) for bound in node.iter.args]       # type: ignore[attr-defined]
        return ast.For(node.target, rounds, self._block(node.body), [])

    def _refuse(self, node: ast.AST) -> Any:
        raise SimulationError(f"kernels have no {type(node).__name__}: {ast.unparse(node)}")

    visit_BoolOp = visit_IfExp = visit_Break = visit_Continue = visit_Return = visit_Try = _refuse


class _Filled(ast.NodeTransformer):
    def __init__(self, parts: Mapping[str, ast.expr]) -> None:
        self.parts = parts

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.parts.get(node.id, node)


def _parse(text: str, **parts: ast.expr) -> ast.stmt:
    """The statement of a text, with these expressions for names of one letter in it."""
    statement = parse(text).body[0]
    if isinstance(statement, ast.Assign) and parts:
        statement.value = _Filled(parts).visit(statement.value)
        return statement
    return _Filled(parts).visit(statement)


def _parse_expression(text: str, **parts: ast.expr) -> Any:
    return _Filled(parts).visit(parse(text, mode="eval").body)


@functools.lru_cache(maxsize=1024)
def _lane_code(source: str) -> CodeType:
    tree = _Rewriter().visit(parse(source))
    return compile(ast.fix_missing_locations(tree), "<kernel>", "exec")
