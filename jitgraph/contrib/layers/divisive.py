"""Generalized divisive normalization (Balle, Laparra and Simoncelli, 2015)."""
from __future__ import annotations

from typing import Any

from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.dtypes import as_dtype
from jitgraph.graph.gradient_registry import RegisterGradient
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.shapes import TensorShape
from jitgraph.layers.base import Layer
from jitgraph.layers.input_spec import InputSpec
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.fill import ones
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.matrix_parts import eye
from jitgraph.ops.arrays.shape import expand_dims, reshape, squeeze
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.elementwise.arithmetic import maximum
from jitgraph.ops.elementwise.bias import bias_add
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.compare import logical_or
from jitgraph.ops.elementwise.composite_values import sqrt, square
from jitgraph.ops.nn.convolution_functions import convolution

_AXES = {"channels_first": 1, "channels_last": -1}


@RegisterGradient("GDNLowerBound")
def _lower_bound_grad(op: Any, grad: Any) -> list:
    inputs, bound = op.inputs
    passes = logical_or(inputs >= bound, grad < 0)
    return [cast(passes, grad.dtype) * grad, None]


def _lower_bound(inputs: Any, bound: Any) -> Any:
    """The greater of both, whose gradient also passes where it would raise inputs below the bound."""
    with name_scope(None, "GDNLowerBound", [inputs, bound]) as scope:
        inputs, bound = convert_to_tensor(inputs, name="inputs"), convert_to_tensor(bound, name="bound")
        with get_default_graph().gradient_override_map({"Maximum": "GDNLowerBound"}):
            return maximum(inputs, bound, name=scope)


class GDN(Layer):
    """Divides each channel by the root of a weighted sum of the squares of all channels: ``x[i] / sqrt(beta[i] + sum of
    gamma[j, i] * x[j] ** 2)``; with `inverse` it multiplies.

    Variables ``reparam_beta`` [channels] and ``reparam_gamma`` [channels, channels] are roots of beta (at least `beta_min`, one
    at first) and gamma (at least 0, `gamma_init` times the identity at first), both moved by `reparam_offset` squared.
    `data_format` is channels_last or channels_first.  Inputs have a rank from 3 to 5.  Raises ValueError for other formats and
    for an unknown number of channels.
    """

    def __init__(self, inverse: bool = False, beta_min: float = 1e-6, gamma_init: float = 0.1, reparam_offset: float = 2 ** -18,
                 data_format: str = "channels_last", activity_regularizer: Any = None, trainable: bool = True,
                 name: str | None = None, **kwargs: Any):
        super().__init__(trainable=trainable, name=name, activity_regularizer=activity_regularizer, **kwargs)
        if data_format not in _AXES:
            raise ValueError(f"Unsupported `data_format` for GDN layer: {data_format}.")
        self.inverse, self.data_format = inverse, data_format
        self._beta_min, self._gamma_init, self._offset = beta_min, gamma_init, reparam_offset
        self.input_spec = InputSpec(min_ndim=3, max_ndim=5)

    def build(self, input_shape: Any) -> None:
        """Makes the variables, and ``beta`` and ``gamma`` from them."""
        axis = _AXES[self.data_format]
        shape = TensorShape(input_shape)
        channels = shape[axis].value
        if channels is None:
            raise ValueError("The channel dimension of the inputs to `GDN` must be defined.")
        self.input_spec = InputSpec(ndim=shape.ndims, axes={axis: channels})
        self._pedestal = constant(self._offset ** 2, dtype=self.dtype)
        beta_bound = constant((self._beta_min + self._offset ** 2) ** 0.5, dtype=self.dtype)
        gamma_bound = constant(self._offset, dtype=self.dtype)
        self.beta = self._positive("reparam_beta", [channels], self._first_beta, beta_bound)
        self.gamma = self._positive("reparam_gamma", [channels, channels], self._first_gamma, gamma_bound)
        self.built = True

    def _positive(self, name: str, shape: list, initializer: Any, bound: Any) -> Any:
        root = self.add_variable(name, shape=shape, initializer=initializer, dtype=self.dtype, trainable=True)
        return square(_lower_bound(root, bound)) - self._pedestal

    def _first_beta(self, shape: Any, dtype: Any = None, **_: Any) -> Any:
        moved = constant(self._offset ** 2, dtype=self.dtype)
        return sqrt(ones(shape, dtype=dtype) + moved)

    def _first_gamma(self, shape: Any, dtype: Any = None, **_: Any) -> Any:
        unit = eye(shape[0], dtype=dtype)
        return sqrt(self._gamma_init * unit + constant(self._offset ** 2, dtype=self.dtype))

    def call(self, inputs: Any) -> Any:
        """The normalized inputs."""
        inputs = convert_to_tensor(inputs, dtype=as_dtype(self.dtype))
        rank = inputs.get_shape().ndims
        gamma = reshape(self.gamma, (rank - 2) * [1] + self.gamma.get_shape().as_list())
        pool = sqrt(self._last(inputs, gamma) if self.data_format == "channels_last" else self._first(inputs, gamma, rank))
        outputs = inputs * pool if self.inverse else inputs / pool
        outputs.set_shape(inputs.get_shape())
        return outputs

    def _last(self, inputs: Any, gamma: Any) -> Any:
        return bias_add(convolution(square(inputs), gamma, "VALID"), self.beta, data_format="NHWC")

    def _first(self, inputs: Any, gamma: Any, rank: int) -> Any:
        pool = convolution(square(inputs), gamma, "VALID", data_format="NC" + "DHW"[2 - rank:])
        if rank == 3:
            return squeeze(bias_add(expand_dims(pool, 2), self.beta, data_format="NCHW"), [2])
        if rank == 4:
            return bias_add(pool, self.beta, data_format="NCHW")
        shape = shape_of(pool)
        flat = reshape(pool, concat([shape[:3], [-1]], 0))
        return reshape(bias_add(flat, self.beta, data_format="NCHW"), shape)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """The shape of the inputs.  Raises ValueError for another rank than 3 to 5 and for unknown channels."""
        shape = TensorShape(input_shape)
        if shape.ndims is None or not 3 <= shape.ndims <= 5:
            raise ValueError("`input_shape` must be of rank 3 to 5, inclusive.")
        if shape[_AXES[self.data_format]].value is None:
            raise ValueError("The channel dimension of `input_shape` must be defined.")
        return shape


def gdn(inputs: Any, inverse: bool = False, beta_min: float = 1e-6, gamma_init: float = 0.1, reparam_offset: float = 2 ** -18,
        data_format: str = "channels_last", activity_regularizer: Any = None, trainable: bool = True, name: str | None = None,
        reuse: Any = None) -> Any:
    """`inputs` through a ``GDN``, whose variables are those of `name` where `reuse` is set."""
    layer = GDN(inverse=inverse, beta_min=beta_min, gamma_init=gamma_init, reparam_offset=reparam_offset,
                data_format=data_format, activity_regularizer=activity_regularizer, trainable=trainable, name=name,
                dtype=inputs.dtype.base_dtype.name, _scope=name, _reuse=reuse)
    return layer.apply(inputs)
