"""``BatchNormalization``: inputs centred and scaled by the statistics of their batch, or by running averages of them."""
from __future__ import annotations

from typing import Any

from jitgraph.graph import dtypes
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import control_dependencies
from jitgraph.graph.shapes import TensorShape
from jitgraph.layers.arguments import constant_value, smart_cond
from jitgraph.layers.base import Layer
from jitgraph.layers.by_name import ONES, ZEROS, initializer_of, regularizer_of
from jitgraph.layers.input_spec import InputSpec
from jitgraph.layers.learning_phase import in_training
from jitgraph.layers.moving_statistics import assign_moving_average, assign_variance
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.fill import ones_like, zeros_like
from jitgraph.ops.arrays.identity import identity, stop_gradient
from jitgraph.ops.arrays.shape import reshape
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.elementwise.arithmetic import maximum, minimum
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.composite_values import sqrt
from jitgraph.ops.nn import functions
from jitgraph.ops.nn.batch_norm import fused_batch_norm
from jitgraph.ops.reduce.reductions import reduce_mean
from jitgraph.variables.synchronization import VariableAggregation, VariableSynchronization


class BatchNormalization(Layer):
    """(inputs - mean) / sqrt(variance + epsilon) * ``gamma`` + ``beta``, for each channel (Ioffe and Szegedy, 2015).

    In training, mean and variance are those of the batch, and updates in the collection UPDATE_OPS, which a training step has to
    run, move the averages ``moving_mean`` and ``moving_variance`` a part (1 - `momentum`) of the way to them.  Else, they are the
    averages.

    `axis`: that of the channels, or several.  `center`, `scale`: whether there are ``beta`` and ``gamma``.  `renorm` corrects by
    the averages also in training (Ioffe, 2017), as far as `renorm_clipping` ("rmax", "rmin", "dmax") allows.  `fused` False keeps
    from computing in one node.  `virtual_batch_size` normalises parts of that size by themselves.  `adjustment`: a function of
    the shape of the inputs that gives a scale and an offset for training.  Raises TypeError or ValueError for axes that are none,
    for inputs of unknown rank or number of channels, and for arguments that exclude each other.
    """

    _config_fields: tuple[str, ...] = (
        "axis", "momentum", "epsilon", "center", "scale", "beta_initializer", "gamma_initializer", "moving_mean_initializer",
        "moving_variance_initializer", "beta_regularizer", "gamma_regularizer", "beta_constraint", "gamma_constraint")

    def __init__(self, axis: Any = -1, momentum: float = 0.99, epsilon: float = 1e-3, center: bool = True, scale: bool = True,
                 beta_initializer: Any = ZEROS, gamma_initializer: Any = ONES,
                 moving_mean_initializer: Any = ZEROS, moving_variance_initializer: Any = ONES,
                 beta_regularizer: Any = None, gamma_regularizer: Any = None, beta_constraint: Any = None,
                 gamma_constraint: Any = None, renorm: bool = False, renorm_clipping: dict | None = None,
                 renorm_momentum: float = 0.99, fused: bool | None = None, trainable: bool = True,
                 virtual_batch_size: int | None = None, adjustment: Any = None, name: str | None = None, **kwargs: Any):
        super().__init__(trainable=trainable, name=name, **kwargs)
        if not isinstance(axis, (int, list)):
            raise TypeError(f"axis must be int or list, type given: {type(axis)}")
        self.axis: Any = list(axis) if isinstance(axis, list) else axis
        self.momentum = momentum
        self.epsilon = epsilon
        self.center = center
        self.scale = scale
        self.beta_initializer = initializer_of(beta_initializer)
        self.gamma_initializer = initializer_of(gamma_initializer)
        self.moving_mean_initializer = initializer_of(moving_mean_initializer)
        self.moving_variance_initializer = initializer_of(moving_variance_initializer)
        self.beta_regularizer = regularizer_of(beta_regularizer)
        self.gamma_regularizer = regularizer_of(gamma_regularizer)
        self.beta_constraint = beta_constraint
        self.gamma_constraint = gamma_constraint
        self.renorm = renorm
        self.virtual_batch_size = virtual_batch_size
        self.adjustment = adjustment
        self.fused = True if fused is None else fused
        self.supports_masking = True
        self.gamma: Any = None
        self.beta: Any = None
        if renorm:
            clipping = renorm_clipping or {}
            unknown = set(clipping) - {"rmax", "rmin", "dmax"}
            if unknown:
                raise ValueError(f"renorm_clipping {clipping} contains keys not in ['rmax', 'rmin', 'dmax']")
            self.renorm_clipping = clipping
            self.renorm_momentum = renorm_momentum

    def get_config(self) -> dict[str, Any]:
        """The arguments it was made with, as plain data; those of `renorm` where it holds."""
        renorm = ("renorm", "renorm_clipping", "renorm_momentum") if self.renorm else ()
        return super().get_config() | {field: getattr(self, field) for field in renorm}

    # -- variables ----------------------------------------------------------------------------------------------------

    def build(self, input_shape: Any) -> None:
        """Makes ``gamma``, ``beta``, ``moving_mean`` and ``moving_variance``, with `renorm` three more."""
        shape = TensorShape(input_shape)
        if not shape.ndims:
            raise ValueError("Input has undefined rank:", shape)
        self._take_axes(shape)
        parameters = self._parameter_shape(shape)
        if self.scale:
            self.gamma = self._parameter("gamma", parameters, self.gamma_initializer, self.gamma_regularizer,
                                         self.gamma_constraint)
        elif self.fused:
            self._fixed_gamma = constant(1.0, self._param_dtype, parameters)
        if self.center:
            self.beta = self._parameter("beta", parameters, self.beta_initializer, self.beta_regularizer, self.beta_constraint)
        elif self.fused:
            self._fixed_beta = constant(0.0, self._param_dtype, parameters)
        self._make_averages(parameters)
        self.built = True

    def _take_axes(self, shape: Any) -> None:
        rank = shape.ndims
        self.axis = [axis + rank if axis < 0 else axis for axis in ([self.axis] if isinstance(self.axis, int) else self.axis)]
        for axis in self.axis:
            if not 0 <= axis < rank:
                raise ValueError(f"Invalid axis: {axis}")
        if len(set(self.axis)) != len(self.axis):
            raise ValueError(f"Duplicate axis: {self.axis}")
        if self.virtual_batch_size is not None:
            if self.virtual_batch_size <= 0:
                raise ValueError("virtual_batch_size must be a positive integer that divides the true batch size of the input "
                                 "Tensor")
            if 0 in self.axis:
                raise ValueError("When using virtual_batch_size, the batch dimension must be 0 and thus axis cannot include 0")
            if self.adjustment is not None:
                raise ValueError("When using virtual_batch_size, adjustment cannot be specified")
        one_node = not self.renorm and self.virtual_batch_size is None and self.adjustment is None
        self.fused = bool(self.fused) and rank == 4 and one_node and self.axis in ([1], [3])

    def _parameter_shape(self, shape: Any) -> list:
        sizes = {axis: shape[axis].value for axis in self.axis}
        if None in sizes.values():
            raise ValueError("Input has undefined `axis` dimension. Input shape: ", shape)
        self.input_spec = InputSpec(ndim=shape.ndims, axes=sizes)
        if len(sizes) == 1 and self.virtual_batch_size is None:
            return list(sizes.values())
        full = [sizes.get(axis, 1) for axis in range(shape.ndims)]
        if self.virtual_batch_size is not None:
            full.insert(1, 1)
            self.axis = [axis + 1 for axis in self.axis]        # the axis of the parts of the batch comes before them
        return full

    @property
    def _param_dtype(self) -> str:
        return "float32" if self.dtype in (None, "float16", "bfloat16") else str(self.dtype)

    def _parameter(self, name: str, shape: list, initializer: Any, regularizer: Any, constraint: Any) -> Any:
        return self.add_weight(name, shape, self._param_dtype, initializer, regularizer, constraint=constraint, trainable=True)

    def _average(self, name: str, shape: list, initializer: Any) -> Any:
        return self.add_weight(name, shape, self._param_dtype, initializer, trainable=False,
                               synchronization=VariableSynchronization.ON_READ, aggregation=VariableAggregation.MEAN)

    def _make_averages(self, shape: list) -> None:
        def stddev(*args: Any, **kwargs: Any) -> Any:
            return sqrt(self.moving_variance_initializer(*args, **kwargs))

        partitioner = None if self._scope is None else self._scope.partitioner
        if self._scope is not None:
            self._scope.set_partitioner(None)       # averages are not partitioned
        try:
            self.moving_mean = self._average("moving_mean", shape, self.moving_mean_initializer)
            self.moving_variance = self._average("moving_variance", shape, self.moving_variance_initializer)
            if self.renorm:
                self.moving_stddev = self._average("moving_stddev", shape, stddev)
                self.renorm_mean = self._average("renorm_mean", shape, self.moving_mean_initializer)
                self.renorm_stddev = self._average("renorm_stddev", shape, stddev)
        finally:
            if self._scope is not None:
                self._scope.set_partitioner(partitioner)

    # -- calls --------------------------------------------------------------------------------------------------------

    def call(self, inputs: Any, training: Any = False) -> Any:
        """`inputs` normalised, by their own statistics if `training` (a bool or a bool scalar; None: the learning phase) holds."""
        training = in_training(training)
        if self.fused:
            return self._fused(inputs, training)
        if self.virtual_batch_size is None:
            return self._normalized(inputs, training)
        sizes = inputs.shape.as_list()[1:]
        parts = reshape(inputs, [self.virtual_batch_size, -1, *sizes])
        return reshape(self._normalized(parts, training), [-1, *sizes])

    def _fused(self, inputs: Any, training: Any) -> Any:
        gamma = self.gamma if self.scale else self._fixed_gamma
        beta = self.beta if self.center else self._fixed_beta
        options: dict[str, Any] = {"epsilon": self.epsilon, "data_format": "NCHW" if self.axis == [1] else "NHWC"}

        def by_batch() -> Any:
            return fused_batch_norm(inputs, gamma, beta, **options)

        def by_averages() -> Any:
            return fused_batch_norm(inputs, gamma, beta, mean=self.moving_mean, variance=self.moving_variance,
                                    is_training=False, **options)

        outputs, mean, variance = smart_cond(training, by_batch, by_averages)
        known = constant_value(training)
        if known is None:
            momentum = smart_cond(training, lambda: self.momentum, lambda: 1.0)
        else:
            momentum = convert_to_tensor(self.momentum)
        if known is None or known:
            self.add_update(assign_moving_average(self.moving_mean, mean, momentum))
            self.add_update(assign_moving_average(self.moving_variance, variance, momentum))
        return outputs

    def _normalized(self, inputs: Any, training: Any) -> Any:
        rank = inputs.shape.ndims
        reduced = [axis for axis in range(rank) if axis not in self.axis]
        if self.virtual_batch_size is not None:
            del reduced[1]              # each part of the batch by itself
        broadcast = [1] * rank
        broadcast[self.axis[0]] = inputs.shape[self.axis[0]].value

        def broad(v: Any) -> Any:
            """`v`, one number per channel, in the rank of the inputs if the channels do not come last."""
            fits = v is None or v.shape.ndims == rank or reduced == list(range(rank - 1))
            return v if fits else reshape(v, broadcast)

        scale, offset = broad(self.gamma), broad(self.beta)
        known = constant_value(training)                # True, False, None, or a number of a tensor of numbers
        if known is not None and not known:
            mean, variance = self.moving_mean, self.moving_variance
        else:
            mean, variance, scale, offset = self._statistics(inputs, training, reduced, broad, scale, offset)
        mean, variance = cast(mean, inputs.dtype), cast(variance, inputs.dtype)
        offset = offset if offset is None else cast(offset, inputs.dtype)
        scale = scale if scale is None else cast(scale, inputs.dtype)
        outputs = functions.batch_normalization(inputs, broad(mean), broad(variance), offset, scale, self.epsilon)
        outputs.set_shape(inputs.shape)
        return outputs

    def _statistics(self, inputs: Any, training: Any, reduced: list, broad: Any, scale: Any, offset: Any) -> tuple:
        """(mean, variance, scale, offset) to normalise by if `training` may hold; adds the updates."""
        if self.adjustment:
            more, shift = self.adjustment(shape_of(inputs))
            more = smart_cond(training, lambda m=more: m, lambda m=more: ones_like(m))
            shift = smart_cond(training, lambda s=shift: s, lambda s=shift: zeros_like(s))
            scale, offset = _composed(more, shift, scale, offset)
        several = self.virtual_batch_size is not None or len(self.axis) > 1
        batch_mean, batch_variance = functions.moments(cast(inputs, dtypes.as_dtype(self._param_dtype)), reduced,
                                                       keep_dims=several)
        mean = smart_cond(training, lambda: batch_mean, lambda: convert_to_tensor(self.moving_mean))
        variance = smart_cond(training, lambda: batch_variance, lambda: convert_to_tensor(self.moving_variance))
        new_mean, new_variance = mean, variance
        if self.virtual_batch_size is not None:
            new_mean = reduce_mean(mean, axis=1, keepdims=True)
            new_variance = reduce_mean(variance, axis=1, keepdims=True)
        if self.renorm:
            r, d, new_mean, new_variance = self._correction(new_mean, new_variance, training)
            r, d = broad(stop_gradient(r, name="renorm_r")), broad(stop_gradient(d, name="renorm_d"))
            scale, offset = _composed(r, d, scale, offset)
        self._move_averages(new_mean, new_variance, training)
        return mean, variance, scale, offset

    def _move_averages(self, mean: Any, variance: Any, training: Any) -> None:
        def move_variance() -> Any:
            if not self.renorm:
                return assign_moving_average(self.moving_variance, variance, self.momentum)
            stddev = assign_moving_average(self.moving_stddev, sqrt(variance + self.epsilon), self.momentum)
            return assign_variance(self.moving_variance, stddev, self.epsilon)

        def move_mean() -> Any:
            return assign_moving_average(self.moving_mean, mean, self.momentum)

        self.add_update(lambda: smart_cond(training, move_mean, lambda: self.moving_mean))
        self.add_update(lambda: smart_cond(training, move_variance, lambda: self.moving_variance))

    def _correction(self, mean: Any, variance: Any, training: Any) -> tuple:
        """(r, d, mean, variance): in training, x * r + d is what the averages would make of x normalised by its batch."""
        stddev = sqrt(variance + self.epsilon)
        renorm_stddev = maximum(self.renorm_stddev, sqrt(self.epsilon))     # no division by 0 in the first steps
        r = stddev / renorm_stddev
        d = (mean - self.renorm_mean) / renorm_stddev
        with control_dependencies([r, d]):          # the averages from before the updates
            mean, stddev = identity(mean), identity(stddev)
        rmin, rmax, dmax = [self.renorm_clipping.get(key) for key in ("rmin", "rmax", "dmax")]
        r = r if rmin is None else maximum(r, rmin)
        r = r if rmax is None else minimum(r, rmax)
        if dmax is not None:
            d = minimum(maximum(d, -dmax), dmax)
        r = smart_cond(training, lambda clipped=r: clipped, lambda clipped=r: ones_like(clipped))
        d = smart_cond(training, lambda clipped=d: clipped, lambda clipped=d: zeros_like(clipped))
        moved = [self._moved(self.renorm_mean, mean, training), self._moved(self.renorm_stddev, stddev, training)]
        with control_dependencies(moved):
            return r, d, identity(mean), identity(variance)

    def _moved(self, variable: Any, value: Any, training: Any) -> Any:
        value = identity(value)
        return smart_cond(training, lambda: assign_moving_average(variable, value, self.renorm_momentum),
                          lambda: identity(variable))

    def compute_output_shape(self, input_shape: Any) -> Any:
        """That of the inputs."""
        return input_shape


def _composed(scale: Any, offset: Any, then_scale: Any, then_offset: Any) -> tuple:
    """One scale and offset for two that are applied one after the other."""
    if then_scale is not None:
        scale, offset = scale * then_scale, offset * then_scale
    return scale, offset if then_offset is None else offset + then_offset


def batch_normalization(inputs: Any, axis: Any = -1, momentum: float = 0.99, epsilon: float = 1e-3, center: bool = True,
                        scale: bool = True, beta_initializer: Any = ZEROS,
                        gamma_initializer: Any = ONES, moving_mean_initializer: Any = ZEROS,
                        moving_variance_initializer: Any = ONES, beta_regularizer: Any = None,
                        gamma_regularizer: Any = None, beta_constraint: Any = None, gamma_constraint: Any = None,
                        training: Any = False, trainable: bool = True, name: str | None = None, reuse: Any = None,
                        renorm: bool = False, renorm_clipping: dict | None = None, renorm_momentum: float = 0.99,
                        fused: bool | None = None, virtual_batch_size: int | None = None, adjustment: Any = None) -> Any:
    """What a new ``BatchNormalization`` with these arguments gives for `inputs`.

    In training, run the collection UPDATE_OPS with each step, for it moves the averages:
    ``with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)): train_op = optimizer.minimize(loss)``.
    """
    layer = BatchNormalization(axis, momentum, epsilon, center, scale, beta_initializer, gamma_initializer,
                               moving_mean_initializer, moving_variance_initializer, beta_regularizer, gamma_regularizer,
                               beta_constraint, gamma_constraint, renorm, renorm_clipping, renorm_momentum, fused, trainable,
                               virtual_batch_size, adjustment, name, _reuse=reuse, _scope=name)
    return layer.apply(inputs, training=training)
