"""``Mixture``: one of several distributions, drawn by a Categorical; ``MixtureSameFamily``: one of the batch of a distribution."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.distributions.argument_checks import gen_new_seed
from jitgraph.distributions.classes import Categorical
from jitgraph.distributions.distribution import NOT_REPARAMETERIZED, Distribution
from jitgraph.graph import dtypes
from jitgraph.graph.constant_value import static_value
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import control_dependencies, name_scope
from jitgraph.graph.shapes import dimension_value
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.fill import one_hot, ones, ones_like
from jitgraph.ops.arrays.gather import gather
from jitgraph.ops.arrays.join import concat, stack, unstack
from jitgraph.ops.arrays.layout import tile
from jitgraph.ops.arrays.partition import dynamic_partition, dynamic_stitch
from jitgraph.ops.arrays.searching import where_v2
from jitgraph.ops.arrays.sequences import range as range_of
from jitgraph.ops.arrays.shape import expand_dims, reshape, size
from jitgraph.ops.arrays.shape import rank as rank_of
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.arrays.slicing import newaxis
from jitgraph.ops.checks.check_values import assert_equal
from jitgraph.ops.elementwise.arithmetic import squared_difference
from jitgraph.ops.elementwise.composite_values import sqrt, square
from jitgraph.ops.elementwise.sums import add_n
from jitgraph.ops.linalg.matmul import matmul
from jitgraph.ops.nn.softmax import log_softmax, softmax
from jitgraph.ops.reduce.reductions import reduce_logsumexp, reduce_prod, reduce_sum


class Mixture(Distribution):
    """What one of `components` gives, which `cat` draws."""

    def __init__(self, cat: Categorical, components: Any, validate_args: bool = False, allow_nan_stats: bool = True,
                 use_static_graph: bool = False, name: str = "Mixture"):
        """With `use_static_graph`, all components are drawn for each sample, and one is taken.

        Raises TypeError, ValueError if these are no distributions, or their dtypes, shapes or number do not fit.
        """
        parameters = dict(locals())
        dtype = _checked_components(cat, components)
        static_event_shape, static_batch_shape = components[0].event_shape, cat.batch_shape
        for one in components:
            static_event_shape = static_event_shape.merge_with(one.event_shape)
            static_batch_shape = static_batch_shape.merge_with(one.batch_shape)
        if static_event_shape.ndims is None:
            raise ValueError("Expected to know rank(event_shape) from components, but none of the components provide a static "
                             "number of ndims")
        with name_scope(name, values=[cat.logits]) as name:
            number = static_value(cat.event_size)
            if number is None:
                raise ValueError("Could not infer number of classes from cat and unable to compare this value to the number of "
                                 "components passed in.")
            if number != len(components):
                raise ValueError(f"cat.num_classes != len(components): {number} vs. {len(components)}")
            self._assertions = _shape_checks(cat, components, validate_args)
            self._cat, self._components, self._num_components = cat, list(components), int(number)
            self._static_event_shape, self._static_batch_shape = static_event_shape, static_batch_shape
            self._use_static_graph = use_static_graph
        parents = cat._graph_parents
        for one in self._components:
            parents += one._graph_parents
        super().__init__(dtype=dtype, reparameterization_type=NOT_REPARAMETERIZED, validate_args=validate_args,
                         allow_nan_stats=allow_nan_stats, parameters=parameters, graph_parents=parents, name=name)

    @property
    def cat(self) -> Categorical:
        """Which component is drawn."""
        return self._cat

    @property
    def components(self) -> list:
        """The distributions."""
        return self._components

    @property
    def num_components(self) -> int:
        """How many distributions there are."""
        return self._num_components

    def _batch_shape_tensor(self) -> Any:
        return self._cat.batch_shape_tensor()

    def _batch_shape(self) -> Any:
        return self._static_batch_shape

    def _event_shape_tensor(self) -> Any:
        return self._components[0].event_shape_tensor()

    def _event_shape(self) -> Any:
        return self._static_event_shape

    def _of_event_rank(self, x: Any) -> Any:
        for _ in range(self.event_shape.ndims or 0):
            x = expand_dims(x, -1)
        return x

    def _cat_probs(self, logarithms: bool) -> list:
        probs = (log_softmax if logarithms else softmax)(self.cat.logits)
        return unstack(probs, num=self.num_components, axis=-1)

    def _mean(self) -> Any:
        with control_dependencies(self._assertions):
            means = [one.mean() for one in self.components]
            probs = [self._of_event_rank(p) for p in self._cat_probs(False)]
            return add_n([p * mean for p, mean in zip(probs, means)])

    def _stddev(self) -> Any:
        with control_dependencies(self._assertions):
            means = [one.mean() for one in self.components]
            deviations = [one.stddev() for one in self.components]
            probs = self._cat_probs(False)
            means, deviations = stack(means, axis=-1), stack(deviations, axis=-1)
            probs = [self._of_event_rank(p) for p in probs]
            weights = stack(probs, axis=-1) * ones_like(means)
            flat = [reshape(x, [-1, len(self.components)]) for x in (weights, means, deviations)]
            return reshape(_mixed_stddev(*flat), shape_of(weights)[:-1])

    def _mixed(self, method: str, x: Any) -> Any:
        """The logarithm of the sum of what the components give, by their probabilities."""
        with control_dependencies(self._assertions):
            x = convert_to_tensor(x, name="x")
            found = [getattr(one, method)(x) for one in self.components]
            return reduce_logsumexp(stack([p + one for p, one in zip(self._cat_probs(True), found)], 0), [0])

    def _log_prob(self, x: Any) -> Any:
        return self._mixed("log_prob", x)

    def _log_cdf(self, x: Any) -> Any:
        return self._mixed("log_cdf", x)

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        if self._use_static_graph:
            return self._sample_of_all(n, seed)
        with control_dependencies(self._assertions):
            n = convert_to_tensor(n, name="n")
            known = static_value(n)
            n = n if known is None else int(known)
            drawn = self.cat.sample(n, seed=seed)
            static = drawn.get_shape()
            samples_shape: Any = static.as_list() if static.is_fully_defined() else shape_of(drawn)
            samples: Any = static.num_elements() if static.is_fully_defined() else size(drawn)
            if self.batch_shape.is_fully_defined():
                batch_size: Any = self.batch_shape.num_elements()
            else:
                batch_size = reduce_prod(self.batch_shape_tensor())
            if self.event_shape.is_fully_defined():
                event_shape: Any = np.array(self.event_shape.as_list(), dtype=np.int32)
            else:
                event_shape = self.event_shape_tensor()
            places = self._partitioned(reshape(range_of(0, samples), samples_shape), drawn)
            of_batch = self._partitioned(reshape(tile(range_of(0, batch_size), [n]), samples_shape), drawn)
            found = []
            for one, its_places, its_batch in zip(self.components, places, of_batch):
                number = size(its_places)
                seed = gen_new_seed(seed, "mixture")
                its = one.sample(number, seed=seed)
                rows = batch_size * range_of(number) + its_batch
                its = reshape(its, concat([[number * batch_size], event_shape], 0))
                found.append(gather(its, rows, name="samples_class_c_gather"))
            flat = dynamic_stitch(indices=places, data=found)
            result = reshape(flat, concat([samples_shape, self.event_shape_tensor()], 0))
            result.set_shape(static.concatenate(self.event_shape))
            return result

    def _partitioned(self, data: Tensor, drawn: Tensor) -> list:
        return dynamic_partition(data=data, partitions=drawn, num_partitions=self.num_components)

    def _sample_of_all(self, n: Any, seed: Any) -> Tensor:
        drawn = self.cat.sample(n, seed=seed)
        found = []
        for one in self.components:
            seed = gen_new_seed(seed, "mixture")
            found.append(one.sample(n, seed=seed))
        rank = self._static_event_shape.ndims
        x = stack(found, -rank - 1)
        number = x.dtype.as_numpy_dtype
        mask = one_hot(indices=drawn, depth=self._num_components, on_value=np.ones([], number), off_value=np.zeros([], number))
        return reduce_sum(x * pad_mixture_dimensions(mask, self, self._cat, rank), axis=-1 - rank)

    def entropy_lower_bound(self, name: str = "entropy_lower_bound") -> Tensor:
        """The mean of the entropies of the components, which the entropy is not below."""
        with self._name_scope(name, values=[self.cat.logits]), control_dependencies(self._assertions):
            entropies = [one.entropy() for one in self.components]
            return add_n([p * entropy for p, entropy in zip(self._cat_probs(False), entropies)])


def _checked_components(cat: Any, components: Any) -> Any:
    """The dtype that all components have."""
    if not isinstance(cat, Categorical):
        raise TypeError(f"cat must be a Categorical distribution, but saw: {cat}")
    if not components:
        raise ValueError("components must be a non-empty list or tuple")
    if not isinstance(components, (list, tuple)):
        raise TypeError(f"components must be a list or tuple, but saw: {components}")
    if not all(isinstance(one, Distribution) for one in components):
        raise TypeError(f"all entries in components must be Distribution instances but saw: {components}")
    dtype = components[0].dtype
    if not all(one.dtype == dtype for one in components):
        raise TypeError(f"All components must have the same dtype, but saw dtypes: {[(one.name, one.dtype) for one in components]}")
    return dtype


def _shape_checks(cat: Categorical, components: Any, validate_args: bool) -> list:
    shape = cat.batch_shape_tensor()
    rank = size(shape)
    if not validate_args:
        return []
    shapes = [one.batch_shape_tensor() for one in components]
    ranks = [size(one) for one in shapes]
    message = "components[{}] batch shape must match cat batch shape"
    checks = [assert_equal(rank, its, message=message.format(i)) for i, its in enumerate(ranks)]
    return checks + [assert_equal(shape, its, message=message.format(i)) for i, its in enumerate(shapes)]


def _mixed_stddev(weights: Tensor, means: Tensor, deviations: Tensor) -> Tensor:
    """The standard deviations of mixtures, from weights, means and deviations [N, K]."""
    row, mean_column, deviation_column = expand_dims(weights, axis=1), expand_dims(means, axis=2), expand_dims(deviations, axis=2)
    mean = reshape(matmul(row, mean_column), (-1,))
    variance = reshape(matmul(row, square(deviation_column)), (-1,))
    of_means = reshape(matmul(row, square(mean_column)), (-1,))
    return sqrt(variance + of_means - square(mean))


def pad_mixture_dimensions(x: Any, mixture: Distribution, categorical: Distribution, event_ndims: Any) -> Tensor:
    """The weights of components with dimensions of 1 for the batch that the categorical does not have, and for the event."""
    with name_scope("pad_mix_dims", values=[x]):
        def rank(one: Distribution) -> Any:
            return shape_of(one.batch_shape_tensor())[0] if one.batch_shape.ndims is None else one.batch_shape.ndims

        of_mixture, of_categorical = rank(mixture), rank(categorical)
        added = where_v2(categorical.is_scalar_batch(), of_mixture, of_mixture - of_categorical)
        shape = shape_of(x)
        return reshape(x, shape=concat([shape[:-1], ones([added], dtype=dtypes.int32), shape[-1:],
                                        ones([event_ndims], dtype=dtypes.int32)], axis=0))


class MixtureSameFamily(Distribution):
    """What one of the last dimension of the batch of `components_distribution` gives, which `mixture_distribution` draws."""

    def __init__(self, mixture_distribution: Any, components_distribution: Any, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "MixtureSameFamily"):
        """Raises ValueError if the shapes do not fit, or what draws does not give integers."""
        parameters = dict(locals())
        with name_scope(name) as name:
            self._mixture_distribution, self._components_distribution = mixture_distribution, components_distribution
            shape = components_distribution.event_shape_tensor()
            known = dimension_value(shape.shape[0])
            self._event_ndims = shape_of(shape)[0] if known is None else known
            _check_same_family(mixture_distribution, components_distribution)
            number = dimension_value(mixture_distribution.logits.shape.with_rank_at_least(1)[-1])
            self._num_components = shape_of(mixture_distribution.logits)[-1] if number is None else number
            super().__init__(dtype=components_distribution.dtype, reparameterization_type=NOT_REPARAMETERIZED,
                             validate_args=validate_args, allow_nan_stats=allow_nan_stats, parameters=parameters,
                             graph_parents=mixture_distribution._graph_parents + components_distribution._graph_parents, name=name)

    @property
    def mixture_distribution(self) -> Any:
        """Which component is drawn."""
        return self._mixture_distribution

    @property
    def components_distribution(self) -> Any:
        """The distribution whose batch holds the components."""
        return self._components_distribution

    def _batch_shape_tensor(self) -> Any:
        return self.components_distribution.batch_shape_tensor()[:-1]

    def _batch_shape(self) -> Any:
        return self.components_distribution.batch_shape.with_rank_at_least(1)[:-1]

    def _event_shape_tensor(self) -> Any:
        return self.components_distribution.event_shape_tensor()

    def _event_shape(self) -> Any:
        return self.components_distribution.event_shape

    def _padded_weights(self, weights: Any) -> Tensor:
        return pad_mixture_dimensions(weights, self, self.mixture_distribution, self._event_shape().ndims)

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        x = self.components_distribution.sample(n)
        number = x.dtype.as_numpy_dtype
        mask = one_hot(indices=self.mixture_distribution.sample(n), depth=self._num_components, on_value=np.ones([], number),
                       off_value=np.zeros([], number))
        return reduce_sum(x * self._padded_weights(mask), axis=-1 - self._event_ndims)

    def _mixed(self, method: str, x: Any) -> Any:
        x = self._with_component_dimension(x)
        found = getattr(self.components_distribution, method)(x)
        weights = log_softmax(self.mixture_distribution.logits, axis=-1)
        return reduce_logsumexp(found + weights, axis=-1)

    def _log_prob(self, x: Any) -> Any:
        return self._mixed("log_prob", x)

    def _log_cdf(self, x: Any) -> Any:
        return self._mixed("log_cdf", x)

    def _mean(self) -> Any:
        probs = self._padded_weights(self.mixture_distribution.probs)
        return reduce_sum(probs * self.components_distribution.mean(), axis=-1 - self._event_ndims)

    def _variance(self) -> Any:
        axis = -1 - self._event_ndims
        probs = self._padded_weights(self.mixture_distribution.probs)
        within = reduce_sum(probs * self.components_distribution.variance(), axis=axis)
        means = self.components_distribution.mean()
        between = reduce_sum(probs * squared_difference(means, self._with_component_dimension(self._mean())), axis=axis)
        return within + between

    def _covariance(self) -> Any:
        if self.event_shape.ndims != 1:
            raise NotImplementedError("covariance is not implemented")
        probs = self._padded_weights(self._padded_weights(self.mixture_distribution.probs))
        within = reduce_sum(probs * self.components_distribution.covariance(), axis=-3)
        z = self.components_distribution.mean() - self._with_component_dimension(self._mean())
        return within + reduce_sum(probs * (z[..., newaxis, :] * z[..., newaxis]), axis=-3)

    def _with_component_dimension(self, x: Any) -> Tensor:
        """`x` with a dimension of 1 before those of the event."""
        with name_scope("pad_sample_dims", values=[x]):
            rank = rank_of(x) if x.shape.ndims is None else x.shape.ndims
            shape = shape_of(x)
            place = rank - self._event_ndims
            return reshape(x, shape=concat([shape[:place], [1], shape[place:]], axis=0))


def _check_same_family(mixture: Any, components: Any) -> None:
    if not mixture.dtype.is_integer:
        raise ValueError(f"`mixture_distribution.dtype` ({mixture.dtype.name}) is not over integers")
    if mixture.event_shape.ndims is not None and mixture.event_shape.ndims != 0:
        raise ValueError("`mixture_distribution` must have scalar `event_dim`s")
    of_mixture, of_components = mixture.batch_shape, components.batch_shape.with_rank_at_least(1)[:-1]
    if of_mixture.is_fully_defined() and of_components.is_fully_defined():
        if of_mixture.ndims != 0 and of_mixture != of_components:
            raise ValueError(f"`mixture_distribution.batch_shape` (`{of_mixture.as_list()}`) is not compatible with "
                             f"`components_distribution.batch_shape` (`{of_components.as_list()}`)")
    number = dimension_value(mixture.logits.shape.with_rank_at_least(1)[-1])
    found = dimension_value(components.batch_shape.with_rank_at_least(1)[-1])
    if number is not None and found is not None and number != found:
        raise ValueError(f"`mixture_distribution components` ({number}) does not equal "
                         f"`components_distribution.batch_shape[-1]` ({found})")
