"""``gather_tree``: the sequences that end in the last beams, read back through the parents of each step."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import op
from jitgraph.graph import dtypes, shape_rules
from jitgraph.ops.arrays.batch_gather import gather_nd
from jitgraph.ops.arrays.grids import sequence_mask
from jitgraph.ops.arrays.join import stack
from jitgraph.ops.arrays.layout import tile, transpose
from jitgraph.ops.arrays.searching import where
from jitgraph.ops.arrays.sequences import range as range_of
from jitgraph.ops.arrays.shape import expand_dims, reshape
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.reduce.reductions import reduce_max


def _gather_tree_samples(rng: Any, dtype: Any) -> list:
    shape = (4, 2, 3)
    return [[rng.integers(1, 5, shape).astype(np.int32), rng.integers(0, 3, shape).astype(np.int32),
             np.array(lengths, np.int32), np.int32(end)] for lengths, end in (([4, 2], 4), ([9, 0], 2))]


def _gather_tree_shape(c: Any) -> Any:
    steps = shape_rules.with_rank(c.shapes[0], 3, "step_ids")
    return shape_rules.merge(steps, shape_rules.with_rank(c.shapes[1], 3, "parent_ids"))


@op("GatherTree(step_ids: T, parent_ids: T, max_sequence_lengths: int32, end_token: T) -> beams: T", T=dtypes.TypeSet(dtypes.int32),
    shape=_gather_tree_shape, samples=_gather_tree_samples)
def _gather_tree(step_ids, parent_ids, max_sequence_lengths, end_token):
    """The sequences of the beams, `end_token` from the first one on and past the lengths."""
    steps, batch, width = step_ids.shape
    beams = np.full(step_ids.shape, end_token, step_ids.dtype)
    for b in range(batch):
        length = min(steps, int(max_sequence_lengths[b]))
        if length <= 0:
            continue
        beam = np.arange(width)
        for t in reversed(range(length)):
            beams[t, b] = step_ids[t, b, beam]
            beam = parent_ids[t, b, beam]
            wrong = (beam < 0) | (beam >= width)
            if t and wrong.any():
                raise invalid(f"Saw invalid parent id {beam[wrong][0]} at (batch, time, beam) == "
                                                  f"({b}, {t - 1}, {int(np.flatnonzero(wrong)[0])})")
        ended = np.cumsum(beams[:length, b] == end_token, 0) > 0
        beams[:length, b][ended] = end_token
    return beams


def gather_tree(step_ids: Any, parent_ids: Any, max_sequence_lengths: Any, end_token: Any, name: str | None = None) -> Any:
    """The sequences int32 [time, batch, beams] that end in the last beams.

    `step_ids`, `parent_ids` int32 [time, batch, beams]: what each beam drew, and from which beam it came.  Steps past
    `max_sequence_lengths` int32 [batch], and all after the first `end_token`, an int32 scalar, are `end_token`.  A run raises
    InvalidArgumentError for parents that are no beams.
    """
    return _gather_tree(step_ids, parent_ids, max_sequence_lengths, end_token, name=name)


def gather_tree_from_array(t: Any, parent_ids: Any, sequence_length: Any) -> Any:
    """`t` [time, batch, beams, ...] in the order of the sequences that end in the last beams; `sequence_length` [batch, beams]."""
    steps, batch_size, width = [size.value or shape_of(parent_ids)[k] for k, size in enumerate(parent_ids.shape.dims)]
    beams = tile(expand_dims(expand_dims(range_of(width), 0), 0), [steps, batch_size, 1])
    longest = cast(reduce_max(sequence_length, axis=1), dtypes.int32)
    in_order = gather_tree(step_ids=beams, parent_ids=parent_ids, max_sequence_lengths=longest, end_token=width + 1)
    inside = transpose(sequence_mask(sequence_length, maxlen=steps), perm=[2, 0, 1])
    in_order = where(inside, x=in_order, y=beams)
    times = tile(reshape(range_of(steps), [-1, 1, 1]), [1, batch_size, width])
    examples = transpose(tile(reshape(range_of(batch_size), [-1, 1, 1]), [1, steps, width]), perm=[1, 0, 2])
    positions = stack([times, examples, in_order], -1)
    shape = shape_of(t)
    return reshape(gather_nd(reshape(t, [steps, batch_size, width, -1]), positions), shape)
