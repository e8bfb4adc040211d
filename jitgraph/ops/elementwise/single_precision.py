"""sinf, cosf and logf as the C library computes them, on arrays.

Seeded programs reproduce normal random numbers bit for bit only if these agree with glibc, whose single-precision
functions evaluate short polynomials in double precision and round once at the end.  The method and its coefficients are
those of Arm's Optimized Routines (MIT licence), from which glibc took them.
"""
from __future__ import annotations

import numpy as np

_HALF_PI = float.fromhex("0x1.921FB54442D18p0")
_TWO_OVER_PI = float.fromhex("0x1.45F306DC9C883p-1")
_COS = [float.fromhex(c) for c in ("0x1p0", "-0x1.ffffffd0c621cp-2", "0x1.55553e1068f19p-5", "-0x1.6c087e89a359dp-10",
                                   "0x1.99343027bf8c3p-16")]
_SIN = [float.fromhex(c) for c in ("-0x1.555545995a603p-3", "0x1.1107605230bc4p-7", "-0x1.994eb3774cf24p-13")]

_LN2 = float.fromhex("0x1.62e42fefa39efp-1")
_LOG = [float.fromhex(c) for c in ("-0x1.00ea348b88334p-2", "0x1.5575b0be00b6ap-2", "-0x1.ffffef20a4123p-2")]
_LOG_TABLE = np.array([[float.fromhex(c) for c in row.split()] for row in """
    0x1.661ec79f8f3bep+0 -0x1.57bf7808caadep-2
    0x1.571ed4aaf883dp+0 -0x1.2bef0a7c06ddbp-2
    0x1.49539f0f010bp+0 -0x1.01eae7f513a67p-2
    0x1.3c995b0b80385p+0 -0x1.b31d8a68224e9p-3
    0x1.30d190c8864a5p+0 -0x1.6574f0ac07758p-3
    0x1.25e227b0b8eap+0 -0x1.1aa2bc79c81p-3
    0x1.1bb4a4a1a343fp+0 -0x1.a4e76ce8c0e5ep-4
    0x1.12358f08ae5bap+0 -0x1.1973c5a611cccp-4
    0x1.0953f419900a7p+0 -0x1.252f438e10c1ep-5
    0x1p+0 0x0p+0
    0x1.e608cfd9a47acp-1 0x1.aa5aa5df25984p-5
    0x1.ca4b31f026aap-1 0x1.c5e53aa362eb4p-4
    0x1.b2036576afce6p-1 0x1.526e57720db08p-3
    0x1.9c2d163a1aa2dp-1 0x1.bc2860d22477p-3
    0x1.886e6037841edp-1 0x1.1058bc8a07ee1p-2
    0x1.767dcf5534862p-1 0x1.4043057b6ee09p-2
""".strip().splitlines()])
_LOG_INVERSE, _LOG_VALUE = np.ascontiguousarray(_LOG_TABLE[:, 0]), np.ascontiguousarray(_LOG_TABLE[:, 1])
_CHUNK = 1 << 14

CONSTANTS = np.concatenate([_LOG_TABLE.reshape(-1), [_LN2], _LOG, [_HALF_PI, _TWO_OVER_PI], _SIN, _COS])
"""All of them, for kernels: [0:32] the table, 32 ln 2, [33:36] log, 36 pi/2, 37 2/pi, [38:41] sine, [41:46] cosine."""


def log(x: np.ndarray) -> np.ndarray:
    """The natural logarithm of positive normal float32."""
    out = np.empty(x.shape, np.float32)
    for begin in range(0, len(x), _CHUNK):
        out[begin:begin + _CHUNK] = _log(x[begin:begin + _CHUNK])
    return out


def _log(x: np.ndarray) -> np.ndarray:
    bits = x.view(np.int32)
    above = bits - np.int32(0x3F330000)
    index = (above >> 19) & 15
    exponent = above >> 23
    mantissa = (bits - (exponent << 23)).view(np.float32).astype(np.float64)
    r = mantissa * _LOG_INVERSE[index] - 1.0
    base = _LOG_VALUE[index] + exponent * _LN2
    square = r * r
    y = _LOG[1] * r + _LOG[2]
    y = _LOG[0] * square + y
    return (y * square + (base + r)).astype(np.float32)


def sin_cos(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sine and cosine of float32 in [0, 120)."""
    sine, cosine = np.empty(x.shape, np.float32), np.empty(x.shape, np.float32)
    for begin in range(0, len(x), _CHUNK):
        part = slice(begin, begin + _CHUNK)
        sine[part], cosine[part] = _sin_cos(x[part])
    return sine, cosine


def _sin_cos(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    wide = x.astype(np.float64)
    quadrant = np.floor(wide * _TWO_OVER_PI + 0.5)
    y = wide - quadrant * _HALF_PI
    quadrant = quadrant.astype(np.int32)
    square = y * y
    cube = y * square
    s = (y + cube * _SIN[0]) + (cube * square) * (_SIN[1] + square * _SIN[2])
    fourth = square * square
    c = ((_COS[0] + square * _COS[1]) + fourth * _COS[2]) + (fourth * square) * (_COS[3] + square * _COS[4])
    s, c = s.astype(np.float32), c.astype(np.float32)
    tiny = x < np.float32(2.0 ** -12)
    np.copyto(s, x, where=tiny)
    np.copyto(c, np.float32(1), where=tiny)
    odd = (quadrant & 1).astype(bool)
    sine, cosine = np.where(odd, c, s), np.where(odd, s, c)
    np.negative(sine, out=sine, where=(quadrant & 2).astype(bool))
    np.negative(cosine, out=cosine, where=((quadrant + 1) & 2).astype(bool))
    return sine, cosine
