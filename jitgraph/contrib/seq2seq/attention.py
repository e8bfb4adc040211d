"""Attention: scores of a query with what an encoder remembers (Luong and others, 2015; Bahdanau and others, 2015)."""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph.graph import dtypes
from jitgraph.graph import structures as nest
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.dtypes import as_dtype
from jitgraph.graph.scopes import control_dependencies, name_scope
from jitgraph.layers.base import Layer
from jitgraph.layers.core import Dense
from jitgraph.ops.arrays.fill import one_hot, ones, ones_like
from jitgraph.ops.arrays.grids import sequence_mask
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.searching import where
from jitgraph.ops.arrays.shape import expand_dims, reshape, squeeze
from jitgraph.ops.arrays.shape import rank as rank_of
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.checks.check_values import assert_positive
from jitgraph.ops.elementwise.composite_values import square, tanh
from jitgraph.ops.elementwise.elementary import rsqrt
from jitgraph.ops.linalg.matmul import matmul
from jitgraph.ops.nn.softmax import softmax
from jitgraph.ops.reduce.reductions import argmax, reduce_sum
from jitgraph.rnn.states import zero_states
from jitgraph.variables.variable_initializers import constant_initializer, ones_initializer, zeros_initializer
from jitgraph.variables.variable_scopes import get_variable, variable_scope


class AttentionMechanism:
    """What ``AttentionWrapper`` attends by.  A subclass overrides everything."""

    @property
    def alignments_size(self) -> Any:
        """The number of places to attend to."""
        raise NotImplementedError

    @property
    def state_size(self) -> Any:
        """The size of the state that is handed on from step to step."""
        raise NotImplementedError


def hardmax(logits: Any, name: str | None = None) -> Any:
    """One-hot rows of the largest of the last axis of `logits`, in their dtype and shape."""
    with name_scope(name, "Hardmax", [logits]):
        logits = convert_to_tensor(logits, name="logits")
        depth = logits.shape[-1].value
        if depth is None:
            depth = shape_of(logits)[-1]
        return one_hot(argmax(logits, -1), depth, dtype=logits.dtype)


def _prepare_memory(memory: Any, memory_sequence_length: Any = None, check_inner_dims_defined: bool = True) -> Any:
    """The memory as tensors [batch, time, ...], zero past the end of the sequences."""
    memory = nest.map_structure(lambda one: convert_to_tensor(one, name="memory"), memory)
    if memory_sequence_length is not None:
        memory_sequence_length = convert_to_tensor(memory_sequence_length, name="memory_sequence_length")
    if check_inner_dims_defined:
        for one in nest.flatten(memory):
            if not one.shape[2:].is_fully_defined():
                raise ValueError(f"Expected memory {one.name} to have fully defined inner dims, but saw shape: {one.shape}")
    if memory_sequence_length is None:
        return memory
    first = nest.flatten(memory)[0]
    mask = sequence_mask(memory_sequence_length, maxlen=shape_of(first)[1], dtype=first.dtype)

    def masked(one: Any) -> Any:
        rank = one.shape.ndims
        if rank is None:
            rank = rank_of(one)
        size_one = ones(rank - 2, dtype=dtypes.int32)
        return one * reshape(mask, concat((shape_of(mask), size_one), 0))

    return nest.map_structure(masked, memory)


def _maybe_mask_score(score: Any, memory_sequence_length: Any = None, score_mask_value: Any = None) -> Any:
    """The score, `score_mask_value` past the end of the sequences."""
    if memory_sequence_length is None:
        return score
    message = "All values in memory_sequence_length must be greater than zero."
    with control_dependencies([assert_positive(memory_sequence_length, message=message)]):
        mask = sequence_mask(memory_sequence_length, maxlen=shape_of(score)[1])
    return where(mask, score, score_mask_value * ones_like(score))


class _BaseAttentionMechanism(AttentionMechanism):
    """What Luong's and Bahdanau's attention share: keys and values of a memory, probabilities of scores.

    Raises TypeError for layers that are none and a `probability_fn` that is no function, ValueError for a memory of unknown depth.
    """

    def __init__(self, query_layer: Any, memory: Any, probability_fn: Callable, memory_sequence_length: Any = None,
                 memory_layer: Any = None, check_inner_dims_defined: bool = True, score_mask_value: Any = None,
                 custom_key_value_fn: Callable | None = None, name: str | None = None):
        for what, layer in (("query_layer", query_layer), ("memory_layer", memory_layer)):
            if layer is not None and not isinstance(layer, Layer):
                raise TypeError(f"{what} is not a Layer: {type(layer).__name__}")
        self._query_layer = query_layer
        self._memory_layer: Any = memory_layer
        self.dtype = self._memory_layer.dtype
        if not callable(probability_fn):
            raise TypeError(f"probability_fn must be callable, saw type: {type(probability_fn).__name__}")
        if score_mask_value is None:
            score_mask_value = as_dtype(self.dtype).as_numpy_dtype(-np.inf)
        self._probability_fn = lambda score, previous: probability_fn(
            _maybe_mask_score(score, memory_sequence_length, score_mask_value), previous)
        with name_scope(name, "BaseAttentionMechanismInit", nest.flatten(memory)):
            self._values = _prepare_memory(memory, memory_sequence_length, check_inner_dims_defined)
            self._keys = self.memory_layer(self._values)
            if custom_key_value_fn is not None:
                self._keys, self._values = custom_key_value_fn(self._keys, self._values)
            self._batch_size = self._keys.shape[0].value or shape_of(self._keys)[0]
            self._alignments_size = self._keys.shape[1].value or shape_of(self._keys)[1]

    @property
    def memory_layer(self) -> Any:
        """The layer that makes keys of the memory."""
        return self._memory_layer

    @property
    def query_layer(self) -> Any:
        """The layer that queries go through, or None."""
        return self._query_layer

    @property
    def values(self) -> Any:
        """What is attended to, [batch, time, ...]."""
        return self._values

    @property
    def keys(self) -> Any:
        """What queries are compared with, [batch, time, units]."""
        return self._keys

    @property
    def batch_size(self) -> Any:
        """The number of examples of the memory."""
        return self._batch_size

    @property
    def alignments_size(self) -> Any:
        """The number of steps of the memory."""
        return self._alignments_size

    @property
    def state_size(self) -> Any:
        """The number of steps of the memory: the state is the alignments of the step before."""
        return self._alignments_size

    def initial_alignments(self, batch_size: Any, dtype: Any) -> Any:
        """Zeros [batch, time]."""
        return zero_states(self._alignments_size, batch_size, dtype)

    def initial_state(self, batch_size: Any, dtype: Any) -> Any:
        """The first state, the initial alignments."""
        return self.initial_alignments(batch_size, dtype)


def _luong_score(query: Any, keys: Any, scale: Any) -> Any:
    """[batch, time]: the products of `query` [batch, units] and `keys` [batch, time, units], times `scale` if there is one.

    Raises ValueError if the units differ.
    """
    depth, units = query.shape[-1].value, keys.shape[-1].value
    if depth is None or depth != units:
        raise ValueError(f"Incompatible or unknown inner dimensions between query and keys.  Query ({query}) has units: {depth}. "
                         f" Keys ({keys}) have units: {units}.  Perhaps you need to set num_units to the keys' dimension "
                         f"({units})?")
    score = squeeze(matmul(expand_dims(query, 1), keys, transpose_b=True), [1])
    return score if scale is None else scale * score


def _bahdanau_score(query: Any, keys: Any, v: Any, g: Any = None, b: Any = None) -> Any:
    """[batch, time]: sum of v tanh(keys + query), with the weight of unit length times `g` and the bias `b` if they are given."""
    query = expand_dims(query, 1)
    if g is not None and b is not None:
        normed = g * v * rsqrt(reduce_sum(square(v)))
        return reduce_sum(normed * tanh(keys + query + b), [2])
    return reduce_sum(v * tanh(keys + query), [2])


def luong_scale(scale: bool, dtype: Any) -> Any:
    """The variable ``attention_g`` if there is to be a scale."""
    return get_variable("attention_g", dtype=dtype, initializer=ones_initializer, shape=()) if scale else None


def bahdanau_variables(num_units: int, normalize: bool, dtype: Any) -> tuple:
    """The variables ``attention_v``, and ``attention_g`` and ``attention_b`` if the weight is to be normalised."""
    v = get_variable("attention_v", [num_units], dtype=dtype)
    if not normalize:
        return v, None, None
    g = get_variable("attention_g", dtype=dtype, initializer=constant_initializer(math.sqrt(1.0 / num_units)), shape=())
    return v, g, get_variable("attention_b", [num_units], dtype=dtype, initializer=zeros_initializer())


def attention_layer_of(num_units: int, name: str, dtype: Any) -> Dense:
    """The layer of queries or of the memory, without bias."""
    return Dense(num_units, name=name, use_bias=False, dtype=dtypes.float32 if dtype is None else dtype)


def _stateless(probability_fn: Callable | None) -> Callable:
    chosen = probability_fn or softmax
    return lambda score, _: chosen(score)


class LuongAttention(_BaseAttentionMechanism):
    """Attention by products of query and keys, times a variable if `scale`.

    `memory` [batch, time, ...], of which `memory_sequence_length` [batch] steps count; `num_units`: the depth of queries and
    keys; `probability_fn`: softmax unless told otherwise; `custom_key_value_fn(keys, values)` gives others.
    """

    def __init__(self, num_units: int, memory: Any, memory_sequence_length: Any = None, scale: bool = False,
                 probability_fn: Callable | None = None, score_mask_value: Any = None, dtype: Any = None,
                 custom_key_value_fn: Callable | None = None, name: str = "LuongAttention"):
        super().__init__(query_layer=None, memory_layer=attention_layer_of(num_units, "memory_layer", dtype), memory=memory,
                         probability_fn=_stateless(probability_fn), memory_sequence_length=memory_sequence_length,
                         score_mask_value=score_mask_value, custom_key_value_fn=custom_key_value_fn, name=name)
        self._num_units = num_units
        self._scale = scale
        self._name = name

    def __call__(self, query: Any, state: Any) -> tuple:
        """(alignments [batch, time], next state) for `query` [batch, units]."""
        with variable_scope(None, "luong_attention", [query]):
            score = _luong_score(query, self._keys, luong_scale(self._scale, query.dtype))
        alignments = self._probability_fn(score, state)
        return alignments, alignments


class BahdanauAttention(_BaseAttentionMechanism):
    """Attention by a layer of query and keys, its weight normalised if `normalize` (Salimans and Kingma, 2016).

    The arguments are those of ``LuongAttention``; queries may have any depth.
    """

    def __init__(self, num_units: int, memory: Any, memory_sequence_length: Any = None, normalize: bool = False,
                 probability_fn: Callable | None = None, score_mask_value: Any = None, dtype: Any = None,
                 custom_key_value_fn: Callable | None = None, name: str = "BahdanauAttention"):
        super().__init__(query_layer=attention_layer_of(num_units, "query_layer", dtype),
                         memory_layer=attention_layer_of(num_units, "memory_layer", dtype), memory=memory,
                         probability_fn=_stateless(probability_fn), custom_key_value_fn=custom_key_value_fn,
                         memory_sequence_length=memory_sequence_length, score_mask_value=score_mask_value, name=name)
        self._num_units = num_units
        self._normalize = normalize
        self._name = name

    def __call__(self, query: Any, state: Any) -> tuple:
        """(alignments [batch, time], next state) for `query` [batch, any]."""
        with variable_scope(None, "bahdanau_attention", [query]):
            processed = self.query_layer(query)
            v, g, b = bahdanau_variables(self._num_units, self._normalize, query.dtype)
            score = _bahdanau_score(processed, self._keys, v, g, b)
        alignments = self._probability_fn(score, state)
        return alignments, alignments
