"""A Python function, called once to make the nodes of a function of the graph."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.graph import structures as nest
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.function_graph import FunctionGraph
from jitgraph.graph.operation import Operation
from jitgraph.graph.registry import lookup
from jitgraph.graph.tensor import Tensor
from jitgraph.variables import default_kind


class Traced:
    """The graph of a function of `arguments`, (dtype, shape, name) each; ``result`` is what the Python function returned.

    `call` is given the tensors that stand for the arguments.  With `ordered`, what reads and writes the same thing does so in
    the order of the program, and what acts does so although nobody asks for its value.
    """

    def __init__(self, name: str, arguments: list[tuple], call: Callable[[list[Tensor]], Any], ordered: bool):
        self.graph = graph = FunctionGraph(name)
        graph._names.scope = ""
        with graph.as_default(), default_kind.resource_variables(ordered):
            given = [graph.add_input(dtype, shape, argument) for dtype, shape, argument in arguments]
            self.result = call(given)
            self.leaves = nest.flatten(self.result, expand_composites=True)
            outputs = [self._tensor(leaf) for leaf in self.leaves if leaf is not None and not isinstance(leaf, Operation)]
        self.results = outputs
        graph.outputs = list(outputs)
        if ordered:
            _put_in_order(graph)
        graph.control_outputs = [op for op in graph.get_operations() if acts(op)]

    def _tensor(self, value: Any) -> Tensor:
        try:
            tensor = convert_to_tensor(value)
        except (TypeError, ValueError) as error:
            raise TypeError("To be compatible with tf.contrib.eager.defun, Python functions must return zero or more Tensors; "
                            f"in compilation of {self.graph.name}, found return value of type {type(value)}, which is not a "
                            "Tensor.") from error
        return lookup("Identity").builder(self.graph.capture(tensor))

    def packed(self, outputs: list[Tensor], node: Operation | None) -> Any:
        """The result of a call, in the structure of what the Python function returned; the node if that was None."""
        if self.result is None:
            return node
        rest = iter(outputs)
        leaves = [None if leaf is None else node if isinstance(leaf, Operation) else next(rest) for leaf in self.leaves]
        return nest.pack_sequence_as(self.result, leaves, expand_composites=True)


def acts(op: Operation) -> bool:
    """Whether an operation runs for what it does, though nobody asks for its value."""
    return op.opdef is not None and op.opdef.acts


def _put_in_order(graph: FunctionGraph) -> None:
    """Lets each operation that acts, or reads what others write, wait for those before it on the same thing."""
    last_write: dict[Any, Operation] = {}
    reads: dict[Any, list[Operation]] = {}
    for op in graph.get_operations():
        if op.opdef is None or not (op.opdef.state or acts(op)) or op.type == "Placeholder":
            continue
        writes = acts(op)
        for key in _touched(op):
            before = ([last_write[key]] if key in last_write else []) + (reads.get(key, []) if writes else [])
            op._add_control_inputs([one for one in before if one is not op])
            if writes:
                last_write[key], reads[key] = op, []
            else:
                reads.setdefault(key, []).append(op)


def _touched(op: Operation) -> list[Any]:
    """What an operation reads or changes: the nodes of variables and other resources, or the world outside."""
    found = [tensor for tensor in op.inputs if tensor.dtype.name == "resource" or tensor.dtype._is_ref_dtype]
    return found or (["outside"] if acts(op) else [])
