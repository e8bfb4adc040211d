"""The shapes of what conditionals, calls and loops give, for the sizes of a run: their functions are gone through as the
program itself is.  The graph often states less: of a batch whose size it does not know, a branch gives the same size."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from jitgraph.graph.calls import bodies
from jitgraph.graph.function_graph import LOOPS, FunctionGraph, first_argument
from jitgraph.graph.operation import Operation
from jitgraph.graph.tensor import Tensor

from . import sizes
from .loops.expressions import through

if TYPE_CHECKING:
    from .specialize import Info

Infos = Mapping[Tensor, "Info"]
Look = Callable[[FunctionGraph, Infos], Infos]      # (function, what is known of its inputs) -> what is known of its tensors
ROUNDS = 4              # after which a loop whose variables do not keep their shapes is left to the run


def called_shapes(op: Operation, infos: Sequence[Info | None], look: Look) -> list[sizes.Shape | None]:
    """The shapes of the outputs of an operation that calls functions, by what is known of its inputs; None where that does not
    say them, or the branches do not agree."""
    if op.type in LOOPS:
        return _of_loop(op, infos, look)
    found = []
    for function in bodies(op):
        given = {t: info for t, info in zip(function.inputs, infos[first_argument(op):]) if info is not None}
        inside = look(function, given)
        found.append([_shape(inside, t) for t in function.outputs])
    return [together[0] if all(_same(shape, together[0]) for shape in together) else None for together in zip(*found)]


def _of_loop(op: Operation, infos: Sequence[Info | None], look: Look) -> list[sizes.Shape | None]:
    _, body = bodies(op)
    given = {t: info if through(following) is t else info._replace(value=None)
             for t, following, info in zip(body.inputs, body.outputs, infos) if info is not None}
    for _ in range(ROUNDS):
        inside = look(body, given)
        lost = [t for t, following in zip(body.inputs, body.outputs) if t in given and through(following) is not t
                and not _same(given[t].shape, _shape(inside, following))]
        if not lost:
            return [_shape(given, t) for t in body.inputs]
        for t in lost:
            del given[t]
    return [None] * len(op.outputs)


def _shape(infos: Infos, tensor: Tensor) -> sizes.Shape | None:
    info = infos.get(tensor)
    return None if info is None else info.shape


def _same(a: sizes.Shape | None, b: sizes.Shape | None) -> bool:
    """Whether two shapes are known and equal whatever the sizes are."""
    return a is not None and b is not None and len(a) == len(b) and all(map(sizes.same, a, b))
