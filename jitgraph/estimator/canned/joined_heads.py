"""``tf.contrib.estimator.multi_head``: several heads on one model."""
from __future__ import annotations

from typing import Any

from jitgraph.control.order_ops import no_op
from jitgraph.estimator.canned.head import PREDICT, CannedHead, LossSpec, train_op_of
from jitgraph.estimator.canned.keys import MetricKeys
from jitgraph.estimator.export_outputs import PredictOutput
from jitgraph.estimator.modes import ModeKeys
from jitgraph.estimator.spec import EstimatorSpec
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import name_scope
from jitgraph.losses.losses import Reduction
from jitgraph.metrics.means import mean
from jitgraph.ops.arrays.fill import ones_like, zeros_like
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.arrays.slicing import slice as slice_of
from jitgraph.ops.elementwise.arithmetic import multiply
from jitgraph.ops.elementwise.sums import add_n
from jitgraph.saved_model.constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY
from jitgraph.summary.summaries import scalar


class MultiHead(CannedHead):
    """Heads whose logits lie side by side, or in a dict by their names; their losses are added."""

    def __init__(self, heads: tuple, head_weights: tuple):
        super().__init__(None, Reduction.SUM, None, "_".join(head.name for head in heads))
        self.logits_dimension = sum(head.logits_dimension for head in heads)
        self._heads, self._head_weights = heads, head_weights

    def create_loss(self, features: Any, mode: str, logits: Any, labels: Any) -> LossSpec:
        """The sum of the heads' weighted losses, and dicts of the rest by the names of the heads."""
        parts = by_head(self._heads, logits)
        specs = {head.name: head.create_loss(features, mode, parts[head.name], labels[head.name]) for head in self._heads}
        unreduced = {name: spec.unreduced_loss for name, spec in specs.items()}
        weights = {name: spec.weights for name, spec in specs.items()}
        for head, weight in zip(self._heads, self._head_weights):
            unreduced[head.name] = multiply(unreduced[head.name], weight)
            weights[head.name] = multiply(weights[head.name], weight)
        total = joined_losses([spec.training_loss for spec in specs.values()], self._head_weights)
        return LossSpec(total, unreduced, weights, {name: spec.processed_labels for name, spec in specs.items()})

    def create_estimator_spec(self, features: Any, mode: str, logits: Any, labels: Any = None, optimizer: Any = None,
                              train_op_fn: Any = None, regularization_losses: Any = None) -> EstimatorSpec:
        """The EstimatorSpec of a model with these logits; `labels` are a dict by the names of the heads.

        Predictions are named (head, key).  Raises ValueError for labels that are no dict, and for another mode.
        """
        parts = by_head(self._heads, logits)
        if labels and not isinstance(labels, dict):
            raise ValueError(f"labels must be a dict. Given: {labels}")
        specs = [head.create_estimator_spec(features=features, mode=mode, logits=parts[head.name],
                                            labels=labels[head.name] if labels else None, train_op_fn=lambda loss: no_op())
                 for head in self._heads]
        if mode == ModeKeys.TRAIN:
            loss = joined_losses([spec.loss for spec in specs], self._head_weights)
            train_op = train_op_of(loss, optimizer, train_op_fn)
            made = EstimatorSpec(mode, loss=loss, train_op=train_op, predictions=self._predictions_of(specs))
            with name_scope(""):
                scalar(MetricKeys.LOSS, made.loss)
            return made
        if mode == ModeKeys.PREDICT:
            return EstimatorSpec(mode, predictions=self._predictions_of(specs), export_outputs=joined_exports(self._heads, specs))
        if mode == ModeKeys.EVAL:
            return self._evaluated(specs)
        raise ValueError(f"mode={mode} unrecognized")

    def _predictions_of(self, specs: list) -> dict:
        return {(head.name, key): value for head, spec in zip(self._heads, specs) for key, value in spec.predictions.items()}

    def _evaluated(self, specs: list) -> EstimatorSpec:
        metrics: dict[str, tuple] = {}
        with name_scope(None, "merge_eval"):
            for head, spec in zip(self._heads, specs):
                name = f"{MetricKeys.LOSS}/{head.name}"
                metrics[name] = mean(spec.loss, name=name)
                metrics.update(spec.eval_metric_ops or {})
            loss = joined_losses([spec.loss for spec in specs], self._head_weights)
        return EstimatorSpec(ModeKeys.EVAL, predictions=self._predictions_of(specs), loss=loss, eval_metric_ops=metrics)

def joined_losses(losses: list, head_weights: tuple) -> Any:
    """The sum of the heads' losses, each times its weight if there are any."""
    with name_scope(None, "merge_losses", values=[*losses, *head_weights]):
        if head_weights:
            losses = [multiply(loss, weight) for loss, weight in zip(losses, head_weights)]
        return add_n(losses)


def joined_exports(heads: tuple, specs: list) -> dict:
    """The signatures of all heads under their names; by default that of the first."""
    found = {DEFAULT_SERVING_SIGNATURE_DEF_KEY: _default_of(specs[0].export_outputs, heads[0].name)}
    predicted = {}
    for head, spec in zip(heads, specs):
        for key, output in spec.export_outputs.items():
            found[head.name if key == DEFAULT_SERVING_SIGNATURE_DEF_KEY else f"{head.name}/{key}"] = output
            if key == PREDICT and isinstance(output, PredictOutput):
                predicted.update({f"{head.name}/{name}": value for name, value in output.outputs.items()})
    found[PREDICT] = PredictOutput(predicted)
    return found


def by_head(heads: tuple, logits: Any) -> dict[str, Any]:
    """{head: its logits}.  Raises ValueError if the last size is not the sum of theirs."""
    if isinstance(logits, dict):
        return logits
    found, begin = {}, 0
    with name_scope(None, "split_logits", values=[logits]):
        logits = convert_to_tensor(logits)
        sizes, shape = [head.logits_dimension for head in heads], logits.shape.as_list()
        if shape[-1] is not None and shape[-1] != sum(sizes):
            raise ValueError(f"Could not split logits of shape {shape!r} among the heads with individual logits dimensions: "
                             f"{sizes!r}. The last dimension of the logits tensor should equal {sum(sizes)} but is "
                             f"{shape[-1]}.")
        batch = shape_of(logits)[:-1]
        zeros, all_of_them = zeros_like(batch), -1 * ones_like(batch)
        for head in heads:
            begins = concat([zeros, [begin]], axis=0)
            size = concat([all_of_them, [head.logits_dimension]], axis=0)
            found[head.name] = slice_of(logits, begin=begins, size=size)
            begin += head.logits_dimension
    return found


def _default_of(outputs: dict, name: str) -> Any:
    if len(outputs) == 1:
        return next(iter(outputs.values()))
    if DEFAULT_SERVING_SIGNATURE_DEF_KEY in outputs:
        return outputs[DEFAULT_SERVING_SIGNATURE_DEF_KEY]
    raise ValueError(f"{name} did not specify default export_outputs. Given: {outputs} Suggested fix: Use one of the heads in "
                     f"tf.contrib.estimator, or include key {DEFAULT_SERVING_SIGNATURE_DEF_KEY} in export_outputs.")


def multi_head(heads: Any, head_weights: Any = None) -> MultiHead:
    """One head of several, whose losses are added, weighed by `head_weights`.

    Raises ValueError for no heads, for heads without a name, and for another number of weights.
    """
    if head_weights and len(head_weights) != len(heads):
        raise ValueError(f"heads and head_weights must have the same size. Given len(heads): {len(heads)}. Given "
                         f"len(head_weights): {len(head_weights)}.")
    if not heads:
        raise ValueError(f"Must specify heads. Given: {heads}")
    for head in heads:
        if not head.name:
            raise ValueError(f"All given heads must have name specified. Given: {head}")
    return MultiHead(tuple(heads), tuple(head_weights) if head_weights else ())
