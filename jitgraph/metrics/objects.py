"""Metrics as objects, such as the heads of ``tf.estimator`` have: variables, ``update_state`` and ``result``."""
from __future__ import annotations

from typing import Any

from jitgraph.control.order_ops import group
from jitgraph.graph import dtypes
from jitgraph.graph.operation import Operation
from jitgraph.graph.scopes import control_dependencies
from jitgraph.graph.tensor import Tensor
from jitgraph.losses.ranks import remove_squeezable_dimensions
from jitgraph.losses.weights import broadcast_weights
from jitgraph.metrics.streaming import metric_variable, squeezed
from jitgraph.metrics.thresholds import COUNTS, checked_counts, interpolated_area, spread
from jitgraph.ops.arrays.identity import identity
from jitgraph.ops.arrays.shape import size
from jitgraph.ops.elementwise.arithmetic import div_no_nan, multiply
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.compare import equal, greater
from jitgraph.ops.reduce.reductions import reduce_mean, reduce_sum
from jitgraph.variables.assignments import assign_add


class Metric:
    """What is measured over batches.

    `variables` are what it adds up in, `updates` the operations that ``update_state`` made.
    """

    def __init__(self, name: str):
        self.name = name
        self.variables: list = []
        self.updates: list[Operation] = []

    def _weight(self, name: str, shape: tuple = ()) -> Any:
        made = metric_variable(shape, dtypes.float32, name=name, use_resource=True)
        self.variables.append(made)
        return made

    def _updated(self, update: Any) -> Operation:
        operation: Operation = update.op if isinstance(update, Tensor) else update
        self.updates.append(operation)
        return operation

    def result(self) -> Tensor:
        """The value so far, a float32 scalar."""
        return identity(self._value())

    def _value(self) -> Any:
        raise NotImplementedError


class Mean(Metric):
    """The weighted mean of values."""

    def __init__(self, name: str):
        super().__init__(name)
        self.total: Any = self._weight("total")
        self.count: Any = self._weight("count")

    def update_state(self, values: Any, sample_weight: Any = None) -> Operation:
        """Adds `values`, weighed by a number or a tensor that fits them.  Raises ValueError if it does not fit."""
        values = cast(values, dtypes.float32)
        amount = None
        if sample_weight is not None:
            values, _, weights = squeezed(values, None, cast(sample_weight, dtypes.float32))
            weights = broadcast_weights(weights, values)
            values, amount = multiply(values, weights), reduce_sum(weights)
        added = reduce_sum(values)
        with control_dependencies([added]):
            total = assign_add(self.total, added)
        amount = cast(size(values), dtypes.float32) if amount is None else amount
        with control_dependencies([total]):
            return self._updated(assign_add(self.count, amount))

    def _value(self) -> Tensor:
        return div_no_nan(self.total, self.count)


class Accuracy(Mean):
    """Which part of the predictions equals the labels."""

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Operation:       # type: ignore[override]
        """Adds labels and predictions of the same shape."""
        y_true, y_pred = remove_squeezable_dimensions(cast(y_true, dtypes.float32), cast(y_pred, dtypes.float32))
        return super().update_state(cast(equal(y_true, y_pred), dtypes.float32), sample_weight)


class BinaryAccuracy(Mean):
    """Which part of the predictions, being above a threshold or not, equals the labels; a mean over the last axis first."""

    def __init__(self, name: str, threshold: float):
        super().__init__(name)
        self._threshold = threshold

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Operation:       # type: ignore[override]
        """Adds labels and predictions [..., n]."""
        y_true, y_pred = remove_squeezable_dimensions(cast(y_true, dtypes.float32), cast(y_pred, dtypes.float32))
        decided = cast(greater(y_pred, self._threshold), dtypes.float32)
        return super().update_state(reduce_mean(cast(equal(y_true, decided), dtypes.float32), axis=-1), sample_weight)


class _Counts(Metric):
    """Counts of right and wrong predictions at thresholds."""

    _kinds: tuple[str, ...]

    def __init__(self, name: str, thresholds: list[float]):
        super().__init__(name)
        self._thresholds = thresholds
        self._counts = {kind: self._weight(COUNTS[kind], (len(thresholds),)) for kind in self._kinds}

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Operation:
        """Adds labels 0 and 1 and predictions in [0, 1]; a run raises InvalidArgumentError for others."""
        _, updates = checked_counts(y_true, cast(y_pred, dtypes.float32), self._thresholds, sample_weight, self._kinds,
                                    self._counts)
        return self._updated(group(*updates.values()))


class Precision(_Counts):
    """Which part of the predictions above a threshold is right."""

    _kinds = ("tp", "fp")

    def __init__(self, name: str, threshold: float = 0.5):
        super().__init__(name, [threshold])

    def _value(self) -> Any:
        right, wrong = self._counts.values()
        return div_no_nan(right, right + wrong)[0]


class Recall(Precision):
    """Which part of the true labels is predicted above a threshold."""

    _kinds = ("tp", "fn")


class AUC(_Counts):
    """The area under a curve, "ROC" or "PR", of 200 thresholds, with counts interpolated between them."""

    _kinds = ("tp", "tn", "fp", "fn")

    def __init__(self, name: str, curve: str = "ROC"):
        super().__init__(name, spread(200))
        self._curve = curve

    def _value(self) -> Tensor:
        tp, tn, fp, fn = (identity(count) for count in self._counts.values())
        last = len(self._thresholds) - 1
        if self._curve == "PR":
            return interpolated_area(tp, fp, fn, last)
        x, y = div_no_nan(fp, fp + tn), div_no_nan(tp, tp + fn)
        return reduce_sum(multiply(x[:last] - x[1:], (y[:last] + y[1:]) / 2.0), name=self.name)
