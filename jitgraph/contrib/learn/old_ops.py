"""``tf.contrib.learn.ops``: losses of linear layers, embeddings, and sequences to sequences, before there were layers."""
from __future__ import annotations

from typing import Any

from jitgraph.contrib.framework.deprecation import deprecated
from jitgraph.facade.names import resolve
from jitgraph.graph import dtypes
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import name_scope
from jitgraph.losses.losses import mean_squared_error, softmax_cross_entropy
from jitgraph.ops.arrays.fill import zeros
from jitgraph.ops.arrays.join import concat, stack, unstack
from jitgraph.ops.arrays.shape import reshape, squeeze
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.elementwise.arithmetic import multiply
from jitgraph.ops.elementwise.sums import add_n
from jitgraph.ops.nn.softmax import softmax
from jitgraph.ops.reduce.reductions import reduce_prod, reduce_sum
from jitgraph.variables.variable_scopes import get_variable, get_variable_scope, variable_scope


@deprecated("2016-12-01", "Use `tf.losses.mean_squared_error` and explicit logits computation.")
def mean_squared_error_regressor(tensor_in: Any, labels: Any, weights: Any, biases: Any, name: str | None = None) -> tuple:
    """(predictions, mean squared error) of a linear layer."""
    with name_scope(name, "mean_squared_error_regressor", [tensor_in, labels]):
        predictions = resolve("nn.xw_plus_b")(tensor_in, weights, biases)
        if len(labels.get_shape()) == 1 and len(predictions.get_shape()) == 2:
            predictions = squeeze(predictions, axis=[1])
        return predictions, mean_squared_error(labels, predictions)


@deprecated("2016-12-01", "Use `tf.losses.softmax_cross_entropy` and explicit logits computation.")
def softmax_classifier(tensor_in: Any, labels: Any, weights: Any, biases: Any, class_weight: Any = None,
                       name: str | None = None) -> tuple:
    """(probabilities, cross entropy with labels [batch, classes]) of a linear layer; `class_weight` multiplies the logits."""
    with name_scope(name, "softmax_classifier", [tensor_in, labels]):
        logits = resolve("nn.xw_plus_b")(tensor_in, weights, biases)
        if class_weight is not None:
            logits = multiply(logits, class_weight)
        return softmax(logits), softmax_cross_entropy(labels, logits)


@deprecated("2016-12-01", "Use `tf.embedding_lookup` instead.")
def embedding_lookup(params: Any, ids: Any, name: str | None = "embedding_lookup") -> Any:
    """The rows of `params` [n, size] for ids of any shape: [..., size]."""
    with name_scope(name, "embedding_lookup", [params, ids]):
        params, ids = convert_to_tensor(params), convert_to_tensor(ids)
        shape = shape_of(ids)
        flat = reshape(ids, reduce_prod(shape, keepdims=True))
        rows = resolve("nn.embedding_lookup")(params, flat, name)
        found = reshape(rows, concat([shape, [-1]], 0))
        found.set_shape(ids.get_shape().concatenate(params.get_shape()[1:]))
        return found


@deprecated("2016-12-01", "Use `tf.contrib.layers.embed_sequence` instead.")
def categorical_variable(tensor_in: Any, n_classes: int, embedding_size: int, name: str) -> Any:
    """Embeddings of classes of any shape: [..., embedding_size]."""
    with variable_scope(name):
        embeddings = get_variable(name + "_embeddings", [n_classes, embedding_size])
        return embedding_lookup(embeddings, tensor_in)


_DIRECTLY = "Please use tf.nn/tf.layers directly."


@deprecated(None, _DIRECTLY)
def sequence_classifier(decoding: list, labels: list, sampling_decoding: list | None = None, name: str | None = None) -> tuple:
    """(probabilities [batch, steps, classes], the sum of the cross entropies) of the logits [batch, classes] of each step.

    `labels`: [batch, classes] for each step; `sampling_decoding`: the logits to predict with.
    """
    with name_scope(name, "sequence_classifier", [decoding, labels]):
        predictions, losses = [], []
        for step, logits in enumerate(decoding):
            losses.append(resolve("nn.softmax_cross_entropy_with_logits")(labels=labels[step], logits=logits,
                                                                          name=f"sequence_loss/xent_raw{step}"))
            predictions.append(softmax(sampling_decoding[step] if sampling_decoding else logits))
        total = add_n(losses, name="sequence_loss/xent")
        loss = reduce_sum(total, name="sequence_loss")
        return stack(predictions, axis=1), loss


@deprecated(None, _DIRECTLY)
def seq2seq_inputs(x: Any, y: Any, input_length: int, output_length: int, sentinel: Any = None, name: str | None = None) -> tuple:
    """(steps of x, steps of y after a sentinel, steps of y before it) of x and y [batch, steps, n]; it is zeros by default."""
    with name_scope(name, "seq2seq_inputs", [x, y]):
        in_x, steps = unstack(x, axis=1), unstack(y, axis=1)
        if not sentinel:
            sentinel = zeros(stack([shape_of(x)[0], steps[0].get_shape()[1]]))
            sentinel.set_shape(steps[0].get_shape())
        return in_x, [sentinel, *steps], [*steps, sentinel]


@deprecated(None, _DIRECTLY)
def rnn_decoder(decoder_inputs: list, initial_state: Any, cell: Any, scope: Any = None) -> tuple[list, list, list, list]:
    """(outputs, states, outputs and states when each step is given the last output) of a cell."""
    with variable_scope(scope or "dnn_decoder"):
        states, sampled_states = [initial_state], [initial_state]
        outputs: list = []
        sampled: list = []
        with name_scope("training", values=[decoder_inputs, initial_state]):
            for step, one in enumerate(decoder_inputs):
                if step > 0:
                    get_variable_scope().reuse_variables()
                output, state = cell(one, states[-1])
                outputs.append(output)
                states.append(state)
        with name_scope("sampling", values=[initial_state]):
            for step in range(len(decoder_inputs)):
                output, state = cell(sampled[-1], sampled_states[-1]) if step else (outputs[0], states[0])
                sampled.append(output)
                sampled_states.append(state)
    return outputs, states, sampled, sampled_states


@deprecated(None, _DIRECTLY)
def rnn_seq2seq(encoder_inputs: list, decoder_inputs: list, encoder_cell: Any, decoder_cell: Any = None,
                dtype: Any = dtypes.float32, scope: Any = None) -> tuple[list, list, list, list]:
    """``rnn_decoder`` from the state on that a cell has after its inputs."""
    with variable_scope(scope or "rnn_seq2seq"):
        _, state = resolve("nn.static_rnn")(encoder_cell, encoder_inputs, dtype=dtype)
        return rnn_decoder(decoder_inputs, state, decoder_cell or encoder_cell)
