"""64-bit integers of code that is written instruction by instruction, with Python's operators.

An intrinsic's loops and addresses then read as they would in a kernel's text:

    with loop(builder, 0, columns, 32) as c:
        left = start + c * 4
"""
from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, Union

from .instruction import Instruction, fixed, llvm_type

if TYPE_CHECKING:
    from llvmlite import ir

Number = Union["Word", int]


def _instruction(name: str) -> Callable[[Word, Number], Word]:
    return lambda self, other: Word(self.builder, getattr(self.builder, name)(self.value, self.of(other)))


def _comparison(sign: str) -> Callable[[Word, Number], Any]:
    return lambda self, other: self.builder.icmp_signed(sign, self.value, self.of(other))


class Word:
    """An int64 value; `+ - *`, `//` (of numbers that are not negative), `& << >>` and comparisons, which give LLVM's truth
    values, write the instruction."""

    __slots__ = ("builder", "value")

    def __init__(self, builder: ir.IRBuilder, value: Any):
        self.builder, self.value = builder, value

    def of(self, other: Number) -> ir.Value:
        """The instruction's operand for a word or a constant."""
        return other.value if isinstance(other, Word) else self.value.type(other)

    __add__, __sub__, __mul__, __floordiv__ = map(_instruction, ("add", "sub", "mul", "sdiv"))
    __and__, __lshift__, __rshift__ = map(_instruction, ("and_", "shl", "lshr"))
    is_below, is_above, is_equal = map(_comparison, ("<", ">", "=="))


class Variable:
    """A local variable, an int64."""

    def __init__(self, builder: ir.IRBuilder, start: int):
        from llvmlite import ir

        self.builder = builder
        with builder.goto_entry_block():
            self.place = builder.alloca(ir.IntType(64))
        self.set(start)

    def set(self, value: Number) -> None:
        self.builder.store(operand(value), self.place)

    def get(self) -> Word:
        return Word(self.builder, self.builder.load(self.place))

    def add(self, value: Number) -> None:
        self.set(self.get() + value)


def smaller(a: Word, b: Number) -> Word:
    """The smaller of two numbers."""
    return Word(a.builder, a.builder.select(a.is_below(b), a.value, a.of(b)))


def select(builder: ir.IRBuilder, condition: ir.Value, a: Number, b: Number) -> Word:
    """`a` where a truth value holds, else `b`."""
    return Word(builder, builder.select(condition, operand(a), operand(b)))


def operand(value: Any) -> Any:
    """LLVM's value for a word or a Python integer; other values as they are."""
    from llvmlite import ir

    return value.value if isinstance(value, Word) else ir.IntType(64)(value) if isinstance(value, int) else value


@contextmanager
def loop(builder: ir.IRBuilder, start: Number, stop: Word, step: Number = 1) -> Iterator[Word]:
    """A loop over range(start, stop, step), with a positive step."""
    with counted(builder, stop.of(start), stop.value, stop.of(step)) as (index, _, _):
        yield Word(builder, index)


@contextmanager
def counted(builder: ir.IRBuilder, start: ir.Value, stop: ir.Value,
            step: ir.Value) -> Iterator[tuple[ir.Value, ir.Block, ir.Block]]:
    """The same with values: (index, the block that goes on to the next index, the block after the loop)."""
    before = builder.block
    head, body, following, after = (builder.append_basic_block() for _ in range(4))
    builder.branch(head)
    builder.position_at_end(head)
    index = builder.phi(stop.type)
    index.add_incoming(start, before)
    builder.cbranch(builder.icmp_signed("<", index, stop), body, after)
    builder.position_at_end(body)
    yield index, following, after
    if not builder.block.is_terminated:
        builder.branch(following)
    builder.position_at_end(following)
    index.add_incoming(builder.add(index, step, flags=("nsw",)), following)
    builder.branch(head)
    builder.position_at_end(after)


def mark_loop(branch: ir.Instruction, wish: str, number: int | None = None) -> None:
    """Tells LLVM how to work on the loop that `branch` closes: a wish "llvm.loop.*" of its language, with its number."""
    from llvmlite import ir

    module = branch.module
    numbers = [] if number is None else [ir.IntType(32)(number)]
    said = module.add_metadata([ir.MetaDataString(module, "llvm.loop." + wish), *numbers])
    mark = module.add_metadata([ir.MetaDataString(module, f"loop {len(module.metadata)}")])
    mark.operands = (mark, said)                # a loop's mark begins with itself, by which LLVM tells loops apart
    branch.set_metadata("llvm.loop", mark)


@contextmanager
def forever(builder: ir.IRBuilder) -> Iterator[Callable[[], Any]]:
    """A loop that ends where its body calls the function it is given."""
    head, end = builder.append_basic_block(), builder.append_basic_block()
    builder.branch(head)
    builder.position_at_end(head)
    yield lambda: builder.branch(end)
    if not builder.block.is_terminated:
        builder.branch(head)
    builder.position_at_end(end)


def scratch(builder: ir.IRBuilder, code: str, count: int) -> ir.Value:
    """An array of elements on the stack, aligned to lines of the cache."""
    with builder.goto_entry_block():
        space = builder.alloca(llvm_type(code), operand(count))
        space.align = 64
    return space


class Scratch(NamedTuple):
    """The form of an array on the stack of a kernel, named by `scratch_CODE_COUNT()`."""

    code: str
    elements: int

    @property
    def name(self) -> str:
        return f"scratch_{self.code}_{self.elements}"

    def instruction(self) -> Instruction:
        """scratch() gives where the array begins."""
        return fixed(self.code + "*")(lambda builder: scratch(builder, self.code, self.elements))


class Fetch(NamedTuple):
    """The form of a request for memory ahead of its turn, named by `fetch_CODE()`."""

    code: str

    @property
    def name(self) -> str:
        return f"fetch_{self.code}"

    def instruction(self) -> Instruction:
        """fetch(array, at) asks for the line of an element, which may lie anywhere: into the second-level cache."""
        return fixed("", self.code + "*", "i64")(lambda builder, array, at: fetched(builder, builder.gep(array, [at])))


def fetched(builder: ir.IRBuilder, place: ir.Value) -> None:
    """Asks memory for the line of a place, which may lie anywhere: into the second-level cache.  Lines far apart fall on few
    sets of the first, and would drive one another, and what is being read, out of it."""
    from llvmlite import ir

    from .outline import declared

    i32, byte = ir.IntType(32), ir.IntType(8).as_pointer()
    passed = [builder.bitcast(place, byte), i32(0), i32(2), i32(1)]      # to read, into the second level, data
    builder.call(declared(builder.module, "llvm.prefetch.p0", ir.VoidType(), [p.type for p in passed]), passed)
