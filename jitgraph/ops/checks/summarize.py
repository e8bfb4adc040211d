"""Values as text, the way TensorFlow prints them: ``[1 2 3...]`` in tf.Print and assertions, ``[1 2 ... 8 9]`` in tf.print."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

_ESCAPES = {0x0A: "\\n", 0x0D: "\\r", 0x09: "\\t", 0x22: '\\"', 0x27: "\\'", 0x5C: "\\\\"}


def escaped(text: bytes | str) -> str:
    """Bytes as a C string literal writes them: other than printable ASCII in octal."""
    data = text.encode() if isinstance(text, str) else text
    return "".join(_ESCAPES.get(c) or (chr(c) if 0x20 <= c < 0x7F else f"\\{c:03o}") for c in data)


def _float(value: Any) -> str:
    """As few digits as give the number back, of a float in single precision."""
    if np.isnan(value):
        return "nan"
    short = f"{value:.6g}"
    return short if np.float32(short) == value else f"{value:.9g}"


def _double(value: Any) -> str:
    if np.isnan(value):
        return "nan"
    short = f"{value:.15g}"
    return short if float(short) == value else f"{value:.17g}"


def _complex(value: Any) -> str:
    return f"({_double(value.real)},{_double(value.imag)})"


def _writer(dtype: Any, quoted: bool) -> Callable[[Any], str]:
    """How elements of a NumPy dtype are written."""
    dtype = np.dtype(dtype)
    if dtype == object:
        return (lambda value: f'"{escaped(value)}"') if quoted else escaped
    if dtype.kind == "b":
        return lambda value: "1" if value else "0"
    if dtype.kind == "c":
        return _complex
    if dtype.kind in "iu":
        return str
    return _double if dtype.itemsize == 8 else lambda value: _float(np.float32(value))


def summary(array: np.ndarray, count: int) -> str:
    """The first `count` elements (all if negative), in brackets by dimension: ``1 2 3...``, ``[1 2][3...]...``."""
    count = array.size if count < 0 else count
    write = _writer(array.dtype, quoted=False)
    if array.ndim == 0:
        return write(array[()]) if count else "..."
    if not array.size:
        return ""
    left = count
    text: list[str] = []

    def walk(part: np.ndarray, depth: int) -> None:
        nonlocal left
        if part.ndim == 1:
            for i, value in enumerate(part):
                if not left:
                    text.append("..." if depth else "")
                    return
                text.append((" " if i else "") + write(value))
                left -= 1
            return
        for inner in part:
            if not left:
                return
            text.append("[")
            walk(inner, depth + 1)
            text.append("]")

    walk(array, 0)
    return "".join(text) + ("..." if array.size > count else "")


def edges(array: np.ndarray, count: int) -> str:
    """The array in NumPy's layout with the first and last `count` items (all if negative) of each dimension."""
    if array.ndim == 0 and not count:
        return "..."
    if array.ndim and len(array) and (not count or not array.size):     # nothing of it is written
        return "[" + ("\n" * (array.ndim - 1)) + " ...]"
    write = _writer(array.dtype, quoted=True)

    def walk(part: np.ndarray, depth: int) -> str:
        if part.ndim == 0:
            return write(part[()])
        space = " " if part.ndim == 1 else "\n" * (part.ndim - 1) + " " * (depth + 1)
        if count < 0 or len(part) <= 2 * count:
            items = [walk(inner, depth + 1) for inner in _parts(part)]
        else:
            items = [walk(inner, depth + 1) for inner in _parts(part[:count])]
            items += ["...", *(walk(inner, depth + 1) for inner in _parts(part[len(part) - count:]))]
        return "[" + space.join(items) + "]"

    return walk(array, 0)


def _parts(array: np.ndarray) -> list[np.ndarray]:
    """The items of the first dimension, as arrays even where they are scalars."""
    return [array[i:i + 1].reshape(array.shape[1:]) for i in range(len(array))]
