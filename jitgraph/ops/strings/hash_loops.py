"""The hashes of `string_hash`, as loops over strings that are compiled.

The text of FarmHash is what its functions do to symbols: they are called once for each range of lengths.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph.declare.host_code import BYTES, HostCode, contiguous

_ALL = 2 ** 64 - 1


class _Symbol:
    """A 64-bit word in a variable of the loop; an operator writes a line.  `least`: what a length is at least."""

    def __init__(self, loop: _Text, text: str, least: int = 0):
        self.loop, self.text, self.least = loop, text, least

    def __and__(self, other: Any) -> _Symbol:
        return self if other == _ALL else self.loop.line(self, "&", other)

    def __ge__(self, other: int) -> bool:
        return self.least >= other

    def __bool__(self) -> bool:
        return self.least > 0

    def __floordiv__(self, by: int) -> _Symbol:
        return self >> by.bit_length() - 1

    __add__, __sub__, __mul__, __xor__, __or__, __rshift__, __lshift__ = (
        lambda self, other, sign=sign: self.loop.line(self, sign, other) for sign in ("+", "-", "*", "^", "|", ">>", "<<"))
    __radd__, __rmul__ = (lambda self, other, sign=sign: self.loop.line(other, sign, self) for sign in "+*")


class _Text:
    """The lines of a loop that computes what functions do to symbols."""

    def __init__(self, indent: int):
        self.lines: list[str] = []
        self.indent = " " * indent

    def add(self, line: str) -> None:
        self.lines.append(self.indent + line)

    def line(self, a: Any, sign: str, b: Any) -> _Symbol:
        self.add(f"t{len(self.lines)}_{len(self.indent)} = {_operand(a)} {sign} {b if sign in ('>>', '<<') else _operand(b)}")
        return _Symbol(self, self.lines[-1].split()[0])

    def state(self) -> tuple:
        x, y, z, *rest = [_Symbol(self, name) for name in _STATE]
        return x, y, z, tuple(rest[:2]), tuple(rest[2:])

    def keep(self, state: tuple) -> None:
        x, y, z, v, w = state
        self.add(f"{', '.join(_STATE)} = {', '.join(map(_operand, (x, y, z, *v, *w)))}")

    def at(self, offset: Any, count: int) -> Any:
        """The word of `count` bytes there."""
        return _Symbol(self, f"u64(u{8 * count}_at(text + i64({_operand(offset)})))") ^ 0 if count else 0


def _operand(value: Any) -> str:
    return value.text if isinstance(value, _Symbol) else f"u64({value})"


_EACH = """def {name}(x0, y0, sizes, begin, end):
    kind = sizes[0]
    for i in range(begin, end):
        if i64_at(x0[i] + KIND) != kind:
            return 1
        length = u64(i64_at(x0[i] + SIZE))
        text = x0[i] + TEXT
{body}
    return 0
"""


_STATE = ("x", "y", "z", "v0", "v1", "w0", "w1")


def farm_hash(short: Callable, begun: Callable, block: Callable, ended: Callable) -> HostCode:
    """The loop over strings: short(at, n) for up to 64 bytes; for more what `begun`, `block` and `ended` do to the state."""
    body, low = [], (0, 1, 4, 8, 17, 33)
    for least, most in zip(low, (*(n - 1 for n in low[1:]), 64)):
        part = _Text(12)
        found = short(part.at, _Symbol(part, "length", least))
        body += [f"        {'elif' if least else 'if'} length <= u64({most}):", *part.lines,
                 f"            y0[i] = {_operand(found)}"]
    part, inner = _Text(12), _Text(16)
    part.keep(begun(part.at))
    inner.keep(block(inner.at, _Symbol(inner, "u64(start)"), *inner.state()))
    part.lines += ["            for start in range(0, i64(length - u64(1)) >> 6 << 6, 64):", *inner.lines]
    found = ended(part.at, _Symbol(part, "length", 65), *part.state())
    body += ["        else:", *part.lines, f"            y0[i] = {_operand(found)}"]
    return HostCode("farm_hash", ("i64", "u64"), _EACH.format(name="farm_hash", body="\n".join(body)))


MURMUR = HostCode("murmur_hash", ("i64", "u64"), _EACH.format(name="murmur_hash", body="""\
        m = u64(0xC6A4A7935BD1E995)
        h = u64(0xDECAFCAFFE) ^ length * m
        whole = i64(length) >> 3 << 3
        for place in range(0, whole, 8):
            k = u64_at(text + place) * m
            h = (h ^ (k ^ k >> 47) * m) * m
        if whole < i64(length):
            rest = u64(0)
            for place in range(whole, i64(length)):
                rest = rest | u64(u8_at(text + place)) << (place - whole) * 8
            h = (h ^ rest) * m
        h = (h ^ h >> 47) * m
        y0[i] = h ^ h >> 47"""))


def hashes(code: HostCode, strings: np.ndarray) -> np.ndarray | None:
    """What a loop makes of each element of an object array of bytes: uint64; None where it is not compiled."""
    flat = contiguous(strings)
    out = np.empty(flat.size, np.uint64)
    return out.reshape(strings.shape) if code(flat, out, sizes=(BYTES,), end=flat.size) == 0 else None
