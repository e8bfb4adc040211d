"""The 128-bit fingerprint of FarmHash, which is CityHash128 (Pike and Alakuijala, 2011), written as `string_hash` is."""
from __future__ import annotations

import numpy as np

from jitgraph.ops.strings.string_hash import (
    _ALL,
    _K0,
    _K1,
    Word,
    Words,
    _block,
    _columns,
    _joined,
    _mixed,
    _pair,
    _to_16,
    _turned,
)

_FACTOR = 0x9DDFEA08EB382D69


def _murmur(at: Words, n: int, a: Word, b: Word) -> tuple[Word, Word]:
    """Of fewer than 128 bytes, from a seed of two words."""
    if n <= 16:
        a = _mixed(a * _K1 & _ALL) * _K1 & _ALL
        c = b * _K1 + _to_16(at, n) & _ALL
        d = _mixed(a + (at(0, 8) if n >= 8 else c) & _ALL)
    else:
        c = _joined(at(n - 8, 8) + _K1 & _ALL, a, _FACTOR)
        d = _joined(b + n & _ALL, c + at(n - 16, 8) & _ALL, _FACTOR)
        a = a + d & _ALL
        for start in range(0, n - 16, 16):
            a = (a ^ _mixed(at(start, 8) * _K1 & _ALL) * _K1 & _ALL) * _K1 & _ALL
            b = b ^ a
            c = (c ^ _mixed(at(start + 8, 8) * _K1 & _ALL) * _K1 & _ALL) * _K1 & _ALL
            d = d ^ c
    a, b = _joined(a, c, _FACTOR), _joined(d, b, _FACTOR)
    return a ^ b, _joined(b, a, _FACTOR)


def _city(at: Words, n: int, x: Word, y: Word) -> tuple[Word, Word]:
    """Of any number of bytes, from a seed of two words."""
    if n < 128:
        return _murmur(at, n, x, y)
    z = n * _K1 & _ALL
    v = _turned(y ^ _K1, 49) * _K1 + at(0, 8) & _ALL
    v = v, _turned(v, 42) * _K1 + at(8, 8) & _ALL
    w = _turned(y + z & _ALL, 35) * _K1 + x & _ALL, _turned(x + at(88, 8) & _ALL, 53) * _K1 & _ALL
    whole = n // 128 * 128
    for start in range(0, whole, 64):
        x, y, z, v, w = _block(at, start, x, y, z, v, w, _K1, 1)
    x = x + _turned(v[0] + z & _ALL, 49) * _K0 & _ALL
    y = y * _K0 + _turned(w[1], 37) & _ALL
    z = z * _K0 + _turned(w[0], 27) & _ALL
    v, w = (v[0] * _K0 & _ALL, v[1]), (w[0] * 9 & _ALL, w[1])
    for end in range(32, n - whole + 32, 32):           # from the end, in steps of 32 bytes, of which the last reaches back
        start = n - end
        y = _turned(x + y & _ALL, 42) * _K0 + v[1] & _ALL
        w = w[0] + at(start + 16, 8) & _ALL, w[1]
        x = x * _K0 + w[0] & _ALL
        z = z + w[1] + at(start, 8) & _ALL
        w = w[0], w[1] + v[0] & _ALL
        v = _pair(at, start, v[0] + z & _ALL, v[1])
        v = v[0] * _K0 & _ALL, v[1]
    x, y = _joined(x, v[0], _FACTOR), _joined(y + z & _ALL, w[0], _FACTOR)
    return _joined(x + v[1] & _ALL, w[1], _FACTOR) + y & _ALL, _joined(x + w[1] & _ALL, y + v[1] & _ALL, _FACTOR)


def _fingerprint(at: Words, n: int) -> tuple[Word, Word]:
    if n < 16:
        return _city(at, n, at(0, 0) + _K0, at(0, 0) + _K1)
    return _city(lambda offset, count: at(offset + 16, count), n - 16, at(0, 8), at(8, 8) + _K0 & _ALL)


def fingerprints128(strings: np.ndarray) -> np.ndarray:
    """The fingerprints of a vector of bytes, the low word and the high one of each: uint64 [n, 2]."""
    out = np.empty((len(strings), 2), np.uint64)
    lengths = np.array([len(item) for item in strings], np.int64)
    for length in np.unique(lengths):                   # strings of one length at once, as columns of words
        places = np.flatnonzero(lengths == length)
        table = np.frombuffer(b"".join(strings[places]), np.uint8).reshape(len(places), length)
        with np.errstate(over="ignore"):
            out[places] = np.stack(_fingerprint(_columns(table), int(length)), 1)
    return out
