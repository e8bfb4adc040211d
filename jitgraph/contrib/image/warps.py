"""Images bent by a flow, given at every pixel or at some points between which a spline runs."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.graph import dtypes
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import control_dependencies, name_scope
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.fill import ones_like, zeros
from jitgraph.ops.arrays.gather import gather
from jitgraph.ops.arrays.grids import meshgrid
from jitgraph.ops.arrays.join import concat, stack, unstack
from jitgraph.ops.arrays.layout import transpose
from jitgraph.ops.arrays.matrix_parts import eye, matrix_diag_part
from jitgraph.ops.arrays.sequences import range as range_of
from jitgraph.ops.arrays.shape import expand_dims, reshape
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.checks.check_values import assert_equal, assert_greater_equal, assert_less_equal
from jitgraph.ops.elementwise.arithmetic import maximum, minimum
from jitgraph.ops.elementwise.arithmetic import pow as pow_of
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.composite_values import sqrt, square
from jitgraph.ops.elementwise.elementary import floor, log
from jitgraph.ops.linalg.matmul import matmul
from jitgraph.ops.linalg.matrix_ops import matrix_solve
from jitgraph.ops.reduce.reductions import reduce_sum

_TINY = 1e-10


def _interpolate_bilinear(grid: Any, query_points: Any, name: str = "interpolate_bilinear", indexing: str = "ij") -> Any:
    """The values [batch, n, channels] of `grid` [batch, height, width, channels] at `query_points` [batch, n, 2].

    A point is (row, column) with `indexing` "ij", (column, row) with "xy".  Raises ValueError for another one and for a grid of
    another rank.
    """
    if indexing not in ("ij", "xy"):
        raise ValueError("Indexing mode must be 'ij' or 'xy'")
    with name_scope(name):
        grid, points = convert_to_tensor(grid), convert_to_tensor(query_points)
        if grid.shape.ndims != 4:
            raise ValueError(f"Grid must be 4 dimensional. Received size: {grid.shape}")
        batch, height, width, channels = [shape_of(grid)[k] for k in range(4)]
        with control_dependencies([
                assert_equal(len(points.shape), 3, message="Query points must be 3 dimensional."),
                assert_equal(shape_of(points)[2], 2, message="Query points must be size 2 in dim 2.")]):
            count = shape_of(points)[1]
        with control_dependencies([
                assert_greater_equal(height, 2, message="Grid height must be at least 2."),
                assert_greater_equal(width, 2, message="Grid width must be at least 2.")]):
            coordinates = unstack(points, axis=2)[::1 if indexing == "ij" else -1]
        corners, parts = [], []             # of each axis the places before and behind a point, and how far it is from the former
        for axis, size in enumerate((height, width)):
            with name_scope(f"dim-{axis}"):
                at = coordinates[axis]
                first = minimum(maximum(constant(0.0, dtype=points.dtype), floor(at)), cast(size - 2, points.dtype))
                before = cast(first, dtypes.int32)
                corners.append((before, before + 1))
                part = cast(at - first, grid.dtype)
                part = minimum(maximum(constant(0.0, dtype=grid.dtype), part), constant(1.0, dtype=grid.dtype))
                parts.append(expand_dims(part, 2))
        with control_dependencies([assert_less_equal(
                cast(batch * height * width, dtype=dtypes.float32), np.iinfo(np.int32).max / 8,
                message="The image size or batch size is sufficiently large that the linearized addresses used by "
                        "array_ops.gather may exceed the int32 limit.")]):
            flat = reshape(grid, [batch * height * width, channels])
            offsets = reshape(range_of(batch) * height * width, [batch, 1])

        def at_corner(down: int, right: int, name: str) -> Any:
            with name_scope(f"gather-{name}"):
                places = offsets + corners[0][down] * width + corners[1][right]
                return reshape(gather(flat, places), [batch, count, channels])

        top_left, top_right = at_corner(0, 0, "top_left"), at_corner(0, 1, "top_right")
        bottom_left, bottom_right = at_corner(1, 0, "bottom_left"), at_corner(1, 1, "bottom_right")
        with name_scope("interpolate"):
            top = parts[1] * (top_right - top_left) + top_left
            bottom = parts[1] * (bottom_right - bottom_left) + bottom_left
            return parts[0] * (bottom - top) + top


def dense_image_warp(image: Any, flow: Any, name: str = "dense_image_warp") -> Any:
    """`image` [batch, height, width, channels] read at (row, column) - `flow` [batch, height, width, 2], bilinearly.

    What lies outside is the nearest pixel.  A run raises InvalidArgumentError for images below 2 x 2.
    """
    with name_scope(name):
        batch, height, width, channels = [shape_of(image)[k] for k in range(4)]
        columns, rows = meshgrid(range_of(width), range_of(height))
        places = expand_dims(cast(stack([rows, columns], axis=2), flow.dtype), axis=0)
        points = reshape(places - flow, [batch, height * width, 2])
        return reshape(_interpolate_bilinear(image, points), [batch, height, width, channels])


def _radial(squared: Any, order: int) -> Any:
    """The polyharmonic function of `order` of squared distances."""
    with name_scope("phi"):
        if order == 1:
            return sqrt(maximum(squared, _TINY))
        if order == 2:
            return 0.5 * squared * log(maximum(squared, _TINY))
        if order == 4:
            return 0.5 * square(squared) * log(maximum(squared, _TINY))
        squared = maximum(squared, _TINY)
        if order % 2 == 0:
            return 0.5 * pow_of(squared, 0.5 * order) * log(squared)
        return pow_of(squared, 0.5 * order)


def _fitted(points: Any, values: Any, order: int, regularization_weight: float) -> tuple:
    """(weights of the points, of the linear part) of the spline through `values` at `points`."""
    batch, count, _ = unstack(shape_of(points), num=3)
    depth, width = points.shape[-1].value, values.shape[-1].value
    if depth is None:
        raise ValueError("The dimensionality of the input points (d) must be statically-inferrable.")
    if width is None:
        raise ValueError("The dimensionality of the output values (k) must be statically-inferrable.")
    with name_scope("construct_linear_system"):
        products = matmul(points, points, adjoint_b=True)
        own = expand_dims(matrix_diag_part(products), 2)
        a = _radial(own - 2 * products + transpose(own, [0, 2, 1]), order)
        if regularization_weight > 0:
            a += regularization_weight * expand_dims(eye(count, dtype=points.dtype), 0)
        b = concat([points, ones_like(points[..., :1], dtype=points.dtype)], 2)
        left = concat([a, transpose(b, [0, 2, 1])], 1)
        right = concat([b, zeros([batch, depth + 1, depth + 1], points.dtype)], 1)
        system = concat([left, right], 2)
        wanted = concat([values, zeros([batch, depth + 1, width], points.dtype)], 1)
    with name_scope("solve_linear_system"):
        found = matrix_solve(system, wanted)
        return found[:, :count, :], found[:, count:, :]


def interpolate_spline(train_points: Any, train_values: Any, query_points: Any, order: int, regularization_weight: float = 0.0,
                       name: str = "interpolate_spline") -> Any:
    """The values [batch, m, k] at `query_points` [batch, m, d] of the polyharmonic spline through `train_values` [batch, n, k]
    at `train_points` [batch, n, d].

    `order`: 1 is piecewise linear in 1-D, 2 the thin plate spline; `regularization_weight`: how much it may miss the values.
    Raises ValueError for unknown d and k.
    """
    with name_scope(name):
        train_points, train_values = convert_to_tensor(train_points), convert_to_tensor(train_values)
        query_points = convert_to_tensor(query_points)
        with name_scope("solve"):
            weights, linear = _fitted(train_points, train_values, order, regularization_weight)
        with name_scope("predict"):
            of_queries = expand_dims(reduce_sum(square(query_points), 2), 2)
            of_points = expand_dims(reduce_sum(square(train_points), 2), 1)
            squared = of_queries - 2 * matmul(query_points, train_points, adjoint_b=True) + of_points
            bent = matmul(_radial(squared, order), weights)
            beside = concat([query_points, ones_like(query_points[..., :1], train_points.dtype)], 2)
            return bent + matmul(beside, linear)


def _repeated(array: np.ndarray, batch: int) -> np.ndarray:
    return np.tile(array[None], [batch] + [1] * array.ndim)


def _with_fixed_edges(points: Any, flows: Any, height: int, width: int, per_edge: int) -> tuple:
    """Points and flows, joined by points on the edges that do not move."""
    ys, xs = np.meshgrid(np.linspace(0, height - 1, per_edge + 2), np.linspace(0, width - 1, per_edge + 2), indexing="ij")
    on_edge = (xs == 0) | (xs == width - 1) | (ys == 0) | (ys == height - 1)
    fixed = _repeated(np.stack([ys[on_edge], xs[on_edge]], axis=-1), points.shape[0].value)
    return (concat([points, constant(fixed, dtype=points.dtype)], 1),
            concat([flows, constant(np.zeros_like(fixed), dtype=points.dtype)], 1))


def sparse_image_warp(image: Any, source_control_point_locations: Any, dest_control_point_locations: Any,
                      interpolation_order: int = 2, regularization_weight: float = 0.0, num_boundary_points: int = 0,
                      name: str = "sparse_image_warp") -> tuple:
    """(the image [batch, height, width, channels] bent so that control points (row, column) [batch, n, 2] get from source to
    destination, its flow [batch, height, width, 2]).

    Between the points runs a spline, see ``interpolate_spline``.  `num_boundary_points` above 0 holds as many segments of each
    edge fast.
    """
    image = convert_to_tensor(image)
    source = convert_to_tensor(source_control_point_locations)
    destination = convert_to_tensor(dest_control_point_locations)
    flows = destination - source
    with name_scope(name):
        batch, height, width, _ = image.shape.as_list()
        grid = np.stack(np.meshgrid(np.linspace(0, height - 1, height), np.linspace(0, width - 1, width), indexing="ij"), -1)
        places = constant(_repeated(grid.reshape(height * width, 2), batch), image.dtype)
        if num_boundary_points > 0:
            destination, flows = _with_fixed_edges(destination, flows, height, width, num_boundary_points - 1)
        dense = interpolate_spline(destination, flows, places, interpolation_order, regularization_weight)
        dense = reshape(dense, [batch, height, width, 2])
        return dense_image_warp(image, dense), dense
