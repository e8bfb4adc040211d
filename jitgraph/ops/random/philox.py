"""The random bits: counter-based Philox-4x32-10 (Salmon et al., 2011), and the distributions made of them.

Bit for bit what TensorFlow's stateful random ops give.  A generator position counts blocks of four 32-bit outputs.
Each execution of an op reserves a fixed number of blocks, whatever it really uses.
"""
from __future__ import annotations

import itertools
from typing import Any

import numpy as np

_FACTORS = np.array([[0xD2511F53], [0xCD9E8D57]], np.uint64)
_W0, _W1 = 0x9E3779B9, 0xBB67AE85
_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_CHUNK = 1 << 12            # blocks computed at a time: their counters stay in the cache
RESERVED = 256              # blocks reserved per sample by the ops that fill a tensor


class Stream:
    """Where a random op stands in its sequence: ``blocks`` used so far, and the ``entropy`` seeds of unseeded ops."""

    __slots__ = ("blocks", "entropy")

    def __init__(self, entropy: tuple[int, int] | None = None):
        self.blocks = 0
        if entropy is None:
            import secrets

            entropy = secrets.randbits(63) | 1, secrets.randbits(63)
        self.entropy = entropy


class Bits:
    """The sequence of an execution: seeds as of the node's attributes, from block `start` on."""

    __slots__ = ("seed", "seed2", "start")

    def __init__(self, seed: int, seed2: int, start: int):
        self.seed, self.seed2, self.start = seed, seed2, start

    @classmethod
    def reserve(cls, stream: Any, seed: int, seed2: int, blocks: int) -> Bits:
        """The bits of one execution of an op; `stream` advances by `blocks`."""
        if seed == 0 and seed2 == 0:
            seed, seed2 = stream.entropy
        start = stream.blocks
        stream.blocks = start + int(blocks)
        return cls(int(seed) & (2 ** 64 - 1), int(seed2) & (2 ** 64 - 1), start)

    def blocks(self, numbers: Any) -> np.ndarray:
        """The four 32-bit outputs of each of the blocks `numbers` (counted from the start): uint32 [n, 4]."""
        numbers = np.asarray(numbers, np.uint64)
        out = np.empty((len(numbers), 4), np.uint32)
        for begin in range(0, len(numbers), _CHUNK):
            self._fill(numbers[begin:begin + _CHUNK] + np.uint64(self.start), out[begin:begin + _CHUNK])
        return out

    @classmethod
    def scrambled(cls, first: int, second: int) -> Bits:
        """The bits of a stateless op with these two seeds, which one round of the generator mixes first."""
        words = [first & 0xFFFFFFFF, first >> 32 & 0xFFFFFFFF]
        mixed = cls(0x02461E293EC8F720, second & (2 ** 64 - 1), words[0] | words[1] << 32).words(4)
        a, b, c, d = (int(word) for word in mixed)
        return cls(a | b << 32, c | d << 32, 0)

    def _fill(self, counters: np.ndarray, out: np.ndarray) -> None:
        # the words that are multiplied, and the others, as rows: half as many calls of NumPy, which count where blocks are few
        even, odd = np.empty((2, len(counters)), np.uint64), np.empty((2, len(counters)), np.uint64)
        even[0], even[1] = counters & _LOW, self.seed2 & 0xFFFFFFFF
        odd[0], odd[1] = counters >> _HALF, self.seed2 >> 32
        product = np.empty_like(even)
        for keys in self._keys():
            np.multiply(even, _FACTORS, out=product)
            np.right_shift(product[::-1], _HALF, out=even)
            even ^= odd
            even ^= keys
            np.bitwise_and(product[::-1], _LOW, out=odd)
        out[:, 0::2], out[:, 1::2] = even.T, odd.T

    def _keys(self) -> np.ndarray:
        """The two keys of each round, as columns: uint64 [10, 2, 1]."""
        keys = [[k + n * w & 0xFFFFFFFF for k, w in ((self.seed & 0xFFFFFFFF, _W0), (self.seed >> 32, _W1))] for n in range(10)]
        return np.array(keys, np.uint64)[:, :, None]

    def words(self, count: int) -> np.ndarray:
        """The first `count` 32-bit outputs in order: uint32 [count]."""
        return self.blocks(np.arange((count + 3) // 4, dtype=np.uint64)).reshape(-1)[:count]


class Reader:
    """Takes words, and numbers made of them, one after the other: for sampling with rejection."""

    def __init__(self, bits: Bits, block: int = 0, ahead: int = 4):
        self._bits, self._block, self._ahead = bits, block, ahead
        self._words: list[int] = []

    def word(self) -> int:
        """The next 32 bits."""
        if not self._words:
            # `ahead` blocks at a time, last word first
            self._words = self._bits.blocks(np.arange(self._block, self._block + self._ahead)).reshape(-1)[::-1].tolist()
            self._block += self._ahead
        return self._words.pop()

    def some(self, count: int) -> list[int]:
        """So many of the next words."""
        if count > len(self._words):
            return [self.word() for _ in range(count)]
        rest = len(self._words) - count
        found = self._words[rest:][::-1]
        del self._words[rest:]
        return found

    def unit(self) -> float:
        """The next number in [0, 1), of two words."""
        return ((self.word() & 0xFFFFF) << 32 | self.word()) * 2.0 ** -52

    def below(self, limit: int) -> int:
        """The next integer in [0, limit), of two words; numbers that would favour small results are drawn again."""
        reject = 0 if limit & (limit - 1) == 0 else (2 ** 64 - 1) % limit + 1
        while True:
            drawn = self.word() | self.word() << 32
            if drawn >= reject:
                return drawn % limit


# -- uniform -------------------------------------------------------------------------------------------------------

def _bits_of(dtype: np.dtype) -> tuple[int, int, Any]:
    """Mantissa mask and the bits of 1.0 of a 16-bit float type, and the type."""
    return (0x7F, 0x3F80, dtype) if dtype.name == "bfloat16" else (0x3FF, 0x3C00, dtype)


def unit_float32(words: np.ndarray) -> np.ndarray:
    """float32 in [0, 1), one word each."""
    return ((words & np.uint32(0x7FFFFF)) | np.uint32(0x3F800000)).view(np.float32) - np.float32(1)


def unit_float64(words: np.ndarray) -> np.ndarray:
    """float64 in [0, 1), two words each."""
    high = (words[0::2] & np.uint32(0xFFFFF)).astype(np.uint64) << _HALF
    return (high | words[1::2] | np.uint64(0x3FF0000000000000)).view(np.float64) - 1.0


def uniform(bits: Bits, count: int, dtype: Any) -> np.ndarray:
    """`count` numbers in [0, 1) of a float dtype."""
    dtype = np.dtype(dtype)
    if dtype == np.float64:
        return unit_float64(bits.words(2 * count))
    words = bits.words(count)
    if dtype == np.float32:
        return unit_float32(words)
    mask, one, kind = _bits_of(dtype)
    return ((words & mask) | one).astype(np.uint16).view(kind) - np.ones((), kind)


def integers(bits: Bits, count: int, low: int, high: int, dtype: Any) -> np.ndarray:
    """`count` integers in [low, high) of int32 or int64, by an unsigned remainder."""
    dtype = np.dtype(dtype)
    wide = dtype == np.int64
    unsigned: Any = np.uint64 if wide else np.uint32
    words = bits.words(2 * count if wide else count)
    if wide:
        words = words[0::2].astype(np.uint64) | words[1::2].astype(np.uint64) << _HALF
    offset = np.asarray(low, dtype).astype(unsigned)
    with np.errstate(over="ignore"):
        return (offset + words % unsigned(int(high) - int(low))).astype(dtype)


# -- normal --------------------------------------------------------------------------------------------------------

def normal(bits: Bits, count: int, dtype: Any) -> np.ndarray:
    """`count` numbers of the standard normal distribution (Box and Muller, 1958), the sine before the cosine."""
    dtype = np.dtype(dtype)
    if dtype == np.float64:
        from jitgraph.ops.random.normal_loops import normals

        found = normals(bits, count)
        return pairs_float64(bits.words(4 * ((count + 1) // 2)))[:count] if found is None else found
    return pairs_float32(bits.words(2 * ((count + 1) // 2)))[:count].astype(dtype, copy=False)


def pairs_float32(words: np.ndarray) -> np.ndarray:
    from jitgraph.ops.elementwise.single_precision import log, sin_cos

    first = np.maximum(unit_float32(words[0::2]), np.float32(1e-7))
    angle = (unit_float32(words[1::2]).astype(np.float64) * (2 * np.pi)).astype(np.float32)
    radius = np.sqrt(np.float32(-2) * log(first))
    out = np.empty(len(words), np.float32)
    sine, cosine = sin_cos(angle)
    np.multiply(sine, radius, out=out[0::2])
    np.multiply(cosine, radius, out=out[1::2])
    return out


def by_element(function: Any, values: np.ndarray) -> np.ndarray:
    """The C library's double-precision function: NumPy's own may differ in the last bit."""
    return np.fromiter(map(function, values.tolist()), np.float64, len(values))


def pairs_float64(words: np.ndarray) -> np.ndarray:
    import math

    units = unit_float64(words)
    first, angle = np.maximum(units[0::2], 1e-7), 2 * np.pi * units[1::2]
    radius = np.sqrt(-2.0 * by_element(math.log, first))
    out = np.empty(len(units), np.float64)
    np.multiply(by_element(math.sin, angle), radius, out=out[0::2])
    np.multiply(by_element(math.cos, angle), radius, out=out[1::2])
    return out


def truncated_normal(bits: Bits, count: int, dtype: Any) -> np.ndarray:
    """`count` numbers of the standard normal distribution, those of absolute value 2 and more drawn again."""
    dtype = np.dtype(dtype)
    if dtype == np.float64:
        from jitgraph.ops.random.normal_loops import truncated_normals

        found = truncated_normals(bits, count)
        if found is not None:
            return found
    group = 2 if dtype == np.float64 else 4         # samples that share a sequence
    pairs = pairs_float64 if dtype == np.float64 else pairs_float32
    groups = (count + group - 1) // group
    out = np.empty((groups, group), np.float64 if dtype == np.float64 else np.float32)
    pending = np.arange(groups, dtype=np.uint64)
    for length in itertools.count(1):               # blocks that each pending group has drawn
        if not len(pending):
            break
        numbers = (pending * np.uint64(64 * group))[:, None] + np.arange(length, dtype=np.uint64)
        drawn = pairs(bits.blocks(numbers.reshape(-1)).reshape(-1)).reshape(len(pending), -1)
        kept = np.abs(drawn) < 2
        done = kept.sum(1) >= group
        if drawn.shape[1] == group:                 # nothing was rejected in these
            out[pending[done]] = drawn[done]
            pending = pending[~done]
            continue
        order = np.argsort(~kept[done], axis=1, kind="stable")[:, :group]
        out[pending[done]] = np.take_along_axis(drawn[done], order, 1)
        pending = pending[~done]
    return out.reshape(-1)[:count].astype(dtype, copy=False)
