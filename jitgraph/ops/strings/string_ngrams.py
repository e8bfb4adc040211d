"""StringNGrams: runs of neighbouring strings, joined."""
from __future__ import annotations

import numpy as np

from jitgraph.declare.op import op
from jitgraph.declare.samples import texts
from jitgraph.graph.dtypes import INDICES, int64


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
def string_ngrams(data, data_splits, separator, ngram_widths, left_pad, right_pad, pad_width, preserve_short_sequences):
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
