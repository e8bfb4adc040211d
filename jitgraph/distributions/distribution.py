"""``Distribution``, the base of all: what is asked of a distribution is checked and named here, and answered by the classes."""
from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from jitgraph.distributions import divergence
from jitgraph.distributions.sample_shapes import as_vector, is_scalar, set_sample_static_shape
from jitgraph.graph import dtypes
from jitgraph.graph.constant_value import static_value
from jitgraph.graph.convert import convert_to_tensor, public_convert_to_tensor
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.shapes import TensorShape, as_shape
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.identity import is_tensor
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.shape import reshape
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.elementwise.composite_values import sqrt, square
from jitgraph.ops.elementwise.elementary import exp, log, log1p


class ReparameterizationType:
    """Whether gradients flow from samples to the parameters; there are two, compared by identity."""

    def __init__(self, rep_type: str):
        self._rep_type = rep_type

    def __repr__(self) -> str:
        return f"<Reparameteriation Type: {self._rep_type}>"

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)


FULLY_REPARAMETERIZED = ReparameterizationType("FULLY_REPARAMETERIZED")
NOT_REPARAMETERIZED = ReparameterizationType("NOT_REPARAMETERIZED")


class Distribution:
    """A batch of random variables.  A sample has the shape ``sample_shape + batch_shape + event_shape``.

    A class of its own answers the methods with an underscore (``_sample_n``, ``_log_prob``, ``_mean``, ...); the public ones open
    name scopes, convert arguments, and derive one answer from another: ``prob`` is the exponential of ``log_prob`` where a class
    has only that.  What a class does not answer raises NotImplementedError.
    """

    def __init__(self, dtype: Any, reparameterization_type: ReparameterizationType, validate_args: bool, allow_nan_stats: bool,
                 parameters: dict | None = None, graph_parents: list | None = None, name: str | None = None):
        """`parameters` are the arguments of the class, for ``copy``; `graph_parents` the tensors of which it is made.

        Raises ValueError if one of these is no tensor.
        """
        graph_parents = [] if graph_parents is None else graph_parents
        for index, parent in enumerate(graph_parents):
            if parent is None or not is_tensor(parent):
                raise ValueError(f"Graph parent item {index} is not a Tensor; {parent}.")
        if not name or name[-1] != "/":         # not the name of a scope that is open
            with name_scope(name or type(self).__name__) as name:
                pass
        self._dtype = dtype
        self._reparameterization_type = reparameterization_type
        self._allow_nan_stats = allow_nan_stats
        self._validate_args = validate_args
        self._parameters = parameters or {}
        self._graph_parents = graph_parents
        self._name = name

    # -- what it is made of --------------------------------------------------------------------------------------------

    @classmethod
    def param_shapes(cls, sample_shape: Any, name: str = "DistributionParamShapes") -> dict:
        """{parameter: the shape, a tensor, that it must have for samples of one event to have `sample_shape`}"""
        with name_scope(name, values=[sample_shape]):
            return cls._param_shapes(sample_shape)

    @classmethod
    def param_static_shapes(cls, sample_shape: Any) -> dict:
        """As ``param_shapes``, with TensorShapes.  Raises ValueError if `sample_shape` is not known."""
        if isinstance(sample_shape, TensorShape):
            if not sample_shape.is_fully_defined():
                raise ValueError("TensorShape sample_shape must be fully defined")
            sample_shape = sample_shape.as_list()
        shapes = {name: static_value(shape) for name, shape in cls.param_shapes(sample_shape).items()}
        if any(shape is None for shape in shapes.values()):
            raise ValueError("sample_shape must be a fully-defined TensorShape or list/tuple")
        return {name: TensorShape(shape) for name, shape in shapes.items()}

    @staticmethod
    def _param_shapes(sample_shape: Any) -> dict:
        raise NotImplementedError("_param_shapes not implemented")

    @property
    def name(self) -> Any:
        """The name scope of its nodes, with a slash at the end."""
        return self._name

    @property
    def dtype(self) -> Any:
        """The DType of samples."""
        return self._dtype

    @property
    def parameters(self) -> dict[str, Any]:
        """The arguments it was made with."""
        return {key: value for key, value in self._parameters.items() if not key.startswith("__") and key != "self"}

    @property
    def reparameterization_type(self) -> ReparameterizationType:
        """FULLY_REPARAMETERIZED or NOT_REPARAMETERIZED."""
        return self._reparameterization_type

    @property
    def allow_nan_stats(self) -> bool:
        """Whether a statistic that is not defined is NaN; otherwise it is an error."""
        return self._allow_nan_stats

    @property
    def validate_args(self) -> bool:
        """Whether parameters and arguments are checked when the graph runs."""
        return self._validate_args

    def copy(self, **override_parameters_kwargs: Any) -> Distribution:
        """A new distribution of the same class and arguments, except for those given."""
        return type(self)(**dict(self.parameters, **override_parameters_kwargs))

    # -- shapes --------------------------------------------------------------------------------------------------------

    def _not_implemented(self, what: str) -> NotImplementedError:
        return NotImplementedError(f"{what} is not implemented: {type(self).__name__}")

    def _batch_shape_tensor(self) -> Any:
        raise self._not_implemented("batch_shape_tensor")

    def batch_shape_tensor(self, name: str = "batch_shape_tensor") -> Tensor:
        """The shape of the batch, int32 [rank]."""
        with self._name_scope(name):
            if self.batch_shape.is_fully_defined():
                return convert_to_tensor(self.batch_shape.as_list(), dtype=dtypes.int32, name="batch_shape")
            return self._batch_shape_tensor()

    def _batch_shape(self) -> Any:
        return TensorShape(None)

    @property
    def batch_shape(self) -> TensorShape:
        """The shape of the batch as far as it is known."""
        return as_shape(self._batch_shape())

    def _event_shape_tensor(self) -> Any:
        raise self._not_implemented("event_shape_tensor")

    def event_shape_tensor(self, name: str = "event_shape_tensor") -> Tensor:
        """The shape of one event, int32 [rank]."""
        with self._name_scope(name):
            if self.event_shape.is_fully_defined():
                return convert_to_tensor(self.event_shape.as_list(), dtype=dtypes.int32, name="event_shape")
            return self._event_shape_tensor()

    def _event_shape(self) -> Any:
        return TensorShape(None)

    @property
    def event_shape(self) -> TensorShape:
        """The shape of one event as far as it is known."""
        return as_shape(self._event_shape())

    def is_scalar_event(self, name: str = "is_scalar_event") -> Tensor:
        """Whether events are scalars, a bool."""
        with self._name_scope(name):
            return public_convert_to_tensor(is_scalar(self.event_shape, self.event_shape_tensor), name="is_scalar_event")

    def is_scalar_batch(self, name: str = "is_scalar_batch") -> Tensor:
        """Whether there is one distribution, not a batch; a bool."""
        with self._name_scope(name):
            return public_convert_to_tensor(is_scalar(self.batch_shape, self.batch_shape_tensor), name="is_scalar_batch")

    # -- samples -------------------------------------------------------------------------------------------------------

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        raise self._not_implemented("sample_n")

    def _call_sample_n(self, sample_shape: Any, seed: Any, name: str, **kwargs: Any) -> Tensor:
        with self._name_scope(name, values=[sample_shape]):
            sample_shape, n = as_vector(convert_to_tensor(sample_shape, dtype=dtypes.int32, name="sample_shape"))
            samples = self._sample_n(n, seed, **kwargs)
            batch_event_shape = shape_of(samples)[1:]
            samples = reshape(samples, concat([sample_shape, batch_event_shape], 0))
            return set_sample_static_shape(samples, sample_shape, self.batch_shape, self.event_shape)

    def sample(self, sample_shape: Any = (), seed: Any = None, name: str = "sample") -> Tensor:
        """Samples of the shape ``sample_shape + batch_shape + event_shape``.  `seed` is that of the op, see ``set_random_seed``."""
        return self._call_sample_n(sample_shape, seed, name)

    # -- probabilities -------------------------------------------------------------------------------------------------

    def _asked(self, value: Any, name: str, answer: str, otherwise: str, derived: Callable, **kwargs: Any) -> Any:
        """What the method `answer` gives for `value`; if there is none, what `derived` makes of the method `otherwise`."""
        with self._name_scope(name, values=[value]):
            value = public_convert_to_tensor(value, name="value", preferred_dtype=self.dtype)
            try:
                return getattr(self, answer)(value, **kwargs)
            except NotImplementedError as error:
                try:
                    return derived(getattr(self, otherwise)(value, **kwargs))
                except NotImplementedError:
                    raise error from None

    def _log_prob(self, value: Any) -> Any:
        raise self._not_implemented("log_prob")

    def _call_log_prob(self, value: Any, name: str, **kwargs: Any) -> Tensor:
        return self._asked(value, name, "_log_prob", "_prob", log, **kwargs)

    def log_prob(self, value: Any, name: str = "log_prob") -> Tensor:
        """The logarithm of the density (or mass) at `value`, of the shape ``sample_shape(value) + batch_shape``."""
        return self._call_log_prob(value, name)

    def _prob(self, value: Any) -> Any:
        raise self._not_implemented("prob")

    def _call_prob(self, value: Any, name: str, **kwargs: Any) -> Tensor:
        return self._asked(value, name, "_prob", "_log_prob", exp, **kwargs)

    def prob(self, value: Any, name: str = "prob") -> Tensor:
        """The density (or mass) at `value`."""
        return self._call_prob(value, name)

    def _log_cdf(self, value: Any) -> Any:
        raise self._not_implemented("log_cdf")

    def _call_log_cdf(self, value: Any, name: str, **kwargs: Any) -> Tensor:
        return self._asked(value, name, "_log_cdf", "_cdf", log, **kwargs)

    def log_cdf(self, value: Any, name: str = "log_cdf") -> Tensor:
        """The logarithm of the probability that the variable is at most `value`."""
        return self._call_log_cdf(value, name)

    def _cdf(self, value: Any) -> Any:
        raise self._not_implemented("cdf")

    def _call_cdf(self, value: Any, name: str, **kwargs: Any) -> Tensor:
        return self._asked(value, name, "_cdf", "_log_cdf", exp, **kwargs)

    def cdf(self, value: Any, name: str = "cdf") -> Tensor:
        """The probability that the variable is at most `value`."""
        return self._call_cdf(value, name)

    def _log_survival_function(self, value: Any) -> Any:
        raise self._not_implemented("log_survival_function")

    def _call_log_survival_function(self, value: Any, name: str, **kwargs: Any) -> Tensor:
        return self._asked(value, name, "_log_survival_function", "cdf", lambda below: log1p(-below), **kwargs)

    def log_survival_function(self, value: Any, name: str = "log_survival_function") -> Tensor:
        """The logarithm of the probability that the variable is greater than `value`."""
        return self._call_log_survival_function(value, name)

    def _survival_function(self, value: Any) -> Any:
        raise self._not_implemented("survival_function")

    def _call_survival_function(self, value: Any, name: str, **kwargs: Any) -> Tensor:
        return self._asked(value, name, "_survival_function", "cdf", lambda below: 1.0 - below, **kwargs)

    def survival_function(self, value: Any, name: str = "survival_function") -> Tensor:
        """The probability that the variable is greater than `value`."""
        return self._call_survival_function(value, name)

    def _quantile(self, value: Any) -> Any:
        raise self._not_implemented("quantile")

    def _call_quantile(self, value: Any, name: str, **kwargs: Any) -> Tensor:
        with self._name_scope(name, values=[value]):
            return self._quantile(public_convert_to_tensor(value, name="value", preferred_dtype=self.dtype), **kwargs)

    def quantile(self, value: Any, name: str = "quantile") -> Tensor:
        """The x whose ``cdf`` is `value`."""
        return self._call_quantile(value, name)

    # -- statistics ----------------------------------------------------------------------------------------------------

    def _entropy(self) -> Any:
        raise self._not_implemented("entropy")

    def entropy(self, name: str = "entropy") -> Tensor:
        """Shannon's entropy in nats, of the shape of the batch."""
        with self._name_scope(name):
            return self._entropy()

    def _mean(self) -> Any:
        raise self._not_implemented("mean")

    def mean(self, name: str = "mean") -> Tensor:
        """The mean, of the shape ``batch_shape + event_shape``."""
        with self._name_scope(name):
            return self._mean()

    def _variance(self) -> Any:
        raise self._not_implemented("variance")

    def variance(self, name: str = "variance") -> Tensor:
        """The variance, of the shape ``batch_shape + event_shape``."""
        with self._name_scope(name):
            try:
                return self._variance()
            except NotImplementedError as error:
                try:
                    return square(self._stddev())
                except NotImplementedError:
                    raise error from None

    def _stddev(self) -> Any:
        raise self._not_implemented("stddev")

    def stddev(self, name: str = "stddev") -> Tensor:
        """The standard deviation, of the shape ``batch_shape + event_shape``."""
        with self._name_scope(name):
            try:
                return self._stddev()
            except NotImplementedError as error:
                try:
                    return sqrt(self._variance())
                except NotImplementedError:
                    raise error from None

    def _covariance(self) -> Any:
        raise self._not_implemented("covariance")

    def covariance(self, name: str = "covariance") -> Tensor:
        """The covariances of the elements of an event, [..., k, k]."""
        with self._name_scope(name):
            return self._covariance()

    def _mode(self) -> Any:
        raise self._not_implemented("mode")

    def mode(self, name: str = "mode") -> Tensor:
        """The most probable value, of the shape ``batch_shape + event_shape``."""
        with self._name_scope(name):
            return self._mode()

    def _cross_entropy(self, other: Distribution) -> Any:
        return divergence.cross_entropy(self, other, allow_nan_stats=self.allow_nan_stats)

    def cross_entropy(self, other: Distribution, name: str = "cross_entropy") -> Tensor:
        """The mean of ``-other.log_prob`` under this distribution, of the shape of the batch."""
        with self._name_scope(name):
            return self._cross_entropy(other)

    def _kl_divergence(self, other: Distribution) -> Any:
        return divergence.kl_divergence(self, other, allow_nan_stats=self.allow_nan_stats)

    def kl_divergence(self, other: Distribution, name: str = "kl_divergence") -> Tensor:
        """The divergence of Kullback and Leibler from this distribution to `other`, see ``tf.distributions.kl_divergence``."""
        with self._name_scope(name):
            return self._kl_divergence(other)

    # -- as text -------------------------------------------------------------------------------------------------------

    def __str__(self) -> str:
        shapes = [f", {what}_shape={shape}" for what, shape in (("batch", self.batch_shape), ("event", self.event_shape))
                  if shape.ndims is not None]
        return f"tfp.distributions.{type(self).__name__}(\"{self.name}\"{''.join(shapes)}, dtype={self.dtype.name})"

    def __repr__(self) -> str:
        return (f"<tfp.distributions.{type(self).__name__} '{self.name}' batch_shape={self.batch_shape} "
                f"event_shape={self.event_shape} dtype={self.dtype.name}>")

    @contextlib.contextmanager
    def _name_scope(self, name: str | None = None, values: list | None = None) -> Iterator[Any]:
        with name_scope(self.name), name_scope(name, values=(values or []) + self._graph_parents) as scope:
            yield scope
