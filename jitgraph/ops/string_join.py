"""The string ops that checkpoints of several devices need for the names of their files."""
from __future__ import annotations

import re
from typing import Any

import numpy as np

from jitgraph.op import op


def _joined(c: Any) -> Any:
    """Scalars go with anything; the other shapes must be the same."""
    known = None
    for shape in c.shapes:
        if shape is None:
            return None
        if shape:
            if known is not None and len(known) != len(shape):
                raise ValueError("All inputs must have the same shape or be scalars")
            known = shape if known is None else tuple(b if a is None else a for a, b in zip(known, shape))
    return known or ()


@op('StringJoin(inputs: N*string; N: int >= 1, separator: string = "") -> output: string', shape=_joined)
def string_join(inputs, separator):
    """The strings of several tensors, joined element by element."""
    between = separator.encode() if isinstance(separator, str) else separator
    arrays = np.broadcast_arrays(*[np.asarray(x, object) for x in inputs])
    result = np.empty(arrays[0].shape, object)
    for index in np.ndindex(result.shape):
        result[index] = between.join(array[index] for array in arrays)
    return result


@op("StaticRegexFullMatch(input: string; pattern: string) -> output: bool", shape=lambda c: c.shapes[0])
def static_regex_full_match(input, pattern):
    """Whether each string matches the regular expression `pattern` as a whole."""
    matches = re.compile(pattern.encode() if isinstance(pattern, str) else pattern).fullmatch
    result = np.empty(np.shape(input), bool)
    for index in np.ndindex(result.shape):
        result[index] = matches(np.asarray(input, object)[index]) is not None
    return result
