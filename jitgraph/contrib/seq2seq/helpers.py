"""Helpers of ``BasicDecoder``: where the inputs of a step come from, given sequences or what was drawn before."""
from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any

from jitgraph.contrib.seq2seq.sampling import categorical_sample
from jitgraph.control.conditionals import cond
from jitgraph.graph import dtypes
from jitgraph.graph import structures as nest
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.shapes import TensorShape
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.fill import zeros_like
from jitgraph.ops.arrays.layout import tile
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.arrays.shape import size as size_of
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.compare import equal
from jitgraph.ops.nn.embedding import embedding_lookup
from jitgraph.ops.reduce.reductions import argmax, reduce_all
from jitgraph.rnn.dynamic import _transpose_batch_time
from jitgraph.tensor_arrays.tensor_array import TensorArray


class Helper(abc.ABC):
    """Chooses the inputs of each step.  A subclass overrides everything."""

    @property
    @abc.abstractmethod
    def batch_size(self) -> Any:
        """The number of sequences, an int32 scalar."""

    @property
    @abc.abstractmethod
    def sample_ids_shape(self) -> Any:
        """The TensorShape of what ``sample`` gives, without the batch."""

    @property
    @abc.abstractmethod
    def sample_ids_dtype(self) -> Any:
        """The dtype of what ``sample`` gives."""

    @abc.abstractmethod
    def initialize(self, name: str | None = None) -> tuple:
        """(which sequences are finished, first inputs)"""

    @abc.abstractmethod
    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        """What is drawn from the outputs of a step."""

    @abc.abstractmethod
    def next_inputs(self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None) -> tuple:
        """(which sequences are finished, next inputs, next state)"""


class CustomHelper(Helper):
    """A helper made of functions: ``initialize_fn()``, ``sample_fn(time, outputs, state)`` and ``next_inputs_fn(time, outputs,
    state, sample_ids)``.  Samples are int32 scalars unless told otherwise.
    """

    def __init__(self, initialize_fn: Callable, sample_fn: Callable, next_inputs_fn: Callable, sample_ids_shape: Any = None,
                 sample_ids_dtype: Any = None):
        self._initialize_fn = initialize_fn
        self._sample_fn = sample_fn
        self._next_inputs_fn = next_inputs_fn
        self._batch_size: Any = None
        self._sample_ids_shape = TensorShape(sample_ids_shape or [])
        self._sample_ids_dtype = sample_ids_dtype or dtypes.int32

    @property
    def batch_size(self) -> Any:
        """The number of sequences.  Raises ValueError before ``initialize``."""
        if self._batch_size is None:
            raise ValueError("batch_size accessed before initialize was called")
        return self._batch_size

    @property
    def sample_ids_shape(self) -> Any:
        """The shape of a sample."""
        return self._sample_ids_shape

    @property
    def sample_ids_dtype(self) -> Any:
        """The dtype of samples."""
        return self._sample_ids_dtype

    def initialize(self, name: str | None = None) -> tuple:
        """What ``initialize_fn`` gives."""
        with name_scope(name, f"{type(self).__name__}Initialize"):
            finished, inputs = self._initialize_fn()
            if self._batch_size is None:
                self._batch_size = size_of(finished)
        return finished, inputs

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        """What ``sample_fn`` gives."""
        with name_scope(name, f"{type(self).__name__}Sample", (time, outputs, state)):
            return self._sample_fn(time=time, outputs=outputs, state=state)

    def next_inputs(self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None) -> tuple:
        """What ``next_inputs_fn`` gives."""
        with name_scope(name, f"{type(self).__name__}NextInputs", (time, outputs, state)):
            return self._next_inputs_fn(time=time, outputs=outputs, state=state, sample_ids=sample_ids)


class _IdHelper(Helper):
    """A helper whose samples are int32 scalars."""

    _batch_size: Any

    @property
    def batch_size(self) -> Any:
        """The number of sequences, an int32 scalar."""
        return self._batch_size

    @property
    def sample_ids_shape(self) -> Any:
        """The shape of a scalar."""
        return TensorShape([])

    @property
    def sample_ids_dtype(self) -> Any:
        """int32."""
        return dtypes.int32


def steps_of(inputs: Any) -> TensorArray:
    """A TensorArray of the steps of `inputs` [time, ...]."""
    return TensorArray(inputs.dtype, shape_of(inputs)[0], element_shape=inputs.shape[1:]).unstack(inputs)


class TrainingHelper(_IdHelper):
    """Reads the inputs of the steps from `inputs` [batch, time, ...] (time first if `time_major`), or a structure of them.

    `sequence_length` int32 [batch]: after as many steps a sequence is finished.  Samples are the argmax of the outputs.  Raises
    ValueError if the lengths are no vector.
    """

    def __init__(self, inputs: Any, sequence_length: Any, time_major: bool = False, name: str | None = None):
        with name_scope(name, "TrainingHelper", [inputs, sequence_length]):
            inputs = convert_to_tensor(inputs, name="inputs")
            self._inputs = inputs
            if not time_major:
                inputs = nest.map_structure(_transpose_batch_time, inputs)
            self._steps = nest.map_structure(steps_of, inputs)
            self._sequence_length = convert_to_tensor(sequence_length, name="sequence_length")
            if self._sequence_length.shape.ndims != 1:
                raise ValueError("Expected sequence_length to be a vector, but received shape: "
                                 f"{self._sequence_length.shape}")
            self._zero_inputs = nest.map_structure(lambda one: zeros_like(one[0, :]), inputs)
            self._batch_size = size_of(sequence_length)

    @property
    def inputs(self) -> Any:
        """The inputs of all steps."""
        return self._inputs

    @property
    def sequence_length(self) -> Any:
        """The lengths of the sequences."""
        return self._sequence_length

    def _read(self, finished: Any, time: Any) -> Any:
        """The inputs of the step `time`, zeros where all sequences are finished."""
        return cond(reduce_all(finished), lambda: self._zero_inputs,
                    lambda: nest.map_structure(lambda steps: steps.read(time), self._steps))

    def initialize(self, name: str | None = None) -> tuple:
        """(which sequences have no steps, the inputs of the first)"""
        with name_scope(name, "TrainingHelperInitialize"):
            finished = equal(0, self._sequence_length)
            return finished, self._read(finished, 0)

    def sample(self, time: Any, outputs: Any, name: str | None = None, **unused_kwargs: Any) -> Any:  # type: ignore[override]
        """The argmax of `outputs`."""
        with name_scope(name, "TrainingHelperSample", [time, outputs]):
            return cast(argmax(outputs, axis=-1), dtypes.int32)

    def next_inputs(self, time: Any, outputs: Any, state: Any, name: str | None = None,  # type: ignore[override]
                    **unused_kwargs: Any) -> tuple:
        """(which sequences are finished, the inputs of the next step, `state`)"""
        with name_scope(name, "TrainingHelperNextInputs", [time, outputs, state]):
            following = time + 1
            finished = following >= self._sequence_length
            return finished, self._read(finished, following), state


def lookup_in(embedding: Any) -> Callable:
    """`embedding` if it is a function of ids, else the look-up in that tensor."""
    return embedding if callable(embedding) else lambda ids: embedding_lookup(embedding, ids)


class GreedyEmbeddingHelper(_IdHelper):
    """Takes the argmax of the outputs, and looks the next inputs up by it.

    `embedding`: a tensor [classes, size], or a function of ids [batch].  `start_tokens` int32 [batch]; `end_token`, an int32
    scalar, finishes a sequence.  Raises ValueError for other ranks.
    """

    def __init__(self, embedding: Any, start_tokens: Any, end_token: Any):
        self._embedding_fn = lookup_in(embedding)
        self._start_tokens = convert_to_tensor(start_tokens, dtype=dtypes.int32, name="start_tokens")
        self._end_token = convert_to_tensor(end_token, dtype=dtypes.int32, name="end_token")
        if self._start_tokens.shape.ndims != 1:
            raise ValueError("start_tokens must be a vector")
        self._batch_size = size_of(start_tokens)
        if self._end_token.shape.ndims != 0:
            raise ValueError("end_token must be a scalar")
        self._start_inputs = self._embedding_fn(self._start_tokens)

    def initialize(self, name: str | None = None) -> tuple:
        """(all False, the embedded start tokens)"""
        return tile([False], [self._batch_size]), self._start_inputs

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        """The argmax of `outputs`.  Raises TypeError if it is no tensor."""
        _check_is_tensor(outputs)
        return argmax(outputs, axis=-1, output_type=dtypes.int32)

    def next_inputs(self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None) -> tuple:
        """(which drew the end token, the embedded samples, `state`)"""
        finished = equal(sample_ids, self._end_token)
        inputs = cond(reduce_all(finished), lambda: self._start_inputs, lambda: self._embedding_fn(sample_ids))
        return finished, inputs, state


def _check_is_tensor(outputs: Any) -> None:
    if not isinstance(outputs, Tensor):
        raise TypeError(f"Expected outputs to be a single Tensor, got: {type(outputs)}")


class SampleEmbeddingHelper(GreedyEmbeddingHelper):
    """A ``GreedyEmbeddingHelper`` that draws from the outputs, logits divided by `softmax_temperature` (above 0; None is 1)."""

    def __init__(self, embedding: Any, start_tokens: Any, end_token: Any, softmax_temperature: Any = None,
                 seed: int | None = None):
        super().__init__(embedding, start_tokens, end_token)
        self._softmax_temperature = softmax_temperature
        self._seed = seed

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        """Classes drawn from `outputs`.  Raises TypeError if it is no tensor."""
        _check_is_tensor(outputs)
        logits = outputs if self._softmax_temperature is None else outputs / self._softmax_temperature
        return categorical_sample(logits=logits, seed=self._seed)


class InferenceHelper(_IdHelper):
    """Draws by ``sample_fn(outputs)``; ``end_fn(samples)`` says which sequences are finished, ``next_inputs_fn(samples)`` gives
    the next inputs, by default the samples themselves.  `sample_shape` is without the batch.
    """

    def __init__(self, sample_fn: Callable, sample_shape: Any, sample_dtype: Any, start_inputs: Any, end_fn: Callable,
                 next_inputs_fn: Callable | None = None):
        self._sample_fn = sample_fn
        self._end_fn = end_fn
        self._sample_shape = TensorShape(sample_shape)
        self._sample_dtype = sample_dtype
        self._next_inputs_fn = next_inputs_fn
        self._batch_size = shape_of(start_inputs)[0]
        self._start_inputs = convert_to_tensor(start_inputs, name="start_inputs")

    @property
    def sample_ids_shape(self) -> Any:
        """The shape of a sample."""
        return self._sample_shape

    @property
    def sample_ids_dtype(self) -> Any:
        """The dtype of samples."""
        return self._sample_dtype

    def initialize(self, name: str | None = None) -> tuple:
        """(all False, the start inputs)"""
        return tile([False], [self._batch_size]), self._start_inputs

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        """What ``sample_fn`` gives."""
        return self._sample_fn(outputs)

    def next_inputs(self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None) -> tuple:
        """(what ``end_fn`` gives, the next inputs, `state`)"""
        inputs = sample_ids if self._next_inputs_fn is None else self._next_inputs_fn(sample_ids)
        return self._end_fn(sample_ids), inputs, state
