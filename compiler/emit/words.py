"""64-bit integers of code that is written instruction by instruction, with Python's operators.

An intrinsic's loops and addresses then read as they would in a kernel's text:

    with loop(builder, 0, columns, 32) as c:
        left = start + c * 4
"""
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Union

Number = Union["Word", int]


class Word:
    """An int64 value; `+ - *`, `//` (of numbers that are not negative) and comparisons write the instruction."""

    __slots__ = ("builder", "value")

    def __init__(self, builder: Any, value: Any):
        self.builder, self.value = builder, value

    def of(self, other: Number) -> Any:
        """The instruction's operand for a word or a constant."""
        return other.value if isinstance(other, Word) else self.value.type(other)

    def __add__(self, other: Number) -> Word:
        return Word(self.builder, self.builder.add(self.value, self.of(other)))

    def __sub__(self, other: Number) -> Word:
        return Word(self.builder, self.builder.sub(self.value, self.of(other)))

    def __mul__(self, other: Number) -> Word:
        return Word(self.builder, self.builder.mul(self.value, self.of(other)))

    def __floordiv__(self, other: Number) -> Word:
        return Word(self.builder, self.builder.sdiv(self.value, self.of(other)))

    def is_below(self, other: Number) -> Any:
        """The truth value of `self < other`."""
        return self.builder.icmp_signed("<", self.value, self.of(other))

    def __and__(self, other: Number) -> Word:
        return Word(self.builder, self.builder.and_(self.value, self.of(other)))

    def __lshift__(self, other: Number) -> Word:
        return Word(self.builder, self.builder.shl(self.value, self.of(other)))

    def __rshift__(self, other: Number) -> Word:
        return Word(self.builder, self.builder.lshr(self.value, self.of(other)))

    def is_above(self, other: Number) -> Any:
        return self.builder.icmp_signed(">", self.value, self.of(other))

    def is_equal(self, other: Number) -> Any:
        return self.builder.icmp_signed("==", self.value, self.of(other))


class Variable:
    """A local variable, an int64."""

    def __init__(self, builder: Any, start: int):
        from llvmlite import ir

        self.builder = builder
        with builder.goto_entry_block():
            self.place = builder.alloca(ir.IntType(64))
        self.set(start)

    def set(self, value: Number):
        self.builder.store(value.value if isinstance(value, Word) else self.place.type.pointee(value), self.place)

    def get(self) -> Word:
        return Word(self.builder, self.builder.load(self.place))

    def add(self, value: Number):
        self.set(self.get() + value)


def smaller(a: Word, b: Number) -> Word:
    """The smaller of two numbers."""
    return Word(a.builder, a.builder.select(a.is_below(b), a.value, a.of(b)))


def select(condition: Any, a: Number, b: Number) -> Word:
    """`a` where a truth value holds, else `b`; one of them is a word."""
    word = a if isinstance(a, Word) else b
    assert isinstance(word, Word)
    return Word(word.builder, word.builder.select(condition, word.of(a), word.of(b)))


@contextmanager
def loop(builder: Any, start: Number, stop: Word, step: Number = 1) -> Iterator[Word]:
    """A loop over range(start, stop, step)."""
    from numba.core import cgutils

    with cgutils.for_range_slice(builder, stop.of(start), stop.value, stop.of(step)) as (index, _):
        yield Word(builder, index)


@contextmanager
def forever(builder: Any) -> Iterator[Any]:
    """A loop that ends where its body calls the function it is given."""
    head, end = builder.append_basic_block(), builder.append_basic_block()
    builder.branch(head)
    builder.position_at_end(head)
    yield lambda: builder.branch(end)
    if not builder.block.is_terminated:
        builder.branch(head)
    builder.position_at_end(end)
