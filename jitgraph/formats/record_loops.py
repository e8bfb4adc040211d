"""The whole records of a block of a TFRecord file, by a loop that is compiled.

The checksum is taken eight bytes at a time from tables (Kounavis and Berry, 2005).
"""
from __future__ import annotations

import functools

import numpy as np

from jitgraph.declare.addresses import address_of
from jitgraph.declare.host_code import HostCode
from jitgraph.declare.host_texts import texts

LEAST = 16              # bytes of an empty record


def _checksum(start: str, stop: str, indent: int) -> str:
    """Lines that leave the masked CRC-32C of a stretch in `crc`."""
    i = " " * indent
    tables = " ^ ".join(f"u64(x0[{256 * (7 - k)} + i64(w >> {8 * k} & u64(255))])" for k in range(8))
    return f"""crc, q = u64(4294967295), {start}
{i}while {stop} - q >= 8:
{i}    w = u64_at(q) ^ crc
{i}    crc = {tables}
{i}    q += 8
{i}while q < {stop}:
{i}    crc = u64(x0[i64((crc ^ u64(u8_at(q))) & u64(255))]) ^ crc >> 8
{i}    q += 1
{i}crc = crc ^ u64(4294967295)
{i}crc = (crc >> 15 | crc << 17) + u64(2726488792) & u64(4294967295)"""


_WHOLE = HostCode("whole_records", ("u32", "i64", "i64"), f"""\
def whole_records(x0, y0, y1, sizes, begin, end):
    place, stop, room = sizes[0], sizes[1], sizes[2]
    found = 0
    while (stop - place >= 16) & (found < room):
        length = i64_at(place)
        if (length < 0) | (length > stop - place - 16):
            break
        {_checksum("place", "(place + 8)", 8)}
        if crc != u64(u32_at(place + 8)):
            break
        first = place + 12
        after = first + length
        {_checksum("first", "after", 8)}
        if crc != u64(u32_at(after)):
            break
        y0[found] = first
        y1[found] = after
        found += 1
        place = after + 4
    return found
""")


@functools.cache
def _tables() -> np.ndarray:
    """[8, 256]: what a byte, with 0 to 7 bytes of zeros after it, does to the checksum."""
    one: np.ndarray = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        one = one >> 1 ^ np.where(one & 1, np.uint32(0x82F63B78), np.uint32(0))
    tables = [one]
    for _ in range(7):
        tables.append(tables[-1] >> 8 ^ one[tables[-1] & 255])
    return np.stack(tables).astype(np.uint32).reshape(-1)


def whole_records(block: bytes) -> list[bytes]:
    """The records that stand whole and sound at the beginning of a block; none where that is not compiled."""
    data = np.frombuffer(block, np.uint8)
    room = len(block) // LEAST
    first, after = np.empty((2, room), np.int64)
    begin = address_of(data)
    count = _WHOLE(_tables(), first, after, sizes=(begin, begin + len(block), room))
    found = texts(first[:count], after[:count]) if count else None
    return [] if found is None else found.tolist()
