"""The shapes of what conditionals, calls and loops give, for the sizes of a run, and what is known of the elements of TensorArrays
and lists: their functions are gone through as the program itself is.  The graph often states less: of a batch whose size it does
not know, a branch gives the same size."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from jitgraph.graph.calls import bodies
from jitgraph.graph.elements import Elements
from jitgraph.graph.function_graph import LOOPS, FunctionGraph, first_argument
from jitgraph.graph.operation import Operation
from jitgraph.graph.tensor import Tensor

from . import sizes
from .infer import Info
from .loops.expressions import through

Infos = Mapping[Tensor, Info]
# (function, what is known of its inputs) -> (what is known of its tensors, whether it can only fail)
Look = Callable[[FunctionGraph, Infos], tuple[Infos, bool]]
ROUNDS = 4              # after which a loop whose variables do not keep their shapes is left to the run


def called_shapes(op: Operation, infos: Sequence[Info | None], look: Look) -> list[tuple[sizes.Shape | None, Elements | None]]:
    """(shape, elements) of the outputs of an operation that calls functions, by what is known of its inputs; None where that does
    not say them, or the branches do not agree.  A branch that can only fail gives nothing that another need agree with."""
    if op.type in LOOPS:
        return _of_loop(op, infos, look)
    found: list[list[Info | None]] = []
    failing: list[list[Info | None]] = []
    for function in bodies(op):
        given = {t: info for t, info in zip(function.inputs, infos[first_argument(op):]) if info is not None}
        inside, fails = look(function, given)
        (failing if fails else found).append([inside.get(t) for t in function.outputs])
    return [_of_branches(together) for together in zip(*(found or failing))]


def _of_branches(together: Sequence[Info | None]) -> tuple[sizes.Shape | None, Elements | None]:
    first, elements = together[0], None if together[0] is None else together[0].elements
    for info in together[1:]:
        elements = joined(elements, None if info is None else info.elements)
    return first.shape if first is not None and all(_same(info, first) for info in together) else None, elements


def _of_loop(op: Operation, infos: Sequence[Info | None], look: Look) -> list[tuple[sizes.Shape | None, Elements | None]]:
    _, body = bodies(op)
    given = {t: info if through(following) is t else info._replace(value=None)
             for t, following, info in zip(body.inputs, body.outputs, infos) if info is not None}
    for _ in range(ROUNDS):
        (inside, _), settled = look(body, given), True
        for t, following in zip(body.inputs, body.outputs):
            if t not in given or through(following) is t:
                continue
            after = inside.get(following)
            if not _same(given[t], after):
                del given[t]
                settled = False
            elif given[t].elements is not None:
                elements = joined(given[t].elements, after.elements)        # type: ignore[union-attr]
                settled = settled and elements == given[t].elements
                given[t] = given[t]._replace(elements=elements)
        if settled:
            return [(None, None) if t not in given else (given[t].shape, given[t].elements) for t in body.inputs]
    return [(None, None)] * len(op.outputs)


def joined(*known: Elements | None) -> Elements | None:
    """What holds of the elements of a TensorArray, or list, that is one of these."""
    if not known or None in known:
        return None
    counts, shapes = [e.count for e in known], list[Any]()          # type: ignore[union-attr]
    for shape in (shape for e in known for shape in e.shapes):      # type: ignore[union-attr]
        if not any(shape is one or _equal(shape, one) for one in shapes):
            shapes.append(shape)
    count = counts[0] if all(one is not None and sizes.same(one, counts[0]) for one in counts) else None
    return Elements(count, tuple(shapes) if len(shapes) < 2 else (None,))


def _same(a: Info | None, b: Info | None) -> bool:
    """Whether two shapes are known and equal whatever the sizes are."""
    return a is not None and b is not None and _equal(a.shape, b.shape)


def _equal(a: sizes.Shape | None, b: sizes.Shape | None) -> bool:
    return a is not None and b is not None and sizes.same_shape(a, b)
