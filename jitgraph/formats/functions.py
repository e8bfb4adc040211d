"""Function libraries of GraphDefs: named functions that nodes call by their op type or in an attribute."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from jitgraph.control.functional_ops import is_stateful, make_stored_call
from jitgraph.formats.node_def import Node
from jitgraph.formats.op_declarations import declaration
from jitgraph.graph import shapes
from jitgraph.graph.calls import functions_of
from jitgraph.graph.dtypes import as_dtype, bool_
from jitgraph.graph.function_graph import BRANCHING, LOOPS, FunctionGraph, is_state
from jitgraph.graph.operation import Operation
from jitgraph.graph.protos.function_def import Body
from jitgraph.graph.protos.function_names import reference, state_of
from jitgraph.graph.registry import lookup
from jitgraph.graph.tensor import Tensor
from jitgraph.protobuf import messages

_DEEPEST = 60           # functions within functions
_LARGEST = 1_000_000    # nodes of all functions together: a few that call each other twice are a small file


@dataclass(slots=True)
class ImportedFunction:
    """A function of a graph as a file states it: the FunctionDef, and the name of the function that is its gradient."""

    name: str
    definition: Any
    gradient_name: str = ""


class FunctionLibrary:
    """The functions that the nodes of one file may call: its own, and those of the graph it joins.

    ``fill(graph, nodes, arguments)`` adds the nodes of a body to a function's graph; it returns a function that finds
    their outputs and the operations by name.
    """

    def __init__(self, graph: Any, library: Any, fill: Callable):
        self._graph = graph
        self._fill = fill
        self._opdefs: dict[str, Any] = {}
        self._calls: list[str] = []         # the functions that are being made, outermost first
        self._nodes = 0
        gradients = {entry.function_name: entry.gradient_func for entry in library.gradient}
        for definition in library.function:
            name = definition.signature.name
            known = graph._functions.get(name)
            if known is None:
                kept = messages.FunctionDef()
                kept.CopyFrom(definition)
                graph._functions[name] = ImportedFunction(name, kept, gradients.get(name, ""))
            elif getattr(known, "definition", definition) != definition:
                raise ValueError(f"Cannot add function '{name}' because a different function with the same name already "
                                 "exists.")

    def opdef(self, op_type: str) -> Any:
        """The declaration of a function as an op, None if there is no function of that name."""
        if op_type not in self._graph._functions:
            return None
        found = self._opdefs.get(op_type)
        if found is None:
            found = self._opdefs[op_type] = declaration(self._graph._functions[op_type].definition.signature)
        return found

    def instance(self, name: str, inputs: list[Tensor], graph: Any) -> FunctionGraph:
        """A graph of the function `name`, for a node of `graph` that calls it with `inputs`.  Raises ValueError if they do not
        fit."""
        made: FunctionGraph = self._instance(messages.NameAttrList(name=name), inputs, {}, graph)
        return made

    def as_call(self, node: Node, attrs: dict[str, Any], inputs: list[Tensor], graph: Any) -> tuple[Any, dict]:
        """The (declaration, attributes) of the PartitionedCall that a node is whose type is the name of a function."""
        called = messages.NameAttrList(name=node.type)
        function = self._instance(called, inputs, attrs, graph)
        kind = "StatefulPartitionedCall" if is_stateful(function) else "PartitionedCall"
        made = lookup(kind)
        stated = {"Tin": [tensor.dtype.base_dtype for tensor in inputs],
                  "Tout": [tensor.dtype.base_dtype for tensor in function.outputs], "f": function}
        return made, {**{name: attr.default for name, attr in made.attrs.items()}, **stated}

    def gradient_of(self, op: Operation) -> Callable | None:
        """What the file states as the gradient of the function that a node calls, as a gradient function; None if it is not stated.

        It takes the arguments of the call and the gradients of its results, and gives the gradients of the arguments.
        """
        if op.opdef is not None and len(op.opdef.functions) > 1:
            return None
        names = [op.type, *(reference(function).name for function in functions_of(op)[:1])]
        known = [self._graph._functions.get(name) for name in names]
        name = next((stated for one in known if (stated := getattr(one, "gradient_name", ""))), None)
        if name is None:
            return None

        def gradient(op: Operation, *grads: Any) -> list:
            given = [*op.inputs, *grads]
            function = self.instance(name, given, op.graph)
            return list(make_stored_call(function, given, is_stateful(function), name).outputs)

        return gradient

    # -- functions in attributes

    def attach(self, node: Node, opdef: Any, attrs: dict[str, Any], inputs: list[Tensor], graph: Any) -> None:
        """Puts graphs in the place of the functions that the attributes of a node name.

        Raises ValueError, naming the node, for functions that are not in the library or do not fit its inputs.
        """
        offset = 1 if node.type in BRANCHING else 0
        changing = self._changing(attrs["body"]) if node.type in LOOPS else frozenset[int]()
        for name in opdef.functions:
            value = attrs[name]
            try:
                made = [self._instance(one, None if opdef.hands_on else inputs[offset:], attrs, graph, changing)
                        for one in (value if isinstance(value, list) else [value])]
                for function in () if opdef.hands_on else made:
                    _check_results(function, attrs, name)
                attrs[name] = made if isinstance(value, list) else made[0]
            except ValueError as error:
                if self._calls:
                    raise               # the outermost node is told
                raise ValueError(f"Node '{node.name}' (op: '{node.type}'), attribute '{name}': {error}") from None

    def _changing(self, called: Any) -> frozenset[int]:
        """The arguments of a loop's body that it does not hand on as they are: they have a value for each round."""
        function = self._graph._functions.get(called.name) if isinstance(called, messages.NameAttrList) else None
        if function is None:
            return frozenset()
        body = Body(function.definition, called.attr, self._declared)
        return frozenset(k for k, (argument, result) in enumerate(zip(body.arguments, body.results)) if argument != result)

    def _instance(self, called: Any, inputs: list[Tensor] | None, attrs: dict[str, Any], graph: Any,
                  changing: frozenset[int] = frozenset()) -> Any:
        """The graph of a function for these inputs; for None, for any of the types that it declares.  `changing`: the inputs
        that only begin as what is given, see ``_changing``."""
        if not isinstance(called, messages.NameAttrList):
            return called
        function = self._graph._functions.get(called.name)
        if function is None:
            raise ValueError(f"the function '{called.name}' is not in the library of the GraphDef")
        definition = function.definition
        if inputs is not None and len(definition.signature.input_arg) != len(inputs):
            raise ValueError(f"the function '{called.name}' takes {len(definition.signature.input_arg)} arguments, but is "
                             f"given {len(inputs)}")
        if called.name in self._calls or len(self._calls) > _DEEPEST:
            raise ValueError(f"the function '{called.name}' calls itself")
        self._nodes += len(definition.node_def)
        if self._nodes > _LARGEST:
            raise ValueError(f"the functions have more than {_LARGEST} nodes together")
        self._calls.append(called.name)
        try:
            made = self._make(called, definition, inputs, attrs, graph, changing)
        finally:
            self._calls.pop()
        kept = messages.NameAttrList()
        kept.CopyFrom(called)
        made.__dict__["imported"] = kept, state_of(made)
        return made

    def _make(self, called: Any, definition: Any, inputs: list[Tensor] | None, attrs: dict[str, Any],
              graph: Any, changing: frozenset[int]) -> FunctionGraph:
        """The graph of a function, for a call with these inputs."""
        body = Body(definition, called.attr, self._declared)
        function = FunctionGraph(called.name, graph)
        function._names.scope = ""
        known: dict[str, Tensor] = {}
        for number, argument in enumerate(body.arguments):
            wanted = definition.signature.input_arg[number].type
            if inputs is None:
                stated = body.shapes[number]
                known[argument] = function._placeholder(as_dtype(wanted), stated and stated[0], argument)
                function.inputs.append(known[argument])
                continue
            outer = inputs[number]
            if wanted and wanted != outer.dtype.base_dtype.as_datatype_enum:
                raise ValueError(f"argument '{argument}' of function '{called.name}' was passed "
                                 f"{outer.dtype.base_dtype.name} from {outer.name}")
            shape = _shape_of_argument(body, number, outer, attrs)
            if number in changing and outer.dtype.name != "resource":
                inner = function._placeholder(outer.dtype.base_dtype, shape, argument)
            else:
                inner = self._argument(function, argument, outer, shape)
            known[argument] = inner
            function.inputs.append(inner)
        find = self._fill(function, body.nodes, known, library=self)
        function.outputs = [known[text] if text in known else find(text if ":" in text else text + ":0")
                            for text in body.results]
        function.control_outputs = [find(name) for name in body.controls]
        return function

    def _declared(self, node: Any) -> Any:
        return self.opdef(node.op) or lookup(node.op)

    def _argument(self, function: FunctionGraph, name: str, outer: Tensor, shape: Any) -> Tensor:
        """What stands in the function for an input of its caller: the same variable, or a placeholder."""
        if is_state(outer):
            if outer not in function.captures:
                function.captures[outer] = function._state(outer)
            return function.captures[outer]
        return function._placeholder(outer.dtype, shape, name)


def _check_results(function: Any, attrs: dict[str, Any], name: str) -> None:
    """Raises ValueError if a function does not give what its caller states."""
    if not isinstance(function, FunctionGraph):
        return
    wanted = attrs["Tout"] if "Tout" in attrs else [bool_] if name == "cond" else attrs["T"]
    found = [tensor.dtype.base_dtype for tensor in function.outputs]
    if list(wanted) != found:
        raise ValueError(f"the function '{function.name}' gives {', '.join(t.name for t in found) or 'nothing'}, where "
                         f"{', '.join(t.name for t in wanted) or 'nothing'} is expected")


def _shape_of_argument(body: Body, number: int, outer: Tensor, attrs: dict[str, Any]) -> Any:
    """The static shape: as noted with the function, as a loop states it, as it is outside, or as the function declares it."""
    if body.shapes[number] is not None:
        return body.shapes[number][0]
    stated = attrs.get("output_shapes")
    if "body" in attrs:
        return stated[number] if stated and number < len(stated) else None
    declared = body.declared[number]
    return shapes.merge(outer._shape, declared) if shapes.compatible(outer._shape, declared) else outer._shape
