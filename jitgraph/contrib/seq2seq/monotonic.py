"""Attention that only moves forward (Raffel and others, 2017)."""
from __future__ import annotations

import functools
from typing import Any

import numpy as np

from jitgraph.contrib.seq2seq.attention import (
    _bahdanau_score,
    _BaseAttentionMechanism,
    _luong_score,
    attention_layer_of,
    bahdanau_variables,
    luong_scale,
)
from jitgraph.functions.higher_order import scan
from jitgraph.graph import dtypes
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import name_scope
from jitgraph.ops.arrays.fill import one_hot, ones, zeros
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.layout import transpose
from jitgraph.ops.arrays.sequences import cumprod, cumsum
from jitgraph.ops.arrays.shape import reshape
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.clip import clip_by_value
from jitgraph.ops.elementwise.elementary import exp, log, sigmoid
from jitgraph.ops.random.draws import random_normal
from jitgraph.variables.variable_scopes import get_variable, variable_scope


def safe_cumprod(x: Any, *args: Any, **kwargs: Any) -> Any:
    """``tf.cumprod`` of `x`, which lies in [0, 1], by way of logarithms; further arguments are those of ``tf.cumsum``."""
    with name_scope(None, "SafeCumprod", [x]):
        x = convert_to_tensor(x, name="x")
        tiny = np.finfo(x.dtype.as_numpy_dtype).tiny
        return exp(cumsum(log(clip_by_value(x, tiny, 1)), *args, **kwargs))


def monotonic_attention(p_choose_i: Any, previous_attention: Any, mode: str) -> Any:
    """The distribution [batch, time] over where to stop, given that one walks on from `previous_attention` [batch, time].

    `p_choose_i` [batch, time]: the probability to stop at a place where one stands.  `mode`: "recursive" adds step by step,
    "parallel" divides by running products, "hard" is for probabilities of 0 and 1.  Raises ValueError for others.
    """
    p_choose_i = convert_to_tensor(p_choose_i, name="p_choose_i")
    previous_attention = convert_to_tensor(previous_attention, name="previous_attention")
    if mode == "recursive":
        batch_size = p_choose_i.shape[0].value or shape_of(p_choose_i)[0]
        walked = concat([ones((batch_size, 1)), 1 - p_choose_i[:, :-1]], 1)
        return p_choose_i * transpose(scan(lambda x, yz: reshape(yz[0] * x + yz[1], (batch_size,)),
                                           [transpose(walked), transpose(previous_attention)], zeros((batch_size,))))
    if mode == "parallel":
        product = safe_cumprod(1 - p_choose_i, axis=1, exclusive=True)
        return p_choose_i * product * cumsum(previous_attention / clip_by_value(product, 1e-10, 1.0), axis=1)
    if mode == "hard":
        p_choose_i *= cumsum(previous_attention, axis=1)
        return p_choose_i * cumprod(1 - p_choose_i, axis=1, exclusive=True)
    raise ValueError("mode must be 'recursive', 'parallel', or 'hard'.")


def _monotonic_probability(score: Any, previous: Any, sigmoid_noise: float, mode: str, seed: int | None = None) -> Any:
    if sigmoid_noise > 0:
        noise = random_normal(shape_of(score), dtype=score.dtype, seed=seed)
        score += sigmoid_noise * noise
    p_choose_i = cast(score > 0, score.dtype) if mode == "hard" else sigmoid(score)
    return monotonic_attention(p_choose_i, previous, mode)


class _MonotonicAttentionMechanism(_BaseAttentionMechanism):
    """One begins at the first step of the memory."""

    def initial_alignments(self, batch_size: Any, dtype: Any) -> Any:
        """One-hot rows [batch, time] of the first step."""
        return one_hot(zeros((batch_size,), dtype=dtypes.int32), self._alignments_size, dtype=dtype)


class BahdanauMonotonicAttention(_MonotonicAttentionMechanism):
    """``BahdanauAttention`` whose scores, with the variable ``attention_score_bias``, say where to stop.

    `sigmoid_noise`: the deviation of noise on scores, for training; `score_bias_init`: what the bias begins with; `mode`: as of
    ``monotonic_attention``.
    """

    def __init__(self, num_units: int, memory: Any, memory_sequence_length: Any = None, normalize: bool = False,
                 score_mask_value: Any = None, sigmoid_noise: float = 0.0, sigmoid_noise_seed: int | None = None,
                 score_bias_init: float = 0.0, mode: str = "parallel", dtype: Any = None,
                 name: str = "BahdanauMonotonicAttention"):
        probability = functools.partial(_monotonic_probability, sigmoid_noise=sigmoid_noise, mode=mode, seed=sigmoid_noise_seed)
        super().__init__(query_layer=attention_layer_of(num_units, "query_layer", dtype),
                         memory_layer=attention_layer_of(num_units, "memory_layer", dtype), memory=memory,
                         probability_fn=probability, memory_sequence_length=memory_sequence_length,
                         score_mask_value=score_mask_value, name=name)
        self._num_units = num_units
        self._normalize = normalize
        self._name = name
        self._score_bias_init = score_bias_init

    def __call__(self, query: Any, state: Any) -> tuple:
        """(alignments [batch, time], next state) for `query` [batch, any]."""
        with variable_scope(None, "bahdanau_monotonic_attention", [query]):
            processed = self.query_layer(query)
            v, g, b = bahdanau_variables(self._num_units, self._normalize, query.dtype)
            score = _bahdanau_score(processed, self._keys, v, g, b)
            score += get_variable("attention_score_bias", dtype=processed.dtype, initializer=self._score_bias_init)
        alignments = self._probability_fn(score, state)
        return alignments, alignments


class LuongMonotonicAttention(_MonotonicAttentionMechanism):
    """``LuongAttention`` whose scores say where to stop; the arguments are those of ``BahdanauMonotonicAttention``."""

    def __init__(self, num_units: int, memory: Any, memory_sequence_length: Any = None, scale: bool = False,
                 score_mask_value: Any = None, sigmoid_noise: float = 0.0, sigmoid_noise_seed: int | None = None,
                 score_bias_init: float = 0.0, mode: str = "parallel", dtype: Any = None,
                 name: str = "LuongMonotonicAttention"):
        probability = functools.partial(_monotonic_probability, sigmoid_noise=sigmoid_noise, mode=mode, seed=sigmoid_noise_seed)
        super().__init__(query_layer=None, memory_layer=attention_layer_of(num_units, "memory_layer", dtype), memory=memory,
                         probability_fn=probability, memory_sequence_length=memory_sequence_length,
                         score_mask_value=score_mask_value, name=name)
        self._num_units = num_units
        self._scale = scale
        self._score_bias_init = score_bias_init
        self._name = name

    def __call__(self, query: Any, state: Any) -> tuple:
        """(alignments [batch, time], next state) for `query` [batch, units]."""
        with variable_scope(None, "luong_monotonic_attention", [query]):
            score = _luong_score(query, self._keys, luong_scale(self._scale, query.dtype))
            score += get_variable("attention_score_bias", dtype=query.dtype, initializer=self._score_bias_init)
        alignments = self._probability_fn(score, state)
        return alignments, alignments
