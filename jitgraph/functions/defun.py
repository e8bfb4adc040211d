"""``Defun`` of tensorflow.python.framework.function: functions of the graph with stated argument types."""
from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from jitgraph.autodiff.functional_gradients import whole_gradient
from jitgraph.control.functional_ops import make_call
from jitgraph.functions.duplicate import duplicate, reaches
from jitgraph.functions.tracing import Traced
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.dtypes import as_dtype
from jitgraph.graph.errors import InvalidArgumentError
from jitgraph.graph.operation import Operation
from jitgraph.graph.protos.function_def import definition_of
from jitgraph.graph.tensor import Tensor

_TAKEN = {"func_name", "grad_func", "python_grad_func", "out_names", "shape_func", "capture_by_value",
          "separate_compiled_gradients", "extra_inputs"}


class Defun:
    """``@Defun(tf.float32, tf.float32)`` makes of a Python function of tensors a function of the graph.

    Each call makes a PartitionedCall node, or a StatefulPartitionedCall.  Without types they are those of the arguments.
    `func_name`: the name of the nodes.  `grad_func`: a Defun of the arguments and the gradients of the results that gives
    those of the arguments; `python_grad_func`: a function of the node and these gradients.  `shape_func`: a function of the
    node that gives the shapes of the results.  Other options are attributes of TensorFlow's nodes and change nothing here.
    """

    def __init__(self, *input_types: Any, **kwargs: Any):
        self._types = tuple(as_dtype(one) for one in input_types)
        self._options = {name: kwargs.pop(name) for name in list(kwargs) if name in _TAKEN}

    def __call__(self, func: Callable) -> DefinedFunction:
        """The function.  Raises ValueError if `func` is not callable, has defaults, or does not take as many arguments as there are
        types."""
        if not callable(func):
            raise ValueError(f"function {func} must be callable")
        parameters = inspect.signature(func).parameters.values()
        kinds = [one for one in parameters if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
        if any(one.kind in (one.KEYWORD_ONLY, one.VAR_KEYWORD) or one.default is not one.empty for one in parameters):
            raise ValueError(f"function with argument defaults or keywords arguments are not supported. {func}")
        least = len(kinds)
        most = least if not any(one.kind is one.VAR_POSITIONAL for one in parameters) else 1_000_000
        if self._types and not least <= len(self._types) <= most:
            raise ValueError(f"The function has {'fewer' if most < len(self._types) else 'more'} arguments than the number of "
                             "specified input types.")
        return DefinedFunction(func, self._types if self._types or not most else None, **self._options)


class DefinedFunction:
    """A Python function that is a function of the graph; see ``Defun``."""

    def __init__(self, func: Callable, argtypes: Any, func_name: str | None = None, grad_func: Any = None,
                 python_grad_func: Callable | None = None, shape_func: Callable | None = None,
                 out_names: Any = None, **others: Any):
        self._func, self._types, self._out_names = func, argtypes, out_names
        self._name = str(func_name or getattr(func, "__name__", "function"))
        self._grad_func, self._python_grad_func, self._shape_func = grad_func, python_grad_func, shape_func
        self._known: dict[Any, Traced] = {}     # by the types of the arguments, of one graph at a time
        self._root: Any = None

    @property
    def name(self) -> str:
        """The name of its nodes."""
        return self._name

    @property
    def declared_input_types(self) -> Any:
        """The types of the arguments, None if none are stated."""
        return self._types

    @property
    def python_grad_func(self) -> Any:
        """The Python function that makes its gradient, None if there is none."""
        return self._python_grad_func

    @property
    def grad_func_name(self) -> str | None:
        """The name of the function that is its gradient, None if there is none."""
        return None if self._grad_func is None else self._grad_func.name

    @property
    def definition(self) -> Any:
        """Its FunctionDef for the stated types."""
        return definition_of(self._of_stated_types(), self._name)

    @property
    def captured_inputs(self) -> list[Tensor]:
        """What it takes from around it."""
        return list(self._of_stated_types().captures)

    @property
    def stateful_ops(self) -> list[tuple[str, str]]:
        """The names and types of the stateful operations in it."""
        graph = self._of_stated_types()
        return [(op.name, op.type) for op in graph.get_operations() if op.opdef is not None and op.opdef.stateful]

    def as_function_graph(self) -> Any:
        """Its graph for the stated types: what an attribute of a node that is this function holds."""
        return duplicate(self._of_stated_types(), get_default_graph(), [])

    def _of_stated_types(self) -> Any:
        return self._trace(self._types or ()).graph

    def set_grad_func(self, grad_func: DefinedFunction) -> None:
        """Sets the function that is its gradient, once."""
        if self._grad_func is not None:
            raise ValueError(f"The function {self._name} has a gradient already")
        self._grad_func = grad_func

    def add_to_graph(self, g: Any) -> None:
        """Nothing: each node has its function."""

    def _trace(self, types: Any) -> Traced:
        """The function for arguments of these types.  The Python function is called once for them in a graph, so that it makes its
        variables once, unless a call stands where what it took from around it cannot be seen."""
        graph = get_default_graph()
        root = getattr(graph, "_root", graph)
        if root is not self._root:
            self._root, self._known = root, {}
        known = self._known.get(tuple(types))
        if known is None or not reaches(graph, known.graph):
            parameters = inspect.signature(self._func).parameters.values()
            names = [one.name for one in parameters if one.kind is not one.VAR_POSITIONAL]
            arguments = [(dtype, None, names[k] if k < len(names) else f"arg{k}") for k, dtype in enumerate(types)]
            known = self._known[tuple(types)] = Traced(self._name, arguments, self._results, ordered=False)
            if self._out_names and len(self._out_names) != len(known.results):
                raise InvalidArgumentError(None, None, "output names must be either empty or equal in size to outputs. output "
                                           f"names size = {len(self._out_names)} outputs size = {len(known.results)}")
        return known

    def _results(self, given: list[Tensor]) -> Any:
        results = self._func(*given)
        if isinstance(results, (list, tuple)) and any(one is None for one in results):
            raise ValueError(f"Function {self._name} can not return None.")
        return results

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The result: an operation if the function returns nothing, a tensor, or a tuple of tensors."""
        name = kwargs.pop("name", None)
        unknown = set(kwargs) - {"noinline", "compiled", "separate_compiled_gradients"}
        if unknown:
            raise ValueError(f"Unknown keyword arguments: {kwargs.keys()}")
        tensors = [convert_to_tensor(value, None if isinstance(value, Tensor) or self._types is None or k >= len(self._types)
                                     else self._types[k]) for k, value in enumerate(args)]
        stated = self._types if self._types is not None else [tensor.dtype for tensor in tensors]
        types = [dtype.base_dtype for dtype in stated]          # the dtype of a variable stands for that of its value
        if len(tensors) != len(types):
            raise ValueError(f"Expected number of arguments: {len(types)}, received: {len(tensors)}")
        for tensor, dtype in zip(tensors, types):
            if tensor.dtype.base_dtype is not dtype:
                raise ValueError(f"Input '{tensor.name}' passed {tensor.dtype.base_dtype.name} expected {dtype.name} while "
                                 f"building a call of the function {self._name}")
        graph = duplicate(self._trace(types).graph, get_default_graph(), [])
        node = make_call(graph, name or self._name, tensors)
        if self._grad_func is not None:
            results = [tensor.dtype.base_dtype for tensor in node.outputs]
            graph.stated_gradient = self._grad_func._trace([*types, *results]).graph
        self._note(node, len(tensors))
        if not node.outputs:
            return node
        return node.outputs[0] if len(node.outputs) == 1 else tuple(node.outputs)

    def _note(self, node: Operation, arguments: int) -> None:
        """Tells a node the gradient and the shapes that are stated for the function."""
        if self._shape_func is not None:
            for tensor, shape in zip(node.outputs, self._shape_func(node)):
                tensor.set_shape(shape)
        made = self._python_grad_func
        if made is None and self._grad_func is not None:
            def made(op: Operation, *grads: Any) -> Any:
                return self._grad_func(*op.inputs[:arguments], *grads)
        if made is None:
            node._gradient_function = whole_gradient
            return

        def gradient(op: Operation, *grads: Any) -> list:
            found = made(op, *grads)
            found = list(found) if isinstance(found, (list, tuple)) else [found]
            return found + [None] * (len(op.inputs) - len(found))

        node._gradient_function = gradient
