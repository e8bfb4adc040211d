"""Loops over texts that are compiled: the numbers that stretches write, fields of records, parts between delimiters."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.declare.host_code import HostCode, contiguous
from jitgraph.declare.host_texts import places, texts

# Digits up to 18, so that they fit; a value of up to 53 bits and a power of ten up to 22 are exact in float64, and so one
# rounding gives what the text writes (Clinger, 1990).  For float32 the second rounding is wrong only half-way between two.
_NUMBERS = """def numbers(x0, x1, x2, y0, y1, sizes, begin, end):
    left = 0
    for i in range(begin, end):
        place, stop = x0[i], x1[i]
{long}
        while place < stop:
            c = i64(u8_at(place))
            if (c != 32) & ((c < 9) | (c > 13)):
                break
            place += 1
        while stop > place:
            c = i64(u8_at(stop - 1))
            if (c != 32) & ((c < 9) | (c > 13)):
                break
            stop -= 1
        minus, number, digits, wrong = 0, 0, 0, long
        if place < stop:
            c = i64(u8_at(place))
            if c == 45:
                minus = 1
                place += 1
{plus}
        while place < stop:
            c = i64(u8_at(place)) - 48
            if (c < 0) | (c > 9):
                break
            number = number * 10 + c
            digits += 1
            place += 1
            if number > 99999999999999999:
                wrong = 1
                break
{finish}
        if (wrong == 1) | (digits == 0) | (place < stop):
            y1[left] = i
            left += 1
        else:
            y0[i] = {result}
    return left
"""
LONGEST_FLOAT = 31      # bytes of a text, with spaces, that TensorFlow reads as a float
_LONG = f"""        long = 0
        if stop - place > {LONGEST_FLOAT}:
            long = 1"""
_PLUS = """            elif c == 43:
                place += 1"""
_FRACTION = """        power = 0
        if place < stop:
            if u8_at(place) == 46:
                place += 1
                while place < stop:
                    c = i64(u8_at(place)) - 48
                    if (c < 0) | (c > 9):
                        break
                    number = number * 10 + c
                    digits += 1
                    power -= 1
                    place += 1
                    if number > 99999999999999999:
                        wrong = 1
                        break
        if (place < stop) & (digits > 0):
            c = i64(u8_at(place))
            if (c == 101) | (c == 69):
                place += 1
                sign, shift, shifts = 1, 0, 0
                if place < stop:
                    c = i64(u8_at(place))
                    if c == 45:
                        sign = -1
                        place += 1
                    elif c == 43:
                        place += 1
                while place < stop:
                    c = i64(u8_at(place)) - 48
                    if (c < 0) | (c > 9) | (shifts > 3):
                        break
                    shift = shift * 10 + c
                    shifts += 1
                    place += 1
                if shifts == 0:
                    wrong = 1
                power += sign * shift
        if (number > 9007199254740992) | (power > 22) | (power < -22):
            wrong = 1
            power = 0
        value = f64(number)
        if power < 0:
            value = value / x2[-power]
        else:
            value = value * x2[power]
        if minus == 1:
            value = -value
{halfway}"""
_HALFWAY = """        if (float_bits(value) & 536870911) == 268435456:
            wrong = 1"""
_INTEGER = """        if minus == 1:
            number = -number
{range}"""
_RANGE = """        if (number > 2147483647) | (number < -2147483648):
            wrong = 1"""


def _numbers(code: str) -> HostCode:
    if code[0] == "f":
        finish = _FRACTION.format(halfway=_HALFWAY if code == "f32" else "")
    else:
        finish = _INTEGER.format(range=_RANGE if code == "i32" else "")
    float_ = code[0] == "f"
    source = _NUMBERS.format(long=_LONG if float_ else "        long = 0", plus=_PLUS if float_ else "", finish=finish,
                             result=f"{code}({'value' if code[0] == 'f' else 'number'})")
    return HostCode("numbers", ("i64", "i64", "f64", code, "i64"), source)


_OF_DTYPE = {np.dtype(f"{code[0]}{int(code[1:]) // 8}"): _numbers(code) for code in ("f32", "f64", "i32", "i64")}
_POWERS = np.array([float(f"1e{k}") for k in range(23)])


# Records with text, and without quotes and line ends.  x1: the wanted fields, in rising order.
_FIELDS = HostCode("fields", ("i64", "i64", "i64", "i64", "i64"), """def fields(x0, x1, x2, y0, y1, sizes, begin, end):
    delimiter, quotes, wanted, exact, count = sizes[0], sizes[1], sizes[2], sizes[3], sizes[4]
    for i in range(begin, end):
        place, stop, field, next = x0[i], x1[i], 0, 0
        first = place
        if place == stop:
            return 1
        while place <= stop:
            c = delimiter
            if place < stop:
                c = i64(u8_at(place))
                if ((quotes == 1) & (c == 34)) | (c == 10) | (c == 13):
                    return 1
            if c == delimiter:
                if next < wanted:
                    if x2[next] == field:
                        y0[next * count + i] = first
                        y1[next * count + i] = place
                        next += 1
                field += 1
                first = place + 1
            place += 1
        if (next != wanted) | ((exact == 1) & (field != wanted)):
            return 1
    return 0
""")

# How many parts each text has (with counts = 1), or where they lie.  x2: which bytes delimit.
_PARTS = HostCode("parts", ("i64", "i64", "i64", "u8", "i64", "i64", "i64"), """\
def parts(x0, x1, x2, x3, y0, y1, y2, sizes, begin, end):
    skips, counts, of_nothing = sizes[0], sizes[1], sizes[2]
    for i in range(begin, end):
        place, stop, column, at = x0[i], x1[i], 0, x2[i]
        first = place
        if (place == stop) & (of_nothing == 0):
            first = stop + 1
            place = stop + 1
        while place <= stop:
            cut = 1
            if place < stop:
                cut = i64(x3[i64(u8_at(place))])
            if cut == 1:
                if (skips == 0) | (place > first):
                    if counts == 0:
                        y0[2 * (at + column)] = i
                        y0[2 * (at + column) + 1] = column
                        y1[at + column] = first
                        y2[at + column] = place
                    column += 1
                first = place + 1
            place += 1
        if counts == 1:
            y0[i] = column
    return 0
""")


def numbers(starts: np.ndarray, ends: np.ndarray, dtype: Any) -> tuple[np.ndarray, np.ndarray] | None:
    """(the numbers that stretches write, which of them are left to others); None where it is not compiled."""
    out, left = np.empty(starts.size, dtype), np.empty(starts.size, np.int64)
    count = _OF_DTYPE[np.dtype(dtype)](starts, ends, _POWERS, out, left, end=starts.size)
    return None if count is None else (out, left[:count])


def fields(starts: np.ndarray, ends: np.ndarray, delimiter: int, quotes: bool, columns: list[int],
           count: int) -> tuple[np.ndarray, np.ndarray] | None:
    """Where the fields of records lie, [columns, records]: `columns`, of so many as there are, or the first `count`, which are then
    all.  None for records without text, with line ends or (if `quotes`) quotes, or another number of fields, and where it is not
    compiled."""
    wanted = np.array(columns or range(count), np.int64)
    first, after = np.empty((2, wanted.size, starts.size), np.int64)
    found = _FIELDS(starts, ends, wanted, first, after, end=starts.size,
                    sizes=(delimiter, quotes, wanted.size, not columns, starts.size))
    return (first, after) if found == 0 else None


def parts(strings: np.ndarray, delimiters: bytes, skips: bool, of_nothing: bool) -> tuple | None:
    """The parts of texts between any of some bytes as a sparse matrix: (indices, values, the longest row); None where that is
    not compiled.  `skips`: without empty ones; `of_nothing`: an empty text has one part, which is empty."""
    strings = contiguous(strings)
    stretches = places(strings)
    if stretches is None:
        return None
    cuts = np.zeros(256, np.uint8)
    cuts[list(delimiters)] = 1
    counts = np.zeros(strings.size, np.int64)
    if _PARTS(*stretches, counts, cuts, counts, counts, counts, sizes=(skips, 1, of_nothing), end=strings.size) is None:
        return None
    ends = counts.cumsum()
    total = int(ends[-1]) if ends.size else 0
    indices, (first, after) = np.empty((total, 2), np.int64), np.empty((2, total), np.int64)
    _PARTS(*stretches, ends - counts, cuts, indices, first, after, sizes=(skips, 0, of_nothing), end=strings.size)
    values = texts(first, after)
    return None if values is None else (indices, values, counts.max(initial=0))
