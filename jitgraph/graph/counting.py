"""How many operations TensorFlow would have made so far: what the default seeds of random ops are made of.

Some constructs take fewer nodes here than TensorFlow 1.15 makes: a ``cond`` is one node and two functions, a gradient knows
from static shapes what it would compute at run time.  Each of them says, where it builds, how many nodes it stands for, so
that a program whose only seed is that of the graph draws TensorFlow's numbers.
"""
from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.tensor import Tensor


class counted_as:
    """A block: what it adds to the default graph counts as `nodes` operations, whatever it builds."""

    __slots__ = ("nodes", "ids", "before")

    def __init__(self, nodes: int):
        self.nodes = nodes

    def __enter__(self) -> counted_as:
        self.ids = get_default_graph()._ids
        self.before = self.ids.last
        return self

    def __exit__(self, kind: Any, *raised: Any) -> None:
        if kind is None:
            self.ids.last = self.before + self.nodes


@contextlib.contextmanager
def uncounted(graphs: Iterable[Any]) -> Iterator[None]:
    """A block: what it adds to these graphs counts as nothing."""
    before = [(graph._ids, graph._ids.last) for graph in graphs]
    yield
    for ids, last in before:
        ids.last = last


def gradient_of_nodes(nodes: int | Callable[[Any], int]) -> Callable:
    """A gradient function whose nodes count as `nodes`: a number, or a function of the operation."""

    def decorate(gradient: Callable) -> Callable:
        @functools.wraps(gradient)
        def counted(op: Any, *grads: Any) -> Any:
            with counted_as(nodes if isinstance(nodes, int) else nodes(op)):
                return gradient(op, *grads)

        return counted

    return decorate


def count_nodes(nodes: int) -> None:
    """Counts `nodes` operations that TensorFlow makes here, and this library does not."""
    get_default_graph()._ids.last += nodes


def count_taken(*tensors: Any, shapes: bool = False) -> None:
    """In the gradient of a loop: TensorFlow takes these values of the forward loop, or their shapes, and this library need not."""
    graph: Any = get_default_graph()
    if not graph.building_function:
        return
    if shapes:
        graph.measured.extend(tensors)
    else:
        graph.taken.extend(tensors)


def let_not_measure(shape: Any) -> Any:
    """`shape`, which counts as nothing taken of a forward loop: TensorFlow has it already, see ``count_taken``."""
    shape.op.__dict__["measures"] = False
    return shape


def let_axes_be_computed(total: Any) -> None:
    """`total`, a sum over axes that are known here, counts as one over axes that TensorFlow computes in a run."""
    total.op.__dict__["axes_computed"] = True


def let_gradient_count(tensor: Any, nodes: int, behind: Any = None) -> None:
    """A gradient that goes through `tensor` counts `nodes` more: of what TensorFlow has in its place, and this library not.

    `behind`: a tensor; one more node counts if the gradient goes on to it.
    """
    tensor.op.__dict__["nodes_of_gradient"] = nodes
    if behind is not None:
        tensor.op.__dict__["counts_gradient_of"] = behind.op


def nodes_of_gradient(op: Any, between: Any = ()) -> int:
    """What ``let_gradient_count`` said of an output of `op`.  `between`: the operations that gradients go to."""
    nodes: int = op.__dict__.get("nodes_of_gradient", 0)
    return nodes + (op.__dict__.get("counts_gradient_of") in between)


def let_stand_for_two(gradient: Any) -> None:
    """`gradient`, a tensor or slices, counts as two that TensorFlow adds up with whatever else arrives where it does."""
    tensor = gradient if isinstance(gradient, Tensor) else gradient.values
    tensor.op.__dict__.setdefault("two_gradients", set()).add(tensor.value_index)


def nodes_of_sum(gradients: list) -> int:
    """What TensorFlow takes to add up what arrives at one place, and this library does not, because ``let_stand_for_two`` said
    two of one gradient: alone a node for tensors, two concatenations for slices; slices among tensors become tensors each."""
    waiting = [gradient for gradient in gradients if _stands_for_two(gradient)]
    if not waiting:
        return 0
    slices = [gradient for gradient in waiting if not isinstance(gradient, Tensor)]
    if len(gradients) == 1:
        return 4 if slices else len(waiting)
    return 5 * len(slices) if any(isinstance(gradient, Tensor) for gradient in gradients) else 0


def _stands_for_two(gradient: Any) -> bool:
    """Whether it does so far: they are added up once, even if the sum goes on to another tensor as it is."""
    tensor = gradient if isinstance(gradient, Tensor) else gradient.values
    waiting = tensor.op.__dict__.get("two_gradients", ())
    if tensor.value_index not in waiting:
        return False
    waiting.remove(tensor.value_index)
    return True


def first_of(shapes: Any) -> bool:
    """Whether no gradient of the default graph was built for these shapes before."""
    return get_default_graph()._ids.first_of(shapes)
