"""What a mask picks of a tensor, is worked on element by element and put back where it was, is worked on where it is.

`tf.where(mask)` says where a mask is true.  How many places that are only the run tells, so that it ends a segment, and all that it
is for is the host's.  Feature columns take every dense input that way: they pick what is not to be ignored, look it up, pick again
what is valid, and make the result dense, or give each row without an element one.  Such a result is that of all elements wherever
the masks are true, and the default value elsewhere.
"""
from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from jitgraph.declare import prim
from jitgraph.graph import dtypes, shape_rules
from jitgraph.graph.constant_value import partial_value, value_for_shape
from jitgraph.graph.operation import Operation
from jitgraph.graph.tensor import Tensor

from . import sizes
from .infer import Info
from .ir import Value
from .kernel import CODES
from .loops.expressions import through
from .order import variable_of

if TYPE_CHECKING:
    from .builder import Builder

Masks = tuple[Tensor, ...]      # a tensor of bools; then, for each time that is picked again, what is true of those picked before


class Masked:
    """The operations of a program of which this is so.  ``gone``: those that need not run, for nobody needs to know the places;
    ``others``: {operation that is done another way: the masks that it looks at}."""

    def __init__(self) -> None:
        self.gone: set[Operation] = set()
        self.others: dict[Operation, Masks] = {}

    def taken(self, op: Operation) -> Sequence[Tensor]:
        """What an operation takes; one of the `others` elements or a shape, and what puts them back the default value and masks."""
        masks = self.others.get(op)
        if masks is None:
            return op.inputs
        if op.type in _ENDS:
            return [op.inputs[_ENDS[op.type]], op.inputs[3], *masks]
        if op.type in _SEGMENTS or not masks:
            return op.inputs[:2]
        return [op.inputs[1 if op.type == "SparseReshape" else 0]]

    def infos(self, op: Operation, taken: Sequence[Info]) -> list[Info | None]:
        """What is known of the results of one of the `others`, None of places, from what is of what it takes."""
        first = taken[0]
        if op.type == "SparseToDense":
            return [Info(first.dtype, taken[2].shape)]
        if op.type == "SparseFillEmptyRows":
            rows = taken[2].shape[:1]
            return [Info(dtypes.int64, (*rows, 2)), Info(first.dtype, rows), Info(dtypes.bool_, rows), None]
        if op.type == "SparseReshape" and self.others[op]:
            return [None, first]
        if op.type == "SparseReshape":          # of a column whose places are known
            return [first, Info(dtypes.int64, (2,), np.array([first.shape[0], 1], object))]
        if op.type in _SEGMENTS:
            return [Info(first.dtype, (*taken[1].shape, *first.shape[1:]))]
        return [Info(first.dtype, (sizes.product(first.shape),))]

    def lower(self, op: Operation, b: Builder, taken: Sequence[Value]) -> list[Value | None]:
        """The results of one of the `others` in primitives, None for places."""
        if op.type == "SparseReshape":
            return [None, taken[0]] if self.others[op] else [*taken]
        if op.type in _SEGMENTS:
            return [b.gather(taken[0], taken[1])]
        if op.type not in _ENDS:
            return [b.reshape(taken[0], (-1,))]
        of, default, first, *further = taken
        mask = b.reshape(first, (-1,))
        for other in further:
            mask = prim.logical_and(mask, other)
        elements = prim.select(mask, of, b.broadcast(default, of.shape))
        if op.type == "SparseToDense":
            return [b.reshape(elements, first.shape)]
        row, column = (b.iota((*of.shape, 2), axis, dtypes.int64) for axis in (0, 1))
        return [prim.select(prim.eq(column, 0), row, b.const(0, dtypes.int64)), elements, prim.logical_not(mask), None]


def masked(ops: Sequence[Operation], asked: Iterable[Tensor | Operation], given: Container[Tensor]) -> Masked:
    """That of ordered operations.  `asked`: fetches and targets, whose values must be what they are; `given`: tensors whose values
    are fed or known, or not what the graph says of them."""
    if not any(op.type in _ENDS for op in ops):
        return Masked()
    search = _Search()
    for op in ops:
        search.look(op, any(t in given for t in op.outputs) or op.type == "Where" and op.inputs[0] in given)
    return search.found([*asked, *(before for op in ops for before in op.control_inputs)])


_ENDS = {"SparseToDense": 2, "SparseFillEmptyRows": 1}      # what puts something back: the number of the input that this is
_SEGMENTS = frozenset(["SparseSegmentSum", "SparseSegmentMean", "SparseSegmentSqrtN"])


class _Picked(NamedTuple):
    """What a tensor holds: "values", their "indices", the "numbers" in a "column" or in a row that they have among those that all
    but the last mask pick, or something "other" that only its places explain."""

    kind: str
    masks: Masks
    where: Operation        # which says where the first mask is true


class _Search:
    """Goes through operations in their order and follows what is picked; what becomes of it may show that it counts."""

    def __init__(self) -> None:
        self.picked: dict[Tensor, _Picked] = {}
        self.dense: dict[Tensor, Tensor] = {}       # {tensor that holds a shape: the mask that has it, or elements of a column}
        self.filled: dict[Tensor, Operation] = {}   # {places of a column in which no row is empty: the `where` that it begins with}
        self.rows: dict[Tensor, Operation] = {}     # {the numbers of its rows: the same}
        self.elements: dict[Tensor, Tensor] = {}    # {places of such a column that is crossed: its elements}
        self.columns: dict[Tensor, Tensor] = {}     # {mask of such elements: these}
        self.gone: dict[Operation, Operation] = {}              # {operation: the `where` that it belongs to}
        self.others: dict[Operation, tuple[Operation, Masks]] = {}
        self.ends: set[Operation] = set()           # the `wheres` that something is put back of
        self.kept: set[Operation] = set()           # those that count as they are

    def found(self, asked: Iterable[Tensor | Operation]) -> Masked:
        """What is left of it where these are asked for."""
        for one in asked:
            if isinstance(one, Operation):
                self.kept.update({self.gone[one]} if one in self.gone else ())
            elif one in self.picked:
                self.kept.add(self.picked[one].where)
        good, found = self.ends - self.kept, Masked()
        found.gone = {op for op, where in self.gone.items() if where in good}
        found.others = {op: masks for op, (where, masks) in self.others.items() if where in good}
        return found

    def look(self, op: Operation, is_fed: bool) -> None:
        """Looks at the next operation, of which some result may be fed."""
        given = [self.picked.get(t) for t in op.inputs]
        wheres = {one.where for one in given if one is not None}
        if not wheres:
            if op.type == "Where" and not is_fed and op.inputs[0].dtype.name == "bool" and op.inputs[0]._shape \
                    and variable_of(op.inputs[0]) is None:
                self._pick(op, _Picked("column" if self._is_of_column(op.inputs[0]) else "indices", (op.inputs[0],), op))
            elif op.inputs and not is_fed:
                self._look_at_rows(op)
        elif is_fed or len(wheres) > 1 or not self._follow(op, given):
            self.kept |= wheres

    def _look_at_rows(self, op: Operation) -> None:
        """Looks at what is done with a column of which no row is empty: each is a segment of its own."""
        where = self.rows.get(op.inputs[0])
        if op.type == "StridedSlice" and op.inputs[0] in self.filled and _is_first_column(op):
            self.rows[op.outputs[0]] = self.filled[op.inputs[0]]
        elif op.type in ("Identity", "Cast") and where is not None:
            self.rows[op.outputs[0]] = where
        elif op.type == "SparseCross" and shape_rules.crosses_columns(
                op.attrs, [t._shape for t in op.inputs], lambda k: value_for_shape(op.inputs[k])):
            self.filled[op.outputs[0]], self.elements[op.outputs[0]], self.dense[op.outputs[2]] = op, op.outputs[1], op.outputs[1]
            self.ends.add(op)
        elif op.type == "SparseReshape" and (elements := self.elements.get(op.inputs[0])) is not None \
                and self._is_shape(elements, op.inputs[1]) and self._is_as_it_was(elements, op.inputs[2]):
            self.filled[op.outputs[0]] = cross = self.filled[op.inputs[0]]
            self.elements[op.outputs[0]] = self.dense[op.outputs[1]] = elements
            self.others[op] = cross, ()
        elif op.type in _SEGMENTS and op.inputs[2] in self.rows and _is_plain(op.inputs[0]):
            self.others[op] = self.rows[op.inputs[2]], ()

    def _is_of_column(self, mask: Tensor) -> bool:
        """Whether a mask has an element for each of a crossed column."""
        op = mask.op
        of = [found for t in op.inputs if t._shape != () and (found := _as_it_is(t)) in self.elements.values()]
        if len(of) != 1 or not is_each(op) or sum(t._shape != () for t in op.inputs) > 1:
            return False
        self.columns[mask] = of[0]
        return True

    def _pick(self, op: Operation, picked: _Picked, is_gone: bool = True) -> bool:
        stated = op.outputs[0]._shape
        if stated is not None and stated[0] is not None:        # by a program, which knows how many there are
            return False
        self.picked[op.outputs[0]] = picked
        if is_gone:
            self.gone[op] = picked.where
        return True

    def _do(self, op: Operation, picked: _Picked) -> bool:
        self.others[op] = picked.where, picked.masks
        return True

    def _follow(self, op: Operation, given: list[_Picked | None]) -> bool:
        """Whether an operation can do with all elements in place of those that are picked."""
        first = given[0]
        if op.type in _FOLLOW and first is not None or op.type in ("GatherNd", "GatherV2"):
            return _FOLLOW[op.type](self, op, given)
        values = [one for one in given if one is not None]
        if len(op.outputs) != 1 or not is_each(op) or any(one.kind != "values" or one.masks != values[0].masks for one in values):
            return False
        return all(one is not None or is_single(t) for one, t in zip(given, op.inputs)) \
            and self._pick(op, values[0], is_gone=False)

    def _where(self, op: Operation, given: list[_Picked | None]) -> bool:
        of = given[0]
        assert of is not None
        if of.kind != "values" or op.inputs[0].dtype.name != "bool":
            return False
        return self._pick(op, _Picked("column", (*of.masks, op.inputs[0]), of.where))

    def _reshape(self, op: Operation, given: list[_Picked | None]) -> bool:
        of, shape = given[0], partial_value(op.inputs[1])
        return of is not None and of.kind == "column" and shape is not None and shape.tolist() == [-1] \
            and self._pick(op, of._replace(kind="numbers"))

    def _identity(self, op: Operation, given: list[_Picked | None]) -> bool:
        of = given[0]
        return of is not None and self._pick(op, of, is_gone=of.kind != "values")

    def _gather_nd(self, op: Operation, given: list[_Picked | None]) -> bool:
        x, at = given
        if x is not None or at is None or at.kind != "indices" or len(at.masks) > 1 or not _same_shape(at.masks[0], op.inputs[0]):
            return False
        return self._do(op, at) and self._pick(op, _Picked("values", at.masks, at.where), is_gone=False)

    def _gather(self, op: Operation, given: list[_Picked | None]) -> bool:
        of, at, _ = given
        axis = partial_value(op.inputs[2])
        if at is None or at.kind != "numbers" or axis is None or np.any(axis) or op.attrs["batch_dims"]:
            return False
        kind = self._kind_in_column(op.inputs[0], at.masks) if of is None else of.kind if of.masks == at.masks[:-1] else "other"
        if kind == "values":
            self._do(op, at)
        return kind in ("values", "indices") and self._pick(op, at._replace(kind=kind), is_gone=kind == "indices")

    def _kind_in_column(self, tensor: Tensor, masks: Masks) -> str:
        """What of a crossed column it is of which one mask picks."""
        elements = self.columns.get(masks[0]) if len(masks) == 1 else None
        if elements is None:
            return "other"
        return "indices" if self.elements.get(tensor) is elements else "values" if _as_it_is(tensor) is elements else "other"

    def _sparse_reshape(self, op: Operation, given: list[_Picked | None]) -> bool:
        of, shape, wanted = given
        if of is None or shape or wanted or of.kind != "indices" or not self._is_column(of, op.inputs[1]) \
                or not self._is_as_it_was(of.masks[0], op.inputs[2]):
            return False
        self.dense[op.outputs[1]] = of.masks[0]
        return self._do(op, of) and self._pick(op, of, is_gone=False)

    def _put_back(self, op: Operation, given: list[_Picked | None]) -> bool:
        number, fills = _ENDS[op.type], op.type == "SparseFillEmptyRows"
        shape = 3 - number              # of the inputs 1 and 2, one is what is put back, the other the shape
        at, of = given[0], given[number]
        if at is None or of is None or given[shape] or given[3] or at.kind != "indices" or of.kind != "values" \
                or at.masks != of.masks or not _is_plain(op.inputs[number]):
            return False
        if not (self._is_column(at, op.inputs[shape]) if fills else self._is_shape(at.masks[0], op.inputs[shape])):
            return False
        if fills:
            self.picked[op.outputs[3]] = at._replace(kind="other")
            self.filled[op.outputs[0]] = at.where
        self.ends.add(at.where)
        return self._do(op, at)

    def _is_as_it_was(self, mask: Tensor, wanted: Tensor) -> bool:
        """Whether a matrix of one column stays what it is in the shape `wanted`, which has as many places."""
        pack, known = _as_it_is(wanted).op, partial_value(wanted)
        if pack.type == "Pack":
            found = [self._size(mask, t) for t in pack.inputs]
        else:
            found = [] if known is None else known.tolist()
        if len(found) != 2:
            return False
        is_same = found[0] == "rows" or found[0] is not None and mask._shape is not None and found[0] == mask._shape[0]
        return found[1] == 1 or found[1] == -1 and is_same

    def _size(self, mask: Tensor, tensor: Tensor) -> Any:
        """The number that a scalar is certain to hold; "rows" for the rows of a mask of one column; None for another."""
        tensor = _as_it_is(tensor)
        op, known = tensor.op, partial_value(tensor)
        if known is not None and known.ndim == 0:
            return known.item()
        if op.type == "GatherV2" or op.type == "StridedSlice" and op.attrs["shrink_axis_mask"] == 1:
            at = partial_value(op.inputs[1])
            if self._is_shape(mask, op.inputs[0]) and at is not None and at.size == 1:
                return "rows" if at.item() == 0 else 1
        return None

    def _is_shape(self, mask: Tensor, shape: Tensor) -> bool:
        """Whether a tensor is certain to hold a mask's shape."""
        shape = _as_it_is(shape)
        if shape in self.dense or mask in self.elements.values():
            return self.dense.get(shape) is mask
        if shape.op.type == "Shape":
            return shape.op.inputs[0] is mask or _same_shape(mask, shape.op.inputs[0])
        known = partial_value(shape)
        return mask._shape is not None and None not in mask._shape and known is not None and tuple(known) == tuple(mask._shape)

    def _is_column(self, at: _Picked, shape: Tensor) -> bool:
        """Whether places are those of a matrix of one column, whose shape that is."""
        mask = at.masks[0]
        if mask in self.columns:
            return self._is_shape(self.columns[mask], shape)
        return mask._shape is not None and mask._shape[1:] == (1,) and self._is_shape(mask, shape)


_FOLLOW: dict[str, Callable[[_Search, Operation, list[_Picked | None]], bool]] = {
    "Where": _Search._where, "Reshape": _Search._reshape, "Identity": _Search._identity, "GatherNd": _Search._gather_nd,
    "GatherV2": _Search._gather, "SparseReshape": _Search._sparse_reshape, "SparseFillEmptyRows": _Search._put_back,
    "SparseToDense": _Search._put_back}


def _is_plain(tensor: Tensor) -> bool:
    """Whether kernels have its elements as they are."""
    return tensor.dtype.base_dtype.name in CODES


def is_each(op: Operation) -> bool:
    """Whether each element of the result is made of one of each input, and can be, whatever that is."""
    of = op.opdef
    if of is None or of.checks or of.stream:
        return False
    return of.scalar is not None and not of.stateful or (of.each(op) if callable(of.each) else of.each)


def _is_first_column(op: Operation) -> bool:
    """Whether a StridedSlice of a matrix is its first column."""
    begin, end, strides = (partial_value(t) for t in op.inputs[1:4])
    masks = [op.attrs[name] for name in ("begin_mask", "end_mask", "shrink_axis_mask", "ellipsis_mask", "new_axis_mask")]
    return begin is not None and end is not None and strides is not None and masks == [1, 1, 2, 0, 0] \
        and begin.tolist()[1:] == [0] and strides.tolist() == [1, 1]


def _as_it_is(tensor: Tensor) -> Tensor:
    """The tensor of which a tensor of sizes is a copy, perhaps in another dtype."""
    while (tensor := through(tensor)).op.type == "Cast":
        tensor = tensor.op.inputs[0]
    return tensor


def is_single(tensor: Tensor) -> bool:
    return tensor._shape == () or tensor.dtype.name == "resource" or tensor.dtype._is_ref_dtype


def _same_shape(mask: Tensor, tensor: Tensor) -> bool:
    """Whether a mask is certain to have the shape of a tensor, which is not a single number."""
    if not tensor._shape:
        return False
    if mask._shape is not None and None not in mask._shape and mask._shape == tensor._shape:
        return True
    return tensor in mask.op.inputs and is_each(mask.op) and all(t is tensor or t._shape == () for t in mask.op.inputs)
