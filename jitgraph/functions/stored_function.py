"""Functions as FunctionDefs state them: each node that calls one has a graph of its own, made from the definition."""
from __future__ import annotations

import re
from typing import Any

from jitgraph.control.frames.raising import raised_function
from jitgraph.control.functional_ops import make_stored_call
from jitgraph.control.replay import needed_operations
from jitgraph.formats.functions import FunctionLibrary
from jitgraph.formats.import_graph import function_library
from jitgraph.functions.concrete_function import ConcreteFunction, packed
from jitgraph.graph import structures as nest
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.function_graph import FunctionGraph
from jitgraph.graph.graph import Graph
from jitgraph.graph.operation import Operation
from jitgraph.graph.protos.flows import as_programs_have_them
from jitgraph.graph.protos.function_def import add_functions, definition_of, keep_colocation
from jitgraph.graph.protos.function_names import exported_name
from jitgraph.graph.protos.tensor_proto import shape_to_proto
from jitgraph.graph.registry import lookup
from jitgraph.graph.tensor import Tensor
from jitgraph.graph.type_specs import TensorSpec
from jitgraph.protobuf import messages

_NUMBERED = re.compile(r"^__inference_(.*)_\d+$")


class StoredFunctions:
    """The functions of a FunctionDefLibrary in a graph, under names that the graph does not have yet: ``names``, {name in the
    library: name in the graph}."""

    def __init__(self, graph: Any, library: Any):
        self.graph = graph
        self.names: dict[str, str] = {}
        library = as_programs_have_them(messages.GraphDef(library=library)).library
        for definition in library.function:
            self.names[definition.signature.name] = self._unused(definition.signature.name)
        renamed = messages.FunctionDefLibrary()
        for definition in library.function:
            kept = renamed.function.add()
            kept.CopyFrom(definition)
            kept.signature.name = self.names[definition.signature.name]
            for node in kept.node_def:
                self.rename(node)
        for entry in library.gradient:
            renamed.gradient.add(function_name=self.names.get(entry.function_name, entry.function_name),
                                 gradient_func=self.names.get(entry.gradient_func, entry.gradient_func))
        self.library = renamed
        self._instances: FunctionLibrary = function_library(graph, renamed)

    def _unused(self, name: str) -> str:
        taken = {*self.graph._functions, *self.names.values()}
        if name not in taken:
            return name
        match = _NUMBERED.match(name)
        base, number = f"__inference_{match.group(1)}" if match else name, 1
        while f"{base}_{number}" in taken:
            number += 1
        return f"{base}_{number}"

    def rename(self, node: Any) -> None:
        """Lets a NodeDef call functions by their names in the graph."""
        node.op = self.names.get(node.op, node.op)
        for value in node.attr.values():
            for called in [value.func] if value.WhichOneof("value") == "func" else value.list.func:
                called.name = self.names.get(called.name, called.name)

    def definition(self, name: str) -> Any:
        """The FunctionDef of a function of the library."""
        return self.graph._functions[self.names[name]].definition

    def instance(self, name: str, captured: list[Tensor]) -> FunctionGraph:
        """A graph of a function, whose last arguments are `captured`, for those who want to see it."""
        arguments = self.definition(name).signature.input_arg
        with Graph().as_default():
            given = [lookup("Placeholder").builder(dtype=argument.type, shape=None)
                     for argument in arguments[:len(arguments) - len(captured)]]
        function = self._instances.instance(self.names[name], [*given, *captured], self.graph)
        function.captures = dict(zip(captured, function.inputs[len(given):]))
        return function

    def call(self, name: str, tensors: list[Tensor]) -> Operation:
        """A node of the default graph that calls a function of the library."""
        graph = get_default_graph()
        inputs = [graph.capture(tensor) if isinstance(graph, FunctionGraph) else tensor for tensor in tensors]
        function = self._instances.instance(self.names[name], inputs, graph)
        return make_stored_call(function, inputs, self.definition(name).signature.is_stateful)


def stored(function: FunctionGraph) -> tuple[StoredFunctions, str]:
    """The function of a graph, less what its results do not need, and those that it calls, as they are now; the name by which to
    call it."""
    library = messages.FunctionDefLibrary()
    name = exported_name(function)
    function = raised_function(function, needed_operations(function))
    library.function.append(definition_of(function, name))
    declare_shapes(library.function[0], function)
    operations = needed_operations(function)
    names, nodes = {op.name for op in operations}, library.function[0].node_def
    kept = [node for node in nodes if node.name in names]
    for node in kept:
        keep_colocation(node, names)
    del nodes[:]
    nodes.extend(kept)
    add_functions(library, operations)
    return StoredFunctions(function._root, library), name


def declare_shapes(definition: Any, function: FunctionGraph) -> None:
    """Lets a FunctionDef state the shapes of its arguments for all callers, where it has noted them for one."""
    definition.attr["_input_shapes"].list.shape.extend(shape_to_proto(tensor._shape) for tensor in function.inputs)
    for noted in definition.arg_attr.values():
        del noted.attr["_output_shapes"]


class StoredFunction(ConcreteFunction):
    """A function of a library that was loaded.

    `signature` and `results`: its arguments and results, specs in the place of tensors, as they were stated; None if they were
    not.  ``captured``: what it takes besides its arguments.
    """

    def __init__(self, functions: StoredFunctions, name: str, signature: Any = None, results: Any = None):
        self._functions, self._stored_name = functions, name
        self._signature, self._results = signature, results
        self.captured: list[Tensor] = []
        self._graph: FunctionGraph | None = None
        specs = [leaf for leaf in nest.flatten(signature) if isinstance(leaf, TensorSpec)]
        self._keywords = [spec.name or f"arg{place}" for place, spec in enumerate(specs)]
        self._positional = len(specs)

    @property
    def name(self) -> bytes:
        """The name of the function."""
        return self._functions.names[self._stored_name].encode()

    @property
    def graph(self) -> Any:
        """The graph of the function."""
        if self._graph is None:
            self._graph = self._functions.instance(self._stored_name, self.captured)
        return self._graph

    def exported_graph(self) -> Any:
        """A graph of the function of its own."""
        return self._functions.instance(self._stored_name, self.captured)

    @property
    def captured_inputs(self) -> list[Tensor]:
        """What the function takes besides its arguments."""
        return list(self.captured)

    @property
    def structured_outputs(self) -> Any:
        """The results, specs in the place of tensors."""
        return self._results

    @property
    def structured_input_signature(self) -> Any:
        """The arguments, TensorSpecs in the place of tensors."""
        return self._signature

    def _call(self, tensors: list[Tensor]) -> Any:
        node = self._functions.call(self._stored_name, [*tensors, *self.captured])
        if self._results is None:
            return node if not node.outputs else list(node.outputs)
        found = packed(self._results, node.outputs)
        for tensor, spec in zip(nest.flatten(found), nest.flatten(self._results)):
            if isinstance(spec, TensorSpec):
                tensor.set_shape(spec.shape)
        return found
