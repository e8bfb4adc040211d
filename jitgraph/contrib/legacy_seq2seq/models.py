"""Encoders and decoders of lists of steps, put together (Sutskever and others, 2014; Vinyals and others, 2015)."""
from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from jitgraph.contrib.legacy_seq2seq.decoders import (
    check_projection,
    embedding_attention_decoder,
    embedding_rnn_decoder,
    fed_with,
    rnn_decoder,
)
from jitgraph.contrib.rnn.around import EmbeddingWrapper, OutputProjectionWrapper
from jitgraph.control.conditionals import cond
from jitgraph.graph import dtypes
from jitgraph.graph import structures as nest
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.shape import reshape
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.nn.embedding import embedding_lookup
from jitgraph.rnn.cells import RNNCell
from jitgraph.rnn.static import static_rnn
from jitgraph.variables.variable_scopes import get_variable, get_variable_scope, variable_scope


def _decoded(feed_previous: Any, decode: Callable, count: int, like: Callable) -> tuple:
    """(outputs, state) of ``decode(feed_previous, whether previous embeddings learn)``; a tensor chooses in the run.

    The two decoders share their variables; `like` gives a state of the structure of the result.
    """
    if isinstance(feed_previous, bool):
        return decode(feed_previous, True)

    def branch(fed: bool) -> list:
        with variable_scope(get_variable_scope(), reuse=None if fed else True):
            outputs, state = decode(fed, False)
            return outputs + (nest.flatten(state) if nest.is_nested(state) else [state])

    found = cond(feed_previous, lambda: branch(True), lambda: branch(False))
    states, structure = found[count:], like()
    state = nest.pack_sequence_as(structure, states) if nest.is_nested(structure) else states[0]
    return found[:count], state


def basic_rnn_seq2seq(encoder_inputs: list, decoder_inputs: list, cell: Any, dtype: Any = dtypes.float32,
                      scope: Any = None) -> tuple:
    """(outputs, last state) of a decoder begun with the last state of an encoder; both are `cell`, with variables of their own.

    Inputs are lists of [batch, depth].
    """
    with variable_scope(scope or "basic_rnn_seq2seq"):
        _, state = static_rnn(copy.deepcopy(cell), encoder_inputs, dtype=dtype)
        return rnn_decoder(decoder_inputs, state, cell)


def tied_rnn_seq2seq(encoder_inputs: list, decoder_inputs: list, cell: Any, loop_function: Callable | None = None,
                     dtype: Any = dtypes.float32, scope: Any = None) -> tuple:
    """(outputs, last state) of a decoder begun with the last state of an encoder, which share their variables."""
    with variable_scope("combined_tied_rnn_seq2seq"):
        scope = scope or "tied_rnn_seq2seq"
        _, state = static_rnn(cell, encoder_inputs, dtype=dtype, scope=scope)
        get_variable_scope().reuse_variables()
        return rnn_decoder(decoder_inputs, state, cell, loop_function=loop_function, scope=scope)


def embedding_rnn_seq2seq(encoder_inputs: list, decoder_inputs: list, cell: Any, num_encoder_symbols: int,
                          num_decoder_symbols: int, embedding_size: int, output_projection: Any = None,
                          feed_previous: Any = False, dtype: Any = None, scope: Any = None) -> tuple:
    """(outputs, last state) of an embedding encoder and an ``embedding_rnn_decoder``; inputs are lists of int [batch].

    Outputs are logits [batch, num_decoder_symbols], or what `output_projection` makes logits of.  `feed_previous`: a bool, or a
    bool scalar that chooses in the run.
    """
    with variable_scope(scope or "embedding_rnn_seq2seq") as entered:
        if dtype is not None:
            entered.set_dtype(dtype)
        encoder = EmbeddingWrapper(copy.deepcopy(cell), embedding_classes=num_encoder_symbols, embedding_size=embedding_size)
        _, encoded = static_rnn(encoder, encoder_inputs, dtype=entered.dtype)
        if output_projection is None:
            cell = OutputProjectionWrapper(cell, num_decoder_symbols)

        def decode(fed: bool, learns: bool) -> tuple:
            return embedding_rnn_decoder(decoder_inputs, encoded, cell, num_decoder_symbols, embedding_size,
                                         output_projection=output_projection, feed_previous=fed,
                                         update_embedding_for_previous=learns)

        return _decoded(feed_previous, decode, len(decoder_inputs), lambda: encoded)


def embedding_tied_rnn_seq2seq(encoder_inputs: list, decoder_inputs: list, cell: Any, num_symbols: int, embedding_size: int,
                               num_decoder_symbols: int | None = None, output_projection: Any = None, feed_previous: Any = False,
                               dtype: Any = None, scope: Any = None) -> tuple:
    """``embedding_rnn_seq2seq`` whose encoder and decoder share embedding and cell."""
    with variable_scope(scope or "embedding_tied_rnn_seq2seq", dtype=dtype) as entered:
        dtype = entered.dtype
        check_projection(output_projection, num_symbols, dtype)
        embedding = get_variable("embedding", [num_symbols, embedding_size], dtype=dtype)
        sources, targets = ([embedding_lookup(embedding, ids) for ids in given] for given in (encoder_inputs, decoder_inputs))
        sources, targets = list(sources), list(targets)
        if output_projection is None:
            cell = OutputProjectionWrapper(cell, num_symbols if num_decoder_symbols is None else num_decoder_symbols)

        def decode(fed: bool, learns: bool) -> tuple:
            return tied_rnn_seq2seq(sources, targets, cell, dtype=dtype,
                                    loop_function=fed_with(fed, embedding, output_projection, learns))

        def like() -> Any:
            size = encoder_inputs[0].shape[0]
            for one in encoder_inputs[1:]:
                size.merge_with(one.shape[0])
            return cell.zero_state(shape_of(encoder_inputs[0])[0] if size.value is None else size.value, dtype)

        return _decoded(feed_previous, decode, len(decoder_inputs), like)


def embedding_attention_seq2seq(encoder_inputs: list, decoder_inputs: list, cell: Any, num_encoder_symbols: int,
                                num_decoder_symbols: int, embedding_size: int, num_heads: int = 1, output_projection: Any = None,
                                feed_previous: Any = False, dtype: Any = None, scope: Any = None,
                                initial_state_attention: bool = False) -> tuple:
    """``embedding_rnn_seq2seq`` whose decoder attends to the outputs of the encoder with `num_heads` heads."""
    with variable_scope(scope or "embedding_attention_seq2seq", dtype=dtype) as entered:
        encoder = EmbeddingWrapper(copy.deepcopy(cell), embedding_classes=num_encoder_symbols, embedding_size=embedding_size)
        outputs, encoded = static_rnn(encoder, encoder_inputs, dtype=entered.dtype)
        states = concat([reshape(one, [-1, 1, cell.output_size]) for one in outputs], 1)
        output_size = None
        if output_projection is None:
            cell = OutputProjectionWrapper(cell, num_decoder_symbols)
            output_size = num_decoder_symbols

        def decode(fed: bool, learns: bool) -> tuple:
            return embedding_attention_decoder(
                decoder_inputs, encoded, states, cell, num_decoder_symbols, embedding_size, num_heads=num_heads,
                output_size=output_size, output_projection=output_projection, feed_previous=fed,
                update_embedding_for_previous=learns, initial_state_attention=initial_state_attention)

        return _decoded(feed_previous, decode, len(decoder_inputs), lambda: encoded)


def one2many_rnn_seq2seq(encoder_inputs: list, decoder_inputs_dict: dict, enc_cell: Any, dec_cells_dict: dict,
                         num_encoder_symbols: int, num_decoder_symbols_dict: dict, embedding_size: int, feed_previous: Any = False,
                         dtype: Any = None, scope: Any = None) -> tuple:
    """({name: outputs}, {name: last state}) of one embedding encoder and several decoders.

    Raises TypeError for what is no cell, ValueError if the names of cells and inputs differ.
    """
    if not isinstance(enc_cell, RNNCell):
        raise TypeError(f"enc_cell is not an RNNCell: {type(enc_cell)}")
    if set(dec_cells_dict) != set(decoder_inputs_dict):
        raise ValueError("keys of dec_cells_dict != keys of decodre_inputs_dict")
    for cell in dec_cells_dict.values():
        if not isinstance(cell, RNNCell):
            raise TypeError(f"dec_cell is not an RNNCell: {type(cell)}")
    outputs, states = {}, {}
    with variable_scope(scope or "one2many_rnn_seq2seq", dtype=dtype) as entered:
        encoder = EmbeddingWrapper(enc_cell, embedding_classes=num_encoder_symbols, embedding_size=embedding_size)
        _, encoded = static_rnn(encoder, encoder_inputs, dtype=entered.dtype)
        for name, inputs in decoder_inputs_dict.items():
            with variable_scope(f"one2many_decoder_{name}"):
                symbols = num_decoder_symbols_dict[name]
                cell = OutputProjectionWrapper(dec_cells_dict[name], symbols)

                def decode(fed: bool, learns: bool, inputs: list = inputs, cell: Any = cell, symbols: int = symbols) -> tuple:
                    return embedding_rnn_decoder(inputs, encoded, cell, symbols, embedding_size, feed_previous=fed)

                outputs[name], states[name] = _decoded(feed_previous, decode, len(inputs), lambda: encoded)
    return outputs, states
