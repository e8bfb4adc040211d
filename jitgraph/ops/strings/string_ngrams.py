"""``tf.strings.ngrams``: runs of neighbouring strings, joined."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare.op import op
from jitgraph.declare.samples import texts
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.dtypes import INDICES, int64, string
from jitgraph.graph.scopes import name_scope
from jitgraph.ops.arrays.shape import reshape


def _of_row(row: list[bytes], separator: bytes, widths: list[int], left: bytes, right: bytes, pad: int, short: bool) -> list[bytes]:
    found: list[bytes] = []
    for width in widths:
        own = width - 1 if pad < 0 else min(pad, width - 1)
        padded = [left] * own + row + [right] * own if left or right else row
        found.extend(separator.join(padded[k:k + width]) for k in range(len(padded) - width + 1))
    if short and not found and row:
        pads = [left] * max(pad, 0), [right] * max(pad, 0)
        found.append(separator.join([*(pads[0] if left else []), *row, *(pads[1] if right else [])]))
    return found


def _ngram_samples(rng, dtype):
    attrs = {"separator": "|", "left_pad": "<", "right_pad": ">", "preserve_short_sequences": False}
    return [([texts(b"a", b"b", b"c", b"d"), np.array([0, 3, 3, 4], dtype)], {**attrs, "ngram_widths": widths, "pad_width": pad})
            for widths, pad in (([2], -1), ([1, 3], 0))]


@op("StringNGrams(data: string, data_splits: Tsplits; separator: string, ngram_widths: list(int) >= 0, left_pad: string, "
    "right_pad: string, pad_width: int, preserve_short_sequences: bool) -> ngrams: string, ngrams_splits: Tsplits",
    Tsplits=INDICES.with_default(int64), host=True, dynamic=True, shape=lambda c: [(None,), c.shapes[1]], samples=_ngram_samples)
def _string_ngrams(data, data_splits, separator, ngram_widths, left_pad, right_pad, pad_width, preserve_short_sequences):
    """The n-grams of each row ``data[data_splits[i]:data_splits[i + 1]]``, of every width in turn."""
    marks = [text.encode() if isinstance(text, str) else text for text in (separator, left_pad, right_pad)]
    flat: list[bytes] = []
    splits = [0]
    for begin, end in zip(data_splits[:-1], data_splits[1:]):
        flat += _of_row(data[begin:end].tolist(), marks[0], ngram_widths, marks[1], marks[2], pad_width, preserve_short_sequences)
        splits.append(len(flat))
    found = np.empty(len(flat), object)
    found[:] = flat
    return found, np.array(splits if len(data_splits) else [], data_splits.dtype)


def ngrams(data: Any, ngram_width: Any, separator: str = " ", pad_values: Any = None, padding_width: int | None = None,
           preserve_short_sequences: bool = False, name: str | None = None) -> Any:
    """The n-grams along the last axis of strings [..., n], joined by `separator`: [..., number of n-grams].

    `ngram_width`: a number, or several, whose n-grams follow each other.  `pad_values`: a string, or one for the left and one
    for the right, which is put before and after each row `padding_width` times (at most, and by default, width - 1).
    `preserve_short_sequences`: a row that is too short gives itself.  Raises TypeError or ValueError for other arguments.
    """
    widths = [ngram_width] if isinstance(ngram_width, int) else list(ngram_width)
    if not all(isinstance(width, int) for width in widths):
        raise TypeError(f"ngram_width must be an integer or a list of integers; got {ngram_width}")
    if any(width < 1 for width in widths):
        raise ValueError(f"All ngram_widths must be greater than 0. Got {ngram_width}")
    if padding_width is not None and (pad_values is None or padding_width < 1):
        raise ValueError("pad_values must be provided if padding_width is set, and padding_width must be greater than 0")
    left, right = ("", "") if pad_values is None else [pad_values] * 2 if isinstance(pad_values, (str, bytes)) else pad_values
    with name_scope(name, "StringNGrams", [data]):
        data = convert_to_tensor(data, string, name="data")
        rank, full = data.shape.ndims, data.shape.as_list() if data.shape.ndims is not None else None
        if not rank or full is None:
            raise ValueError("Data must have a non-zero rank")
        outer = full[:-1]
        rows = raw.Shape(data, out_type=int64)
        count = raw.Prod(rows[:-1], [0])
        splits = raw.Mul(raw.Range(raw.Cast(0, DstT=int64), count + 1, raw.Cast(1, DstT=int64)), rows[-1])
        found, _ = _string_ngrams(reshape(data, [-1]), splits, separator=separator, ngram_widths=widths, left_pad=left,
                                  right_pad=right, pad_width=-1 if padding_width is None else padding_width,
                                  preserve_short_sequences=preserve_short_sequences)
        result = reshape(found, raw.ConcatV2([rows[:-1], [-1]], 0))
        result.set_shape([*outer, None])
        return result
