"""The networks of flows: layers that are masked so that an output depends on earlier inputs alone (Germain and others, 2015)."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph.graph.scopes import name_scope
from jitgraph.graph.shapes import dimension_value
from jitgraph.graph.tensor import Tensor
from jitgraph.layers.core import Dense, dense
from jitgraph.ops.arrays.identity import stop_gradient
from jitgraph.ops.arrays.join import concat, split, unstack
from jitgraph.ops.arrays.shape import reshape
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.elementwise.activation import relu
from jitgraph.ops.elementwise.clip import clip_by_value
from jitgraph.variables.template import make_template
from jitgraph.variables.variable_initializers import glorot_normal_initializer


def _mask(blocks: int, inputs: int, outputs: int, exclusive: bool) -> np.ndarray:
    """float32 [inputs, outputs]: 1 where an output is of a later block than the input, or of the same unless `exclusive`."""
    mask = np.zeros([outputs, inputs], dtype=np.float32)
    of_inputs, of_outputs = inputs // blocks, outputs // blocks
    for block in range(blocks):
        first = (block + exclusive) * of_outputs
        mask[first:, block * of_inputs:(block + 1) * of_inputs] = 1
    return mask.T


def _last_dimension(x: Tensor) -> int:
    depth = dimension_value(x.shape.with_rank_at_least(1)[-1])
    if depth is None:
        raise NotImplementedError("Rightmost dimension must be known prior to graph execution.")
    return depth


def masked_dense(inputs: Tensor, units: int, num_blocks: int | None = None, exclusive: bool = False,
                 kernel_initializer: Any = None, reuse: Any = None, name: str | None = None, *args: Any, **kwargs: Any) -> Tensor:
    """A dense layer whose inputs and outputs are in `num_blocks` blocks: each output depends on the blocks up to its own.

    With `exclusive` on those before its own.  The other arguments are those of ``tf.layers.dense``.  Raises NotImplementedError
    if the last dimension of `inputs` is not known.
    """
    mask = _mask(num_blocks or 0, _last_dimension(inputs), units, exclusive)
    initializer = glorot_normal_initializer() if kernel_initializer is None else kernel_initializer

    def masked_initializer(shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        return mask * initializer(shape, dtype, partition_info)

    with name_scope(name, "masked_dense", [inputs, units, num_blocks]):
        layer = Dense(units, *args, kernel_initializer=masked_initializer, kernel_constraint=lambda kernel: mask * kernel,
                      name=name, dtype=inputs.dtype.base_dtype, _scope=name, _reuse=reuse, **kwargs)
        return layer.apply(inputs)


def masked_autoregressive_default_template(hidden_layers: Any, shift_only: bool = False, activation: Callable | None = relu,
                                           log_scale_min_clip: float = -5.0, log_scale_max_clip: float = 3.0,
                                           log_scale_clip_gradient: bool = False, name: str | None = None, *args: Any,
                                           **kwargs: Any) -> Any:
    """A function of y that gives (shift, log_scale) for ``MaskedAutoregressiveFlow``: masked layers of the sizes `hidden_layers`.

    The logarithms are kept between two bounds; gradients go on as if they were not, except with `log_scale_clip_gradient`.
    Variables are made once, however often it is called.  `shift_only` gives None for log_scale.
    """
    name = name or "masked_autoregressive_default_template"
    with name_scope(name, values=[log_scale_min_clip, log_scale_max_clip]):

        def network(x: Tensor) -> tuple:
            depth = _last_dimension(x)
            shape: Any = np.array(x.shape.as_list(), np.int32) if x.shape.is_fully_defined() else shape_of(x)
            for layer, units in enumerate(hidden_layers):
                x = masked_dense(*args, inputs=x, units=units, num_blocks=depth, exclusive=layer == 0, activation=activation,
                                 **kwargs)
            x = masked_dense(*args, inputs=x, units=(1 if shift_only else 2) * depth, num_blocks=depth, activation=None, **kwargs)
            if shift_only:
                return reshape(x, shape=shape), None
            x = reshape(x, shape=concat([shape, [2]], axis=0))
            shift, log_scale = unstack(x, num=2, axis=-1)
            clip = clip_by_value if log_scale_clip_gradient else _clip_values_alone
            return shift, clip(log_scale, log_scale_min_clip, log_scale_max_clip)

        return make_template(name, network)


def _clip_values_alone(x: Tensor, least: Any, most: Any) -> Tensor:
    """`x` between two bounds, with the gradient of `x` as it was."""
    with name_scope(None, "clip_by_value_preserve_grad", [x, least, most]):
        return x + stop_gradient(clip_by_value(x, least, most) - x)


def real_nvp_default_template(hidden_layers: Any, shift_only: bool = False, activation: Callable | None = relu,
                              name: str | None = None, *args: Any, **kwargs: Any) -> Any:
    """A function of (x, how many outputs) that gives (shift, log_scale) for ``RealNVP``: dense layers of the sizes
    `hidden_layers`; `shift_only` gives None for log_scale.
    """
    with name_scope(name, "real_nvp_default_template"):

        def network(x: Tensor, output_units: int) -> tuple:
            for units in hidden_layers:
                x = dense(*args, inputs=x, units=units, activation=activation, **kwargs)
            x = dense(*args, inputs=x, units=(1 if shift_only else 2) * output_units, activation=None, **kwargs)
            if shift_only:
                return x, None
            shift, log_scale = split(x, 2, axis=-1)
            return shift, log_scale

        return make_template("real_nvp_default_template", network)
