"""The recursions over a chain as cells: sums forward, best tags forward, tags backward."""
from __future__ import annotations

from typing import Any

from jitgraph.graph import dtypes
from jitgraph.ops.arrays.batch_gather import gather_nd
from jitgraph.ops.arrays.join import stack
from jitgraph.ops.arrays.sequences import range as range_of
from jitgraph.ops.arrays.shape import expand_dims, squeeze
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.reduce.reductions import argmax, reduce_logsumexp, reduce_max
from jitgraph.rnn.cells import RNNCell


class _OverTags(RNNCell):
    """A cell whose states and outputs are a number for each tag."""

    def __init__(self, transition_params: Any):
        super().__init__()
        self._transition_params = expand_dims(transition_params, 0)
        self._num_tags = transition_params.shape[0].value

    @property
    def state_size(self) -> Any:
        """The number of tags."""
        return self._num_tags

    @property
    def output_size(self) -> Any:
        """The number of tags."""
        return self._num_tags

    def _scores(self, state: Any) -> Any:
        return expand_dims(state, 2) + self._transition_params


class CrfForwardRnnCell(_OverTags):
    """alpha'[j] = input[j] + logsumexp over i of (alpha[i] + transition[i, j]): output and next state."""

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> tuple:  # type: ignore[override]
        """(alphas, alphas), both [batch, tags]."""
        alphas = inputs + reduce_logsumexp(self._scores(state), [1])
        return alphas, alphas


class CrfDecodeForwardRnnCell(_OverTags):
    """The best tag before each tag, output, and the best score up to each tag, next state."""

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> tuple:  # type: ignore[override]
        """(best tags before, int32 [batch, tags]; best scores [batch, tags])"""
        scores = self._scores(state)
        following = inputs + reduce_max(scores, [1])
        return cast(argmax(scores, 1), dtype=dtypes.int32), following


class CrfDecodeBackwardRnnCell(RNNCell):
    """Reads the tags from the last to the first: inputs are the best tags before, the state is the tag."""

    def __init__(self, num_tags: int):
        super().__init__()
        self._num_tags = num_tags

    @property
    def state_size(self) -> Any:
        """1."""
        return 1

    @property
    def output_size(self) -> Any:
        """1."""
        return 1

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> tuple:  # type: ignore[override]
        """(tags before, tags before), both int32 [batch, 1]."""
        state = squeeze(state, axis=[1])
        rows = range_of(shape_of(inputs)[0])
        tags = expand_dims(gather_nd(inputs, stack([rows, state], axis=1)), axis=-1)
        return tags, tags
