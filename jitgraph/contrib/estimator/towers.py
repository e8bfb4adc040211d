"""``tf.contrib.estimator.replicate_model_fn`` and ``TowerOptimizer``, on the one device that sessions have."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.contrib.framework.deprecation import deprecated
from jitgraph.estimator.arguments import taken
from jitgraph.graph.scopes import add_to_collection, device, get_collection
from jitgraph.losses.losses import Reduction
from jitgraph.train.optimizer import Optimizer


@deprecated("2018-05-31", "Please use `tf.contrib.distribute.MirroredStrategy` instead.")
def replicate_model_fn(model_fn: Callable, loss_reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
                       devices: Any = None) -> Callable:
    """The model function on one device.  Raises ValueError for no reduction, and for several `devices`: a session has one."""
    if loss_reduction == Reduction.NONE:
        raise ValueError(f"Tower losses need to be reduced in some way, yet {loss_reduction} reduction is specified.")
    if devices and len(devices) > 1:
        raise ValueError(f"A session runs on one device, there are {len(devices)} in {devices}: leave `devices` out.")

    def replicated(features: Any, labels: Any, mode: str, params: Any = None, config: Any = None) -> Any:
        with device("/device:CPU:0"):
            return model_fn(features=features, labels=labels, mode=mode, **taken(model_fn, params=params, config=config))

    return replicated


class TowerOptimizer(Optimizer):
    """An optimizer, or what a function gives; with one device it is what it is made of."""

    COLLECTION_FOR_GRAPH_STATES = "replicate_model_fn_graph_states"

    @deprecated("2018-05-31", "Please use `tf.contrib.distribute.MirroredStrategy` instead.")
    def __init__(self, optimizer_or_optimizer_fn: Any):
        self._given = optimizer_or_optimizer_fn

    def _optimizer(self) -> Optimizer:
        if not isinstance(self._given, Optimizer):
            self._given = self._given()
        made: Optimizer = self._given
        return made

    @staticmethod
    def has_been_used() -> bool:
        """Whether one has given gradients for this graph."""
        return bool(get_collection(TowerOptimizer.COLLECTION_FOR_GRAPH_STATES))

    def get_name(self, *args: Any, **kwargs: Any) -> str:
        """The name of the optimizer."""
        return self._optimizer().get_name(*args, **kwargs)

    def compute_gradients(self, loss: Any, *args: Any, **kwargs: Any) -> list:
        """Those of the optimizer."""
        if not self.has_been_used():
            add_to_collection(self.COLLECTION_FOR_GRAPH_STATES, self)
        return self._optimizer().compute_gradients(loss, *args, **kwargs)

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None,     # type: ignore[override]
                        **kwargs: Any) -> Any:
        """What the optimizer makes of them."""
        return self._optimizer().apply_gradients(grads_and_vars, global_step, **kwargs)

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        """That of the optimizer."""
        return self._optimizer().get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> Any:
        """Those of the optimizer."""
        return self._optimizer().get_slot_names(*args, **kwargs)

    def variables(self, *args: Any, **kwargs: Any) -> list:
        """Those of the optimizer."""
        return self._optimizer().variables(*args, **kwargs)
