"""Conditionals, loops, order and gradients."""
from __future__ import annotations

from typing import Any

from jitgraph.autodiff.gradients import UnconnectedGradients
from jitgraph.control import conditionals, while_loops
from jitgraph.v2.calls import from_v1


def cond(pred: Any, true_fn: Any = None, false_fn: Any = None, name: str | None = None) -> Any:
    """What `true_fn` returns if `pred` (a bool scalar) holds, else what `false_fn` returns.

    As ``tf.compat.v1.cond(strict=True)``: a list of one tensor stays a list.
    """
    return conditionals.cond(pred, true_fn, false_fn, strict=True, name=name)


def while_loop(cond: Any, body: Any, loop_vars: Any, shape_invariants: Any = None, parallel_iterations: int = 10,
               back_prop: bool = True, swap_memory: bool = False, maximum_iterations: Any = None,
               name: str | None = None) -> Any:
    """Repeats `body` as long as `cond` holds; returns the loop variables after that, nested as `loop_vars`.

    As ``tf.compat.v1.while_loop(return_same_structure=True)``: a list of one variable stays a list.
    """
    return while_loops.while_loop(cond, body, loop_vars, shape_invariants, parallel_iterations, back_prop, swap_memory, name,
                                  maximum_iterations, return_same_structure=True)


@from_v1("tuple")
def tuple_(tensors, control_inputs=None, name=None):
    """The same tensors, none of which is ready before all are computed and `control_inputs` are done."""


@from_v1("gradients", colocate_gradients_with_ops=True)
def gradients(ys, xs, grad_ys=None, name="gradients", gate_gradients=False, aggregation_method=None, stop_gradients=None,
              unconnected_gradients=UnconnectedGradients.NONE):
    """Derivatives of the sum of `ys` with respect to each of `xs`: a list of Tensors, IndexedSlices or None.

    `unconnected_gradients`: None or zeros for an x that no y depends on.
    """


@from_v1("hessians")
def hessians(ys, xs, gate_gradients=False, aggregation_method=None, name="hessians"):
    """For each of `xs` the matrix of second derivatives of the sum of `ys`, of shape ``x.shape + x.shape``."""


@from_v1("autograph.to_graph")
def to_graph(entity, recursive=True, experimental_optional_features=None):
    """A function whose ifs and loops over tensors are those of the graph, made of the Python function `entity`."""


@from_v1("autograph.to_code")
def to_code(entity, recursive=True, experimental_optional_features=None):
    """The source of what ``to_graph`` makes of `entity`."""
