"""``BatchReshape``: a distribution whose batch has another shape."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph.distributions.distribution import Distribution
from jitgraph.graph import dtypes
from jitgraph.graph.constant_value import constant_value_as_shape
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import control_dependencies, name_scope
from jitgraph.graph.shapes import TensorShape
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.fill import fill
from jitgraph.ops.arrays.identity import identity
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.searching import where_v2
from jitgraph.ops.arrays.shape import rank as rank_of
from jitgraph.ops.arrays.shape import reshape, size
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.checks.check_shapes import assert_rank
from jitgraph.ops.checks.check_values import assert_equal, assert_greater_equal, assert_less_equal, assert_positive
from jitgraph.ops.elementwise.arithmetic import maximum
from jitgraph.ops.elementwise.compare import equal
from jitgraph.ops.reduce.reductions import count_nonzero, reduce_prod


class BatchReshape(Distribution):
    """`distribution` with the batch of the shape `batch_shape`, in which one size may be -1 for what is left."""

    def __init__(self, distribution: Distribution, batch_shape: Any, validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str | None = None):
        """Raises ValueError if that is no vector of sizes, or another number of distributions."""
        parameters = dict(locals())
        with name_scope(name or "BatchReshape" + distribution.name, values=[batch_shape]) as name:
            self._given_shape = convert_to_tensor(batch_shape, dtype=dtypes.int32, name="batch_shape")
            _check_given_shape(distribution, self._given_shape)
            self._batch_shape_, self._batch_shape_static, self._checks = calculate_reshape(
                distribution.batch_shape_tensor(), self._given_shape, validate_args)
            self._distribution = distribution
            super().__init__(dtype=distribution.dtype, reparameterization_type=distribution.reparameterization_type,
                             validate_args=validate_args, allow_nan_stats=allow_nan_stats, parameters=parameters,
                             graph_parents=[self._given_shape, *distribution._graph_parents], name=name)

    @property
    def distribution(self) -> Distribution:
        """The distribution with its own batch."""
        return self._distribution

    def _batch_shape_tensor(self) -> Any:
        with control_dependencies(self._checks):
            return identity(self._batch_shape_)

    def _batch_shape(self) -> Any:
        return self._batch_shape_static

    def _event_shape_tensor(self) -> Any:
        with control_dependencies(self._checks):
            return identity(self.distribution.event_shape_tensor())

    def _event_shape(self) -> Any:
        return self.distribution.event_shape

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        with control_dependencies(self._checks):
            x = self.distribution.sample(sample_shape=n, seed=seed)
            return reshape(x, concat([[n], self._given_shape, self.event_shape_tensor()], axis=0))

    def _log_prob(self, x: Any) -> Any:
        return self._at(self.distribution.log_prob, x)

    def _prob(self, x: Any) -> Any:
        return self._at(self.distribution.prob, x)

    def _log_cdf(self, x: Any) -> Any:
        return self._at(self.distribution.log_cdf, x)

    def _cdf(self, x: Any) -> Any:
        return self._at(self.distribution.cdf, x)

    def _log_survival_function(self, x: Any) -> Any:
        return self._at(self.distribution.log_survival_function, x)

    def _survival_function(self, x: Any) -> Any:
        return self._at(self.distribution.survival_function, x)

    def _entropy(self) -> Any:
        return self._statistic(self.distribution.entropy, [], [TensorShape([])])

    def _mean(self) -> Any:
        return self._statistic(self.distribution.mean)

    def _mode(self) -> Any:
        return self._statistic(self.distribution.mode)

    def _stddev(self) -> Any:
        return self._statistic(self.distribution.stddev)

    def _variance(self) -> Any:
        return self._statistic(self.distribution.variance)

    def _covariance(self) -> Any:
        return self._statistic(self.distribution.covariance, [self.event_shape_tensor()] * 2, [self.event_shape] * 2)

    def _ranks(self, x: Tensor) -> tuple[Any, Any, Any]:
        """(rank of `x`, of events, of the batch): ints as far as they are known."""
        return (rank_of(x) if x.shape.ndims is None else x.shape.ndims,
                size(self.event_shape_tensor()) if self.event_shape.ndims is None else self.event_shape.ndims,
                size(self._given_shape) if self.batch_shape.ndims is None else self.batch_shape.ndims)

    def _sample_shape(self, x: Tensor) -> tuple[Any, TensorShape]:
        of_x, of_events, of_batch = self._ranks(x)
        of_samples = of_x - of_batch - of_events
        known = x.shape[:of_samples] if isinstance(of_samples, int) else TensorShape(None)
        return np.array(known.as_list(), np.int32) if known.is_fully_defined() else shape_of(x)[:of_samples], known

    def _at(self, method: Callable, x: Any) -> Any:
        """What `method` of the distribution gives at `x`, with this batch."""
        with control_dependencies(self._checks + self._checks_of(x)):
            sample_shape, known = self._sample_shape(x)
            old = concat([sample_shape, self.distribution.batch_shape_tensor(), self.event_shape_tensor()], axis=0)
            found = method(reshape(x, old))
            found = reshape(found, concat([sample_shape, self._given_shape], axis=0))
            if known.ndims is not None and self.batch_shape.ndims is not None:
                found.set_shape(found.shape.merge_with(known.concatenate(self.batch_shape)))
            return found

    def _statistic(self, method: Callable, shapes: list | None = None, known_shapes: list | None = None) -> Any:
        """What `method` of the distribution gives, with this batch; `shapes` are those behind that of the batch."""
        with control_dependencies(self._checks):
            shapes = [self._event_shape_tensor()] if shapes is None else shapes
            known_shapes = [self.event_shape] if known_shapes is None else known_shapes
            shape = concat([self._given_shape, *shapes], axis=0)
            found = reshape(method(), shape)
            if self.batch_shape.ndims is not None and self.event_shape.ndims is not None:
                known = TensorShape([])
                for one in known_shapes:
                    known = known.concatenate(one)
                found.set_shape(found.shape.merge_with(self.batch_shape.concatenate(known)))
            return found

    def _checks_of(self, x: Tensor) -> list:
        with name_scope(name="validate_sample_arg", values=[x]):
            of_x, of_events, of_batch = self._ranks(x)
            least = of_batch + of_events
            checks = []
            if isinstance(of_x, int) and isinstance(least, int):
                if of_x < least:
                    raise NotImplementedError("Broadcasting is not supported; too few batch and event dims (expected at least "
                                              f"{least}, saw {of_x}).")
            elif self.validate_args:
                checks = [assert_greater_equal(of_x, least, message="Broadcasting is not supported; too few batch and event dims.",
                                               name="assert_batch_and_event_ndims_large_enough")]
            wanted: Any = concat([self.batch_shape_tensor(), self.event_shape_tensor()], axis=0) if not (
                self.batch_shape.is_fully_defined() and self.event_shape.is_fully_defined()) else np.array(
                    self.batch_shape.concatenate(self.event_shape).as_list(), np.int32)
            start = of_x - least
            start = max(start, 0) if isinstance(start, int) else start
            if isinstance(start, int) and x.shape[start:].is_fully_defined():
                found: Any = np.array(x.shape[start:].as_list(), np.int32)
            else:
                found = shape_of(x)[maximum(start, 0):]
            if isinstance(wanted, np.ndarray) and isinstance(found, np.ndarray):
                if any(wanted != found):
                    raise NotImplementedError("Broadcasting is not supported; unexpected batch and event shape (expected "
                                              f"{wanted}, saw {found}).")
                return checks
            if not self.validate_args:
                return []
            with control_dependencies(checks):
                return [assert_equal(wanted, found, message="Broadcasting is not supported; unexpected batch and event shape.",
                                     name="assert_batch_and_event_shape_same")]


def calculate_reshape(original_shape: Any, new_shape: Tensor, validate: bool = False,
                      name: str | None = None) -> tuple[Any, TensorShape, list]:
    """(`new_shape` with the size in place of -1, what is known of it, what is to be checked of it)"""
    known = constant_value_as_shape(new_shape)
    if known.is_fully_defined():
        return np.array(known.as_list(), np.int32), known, []
    with name_scope(name, "calculate_reshape", [original_shape, new_shape]):
        total = reduce_prod(original_shape)
        is_left = equal(new_shape, -1)
        left = total // maximum(1, -reduce_prod(new_shape))
        rank = shape_of(new_shape)
        full = where_v2(is_left, fill(rank, left), new_shape)
        return full, known, [] if not validate else [
            assert_rank(original_shape, 1, message="Original shape must be a vector."),
            assert_rank(new_shape, 1, message="New shape must be a vector."),
            assert_less_equal(count_nonzero(is_left, dtype=dtypes.int32), 1, message="At most one dimension can be unknown."),
            assert_positive(full, message="Shape elements must be >=-1."),
            assert_equal(reduce_prod(full), total, message="Shape sizes do not match.")]


def _check_given_shape(distribution: Distribution, batch_shape: Tensor) -> None:
    rank = batch_shape.shape.ndims
    if rank is not None and rank != 1:
        raise ValueError(f"`batch_shape` must be a vector (saw rank: {rank}).")
    known = constant_value_as_shape(batch_shape)
    count, wanted = known.num_elements(), distribution.batch_shape.num_elements()
    if count is not None and wanted is not None and count != wanted:
        raise ValueError(f"`batch_shape` size ({count}) must match `distribution.batch_shape` size ({wanted}).")
    if known.dims is not None and any(dim.value is not None and dim.value < 1 for dim in known.dims):
        raise ValueError("`batch_shape` elements must be >=-1.")
