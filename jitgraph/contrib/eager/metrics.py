"""``tfe.metrics``: objects that keep sums over runs, with a call that adds to them and a result that divides them."""
from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from jitgraph.contrib.layers.arguments import smart_cond
from jitgraph.control.order_ops import group
from jitgraph.functions.graph_function import defun
from jitgraph.graph import dtypes
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.ops.arrays.identity import identity
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.arrays.shape import size
from jitgraph.ops.checks.check_values import assert_equal
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.compare import equal
from jitgraph.ops.elementwise.sums import add_n
from jitgraph.ops.reduce.reductions import argmax, reduce_sum
from jitgraph.summary.recording import scalar
from jitgraph.variables.variable_initializers import zeros_initializer
from jitgraph.variables.variable_scopes import get_variable, variable_scope


class Metric:
    """Base of metrics: a subclass makes its variables in ``build``, adds to them in ``call``, and gives ``result``.

    A call of the metric gives tensors; a run of any of them adds to the variables.  `name` is that of the variables' scope, the
    class's if None.  The variables are local ones, to be initialized by ``init_variables``, unless `use_global_variables`.
    """

    build: Callable[..., None]

    def __init__(self, name: str | None = None, use_global_variables: bool = False):
        self._built = False
        self._vars: list = []
        self._use_global_variables = use_global_variables
        name = name or type(self).__name__
        wanted = re.sub("[^A-Za-z0-9.]", "_", name)
        with variable_scope(wanted, use_resource=True, reuse=False) as scope:
            self._name = name + scope.name[scope.name.rfind(wanted) + len(wanted):]
            self._scope = scope
        self._make: Callable[..., None] = self.build
        self.build = self._build_once
        self._graph = get_default_graph()
        self.call = defun(self.call)        # type: ignore[method-assign]

    def _build_once(self, *args: Any, **kwargs: Any) -> None:
        self._make(*args, **kwargs)
        self._built = True

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Adds to the sums; gives what was given, as tensors that do so."""
        if not self._built:
            with variable_scope(self._scope), self._graph.as_default():
                self.build(*args, **kwargs)
        return self.call(*args, **kwargs)

    @property
    def name(self) -> str:
        """The name, with a number if another scope had it."""
        return self._name

    @property
    def variables(self) -> list:
        """The variables."""
        return self._vars

    def init_variables(self) -> Any:
        """An operation that sets all sums to their beginnings."""
        return group([variable.initializer for variable in self._vars])

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """Adds to the variables."""
        raise NotImplementedError("Metrics must define a call() member function")

    def result(self) -> Any:
        """The value, as a tensor."""
        raise NotImplementedError("Metrics must define a result() member function")

    def value(self) -> Any:
        """The value, as a tensor."""
        return self.result()

    def aggregate(self, metrics: list) -> Any:
        """Adds the sums of other metrics of the same class to these.

        Raises TypeError for another class, ValueError for variables of other names.
        """
        for metric in metrics:
            if type(metric) is not type(self):
                raise TypeError(f"All metrics must be the same type, '{type(self)}' != '{type(metric)}'.")
        added = []
        for number, variable in enumerate(self._vars):
            others = [metric._vars[number] for metric in metrics]
            if any(other.name != variable.name for other in others):
                raise ValueError("All metrics must have variables in the same order.")
            added.append(variable.assign_add(add_n(others)))
        return group(added)

    def add_variable(self, name: str, shape: Any = None, dtype: Any = None, initializer: Any = None) -> Any:
        """Makes a variable.  Raises RuntimeError outside of ``build``."""
        if self._built:
            raise RuntimeError("Can't call add_variable() except in build().")
        kept = GraphKeys.GLOBAL_VARIABLES if self._use_global_variables else GraphKeys.LOCAL_VARIABLES
        self._vars.append(get_variable(name, shape, dtype, initializer, trainable=False, use_resource=True,
                                       collections=[kept, GraphKeys.METRIC_VARIABLES]))
        return self._vars[-1]


def _no_build(self: Any, *args: Any, **kwargs: Any) -> None:
    raise NotImplementedError("Metrics must define a build() member function")


Metric.build = _no_build    # a method that objects replace by their own


class Mean(Metric):
    """The mean of all values so far, weighted; sums are of `dtype`."""

    def __init__(self, name: str | None = None, dtype: Any = dtypes.float64, use_global_variables: bool = False):
        super().__init__(name=name, use_global_variables=use_global_variables)
        self.dtype = dtype

    def build(self, *args: Any, **kwargs: Any) -> None:     # type: ignore[override]
        """Makes the sums of the values and of the weights."""
        self.numer = self.add_variable("numer", shape=(), dtype=self.dtype, initializer=zeros_initializer)
        self.denom = self.add_variable("denom", shape=(), dtype=self.dtype, initializer=zeros_initializer)

    def call(self, values: Any, weights: Any = None) -> Any:        # type: ignore[override]
        """Adds the values, a tensor of any shape, times `weights`, which broadcast against them; gives both."""
        if weights is None:
            self.denom.assign_add(cast(identity(size(values)), self.dtype))
            values = reduce_sum(values)
            self.numer.assign_add(cast(values, self.dtype))
            return values
        weights = cast(weights, self.dtype)
        self.denom.assign_add(reduce_sum(weights))
        values = cast(values, self.dtype) * weights
        self.numer.assign_add(reduce_sum(values))
        return values, weights

    def result(self, write_summary: Any = True) -> Any:
        """The mean; `write_summary`, a bool or a tensor, says whether a summary of ``tf.contrib.summary`` is written too."""
        mean = self.numer / self.denom

        def written() -> Any:
            scalar(name=self.name, tensor=mean)
            return mean

        smart_cond(convert_to_tensor(write_summary), written, lambda: mean, name="")
        return mean


class _Matches(Mean):
    """The mean of whether labels are what was predicted."""

    _unequal = "Shapes of labels and predictions are unequal"

    def __init__(self, name: str | None = None, dtype: Any = dtypes.float64):
        super().__init__(name=name, dtype=dtype)

    def call(self, labels: Any, predictions: Any, weights: Any = None) -> Any:      # type: ignore[override]
        """Adds a batch; gives what was compared, and the weights.  A run raises InvalidArgumentError if shapes differ."""
        assert_equal(*self._shapes(labels, predictions), message=self._unequal)
        labels, predictions = self._compared(labels, predictions)
        super().call(cast(equal(labels, predictions), self.dtype), weights=weights)
        return (labels, predictions) if weights is None else (labels, predictions, weights)

    def _shapes(self, labels: Any, predictions: Any) -> tuple[Any, Any]:
        return shape_of(labels), shape_of(predictions)

    def _compared(self, labels: Any, predictions: Any) -> tuple[Any, Any]:
        return labels, predictions


class Accuracy(_Matches):
    """How many predictions are the labels."""


class CategoricalAccuracy(_Matches):
    """How many of the largest predictions, along the last axis, stand where the largest label does."""

    def _compared(self, labels: Any, predictions: Any) -> tuple[Any, Any]:
        return argmax(labels, axis=-1), argmax(predictions, axis=-1)


class BinaryAccuracy(_Matches):
    """How many predictions above `threshold`, and only these, have a label that is not zero."""

    def __init__(self, threshold: float, name: str | None = None, dtype: Any = dtypes.float64):
        super().__init__(name=name, dtype=dtype)
        self.threshold = threshold

    def _compared(self, labels: Any, predictions: Any) -> tuple[Any, Any]:
        return cast(labels, dtypes.bool_), convert_to_tensor(predictions) > self.threshold


class SparseAccuracy(_Matches):
    """How many of the largest predictions, along the last axis, stand at the label, an integer [batch]."""

    _unequal = "First axis of labels and predictions is unequal"

    def _shapes(self, labels: Any, predictions: Any) -> tuple[Any, Any]:
        return shape_of(labels), shape_of(predictions)[0]

    def _compared(self, labels: Any, predictions: Any) -> tuple[Any, Any]:
        return cast(labels, dtypes.int64), argmax(predictions, axis=-1)
