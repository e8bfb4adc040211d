"""A Python function, called once to make the nodes of a function of the graph."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.control.program_order import acts, put_in_order
from jitgraph.graph import structures as nest
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.function_graph import FunctionGraph
from jitgraph.graph.names import is_op_name
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
        graph.ordered = graph.functional_control = ordered
        with graph.as_default(), default_kind.resource_variables(ordered):
            given = [graph.add_input(dtype, shape, argument if is_op_name(argument) else "placeholder")
                     for dtype, shape, argument in arguments]
            self.result = call(given)
            self.leaves = nest.flatten(self.result, expand_composites=True)
            outputs = [self._tensor(leaf) for leaf in self.leaves if leaf is not None and not isinstance(leaf, Operation)]
        self.results = outputs
        graph.outputs = list(outputs)
        if ordered:
            put_in_order(graph.get_operations())
        graph.control_outputs = [op for op in graph.get_operations() if acts(op)]

    def _tensor(self, value: Any) -> Tensor:
        try:
            tensor = convert_to_tensor(value)
        except (TypeError, ValueError) as error:
            raise TypeError("To be compatible with tf.contrib.eager.defun, Python functions must return zero or more Tensors; "
                            f"in compilation of {self.graph.name}, found return value of type {type(value)}, which is not a "
                            "Tensor.") from error
        return lookup("Identity").builder(self.graph.capture(tensor))

    @property
    def structure(self) -> Any:
        """What the Python function returned, of tensors of the graph."""
        with self.graph.as_default():
            return self.packed(self.results, None)

    def packed(self, outputs: list[Tensor], node: Operation | None) -> Any:
        """The result of a call, in the structure of what the Python function returned; the node if that was None."""
        if self.result is None:
            return node
        rest = iter(outputs)
        leaves = [None if leaf is None else node if isinstance(leaf, Operation) else next(rest) for leaf in self.leaves]
        return nest.pack_sequence_as(self.result, leaves, expand_composites=True)
