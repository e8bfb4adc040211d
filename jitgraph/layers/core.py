"""Layers without windows: ``Dense``, ``Dropout``, ``Flatten``, and the functions that call them once."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.graph.composite import SparseTensor
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.dtypes import as_dtype
from jitgraph.graph.python_numbers import number_of
from jitgraph.graph.shapes import TensorShape
from jitgraph.layers.arguments import normalize_data_format, smart_cond
from jitgraph.layers.base import Layer
from jitgraph.layers.by_name import ZEROS, activation_of, initializer_of, regularizer_of
from jitgraph.layers.functional import functional
from jitgraph.layers.input_spec import InputSpec
from jitgraph.layers.learning_phase import in_training
from jitgraph.ops.arrays.identity import identity
from jitgraph.ops.arrays.layout import transpose
from jitgraph.ops.arrays.shape import reshape
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.elementwise.bias import bias_add
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.linalg.products import tensordot
from jitgraph.ops.nn import functions
from jitgraph.ops.sparse.sparse_functions import sparse_tensor_dense_matmul


class Dense(Layer):
    """activation(inputs . kernel + bias), along the last axis.

    `inputs` [..., n] of floats give [..., units].  Variables: ``kernel`` [n, units], ``bias`` [units] with `use_bias`.
    Initializers, regularizers (functions of the variable that give a loss) and constraints (functions that give the value to
    keep after a training step) are for the variable they name; `activity_regularizer` gives a loss for each output.
    Raises ValueError if the last axis of the inputs is unknown, TypeError for a dtype that is no float.
    """

    _config_fields: tuple[str, ...] = (
        "units", "activation", "use_bias", "kernel_initializer", "bias_initializer", "kernel_regularizer", "bias_regularizer",
        "activity_regularizer", "kernel_constraint", "bias_constraint")

    def __init__(self, units: int, activation: Any = None, use_bias: bool = True, kernel_initializer: Any = None,
                 bias_initializer: Any = ZEROS, kernel_regularizer: Any = None,
                 bias_regularizer: Any = None, activity_regularizer: Any = None, kernel_constraint: Any = None,
                 bias_constraint: Any = None, trainable: bool = True, name: str | None = None, **kwargs: Any):
        super().__init__(trainable=trainable, name=name, activity_regularizer=regularizer_of(activity_regularizer), **kwargs)
        self.units = int(number_of(units))
        self.activation = activation_of(activation)
        self.use_bias = use_bias
        self.kernel_initializer = initializer_of(kernel_initializer)
        self.bias_initializer = initializer_of(bias_initializer)
        self.kernel_regularizer = regularizer_of(kernel_regularizer)
        self.bias_regularizer = regularizer_of(bias_regularizer)
        self.kernel_constraint = kernel_constraint
        self.bias_constraint = bias_constraint
        self.supports_masking = True
        self.input_spec = InputSpec(min_ndim=2)

    def build(self, input_shape: Any) -> None:
        """Makes ``kernel`` and ``bias``."""
        dtype = as_dtype(self.dtype or "float32")
        if not (dtype.is_floating or dtype.is_complex):
            raise TypeError(f"Unable to build `Dense` layer with non-floating point dtype {dtype!r}: layer {self.name} got inputs "
                            "of it; tf.cast them to tf.float32")
        size = TensorShape(input_shape)[-1].value
        if size is None:
            raise ValueError("The last dimension of the inputs to `Dense` should be defined. Found `None`. (Layer "
                             f"{self.name} got inputs of shape {input_shape}: tell it with set_shape.)")
        self.input_spec = InputSpec(min_ndim=2, axes={-1: size})
        self.kernel = self.add_weight("kernel", [size, self.units], self.dtype, self.kernel_initializer,
                                      self.kernel_regularizer, constraint=self.kernel_constraint, trainable=True)
        self.bias: Any = None
        if self.use_bias:
            self.bias = self.add_weight("bias", [self.units], self.dtype, self.bias_initializer, self.bias_regularizer,
                                        constraint=self.bias_constraint, trainable=True)
        self.built = True

    def call(self, inputs: Any) -> Any:
        """The outputs [..., units] for `inputs` [..., n], dense or, of rank 2, sparse."""
        rank = inputs.shape.ndims
        if rank > 2:
            outputs = tensordot(inputs, self.kernel, [[rank - 1], [0]])
            outputs.set_shape([*inputs.shape.as_list()[:-1], self.units])
        else:
            inputs = cast(inputs, self.dtype)
            if isinstance(inputs, SparseTensor):
                outputs = sparse_tensor_dense_matmul(inputs, self.kernel)
            else:
                outputs = raw.MatMul(inputs, self.kernel)
        if self.use_bias:
            outputs = bias_add(outputs, self.bias)
        return outputs if self.activation is None else self.activation(outputs)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """[..., units].  Raises ValueError if the last size is unknown."""
        known = TensorShape(input_shape).with_rank_at_least(2)
        if known[-1].value is None:
            raise ValueError(f"The innermost dimension of input_shape must be defined, but saw: {known}")
        return known[:-1].concatenate(self.units)


class Dropout(Layer):
    """In training, sets a fraction `rate` of the elements to 0 and divides the others by 1 - rate; else, nothing.

    `noise_shape`: the shape of what is drawn, broadcast over the inputs (None in it: the size of the inputs).
    """

    _config_fields: tuple[str, ...] = ("rate", "noise_shape", "seed")

    def __init__(self, rate: Any = 0.5, noise_shape: Any = None, seed: int | None = None, name: str | None = None, **kwargs: Any):
        super().__init__(name=name, **kwargs)
        self.rate = rate
        self.noise_shape = noise_shape
        self.seed = seed
        self.supports_masking = True

    def _get_noise_shape(self, inputs: Any) -> Any:
        if self.noise_shape is None:
            return None
        sizes = shape_of(inputs)
        return convert_to_tensor([sizes[k] if size is None else size for k, size in enumerate(self.noise_shape)])

    def call(self, inputs: Any, training: Any = False) -> Any:
        """`inputs`, with elements dropped if `training` (a bool or a bool scalar; None: the learning phase) holds."""
        def dropped() -> Any:
            return functions.dropout(inputs, noise_shape=self._get_noise_shape(inputs), seed=self.seed, rate=self.rate)

        return smart_cond(in_training(training), dropped, lambda: identity(inputs))

    def compute_output_shape(self, input_shape: Any) -> Any:
        """That of the inputs."""
        return input_shape


class Flatten(Layer):
    """[batch, ...] becomes [batch, n]; [batch] becomes [batch, 1].

    With `data_format` "channels_first", the axis of channels becomes the last before.
    """

    _config_fields: tuple[str, ...] = ("data_format",)

    def __init__(self, data_format: str | None = None, **kwargs: Any):
        super().__init__(**kwargs)
        self.data_format = normalize_data_format(data_format)
        self.input_spec = InputSpec(min_ndim=1)

    def call(self, inputs: Any) -> Any:
        """`inputs` with all axes but the first made one."""
        rank = inputs.shape.ndims
        if self.data_format == "channels_first" and rank is not None and rank > 1:
            inputs = transpose(inputs, perm=[0, *range(2, rank), 1])
        outputs = reshape(inputs, (inputs.shape[0].value or shape_of(inputs)[0], -1))
        outputs.set_shape(self.compute_output_shape(inputs.shape))
        return outputs

    def compute_output_shape(self, input_shape: Any) -> Any:
        """[batch, the product of the other sizes]."""
        sizes = TensorShape(input_shape).as_list()
        return TensorShape([sizes[0], int(np.prod(sizes[1:])) if all(sizes[1:]) else None])


dense = functional(Dense, "dense")


def dropout(inputs: Any, rate: Any = 0.5, noise_shape: Any = None, seed: int | None = None, training: Any = False,
            name: str | None = None) -> Any:
    """What a new ``Dropout`` with these arguments gives for `inputs`; nothing is dropped unless `training` holds."""
    return Dropout(rate, noise_shape=noise_shape, seed=seed, name=name).apply(inputs, training=training)


def flatten(inputs: Any, name: str | None = None, data_format: str = "channels_last") -> Any:
    """What a new ``Flatten`` with these arguments gives for `inputs`."""
    return Flatten(name=name, data_format=data_format).apply(inputs)
