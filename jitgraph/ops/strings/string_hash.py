"""Hashes of strings: ``tf.string_to_hash_bucket_fast``, ``_strong``, and the oldest one.

The functions are those that TensorFlow uses, so that buckets agree with models trained there: the 64-bit fingerprint of
FarmHash (Pike and Alakuijala, 2014), SipHash-2-4 (Aumasson and Bernstein, 2012), and MurmurHash64A (Appleby, 2008).

The fingerprint is written for whole arrays of strings of one length; the same text serves single strings, whose words are
then Python ints: results are cut to 64 bits wherever they may be longer.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph.declare.op import NOT_DIFFERENTIABLE, op
from jitgraph.declare.renamed_arguments import renamed
from jitgraph.declare.samples import draw, texts
from jitgraph.graph import errors, shape_rules
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.strings.hash_loops import MURMUR, farm_hash, hashes

_ALL = 2 ** 64 - 1
_K0, _K1, _K2 = 0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F
_SMALL = 16             # fewer strings than this are hashed one by one

Word = Any              # a Python int, or an array of uint64
Words = Callable[[int, int], Word]      # (offset, bytes) -> the little-endian word there


def _turned(x: Word, by: int) -> Word:
    return (x >> by | x << (64 - by)) & _ALL


def _mixed(x: Word) -> Word:
    return x ^ x >> 47


def _joined(u: Word, v: Word, factor: Word) -> Word:
    a = _mixed((u ^ v) * factor & _ALL)
    return _mixed((v ^ a) * factor & _ALL) * factor & _ALL


def _to_16(at: Words, n: int) -> Word:
    factor = _K2 + 2 * n & _ALL
    if n >= 8:
        a, b = at(0, 8) + _K2 & _ALL, at(n - 8, 8)
        c = _turned(b, 37) * factor + a & _ALL
        return _joined(c, (_turned(a, 25) + b) * factor & _ALL, factor)
    if n >= 4:
        return _joined((at(0, 4) << 3) + n & _ALL, at(n - 4, 4), factor)
    if n:
        y, z = at(0, 1) + (at(n // 2, 1) << 8), (at(n - 1, 1) << 2) + n
        return _mixed(y * _K2 & _ALL ^ z * _K0 & _ALL) * _K2 & _ALL
    return at(0, 0) + _K2


def _to_32(at: Words, n: int) -> Word:
    factor = _K2 + 2 * n & _ALL
    a, b = at(0, 8) * _K1 & _ALL, at(8, 8)
    c, d = at(n - 8, 8) * factor & _ALL, at(n - 16, 8) * _K2 & _ALL
    u = _turned(a + b & _ALL, 43) + _turned(c, 30) + d & _ALL
    return _joined(u, a + _turned(b + _K2 & _ALL, 18) + c & _ALL, factor)


def _to_64(at: Words, n: int) -> Word:
    factor = _K2 + 2 * n & _ALL
    a, b = at(0, 8) * _K2 & _ALL, at(8, 8)
    c, d = at(n - 8, 8) * factor & _ALL, at(n - 16, 8) * _K2 & _ALL
    y = _turned(a + b & _ALL, 43) + _turned(c, 30) + d & _ALL
    z = _joined(y, a + _turned(b + _K2 & _ALL, 18) + c & _ALL, factor)
    e, f = at(16, 8) * factor & _ALL, at(24, 8)
    g, h = (y + at(n - 32, 8)) * factor & _ALL, (z + at(n - 24, 8)) * factor & _ALL
    u = _turned(e + f & _ALL, 43) + _turned(g, 30) + h & _ALL
    return _joined(u, e + _turned(f + a & _ALL, 18) + g & _ALL, factor)


def _pair(at: Words, start: int, a: Word, b: Word) -> tuple[Word, Word]:
    w, x, y, z = (at(start + 8 * k, 8) for k in range(4))
    a = a + w & _ALL
    b, c = _turned(b + a + z & _ALL, 21), a
    a = a + x + y & _ALL
    return a + z & _ALL, b + _turned(a, 44) + c & _ALL


def _begun(at: Words) -> tuple:
    """The state before the first block of more than 64 bytes."""
    y = 81 * _K1 + 113 & _ALL
    return (81 * _K2 & _ALL) + at(0, 8) & _ALL, y, _mixed(y * _K2 + 113 & _ALL) * _K2 & _ALL, (0, 0), (0, 0)


def _whole_block(at: Words, start: int, x: Word, y: Word, z: Word, v: Any, w: Any) -> tuple:
    return _block(at, start, x, y, z, v, w, _K1, 1)


def _ended(at: Words, n: int, x: Word, y: Word, z: Word, v: Any, w: Any) -> Word:
    """The hash after the blocks: the last 64 bytes are taken in, some of them again."""
    factor = _K1 + ((z & 0xFF) << 1) & _ALL
    first = w[0] + (n - 1 & 63) & _ALL
    v = v[0] + first & _ALL, v[1]
    w = first + v[0] & _ALL, w[1]
    x, y, z, v, w = _block(at, n - 64, x, y, z, v, w, factor, 9)
    return _joined(_joined(v[0], w[0], factor) + _mixed(y) * _K0 + z & _ALL,
                   _joined(v[1], w[1], factor) + x & _ALL, factor)


def _longer(at: Words, n: int) -> Word:
    state = _begun(at)
    for start in range(0, (n - 1) // 64 * 64, 64):
        state = _whole_block(at, start, *state)
    return _ended(at, n, *state)


def _block(at: Words, start: int, x: Word, y: Word, z: Word, v: Any, w: Any, factor: Word, weight: int) -> tuple:
    """Takes in 64 bytes."""
    x = _turned(x + y + v[0] + at(start + 8, 8) & _ALL, 37) * factor & _ALL
    y = _turned(y + v[1] + at(start + 48, 8) & _ALL, 42) * factor & _ALL
    x = x ^ w[1] * weight & _ALL
    y = y + v[0] * weight + at(start + 40, 8) & _ALL
    z = _turned(z + w[0] & _ALL, 33) * factor & _ALL
    v = _pair(at, start, v[1] * factor & _ALL, x + w[0] & _ALL)
    w = _pair(at, start + 32, z + w[1] & _ALL, y + at(start + 16, 8) & _ALL)
    return z, y, x, v, w


def _short(at: Words, n: int) -> Word:
    return (_to_64 if n >= 33 else _to_32 if n >= 17 else _to_16)(at, n)


def _fingerprint(at: Words, n: int) -> Word:
    return (_short if n <= 64 else _longer)(at, n)


_LOOP = farm_hash(_short, _begun, _whole_block, _ended)


def fingerprint64(data: bytes) -> int:
    """The 64-bit FarmHash fingerprint of a string."""
    return _fingerprint(lambda offset, count: int.from_bytes(data[offset:offset + count], "little"), len(data))


def fingerprints(strings: np.ndarray) -> np.ndarray:
    """The fingerprint of each element of an object array of bytes: uint64."""
    found = hashes(_LOOP, strings)
    if found is not None:
        return found
    flat = strings.reshape(-1)
    out = np.empty(flat.size, np.uint64)
    if flat.size < _SMALL:
        out[:] = [fingerprint64(item) for item in flat]
        return out.reshape(strings.shape)
    lengths = np.array([len(item) for item in flat])
    for length in np.unique(lengths):
        places = np.flatnonzero(lengths == length)
        if len(places) < _SMALL or length == 0:
            out[places] = [fingerprint64(flat[place]) for place in places]
            continue
        table = np.frombuffer(b"".join(flat[places]), np.uint8).reshape(len(places), length)
        out[places] = _fingerprint(_columns(table), int(length))
    return out.reshape(strings.shape)


def _columns(table: np.ndarray) -> Words:
    """Reads words from the columns of a table of bytes."""

    def at(offset: int, count: int) -> np.ndarray:
        padded = np.zeros((len(table), 8), np.uint8)
        padded[:, :count] = table[:, offset:offset + count]
        return padded.view("<u8")[:, 0].astype(np.uint64, copy=False)

    return at


def murmur64(data: bytes, seed: int = 0xDECAFCAFFE) -> int:
    """MurmurHash64A of a string."""
    m = 0xC6A4A7935BD1E995
    h = (seed ^ len(data) * m) & _ALL
    whole = len(data) // 8 * 8
    for start in range(0, whole, 8):
        k = int.from_bytes(data[start:start + 8], "little") * m & _ALL
        h = (h ^ (_mixed(k) * m & _ALL)) * m & _ALL
    if whole < len(data):
        h = (h ^ int.from_bytes(data[whole:], "little")) * m & _ALL
    return _mixed(_mixed(h) * m & _ALL)


def siphash(data: bytes, key: tuple[int, int]) -> int:
    """SipHash-2-4 of a string under a key of two 64-bit words."""
    k0, k1 = key[0] & _ALL, key[1] & _ALL
    state = [k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D, k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573]

    def rounds(count: int) -> None:
        a, b, c, d = state
        for _ in range(count):
            a, c = a + b & _ALL, c + d & _ALL
            b, d = _turned(b, 51) ^ a, _turned(d, 48) ^ c
            a, c = _turned(a, 32) + d & _ALL, c + b & _ALL
            b, d = _turned(b, 47) ^ c, _turned(d, 43) ^ a
            c = _turned(c, 32)
        state[:] = a, b, c, d

    padded = data + bytes(7 - len(data) % 8) + bytes([len(data) & 0xFF])
    for start in range(0, len(padded), 8):
        word = int.from_bytes(padded[start:start + 8], "little")
        state[3] ^= word
        rounds(2)
        state[0] ^= word
    state[2] ^= 0xFF
    rounds(4)
    return state[0] ^ state[1] ^ state[2] ^ state[3]


# -- ops -----------------------------------------------------------------------------------------------------------

def _hash_samples(rng, dtype):
    return [([texts(b"", b"a", b"some longer text, of more than 16 letters")], {"num_buckets": 1000})]


@op("StringToHashBucketFast(input: string; num_buckets: int >= 1) -> output: int64", shape=shape_rules.same_as_input,
    host=True, each=True, grad=NOT_DIFFERENTIABLE, samples=_hash_samples)
def string_to_hash_bucket_fast(input, num_buckets):
    """The bucket, from 0 to `num_buckets` - 1, of each string; equal strings have equal buckets, always and everywhere."""
    return (fingerprints(input) % np.uint64(num_buckets)).astype(np.int64)


def _each(strings: np.ndarray, function: Callable[[bytes], int]) -> np.ndarray:
    flat = strings.reshape(-1)
    return np.array([function(item) for item in flat], np.int64).reshape(strings.shape)


@op("StringToHashBucketStrong(input: string; num_buckets: int >= 1, key: list(int)) -> output: int64",
    shape=shape_rules.same_as_input, host=True, grad=NOT_DIFFERENTIABLE,
    samples=lambda rng, dtype: [([texts(b"", b"a", b"some longer text, of more than 16 letters")],
                                 {"num_buckets": 1000, "key": [7, 11]})])
def string_to_hash_bucket_strong(input, num_buckets, key):
    """As StringToHashBucketFast, by a keyed hash that nobody can fill one bucket of without knowing the key."""
    if len(key) != 2:
        raise errors.InvalidArgumentError(None, None, "Key must have 2 elements")
    return _each(input, lambda item: siphash(item, (key[0], key[1])) % num_buckets)


@op("StringToHashBucket(string_tensor: string; num_buckets: int >= 1) -> output: int64",
    shape=shape_rules.same_as_input, host=True, each=True, grad=NOT_DIFFERENTIABLE, samples=_hash_samples)
def _string_to_hash_bucket(string_tensor, num_buckets):
    """As StringToHashBucketFast, by an older and slower hash."""
    found = hashes(MURMUR, string_tensor)
    if found is None:
        return _each(string_tensor, lambda item: murmur64(item) % num_buckets)
    return (found % np.uint64(num_buckets)).astype(np.int64)


def string_to_hash_bucket(string_tensor: Any = None, num_buckets: int | None = None, name: str | None = None,
                          input: Any = None) -> Tensor:
    """The bucket (int64), from 0 to `num_buckets` - 1, of each string of a tensor; by an older hash function.

    Prefer ``string_to_hash_bucket_fast``.  `input` is another name of `string_tensor`.
    """
    strings = renamed("input", input, "string_tensor", string_tensor)
    return _string_to_hash_bucket(strings, num_buckets=num_buckets, name=name)


def _fingerprint_shape(c: Any) -> Any:
    shape = c.shapes[0]
    return (None if not shape else shape[0], 8)


@op("Fingerprint(data: T, method: string) -> fingerprint: uint8", shape=_fingerprint_shape, host=True,
    samples=lambda rng, dtype: [] if dtype.kind == "O" else [[draw(rng, (2, 3), dtype), np.array(b"farmhash64", object)]])
def _fingerprint_op(data, method):
    """The fingerprint of each row of `data`, 8 bytes each."""
    if method[()] != b"farmhash64":
        raise errors.InvalidArgumentError(None, None, f"Unsupported fingerprint method: {method[()].decode('latin-1')}")
    if not data.ndim:
        raise errors.InvalidArgumentError(None, None, "`data` should have at least one dimension")
    rows = data.reshape(len(data), -1)
    if data.dtype != object:
        found = [fingerprint64(row.tobytes()) for row in rows]
    elif rows.shape[1] == 1:
        found = [fingerprint64(row[0]) for row in rows]
    else:                   # of several strings: of the fingerprints of each
        found = [fingerprint64(fingerprints(row).tobytes()) for row in rows]
    return np.array(found, "<u8").view(np.uint8).reshape(-1, 8)


def fingerprint(data: Any, method: str = "farmhash64", name: str | None = None) -> Tensor:
    """A fingerprint of each row (along the first dimension) of `data`: uint8 [rows, 8].

    Raises InvalidArgumentError in a run for scalars and other methods.
    """
    return _fingerprint_op(data, method, name=name)
