"""What a mask picks of a tensor, is worked on element by element and put back where it was, is worked on where it is.

`tf.where(mask)` says where a mask is true.  How many places that are only the run tells, so that it ends a segment, and all that it
is for is the host's.  Feature columns take every dense input that way: they pick what is not to be ignored, look it up and make
the result dense again.  Such a result is that of all elements wherever the mask is true, and the default value elsewhere.
"""
from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

from jitgraph.graph.constant_value import partial_value
from jitgraph.graph.operation import Operation
from jitgraph.graph.tensor import Tensor

from .kernel import CODES
from .order import variable_of


class Masked:
    """The operations of a program of which this is so.  ``wheres``: those that say where a mask is true, and need not run;
    ``picks``: those that pick, which are to give all elements of their first input, in a row; ``masks``: {operation that puts
    elements back: the mask}."""

    def __init__(self) -> None:
        self.wheres: set[Operation] = set()
        self.picks: set[Operation] = set()
        self.masks: dict[Operation, Tensor] = {}

    def __bool__(self) -> bool:
        return bool(self.wheres)


def masked(ops: Sequence[Operation], asked: Iterable[Tensor | Operation], given: Container[Tensor]) -> Masked:
    """That of ordered operations.  `asked`: fetches and targets, whose values must be what they are; `given`: tensors whose values
    are fed or known, or not what the graph says of them."""
    found = Masked()
    if not any(op.type == "SparseToDense" for op in ops):
        return found
    uses: dict[Operation, list[Operation]] = {}
    for op in ops:
        for before in {*op.control_inputs, *(t.op for t in op.inputs)}:
            uses.setdefault(before, []).append(op)
    fixed = {one if isinstance(one, Operation) else one.op for one in asked}
    fixed.update(before for op in ops for before in op.control_inputs)
    fixed.update(op for op in ops if any(t in given for t in op.outputs))
    for where in ops:
        if where.type == "Where" and where not in fixed and where.inputs[0].dtype.name == "bool" \
                and variable_of(where.inputs[0]) is None:
            _follow(where, uses.get(where, []), uses, fixed, found)
    return found


def _follow(where: Operation, users: list[Operation], uses: dict[Operation, list[Operation]], fixed: set[Operation],
            found: Masked) -> None:
    """Adds what becomes of one mask's elements, if all of it is as described above."""
    mask, indices = where.inputs[0], where.outputs[0]
    picks, ends = [op for op in users if op.type == "GatherNd"], [op for op in users if op.type == "SparseToDense"]
    if not picks or not ends or len(picks) + len(ends) < len(users):
        return
    if not all(op not in fixed and op.inputs[1] is indices and op.inputs[0] is not indices and _same_shape(mask, op.inputs[0])
               for op in picks):
        return
    between, waiting = set(picks), [*picks]
    while waiting:
        for op in uses.get(waiting.pop(), ()):
            if op not in between and op not in ends:
                if op in fixed or len(op.outputs) != 1 or not _is_each(op):
                    return
                between.add(op)
                waiting.append(op)
    picked = {op.outputs[0] for op in between}
    if all(t in picked or _is_single(t) for op in between.difference(picks) for t in op.inputs) \
            and all(_puts_back(op, mask, indices, picked) for op in ends):
        found.wheres.add(where)
        found.picks.update(picks)
        found.masks.update(dict.fromkeys(ends, mask))


def _puts_back(op: Operation, mask: Tensor, indices: Tensor, picked: Container[Tensor]) -> bool:
    """Whether a SparseToDense gives a tensor like the mask, with what was picked in it."""
    places, shape, values, default = op.inputs
    if places is not indices or values not in picked or default in picked or values.dtype.name not in CODES:
        return False
    if shape.op.type == "Shape":
        return _same_shape(mask, shape.op.inputs[0])
    stated, known = mask._shape, partial_value(shape)
    return stated is not None and None not in stated and known is not None and tuple(known) == tuple(stated)


def _is_each(op: Operation) -> bool:
    """Whether each element of the result is made of one of each input, and can be, whatever that is."""
    of = op.opdef
    if of is None or of.checks or of.stream:
        return False
    return of.scalar is not None and not of.stateful or (of.each(op) if callable(of.each) else of.each)


def _is_single(tensor: Tensor) -> bool:
    return tensor._shape == () or tensor.dtype.name == "resource" or tensor.dtype._is_ref_dtype


def _same_shape(mask: Tensor, tensor: Tensor) -> bool:
    """Whether a mask is certain to have the shape of a tensor, which is not a single number."""
    if not tensor._shape:
        return False
    if mask._shape is not None and None not in mask._shape and mask._shape == tensor._shape:
        return True
    return tensor in mask.op.inputs and _is_each(mask.op) and all(t is tensor or t._shape == () for t in mask.op.inputs)
