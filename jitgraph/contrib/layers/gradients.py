"""Functions whose gradient is another than that of what they compute, or is computed in another way."""
from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial, wraps
from typing import Any

from jitgraph.autodiff.custom_gradient import custom_gradient, variables_used
from jitgraph.autodiff.gradients import gradients
from jitgraph.contrib.framework.arg_scopes import arg_scope, current_arg_scope
from jitgraph.control.order_ops import tuple_ as tuple_of
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.scopes import control_dependencies
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.identity import identity
from jitgraph.variables.variable import Variable
from jitgraph.variables.variable_scopes import get_variable_scope, variable_scope

_BY_TARGET = "__rev_block_lib_default"


@custom_gradient
def scale_gradient(inputs: Any, gradient_multiplier: Any) -> tuple:
    """`inputs`, whose gradient is multiplied with `gradient_multiplier`."""
    return identity(inputs), lambda grad: [grad * gradient_multiplier, None]


def recompute_grad(fn: Callable | None = None, use_data_dep: Any = _BY_TARGET, tupleize_grads: bool = False) -> Callable:
    """`fn` of tensors, computed once more for its gradient instead of being kept until then; without `fn`, a decorator.

    An `fn` with an argument ``is_recomputing`` learns which time it is; its variables have to be resource variables.
    `tupleize_grads` gives gradients only when all are there.  `use_data_dep` is for targets that jitgraph does not have.  Raises
    ValueError for an `fn` that takes tensors or variables from around it, and for arguments that are no tensors.
    """
    if fn is None:
        return partial(recompute_grad, use_data_dep=use_data_dep, tupleize_grads=tupleize_grads)
    del use_data_dep
    names = fn.__code__.co_freevars
    for name, cell in zip(names, fn.__closure__ or ()):
        if isinstance(cell.cell_contents, (Tensor, Variable)):
            raise ValueError(f"fn decorated with @recompute_grad closes over Tensor {cell.cell_contents.name} (local variable "
                             f"name: {name}). Make the Tensor an input to fn, or no gradients reach it.")
    tells = "is_recomputing" in inspect.signature(fn).parameters

    @wraps(fn)
    def wrapped(*args: Any) -> Any:
        if not all(isinstance(arg, Tensor) for arg in args):
            raise ValueError("All inputs to function must be Tensors")
        return computed(*args)

    @custom_gradient
    def computed(*args: Any) -> tuple:
        scope, defaults = get_variable_scope(), current_arg_scope()

        def gradient(*grads: Any, variables: Any = None) -> Any:
            inputs = [identity(arg) for arg in args]
            given = [grad for grad in grads if grad is not None]
            graph = get_default_graph()
            before = len(graph._nodes_by_id)
            with control_dependencies(given), arg_scope(defaults), variable_scope(scope, reuse=True):
                again = fn(*inputs, **({"is_recomputing": True} if tells else {}))
            if set(variables_used(graph._nodes_by_id[before:], fn)) != set(variables or ()):
                raise ValueError(f"The variables that {fn.__name__} used on recompute are different from those it used first: it "
                                 f"was called twice in the same enclosing scope {scope.name!r}. Call it in a variable scope of "
                                 "its own.")
            outputs = list(again) if isinstance(again, (list, tuple)) else [again]
            found = gradients(outputs, inputs + list(variables or ()), list(grads))
            found = list(tuple_of(found)) if tupleize_grads else found
            return (found[:len(inputs)], found[len(inputs):]) if variables else found

        return fn(*args, **({"is_recomputing": False} if tells else {})), gradient

    return wrapped
