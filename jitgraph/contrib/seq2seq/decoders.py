"""``Decoder`` and ``dynamic_decode``: what makes a sequence step by step, and the loop that asks it to."""
from __future__ import annotations

import abc
from typing import Any

from jitgraph.control.while_loops import while_loop
from jitgraph.graph import dtypes
from jitgraph.graph import structures as nest
from jitgraph.graph.constant_value import constant_value
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.shapes import TensorShape
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.fill import fill, zeros_like
from jitgraph.ops.arrays.searching import where
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.elementwise.compare import logical_not, logical_or
from jitgraph.ops.reduce.reductions import reduce_all
from jitgraph.rnn.dynamic import _transpose_batch_time
from jitgraph.rnn.sequences import read_variables_once
from jitgraph.rnn.states import zero_states
from jitgraph.tensor_arrays.tensor_array import TensorArray
from jitgraph.variables.variable_scopes import variable_scope


class Decoder(abc.ABC):
    """What ``dynamic_decode`` asks for each step.  A subclass overrides everything but ``finalize`` and ``tracks_own_finished``.

    Sizes are numbers, TensorShapes or structures of them, without the batch; dtypes stand in the same structure.
    """

    @property
    def batch_size(self) -> Any:
        """The number of sequences: a number or an int32 scalar."""
        raise NotImplementedError

    @property
    def output_size(self) -> Any:
        """The size of the outputs of a step."""
        raise NotImplementedError

    @property
    def output_dtype(self) -> Any:
        """The dtype of the outputs of a step."""
        raise NotImplementedError

    @abc.abstractmethod
    def initialize(self, name: str | None = None) -> tuple:
        """(which sequences are finished: bool [batch], first inputs, first state)"""

    @abc.abstractmethod
    def step(self, time: Any, inputs: Any, state: Any, name: str | None = None) -> tuple:
        """(outputs, next state, next inputs, which sequences are finished now) of the step `time`, an int32 scalar."""

    def finalize(self, outputs: Any, final_state: Any, sequence_lengths: Any) -> tuple:
        """(outputs, state) to hand out in place of the outputs of all steps [time, batch, ...] and the last state.

        NotImplementedError stands for these themselves.
        """
        raise NotImplementedError

    @property
    def tracks_own_finished(self) -> bool:
        """Whether a sequence that is finished may go on, as beams do that change places."""
        return False


def dynamic_decode(decoder: Decoder, output_time_major: bool = False, impute_finished: bool = False,
                   maximum_iterations: Any = None, parallel_iterations: int = 32, swap_memory: bool = False,
                   scope: Any = None, **kwargs: Any) -> tuple:
    """(outputs, final state, lengths int32 [batch]) of `decoder`, asked for steps until all sequences are finished.

    Outputs are [batch, time, ...], or time first with `output_time_major`.  `impute_finished` lets a finished sequence give
    zeros and keep its state.  `maximum_iterations`: an int32 scalar, the most steps.  `scope`: the variable scope, "decoder" by
    default.  `parallel_iterations` and `swap_memory` are kept for compatibility.  Raises TypeError for what is no Decoder,
    ValueError if `maximum_iterations` is no scalar.
    """
    if not isinstance(decoder, Decoder):
        raise TypeError(f"Expected decoder to be type Decoder, but saw: {type(decoder)}")
    with variable_scope(scope, "decoder") as entered:
        read_variables_once(entered)
        if maximum_iterations is not None:
            maximum_iterations = convert_to_tensor(maximum_iterations, dtype=dtypes.int32, name="maximum_iterations")
            if maximum_iterations.shape.ndims != 0:
                raise ValueError("maximum_iterations must be a scalar")
        finished, inputs, state = decoder.initialize()
        nothing = nest.map_structure(lambda size, dtype: zero_states(size, decoder.batch_size, dtype),
                                     decoder.output_size, decoder.output_dtype)
        if maximum_iterations is not None:
            finished = logical_or(finished, maximum_iterations <= 0)
        lengths = zeros_like(finished, dtype=dtypes.int32)
        begin = constant(0, dtype=dtypes.int32)
        written = nest.map_structure(
            lambda size, dtype: TensorArray(dtype, 0, dynamic_size=True, element_shape=_element_shape(decoder.batch_size, size)),
            decoder.output_size, decoder.output_dtype)
        loop = _Loop(decoder, nothing, impute_finished)
        _, written, state, _, _, lengths = while_loop(
            loop.goes_on, loop.step, (begin, written, state, inputs, finished, lengths), None, parallel_iterations,
            swap_memory=swap_memory, maximum_iterations=maximum_iterations)
        outputs = nest.map_structure(lambda array: array.stack(), written)
        try:
            outputs, state = decoder.finalize(outputs, state, lengths)
        except NotImplementedError:
            pass
        if not output_time_major:
            outputs = nest.map_structure(_transpose_batch_time, outputs)
    return outputs, state, lengths


def _element_shape(batch_size: Any, size: Any) -> TensorShape | None:
    if not isinstance(size, TensorShape) or size.ndims == 0:
        return None
    known = constant_value(convert_to_tensor(batch_size, name="batch_size"))
    return TensorShape([known]).concatenate(size)


class _Loop:
    """The condition and the body of the loop over steps."""

    def __init__(self, decoder: Decoder, nothing: Any, impute_finished: bool):
        self.decoder, self.nothing, self.impute_finished = decoder, nothing, impute_finished

    def goes_on(self, time: Any, written: Any, state: Any, inputs: Any, finished: Any, lengths: Any) -> Any:
        return logical_not(reduce_all(finished))

    def step(self, time: Any, written: Any, state: Any, inputs: Any, finished: Any, lengths: Any) -> tuple:
        outputs, following, next_inputs, now_finished = self.decoder.step(time, inputs, state)
        if not self.decoder.tracks_own_finished:
            now_finished = logical_or(now_finished, finished)
        lengths = where(logical_not(finished), fill(shape_of(lengths), time + 1), lengths)
        for before, after in ((state, following), (written, outputs), (inputs, next_inputs)):
            nest.assert_same_structure(before, after)
        if self.impute_finished:
            outputs = nest.map_structure(lambda output, zero: where(finished, zero, output), outputs, self.nothing)

            def kept(new: Any, old: Any) -> Any:
                if isinstance(old, TensorArray):
                    return new
                new.set_shape(old.shape)
                return new if new.shape.ndims == 0 else where(finished, old, new)

            following = nest.map_structure(kept, following, state)
        written = nest.map_structure(lambda array, output: array.write(time, output), written, outputs)
        return time + 1, written, following, next_inputs, now_finished, lengths
