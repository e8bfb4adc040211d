"""Functions that bring their own derivative: ``tf.custom_gradient`` and ``tf.grad_pass_through``."""
from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.graph import dtypes
from jitgraph.graph import structures as nest
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.function_graph import is_variable
from jitgraph.graph.operation import Operation
from jitgraph.graph.tensor import Tensor


def _flat(value: Any) -> list:
    """The leaves of nested lists, tuples and dictionaries (by sorted key)."""
    if isinstance(value, dict):
        return [leaf for key in sorted(value) for leaf in _flat(value[key])]
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in _flat(item)]
    return [value]


def _packed(structure: Any, leaves: list) -> Any:
    """`structure` with its leaves replaced, in order, by those taken from the front of `leaves`."""
    if isinstance(structure, dict):
        found = {key: _packed(structure[key], leaves) for key in sorted(structure)}
        return type(structure)((key, found[key]) for key in structure)
    if isinstance(structure, (list, tuple)):
        items = [_packed(item, leaves) for item in structure]
        if hasattr(structure, "_fields"):
            return type(structure)(*items)
        return type(structure)(items)
    return leaves.pop(0)


def custom_gradient(f: Callable) -> Any:
    """Decorator: `f(*args)` returns ``(result, grad_fn)``; ``grad_fn(*dys)`` gives the gradients of the args.

    The result may be a tensor or nested structure of tensors; `grad_fn` gets one gradient per tensor in it.  If f reads
    resource variables, `grad_fn` must accept ``variables=None`` and return ``(gradients of args, gradients of
    variables)``.  Raises TypeError if it does not, or if f uses variables of the older kind.

        @tf.custom_gradient
        def log1pexp(x):
            e = tf.exp(x)
            return tf.log(1 + e), lambda dy: dy * (1 - 1 / (1 + e))
    """
    @functools.wraps(f)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        if kwargs:
            raise ValueError("The custom_gradient decorator currently supports keywords arguments only when eager execution is "
                             f"enabled: pass {', '.join(sorted(kwargs))} by position.")
        return _with_gradient(f, args)

    return decorated


def _with_gradient(f: Callable, args: tuple) -> Any:
    arguments = [convert_to_tensor(arg) for arg in args]
    graph = get_default_graph()
    before = len(graph._nodes_by_id)
    result, grad_fn = f(*arguments)
    variables = variables_used(graph._nodes_by_id[before:], f)
    parameters = _parameters(grad_fn)
    takes_variables = "variables" in parameters or any(one.kind is one.VAR_KEYWORD for one in parameters.values())
    if variables and not takes_variables:
        raise TypeError("If using @custom_gradient with a function that uses variables, then grad_fn must accept a "
                        "'variables' keyword argument.")
    outputs = [convert_to_tensor(value) for value in _flat(result)]
    for output in outputs:
        raw.Identity(output)        # TensorFlow looks from these for variables; later names and seeds depend on them
    handles = [variable.handle for variable in variables]

    def gradient(op: Operation, *grads: Any) -> list:
        grads = grads[:len(outputs)]
        if variables:
            of_arguments, of_variables = grad_fn(*grads, variables=variables)
            if len(of_variables) != len(variables):
                raise ValueError(f"Must return gradient for each variable from @custom_gradient grad_fn: got "
                                 f"{len(of_variables)} for {len(variables)} variables")
        else:
            of_arguments, of_variables = grad_fn(*grads), []
        of_arguments = nest.flatten(of_arguments)
        if len(of_arguments) != len(arguments):
            raise ValueError(f"custom_gradient function expected to return {len(arguments)} gradients but returned "
                             f"{len(of_arguments)} instead.")
        return [None] * len(outputs) + of_arguments + list(of_variables)

    # one node carries the gradient: its inputs are the results, what they were made from, and the variables
    node = raw.IdentityN([*outputs, *arguments, *handles])
    node[0].op._gradient_function = gradient
    return _packed(result, list(node[:len(outputs)]))


def _parameters(function: Callable) -> Any:
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):
        return {}


def variables_used(ops: list[Operation], f: Callable) -> list:
    """The resource variables that the nodes made by f read, and those it made; older variables raise TypeError."""
    from jitgraph.graph.collections import GraphKeys

    graph = get_default_graph()
    known = [*graph.get_collection(GraphKeys.GLOBAL_VARIABLES), *graph.get_collection(GraphKeys.LOCAL_VARIABLES)]
    made = {op for op in ops if op.opdef is not None and op.opdef.variable == "reference"}
    if made:
        raise TypeError("All variables used by `f` wrapped with @custom_gradient must be `ResourceVariable`s: "
                        f"{next(iter(made)).name} is not. Make it with use_resource=True.")
    handles: dict[Tensor, None] = {}
    for op in ops:
        for tensor in op.inputs:
            if tensor.dtype is dtypes.resource and is_variable(tensor.op):
                handles[tensor] = None
    by_handle = {variable.handle: variable for variable in known if hasattr(variable, "handle")}
    return [by_handle[handle] for handle in handles if handle in by_handle]


def recompute_grad(f: Callable) -> Callable:
    """`f` itself: whether its values are kept for the gradient or computed again is the compiler's choice here."""
    return f


def grad_pass_through(f: Callable) -> Callable:
    """`f` with the derivative of the identity: gradients pass through as they are (a straight-through estimator)."""

    @custom_gradient
    def passed(*args: Any, **kwargs: Any) -> Any:
        def grad(*dys: Any, variables: Any = None) -> Any:
            of_arguments = dys[0] if len(dys) == 1 else list(dys)
            return (of_arguments, [None] * len(variables)) if variables is not None else of_arguments

        return f(*args, **kwargs), grad

    return passed
