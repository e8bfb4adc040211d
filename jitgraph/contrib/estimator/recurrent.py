"""``tf.contrib.estimator.RNNClassifier`` and ``RNNEstimator``: recurrent cells over columns of sequences."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.contrib.estimator.extended import clip_gradients_by_norm
from jitgraph.contrib.feature_column.sequence_inputs import sequence_input_layer, with_context
from jitgraph.estimator.canned.classification import head_for
from jitgraph.estimator.canned.deep import SMALLEST_SLICE, check_features, slices_over
from jitgraph.estimator.canned.optimizers import optimizer_of
from jitgraph.estimator.estimator import Estimator
from jitgraph.facade.names import resolve
from jitgraph.feature_column.dense_rows import input_layer
from jitgraph.graph import dtypes
from jitgraph.graph.scopes import name_scope
from jitgraph.layers.core import dense
from jitgraph.losses.losses import Reduction
from jitgraph.ops.arrays.gather import gather
from jitgraph.ops.arrays.grids import sequence_mask
from jitgraph.ops.arrays.sequences import range as range_of
from jitgraph.ops.arrays.shape import reshape
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.elementwise.cast import to_int64
from jitgraph.rnn.cells import RNNCell
from jitgraph.rnn.dynamic import dynamic_rnn
from jitgraph.summary.summaries import histogram
from jitgraph.train.optimizer import Optimizer
from jitgraph.variables.global_steps import get_global_step
from jitgraph.variables.variable_initializers import glorot_uniform_initializer
from jitgraph.variables.variable_scopes import variable_scope

_LEARNING_RATE, _CLIP_NORM = 0.05, 5.0
_CELLS = {"basic_rnn": "nn.rnn_cell.BasicRNNCell", "lstm": "nn.rnn_cell.BasicLSTMCell", "gru": "nn.rnn_cell.GRUCell"}
_DEFAULT: Any = object()


def _cell(units: int, cell_type: Any) -> Any:
    kind = resolve(_CELLS[cell_type]) if cell_type in _CELLS else cell_type
    if not kind or not issubclass(kind, RNNCell):
        raise ValueError(f"Supported cell types are {list(_CELLS)}; got {kind}")
    return kind(num_units=units)


def _cell_function(rnn_cell_fn: Any, num_units: Any, cell_type: Any) -> Callable:
    if rnn_cell_fn:
        if num_units or cell_type is not _DEFAULT:
            raise ValueError("num_units and cell_type must not be specified when using rnn_cell_fn")
        return rnn_cell_fn
    kind = "basic_rnn" if cell_type is _DEFAULT else cell_type

    def made(mode: str) -> Any:
        cells = [_cell(units, kind) for units in num_units]
        return cells[0] if len(cells) == 1 else resolve("nn.rnn_cell.MultiRNNCell")(cells)

    return made


def last_of(activations: Any, lengths: Any) -> Any:
    """The activations [batch, units] at the last step of each sequence [batch, steps, units]."""
    with name_scope(None, "select_last_activations", values=[activations, lengths]):
        shape = shape_of(activations)
        batch_size, steps, units = shape[0], shape[1], shape[2]
        begins = to_int64(range_of(batch_size) * steps)
        ends = begins + (steps if lengths is None else lengths) - 1
        rows = reshape(activations, [batch_size * steps, units])
        found = gather(rows, ends)
        found.set_shape([activations.shape[0], activations.shape[2]])
        return found


def _logits(units: Any, cell_function: Callable, sequence_columns: tuple, context_columns: tuple, partitioner: Any,
            features: Any, mode: str) -> Any:
    if not isinstance(units, int):
        raise ValueError(f"output_units must be an int.  Given type: {type(units)}")
    with variable_scope("sequence_input_layer", values=tuple(features.values()), partitioner=partitioner):
        sequences, lengths = sequence_input_layer(features=features, feature_columns=sequence_columns)
        histogram("sequence_length", lengths)
        if context_columns:
            sequences = with_context(sequences, input_layer(features=features, feature_columns=context_columns))
    outputs, _ = dynamic_rnn(cell=cell_function(mode), inputs=sequences, sequence_length=lengths, dtype=dtypes.float32)
    last = last_of(outputs, lengths)
    with variable_scope("logits", values=(last,)):
        logits = dense(last, units=units, activation=None, kernel_initializer=glorot_uniform_initializer())
    sequence_mask(lengths)
    return logits


def _model_function(head: Any, cell_function: Callable, sequence_columns: Any, context_columns: Any, optimizer: Any,
                    input_layer_partitioner: Any) -> Callable:
    def model_fn(features: Any, labels: Any, mode: str, config: Any) -> Any:
        check_features(features)
        made = optimizer
        if not isinstance(made, Optimizer):
            made = clip_gradients_by_norm(optimizer_of(made, learning_rate=_LEARNING_RATE), _CLIP_NORM)
        with variable_scope("rnn", values=tuple(features.values()), partitioner=slices_over(config)):
            partitioner = input_layer_partitioner or slices_over(config, SMALLEST_SLICE)
            logits = _logits(head.logits_dimension, cell_function, tuple(sequence_columns or []), tuple(context_columns or []),
                             partitioner, features, mode)
            return head.create_estimator_spec(
                features=features, mode=mode, labels=labels, logits=logits,
                train_op_fn=lambda loss: made.minimize(loss, global_step=get_global_step()))

    return model_fn


_ARGUMENTS = """

    `sequence_feature_columns`: columns of sequences; `context_feature_columns`: dense columns that each step sees; `num_units`:
    the sizes of the layers of cells; `cell_type`: "basic_rnn", "lstm", "gru" or a class; `rnn_cell_fn`: instead of both, a
    function of the mode that gives the cell; `optimizer`: as of ``tf.estimator.DNNClassifier``, with gradients clipped to a norm
    of 5 if it is no Optimizer.  Raises ValueError for both ways to give cells.
    """


class RNNClassifier(Estimator):
    __doc__ = f"""A classifier of sequences by the cells' last outputs.{_ARGUMENTS}"""

    def __init__(self, sequence_feature_columns: Any, context_feature_columns: Any = None, num_units: Any = None,
                 cell_type: Any = _DEFAULT, rnn_cell_fn: Any = None, model_dir: Any = None, n_classes: int = 2,
                 weight_column: Any = None, label_vocabulary: Any = None, optimizer: Any = "Adagrad",
                 loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE, input_layer_partitioner: Any = None, config: Any = None):
        cell_function = _cell_function(rnn_cell_fn, num_units, cell_type)
        head = head_for(n_classes, weight_column, label_vocabulary, loss_reduction)
        super().__init__(_model_function(head, cell_function, sequence_feature_columns, context_feature_columns, optimizer,
                                         input_layer_partitioner), model_dir=model_dir, config=config)


class RNNEstimator(Estimator):
    __doc__ = f"""A model of the cells' last outputs, with a head.  `return_sequences` has to be False: there is no head of
    sequences.{_ARGUMENTS}"""

    def __init__(self, head: Any, sequence_feature_columns: Any, context_feature_columns: Any = None, num_units: Any = None,
                 cell_type: Any = _DEFAULT, rnn_cell_fn: Any = None, return_sequences: bool = False, model_dir: Any = None,
                 optimizer: Any = "Adagrad", input_layer_partitioner: Any = None, config: Any = None):
        cell_function = _cell_function(rnn_cell_fn, num_units, cell_type)
        if return_sequences:
            raise ValueError("Provided head must be a `_SequentialHead` object when `return_sequences` is set to True.")
        super().__init__(_model_function(head, cell_function, sequence_feature_columns, context_feature_columns, optimizer,
                                         input_layer_partitioner), model_dir=model_dir, config=config)
