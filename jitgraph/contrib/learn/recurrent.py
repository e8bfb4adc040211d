"""``tf.contrib.learn.DynamicRnnEstimator``: recurrent cells over columns of sequences, with a value for all or for each step."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from jitgraph.contrib.layers.dense import fully_connected
from jitgraph.contrib.layers.old_column_layers import input_from_feature_columns, transform_features
from jitgraph.contrib.layers.old_sequences import sequence_input_from_feature_columns
from jitgraph.contrib.layers.optimizing import OPTIMIZER_SUMMARIES, optimize_loss
from jitgraph.contrib.learn.fitted import Estimator
from jitgraph.contrib.learn.heads import log_loss, softmax_loss, squared
from jitgraph.contrib.learn.model_ops import ModeKeys, ModelFnOps, PredictionKey, ProblemType
from jitgraph.facade.names import resolve
from jitgraph.graph import dtypes
from jitgraph.graph import structures as nest
from jitgraph.graph.scopes import control_dependencies, name_scope
from jitgraph.metrics.means import accuracy
from jitgraph.ops.arrays.fill import zeros_like
from jitgraph.ops.arrays.gather import gather
from jitgraph.ops.arrays.grids import sequence_mask
from jitgraph.ops.arrays.identity import identity
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.layout import tile
from jitgraph.ops.arrays.searching import boolean_mask
from jitgraph.ops.arrays.sequences import range as range_of
from jitgraph.ops.arrays.shape import expand_dims, reshape, squeeze
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.checks.check_shapes import assert_rank, assert_type
from jitgraph.ops.checks.check_values import assert_equal
from jitgraph.ops.nn.softmax import softmax
from jitgraph.ops.reduce.reductions import argmax, reduce_mean
from jitgraph.rnn.cells import RNNCell
from jitgraph.rnn.dynamic import dynamic_rnn

_CELLS = {"basic_rnn": "BasicRNNCell", "lstm": "LSTMCell", "gru": "GRUCell"}


class PredictionType:
    """Whether there is a value for a sequence, or one for each of its steps."""

    SINGLE_VALUE = 1
    MULTIPLE_VALUE = 2


class RNNKeys:
    """The names of features and predictions besides those of columns and heads."""

    FINAL_STATE_KEY = "final_state"
    LABELS_KEY = "__labels__"
    SEQUENCE_LENGTH_KEY = "sequence_length"
    STATE_PREFIX = "rnn_cell_state"


class _Target(NamedTuple):
    """What a value of `units` logits stands for: classes, or a number where `n_classes` is None."""

    units: int
    n_classes: int | None

    def loss(self, logits: Any, labels: Any) -> Any:
        """The mean loss of logits [n, units]."""
        losses_of = squared if self.n_classes is None else log_loss if self.n_classes == 2 else softmax_loss
        return reduce_mean(losses_of(labels, logits), name="loss")

    def probabilities(self, logits: Any) -> Any:
        """[n, n_classes]"""
        return softmax(self._of_classes(logits))

    def predictions(self, logits: Any) -> Any:
        """The classes or numbers [n]."""
        return squeeze(logits, axis=[1]) if self.n_classes is None else argmax(self._of_classes(logits), 1)

    def _of_classes(self, logits: Any) -> Any:
        return concat([zeros_like(logits), logits], 1) if self.units == 1 else logits


def _cell(num_units: Any, cell_type: Any, keep: Any) -> RNNCell:
    made = []
    for units in num_units if isinstance(num_units, (list, tuple)) else (num_units,):
        kind = resolve(f"nn.rnn_cell.{_CELLS[cell_type]}") if cell_type in _CELLS else cell_type
        if not kind or not issubclass(kind, RNNCell):
            raise ValueError(f"The supported cell types are {list(_CELLS)}; got {kind}")
        made.append(kind(num_units=units))
    if keep:
        if len(keep) != len(made) + 1:
            raise ValueError("The number of dropout probabilities must be one greater than the number of cells. Got "
                             f"{len(made)} cells and {len(keep)} dropout probabilities.")
        wrapper = resolve("nn.rnn_cell.DropoutWrapper")
        outputs = [*([1.0] * (len(made) - 1)), keep[-1]]
        made = [wrapper(cell, inputs, output, seed=None) for cell, inputs, output in zip(made, keep, outputs)]
    return made[0] if len(made) == 1 else resolve("nn.rnn_cell.MultiRNNCell")(made)


def _state_names(cell: RNNCell) -> list[tuple[str, Any]]:
    return [(f"{RNNKeys.STATE_PREFIX}_{number}", size) for number, size in enumerate(nest.flatten(cell.state_size))]


def _given_state(features: dict, cell: RNNCell) -> Any:
    """The first state, of features with the names of its parts; None without.  Raises ValueError if only some are there."""
    found, names = [], _state_names(cell)
    with name_scope("dict_to_state_tuple"):
        for number, (name, size) in enumerate(names):
            part = features.get(name)
            if part is None:
                continue
            checks = [assert_rank(part, 2, name=f"check_state_{number}_rank"),
                      assert_equal(shape_of(part)[1], size, name=f"check_state_{number}_shape")]
            with control_dependencies(checks):
                found.append(identity(part, name=name))
        if not found:
            return None
        if len(found) != len(names):
            raise ValueError(f"RNN state was partially specified.Expected zero or {len(names)} state Tensors; got {len(found)}")
        return nest.pack_sequence_as(cell.zero_state(batch_size=1, dtype=dtypes.bool_), found)


def _state_by_name(state: Any, cell: RNNCell) -> dict[str, Any]:
    with name_scope("state_tuple_to_dict"):
        return {name: identity(part, name=name) for (name, _), part in zip(_state_names(cell), nest.flatten(state))}


def _input(features: dict, sequence_columns: Any, context_columns: Any) -> Any:
    """The input of each step [batch, steps, n]: what columns of sequences make, and the context beside it."""
    features = {**features, **transform_features(features, [*sequence_columns, *(context_columns or [])])}
    steps = sequence_input_from_feature_columns(features, sequence_columns)
    if context_columns is None:
        return steps
    context = input_from_feature_columns(features, context_columns)
    checks = []
    for tensor, rank, name in ((steps, 3, "sequence_input"), (context, 2, "context_input")):
        checks.append(assert_rank(tensor, rank, message=f"{name} must have rank {rank}", data=[shape_of(tensor)]))
        checks.append(assert_type(tensor, dtypes.float32, message=f"{name} must have dtype float32; got {tensor.dtype}."))
    with control_dependencies(checks):
        tiled = tile(expand_dims(context, 1), concat([[1], [shape_of(steps)[1]], [1]], 0))
    return concat([steps, tiled], 2)


def _last(activations: Any, lengths: Any) -> Any:
    """The activations [batch, n] of the last steps of [batch, steps, n]."""
    with name_scope(None, "select_last_activations", values=[activations, lengths]):
        shape = shape_of(activations)
        batch_size, steps, units = shape[0], shape[1], shape[2]
        rows = reshape(activations, [-1, units])
        found = gather(rows, range_of(batch_size) * steps + (steps if lengths is None else lengths) - 1)
        found.set_shape([activations.get_shape()[0], activations.get_shape()[2]])
        return found


def _within(activations: Any, labels: Any, lengths: Any) -> tuple[Any, Any]:
    """(activations, labels) of all steps that belong to sequences, one after the other."""
    with name_scope(None, "mask_activations_and_labels", values=[activations, labels, lengths]):
        shape = shape_of(labels)
        if lengths is None:
            count = shape[1] * shape[0]
            return reshape(activations, [count, -1]), reshape(labels, [count])
        mask = sequence_mask(lengths, shape[1])
        return boolean_mask(activations, mask), boolean_mask(labels, mask)


def _single(target: _Target, activations: Any, lengths: Any, name: str, with_probabilities: bool) -> dict[str, Any]:
    with name_scope("SingleValuePrediction"):
        last = _last(activations, lengths)
        if not with_probabilities:
            return {name: target.predictions(last)}
        probabilities = target.probabilities(last)
        return {PredictionKey.PROBABILITIES: probabilities, name: argmax(probabilities, 1)}


def _multiple(target: _Target, activations: Any, name: str, with_probabilities: bool) -> dict[str, Any]:
    with name_scope("MultiValuePrediction"):
        shape = shape_of(activations)
        flat, found = reshape(activations, [-1, shape[2]]), {}
        if with_probabilities:
            probabilities = target.probabilities(flat)
            predictions = argmax(probabilities, 1)
            found[PredictionKey.PROBABILITIES] = reshape(
                probabilities, concat([shape[:2], [2]], 0) if target.units == 1 else shape, name=PredictionKey.PROBABILITIES)
        else:
            predictions = target.predictions(flat)
        found[name] = reshape(predictions, [shape[0], shape[1]], name=name)
        return found


def _model_function(target: _Target, problem_type: int, is_single: bool, name: str, sequence_columns: Any, context_columns: Any,
                    num_units: Any, cell_type: Any, keep: Any, optimizer: Any, learning_rate: Any, with_probabilities: bool,
                    clip_norm: Any) -> Callable:
    result = PredictionKey.CLASSES if problem_type == ProblemType.CLASSIFICATION else PredictionKey.SCORES

    def model_fn(features: dict, labels: Any, mode: str) -> ModelFnOps:
        loss = train_op = metrics = None
        with name_scope(name):
            lengths = features.get(RNNKeys.SEQUENCE_LENGTH_KEY)
            inputs = _input(features, sequence_columns, context_columns)
            cell = _cell(num_units, cell_type, keep if mode == ModeKeys.TRAIN else None)
            first = _given_state(features, cell)
            with name_scope("RNN"):
                outputs, last = dynamic_rnn(cell=cell, inputs=inputs, initial_state=first, dtype=dtypes.float32,
                                            swap_memory=True)
                activations = fully_connected(outputs, target.units, activation_fn=None, trainable=True)
            if is_single:
                predictions = _single(target, activations, lengths, result, with_probabilities)
            else:
                predictions = _multiple(target, activations, result, with_probabilities)
            if mode != ModeKeys.INFER:
                with name_scope("SingleValueLoss" if is_single else "MultiValueLoss"):
                    loss = target.loss(*((_last(activations, lengths), labels) if is_single
                                         else _within(activations, labels, lengths)))
            predictions.update(_state_by_name(last, cell))
            if mode != ModeKeys.INFER and problem_type == ProblemType.CLASSIFICATION:
                found = (predictions[result], labels) if is_single else _within(predictions[result], labels, lengths)
                metrics = {"accuracy": accuracy(found[1], found[0])}
            if mode == ModeKeys.TRAIN:
                train_op = optimize_loss(loss=loss, global_step=None, learning_rate=learning_rate, optimizer=optimizer,
                                         clip_gradients=clip_norm, summaries=OPTIMIZER_SUMMARIES)
        alternatives = None
        if is_single:
            alternatives = {"dynamic_rnn_output": (problem_type, {
                key: value for key, value in predictions.items() if RNNKeys.STATE_PREFIX not in key})}
        return ModelFnOps(mode=mode, predictions=predictions, loss=loss, train_op=train_op, eval_metric_ops=metrics,
                          output_alternatives=alternatives)

    return model_fn


class DynamicRnnEstimator(Estimator):
    """Recurrent cells over sequences of any length, with an output for each sequence or for each step.

    `problem_type`: ``ProblemType.CLASSIFICATION``, with `num_classes`, or ``LINEAR_REGRESSION``; `prediction_type`: one of
    ``PredictionType``; `sequence_feature_columns`: columns of steps; `context_feature_columns`: columns that each step sees;
    `num_units`: the size of a cell, or a list of sizes; `cell_type`: "basic_rnn", "lstm", "gru" or a class; `momentum` goes with
    the optimizer "Momentum"; `dropout_keep_probabilities`: of the inputs of each cell, and of the output.  Features may have
    "sequence_length" [batch], and the first state, part by part, by the names "rnn_cell_state_0" and on; predictions have the
    last one by these names.  Raises ValueError for other types, and for a classification without `num_classes`.
    """

    def __init__(self, problem_type: int, prediction_type: int, sequence_feature_columns: Any, context_feature_columns: Any = None,
                 num_classes: int | None = None, num_units: Any = None, cell_type: Any = "basic_rnn", optimizer: Any = "SGD",
                 learning_rate: float = 0.1, predict_probabilities: bool = False, momentum: float | None = None,
                 gradient_clipping_norm: float | None = 5.0, dropout_keep_probabilities: Any = None, model_dir: Any = None,
                 feature_engineering_fn: Any = None, config: Any = None):
        names = {PredictionType.SINGLE_VALUE: "SingleValueDynamicRNN", PredictionType.MULTIPLE_VALUE: "MultiValueDynamicRNN"}
        if prediction_type not in names:
            raise ValueError("prediction_type must be one of PredictionType.MULTIPLE_VALUE or PredictionType.SINGLE_VALUE; got "
                             f"{prediction_type}")
        if problem_type == ProblemType.LINEAR_REGRESSION:
            target, kind = _Target(1, None), "Regressor"
        elif problem_type == ProblemType.CLASSIFICATION:
            if not num_classes:
                raise ValueError("For CLASSIFICATION problem_type, num_classes must be specified.")
            if num_classes < 2:
                raise ValueError("n_classes must be > 1 for classification.")
            target, kind = _Target(1 if num_classes == 2 else num_classes, num_classes), "Classifier"
        else:
            raise ValueError("problem_type must be either ProblemType.LINEAR_REGRESSION or ProblemType.CLASSIFICATION; got "
                             f"{problem_type}")
        if predict_probabilities and problem_type != ProblemType.CLASSIFICATION:
            raise ValueError("predict_probabilities can only be set to True for problem_type ProblemType.CLASSIFICATION; got "
                             f"{problem_type}.")
        if optimizer == "Momentum":
            optimizer = resolve("train.MomentumOptimizer")(learning_rate, momentum)
        model_fn = _model_function(target, problem_type, prediction_type == PredictionType.SINGLE_VALUE,
                                   names[prediction_type] + kind, sequence_feature_columns, context_feature_columns, num_units,
                                   cell_type, dropout_keep_probabilities, optimizer, learning_rate, predict_probabilities,
                                   gradient_clipping_norm)
        super().__init__(model_fn, model_dir, config, feature_engineering_fn=feature_engineering_fn)
