"""PNG files as TensorFlow reads them by libpng: each depth, palette, transparency and gamma gives the pixels that it gives there.

libspng reads the samples (pyspng, three to six times as fast as Pillow), Pillow where pyspng is not installed.  Which pixels they
become, follows TensorFlow's ``core/lib/png/png_io.cc`` and, for the sums, libpng's ``pngrtran.c``.
"""
from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from jitgraph.declare.invalid import invalid
from jitgraph.graph.errors import OpError
from jitgraph.installing import advice

_CHUNK_HEAD = struct.Struct(">I4s").unpack_from            # length and type
_CRITICAL = {b"IHDR", b"PLTE", b"IDAT", b"IEND"}        # those that everyone must know
_CUT_OFF = "the file is cut off"
SIGNATURE = b"\x89PNG\r\n\x1a\n"
_GRAY, _COLORS, _PALETTE, _ALPHA = 0, 2, 3, 4                   # the color types; alpha is added to one of the first two
_AFTER_HEADER = len(SIGNATURE) + 25                             # where the first chunk behind the header begins
_DEPTHS = {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}
# What neither library reads as it is, has the same rows as what both do: (depth, color type) of them.  Indices of a palette are
# grays of as many bits; a gray and its alpha of 8 bits are the halves of a gray of 16, and of 16 bits those of four colors.
_READ_AS = {**{(depth, _PALETTE): (depth, _GRAY) for depth in _DEPTHS[_PALETTE]}, (8, 4): (16, _GRAY), (16, 4): (8, 6)}
_CHANNELS = {0: 1, 2: 3, 3: 3, 4: 2, 6: 4}
_LONGEST_SIDE, _MOST_PIXELS = 1_000_000, 1 << 29                # libpng's limit, and TensorFlow's
_SRGB_GAMMA, _UNIT = 45455, 100_000                             # gamma is written in units of 1 / 100,000
_GAMMAS = range(16, 625_000_001)                                # others are no gamma to libpng
_RED, _GREEN = 29900 * 32768 // 100_000, 58700 * 32768 // 100_000
_FIRST_OF_11_BITS = ((np.arange(255) * 257 + 128) * 2047 + 32768) // 65535 + 1      # that stand for 1, 2, ... 255
_WEIGHTS = np.array([_RED, _GREEN, 32768 - _RED - _GREEN])      # of the colors in gray, in units of 1 / 32768


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


_END = _chunk(b"IEND", b"")


class _Header(NamedTuple):
    """What the chunks before the pixels say."""

    width: int
    height: int
    depth: int
    color: int
    palette: bytes
    transparent: bytes                                          # the tRNS chunk, empty if there is none
    gamma: int                                                  # 0 where nothing is said
    samples: bytes                                              # a file of the pixels alone, see `_READ_AS`


def png_pixels(data: bytes, channels: int = 0, deep: bool = False) -> np.ndarray:
    """The pixels [height, width, channels] of a PNG file, uint8, or uint16 if `deep`.

    `channels`: 1 or 2 for gray, 3 or 4 for colors, the even ones with alpha; 0 for those of the file.  Gray of colors is
    0.299 R + 0.587 G + 0.114 B, of linear light where a file without a palette states a gamma (a gAMA or sRGB chunk; color
    profiles are not looked at).  Where a file has no alpha it is 2**depth - 1, of gray images and palettes of few
    bits as well, as libpng has it.

    Raises InvalidArgumentError for a file that is damaged, and ImportError for colors of 16 bits that are asked for as such
    where pyspng is not installed.
    """
    header = _header(data)
    samples = _samples(header, deep, len(data))
    if channels == samples.shape[-1] and samples.dtype == (np.uint16 if deep else np.uint8) and header.color != _PALETTE:
        return samples                                          # nearly always
    return _converted(header, samples, channels, deep)


def _converted(header: _Header, samples: np.ndarray, channels: int, deep: bool) -> np.ndarray:
    has_alpha = header.color in (_GRAY | _ALPHA, _COLORS | _ALPHA)
    if not channels:
        channels = 4 if header.color == _PALETTE and header.transparent else _CHANNELS[header.color]
    colors, alpha = (samples[..., :-1], samples[..., -1:]) if has_alpha else (samples, None)
    if channels % 2 == 0 and alpha is None:
        alpha = _transparency(header, samples) if header.transparent else \
            np.full_like(samples[..., :1], min((1 << header.depth) - 1, np.iinfo(samples.dtype).max))
    if header.color == _PALETTE:
        colors = np.frombuffer(header.palette.ljust(768, b"\0"), np.uint8).reshape(256, 3)[samples[..., 0]]
    if channels < 3 and colors.shape[-1] == 3:
        colors = _gray(colors, header.gamma if header.color != _PALETTE else 0, deep)
    elif channels >= 3 and colors.shape[-1] == 1:
        colors = np.repeat(colors, 3, -1)
    found = np.concatenate([colors, alpha], -1) if channels % 2 == 0 else colors
    if deep:
        return found if found.dtype == np.uint16 else found.astype(np.uint16) * np.uint16(257)
    return np.ascontiguousarray(found if found.dtype == np.uint8 else (found >> 8).astype(np.uint8))


def deep_png(pixels: np.ndarray, compression: int = -1) -> bytes:
    """A PNG file of uint16 pixels [height, width, 1 to 4], compressed by zlib's level from 0 to 9, or its usual one (-1)."""
    height, width, channels = pixels.shape
    color = next(color for color, many in _CHANNELS.items() if many == channels)
    head = struct.pack(">IIBBBBB", width, height, 16, color, 0, 0, 0)
    rows = np.zeros((height, 1 + 2 * channels * width), np.uint8)           # the first byte says that a row is not filtered
    rows[:, 1:] = pixels.astype(">u2").reshape(height, -1).view(np.uint8)
    return b"".join((SIGNATURE, _chunk(b"IHDR", head), _chunk(b"IDAT", zlib.compress(rows.tobytes(), compression)), _END))


# -- chunks ------------------------------------------------------------------------------------------------------------

def _damaged(data: bytes, in_pixels: bool, why: str) -> OpError:
    """The error in TensorFlow's words, with the reason behind them where the size does not tell it."""
    reason = f" ({why})" if in_pixels or why != _CUT_OFF else ""
    return invalid(f"Invalid PNG {'data, size' if in_pixels else 'header, data size'} {len(data)}{reason}")


def _chunks(data: bytes) -> Iterator[tuple[bytes, int, int]]:
    """Type, begin and end of each chunk's body, without those that are damaged and may be passed over.

    Raises InvalidArgumentError for others that are damaged or of an unknown type, and for a file that is cut off.
    """
    view, at, in_pixels, kind = memoryview(data), len(SIGNATURE), False, b""
    while kind != b"IEND":
        if at + 12 > len(data):
            raise _damaged(data, in_pixels, _CUT_OFF)
        length, kind = _CHUNK_HEAD(data, at)
        begin, end = at + 8, at + 8 + length
        at, in_pixels = end + 4, in_pixels or kind == b"IDAT"
        if at > len(data):
            raise _damaged(data, in_pixels, _CUT_OFF)
        critical = not kind[0] & 0x20
        if critical and kind not in _CRITICAL:
            raise _damaged(data, in_pixels, "a chunk of unknown type cannot be passed over")
        if zlib.crc32(view[begin - 4:end]) == int.from_bytes(data[end:at], "big"):
            yield kind, begin, end
        elif critical:
            raise _damaged(data, in_pixels, f"the checksum of chunk {kind.decode('latin1')} is wrong")


def _header(data: bytes) -> _Header:
    """What a whole file says.  Raises InvalidArgumentError for a file that is cut off, damaged or no PNG."""
    if not data.startswith(SIGNATURE):
        raise _damaged(data, False, "the signature is wrong")
    chunks = _chunks(data)
    kind, begin, end = next(chunks)
    if kind != b"IHDR" or end - begin != 13:
        raise _damaged(data, False, "the first chunk is no header")
    width, height, depth, color = struct.unpack_from(">IIBB", data, begin)
    if not (0 < width <= _LONGEST_SIDE and 0 < height <= _LONGEST_SIDE) or depth not in _DEPTHS.get(color, ()):
        raise _damaged(data, False, f"there are no images of {width} x {height} pixels, depth {depth} and color type {color}")
    if width * height >= _MOST_PIXELS:
        raise invalid(f"PNG size too large for int: {width} by {height}")
    palette = transparent = b""
    gamma, is_srgb = 0, False
    first = last = 0                                            # where the chunks of pixels are, which follow one another
    for kind, begin, end in chunks:
        if kind == b"IDAT":
            if not first:
                first = last = begin - 8
            if last == begin - 8:
                last = end + 4
        elif first:                                             # what follows the pixels, says nothing of them
            continue
        elif kind == b"PLTE" and color == _PALETTE and not palette:
            palette = data[begin:end]
        elif kind == b"tRNS" and not transparent:
            fits = {_GRAY: end - begin == 2, _COLORS: end - begin == 6, _PALETTE: 0 < end - begin <= len(palette) // 3}
            transparent = data[begin:end] if fits.get(color) else b""
        elif kind == b"gAMA" and end - begin == 4 and not gamma:
            stated = int.from_bytes(data[begin:end], "big")
            gamma = stated if stated in _GAMMAS else 0
        elif kind == b"sRGB" and end - begin == 1:
            is_srgb = True
    if not first:
        raise _damaged(data, False, "there are no pixels")
    if color == _PALETTE and (not palette or len(palette) % 3 or len(palette) > 768):
        raise _damaged(data, False, f"the palette has {len(palette)} bytes")
    samples = data
    if (depth, color) in _READ_AS or first != _AFTER_HEADER or last + len(_END) != len(data):
        head = _chunk(b"IHDR", data[16:24] + bytes(_READ_AS.get((depth, color), (depth, color))) + data[26:29])
        samples = b"".join((SIGNATURE, head, data[first:last], _END))
    return _Header(width, height, depth, color, palette, transparent, _SRGB_GAMMA if is_srgb else gamma, samples)


# -- samples -----------------------------------------------------------------------------------------------------------

def _samples(header: _Header, deep: bool, size: int) -> np.ndarray:
    """The samples [height, width, channels] of the file, uint8 or uint16: grays over the whole range, palettes' indices."""
    try:
        found = _by_libspng(header.samples)
        if found is None:
            found = _by_pillow(header, deep)
    except ImportError:
        raise
    except Exception as error:
        raise invalid(f"Invalid PNG data, size {size} ({error})") from None
    found = found.reshape(header.height, header.width, -1)
    if header.color == _PALETTE:
        return found // np.uint8(255 // ((1 << header.depth) - 1))
    if header.color == _GRAY | _ALPHA:
        halves: np.ndarray = np.concatenate([found[..., :1] >> 8, found[..., :1] & 255], -1).astype(np.uint8) \
            if header.depth == 8 else np.ascontiguousarray(found).view(">u2").astype(np.uint16)
        return halves
    return found[..., :_CHANNELS[header.color]]                 # libspng adds alpha to samples of 16 bits


def _by_libspng(file: bytes) -> np.ndarray | None:
    try:
        import pyspng
    except ImportError:
        return None
    found: np.ndarray = pyspng.load(file)
    return found


def _by_pillow(header: _Header, deep: bool) -> np.ndarray:
    """As `_by_libspng`, but three and four colors of 16 bits lose the lower half of them; their gray differs by 1 or 2 then."""
    try:
        import PIL.Image
    except ImportError:
        raise ImportError(f"PNG images are decoded by pyspng or Pillow, neither of which is installed: {advice('image')}") from None
    if deep and header.depth == 16 and header.color & _COLORS:
        raise ImportError(f"PNG images with 16 bits a color are decoded by pyspng, which is not installed: {advice('image')}")
    image: Any = PIL.Image.open(io.BytesIO(header.samples), formats=("PNG",))
    if image.mode == "1":
        image = image.convert("L")
    return np.asarray(image).astype(np.uint16) if image.mode.startswith("I") else np.asarray(image)


# -- what they become --------------------------------------------------------------------------------------------------

def _transparency(header: _Header, samples: np.ndarray) -> np.ndarray:
    """The alpha [height, width, 1] that a tRNS chunk states: of each color of a palette, or 0 for one gray or color."""
    if header.color == _PALETTE:
        return np.frombuffer(header.transparent.ljust(256, b"\xff"), np.uint8)[samples]
    bits = (1 << header.depth) - 1
    key = np.array([value & bits for value in struct.unpack(f">{len(header.transparent) // 2}H", header.transparent)])
    if samples.dtype == np.uint8:                               # as the samples are: over all 8 bits, or 16 cut off
        key = key * (255 // bits) if bits <= 255 else key >> 8
    alpha: np.ndarray = np.where((samples == key).all(-1, keepdims=True), 0, np.iinfo(samples.dtype).max)
    return alpha.astype(samples.dtype)


def _gray(colors: np.ndarray, gamma: int, deep: bool) -> np.ndarray:
    """The gray [height, width, 1] of colors, as ``png_do_rgb_to_gray`` computes it: a color that is gray stays as it is."""
    wide = colors.dtype == np.uint16
    grays = colors[..., 0]
    if 20 * abs(gamma - _UNIT) > _UNIT and gamma:               # smaller differences from 1 do not count
        bits, dropped = 16 if wide else 8, 0
        if wide and not deep:                                   # libpng's tables for 8 bits of 16 have 11, and round grays
            dropped = 5
            grays = np.searchsorted(_FIRST_OF_11_BITS, grays >> dropped, "right") * 257
        inverse = _reciprocal(gamma)
        linear = _powers(inverse, bits, dropped)[colors >> dropped]
        lumas = _powers(_reciprocal(inverse), bits, dropped)[(linear @ _WEIGHTS + 16384) >> 15 + dropped]
    else:                                                       # libpng rounds 16 bits and cuts off 8
        lumas = (colors.astype(np.int64) @ _WEIGHTS + (16384 if wide else 0)) >> 15
    is_gray = (colors[..., 0] == colors[..., 1]) & (colors[..., 0] == colors[..., 2])
    return np.where(is_gray, grays, lumas)[..., None].astype(colors.dtype)


def _reciprocal(gamma: int) -> int:
    return int(_UNIT * _UNIT / gamma + 0.5)


@lru_cache(maxsize=8)
def _powers(gamma: int, bits: int, dropped: int) -> np.ndarray:
    """The values of so many bits, the lower ones dropped, to the power of `gamma` and rounded to all bits."""
    values = np.arange(1 << bits - dropped)
    return np.floor(((1 << bits) - 1) * (values / values[-1]) ** (gamma / _UNIT) + 0.5).astype(np.int64)
