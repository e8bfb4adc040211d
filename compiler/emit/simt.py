"""A simulator of a grid: runs the very text of a CUDA kernel over NumPy buffers, without a GPU, a driver or Numba.

    words = np.array([...], np.int64)                               # what kernel.sizes lists
    bits = simulate(kernel.source, kernel.name, [x, y], words, blocks=2, threads=64)

Each thread is a Python generator that stops where it has to meet others: at `barrier()` the whole block, at `fold_...()`
its warp.  Between two meetings threads run one after another, in order or, with `seed`, in a random order of warps and
lanes; what a GPU gets wrong only now and then is therefore found for certain:

- an access outside a buffer, and a write to a buffer that is read-only (an array that is not `writeable`)
- a race: two threads touch one element with no barrier between them, at least one writes, and not both the same value
- threads of one block that wait at different barriers, or end while others wait; a fold that lanes of a warp miss
- shared memory used before it is written: it begins as NaN (integers: as a conspicuous pattern)
- four elements moved at once from or to a place that is no multiple of 16 bytes

Elementary functions are the compiler's own, computed by NumPyMachine with the roundings of the GPU, for all lanes of a
warp at once.  All other operations are NumPy's on scalars of the kernel's types.  Not simulated: the memory order of
unsynchronised accesses (they are refused), and time.
"""
from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from types import CodeType, SimpleNamespace
from typing import Any

import numpy as np

from jitgraph.graph.syntax import parse

from ..kernel import ELEMENTS, memory_code
from .cuda_intrinsics import WARP
from .simt_memory import TYPES, Pointer, Registers, SimulationError, Traffic, Words
from .simt_names import compute, fold, functions, meetings, namespace

Request = tuple[Any, ...]                   # name, line, arguments
Thread = Generator[Request, Any, None]      # a thread asks for what needs others, and gets the answer


def simulate(source: str, name: str, buffers: Sequence[np.ndarray], sizes: np.ndarray, blocks: int, threads: int,
             seed: int | None = None, traffic: Traffic | None = None, reached: Mapping[int, np.ndarray] | None = None) -> int:
    """Runs function `name` of `source` on a grid and returns the error bits.

    Args:
      buffers: contiguous arrays, one per parameter, written in place; a read-only array may only be read.
      sizes: int64 array, the values of the kernel's size slots.
      blocks, threads: the grid; threads per block are a multiple of 32.
      seed: of a random order of blocks, warps and lanes; None runs them in order.
      traffic: where it is noted what every thread moves.
      reached: {address: array} of the buffers that `sizes` has addresses of, for a kernel that finds them there.
    Raises SimulationError.
    """
    if threads % WARP or threads < WARP:
        raise ValueError(f"threads: {threads} is not a multiple of {WARP}")
    grid = Grid(source, blocks, threads, np.random.RandomState(seed) if seed is not None else None)
    pointers = [_buffer(array, k, grid, traffic) for k, array in enumerate(buffers)]
    reached = reached or {}
    grid.reached = {address: _buffer(array, k, grid, traffic) for k, (address, array) in enumerate(reached.items())}
    error = np.zeros(1, np.int64)
    scope = {**namespace(), **grid.names()}
    exec(_generator_code(source), scope)
    arguments = [*pointers, Words(sizes), error]
    with np.errstate(all="ignore"):
        for index in grid.shuffled(range(blocks)):
            _Block(grid, index, lambda: scope[name](*arguments)).run()
    return int(error[0])


def _buffer(array: np.ndarray, number: int, grid: Grid, traffic: Traffic | None) -> Pointer:
    code = ELEMENTS.get(array.dtype.name)
    pointer = Pointer(array if code is None else array.view(TYPES[memory_code(code)]), f"buffer {number}", grid.at)
    pointer.traffic, pointer.number = traffic, number
    return pointer


# the kernel's text as generators -------------------------------------------------------------------------------------
class _Meetings(ast.NodeTransformer):
    """Makes every call that needs other threads a `yield` of (name, line, arguments)."""

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if not isinstance(node.func, ast.Name) or node.func.id not in meetings():
            return node
        request = [ast.Constant(node.func.id), ast.Constant(node.lineno), *node.args]
        return ast.Yield(ast.Tuple(request, ast.Load()))

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        self.generic_visit(node)
        node.body.append(parse("if False: yield").body[0])      # a generator, even where no thread needs another
        return node


@functools.lru_cache(maxsize=256)
def _generator_code(source: str) -> CodeType:
    tree = _Meetings().visit(parse(source))
    return compile(ast.fix_missing_locations(tree), "<kernel>", "exec")


# threads -------------------------------------------------------------------------------------------------------------
class Grid:
    """What the blocks of one launch share."""

    def __init__(self, source: str, blocks: int, threads: int, random: np.random.RandomState | None = None) -> None:
        self.lines, self.blocks, self.threads, self.random = source.splitlines(), blocks, threads, random
        self.at = SimpleNamespace(block=0, thread=0, epoch=0, shared=None)
        self.reached: dict[int, Pointer] = {}           # buffers by their addresses

    def shuffled(self, numbers: Iterable[int]) -> list[int]:
        return list(numbers) if self.random is None else list(self.random.permutation(list(numbers)))

    def names(self) -> dict[str, Callable[..., Any]]:
        """The names whose meaning depends on which thread asks."""
        at = self.at
        found: dict[str, Callable[..., Any]] = {
            "thread_index": lambda: at.thread, "thread_count": lambda: self.threads,
            "block_index": lambda: at.block, "block_count": lambda: self.blocks, "report": _report}
        types = {code: t for code, t in TYPES.items() if code != "b1"}
        shared = {f"shared_{code}": functools.partial(self._allocate, t) for code, t in types.items()}
        local = {f"local_{code}": functools.partial(Registers, t) for code, t in types.items()}
        reach = {f"pointer_{code}": functools.partial(self._reach, t) for code, t in types.items()}
        return {**found, **shared, **local, **reach}

    def _reach(self, dtype: np.dtype, table: Words, slot: int) -> Pointer:
        """The buffer whose address stands in a table."""
        found = self.reached.get(table[slot])
        if found is None or found.array.dtype != dtype:
            raise SimulationError(f"word {slot} of the table is {table[slot]}, which is the address of no buffer of {dtype}")
        return found

    def _allocate(self, dtype: np.dtype, count: int) -> Pointer:
        """The next array of the block's shared memory: the first thread to ask makes it."""
        arrays, asked = self.at.shared
        k = asked[self.at.thread]
        asked[self.at.thread] += 1
        if k == len(arrays):
            empty = np.full(count * dtype.itemsize, 0x5A, np.uint8).view(dtype)
            if dtype.kind == "f":
                empty[:] = np.nan
            arrays.append(Pointer(empty, f"shared array {k}", self.at))
        return arrays[k]


def _report(error: np.ndarray, bits: int) -> None:
    error[0] |= int(bits)


class _Block:
    """The threads of one block: generators, what each waits for, and what it is to be answered."""

    def __init__(self, grid: Grid, index: int, start: Callable[[], Thread]) -> None:
        self.grid, self.index, self.epoch = grid, int(index), 0
        self.shared: tuple[list[Pointer], list[int]] = ([], [0] * grid.threads)     # arrays; how many each thread asked for
        self.threads = [start() for _ in range(grid.threads)]
        self.requests: list[Any] = [None] * grid.threads    # a Request each, None once the thread has ended
        self.answers: list[Any] = [None] * grid.threads

    def run(self) -> None:
        ready = set(range(self.grid.threads))
        while ready:
            for warp in self.grid.shuffled(range(self.grid.threads // WARP)):
                lanes = range(warp * WARP, (warp + 1) * WARP)
                self._run_warp(lanes, [t for t in lanes if t in ready])
            ready = self._pass_barrier()
            self.epoch += 1

    def _run_warp(self, lanes: range, ready: list[int]) -> None:
        """Runs lanes until each has ended or stands at a barrier."""
        while ready:
            for t in self.grid.shuffled(ready):
                self._advance(int(t))
            ready = self._answer(lanes)

    def _advance(self, t: int) -> None:
        at = self.grid.at
        at.block, at.thread, at.epoch, at.shared = self.index, t, self.epoch, self.shared
        try:
            self.requests[t] = self.threads[t].send(self.answers[t])
        except StopIteration:
            self.requests[t] = None
        except SimulationError as error:
            raise SimulationError(f"{error}, in line: {self._line(_line_of(error))}") from None
        self.answers[t] = None

    def _line(self, number: int) -> str:
        return self.grid.lines[number - 1].strip()

    def _answer(self, lanes: range) -> list[int]:
        """Answers lanes that wait for a function or a fold; returns those that can go on."""
        asking = [t for t in lanes if self.requests[t] and self.requests[t][0] in functions()]
        if asking:
            for name in {self.requests[t][0] for t in asking}:
                same = [t for t in asking if self.requests[t][0] == name]
                results = compute(functions()[name], [self.requests[t][2:] for t in same])
                for t, result in zip(same, results):
                    self.answers[t] = result
            return asking
        folding = [t for t in lanes if self.requests[t] and self.requests[t][0] != "barrier"]
        if not folding:
            return []
        name, line = self.requests[folding[0]][:2]
        missing = [t for t in lanes if not self.requests[t] or self.requests[t][:2] != (name, line)]
        if missing:
            raise SimulationError(f"thread {folding[0]} of block {self.index} waits for its warp in line: "
                                  f"{self._line(line)}\nbut {self._whereabouts(missing[0])}")
        folded = fold(name[len("fold_"):], *map(np.array, zip(*(self.requests[t][2:] for t in lanes))))
        for t, *found in zip(lanes, *folded):
            self.answers[t] = tuple(found) if len(found) > 1 else found[0]
        return list(lanes)

    def _whereabouts(self, t: int) -> str:
        if self.requests[t] is None:
            return f"thread {t} has ended"
        return f"thread {t} waits in line: {self._line(self.requests[t][1])}"

    def _pass_barrier(self) -> set[int]:
        """All threads, where they wait at one barrier; none, where all have ended."""
        places = {r and r[1] for r in self.requests}
        if places == {None}:
            return set()
        if len(places) > 1:
            first = next(t for t, r in enumerate(self.requests) if r)
            other = next(t for t, r in enumerate(self.requests) if not r or r[1] != self.requests[first][1])
            raise SimulationError(f"divergent barrier in block {self.index}: {self._whereabouts(first)}\n"
                                  f"but {self._whereabouts(other)}")
        return set(range(self.grid.threads))


def _line_of(error: BaseException) -> int:
    """The line of the kernel in which an exception was raised."""
    line, trace = 1, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == "<kernel>":
            line = trace.tb_lineno
        trace = trace.tb_next
    return line
