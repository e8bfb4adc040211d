"""Decoders of lists of steps, plain, embedding and attending."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.graph import dtypes
from jitgraph.graph import structures as nest
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.ops.arrays.fill import zeros
from jitgraph.ops.arrays.identity import stop_gradient
from jitgraph.ops.arrays.join import concat, stack
from jitgraph.ops.arrays.shape import reshape
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.elementwise.bias import xw_plus_b
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.composite_values import tanh
from jitgraph.ops.nn.convolution_functions import conv2d
from jitgraph.ops.nn.embedding import embedding_lookup
from jitgraph.ops.nn.softmax import softmax
from jitgraph.ops.reduce.reductions import argmax, reduce_sum
from jitgraph.rnn.linear import _Linear
from jitgraph.variables.variable_scopes import get_variable, get_variable_scope, variable_scope


def _extract_argmax_and_embed(embedding: Any, output_projection: tuple | None = None, update_embedding: bool = True) -> Callable:
    """A function of (outputs, step) that gives the embedded argmax of the outputs, projected before if there is a projection."""
    def loop_function(prev: Any, _: int) -> Any:
        if output_projection is not None:
            prev = xw_plus_b(prev, output_projection[0], output_projection[1])
        embedded = embedding_lookup(embedding, argmax(prev, 1))
        return embedded if update_embedding else stop_gradient(embedded)

    return loop_function


def fed_with(feed_previous: bool, embedding: Any, output_projection: Any, update_embedding: bool) -> Callable | None:
    """The loop function that feeds a decoder with its outputs, if it is to be."""
    return _extract_argmax_and_embed(embedding, output_projection, update_embedding) if feed_previous else None


def check_projection(output_projection: Any, num_symbols: int, dtype: Any) -> None:
    """Raises ValueError unless a projection (weights [n, num_symbols], biases [num_symbols]) fits."""
    if output_projection is not None:
        weights = convert_to_tensor(output_projection[0], dtype=dtype)
        weights.shape.assert_is_compatible_with([None, num_symbols])
        biases = convert_to_tensor(output_projection[1], dtype=dtype)
        biases.shape.assert_is_compatible_with([num_symbols])


def rnn_decoder(decoder_inputs: Any, initial_state: Any, cell: Any, loop_function: Callable | None = None,
                scope: Any = None) -> tuple:
    """(list of outputs, last state) of `cell` over `decoder_inputs`, a list of [batch, depth].

    ``loop_function(output, step)`` gives the inputs of all steps but the first.
    """
    with variable_scope(scope or "rnn_decoder"):
        state, outputs, prev = initial_state, [], None
        for step, inputs in enumerate(decoder_inputs):
            if loop_function is not None and prev is not None:
                with variable_scope("loop_function", reuse=True):
                    inputs = loop_function(prev, step)
            if step > 0:
                get_variable_scope().reuse_variables()
            output, state = cell(inputs, state)
            outputs.append(output)
            if loop_function is not None:
                prev = output
    return outputs, state


def embedding_rnn_decoder(decoder_inputs: list, initial_state: Any, cell: Any, num_symbols: int, embedding_size: int,
                          output_projection: Any = None, feed_previous: bool = False, update_embedding_for_previous: bool = True,
                          scope: Any = None) -> tuple:
    """``rnn_decoder`` of ids, a list of int [batch], looked up in the variable ``embedding`` [num_symbols, embedding_size].

    `feed_previous`: whether all but the first come from the outputs; `output_projection` (weights, biases) makes logits of
    these; `update_embedding_for_previous`: whether gradients go there too.
    """
    with variable_scope(scope or "embedding_rnn_decoder") as entered:
        check_projection(output_projection, num_symbols, entered.dtype)
        embedding = get_variable("embedding", [num_symbols, embedding_size])
        loop_function = fed_with(feed_previous, embedding, output_projection, update_embedding_for_previous)
        embedded = (embedding_lookup(embedding, ids) for ids in decoder_inputs)
        return rnn_decoder(embedded, initial_state, cell, loop_function=loop_function)


class _Attention:
    """The heads that attend to [batch, length, size]."""

    def __init__(self, states: Any, num_heads: int, dtype: Any):
        length, self.size = states.shape[1].value, states.shape[2].value
        self.length = shape_of(states)[1] if length is None else length
        self.dtype, self.num_heads = dtype, num_heads
        self.hidden = reshape(states, [-1, self.length, 1, self.size])
        self.features, self.v = [], []
        for head in range(num_heads):
            k = get_variable(f"AttnW_{head}", [1, 1, self.size, self.size], dtype=dtype)
            self.features.append(conv2d(self.hidden, k, [1, 1, 1, 1], "SAME"))
            self.v.append(get_variable(f"AttnV_{head}", [self.size], dtype=dtype))

    def __call__(self, query: Any) -> list:
        """What each head attends to, [batch, size]."""
        if nest.is_nested(query):
            query = concat(nest.flatten(query), 1)
        found = []
        for head in range(self.num_heads):
            with variable_scope(f"Attention_{head}"):
                y = reshape(_Linear(query, self.size, True)(query), [-1, 1, 1, self.size])
                y = cast(y, self.dtype)
                score = reduce_sum(self.v[head] * tanh(self.features[head] + y), [2, 3])
                weights = cast(softmax(cast(score, dtypes.float32)), self.dtype)
                context = reduce_sum(reshape(weights, [-1, self.length, 1, 1]) * self.hidden, [1, 2])
                found.append(reshape(context, [-1, self.size]))
        return found


def attention_decoder(decoder_inputs: list, initial_state: Any, attention_states: Any, cell: Any, output_size: int | None = None,
                      num_heads: int = 1, loop_function: Callable | None = None, dtype: Any = None, scope: Any = None,
                      initial_state_attention: bool = False) -> tuple:
    """(list of outputs [batch, output_size], last state) of `cell`, which attends to `attention_states` [batch, length, size].

    `decoder_inputs`: a list of [batch, depth]; ``loop_function(output, step)`` gives all but the first;
    `initial_state_attention`: whether the first step attends by the initial state or to nothing.  Raises ValueError without
    inputs or heads, and for unknown sizes.
    """
    if not decoder_inputs:
        raise ValueError("Must provide at least 1 input to attention decoder.")
    if num_heads < 1:
        raise ValueError("With less than 1 heads, use a non-attention decoder.")
    if attention_states.shape[2].value is None:
        raise ValueError(f"Shape[2] of attention_states must be known: {attention_states.shape}")
    output_size = cell.output_size if output_size is None else output_size
    with variable_scope(scope or "attention_decoder", dtype=dtype) as entered:
        dtype = entered.dtype
        batch_size = shape_of(decoder_inputs[0])[0]
        attend = _Attention(attention_states, num_heads, dtype)
        batch_and_size = stack([batch_size, attend.size])
        attended = [zeros(batch_and_size, dtype=dtype) for _ in range(num_heads)]
        for one in attended:
            one.set_shape([None, attend.size])
        if initial_state_attention:
            attended = attend(initial_state)
        state, outputs, prev = initial_state, [], None
        for step, inputs in enumerate(decoder_inputs):
            if step > 0:
                get_variable_scope().reuse_variables()
            if loop_function is not None and prev is not None:
                with variable_scope("loop_function", reuse=True):
                    inputs = loop_function(prev, step)
            depth = inputs.shape.with_rank(2)[1].value
            if depth is None:
                raise ValueError(f"Could not infer input size from input: {inputs.name}")
            joined = [cast(one, dtype) for one in [inputs, *attended]]
            output, state = cell(_Linear(joined, depth, True)(joined), state)
            if step == 0 and initial_state_attention:
                with variable_scope(get_variable_scope(), reuse=True):
                    attended = attend(state)
            else:
                attended = attend(state)
            with variable_scope("AttnOutputProjection"):
                joined = [cast(output, dtype), *attended]
                output = _Linear(joined, output_size, True)(joined)
            if loop_function is not None:
                prev = output
            outputs.append(output)
    return outputs, state


def embedding_attention_decoder(decoder_inputs: list, initial_state: Any, attention_states: Any, cell: Any, num_symbols: int,
                                embedding_size: int, num_heads: int = 1, output_size: int | None = None,
                                output_projection: Any = None, feed_previous: bool = False,
                                update_embedding_for_previous: bool = True, dtype: Any = None, scope: Any = None,
                                initial_state_attention: bool = False) -> tuple:
    """``attention_decoder`` of ids, looked up and fed as of ``embedding_rnn_decoder``."""
    output_size = cell.output_size if output_size is None else output_size
    if output_projection is not None:
        biases = convert_to_tensor(output_projection[1], dtype=dtype)
        biases.shape.assert_is_compatible_with([num_symbols])
    with variable_scope(scope or "embedding_attention_decoder", dtype=dtype):
        embedding = get_variable("embedding", [num_symbols, embedding_size])
        loop_function = fed_with(feed_previous, embedding, output_projection, update_embedding_for_previous)
        embedded = [embedding_lookup(embedding, ids) for ids in decoder_inputs]
        return attention_decoder(embedded, initial_state, attention_states, cell, output_size=output_size, num_heads=num_heads,
                                 loop_function=loop_function, initial_state_attention=initial_state_attention)
