"""Where to look for the neighbours of points in tables that are hashed by hyperplanes (Andoni et al., 2015)."""
from __future__ import annotations

import heapq
from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import NOT_DIFFERENTIABLE, op
from jitgraph.declare.samples import draw, ints
from jitgraph.graph import dtypes
from jitgraph.graph.dtypes import TypeSet


def _shapes(c: Any) -> list:
    rows = (c.shapes[0] or (None,))[0]
    probes = c.constant(3)
    return [(rows, None if probes is None else int(probes))] * 2


def _probes(products: np.ndarray, count: int) -> list[tuple[int, int]]:
    """(hash, table) of the places to look at for one point; `products` [tables, hyperplanes].

    First its own hash in each table, then those that differ where the point is near to hyperplanes, the nearest first.
    """
    tables, planes = products.shape
    bits = 1 << np.arange(planes - 1, -1, -1)
    own = ((products >= 0) * bits).sum(axis=1).tolist()
    found = [(own[table], table) for table in range(min(tables, count))]
    order = np.argsort(np.abs(products), axis=1, kind="stable")
    squares = np.take_along_axis(products, order, axis=1) ** 2
    waiting = [(float(squares[table, 0]), table, 0, int(bits[order[table, 0]])) for table in range(tables)]
    heapq.heapify(waiting)
    while len(found) < count and waiting:
        score, table, last, flipped = heapq.heappop(waiting)
        found.append((own[table] ^ flipped, table))
        if last + 1 < planes:
            here, following = (int(bits[order[table, k]]) for k in (last, last + 1))
            added = score + float(squares[table, last + 1])
            heapq.heappush(waiting, (added - float(squares[table, last]), table, last + 1, flipped ^ here ^ following))
            heapq.heappush(waiting, (added, table, last + 1, flipped ^ following))
    return found


@op("HyperplaneLSHProbes(point_hyperplane_product: CoordinateType, num_tables: int32, num_hyperplanes_per_table: int32, "
    "num_probes: int32) -> probes: int32, table_ids: int32", CoordinateType=TypeSet(dtypes.float32, dtypes.float64), shape=_shapes,
    host=True, dynamic=True, grad=NOT_DIFFERENTIABLE,
    samples=lambda rng, dtype: [[draw(rng, (3, 6), dtype), ints(2)[0], ints(3)[0], ints(5)[0]]])
def _hyperplane_lsh_probes(point_hyperplane_product, num_tables, num_hyperplanes_per_table, num_probes):
    """The hashes to look for in tables, and the numbers of these tables."""
    tables, planes, count = int(num_tables), int(num_hyperplanes_per_table), int(num_probes)
    if tables < 1:
        raise invalid(f"num_tables must be at least 1 but the actual value is {tables}.")
    if not 1 <= planes <= 30:
        raise invalid(f"num_hyperplanes_per_table must be at least 1 and at most 30 but the actual value is {planes}.")
    if count < 1:
        raise invalid(f"num_probes must be at least 1 but the actual value is {count}.")
    if point_hyperplane_product.ndim != 2:
        raise invalid("Need a two-dimensional input tensor.")
    if point_hyperplane_product.shape[1] != tables * planes:
        raise invalid("The number of hyperplanes must be equal to num_tables * num_hyperplanes_per_table, "
                      f"{tables * planes}, but the input has {point_hyperplane_product.shape[1]} columns.")
    found = [_probes(row.reshape(tables, planes), count) for row in point_hyperplane_product]
    both = np.array(found, np.int32).reshape(len(found), count, 2)
    return np.ascontiguousarray(both[..., 0]), np.ascontiguousarray(both[..., 1])


def hyperplane_lsh_probes(point_hyperplane_product: Any, num_tables: Any, num_hyperplanes_per_table: Any, num_probes: Any,
                          name: str | None = None) -> Any:
    """(hashes, tables), int32 [batch, num_probes]: where to look for neighbours of points.

    `point_hyperplane_product` [batch, num_tables * num_hyperplanes_per_table]: the products of points and hyperplanes.  The first
    `num_tables` probes are the points' own hashes, the others those of hashes nearby.  A run raises InvalidArgumentError for
    numbers that do not suit.
    """
    return raw.HyperplaneLSHProbes(point_hyperplane_product, num_tables, num_hyperplanes_per_table, num_probes, name=name)
