"""``tf.estimator.MultiHead``: several heads on one model."""
from __future__ import annotations

from typing import Any

from jitgraph.control.order_ops import no_op
from jitgraph.estimator.canned.joined_heads import by_head, joined_exports, joined_losses
from jitgraph.estimator.canned.keys import MetricKeys
from jitgraph.estimator.heads.head import Head, summarize, train_op_of
from jitgraph.estimator.modes import ModeKeys
from jitgraph.estimator.spec import EstimatorSpec
from jitgraph.graph.scopes import name_scope
from jitgraph.metrics.objects import Mean, Metric
from jitgraph.ops.elementwise.sums import add_n


class MultiHead(Head):
    """Heads whose logits lie side by side, or in a dict by their names; their losses are added, weighed by `head_weights`.

    Labels are a dict by the names of the heads, predictions are named (head, key).  Raises ValueError for no heads, for heads
    without a name, and for another number of weights.
    """

    def __init__(self, heads: Any, head_weights: Any = None):
        if not heads:
            raise ValueError(f"Must specify heads. Given: {heads}")
        if head_weights and len(head_weights) != len(heads):
            raise ValueError(f"heads and head_weights must have the same size. Given len(heads): {len(heads)}. Given "
                             f"len(head_weights): {len(head_weights)}.")
        for head in heads:
            if head.name is None:
                raise ValueError(f"All given heads must have name specified. Given: {head}")
        self._heads, self._head_weights = tuple(heads), tuple(head_weights) if head_weights else ()
        self._logits_dimension = sum(head.logits_dimension for head in heads)

    @property
    def name(self) -> str:
        """The names of the heads."""
        return "_".join(head.name for head in self._heads)

    @property
    def logits_dimension(self) -> int:
        """The sum of the heads' sizes."""
        return self._logits_dimension

    @property
    def loss_reduction(self) -> str:
        """That of the heads.  Raises ValueError if they differ."""
        found = [head.loss_reduction for head in self._heads]
        if len(set(found)) > 1:
            raise ValueError(f"The loss_reduction must be the same for different heads. Given: {found}")
        return found[0]

    def _parts(self, logits: Any, labels: Any = None) -> dict[str, Any]:
        """{head: its logits}.  Raises ValueError for logits and labels that are not there for all heads."""
        if isinstance(logits, dict):
            self._check_all(logits, "logits")
        parts = by_head(self._heads, logits)
        if labels is not None:
            if not isinstance(labels, dict):
                raise ValueError(f"labels must be a dict. Given: {labels}")
            self._check_all(labels, "labels")
        return parts

    def _check_all(self, given: dict, what: str) -> None:
        without = [head.name for head in self._heads if head.name not in given]
        if without:
            raise ValueError(f"{what} has missing values for head(s): {without}")

    def loss(self, labels: Any, logits: Any, features: Any = None, mode: Any = None, regularization_losses: Any = None) -> Any:
        """The weighted sum of the heads' losses; `regularization_losses` are scalars that are added."""
        parts = self._parts(logits, labels)
        losses = [head.loss(logits=parts[head.name], labels=labels[head.name], features=features, mode=mode)
                  for head in self._heads]
        total = joined_losses(losses, self._head_weights)
        return total if regularization_losses is None else total + add_n(regularization_losses)

    def predictions(self, logits: Any, keys: Any = None) -> dict:
        """{(head, key): prediction} of all heads."""
        parts = self._parts(logits)
        with name_scope(None, "merge_pred"):
            return {(head.name, key): value for head in self._heads
                    for key, value in head.predictions(logits=parts[head.name]).items()}

    def metrics(self, regularization_losses: Any = None) -> dict[str, Metric]:
        """{"loss/" and the name of a head: its loss}; those of the heads join when they are updated."""
        found: dict[str, Metric] = {}
        if regularization_losses is not None:
            found[self._summary_key(MetricKeys.LOSS_REGULARIZATION)] = Mean(MetricKeys.LOSS_REGULARIZATION)
        with name_scope(None, "merge_eval"):
            for key in self._loss_keys():
                found[key] = Mean(key)
        return found

    def _loss_keys(self) -> list[str]:
        return [f"{MetricKeys.LOSS}/{head.name}" for head in self._heads]

    def update_metrics(self, eval_metrics: dict, features: Any, logits: Any, labels: Any,      # type: ignore[override]
                       regularization_losses: Any = None) -> dict[str, Metric]:
        """`eval_metrics` with those of the heads, to which the examples of a batch were added."""
        parts = self._parts(logits, labels)
        if regularization_losses is not None:
            key = self._summary_key(MetricKeys.LOSS_REGULARIZATION)
            eval_metrics[key].update_state(add_n(regularization_losses))
        for head, key in zip(self._heads, self._loss_keys()):
            own_logits, own_labels = parts[head.name], labels[head.name]
            eval_metrics[key].update_state(head.loss(logits=own_logits, labels=own_labels, features=features))
            eval_metrics.update(head.update_metrics(head.metrics(), features, own_logits, own_labels) or {})
        return eval_metrics

    def create_estimator_spec(self, features: Any, mode: str, logits: Any, labels: Any = None, optimizer: Any = None,
                              trainable_variables: Any = None, train_op_fn: Any = None, update_ops: Any = None,
                              regularization_losses: Any = None) -> EstimatorSpec:
        """The EstimatorSpec of a model with these logits; the arguments are those of a single head's.

        Raises ValueError for another mode, and for logits and labels that are not there for all heads.
        """
        with name_scope(self.name, "multi_head"):
            parts = self._parts(logits, labels)
            specs = [head.create_estimator_spec(features=features, mode=mode, logits=parts[head.name],
                                                labels=labels[head.name] if labels else None, train_op_fn=lambda loss: no_op())
                     for head in self._heads]
            predictions = self.predictions(logits)
            if mode == ModeKeys.PREDICT:
                return EstimatorSpec(mode, predictions=predictions, export_outputs=joined_exports(self._heads, specs))
            loss = self.loss(labels, logits, features, mode, regularization_losses)
            if mode == ModeKeys.EVAL:
                updated = self.update_metrics(self.metrics(regularization_losses), features, logits, labels, regularization_losses)
                return EstimatorSpec(mode, predictions=predictions, loss=loss, eval_metric_ops=updated)
            if mode == ModeKeys.TRAIN:
                train_op = train_op_of(loss, optimizer, trainable_variables, train_op_fn, update_ops)
                summarize(str, loss, regularization_losses)
                return EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op)
            raise ValueError(f"mode={mode} unrecognized")
