"""``tf.create_partitioned_variables``: the parts of a variable as a list."""
from __future__ import annotations

from typing import Any

from jitgraph.graph import dtypes
from jitgraph.variables.variable_scopes import get_variable, variable_scope


def create_partitioned_variables(shape: Any, slicing: Any, initializer: Any, dtype: Any = dtypes.float32,
                                 trainable: bool = True, collections: Any = None, name: str | None = None,
                                 reuse: Any = None) -> list:
    """The parts of a variable of `shape` that is cut into ``slicing[d]`` parts along dimension `d`.

    At most one of the numbers in `slicing` may be over 1.  `initializer` is a function of a shape, or a tensor of
    `shape`; `name` is "PartitionedVariable" unless it is given.  Raises ValueError for a slicing that does not suit.
    """
    if len(shape) != len(slicing):
        raise ValueError("The 'shape' and 'slicing' of a partitioned Variable must have the length: "
                         f"shape: {shape}, slicing: {slicing}")
    if len(shape) < 1:
        raise ValueError(f"A partitioned Variable must have rank at least 1: shape: {shape}")
    with variable_scope(name, "PartitionedVariable", reuse=reuse):
        if not callable(initializer):
            shape, dtype = None, None       # those of the tensor
        return list(get_variable(None, shape, dtype, initializer, trainable=trainable, collections=collections,
                                 partitioner=lambda **unused: slicing))
