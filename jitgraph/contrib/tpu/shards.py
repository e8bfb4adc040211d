"""What is done for several shards of a TPU, with one shard; variables whose values are computed with as bfloat16."""
from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from jitgraph.app import logs
from jitgraph.graph import dtypes
from jitgraph.losses.losses import Reduction
from jitgraph.ops.elementwise.cast import cast
from jitgraph.train.optimizer import Optimizer
from jitgraph.variables.variable_scopes import variable_scope


class CrossShardOptimizer(Optimizer):
    """`opt`, with the gradients of all shards added up; here there is one.

    Raises ValueError for a `reduction` that is neither SUM nor MEAN, TypeError if `opt` is no optimizer.
    """

    def __init__(self, opt: Any, reduction: str = Reduction.MEAN, name: str = "CrossShardOptimizer", group_assignment: Any = None):
        if reduction not in (Reduction.SUM, Reduction.MEAN):
            raise ValueError(f"Unsupported reduction: {reduction}.")
        if not isinstance(opt, Optimizer):
            raise TypeError("CrossShardOptimizer only works with tf.training.Optimizer and not Optimizer_v2. If you are using "
                            "TPUStrategy, OptimizerV2 will sum gradients across replicas.If you want to average your gradients, "
                            "rescale your loss with: `loss /= global_batch_size`")
        super().__init__(False, name)
        self._opt, self._reduction, self._group_assignment = opt, reduction, group_assignment

    def compute_gradients(self, loss: Any, var_list: Any = None, **kwargs: Any) -> list:     # type: ignore[override]
        """Those of `opt`."""
        logs.warning("CrossShardOptimizer should be used within a tpu_shard_context, but got unset number_of_shards. Assuming 1.")
        return self._opt.compute_gradients(loss, var_list=var_list, **kwargs)

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Any:
        """The step of `opt`."""
        return self._opt.apply_gradients(grads_and_vars, global_step, name)

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        """A slot of `opt`."""
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> Any:
        """The names of the slots of `opt`."""
        return self._opt.get_slot_names(*args, **kwargs)

    def variables(self) -> list:
        """The variables of `opt`."""
        return self._opt.variables()


@contextlib.contextmanager
def bfloat16_scope() -> Iterator[Any]:
    """A variable scope in which variables asked for as bfloat16 are kept as float32 and read as bfloat16."""
    with variable_scope("", custom_getter=_getter) as scope:
        yield scope


def _getter(getter: Callable, *args: Any, **kwargs: Any) -> Any:
    asked = kwargs["dtype"]
    if asked == dtypes.bfloat16:
        kwargs["dtype"] = dtypes.float32
    variable = getter(*args, **kwargs)
    return variable if variable.dtype.base_dtype == asked else cast(variable, dtype=asked)
