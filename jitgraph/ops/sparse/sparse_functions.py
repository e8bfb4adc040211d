"""``tf.sparse``: sparse tensors made, changed, combined and reduced."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare.renamed_arguments import renamed
from jitgraph.graph import dtypes, shape_rules
from jitgraph.graph.composite import SparseTensor, SparseTensorValue, is_sparse
from jitgraph.graph.constant_value import constant_value, static_shape, static_value
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.dtypes import as_dtype
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.shape import expand_dims
from jitgraph.ops.elementwise.cast import cast


def as_sparse(sp_input: Any) -> SparseTensor:
    """A SparseTensor as it is, a SparseTensorValue as one.  Raises TypeError for anything else."""
    if isinstance(sp_input, SparseTensorValue):
        return SparseTensor.from_value(sp_input)
    if not isinstance(sp_input, SparseTensor):
        raise TypeError("Input must be a SparseTensor.")
    return sp_input


def _parts(sp_input: SparseTensor) -> tuple[Tensor, Tensor, Tensor]:
    return sp_input.indices, sp_input.values, sp_input.dense_shape


def _static(sp_input: SparseTensor) -> list[int] | None:
    """The sizes, if all are known."""
    known = constant_value(sp_input.dense_shape)
    return None if known is None else [int(n) for n in known]


# -- made and changed --------------------------------------------------------------------------------------------------

def from_dense(tensor: Any, name: str | None = None) -> SparseTensor:
    """The elements of a dense tensor that are not zero."""
    with name_scope(name, "dense_to_sparse"):
        tensor = convert_to_tensor(tensor)
        from jitgraph.ops.arrays.constant import constant

        zero = constant(b"" if tensor.dtype.base_dtype is dtypes.string else 0, tensor.dtype.base_dtype)
        indices = raw.Where(raw.NotEqual(tensor, zero))
        return SparseTensor(indices, raw.GatherNd(tensor, indices), raw.Shape(tensor, out_type=dtypes.int64))


def _int64(value: Any, name: str) -> Tensor:
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return convert_to_tensor(int(value), dtypes.int64, name)
    if not isinstance(value, Tensor):
        raise TypeError(f"{name} must be an integer value")
    return value if value.dtype.base_dtype is dtypes.int64 else raw.Cast(value, DstT=dtypes.int64)


def sparse_eye(num_rows: Any, num_columns: Any = None, dtype: Any = dtypes.float32,
               name: str | None = None) -> SparseTensor:
    """A sparse matrix with ones on the diagonal."""
    with name_scope(name, "eye", [num_rows, num_columns]):
        rows = _int64(num_rows, "num_rows")
        columns = rows if num_columns is None else _int64(num_columns, "num_columns")
        size = raw.Minimum(rows, columns)
        numbers = raw.Range(*(convert_to_tensor(n, dtypes.int64) for n in (0, size, 1)))
        ones = raw.Fill(raw.ExpandDims(size, 0), np.ones((), as_dtype(dtype).as_numpy_dtype))
        return SparseTensor(raw.Pack([numbers, numbers], axis=1), ones, raw.Pack([rows, columns]))


def sparse_expand_dims(sp_input: Any, axis: Any = None, name: str | None = None) -> SparseTensor:
    """A dimension of size 1 inserted at `axis` (the last by default).  Raises TypeError if that is no integer."""
    sp_input = as_sparse(sp_input)
    with name_scope(name, "expand_dims", [sp_input]):
        axis = -1 if axis is None else axis
        if isinstance(axis, (int, np.integer)):
            axis = convert_to_tensor(int(axis), dtypes.int32, "axis")
        elif not isinstance(axis, Tensor):
            raise TypeError("axis must be an integer value in range [-rank(sp_input) - 1, rank(sp_input)]")
        rank = raw.Size(sp_input.dense_shape)
        axis = raw.Select(axis >= 0, axis, axis + rank + 1)
        count = raw.Shape(sp_input.indices)[0]
        zeros = raw.Fill(raw.Pack([count, 1]), np.int64(0))
        before = raw.Slice(sp_input.indices, [0, 0], raw.Pack([-1, axis]))
        after = raw.Slice(sp_input.indices, raw.Pack([0, axis]), [-1, -1])
        place = raw.ExpandDims(axis, 0)
        shape = raw.ConcatV2([raw.Slice(sp_input.dense_shape, [0], place), np.array([1]),
                              raw.Slice(sp_input.dense_shape, place, [-1])], 0)
        return SparseTensor(raw.ConcatV2([before, zeros, after], 1), sp_input.values, shape)


def sparse_reorder(sp_input: Any, name: str | None = None) -> SparseTensor:
    """The elements in row-major order."""
    sp_input = as_sparse(sp_input)
    indices, values = raw.SparseReorder(*_parts(sp_input), name=name)
    known = _static(sp_input)
    return SparseTensor(indices, values, raw.Identity(sp_input.dense_shape) if known is None else known)


def sparse_reshape(sp_input: Any, shape: Any, name: str | None = None) -> SparseTensor:
    """The elements, in their row-major order, in another shape with as many places; one size may be -1.

    Raises ValueError if it is known that the shapes differ in their number of places.
    """
    sp_input = as_sparse(sp_input)
    shape = cast(shape, dtypes.int64)
    with name_scope(name, "SparseReshape", [sp_input]) as scope:
        indices, found = raw.SparseReshape(sp_input.indices, sp_input.dense_shape, shape, name=scope)
        have, wanted = static_shape(sp_input.dense_shape), static_shape(shape)
        if have is not None and None not in have and wanted is not None:
            resolved = _resolved(have, wanted, static_value(shape))
            found = found if resolved is None else convert_to_tensor(resolved, dtypes.int64)
        return SparseTensor(indices, raw.Identity(sp_input.values), found)


def _resolved(have: list[int], wanted: list, given: Any) -> list[int] | None:
    """The sizes wanted (None: unknown) of as many places as `have` has; None if they do not follow."""
    if given is not None and list(given).count(-1) > 1:
        raise ValueError(f"At most one dimension can be inferred (-1). Found: {given}")
    total, found = int(np.prod(have)), list(wanted)
    if wanted.count(None) > 1:
        return None
    if None in wanted:
        found[wanted.index(None)] = total // int(np.prod([n for n in wanted if n is not None]))
    if int(np.prod(found)) != total:
        raise ValueError(f"Cannot reshape a tensor with {total} elements to shape {wanted} ({int(np.prod(found))} "
                         "elements).")
    return found


def sparse_transpose(sp_input: Any, perm: Any = None, name: str | None = None) -> SparseTensor:
    """The dimensions in another order, by default the reverse one; the elements in row-major order."""
    sp_input = as_sparse(sp_input)
    with name_scope(name, "SparseTranspose", [sp_input]):
        if perm is None:
            rank = raw.Size(sp_input.dense_shape)
            perm = (rank - 1) - raw.Range(0, rank, 1)
        perm = convert_to_tensor(perm)
        indices = raw.GatherV2(sp_input.indices, perm, 1)
        known, order = _static(sp_input), constant_value(perm)
        shape: Any = raw.GatherV2(sp_input.dense_shape, perm, 0)
        if known is not None and order is not None:
            if len(order) < len(known):
                raise ValueError(f"Dimensions {len(order)} and {len(known)} are not compatible: perm must name each of the "
                                 f"{len(known)} dimensions, got {list(order)}")
            shape = [known[i] for i in order]
        return sparse_reorder(SparseTensor(indices, sp_input.values, shape))


def sparse_retain(sp_input: Any, to_retain: Any) -> SparseTensor:
    """The elements for which the vector `to_retain` is true."""
    sp_input = as_sparse(sp_input)
    to_retain = convert_to_tensor(to_retain)
    shape_rules.merge(shape_rules.with_rank(to_retain._shape, 1, "to_retain"), sp_input.values._shape)
    places = raw.Reshape(raw.Where(to_retain), [-1])
    return SparseTensor(raw.GatherV2(sp_input.indices, places, 0), raw.GatherV2(sp_input.values, places, 0),
                        raw.Identity(sp_input.dense_shape))


def sparse_reset_shape(sp_input: Any, new_shape: Any = None) -> SparseTensor:
    """The elements in a shape that is not smaller; by default the smallest that holds them.

    Raises ValueError, or InvalidArgumentError when it runs, if a size of `new_shape` is smaller.
    """
    from jitgraph.ops.checks.check_values import assert_equal, assert_less_equal

    sp_input = as_sparse(sp_input)
    indices, values = raw.Identity(sp_input.indices), raw.Identity(sp_input.values)
    if new_shape is None:
        lowest = raw.Max(indices, [0])
        return SparseTensor(indices, values, raw.Maximum(np.int64(0), lowest + np.int64(1)))
    have = raw.Identity(sp_input.dense_shape)
    wanted = convert_to_tensor(new_shape)
    shape_rules.merge(shape_rules.with_rank(wanted._shape, 1, "new_shape"), have._shape)
    wanted = raw.Cast(wanted, DstT=dtypes.int64)
    sizes, known = constant_value(wanted), _static(sp_input)
    if sizes is not None and known is not None:
        if (np.array(known) > sizes).any():
            raise ValueError("Requested new_shape should have dimension sizes >= sp_input.shape.  Found new_shape "
                             f"({np.array(known)}), sp_input.shape ({sizes}).")
        return SparseTensor(indices, values, sizes)
    from jitgraph.control.order_ops import with_dependencies

    wanted = with_dependencies([assert_equal(raw.Shape(have), raw.Shape(wanted))], wanted)
    wanted = with_dependencies([assert_less_equal(have, wanted)], wanted)
    return SparseTensor(indices, values, wanted)


def sparse_fill_empty_rows(sp_input: Any, default_value: Any, name: str | None = None) -> tuple[SparseTensor, Tensor]:
    """(filled, empty): `default_value` in column 0 of each empty row, and a bool for each row whether it was empty."""
    sp_input = as_sparse(sp_input)
    with name_scope(name, "SparseFillEmptyRows", [sp_input]):
        default_value = convert_to_tensor(default_value, sp_input.values.dtype.base_dtype)
        indices, values, empty, _ = raw.SparseFillEmptyRows(*_parts(sp_input), default_value)
        return SparseTensor(indices, values, sp_input.dense_shape), empty


# -- parts -------------------------------------------------------------------------------------------------------------

def sparse_concat(axis: Any, sp_inputs: Any, name: str | None = None, expand_nonconcat_dim: bool = False,
                  concat_dim: Any = None, expand_nonconcat_dims: Any = None) -> SparseTensor:
    """Sparse tensors one after the other along `axis`.

    With `expand_nonconcat_dims` their other sizes may differ: the largest counts.  Raises TypeError if `sp_inputs` is
    no list.
    """
    if expand_nonconcat_dims is not None:
        expand_nonconcat_dim = expand_nonconcat_dims
    axis = renamed("axis", axis, "concat_dim", concat_dim)
    if not isinstance(sp_inputs, (list, tuple)):
        raise TypeError("Inputs must be a list or tuple.")
    inputs = [as_sparse(sp_input) for sp_input in sp_inputs]
    if len(inputs) == 1:
        return inputs[0]
    shapes = [sp_input.dense_shape for sp_input in inputs]
    if expand_nonconcat_dim:
        largest = raw.Max(raw.Pack(shapes), [0])
        before = largest[:axis] if axis != -1 else largest[:-1]
        after = largest[axis + 1:] if axis != -1 else largest[:0]
        shapes = [raw.ConcatV2([before, shape[axis:axis + 1] if axis != -1 else shape[-1:], after], 0)
                  for shape in shapes]
    indices, values, found = raw.SparseConcat([s.indices for s in inputs], [s.values for s in inputs], shapes,
                                              concat_dim=axis, name=name)
    known = [constant_value(shape) for shape in shapes]
    if all(shape is not None for shape in known):
        total = np.array(known[0], np.int64)
        total[axis] = sum(shape[axis] for shape in known)
        found = convert_to_tensor(total)
    return SparseTensor(indices, values, found)


class _KeywordsOnly:
    def __repr__(self) -> str:
        return "KeywordRequired()"


def sparse_split(keyword_required: Any = _KeywordsOnly(), sp_input: Any = None, num_split: int | None = None,  # noqa: B008
                 axis: Any = None, name: str | None = None, split_dim: Any = None) -> list[SparseTensor]:
    """`num_split` parts of a sparse tensor along `axis`.  Raises ValueError unless arguments come by keyword."""
    if not isinstance(keyword_required, _KeywordsOnly):
        raise ValueError("Keyword arguments are required for this function.")
    axis = renamed("axis", axis, "split_dim", split_dim)
    for what, value in (("sp_input", sp_input), ("num_split", num_split), ("axis", axis)):
        if value is None:
            raise ValueError(f"{what} is required")
    found = raw.SparseSplit(convert_to_tensor(axis, dtypes.int64), *_parts(as_sparse(sp_input)), num_split=num_split,
                            name=name)
    return [SparseTensor(*parts) for parts in zip(*found)]


def sparse_slice(sp_input: Any, start: Any, size: Any, name: str | None = None) -> SparseTensor:
    """The box of `size` that begins at `start`, cut off where the tensor ends."""
    sp_input = as_sparse(sp_input)
    start, size = convert_to_tensor(start, dtypes.int64), convert_to_tensor(size, dtypes.int64)
    with name_scope(name, "SparseSlice", [sp_input]) as scope:
        return SparseTensor(*raw.SparseSlice(*_parts(sp_input), start, size, name=scope))


# -- dense -------------------------------------------------------------------------------------------------------------

def sparse_to_dense(sparse_indices: Any, output_shape: Any, sparse_values: Any, default_value: Any = 0,
                    validate_indices: bool = True, name: str | None = None) -> Tensor:
    """A dense tensor of `output_shape` with `sparse_values` at `sparse_indices` (a scalar, vector or matrix)."""
    return raw.SparseToDense(sparse_indices, output_shape, sparse_values, default_value,
                             validate_indices=validate_indices, name=name)


def sparse_tensor_to_dense(sp_input: Any, default_value: Any = None, validate_indices: bool = True,
                           name: str | None = None) -> Tensor:
    """The dense tensor, `default_value` (0, or "") where there is no element.

    With `validate_indices`, indices that are out of order or repeated raise InvalidArgumentError when it runs.
    """
    sp_input = as_sparse(sp_input)
    if default_value is None:
        kind = sp_input.dtype.base_dtype
        default_value = np.asarray(b"", object) if kind is dtypes.string else np.zeros((), kind.as_numpy_dtype)
    return raw.SparseToDense(sp_input.indices, sp_input.dense_shape, sp_input.values, default_value,
                             validate_indices=validate_indices, name=name)


def sparse_merge(sp_ids: Any, sp_values: Any, vocab_size: Any, name: str | None = None,
                 already_sorted: bool = False) -> SparseTensor:
    """A sparse tensor with `sp_values` at the places that the values of `sp_ids` say, in a last dimension `vocab_size`.

    Several sparse tensors of ids, with a list of sizes, make as many dimensions.
    """
    if is_sparse(sp_ids):
        if not isinstance(vocab_size, (int, np.integer, Tensor)):
            raise TypeError(f"vocab_size has to be a Tensor or Python int. Found {type(vocab_size)}")
        sp_ids, vocab_size = [sp_ids], [vocab_size]
    else:
        if not hasattr(sp_ids, "__iter__"):
            raise TypeError(f"sp_ids has to be a SparseTensor or list thereof. Found {type(sp_ids)}")
        if not hasattr(vocab_size, "__iter__"):
            raise TypeError(f"vocab_size has to be a list of Tensors or Python ints. Found {type(vocab_size)}")
        for size in vocab_size:
            if not isinstance(size, (int, np.integer, Tensor)):
                raise TypeError(f"vocab_size has to be a list of Tensors or Python ints. Found {type(size)}")
    if len(sp_ids) != len(vocab_size):
        raise ValueError("sp_ids and vocab_size have to have equal lengths.")
    with name_scope(name, "SparseMerge", [*sp_ids, sp_values]):
        ids = [as_sparse(one) for one in sp_ids]
        sp_values = as_sparse(sp_values)
        columns = [expand_dims(cast(one.values, dtypes.int64), axis=1) for one in ids]
        sizes = [cast(size, dtypes.int64) for size in vocab_size]
        indices = concat([ids[0].indices[:, :-1], *columns], 1)
        shape = concat([ids[0].dense_shape[:-1], sizes], 0)
        found = SparseTensor(indices, sp_values.values, shape)
        if already_sorted:
            return found
        ordered = sparse_reorder(found)
        return SparseTensor(ordered.indices, ordered.values, shape)


def sparse_to_indicator(sp_input: Any, vocab_size: Any, name: str | None = None) -> Tensor:
    """A dense bool tensor: in place of the last dimension `vocab_size`, true at each of the values."""
    sp_input = as_sparse(sp_input)
    with name_scope(name, "SparseToIndicator", [sp_input]) as scope:
        count = raw.Shape(sp_input.indices)[0]
        ones = SparseTensor(sp_input.indices, raw.Fill(raw.ExpandDims(count, 0), True), sp_input.dense_shape)
        merged = sparse_merge(sp_input, ones, vocab_size, scope)
        return sparse_tensor_to_dense(merged, default_value=False, validate_indices=False, name=scope)


# -- arithmetic --------------------------------------------------------------------------------------------------------

def sparse_add(a: Any, b: Any, threshold: Any = None, thresh: Any = None) -> Any:
    """The sum of two sparse tensors, sparse, or of a sparse and a dense one, dense.

    Sums of two elements with an absolute value below `threshold` are left out.  Raises TypeError if neither is sparse.
    """
    threshold = renamed("threshold", threshold, "thresh", thresh)
    if not (is_sparse(a) or is_sparse(b)):
        raise TypeError("At least one input should be SparseTensor; do you mean to use tf.add()?")
    if not (is_sparse(a) and is_sparse(b)):
        sparse, dense = (a, b) if is_sparse(a) else (b, a)
        return raw.SparseTensorDenseAdd(*_parts(as_sparse(sparse)), dense)
    a, b = as_sparse(a), as_sparse(b)
    limit = convert_to_tensor(threshold or 0 if not isinstance(threshold, Tensor) else threshold,
                              a.values.dtype.base_dtype.real_dtype, "threshold")
    indices, values, shape = raw.SparseAdd(*_parts(a), *_parts(b), limit)
    first, second = _static(a), _static(b)
    if first is not None and second is not None:
        if first != second:
            raise ValueError(f"Shapes {tuple(first)} and {tuple(second)} are incompatible")
        shape = first
    return SparseTensor(indices, values, shape)


def sparse_tensor_dense_matmul(sp_a: Any, b: Any, adjoint_a: bool = False, adjoint_b: bool = False,
                               name: str | None = None) -> Tensor:
    """The product of a sparse matrix and a dense one, either of them transposed and conjugated first if asked for."""
    sp_a = as_sparse(sp_a)
    with name_scope(name, "SparseTensorDenseMatMul", [sp_a.indices, sp_a.values, b]):
        b = convert_to_tensor(b, name="b")
        return raw.SparseTensorDenseMatMul(*_parts(sp_a), b, adjoint_a=adjoint_a, adjoint_b=adjoint_b)


def sparse_softmax(sp_input: Any, name: str | None = None) -> SparseTensor:
    """The softmax over the elements of each row (the last dimension)."""
    sp_input = as_sparse(sp_input)
    with name_scope(name, "SparseSoftmax", [sp_input.indices, sp_input.values]):
        return SparseTensor(sp_input.indices, raw.SparseSoftmax(*_parts(sp_input)), sp_input.dense_shape)


def _extreme(kind: str, sp_a: Any, sp_b: Any, name: str | None) -> SparseTensor:
    sp_a, sp_b = as_sparse(sp_a), as_sparse(sp_b)
    with name_scope(name, kind, [sp_a.indices, sp_a.values, sp_b.indices, sp_b.values]) as scope:
        indices, values = getattr(raw, kind)(*_parts(sp_a), *_parts(sp_b), name=scope)
        return SparseTensor(indices, values, sp_a.dense_shape)


def sparse_maximum(sp_a: Any, sp_b: Any, name: str | None = None) -> SparseTensor:
    """The larger of the elements of two sparse tensors, missing ones being 0."""
    return _extreme("SparseSparseMaximum", sp_a, sp_b, name)


def sparse_minimum(sp_a: Any, sp_b: Any, name: str | None = None) -> SparseTensor:
    """The smaller of the elements of two sparse tensors, missing ones being 0."""
    return _extreme("SparseSparseMinimum", sp_a, sp_b, name)


def _reduce(kind: str, sp_input: Any, axis: Any, keepdims: Any, reduction_axes: Any, keep_dims: Any) -> Any:
    keep = renamed("keepdims", keepdims, "keep_dims", keep_dims)
    return reduced(kind, sp_input, renamed("axis", axis, "reduction_axes", reduction_axes), keep)


def reduced(kind: str, sp_input: Any, axis: Any, keepdims: bool | None, name: str | None = None) -> Any:
    """What the op `kind` (SparseReduceSum and its kin) makes of a sparse tensor."""
    sp_input = as_sparse(sp_input)
    if axis is None:
        rank = sp_input.dense_shape._shape
        axis = np.arange(rank[0]) if rank is not None and rank[0] is not None else \
            raw.Range(0, raw.Size(sp_input.dense_shape), 1)
    axes = axis if isinstance(axis, Tensor) else np.atleast_1d(np.asarray(axis, np.int32))
    return getattr(raw, kind)(*_parts(sp_input), axes, keep_dims=bool(keepdims), name=name)


def sparse_reduce_sum(sp_input: Any, axis: Any = None, keepdims: Any = None, reduction_axes: Any = None,
                      keep_dims: Any = None) -> Tensor:
    """The sum of the elements over some axes (all by default), dense."""
    return _reduce("SparseReduceSum", sp_input, axis, keepdims, reduction_axes, keep_dims)


def sparse_reduce_max(sp_input: Any, axis: Any = None, keepdims: Any = None, reduction_axes: Any = None,
                      keep_dims: Any = None) -> Tensor:
    """The largest of the elements over some axes (all by default), dense; 0 where there is none."""
    return _reduce("SparseReduceMax", sp_input, axis, keepdims, reduction_axes, keep_dims)


def sparse_reduce_sum_sparse(sp_input: Any, axis: Any = None, keepdims: Any = None, reduction_axes: Any = None,
                             keep_dims: Any = None) -> SparseTensor:
    """As ``sparse_reduce_sum``, sparse."""
    return SparseTensor(*_reduce("SparseReduceSumSparse", sp_input, axis, keepdims, reduction_axes, keep_dims))


def sparse_reduce_max_sparse(sp_input: Any, axis: Any = None, keepdims: Any = None, reduction_axes: Any = None,
                             keep_dims: Any = None) -> SparseTensor:
    """As ``sparse_reduce_max``, sparse."""
    return SparseTensor(*_reduce("SparseReduceMaxSparse", sp_input, axis, keepdims, reduction_axes, keep_dims))


def sparse_mask(a: Any, mask_indices: Any, name: str | None = None) -> Any:
    """IndexedSlices without the rows whose indices are in `mask_indices`."""
    from jitgraph.graph.composite import IndexedSlices

    with name_scope(name, "sparse_mask", [a, mask_indices]) as scope:
        kept, places = raw.ListDiff(a.indices, mask_indices)
        return IndexedSlices(raw.GatherV2(a.values, places, 0, name=scope), kept, a.dense_shape)
