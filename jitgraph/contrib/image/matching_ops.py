"""Greedy matching of rows and columns, and connected components of images."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.control.conditionals import cond
from jitgraph.declare.op import op
from jitgraph.declare.samples import draw
from jitgraph.graph import dtypes, shape_rules
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.dtypes import TypeSet
from jitgraph.graph.scopes import name_scope
from jitgraph.ops.arrays.gather import gather
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.searching import unique, where_v2
from jitgraph.ops.arrays.sequences import range as range_of
from jitgraph.ops.arrays.shape import reshape
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.compare import equal


def _matching_samples(rng: Any, dtype: Any) -> list:
    return [([draw(rng, (4, 3), np.float32, 0, 9), np.float32(rows)], {"top_k": k}) for rows, k in ((-1, -1), (2, -1), (4, 2))]


@op("BipartiteMatch(distance_mat: float32, num_valid_rows: float32; top_k: int = -1) -> row_to_col_match_indices: int32, "
    "col_to_row_match_indices: int32",
    shape=lambda c: [(n,) for n in shape_rules.with_rank(c.shapes[0], 2, "distance_mat")], samples=_matching_samples)
def _bipartite_match(distance_mat, num_valid_rows, top_k):
    """Each row's column and each column's row, -1 without one: pairs in the order of their distances."""
    rows, columns = distance_mat.shape
    valid = rows if num_valid_rows < 0 else min(int(num_valid_rows), rows)
    wanted = min(valid, columns) if top_k <= 0 else top_k
    of_rows, of_columns = np.full(rows, -1, np.int32), np.full(columns, -1, np.int32)
    for place in np.argsort(distance_mat[:valid].ravel(), kind="stable"):
        row, column = divmod(int(place), columns)
        if wanted and of_rows[row] < 0 and of_columns[column] < 0:
            of_rows[row], of_columns[column] = column, row
            wanted -= 1
    return of_rows, of_columns


def bipartite_match(distance_mat: Any, num_valid_rows: Any, top_k: int = -1, name: str | None = "bipartite_match") -> Any:
    """(row_to_col_match_indices, col_to_row_match_indices), int32, -1 where there is no match.

    The nearest pair of `distance_mat` [rows, columns] is matched first.  `num_valid_rows`: how many rows count, -1 for all;
    `top_k`: how many matches, -1 for as many as there can be.
    """
    return _bipartite_match(distance_mat, num_valid_rows, top_k=top_k, name=name)


_PIXELS = TypeSet(dtypes.int64, dtypes.int32, dtypes.uint16, dtypes.int16, dtypes.uint8, dtypes.int8, dtypes.float16,
                  dtypes.float32, dtypes.float64, dtypes.bool_, dtypes.string)


def _component_samples(rng: Any, dtype: Any) -> list:
    values = draw(rng, (3,), dtype)
    return [[values[rng.integers(0, 3, (2, 4, 5))]], [values[rng.integers(0, 3, (1, 3, 1))]]]


@op("ImageConnectedComponents(image: dtype) -> components: int64", dtype=_PIXELS,
    shape=lambda c: shape_rules.with_rank(c.shapes[0], 3, "image"), samples=_component_samples)
def _connected_components(image):
    """A number above 0 for each component of equal pixels that touch by a side, the same for the whole component; 0 for 0."""
    empty = image == (b"" if image.dtype == object else image.dtype.type(0))
    import scipy.sparse.csgraph

    found = np.where(empty, 0, np.arange(1, image.size + 1).reshape(image.shape))
    links = []
    for axis in (1, 2):
        one = tuple(slice(None, -1) if k == axis else slice(None) for k in range(3))
        other = tuple(slice(1, None) if k == axis else slice(None) for k in range(3))
        touch = (image[one] == image[other]) & (found[one] > 0)
        links.append((found[one][touch] - 1, found[other][touch] - 1))
    starts, ends = np.concatenate(links, axis=1)
    graph = scipy.sparse.coo_array((np.ones(len(starts), bool), (starts, ends)), shape=(image.size, image.size))
    _, labels = scipy.sparse.csgraph.connected_components(graph, directed=False)
    _, first, label = np.unique(labels, return_index=True, return_inverse=True)
    return np.where(empty, 0, (first + 1)[label].reshape(image.shape)).astype(np.int64)


def connected_components(images: Any) -> Any:
    """int64 numbers of the components of equal pixels that touch by a side, in the order of reading; 0 where pixels are 0.

    `images` [height, width] or [batch, height, width]; each component of the batch has a number of its own.  Raises TypeError
    for other ranks.
    """
    with name_scope("connected_components"):
        given = convert_to_tensor(images, name="images")
        rank = given.shape.ndims
        if rank not in (2, 3):
            raise TypeError(f"images should have rank 2 (HW) or 3 (NHWC). Static shape is {given.shape}")
        components = _connected_components(given[None] if rank == 2 else given)
        ids, index = unique(reshape(components, [-1]))
        zero = where_v2(equal(ids, 0))[:, 0]
        others = range_of(shape_of(ids)[0] - shape_of(zero)[0]) + 1

        def with_zero() -> Any:
            place = cast(zero[0], dtypes.int32)
            return concat([others[:place], [0], others[place:]], axis=0)

        new_ids = cond(equal(shape_of(zero)[0], 0), lambda: others, with_zero)
        found = reshape(gather(new_ids, index), shape_of(components))
        return found[0] if rank == 2 else found
