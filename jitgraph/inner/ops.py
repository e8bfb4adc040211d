"""Names of ``tensorflow.python.framework.ops`` that ``tf`` does not have."""
from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable
from typing import Any

from jitgraph.contrib.framework.graph_queries import get_graph_from_inputs
from jitgraph.graph import convert, scope_names
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.dtypes import as_dtype
from jitgraph.graph.function_graph import FunctionGraph
from jitgraph.graph.gradient_registry import gradient_function
from jitgraph.graph.tensor import Tensor

EagerTensor = type("EagerTensor", (Tensor,), {"__doc__": "A tensor with a value, of which there are none in graphs."})

prepend_name_scope = scope_names.prepend_name_scope
strip_name_scope = scope_names.strip_name_scope
convert_n_to_tensor = convert.convert_n_to_tensor
_get_graph_from_inputs = get_graph_from_inputs

_uids = itertools.count(1)
_dense_types: list[type] = []


def uid() -> int:
    """A number that this process did not give before."""
    return next(_uids)


def internal_convert_to_tensor(value: Any, dtype: Any = None, name: str | None = None, as_ref: bool = False,
                               preferred_dtype: Any = None, ctx: Any = None, accept_symbolic_tensors: bool = True,
                               accept_composite_tensors: bool = False) -> Tensor:
    """``convert_to_tensor``, which with `as_ref` leaves references as they are."""
    return convert.convert_to_tensor(value, None if dtype is None else as_dtype(dtype), name, as_ref,
                                     None if preferred_dtype is None else as_dtype(preferred_dtype))


def get_name_scope() -> str:
    """The name scope that is open in the default graph, without a slash."""
    return get_default_graph().get_name_scope()


def name_from_scope_name(name: str) -> str:
    """The name of a scope without the slash at its end."""
    return name[:-1] if name and name[-1] == "/" else name


def executing_eagerly_outside_functions() -> bool:
    """False: there are graphs only."""
    return False


def inside_function() -> bool:
    """Whether the default graph is that of a function."""
    return isinstance(get_default_graph(), FunctionGraph)


def default_session(session: Any) -> Any:
    """A block in which `session` is the default one; it is not closed at its end."""
    return session.as_default()


def get_gradient_function(op: Any) -> Callable | None:
    """The function that gives the gradients of an operation, None if there is none; LookupError for unknown ones."""
    return gradient_function(op)


def register_dense_tensor_like_type(tensor_type: type) -> None:
    """Makes objects of a type count as tensors for ``is_dense_tensor_like``.  Raises TypeError without `name` and `dtype`."""
    for attribute in ("name", "dtype"):
        if not isinstance(getattr(tensor_type, attribute, None), property):
            raise TypeError(f"Type {tensor_type.__name__} does not define a `{attribute}` property")
    _dense_types.append(tensor_type)


def is_dense_tensor_like(t: Any) -> bool:
    """Whether an object stands for one tensor."""
    return isinstance(t, (Tensor, *_dense_types)) or hasattr(t, "_as_graph_element") and hasattr(t, "dtype")


def _as_graph_element(obj: Any) -> Any:
    """The tensor or operation that an object stands for, None if it says nothing of it."""
    convert_to_element = getattr(obj, "_as_graph_element", None)
    return convert_to_element() if convert_to_element else None


def set_shapes_for_outputs(op: Any) -> None:
    """Nothing to do, for programs of earlier releases: the shapes of outputs follow from the declarations of ops."""


set_shape_and_handle_data_for_outputs = set_shapes_for_outputs


class NullContextmanager(contextlib.nullcontext):
    """A block that does nothing; takes any arguments."""

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__()


class RegisterShape:
    """Decorator of a shape function, which has no effect: shapes follow from the declarations of ops."""

    def __init__(self, op_type: str):
        self._op_type = op_type

    def __call__(self, f: Any) -> Any:
        """Leaves the function as it is."""
        return f
