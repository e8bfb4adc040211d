"""Helpers that now and then put what was drawn in the place of the true inputs (Bengio and others, 2015)."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.contrib.seq2seq.helpers import TrainingHelper, lookup_in, steps_of
from jitgraph.contrib.seq2seq.sampling import bernoulli_sample, categorical_sample
from jitgraph.control.conditionals import cond
from jitgraph.graph import dtypes
from jitgraph.graph import structures as nest
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import name_scope
from jitgraph.ops.arrays.batch_gather import gather_nd
from jitgraph.ops.arrays.fill import fill
from jitgraph.ops.arrays.gather import scatter_nd
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.searching import where
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.compare import logical_not, logical_or
from jitgraph.ops.reduce.reductions import reduce_all, reduce_any
from jitgraph.rnn.dynamic import _transpose_batch_time


def _probability(value: Any) -> Any:
    value = convert_to_tensor(value, name="sampling_probability")
    if value.shape.ndims not in (0, 1):
        raise ValueError(f"sampling_probability must be either a scalar or a vector. saw shape: {value.shape}")
    return value


def _positions(mask: Any) -> Any:
    return cast(where(mask), dtypes.int32)


def _merged(true_inputs: Any, is_drawn: Any, is_true: Any, drawn_inputs: Callable) -> Any:
    """`true_inputs`, but where `is_drawn` what `drawn_inputs` makes of these positions."""
    drawn, kept = _positions(is_drawn), _positions(is_true)
    shape = shape_of(true_inputs)
    taken = gather_nd(true_inputs, kept)
    return scatter_nd(drawn, drawn_inputs(drawn), shape) + scatter_nd(kept, taken, shape)


class ScheduledEmbeddingTrainingHelper(TrainingHelper):
    """A ``TrainingHelper`` that with `sampling_probability`, a scalar or [batch], draws a class and looks the next inputs up by it.

    `embedding`: a tensor [classes, size], or a function of ids.  Samples are -1 where nothing was drawn.  `seed` is that of the
    classes, `scheduling_seed` that of the choice.  Raises ValueError for other ranks.
    """

    def __init__(self, inputs: Any, sequence_length: Any, embedding: Any, sampling_probability: Any, time_major: bool = False,
                 seed: int | None = None, scheduling_seed: int | None = None, name: str | None = None):
        with name_scope(name, "ScheduledEmbeddingSamplingWrapper", [embedding, sampling_probability]):
            self._embedding_fn = lookup_in(embedding)
            self._sampling_probability = _probability(sampling_probability)
            self._seed = seed
            self._scheduling_seed = scheduling_seed
            super().__init__(inputs=inputs, sequence_length=sequence_length, time_major=time_major, name=name)

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:  # type: ignore[override]
        """Classes drawn from `outputs`, or -1."""
        with name_scope(name, "ScheduledEmbeddingTrainingHelperSample", [time, outputs, state]):
            chosen = bernoulli_sample(probs=self._sampling_probability, dtype=dtypes.bool_, sample_shape=self.batch_size,
                                      seed=self._scheduling_seed)
            return where(chosen, categorical_sample(logits=outputs, seed=self._seed), fill([self.batch_size], -1))

    def next_inputs(self, time: Any, outputs: Any, state: Any, sample_ids: Any,  # type: ignore[override]
                    name: str | None = None) -> tuple:
        """(which sequences are finished, the inputs of the next step, `state`)"""
        with name_scope(name, "ScheduledEmbeddingTrainingHelperNextInputs", [time, outputs, state, sample_ids]):
            finished, true_inputs, state = super().next_inputs(time=time, outputs=outputs, state=state, name=name)

            def sampled() -> Any:
                return _merged(true_inputs, sample_ids > -1, sample_ids <= -1,
                               lambda rows: self._embedding_fn(gather_nd(sample_ids, rows)))

            return finished, cond(reduce_all(finished), lambda: true_inputs, sampled), state


class ScheduledOutputTrainingHelper(TrainingHelper):
    """A ``TrainingHelper`` that with `sampling_probability`, a scalar or [batch], takes the outputs as the next inputs.

    `next_inputs_fn`: a function of the outputs that makes inputs of them.  `auxiliary_inputs`, shaped as `inputs`: what stands
    beside all inputs, true ones and outputs.  Samples are 1 where outputs were taken.  Raises ValueError for other ranks.
    """

    def __init__(self, inputs: Any, sequence_length: Any, sampling_probability: Any, time_major: bool = False,
                 seed: int | None = None, next_inputs_fn: Callable | None = None, auxiliary_inputs: Any = None,
                 name: str | None = None):
        with name_scope(name, "ScheduledOutputTrainingHelper", [inputs, auxiliary_inputs, sampling_probability]):
            self._sampling_probability = _probability(sampling_probability)
            self._auxiliary_steps = None
            if auxiliary_inputs is not None:
                inputs = convert_to_tensor(inputs, name="inputs")
                beside = convert_to_tensor(auxiliary_inputs, name="auxiliary_inputs")
                inputs = nest.map_structure(lambda one, other: concat((one, other), -1), inputs, beside)
                if not time_major:
                    beside = nest.map_structure(_transpose_batch_time, beside)
                self._auxiliary_steps = nest.map_structure(steps_of, beside)
            self._seed = seed
            self._next_inputs_fn = next_inputs_fn
            super().__init__(inputs=inputs, sequence_length=sequence_length, time_major=time_major, name=name)

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:  # type: ignore[override]
        """1 where the outputs are to be taken, else 0."""
        with name_scope(name, "ScheduledOutputTrainingHelperSample", [time, outputs, state]):
            return bernoulli_sample(probs=self._sampling_probability, sample_shape=self.batch_size, seed=self._seed)

    def _with_auxiliary(self, outputs: Any, time: Any, rows: Any = None) -> Any:
        if self._auxiliary_steps is None:
            return outputs
        following = time + 1
        beside = nest.map_structure(lambda steps: steps.read(following), self._auxiliary_steps)
        if rows is not None:
            beside = gather_nd(beside, rows)
        return nest.map_structure(lambda one, other: concat((one, other), -1), outputs, beside)

    def next_inputs(self, time: Any, outputs: Any, state: Any, sample_ids: Any,  # type: ignore[override]
                    name: str | None = None) -> tuple:
        """(which sequences are finished, the inputs of the next step, `state`)"""
        with name_scope(name, "ScheduledOutputTrainingHelperNextInputs", [time, outputs, state, sample_ids]):
            finished, true_inputs, state = super().next_inputs(time=time, outputs=outputs, state=state, name=name)
            chosen = cast(sample_ids, dtypes.bool_)

            def sampled() -> Any:
                made = self._next_inputs_fn
                if made is None:
                    return where(chosen, self._with_auxiliary(outputs, time), true_inputs)
                return _merged(true_inputs, chosen, logical_not(chosen),
                               lambda rows: self._with_auxiliary(made(gather_nd(outputs, rows)), time, rows))

            nothing = logical_or(reduce_all(finished), logical_not(reduce_any(chosen)))
            return finished, cond(nothing, lambda: true_inputs, sampled), state
