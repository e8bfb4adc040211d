"""The three parts of a shape, ``sample_shape + batch_shape + event_shape``, told apart by the ranks of batch and event."""
from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from jitgraph.distributions.argument_checks import checked_if
from jitgraph.distributions.sample_shapes import pick_vector
from jitgraph.graph import dtypes
from jitgraph.graph.constant_value import static_value
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.linear_operators.circulant import rotate_transpose
from jitgraph.ops.arrays.fill import zeros
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.searching import where_v2
from jitgraph.ops.arrays.shape import rank as rank_of
from jitgraph.ops.arrays.shape import reshape, squeeze
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.arrays.slicing import slice as slice_of
from jitgraph.ops.checks.check_shapes import assert_rank
from jitgraph.ops.checks.check_values import assert_non_negative
from jitgraph.ops.elementwise.compare import equal, logical_and


class EventShapes:
    """Takes tensors apart by the rank of the batch and that of the events, int32 scalars."""

    def __init__(self, batch_ndims: Any, event_ndims: Any, validate_args: bool = False):
        """Raises TypeError, ValueError for ranks that are no int32 scalars from 0 on."""
        self._validate_args = validate_args
        with name_scope("DistributionShape"), name_scope("init"):
            self.batch_ndims = self._checked(convert_to_tensor(batch_ndims, name="batch_ndims"))
            self._no_batch = self._is_0(self.batch_ndims)
            self.event_ndims = self._checked(convert_to_tensor(event_ndims, name="event_ndims"))
            self._no_event = self._is_0(self.event_ndims)

    def as_matrices(self, x: Any) -> tuple[Tensor, Tensor]:
        """(``batch_shape + [event, samples]``, the shape of the samples)"""
        with self._name_scope("make_batch_of_event_sample_matrices", [x]):
            x = convert_to_tensor(x, name="x")
            sample_shape, batch_shape, event_shape = self._parts(x)
            event_shape = pick_vector(self._no_event, [1], event_shape)
            x = reshape(x, shape=concat([[-1], batch_shape, event_shape], 0))
            return rotate_transpose(x, shift=-1), sample_shape

    def from_matrices(self, x: Any, sample_shape: Any) -> Tensor:
        """The inverse of ``as_matrices``."""
        with self._name_scope("undo_make_batch_of_event_sample_matrices", [x, sample_shape]):
            x = convert_to_tensor(x, name="x")
            sample_shape = convert_to_tensor(sample_shape, name="sample_shape")
            x = rotate_transpose(x, shift=1)
            if _known(self.batch_ndims, self.event_ndims):
                if self._no_event:
                    x = squeeze(x, axis=[-1])
                _, batch_shape, event_shape = self._parts(x)
            else:
                shape = x.get_shape().as_list() if x.get_shape().is_fully_defined() else shape_of(x)
                batch_shape = shape[1:1 + self.batch_ndims]
                start = where_v2(logical_and(False, self._no_batch), 2, 1 + self.batch_ndims)
                event_shape = shape[start:start + self.event_ndims]
            return reshape(x, shape=concat([sample_shape, batch_shape, event_shape], 0))

    def _parts(self, x: Any) -> tuple[Tensor, Tensor, Tensor]:
        """The shapes of samples, batch and event."""
        with self._name_scope("get_shape", [x]):
            x = convert_to_tensor(x, name="x")
            samples = self._sample_ndims(x)
            return (self._slice(x, [], samples, "sample_shape"), self._slice(x, [samples], self.batch_ndims, "batch_shape"),
                    self._slice(x, [samples, self.batch_ndims], self.event_ndims, "event_shape"))

    def _slice(self, x: Tensor, before: list, size: Any, name: str) -> Tensor:
        before = before or [zeros([], dtype=dtypes.int32, name="zero")]
        if x.get_shape().ndims is not None and _known(size, *before):
            start = sum(static_value(part) for part in before)
            found = x.get_shape()[start:start + static_value(size)].as_list()
            if None not in found:
                return convert_to_tensor(found, dtype=dtypes.int32, name=name)
        return slice_of(shape_of(x), [sum(before)], [size])

    def _sample_ndims(self, x: Tensor) -> Tensor:
        with self._name_scope("get_shape", [x]):
            rank = self._rank(x)
            if _known(rank, self.batch_ndims, self.event_ndims):
                batch, event, known = (static_value(one) for one in (self.batch_ndims, self.event_ndims, rank))
                if known < batch + event:
                    raise ValueError(f"expected batch_ndims({batch}) + event_ndims({event}) <= ndims({known})")
                return convert_to_tensor(known - batch - event, name="sample_ndims")
            with name_scope(name="sample_ndims"):
                samples = rank - self.batch_ndims - self.event_ndims
                return checked_if(self._validate_args, lambda: [assert_non_negative(samples)], samples)

    def _rank(self, x: Tensor) -> Tensor:
        with self._name_scope("get_shape", [x]):
            x = convert_to_tensor(x, name="x")
            if x.get_shape().ndims is None:
                return rank_of(x, name="ndims")
            return convert_to_tensor(x.get_shape().ndims, dtype=dtypes.int32, name="ndims")

    @contextlib.contextmanager
    def _name_scope(self, name: str, values: list) -> Iterator[None]:
        with name_scope("DistributionShape"), name_scope(name, values=[*values, self.batch_ndims, self.event_ndims]):
            yield

    def _checked(self, rank: Tensor) -> Tensor:
        if rank.dtype.base_dtype != dtypes.int32:
            raise TypeError(f"{rank.name}.dtype={rank.dtype} is not {dtypes.int32}")
        known = static_value(rank)
        if rank.get_shape().ndims is not None and known is not None:
            if rank.get_shape().ndims != 0:
                raise ValueError(f"{rank.name}.ndims={rank.get_shape().ndims} is not 0 (scalar)")
            if known < 0:
                raise ValueError(f"{rank.name}.value={known} cannot be negative")
            return rank
        return checked_if(self._validate_args, lambda: [assert_rank(rank, 0), assert_non_negative(rank)], rank)

    def _is_0(self, rank: Tensor) -> Any:
        known = static_value(rank)
        return equal(rank, 0) if known is None else known == 0


def _known(*tensors: Any) -> bool:
    return all(static_value(tensor) is not None for tensor in tensors)
