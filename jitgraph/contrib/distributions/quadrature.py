"""Grids and probabilities that stand for a distribution in integrals: of softmax-normal and log-normal variables."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.contrib.distributions.elementwise_bijectors import Exp
from jitgraph.contrib.distributions.transformed import TransformedDistribution
from jitgraph.contrib.distributions.vector_bijectors import SoftmaxCentered
from jitgraph.control.order_ops import with_dependencies
from jitgraph.distributions.location_scale import Normal
from jitgraph.distributions.padding import pad
from jitgraph.graph import dtypes
from jitgraph.graph.constant_value import static_value
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.shapes import TensorShape, dimension_value
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.fill import fill, ones, zeros
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.layout import transpose
from jitgraph.ops.arrays.searching import where_v2
from jitgraph.ops.arrays.sequences import linspace
from jitgraph.ops.arrays.sequences import range as range_of
from jitgraph.ops.arrays.shape import rank as rank_of
from jitgraph.ops.arrays.shape import reshape
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.arrays.slicing import newaxis
from jitgraph.ops.checks.check_shapes import assert_rank_at_least
from jitgraph.ops.checks.check_values import assert_equal
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.nn.softmax import softmax


def _gauss_hermite(quadrature_size: int, dtype: Any) -> tuple[np.ndarray, Tensor]:
    grid, probs = (values.astype(dtype.as_numpy_dtype) for values in np.polynomial.hermite.hermgauss(deg=quadrature_size))
    probs /= np.linalg.norm(probs, ord=1)
    return grid, convert_to_tensor(probs, name="probs", dtype=dtype)


def _rank_of_batch(distribution: Any) -> Any:
    rank = distribution.batch_shape.ndims
    return shape_of(distribution.batch_shape_tensor())[0] if rank is None else rank


def _edges(distribution: Any, rank: Any, quadrature_size: int) -> Tensor:
    """Probabilities, equally far from each other between 0 and 1, along a first dimension."""
    edges = linspace(zeros([], dtype=distribution.dtype), 1.0, quadrature_size + 3)[1:-1]
    return reshape(edges, shape=concat([[-1], ones([rank], dtype=dtypes.int32)], axis=0))


def _first_last(x: Tensor, rank: Any) -> Tensor:
    return transpose(x, concat([range_of(1, 1 + rank), [0]], axis=0))


def _equal_probs(quadrature_size: int, dtype: Any) -> Tensor:
    return fill(dims=[quadrature_size], value=1.0 / cast(quadrature_size, dtype))


def quadrature_scheme_lognormal_gauss_hermite(loc: Tensor, scale: Tensor, quadrature_size: int, validate_args: bool = False,
                                              name: str | None = None) -> tuple[Tensor, Tensor]:
    """(logarithms of the grid [..., N], probabilities [N]) by Gauss and Hermite, for exp of a normal variable."""
    with name_scope(name, "vector_diffeomixture_quadrature_gauss_hermite", [loc, scale]):
        grid, probs = _gauss_hermite(quadrature_size, loc.dtype)
        return loc[..., newaxis] + np.sqrt(2.0) * scale[..., newaxis] * grid, probs


def quadrature_scheme_lognormal_quantiles(loc: Any, scale: Any, quadrature_size: int, validate_args: bool = False,
                                          name: str | None = None) -> tuple[Tensor, Tensor]:
    """(grid [..., N], probabilities [N]): the middles between N + 1 quantiles of exp of a normal variable."""
    with name_scope(name, "quadrature_scheme_lognormal_quantiles", [loc, scale]):
        distribution = TransformedDistribution(distribution=Normal(loc=loc, scale=scale), bijector=Exp(),
                                               validate_args=validate_args)
        rank = _rank_of_batch(distribution)
        quantiles = _first_last(distribution.quantile(_edges(distribution, rank, quadrature_size)), rank)
        grid = (quantiles[..., :-1] + quantiles[..., 1:]) / 2.0
        grid.set_shape(distribution.batch_shape.concatenate([quadrature_size]))
        return grid, _equal_probs(quadrature_size, distribution.dtype)


def _normal_parameters(loc: Any, scale: Any, validate_args: bool) -> tuple[Tensor, Tensor]:
    loc = convert_to_tensor(loc, name="normal_loc")
    scale = convert_to_tensor(scale, dtype=loc.dtype.base_dtype, name="normal_scale")
    return loc, _of_two(scale, "normal_scale", validate_args)


def quadrature_scheme_softmaxnormal_gauss_hermite(normal_loc: Any, normal_scale: Any, quadrature_size: int,
                                                  validate_args: bool = False, name: str | None = None) -> tuple[Tensor, Tensor]:
    """(grid [..., 2, N], probabilities [N]) by Gauss and Hermite, for the softmax of a normal variable [..., 1] and 0.

    Raises ValueError for a scale without dimensions, NotImplementedError for more than one number.
    """
    with name_scope(name, "quadrature_scheme_softmaxnormal_gauss_hermite", [normal_loc, normal_scale]):
        loc, scale = _normal_parameters(normal_loc, normal_scale, validate_args)
        grid, probs = _gauss_hermite(quadrature_size, loc.dtype.base_dtype)
        spread = loc[..., newaxis] + np.sqrt(2.0) * scale[..., newaxis] * grid
        return _softmax(-pad(spread, axis=-2, front=True), axis=-2), probs


def quadrature_scheme_softmaxnormal_quantiles(normal_loc: Any, normal_scale: Any, quadrature_size: int,
                                              validate_args: bool = False, name: str | None = None) -> tuple[Tensor, Tensor]:
    """(grid [..., 2, N], probabilities [N]): the middles between N + 1 quantiles of the softmax of a normal variable [..., 1].

    Raises ValueError for a scale without dimensions, NotImplementedError for more than one number.
    """
    with name_scope(name, "softmax_normal_grid_and_probs", [normal_loc, normal_scale]):
        loc, scale = _normal_parameters(normal_loc, normal_scale, validate_args)
        distribution = Normal(loc=loc, scale=scale)
        rank = _rank_of_batch(distribution)

        def shape_with(size: int) -> TensorShape:
            batch = distribution.batch_shape.with_rank_at_least(1)
            components = dimension_value(batch[-1])
            return batch[:-1].concatenate(TensorShape([None if components is None else components + 1, size]))

        quantiles = SoftmaxCentered().forward(distribution.quantile(_edges(distribution, rank, quadrature_size)))
        quantiles = _first_last(quantiles, rank)
        quantiles.set_shape(shape_with(quadrature_size + 1))
        grid = (quantiles[..., :-1] + quantiles[..., 1:]) / 2.0
        grid.set_shape(shape_with(quadrature_size))
        return grid, _equal_probs(quadrature_size, distribution.dtype)


def _of_two(parameter: Tensor, name: str, validate_args: bool) -> Tensor:
    """`parameter`, checked to have one number for the mixture of two."""
    with name_scope(name="check_" + name, values=[parameter]):
        checks = []
        static = parameter.shape
        message = f"Mixing params must be a (batch of) vector; {name}.rank"
        if static.ndims is None:
            if validate_args:
                checks.append(assert_rank_at_least(parameter, 1, message=f"{message} is not at least one."))
        elif static.ndims == 0:
            raise ValueError(f"{message}={static.ndims} is not at least one.")
        if static.with_rank_at_least(1)[-1] is not None:
            count = dimension_value(static[-1])
            if count != 1:
                raise NotImplementedError(f"Currently only bimixtures are supported; {name}.shape[-1]={count} is not 1.")
        elif validate_args:
            checks.append(assert_equal(shape_of(parameter)[-1], 1,
                                       message=f"Currently only bimixtures are supported; {name}.shape[-1] is not 1."))
        return with_dependencies(checks, parameter) if checks else parameter


def _softmax(x: Any, axis: Any, name: str | None = None) -> Tensor:
    """``softmax`` along an axis that counts from the end."""
    with name_scope(name, "softmax", [x, axis]):
        x = convert_to_tensor(x, name="x")
        rank = x.shape.ndims if x.shape.ndims is not None else rank_of(x, name="ndims")
        axis = convert_to_tensor(axis, dtype=dtypes.int32, name="axis")
        known = static_value(axis)
        if known is None:
            axis = where_v2(axis < 0, rank + axis, axis)
        else:
            axis = rank + known if known < 0 else known
            axis = axis if isinstance(axis, Tensor) else int(axis)
    return softmax(x, axis=axis)
