"""Functions of elements as graphs: what ``Dataset.map`` and its kin are given."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.control.program_order import acts
from jitgraph.data import structure
from jitgraph.graph.function_graph import FunctionGraph, is_state
from jitgraph.graph.graph import Graph
from jitgraph.graph.operation import Operation
from jitgraph.graph.tensor import Tensor


class MappedFunction:
    """The graph of a Python function of elements of the structure `spec`.

    ``graph``; ``captured``, the tensors of the graph around it that it takes besides the element; ``spec``, the structure
    of its result.  Raises TypeError, naming `transformation`, for a result that cannot become tensors, ValueError if `function` is
    no function.
    """

    def __init__(self, function: Callable, transformation: str, spec: Any):
        if not callable(function):
            raise ValueError(f"Argument must be callable: {transformation} needs a function, but got {function!r}")
        name = getattr(function, "__name__", type(function).__name__)
        self.graph = graph = FunctionGraph(f"{transformation.replace('.', '_').replace('()', '')}_{name}")
        graph._names.scope, graph.arrays_are_lists, graph.functional_control = "", True, True
        from jitgraph.autograph.api import for_graph  # not before a function is given: it loads Python's own parser

        flat = structure.flat_attributes(spec)
        with graph.as_default():
            arguments = [graph.add_input(dtype, shape, f"args_{k}")
                         for k, (dtype, shape) in enumerate(zip(flat["output_types"], flat["output_shapes"]))]
            element = structure.from_tensors(spec, arguments)
            function = for_graph(function)
            result = function(*element) if type(element) is tuple else function(element)
            if isinstance(result, list):        # TensorFlow takes it for what an op with several results gives
                result = tuple(result)
            try:
                self.spec = structure.spec_of(result)
                tensors = structure.to_tensors(self.spec, result)
            except (TypeError, ValueError) as error:
                raise TypeError(f"Unsupported return value from function passed to {transformation}: {result} "
                                f"({error}).") from error
            graph.outputs = [tensor if tensor.op.graph is graph else graph.capture(tensor) for tensor in tensors]
        graph.control_outputs = [op for op in graph.get_operations() if acts(op)]
        _keep_variables_inside(graph)
        self.captured = [outer for outer, inner in graph.captures.items() if not is_state(inner)]


def _keep_variables_inside(graph: FunctionGraph) -> None:
    """Leaves variables out of the inputs: the nodes for them in the function stand for the session's variables."""
    graph.inputs = [tensor for tensor in graph.inputs if not is_state(tensor)]


def captures_variables(graph: FunctionGraph) -> bool:
    """Whether a function reads or writes variables from around it."""
    return any(is_state(inner) for inner in graph.captures.values())


# operations that look at the machine around them, which TensorFlow does not count among the stateful ones
REPEATABLE = ("MatchingFiles", "ReadFile")


class ByValue(FunctionGraph):
    """The graph of a function without arguments: what it takes from around it is repeated inside.

    ``allowed``: stateful operations that may be repeated.  Raises ValueError for others, and for placeholders.
    """

    def __init__(self, name: str, allowed: set[Operation]):
        super().__init__(name)
        self.allowed = allowed
        self._names.scope = ""

    def capture(self, tensor: Tensor) -> Tensor:
        if tensor.op.graph is self:
            return tensor
        if tensor not in self.captures:
            for one, copy in zip(tensor.op.outputs, self._repeat(tensor.op).outputs):
                self.captures[one] = copy
        return self.captures[tensor]

    def _repeat(self, op: Operation) -> Operation:
        from jitgraph.graph.calls import functions_of

        if op.type == "Placeholder":
            raise ValueError(f"Cannot capture a placeholder (name:{op.name}, type:{op.type}) by value.")
        reads = any(map(captures_variables, functions_of(op)))
        if reads or op not in self.allowed and op.type not in REPEATABLE and _has_state(op):
            raise ValueError(f"Cannot capture a stateful node (name:{op.name}, type:{op.type}) by value.")
        inputs = [self.capture(tensor) for tensor in op.inputs]
        made = Graph.add_op(self, op.opdef, op.type, self.unique_name(op.name), inputs, dict(op.attrs),
                            [t.dtype for t in op.outputs], [t._shape for t in op.outputs], [])
        made._frames = op._frames
        return made


def _has_state(op: Operation) -> bool:
    """Whether an operation gives something else, or does something, when it is repeated."""
    return op.opdef is None or bool(op.opdef.stateful or op.opdef.state or op.opdef.stream)


def dataset_ops(tensor: Tensor) -> set[Operation]:
    """The operations that make a dataset, and those it is made of."""
    found: set[Operation] = set()
    waiting = [tensor.op]
    while waiting:
        op = waiting.pop()
        if op not in found and any(output.dtype.name == "variant" for output in op.outputs):
            found.add(op)
            waiting.extend(source.op for source in op.inputs)
    return found
