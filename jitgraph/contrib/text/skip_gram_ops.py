"""Pairs of a token and one near it: the node."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import op
from jitgraph.graph import shape_rules
from jitgraph.ops.random.philox import Bits
from jitgraph.ops.random.simple_philox import SimplePhilox


def _shapes(c: Any) -> list:
    for index, shape in enumerate(c.shapes):
        shape_rules.with_rank(shape, 0 if index else 1)
    return [(None,), (None,)]


@op("SkipGramGenerateCandidates(input_tensor: T, min_skips: int32, max_skips: int32, start: int32, limit: int32, "
    "emit_self_as_target: bool; seed: int = 0, seed2: int = 0) -> tokens: T, labels: T", shape=_shapes, host=True, dynamic=True,
    stateful=True, stream=True, tested_in="tests/contrib/text: numbers of skips in their range, and a seed")
def skip_gram_generate_candidates(input_tensor, min_skips, max_skips, start, limit, emit_self_as_target, seed, seed2, stream):
    """Each of `limit` tokens of a vector from `start` on (a limit below zero: all), with those up to a number of skips away.

    The number is random, from `min_skips` to `max_skips`, drawn for each token.  `emit_self_as_target`: with itself too.  Raises
    InvalidArgumentError for numbers below zero and `min_skips` above `max_skips`.
    """
    least, greatest, begin = int(min_skips), int(max_skips), int(start)
    if least < 0 or greatest < 0:
        raise invalid("Both min_skips and max_skips must be >= 0.")
    if least > greatest:
        raise invalid("min_skips must be <= max_skips.")
    count = len(input_tensor)
    begin = max(begin, 0)
    end = count if limit < 0 else min(begin + int(limit), count)
    random = SimplePhilox(Bits.reserve(stream, seed, seed2, -(-(max(end - begin, 0) + 1) // 4)))
    pairs = []
    for token in range(begin, end):
        skips = least + random.below(greatest - least + 1)
        near = range(max(begin, token - skips), min(end, token + skips + 1))
        pairs += [(token, label) for label in near if emit_self_as_target or label != token]
    found = np.array(pairs, np.int64).reshape(-1, 2)
    return input_tensor[found[:, 0]], input_tensor[found[:, 1]]
