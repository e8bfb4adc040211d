"""Examples taken apart as they lie on the wire, by loops that are compiled.

A batch of serialized Examples is walked through once, to find where the values of the wanted features lie; then each feature's
values are read.  The loops know what writers write: no fields that they do not know, in the order of their numbers, ASCII
names.  What else there is, is left to protocol buffers, and so is every error.  They are compiled at once: as TensorFlow does, and
protocol buffers do not, they pass over features that nobody asked for, whatever is in them.
https://protobuf.dev/programming-guides/encoding
"""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.declare import host_texts
from jitgraph.declare.host_code import HostCode, contiguous
from jitgraph.graph.dtypes import DType

KINDS = {"string": 1, "float32": 2, "int64": 3}        # the number of a feature's list in the message Feature

_VARINT = """
{i}{name}, shift, more = 0, 0, 1
{i}while more == 1:
{i}    if (place >= {stop}) | (shift > 63):
{i}        return 1
{i}    b = i64(u8_at(place))
{i}    {name} = {name} | (b & 127) << shift
{i}    shift += 7
{i}    more = b >> 7
{i}    place += 1"""


def _varint(name: str, stop: str, indent: int) -> str:
    return _VARINT.format(name=name, stop=stop, i=" " * indent).lstrip("\n ")


def _stretch(name: str, tag: int | str, stop: str, indent: int) -> str:
    """Reads a tag and a length: `name` becomes the end of what follows, which lies before `stop`."""
    i = " " * indent
    return f"""if place >= {stop}:
{i}    return 1
{i}if i64(u8_at(place)) != {tag}:
{i}    return 1
{i}place += 1
{i}{_varint(name, stop, indent)}
{i}if ({name} < 0) | ({name} > {stop} - place):
{i}    return 1
{i}{name} += place"""


_SCAN = HostCode("scan_examples", ("i64", "i64", "u8", "i64", "i64", "i64", "i64"), f"""\
def scan_examples(x0, x1, x2, x3, y0, y1, y2, sizes, begin, end):
    keys, count = sizes[0], sizes[1]
    next = 0
    for i in range(begin, end):
        place, stop = x0[i], x1[i]
        while place < stop:
            {_stretch("features", 10, "stop", 12)}
            while place < features:
                {_stretch("entry", 10, "features", 16)}
                {_stretch("after", 10, "entry", 16)}
                key, length = place, after - place
                for q in range(place, after):
                    if u8_at(q) > 127:
                        return 1
                place = after
                {_stretch("value", 18, "entry", 16)}
                if value != entry:
                    return 1
                kind = 0
                if place < value:
                    kind = i64(u8_at(place)) >> 3
                    if (kind < 1) | (kind > 3):
                        return 1
                    {_stretch("values", "kind * 8 + 2", "value", 20)}
                    if values != value:
                        return 1
                for tried in range(keys):
                    k = next
                    next += 1
                    if next == keys:
                        next = 0
                    first = x3[k]
                    if x3[k + 1] - first == length:
                        q = 0
                        while q < length:
                            if u8_at(key + q) != x2[first + q]:
                                break
                            q += 1
                        if q == length:
                            y0[k * count + i] = kind
                            y1[k * count + i] = place
                            y2[k * count + i] = value
                            break
                place = entry
    return 0
""", at_once=True)


def _reader(name: str, code: str, single: int, count: str, packed: str, one: str) -> HostCode:
    """A loop over lists of values.  Without outputs (counts = 1) it says how many there are in each.  `packed` and `one`: the
    lines that read the values up to `last`, and the one after the tag `single`."""
    return HostCode(name, ("i64", "i64", "i64", "i64", code, "i64"), f"""\
def {name}(x0, x1, x2, y0, y1, y2, sizes, begin, end):
    counts = sizes[0]
    for i in range(begin, end):
        place, stop, found, at = x0[i], x1[i], 0, x2[i]
        while place < stop:
            if u8_at(place) == 10:
                {_stretch("last", 10, "stop", 16)}
                if counts == 1:
                    {count}
                else:
                    {packed}
                place = last
            elif u8_at(place) == {single}:
                place += 1
                {one}
                found += 1
            else:
                return 1
        if counts == 1:
            y0[i] = found
    return 0
""", at_once=True)


_ONE_INTEGER = """value, shift, more = u64(0), 0, 1
{i}while more == 1:
{i}    if (place >= {stop}) | (shift > 63):
{i}        return 1
{i}    b = i64(u8_at(place))
{i}    value = value | u64(b & 127) << shift
{i}    shift += 7
{i}    more = b >> 7
{i}    place += 1
{i}if counts == 0:
{i}    y1[at + found] = i64(value)"""

_READERS = {
    "float32": _reader("float_lists", "f32", 13, """if (last - place) & 3 != 0:
                        return 1
                    found += (last - place) >> 2""", """for q in range((last - place) >> 2):
                        y1[at + found + q] = f32_at(place + 4 * q)
                    found += (last - place) >> 2""", """if stop - place < 4:
                    return 1
                if counts == 0:
                    y1[at + found] = f32_at(place)
                place += 4"""),
    "int64": _reader("int64_lists", "i64", 8, """length = 0
                    for q in range(place, last):
                        length += 1
                        if u8_at(q) < 128:
                            found += 1
                            length = 0
                        if length > 9:
                            return 1
                    if length > 0:
                        return 1""", f"""while place < last:
                        {_ONE_INTEGER.format(stop="last", i=" " * 24)}
                        found += 1""", _ONE_INTEGER.format(stop="stop", i=" " * 16)),
    "string": _reader("bytes_lists", "i64", 256, "found += 1", """y1[at + found] = place
                    y2[at + found] = last
                    found += 1""", "pass"),
}


class Lists:
    """The lists of values of one feature in a batch: `there`, whether an example has it, and how many values in `counts`."""

    def __init__(self, dtype: DType, there: np.ndarray, starts: np.ndarray, ends: np.ndarray, counts: np.ndarray):
        self.dtype, self.there, self.counts = dtype, there, counts
        self._stretches = starts, ends

    def into(self, out: np.ndarray, places: np.ndarray) -> bool:
        """Writes the values of each example to out[places[k]:], in one row; False where that is not compiled."""
        if self.dtype.name != "string":
            return not _READERS[self.dtype.name](*self._stretches, places, self.counts, out, self.counts, sizes=(0,),
                                                 end=len(places))
        offsets = self.counts.cumsum() - self.counts
        first, after = np.empty((2, int(self.counts.sum())), np.int64)
        _READERS["string"](*self._stretches, offsets, self.counts, first, after, sizes=(0,), end=len(places))
        found = host_texts.texts(first, after)
        if found is not None:
            out[np.repeat(places - offsets, self.counts) + np.arange(len(found))] = found
        return found is not None


def lists_of(serialized: np.ndarray, keys: list[str], types: list[DType]) -> list[Lists] | None:
    """The lists of the features `keys`, different ones, in a vector of Examples; None where that is left to protocol buffers."""
    try:
        names = [key.encode("ascii") for key in keys]
    except UnicodeEncodeError:
        return None
    rows = len(serialized)
    stretches = host_texts.places(contiguous(serialized)) if len(set(keys)) == len(keys) and rows else None
    if stretches is None:
        return None
    text = np.frombuffer(b"".join(names) + b"\0", np.uint8)
    ends = np.cumsum([0, *map(len, names)])
    kinds, first, after = np.zeros((3, len(keys), rows), np.int64)
    if _SCAN(*stretches, text, ends, kinds, first, after, sizes=(len(keys), rows), end=rows) != 0:
        return None
    found = []
    for dtype, kind, start, end in zip(types, kinds, first, after):
        counts, there = np.zeros(rows, np.int64), kind != 0
        if not np.all(kind[there] == KINDS[dtype.name]):
            return None
        values: Any = np.empty(0, object if dtype.name == "string" else dtype.as_numpy_dtype)
        if _READERS[dtype.name](start, end, counts, counts, values, counts, sizes=(1,), end=rows) != 0:
            return None
        found.append(Lists(dtype, there, start, end, counts))
    return found
