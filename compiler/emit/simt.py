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

from jitgraph.graph import dtypes

from ..kernel import CODES, ELEMENTS, HALVES, memory_code
from .cuda_intrinsics import FOLDS, WARP

Moment = tuple[int, int, int]               # block, thread, number of barriers that it has passed
Request = tuple[Any, ...]                   # name, line, arguments
Thread = Generator[Request, Any, None]      # a thread asks for what needs others, and gets the answer

TYPES = {code: np.dtype(name) for name, code in CODES.items()}
LANES = np.arange(WARP)
SECTOR = 32                                 # bytes that memory gives at least


class SimulationError(AssertionError):
    """A kernel did what is wrong on a GPU, whether or not one would notice; says which thread did it, and in which line."""


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
    scope = namespace(grid)
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
        node.body.append(ast.parse("if False: yield").body[0])      # a generator, even where no thread needs another
        return node


@functools.lru_cache(maxsize=256)
def _generator_code(source: str) -> CodeType:
    tree = _Meetings().visit(ast.parse(source))
    return compile(ast.fix_missing_locations(tree), "<kernel>", "exec")


@functools.cache
def functions() -> dict[str, Callable[..., Any]]:
    """Functions that are computed for many lanes at once, by a machine."""
    from .. import elementary
    from .intrinsics import FLOAT_FUNCTIONS

    return {**elementary.FUNCTIONS, **FLOAT_FUNCTIONS}


@functools.cache
def meetings() -> frozenset[str]:
    """Names of functions for which threads stop: to meet others, or to be computed together."""
    folds = {f"fold_{prim}" for prim in (*FOLDS, "argmax", "argmin")}
    return frozenset({"barrier", *folds, *functions()})


# memory --------------------------------------------------------------------------------------------------------------
class Words:
    """The `sizes` argument: Python ints, and by-value scalars by their bits."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = np.ascontiguousarray(array, np.int64)

    def __getitem__(self, slot: int) -> int:
        return int(self.array[slot])

    def scalar(self, slot: int, dtype: np.dtype) -> np.generic:
        return self.array[slot:slot + 1].view(dtype)[0]

    def onwards(self, slot: int) -> Words:
        return Words(self.array[slot:])


class Pointer:
    """A typed pointer to an array, which it does not leave; writable memory remembers who touched it.

    `at` is the simulator's note of who runs: block, thread, and the number of barriers passed (`epoch`).
    """

    def __init__(self, array: np.ndarray, name: str, at: SimpleNamespace) -> None:
        if not array.flags.c_contiguous:
            raise ValueError(f"{name} is not contiguous")
        self.array, self.name, self.at = array.reshape(-1), name, at
        self.written: dict[int, Moment] = {}             # element: who wrote it last
        self.read: dict[int, set[Moment]] = {}           # element: who has read it since
        self.traffic: Traffic | None = None
        self.number = 0                                  # of the buffer

    def _place(self, index: int, verb: str) -> int:
        if not 0 <= index < self.array.size:
            raise SimulationError(f"{self._who()} {verb} element {index} of {self.name}, which has {self.array.size}")
        return int(index)

    def _who(self) -> str:
        return f"thread {self.at.thread} of block {self.at.block}"

    def _me(self) -> tuple[int, int, int]:
        return self.at.block, self.at.thread, self.at.epoch

    def moves(self, index: int, count: int, wrote: bool) -> None:
        """Notes that an instruction moves so many elements, from `index` on."""
        if self.traffic is not None:
            self.traffic.note(self, index, count, wrote)

    def __getitem__(self, index: int) -> np.generic:
        self.moves(index, 1, False)
        return self.get(index)

    def __setitem__(self, index: int, value: Any) -> None:
        self.moves(index, 1, True)
        self.put(index, value)

    def get(self, index: int) -> np.generic:
        index = self._place(index, "reads")
        if self.array.flags.writeable:
            me, writer = self._me(), self.written.get(index)
            if writer is not None and _unordered(writer, me):
                self._race("reads", index, "wrote", writer)
            self.read.setdefault(index, set()).add(me)
        return self.array[index]

    def put(self, index: int, value: Any) -> None:
        index = self._place(index, "writes")
        if not self.array.flags.writeable:
            raise SimulationError(f"{self._who()} writes element {index} of {self.name}, which is read-only")
        me, before, writer = self._me(), self.array[index:index + 1].copy(), self.written.get(index)
        self.array[index] = value
        if writer is not None and _unordered(writer, me) and not _same_value(self.array[index:index + 1], before):
            self._race("writes", index, "wrote", writer)
        for reader in self.read.pop(index, ()):
            if _unordered(reader, me):
                self._race("writes", index, "read", reader)
        self.written[index] = me

    def _race(self, verb: str, index: int, did: str, other: tuple[int, int, int]) -> None:
        raise SimulationError(f"race: {self._who()} {verb} element {index} of {self.name}, which thread {other[1]} of "
                              f"block {other[0]} {did} with no barrier between")


class Traffic:
    """What the threads of a launch move to and from its buffers."""

    def __init__(self) -> None:
        self.notes: dict[tuple[int, bool], list[tuple[int, int, int, int]]] = {}

    def note(self, pointer: Pointer, index: int, count: int, wrote: bool) -> None:
        at, size = pointer.at, pointer.array.itemsize
        self.notes.setdefault((pointer.number, wrote), []).append((at.block, at.thread, index * size, count * size))

    def nbytes(self, buffer: int, wrote: bool = False) -> int:
        """How many bytes of a buffer the threads have read, or written."""
        return sum(count for *_, count in self.notes.get((buffer, wrote), ()))

    def sectors(self, buffer: int, wrote: bool = False) -> int:
        """How many sectors of 32 bytes that takes, if each instruction of a warp takes a sector once: that all its threads'
        n-th accesses are of one instruction is assumed."""
        turns: dict[tuple[int, int], int] = {}
        found: set[tuple[int, ...]] = set()
        for block, thread, place, count in self.notes.get((buffer, wrote), ()):
            turn = turns[block, thread] = turns.get((block, thread), 0) + 1
            sectors = range(place // SECTOR, (place + count - 1) // SECTOR + 1)
            found.update((block, thread // WARP, turn, sector) for sector in sectors)
        return len(found)


class Registers:
    """Elements of a thread's own, 0 at first."""

    def __init__(self, dtype: np.dtype, count: int) -> None:
        self.array = np.zeros(count, dtype)

    def get(self, index: int) -> np.generic:
        return self.array[self._place(index)]

    def put(self, index: int, value: Any) -> None:
        self.array[self._place(index)] = value

    __getitem__, __setitem__ = get, put

    def moves(self, index: int, count: int, wrote: bool) -> None:
        """Registers are not memory."""

    def _place(self, index: int) -> int:
        if not 0 <= index < self.array.size:
            raise SimulationError(f"element {index} of {self.array.size} in registers")
        return int(index)


Memory = Pointer | Registers


def _taken(x: Pointer, at: int, condition: bool) -> np.generic:
    return x[at] if condition else x.array.dtype.type(0)


def _move(to: Memory, i: int, x: Memory, at: int, condition: bool = True, count: int = 4) -> None:
    """Some elements, by instructions that move 16 bytes, if they are as many; zeros where the condition does not hold."""
    for memory, place in ((to, i), (x, at)):
        nbytes = min(16, count * memory.array.itemsize)
        if condition and place * memory.array.itemsize % nbytes:
            raise SimulationError(f"place {place} is no multiple of {nbytes} bytes")
    if condition:
        x.moves(at, count, False)
    to.moves(i, count, True)
    for k in range(count):
        to.put(i + k, x.get(at + k) if condition else 0)


def _copy_some(to: Memory, i: int, x: Memory, at: int, count: int) -> None:
    for k in range(min(count, 4)):
        to[i + k] = x[at + k]


def _add_products(sums: Registers, a: Registers, n: int, b: Registers, m: int) -> None:
    """Products of float32 are exact in float64, so that each sum is rounded to float32 once, but for a rare rounding in between."""
    products = np.multiply.outer(a.array[:n], b.array[:m], dtype=np.float64)
    sums.array[:n * m] = products.ravel() + sums.array[:n * m]


def _same_value(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two elements have the same bits, or are NaN: a GPU has one NaN for all."""
    return a.tobytes() == b.tobytes() or bool((a != a).all() and (b != b).all())


def _unordered(a: tuple[int, int, int], b: tuple[int, int, int]) -> bool:
    """Whether nothing orders the accesses of two (block, thread, epoch)."""
    return a[0] != b[0] or (a[2] == b[2] and a[1] != b[1])


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
                results = _compute(functions()[name], [self.requests[t][2:] for t in same])
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
        for t, result in zip(lanes, _fold(name[len("fold_"):], [self.requests[t][2:] for t in lanes])):
            self.answers[t] = result
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


def _compute(function: Callable[..., np.ndarray], arguments: Sequence[tuple[Any, ...]]) -> np.ndarray:
    from ..machine import NumPyMachine

    return function(NumPyMachine(), *(np.array(column) for column in zip(*arguments)))


COMBINE = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum, "and": np.logical_and,
            "or": np.logical_or}


def _fold(prim: str, arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
    """What each lane gets from a fold: lane i combined with i ^ 16, then i ^ 8, ... i ^ 1."""
    values, *places = (np.array(column) for column in zip(*arguments))
    distance = WARP // 2
    while distance:
        other = values[LANES ^ distance]
        if places:
            better = other > values if prim == "argmax" else other < values
            worse = values > other if prim == "argmax" else values < other
            there = places[0][LANES ^ distance]
            take = better | (~worse & (there < places[0]))
            values, places[0] = np.where(take, other, values), np.where(take, there, places[0])
        else:
            values = COMBINE[prim](values, other)
        distance //= 2
    return list(zip(values, places[0])) if places else list(values)


# the meaning of the other names --------------------------------------------------------------------------------------
def _divided(a: np.integer, b: np.integer, what: str) -> np.generic:
    """Integer division as kernels do it: by 0 it gives 0 and the remainder a."""
    like = a.dtype.type
    if b == 0:
        return like(0) if what.endswith("div") else a
    quotient, rest = divmod(int(a), int(b))
    if what.startswith("trunc") and rest and (a < 0) != (b < 0):
        quotient, rest = quotient + 1, rest - int(b)
    return _cast(a.dtype)(quotient if what.endswith("div") else rest)


def _quotient32(a: int, b: int) -> int:
    if not (0 <= a < 1 << 32 and 0 < b < 1 << 32):
        raise SimulationError(f"quotient32 of {a} and {b}: they are not in [0, 2**32)")
    return a // b


def _modulo(a: Any, b: Any, what: str) -> np.generic:
    if a.dtype.kind != "f":
        return _divided(a, b, what)
    return np.fmod(a, b) if what == "fmod" else np.mod(a, b)


def _power(x: np.integer, y: np.integer) -> np.generic:
    return np.power(x, y) if y >= 0 else x.dtype.type(1)


def _rounded(x: Any, dtype: np.dtype) -> np.float32:
    """What a number is as a float of 16 bits."""
    x = np.asarray(x)
    return (x if dtype == np.float16 and x.dtype == np.float64 else x.astype(np.float32)).astype(dtype).astype(np.float32)[()]


def _cut(x: np.float32, dtype: np.dtype) -> Any:
    """The bits of a float of 16 bits.  Raises SimulationError for what is none."""
    found = np.asarray(x).astype(dtype)
    if found.astype(np.float32) != x and x == x:
        raise SimulationError(f"{x!r} is stored as {dtype} and was not rounded")
    return found.view(np.uint16)[()]


def _cast(dtype: np.dtype) -> Callable[[Any], Any]:
    return lambda x: np.asarray(x).astype(dtype)[()]


def namespace(grid: Grid) -> dict[str, Callable[..., Any]]:
    """Everything that a kernel's text may name, but `meetings`, for scalars of NumPy."""
    return {**_scalar_names(), **grid.names()}


@functools.cache
def _scalar_names() -> dict[str, Callable[..., Any]]:
    names: dict[str, Callable[..., Any]] = {
        "select": lambda c, a, b: a if c else b, "not_": np.logical_not, "inf": lambda x: x.dtype.type(np.inf),
        "outside": lambda index, limit: int(not 0 <= index < limit),
        "inside": lambda index, limit: index if 0 <= index < limit else 0,
        "onwards": Words.onwards, "quotient": lambda a, b: a // b, "quotient32": _quotient32, "smaller": min, "larger": max,
        "float_bits": lambda x: x.view(f"i{x.itemsize}"), "bits_float": lambda x: x.view(np.float32),
        "taken": _taken, "take4": _move, "copy4": _move, "copy_some": _copy_some, "add_products": _add_products,
        **dict.fromkeys(("load8", "take8", "store8"), functools.partial(_move, count=8)),
        "iabs": np.abs, "isign": np.sign, "ipow": _power,
        "maximum": np.maximum, "minimum": np.minimum, "max_step": np.fmax, "min_step": np.fmin,
        "sum_step": np.add, "product_step": np.multiply,
        "fmod": functools.partial(_modulo, what="fmod"), "floor_mod": functools.partial(_modulo, what="floor_mod")}
    for what in ("floor_div", "trunc_div", "trunc_mod"):
        names[what] = functools.partial(_divided, what=what)
    for name, code in HALVES.items():
        half = np.dtype(dtypes.as_dtype(name).as_numpy_dtype)
        names |= {code: functools.partial(_rounded, dtype=half), f"{code}_bits": functools.partial(_cut, dtype=half),
                  f"{code}_value": lambda x, half=half: x.view(half).astype(np.float32)[()],
                  f"scalar_{code}": lambda words, slot, half=half: words.scalar(slot, half).astype(np.float32)}
    for code, dtype in TYPES.items():
        names[f"scalar_{code}"] = functools.partial(Words.scalar, dtype=dtype)
        if code != "b1":
            names[code] = _cast(dtype)
            low, high = (-np.inf, np.inf) if code[0] == "f" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
            names[f"lowest_{code}"] = functools.partial(dtype.type, low)
            names[f"highest_{code}"] = functools.partial(dtype.type, high)
    return names
